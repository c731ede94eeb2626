/* Vectors of whole reconciles: one of them, or sequences with a memory. */
#include "tests/conformance/hpa_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hpa_condition *condition_of(const struct hpa_conditions *conditions, const char *type)
{
    if (strcmp(type, "AbleToScale") == 0)
        return &conditions->able_to_scale;
    if (strcmp(type, "ScalingActive") == 0)
        return &conditions->scaling_active;
    return strcmp(type, "ScalingLimited") == 0 ? &conditions->scaling_limited : &conditions->scaled_to_zero;
}

/* "T:ScaleUpLimit", "" if never written. */
static void condition_text(const struct hpa_condition *condition, char *text, size_t size)
{
    if (condition->reason == HPA_REASON_NONE)
        text[0] = '\0';
    else
        snprintf(text, size, "%c:%s", condition->status ? 'T' : 'F', hpa_reason_text(condition->reason));
}

/* An expected condition is "T:Reason", or {"status": "True", "reason": "Reason"}; an absent one was never
 * written. */
static void check_conditions(struct fy_node *expected, const struct hpa_conditions *conditions,
                             const char *where, struct outcome *outcome)
{
    static const char *const types[] = {"AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct fy_node *node = vector_get(expected, types[i]);
        char wanted[96] = "", got[96], what[160];

        if (vector_is_map(node))
            snprintf(wanted, sizeof wanted, "%c:%s",
                     vector_is(vector_get(node, "status"), "True") ? 'T' : 'F',
                     vector_text(vector_get(node, "reason"), ""));
        else
            snprintf(wanted, sizeof wanted, "%s", vector_text(node, ""));
        condition_text(condition_of(conditions, types[i]), got, sizeof got);
        snprintf(what, sizeof what, "%s%s", where, types[i]);
        outcome_text(outcome, what, wanted, got);
    }
}

/* ---- one reconcile ---- */

static enum hpa_source read_source(struct fy_node *metric)
{
    static const char *const names[] = {"Resource", "ContainerResource", "Pods", "Object", "External"};
    static const enum hpa_source sources[] = {HPA_SOURCE_RESOURCE, HPA_SOURCE_CONTAINER_RESOURCE,
                                              HPA_SOURCE_PODS, HPA_SOURCE_OBJECT, HPA_SOURCE_EXTERNAL};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vector_is(vector_get(metric, "type"), names[i]))
            return sources[i];
    return HPA_SOURCE_INVALID;
}

static struct hpa_metric read_metric(struct fy_node *node)
{
    static const char *const keys[] = {"target_utilization", "target_average_milli", "target_value_milli"};
    static const enum hpa_target kinds[] = {HPA_TARGET_UTILIZATION, HPA_TARGET_AVERAGE_VALUE,
                                            HPA_TARGET_VALUE};
    struct hpa_metric metric = {.source = read_source(node),
                                .cpu = vector_is(vector_get(node, "resource"), "cpu")};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!vector_has(node, keys[i]))
            continue;
        metric.target_kind = kinds[i];
        metric.target = vector_int64(vector_get(node, keys[i]), 0);
    }
    return metric;
}

/* What one metric of a vector reads, with its own pods and samples. */
struct gauge {
    struct scene scene;
    int64_t values[64];
    size_t value_count;
};

static void gauge_read(struct gauge *gauge, struct fy_node *metric, struct fy_node *pods,
                       struct hpa_reading *reading)
{
    struct fy_node *own = vector_get(metric, "pods"), *list = vector_get(metric, "metric_values_milli");
    struct fy_node *source_error = vector_get(metric, "metrics_error");

    *gauge = (struct gauge){0};
    scene_init(&gauge->scene, own != NULL ? own : pods, NULL);
    scene_samples(&gauge->scene, vector_get(metric, "metrics"));
    if (vector_has(metric, "metric_milli"))
        gauge->values[gauge->value_count++] = vector_int64(vector_get(metric, "metric_milli"), 0);
    for (int i = 0; i < vector_count(list) && gauge->value_count < 64; i++)
        gauge->values[gauge->value_count++] = vector_int64(vector_at(list, i), 0);
    *reading = (struct hpa_reading){
        .samples = gauge->scene.samples,
        .stray_milli = gauge->scene.strays,
        .stray_count = gauge->scene.stray_count,
        .pods = gauge->scene.pods,
        .pod_count = gauge->scene.count,
        .values_milli = gauge->values,
        .value_count = gauge->value_count,
    };
    if (source_error != NULL)
        reading->error = vector_is(source_error, "no_metrics") ? HPA_METRIC_NO_SAMPLES
                                                               : HPA_METRIC_FETCH_FAILED;
}

static const char *action_name(int32_t from, int32_t to)
{
    if (to == from)
        return "none";
    return to > from ? "scale_up" : "scale_down";
}

/* Does a later metric have the same type? */
static bool is_type_repeated(struct fy_node *metrics, int index)
{
    const char *type = vector_text(vector_get(vector_at(metrics, index), "type"), "");

    for (int i = index + 1; i < vector_count(metrics); i++)
        if (vector_is(vector_get(vector_at(metrics, i), "type"), type))
            return true;
    return false;
}

static void check_metric_results(struct fy_node *vector, const struct hpa_spec *spec,
                                 const struct hpa_decision *decision, const struct hpa_proposal *proposals,
                                 struct outcome *outcome)
{
    struct fy_node *metrics = vector_get(vector, "metrics");
    struct fy_node *results = vector_get(vector_get(vector, "expected"), "metric_results");
    bool asked = decision->path == HPA_PATH_METRICS || decision->path == HPA_PATH_FAILED;

    if (results == NULL)
        return;
    if (!asked)
        outcome_equal(outcome, "metric results", vector_count(results), 0);
    for (size_t i = 0; asked && i < spec->metric_count; i++) {
        const char *type = vector_text(vector_get(vector_at(metrics, (int)i), "type"), "");
        struct fy_node *result = vector_get(results, type);
        bool ok = proposals[i].error == HPA_METRIC_OK;
        const char *error = ok ? "none" : proposals[i].error == HPA_METRIC_INVALID ? "spec" : "internal";

        if (is_type_repeated(metrics, (int)i))
            continue; /* results are by type, so the last of a type is what was recorded */
        outcome_text(outcome, type, vector_text(vector_get(result, "error"), "(no result)"), error);
        outcome_text(outcome, type, vector_text(vector_get(result, "action"), "(no result)"),
                     ok ? action_name(decision->current, proposals[i].replicas) : "none");
    }
}

static void check_reconcile(struct fy_node *vector, const struct hpa_spec *spec,
                            const struct hpa_decision *decision, const struct hpa_proposal *proposals,
                            struct outcome *outcome)
{
    struct fy_node *expected = vector_get(vector, "expected");

    outcome_equal(outcome, "desired", vector_int64(vector_get(expected, "desired_replicas"), -1),
                  decision->replicas);
    if (vector_has(expected, "action"))
        outcome_text(outcome, "action", vector_text(vector_get(expected, "action"), ""),
                     action_name(decision->current, decision->replicas));
    if (vector_has(expected, "error"))
        outcome_text(outcome, "error", vector_text(vector_get(expected, "error"), ""),
                     decision->failed ? "internal" : "none");
    if (vector_has(expected, "conditions"))
        check_conditions(vector_get(expected, "conditions"), &decision->conditions, "", outcome);
    check_metric_results(vector, spec, decision, proposals, outcome);
    for (size_t i = 0; i < spec->metric_count && vector_has(expected, "cpu_utilization"); i++) {
        if (spec->metrics[i].source == HPA_SOURCE_RESOURCE && spec->metrics[i].cpu &&
            proposals[i].error == HPA_METRIC_OK)
            outcome_equal(outcome, "cpu utilization",
                          vector_int64(vector_get(expected, "cpu_utilization"), -1),
                          proposals[i].utilization);
    }
}

bool run_reconcile(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *metrics = vector_get(vector, "metrics"), *pods = vector_get(vector, "pods");
    struct hpa_reading readings[HPA_METRICS];
    struct gauge *gauges = calloc(HPA_METRICS, sizeof *gauges);
    struct hpa_proposal proposals[HPA_METRICS] = {0};
    struct hpa_decision decision;
    struct hpa_controller controller;
    struct hpa_state state;
    struct hpa_spec spec;
    struct hpa_view view;
    struct scene scene;

    if (gauges == NULL)
        abort();
    read_controller(vector, &controller);
    hpa_spec_init(&spec);
    spec.min = vector_int32(vector_get(vector, "min_replicas"), -1);
    spec.max = vector_int32(vector_get(vector, "max_replicas"), 1);
    for (int i = 0; i < vector_count(metrics) && i < HPA_METRICS; i++) {
        spec.metrics[spec.metric_count++] = read_metric(vector_at(metrics, i));
        gauge_read(&gauges[i], vector_at(metrics, i), pods, &readings[i]);
    }
    read_behavior(vector, &spec);

    hpa_state_init(&state);
    state.recommendations.known = !vector_bool(vector_get(vector, "recommendations_unset"), false);
    read_recommendations(vector_get(vector, "recommendations"), &state.recommendations);
    read_events(vector_get(vector, "scale_up_events"), &state.events[HPA_UP]);
    read_events(vector_get(vector, "scale_down_events"), &state.events[HPA_DOWN]);
    scene_init(&scene, pods, NULL);
    view = (struct hpa_view){
        .spec_replicas = vector_int32(vector_get(vector, "spec_replicas"), 0),
        .status_replicas = vector_int32(vector_get(vector, "status_replicas"), 0),
        .pods = scene.pods,
        .pod_count = scene.count,
        .readings = readings,
    };
    if (hpa_reconcile(&controller, &spec, &state, &view, proposals, &decision, NULL) == 0)
        check_reconcile(vector, &spec, &decision, proposals, outcome);
    else
        outcome_fail(outcome, "out of memory");
    hpa_state_free(&state);
    scene_free(&scene);
    for (size_t i = 0; i < spec.metric_count; i++)
        scene_free(&gauges[i].scene);
    free(gauges);
    return outcome->text[0] == '\0';
}

/* ---- sequences of one metric that asks for exactly "raw" replicas ---- */

static struct fy_node *column(struct fy_node *row, struct fy_node *columns, const char *name)
{
    for (int i = 0; i < vector_count(columns); i++)
        if (vector_is(vector_at(columns, i), name))
            return vector_at(row, i);
    return NULL;
}

bool run_proposal_sequence(struct fy_node *root, struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *columns = vector_get(root, "step_columns"), *steps = vector_get(vector, "steps"), *row;
    int32_t replicas = vector_int32(vector_get(vector, "initial_replicas"), 0);
    struct hpa_controller controller;
    struct hpa_state state;
    struct hpa_spec spec;
    void *position = NULL;

    read_controller(vector, &controller);
    controller.tolerance.up = controller.tolerance.down = 0;
    hpa_spec_init(&spec);
    spec.min = vector_int32(vector_get(vector, "min_replicas"), -1);
    spec.max = vector_int32(vector_get(vector, "max_replicas"), 1);
    spec.metrics[spec.metric_count++] = (struct hpa_metric){
        .source = HPA_SOURCE_EXTERNAL, .target_kind = HPA_TARGET_AVERAGE_VALUE, .target = 1000};
    read_behavior(vector, &spec);
    hpa_state_init(&state);
    while (steps != NULL && outcome->text[0] == '\0' &&
           (row = fy_node_sequence_iterate(steps, &position)) != NULL) {
        int64_t value = 1000 * vector_int64(column(row, columns, "raw"), 0);
        struct hpa_reading reading = {.values_milli = &value, .value_count = 1};
        struct hpa_view view = {.now = vector_time(column(row, columns, "t_s"), 0), .readings = &reading};
        struct hpa_proposal proposal;
        struct hpa_decision decision;
        char where[64], got[96];

        view.spec_replicas = view.status_replicas = vector_int32(column(row, columns, "set_replicas"),
                                                                 replicas);
        if (hpa_reconcile(&controller, &spec, &state, &view, &proposal, &decision, NULL) != 0)
            return outcome_fail(outcome, "out of memory");
        replicas = decision.replicas;
        snprintf(where, sizeof where, "t=%g s", sim_time_seconds(view.now));
        outcome_equal(outcome, where, vector_int64(column(row, columns, "replicas_after"), -1), replicas);
        outcome_text(outcome, where, vector_text(column(row, columns, "able_reason"), ""),
                     hpa_reason_text(decision.conditions.able_to_scale.reason));
        condition_text(&decision.conditions.scaling_limited, got, sizeof got);
        outcome_text(outcome, where, vector_text(column(row, columns, "limited"), ""), got);
    }
    hpa_state_free(&state);
    return outcome->text[0] == '\0';
}

/* ---- sequences with pods and up to three metrics, some failing ---- */

static bool read_kind(struct fy_node *node, struct hpa_metric *metric)
{
    static const struct {
        const char *kind;
        struct hpa_metric metric;
    } known[] = {
        {"cpu_util", {HPA_SOURCE_RESOURCE, HPA_TARGET_UTILIZATION, true, 0}},
        {"cpu_avg", {HPA_SOURCE_RESOURCE, HPA_TARGET_AVERAGE_VALUE, true, 0}},
        {"mem_util", {HPA_SOURCE_RESOURCE, HPA_TARGET_UTILIZATION, false, 0}},
        {"mem_avg", {HPA_SOURCE_RESOURCE, HPA_TARGET_AVERAGE_VALUE, false, 0}},
        {"pods", {HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, false, 0}},
        {"obj_value", {HPA_SOURCE_OBJECT, HPA_TARGET_VALUE, false, 0}},
        {"obj_avg", {HPA_SOURCE_OBJECT, HPA_TARGET_AVERAGE_VALUE, false, 0}},
        {"ext_value", {HPA_SOURCE_EXTERNAL, HPA_TARGET_VALUE, false, 0}},
        {"ext_avg", {HPA_SOURCE_EXTERNAL, HPA_TARGET_AVERAGE_VALUE, false, 0}},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!vector_is(vector_get(node, "kind"), known[i].kind))
            continue;
        *metric = known[i].metric;
        metric->target = vector_int64(vector_get(node, "target_milli"),
                                      vector_int64(vector_get(node, "target_utilization"), 0));
        return true;
    }
    return false;
}

/* What the metrics of one step read; holds the arrays that the readings point to. */
struct step_values {
    struct hpa_sample *samples; /* count for each metric */
    int64_t values[HPA_METRICS][16];
};

/* A step's entry: null, one value, or a list (one sample per pod, or the values of an external metric). */
static void read_step_metric(struct fy_node *node, const struct hpa_metric *metric, const struct scene *scene,
                             struct hpa_sample *samples, int64_t *values, struct hpa_reading *reading)
{
    bool of_pods = metric->source != HPA_SOURCE_OBJECT && metric->source != HPA_SOURCE_EXTERNAL;

    *reading = (struct hpa_reading){0};
    if (node == NULL) {
        reading->error = HPA_METRIC_FETCH_FAILED;
        return;
    }
    if (!of_pods) {
        reading->values_milli = values;
        if (!vector_is_sequence(node))
            values[reading->value_count++] = vector_int64(node, 0);
        for (int i = 0; i < vector_count(node) && reading->value_count < 16; i++)
            values[reading->value_count++] = vector_int64(vector_at(node, i), 0);
        return;
    }
    for (size_t i = 0; i < scene->count; i++) {
        struct fy_node *sample = vector_at(node, (int)i);

        samples[i] = (struct hpa_sample){.value_milli = vector_int64(sample, 0),
                                         .timestamp = scene->samples[i].timestamp,
                                         .window = 15 * SIM_SECOND,
                                         .present = sample != NULL};
    }
    reading->samples = samples;
}

struct step_run {
    struct hpa_controller controller;
    struct hpa_spec spec;
    struct hpa_state state;
    int32_t replicas;
};

static void run_step(struct step_run *run, struct fy_node *columns, struct fy_node *step,
                     struct outcome *outcome)
{
    struct fy_node *metrics = vector_get(step, "metrics");
    struct hpa_reading readings[HPA_METRICS];
    struct hpa_proposal proposals[HPA_METRICS];
    struct step_values read;
    struct hpa_decision decision;
    struct hpa_view view;
    struct scene scene;
    char where[64];

    scene_init(&scene, vector_get(step, "pods"), columns);
    read.samples = calloc(HPA_METRICS * (scene.count + 1), sizeof *read.samples);
    if (read.samples == NULL)
        abort();
    for (size_t i = 0; i < scene.count; i++)
        scene.pods[i].request_milli = 1000;
    for (size_t i = 0; i < run->spec.metric_count; i++)
        read_step_metric(vector_at(metrics, (int)i), &run->spec.metrics[i], &scene,
                         read.samples + i * scene.count, read.values[i], &readings[i]);
    view = (struct hpa_view){
        .now = vector_time(vector_get(step, "t"), 0),
        .spec_replicas = vector_int32(vector_get(step, "before"), run->replicas),
        .status_replicas = (int32_t)scene.count,
        .pods = scene.pods,
        .pod_count = scene.count,
        .readings = readings,
    };
    /* Ages in the rows are relative to the step. */
    for (size_t i = 0; i < scene.count; i++) {
        scene.pods[i].start = scene.pods[i].start == HPA_UNSET ? HPA_UNSET : scene.pods[i].start + view.now;
        scene.pods[i].ready_transition = scene.pods[i].ready_transition == HPA_UNSET
                                             ? HPA_UNSET
                                             : scene.pods[i].ready_transition + view.now;
    }
    for (size_t i = 0; i < HPA_METRICS * (scene.count + 1); i++)
        read.samples[i].timestamp += view.now;
    snprintf(where, sizeof where, "t=%g s ", sim_time_seconds(view.now));
    if (hpa_reconcile(&run->controller, &run->spec, &run->state, &view, proposals, &decision, NULL) == 0) {
        run->replicas = decision.replicas;
        outcome_equal(outcome, where, vector_int64(vector_get(step, "replicas"), -1), decision.replicas);
        outcome_equal(outcome, "error", vector_bool(vector_get(step, "error"), false), decision.failed);
        if (vector_has(step, "conditions"))
            check_conditions(vector_get(step, "conditions"), &decision.conditions, where, outcome);
    } else {
        outcome_fail(outcome, "out of memory");
    }
    free(read.samples);
    scene_free(&scene);
}

bool run_reconcile_sequence(struct fy_node *root, struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *columns = vector_get(root, "pod_columns"), *steps = vector_get(vector, "steps"), *step;
    struct fy_node *metrics = vector_get(vector, "metrics");
    struct step_run run = {.replicas = vector_int32(vector_get(vector, "initial_replicas"), 0)};
    void *position = NULL;

    read_controller(vector, &run.controller);
    hpa_spec_init(&run.spec);
    run.spec.min = vector_int32(vector_get(vector, "min_replicas"), -1);
    run.spec.max = vector_int32(vector_get(vector, "max_replicas"), 1);
    for (int i = 0; i < vector_count(metrics) && i < HPA_METRICS; i++)
        if (!read_kind(vector_at(metrics, i), &run.spec.metrics[run.spec.metric_count++]))
            return outcome_fail(outcome, "unknown metric kind %s",
                                vector_text(vector_get(vector_at(metrics, i), "kind"), ""));
    read_behavior(vector, &run.spec);
    hpa_state_init(&run.state);
    while (steps != NULL && outcome->text[0] == '\0' &&
           (step = fy_node_sequence_iterate(steps, &position)) != NULL)
        run_step(&run, columns, step, outcome);
    hpa_state_free(&run.state);
    return outcome->text[0] == '\0';
}
