/* Vectors of single functions that turn pods and metrics into a proposal. */
#include "tests/conformance/hpa_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *error_label(enum hpa_metric_error error)
{
    static const char *const labels[] = {
        [HPA_METRIC_OK] = "",
        [HPA_METRIC_FETCH_FAILED] = "fetch_failed",
        [HPA_METRIC_NO_SAMPLES] = "no_metrics",
        [HPA_METRIC_NO_PODS] = "no_pods",
        [HPA_METRIC_ALL_DISCARDED] = "all_metrics_discarded",
        [HPA_METRIC_NO_REQUEST] = "missing_request",
        [HPA_METRIC_NO_MATCH] = "no_matching_metrics",
        [HPA_METRIC_INVALID] = "invalid_type",
    };

    return labels[error];
}

static bool read_metric(struct fy_node *vector, const char *function, struct hpa_metric *metric)
{
    static const struct {
        const char *function;
        enum hpa_source source;
        enum hpa_target kind;
    } known[] = {
        {"resource_utilization", HPA_SOURCE_RESOURCE, HPA_TARGET_UTILIZATION},
        {"resource_average", HPA_SOURCE_RESOURCE, HPA_TARGET_AVERAGE_VALUE},
        {"pods_average", HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE},
        {"object_value", HPA_SOURCE_OBJECT, HPA_TARGET_VALUE},
        {"object_average", HPA_SOURCE_OBJECT, HPA_TARGET_AVERAGE_VALUE},
        {"external_value", HPA_SOURCE_EXTERNAL, HPA_TARGET_VALUE},
        {"external_average", HPA_SOURCE_EXTERNAL, HPA_TARGET_AVERAGE_VALUE},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].function, function) != 0)
            continue;
        *metric = (struct hpa_metric){
            .source = known[i].source,
            .target_kind = known[i].kind,
            .cpu = vector_is(vector_get(vector, "resource"), "cpu"),
            .target = vector_int64(vector_get(vector, known[i].kind == HPA_TARGET_UTILIZATION
                                                          ? "target_utilization"
                                                          : "target_milli"),
                                   0),
        };
        return true;
    }
    return false;
}

/* Values of an object or external metric; the caller frees them. */
static int64_t *read_values(struct fy_node *vector, size_t *count)
{
    struct fy_node *list = vector_get(vector, "metric_values_milli");
    struct fy_node *one = vector_get(vector, "metric_milli");
    int64_t *values = calloc((size_t)vector_count(list) + 1, sizeof *values);

    if (values == NULL)
        abort();
    *count = 0;
    if (one != NULL)
        values[(*count)++] = vector_int64(one, 0);
    for (int i = 0; i < vector_count(list); i++)
        values[(*count)++] = vector_int64(vector_at(list, i), 0);
    return values;
}

static bool run_proposal(struct fy_node *root, struct fy_node *vector, const struct hpa_metric *metric,
                         struct outcome *outcome)
{
    struct fy_node *expected = vector_get(vector, "expected");
    struct fy_node *source_error = vector_get(vector, "metrics_error");
    int32_t current = vector_int32(vector_get(vector, "current_replicas"), 0);
    struct hpa_controller controller;
    struct hpa_proposal proposal;
    struct hpa_reading reading;
    struct hpa_view view;
    struct scene scene;
    size_t value_count;
    int64_t *values = read_values(vector, &value_count);

    read_controller(vector, &controller);
    scene_init(&scene, vector_get(vector, "pods"), vector_get(root, "pod_columns"));
    if (vector_has(vector, "metrics"))
        scene_samples(&scene, vector_get(vector, "metrics"));
    reading = (struct hpa_reading){.samples = scene.samples,
                                   .stray_milli = scene.strays,
                                   .stray_count = scene.stray_count,
                                   .values_milli = values,
                                   .value_count = value_count};
    if (source_error != NULL)
        reading.error = vector_is(source_error, "no_metrics") ? HPA_METRIC_NO_SAMPLES
                                                              : HPA_METRIC_FETCH_FAILED;
    view = (struct hpa_view){.spec_replicas = current,
                             .status_replicas = current,
                             .pods = scene.pods,
                             .pod_count = scene.count,
                             .readings = &reading};
    hpa_propose(&controller, &controller.tolerance, metric, &view, &reading, &proposal);
    if (source_error != NULL && proposal.error == HPA_METRIC_FETCH_FAILED)
        outcome_text(outcome, "error", vector_text(vector_get(expected, "error"), ""),
                     vector_text(source_error, ""));
    else
        outcome_text(outcome, "error", vector_text(vector_get(expected, "error"), ""),
                     error_label(proposal.error));
    if (!vector_has(expected, "error")) {
        outcome_equal(outcome, "replicas", vector_int64(vector_get(expected, "replicas"), INT64_MIN),
                      proposal.replicas);
        if (vector_has(expected, "utilization"))
            outcome_equal(outcome, "utilization",
                          vector_int64(vector_get(expected, "utilization"), INT64_MIN), proposal.utilization);
        if (vector_has(expected, "raw_average_milli"))
            outcome_equal(outcome, "raw average",
                          vector_int64(vector_get(expected, "raw_average_milli"), INT64_MIN),
                          proposal.usage_milli);
        if (vector_has(expected, "usage_milli"))
            outcome_equal(outcome, "usage", vector_int64(vector_get(expected, "usage_milli"), INT64_MIN),
                          proposal.usage_milli);
    }
    scene_free(&scene);
    free(values);
    return outcome->text[0] == '\0';
}

/* The expected group of a pod: the list that names it; none means that it counts. */
static enum hpa_group expected_group(struct fy_node *expected, const char *name)
{
    static const struct {
        const char *key;
        enum hpa_group group;
    } lists[] = {
        {"unready", HPA_GROUP_UNREADY}, {"missing", HPA_GROUP_MISSING}, {"ignored", HPA_GROUP_IGNORED}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct fy_node *list = vector_get(expected, lists[i].key);

        for (int k = 0; k < vector_count(list); k++)
            if (vector_is(vector_at(list, k), name))
                return lists[i].group;
    }
    return HPA_GROUP_COUNTS;
}

static bool run_group_pods(struct fy_node *root, struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *expected = vector_get(vector, "expected");
    bool cpu = vector_is(vector_get(vector, "resource"), "cpu");
    struct hpa_controller controller;
    struct scene scene;
    int64_t counted = 0;

    read_controller(vector, &controller);
    scene_init(&scene, vector_get(vector, "pods"), vector_get(root, "pod_columns"));
    if (vector_has(vector, "metrics"))
        scene_samples(&scene, vector_get(vector, "metrics"));
    for (size_t i = 0; i < scene.count; i++) {
        enum hpa_group group = hpa_pod_group(&controller, cpu, 0, &scene.pods[i], &scene.samples[i]);

        counted += group == HPA_GROUP_COUNTS;
        if (scene.names[i] != NULL)
            outcome_equal(outcome, scene.names[i], expected_group(expected, scene.names[i]), group);
    }
    outcome_equal(outcome, "ready count", vector_int64(vector_get(expected, "ready_count"), -1), counted);
    scene_free(&scene);
    return outcome->text[0] == '\0';
}

static bool run_pod_request(struct fy_node *vector, struct outcome *outcome)
{
    static const char *const lists[] = {"containers", "init_containers"};
    struct fy_node *expected = vector_get(vector, "expected");
    struct hpa_container containers[64];
    size_t count = 0;
    int64_t wanted = vector_int64(vector_get(expected, "request_milli"), HPA_NO_REQUEST);

    for (int init = 0; init < 2; init++) {
        struct fy_node *list = vector_get(vector, lists[init]);

        for (int i = 0; i < vector_count(list) && count < 64; i++) {
            struct fy_node *node = vector_at(list, i);

            containers[count++] = (struct hpa_container){
                .name = vector_text(vector_get(node, "name"), ""),
                .request_milli = vector_int64(vector_get(node, "request_milli"), HPA_NO_REQUEST),
                .init = init == 1,
                .restart_always = vector_bool(vector_get(node, "restart_always"), false),
            };
        }
    }
    return outcome_equal(
        outcome, "request", wanted,
        hpa_pod_request(containers, count,
                        vector_int64(vector_get(vector, "pod_level_request_milli"), HPA_NO_REQUEST),
                        vector_text(vector_get(vector, "container"), NULL)));
}

static bool run_tolerance_band(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *expected = vector_get(vector, "expected");
    double ratio = vector_double(vector_get(vector, "usage"), NAN) /
                   vector_double(vector_get(vector, "target"), NAN);
    struct hpa_tolerance tolerance = {.up = vector_double(vector_get(vector, "tolerance_up"), 0.1),
                                      .down = vector_double(vector_get(vector, "tolerance_down"), 0.1)};

    outcome_equal(outcome, "within", vector_bool(vector_get(expected, "within"), false),
                  hpa_tolerance_within(&tolerance, ratio));
    tolerance = (struct hpa_tolerance){.up = 0.1, .down = 0.1, .form = HPA_TOLERANCE_DISTANCE};
    if (vector_has(expected, "within_before_1_33"))
        outcome_equal(outcome, "within before 1.33",
                      vector_bool(vector_get(expected, "within_before_1_33"), false),
                      hpa_tolerance_within(&tolerance, ratio));
    return outcome->text[0] == '\0';
}

bool run_metric_function(struct fy_node *root, struct fy_node *vector, const char *function, bool *passed,
                         struct outcome *outcome)
{
    struct hpa_metric metric;

    if (read_metric(vector, function, &metric))
        *passed = run_proposal(root, vector, &metric, outcome);
    else if (strcmp(function, "group_pods") == 0)
        *passed = run_group_pods(root, vector, outcome);
    else if (strcmp(function, "pod_request") == 0)
        *passed = run_pod_request(vector, outcome);
    else if (strcmp(function, "tolerance_band") == 0)
        *passed = run_tolerance_band(vector, outcome);
    else
        return false;
    return true;
}
