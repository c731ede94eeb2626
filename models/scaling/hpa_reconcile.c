/* One reconcile from beginning to end, and the conditions that it leaves in the object's status. */
#include "models/scaling/hpa.h"

#include <assert.h>

const char *hpa_reason_text(enum hpa_reason reason)
{
    static const char *const texts[] = {
        [HPA_REASON_NONE] = "",
        [HPA_SUCCEEDED_GET_SCALE] = "SucceededGetScale",
        [HPA_READY_FOR_NEW_SCALE] = "ReadyForNewScale",
        [HPA_SCALE_UP_STABILIZED] = "ScaleUpStabilized",
        [HPA_SCALE_DOWN_STABILIZED] = "ScaleDownStabilized",
        [HPA_SUCCEEDED_RESCALE] = "SucceededRescale",
        [HPA_DESIRED_WITHIN_RANGE] = "DesiredWithinRange",
        [HPA_SCALE_UP_LIMIT] = "ScaleUpLimit",
        [HPA_SCALE_DOWN_LIMIT] = "ScaleDownLimit",
        [HPA_TOO_MANY_REPLICAS] = "TooManyReplicas",
        [HPA_TOO_FEW_REPLICAS] = "TooFewReplicas",
        [HPA_VALID_METRIC_FOUND] = "ValidMetricFound",
        [HPA_SCALING_DISABLED] = "ScalingDisabled",
        [HPA_FAILED_GET_RESOURCE_METRIC] = "FailedGetResourceMetric",
        [HPA_FAILED_GET_CONTAINER_RESOURCE_METRIC] = "FailedGetContainerResourceMetric",
        [HPA_FAILED_GET_PODS_METRIC] = "FailedGetPodsMetric",
        [HPA_FAILED_GET_OBJECT_METRIC] = "FailedGetObjectMetric",
        [HPA_FAILED_GET_EXTERNAL_METRIC] = "FailedGetExternalMetric",
        [HPA_INVALID_METRIC_SOURCE_TYPE] = "InvalidMetricSourceType",
        [HPA_SCALED_TO_ZERO] = "ScaledToZero",
        [HPA_NOT_SCALED_TO_ZERO] = "NotScaledToZero",
    };

    return (size_t)reason < sizeof texts / sizeof *texts ? texts[reason] : "";
}

static void condition_set(struct hpa_condition *condition, bool status, enum hpa_reason reason)
{
    condition->status = status;
    condition->reason = reason;
}

static enum hpa_reason failure_reason(enum hpa_source source)
{
    switch (source) {
    case HPA_SOURCE_RESOURCE:
        return HPA_FAILED_GET_RESOURCE_METRIC;
    case HPA_SOURCE_CONTAINER_RESOURCE:
        return HPA_FAILED_GET_CONTAINER_RESOURCE_METRIC;
    case HPA_SOURCE_PODS:
        return HPA_FAILED_GET_PODS_METRIC;
    case HPA_SOURCE_OBJECT:
        return HPA_FAILED_GET_OBJECT_METRIC;
    case HPA_SOURCE_EXTERNAL:
        return HPA_FAILED_GET_EXTERNAL_METRIC;
    case HPA_SOURCE_INVALID:
        break;
    }
    return HPA_INVALID_METRIC_SOURCE_TYPE;
}

static bool has_object_or_external(const struct hpa_spec *spec)
{
    for (size_t i = 0; i < spec->metric_count; i++)
        if (spec->metrics[i].source == HPA_SOURCE_OBJECT || spec->metrics[i].source == HPA_SOURCE_EXTERNAL)
            return true;
    return false;
}

/* What to do before any metric is asked for. scaled_to_zero: the memory of the condition rule. */
static enum hpa_path choose_path(const struct hpa_controller *controller, const struct hpa_spec *spec,
                                 int32_t current, int32_t min, bool scaled_to_zero)
{
    if (current == 0 && controller->zero_rule == HPA_ZERO_CONDITION)
        return scaled_to_zero && (min != 0 || has_object_or_external(spec)) ? HPA_PATH_METRICS
                                                                            : HPA_PATH_DISABLED;
    if (current == 0 && min != 0)
        return HPA_PATH_DISABLED;
    if (current > spec->max)
        return HPA_PATH_ABOVE_MAX;
    return current < min ? HPA_PATH_BELOW_MIN : HPA_PATH_METRICS;
}

static struct hpa_tolerance spec_tolerance(const struct hpa_controller *controller,
                                           const struct hpa_spec *spec)
{
    struct hpa_tolerance tolerance = controller->tolerance;

    if (spec->behavior && spec->rules[HPA_UP].tolerance >= 0)
        tolerance.up = spec->rules[HPA_UP].tolerance;
    if (spec->behavior && spec->rules[HPA_DOWN].tolerance >= 0)
        tolerance.down = spec->rules[HPA_DOWN].tolerance;
    return tolerance;
}

/* Proposals of all metrics. False if the reconcile must end here: none worked, or one failed and the rest
 * would scale down. */
static bool propose_all(const struct hpa_controller *controller, const struct hpa_spec *spec,
                        const struct hpa_view *view, struct hpa_proposal *proposals,
                        struct hpa_decision *decision, struct hpa_conditions *conditions)
{
    struct hpa_tolerance tolerance = spec_tolerance(controller, spec);
    size_t failures = 0;
    int32_t replicas = 0;

    for (size_t i = 0; i < spec->metric_count; i++) {
        hpa_propose(controller, &tolerance, &spec->metrics[i], view, &view->readings[i], &proposals[i]);
        if (proposals[i].error != HPA_METRIC_OK) {
            if (failures++ == 0)
                decision->first_failed = (int)i;
            continue;
        }
        if (replicas == 0 || proposals[i].replicas > replicas) {
            replicas = proposals[i].replicas;
            decision->winner = (int)i;
        }
    }
    decision->failed = failures > 0;
    if (failures >= spec->metric_count || (failures > 0 && replicas < view->spec_replicas)) {
        enum hpa_source source = decision->first_failed >= 0 ? spec->metrics[decision->first_failed].source
                                                             : HPA_SOURCE_INVALID;

        decision->failed = true;
        decision->winner = -1;
        condition_set(&conditions->scaling_active, false, failure_reason(source));
        return false;
    }
    condition_set(&conditions->scaling_active, true, HPA_VALID_METRIC_FOUND);
    decision->proposal = replicas > 0 ? replicas : 0;
    return true;
}

/* Stabilization and limits. */
static int normalize(const struct hpa_controller *controller, const struct hpa_spec *spec,
                     struct hpa_state *state, sim_time now, int32_t min, struct hpa_decision *decision,
                     struct error *err)
{
    struct hpa_conditions *conditions = &state->conditions;
    int32_t current = decision->current, proposal = decision->proposal, stabilized;
    enum hpa_reason held = HPA_SCALE_DOWN_STABILIZED, limited;

    if (!spec->behavior) {
        if (hpa_stabilize_plain(controller, &state->recommendations, now, proposal, &stabilized, err) != 0)
            return -1;
        decision->replicas = hpa_limit_plain(controller, current, stabilized, min, spec->max, &limited);
    } else {
        sim_time up = spec->rules[HPA_UP].window;
        sim_time down = spec->rules[HPA_DOWN].window;

        if (down == HPA_UNSET)
            down = controller->downscale_stabilization;
        if (hpa_stabilize(&state->recommendations, up, down, now, current, proposal, &stabilized, err) != 0)
            return -1;
        if (proposal >= current)
            held = HPA_SCALE_UP_STABILIZED;
        decision->replicas = hpa_limit(spec->rules, state->events, now, current, stabilized, min, spec->max,
                                       &limited);
    }
    decision->stabilized = stabilized;
    condition_set(&conditions->able_to_scale, true, stabilized != proposal ? held : HPA_READY_FOR_NEW_SCALE);
    condition_set(&conditions->scaling_limited, decision->replicas != stabilized, limited);
    return 0;
}

static int rescale(const struct hpa_controller *controller, const struct hpa_spec *spec,
                   struct hpa_state *state, sim_time now, int32_t min, struct hpa_decision *decision,
                   struct error *err)
{
    enum hpa_direction direction = decision->replicas > decision->current ? HPA_UP : HPA_DOWN;

    decision->rescaled = true;
    condition_set(&state->conditions.able_to_scale, true, HPA_SUCCEEDED_RESCALE);
    if (controller->zero_rule == HPA_ZERO_CONDITION) {
        bool own = decision->current > 0 && decision->replicas == 0 && min == 0 &&
                   has_object_or_external(spec);

        condition_set(&state->conditions.scaled_to_zero, own,
                      own ? HPA_SCALED_TO_ZERO : HPA_NOT_SCALED_TO_ZERO);
    }
    if (!spec->behavior)
        return 0; /* nobody will read it */
    return hpa_store_event(&spec->rules[direction], &state->events[direction], now, decision->current,
                           decision->replicas, err);
}

int hpa_reconcile(const struct hpa_controller *controller, const struct hpa_spec *spec,
                  struct hpa_state *state, const struct hpa_view *view, struct hpa_proposal *proposals,
                  struct hpa_decision *decision, struct error *err)
{
    struct hpa_conditions *conditions = &state->conditions;
    int32_t current = view->spec_replicas;
    int32_t min = spec->min < 0 ? 1 : spec->min;
    bool scaled_to_zero = controller->zero_rule == HPA_ZERO_CONDITION && conditions->scaled_to_zero.status;

    assert(!spec->behavior || spec->rules[HPA_UP].window != HPA_UNSET); /* hpa_spec_default was called */
    *decision = (struct hpa_decision){.current = current,
                                      .replicas = current,
                                      .proposal = -1,
                                      .stabilized = -1,
                                      .winner = -1,
                                      .first_failed = -1};
    condition_set(&conditions->able_to_scale, true, HPA_SUCCEEDED_GET_SCALE);
    if (!state->recommendations.known) {
        /* Holds the workload up for one window after a restart, when nothing else is remembered. */
        if (hpa_recommendations_add(&state->recommendations, view->now, current, err) != 0)
            return -1;
        state->recommendations.known = true;
    }

    decision->path = choose_path(controller, spec, current, min, scaled_to_zero);
    switch (decision->path) {
    case HPA_PATH_DISABLED:
    case HPA_PATH_FAILED:
        condition_set(&conditions->scaling_active, false, HPA_SCALING_DISABLED);
        break;
    case HPA_PATH_ABOVE_MAX:
        decision->replicas = spec->max;
        break;
    case HPA_PATH_BELOW_MIN:
        decision->replicas = min;
        break;
    case HPA_PATH_METRICS:
        if (!propose_all(controller, spec, view, proposals, decision, conditions)) {
            decision->path = HPA_PATH_FAILED;
            break;
        }
        if (normalize(controller, spec, state, view->now, min, decision, err) != 0)
            return -1;
        /* Only from zero, when min was raised meanwhile: behavior alone would not lift it so far. */
        if (current == 0 && scaled_to_zero && decision->replicas < min)
            decision->replicas = min;
        break;
    }
    if (decision->replicas != current && rescale(controller, spec, state, view->now, min, decision, err) != 0)
        return -1;
    decision->conditions = *conditions;
    return 0;
}
