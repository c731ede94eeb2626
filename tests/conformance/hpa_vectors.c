#include "tests/conformance/hpa_vectors.h"

#include <stdlib.h>
#include <string.h>

static enum hpa_phase read_phase(struct fy_node *node)
{
    if (vector_is(node, "Pending"))
        return HPA_PENDING;
    if (vector_is(node, "Failed"))
        return HPA_FAILED;
    return vector_is(node, "Succeeded") ? HPA_SUCCEEDED : HPA_RUNNING;
}

static void *array(size_t count, size_t size)
{
    void *items = calloc(count > 0 ? count : 1, size);

    if (items == NULL)
        abort();
    return items;
}

/* A pod's field: by name in a mapping, by the column's place in a row. */
static struct fy_node *field(struct fy_node *pod, struct fy_node *columns, const char *name)
{
    if (!vector_is_sequence(pod))
        return vector_get(pod, name);
    for (int i = 0; i < vector_count(columns); i++)
        if (vector_is(vector_at(columns, i), name))
            return vector_at(pod, i);
    return NULL;
}

void scene_init(struct scene *scene, struct fy_node *pods, struct fy_node *columns)
{
    void *position = NULL;
    struct fy_node *node;
    size_t i = 0;

    *scene = (struct scene){.count = (size_t)vector_count(pods)};
    scene->pods = array(scene->count, sizeof *scene->pods);
    scene->names = array(scene->count, sizeof *scene->names);
    scene->samples = array(scene->count, sizeof *scene->samples);
    while (pods != NULL && (node = fy_node_sequence_iterate(pods, &position)) != NULL) {
        struct fy_node *value = field(node, columns, "metric_milli");

        scene->names[i] = vector_text(field(node, columns, "name"), NULL);
        scene->pods[i] = (struct hpa_pod){
            .start = vector_time(field(node, columns, "start_s"), HPA_UNSET),
            .ready_transition = vector_time(field(node, columns, "ready_transition_s"), HPA_UNSET),
            .request_milli = vector_int64(field(node, columns, "request_milli"), HPA_NO_REQUEST),
            .phase = read_phase(field(node, columns, "phase")),
            .deleted = vector_bool(field(node, columns, "deleted"), false),
            .ready = vector_bool(field(node, columns, "ready"), false),
        };
        scene->samples[i] = (struct hpa_sample){
            .value_milli = vector_int64(value, 0),
            .timestamp = vector_time(field(node, columns, "metric_timestamp_s"), 0),
            .window = vector_time(field(node, columns, "metric_window_s"), 0),
            .present = value != NULL,
        };
        i++;
    }
}

void scene_samples(struct scene *scene, struct fy_node *metrics)
{
    struct fy_node_pair *pair;
    void *position = NULL;

    memset(scene->samples, 0, scene->count * sizeof *scene->samples);
    free(scene->strays);
    scene->strays = array((size_t)vector_count(metrics), sizeof *scene->strays);
    scene->stray_count = 0;
    while (metrics != NULL && (pair = fy_node_mapping_iterate(metrics, &position)) != NULL) {
        const char *name = vector_text(fy_node_pair_key(pair), "");
        struct fy_node *node = fy_node_pair_value(pair);
        struct hpa_sample sample = {
            .value_milli = vector_int64(vector_get(node, "value_milli"), 0),
            .timestamp = vector_time(vector_get(node, "timestamp_s"), 0),
            .window = vector_time(vector_get(node, "window_s"), 0),
            .present = true,
        };
        size_t i = 0;

        while (i < scene->count && (scene->names[i] == NULL || strcmp(scene->names[i], name) != 0))
            i++;
        if (i < scene->count)
            scene->samples[i] = sample;
        else
            scene->strays[scene->stray_count++] = sample.value_milli;
    }
}

void scene_free(struct scene *scene)
{
    free(scene->pods);
    free(scene->names);
    free(scene->samples);
    free(scene->strays);
    *scene = (struct scene){0};
}

void read_controller(struct fy_node *vector, struct hpa_controller *controller)
{
    struct fy_node *c = vector_get(vector, "constants");

    if (c == NULL)
        c = vector;
    hpa_controller_defaults(controller);
    controller->tolerance.up = controller->tolerance.down = vector_double(vector_get(c, "tolerance"), 0.1);
    controller->tolerance.up = vector_double(vector_get(c, "tolerance_up"), controller->tolerance.up);
    controller->tolerance.down = vector_double(vector_get(c, "tolerance_down"), controller->tolerance.down);
    controller->cpu_initialization = vector_time(vector_get(c, "cpu_initialization_period_s"),
                                                 controller->cpu_initialization);
    controller->initial_readiness_delay = vector_time(vector_get(c, "initial_readiness_delay_s"),
                                                      controller->initial_readiness_delay);
    controller->downscale_stabilization = vector_time(vector_get(c, "downscale_stabilization_s"),
                                                      controller->downscale_stabilization);
    controller->scale_up_limit_factor = vector_double(vector_get(c, "scale_up_limit_factor"),
                                                      controller->scale_up_limit_factor);
    controller->scale_up_limit_minimum = vector_double(vector_get(c, "scale_up_limit_minimum"),
                                                       controller->scale_up_limit_minimum);
    controller->zero_rule = vector_is(vector_get(vector, "zero_rule"), "scaled_to_zero_condition")
                                ? HPA_ZERO_CONDITION
                                : HPA_ZERO_CLASSIC;
}

void read_rules(struct fy_node *node, struct hpa_rules *rules)
{
    struct fy_node *policies = vector_get(node, "policies");
    struct fy_node *select = vector_get(node, "select_policy");

    hpa_rules_init(rules);
    rules->window = vector_time(vector_get(node, "stabilization_window_s"), HPA_UNSET);
    rules->tolerance = vector_double(vector_get(node, "tolerance"), HPA_TOLERANCE_UNSET);
    if (vector_is(select, "Max"))
        rules->select = HPA_SELECT_MAX;
    else if (vector_is(select, "Min"))
        rules->select = HPA_SELECT_MIN;
    else if (vector_is(select, "Disabled"))
        rules->select = HPA_SELECT_DISABLED;
    for (int i = 0; i < vector_count(policies) && i < HPA_POLICIES; i++) {
        struct fy_node *policy = vector_at(policies, i);

        rules->policies[rules->policy_count++] = (struct hpa_policy){
            .kind = vector_is(vector_get(policy, "type"), "Percent") ? HPA_POLICY_PERCENT : HPA_POLICY_PODS,
            .value = vector_int32(vector_get(policy, "value"), 0),
            .period = vector_time(vector_get(policy, "period_s"), 0),
        };
    }
}

void read_behavior(struct fy_node *vector, struct hpa_spec *spec)
{
    struct fy_node *behavior = vector_get(vector, "behavior");

    spec->behavior = behavior != NULL;
    read_rules(vector_get(behavior, "scale_up"), &spec->rules[HPA_UP]);
    read_rules(vector_get(behavior, "scale_down"), &spec->rules[HPA_DOWN]);
    hpa_spec_default(spec);
}

void read_events(struct fy_node *list, struct hpa_events *events)
{
    for (int i = 0; i < vector_count(list); i++) {
        struct fy_node *node = vector_at(list, i);

        if (hpa_events_add(events, -vector_time(vector_get(node, "age_s"), 0),
                           vector_int32(vector_get(node, "change"), 0), NULL) == 0)
            events->items[events->count - 1].outdated = vector_bool(vector_get(node, "outdated"), false);
    }
}

void read_recommendations(struct fy_node *list, struct hpa_recommendations *recommendations)
{
    for (int i = 0; i < vector_count(list); i++) {
        struct fy_node *node = vector_at(list, i);

        hpa_recommendations_add(recommendations, -vector_time(vector_get(node, "age_s"), 0),
                                vector_int32(vector_get(node, "replicas"), 0), NULL);
    }
}
