/* Runs the decisions of models/scaling/keda against vectors taken from the real one's tests and code. */
#include <math.h>
#include <string.h>

#include "models/scaling/keda.h"
#include "tests/conformance/vectors.h"

#define NOW ((sim_time)2000000000 * SIM_SECOND)

static bool run_poll(struct fy_node *input, struct fy_node *expected, struct outcome *outcome)
{
    struct fy_node *age = vector_get(input, "last_active_age_s");
    struct keda_decision decision;
    struct keda_spec spec;
    struct keda_poll poll = {
        .now = NOW,
        /* Objects of unknown age are old. */
        .created = NOW - vector_time(vector_get(input, "object_age_s"), 1000000000 * SIM_SECOND),
        .last_active = age != NULL ? NOW - vector_time(age, 0) : KEDA_NEVER,
        .replicas = vector_int32(vector_get(input, "current_replicas"), 0),
        .active = vector_bool(vector_get(input, "active"), false),
        .error = vector_bool(vector_get(input, "error"), false),
    };

    keda_spec_defaults(&spec);
    spec.min = vector_int32(vector_get(input, "min_replica_count"), KEDA_NONE);
    spec.max = vector_int32(vector_get(input, "max_replica_count"), KEDA_NONE);
    spec.idle = vector_int32(vector_get(input, "idle_replica_count"), KEDA_NONE);
    spec.fallback_replicas = vector_int32(vector_get(input, "fallback_replicas"), KEDA_NONE);
    spec.cooldown = vector_time(vector_get(input, "cooldown_period_s"), spec.cooldown);
    spec.initial_cooldown = vector_time(vector_get(input, "initial_cooldown_period_s"),
                                        spec.initial_cooldown);
    spec.paused = vector_bool(vector_get(input, "paused"), false);
    spec.paused_scale_in = vector_bool(vector_get(input, "paused_scale_in"), false);
    spec.paused_scale_out = vector_bool(vector_get(input, "paused_scale_out"), false);
    spec.force_activation = vector_bool(vector_get(input, "force_activation"), false);
    keda_poll_decide(&spec, &poll, &decision);
    outcome_equal(outcome, "replicas", vector_int64(vector_get(expected, "replicas"), -1), decision.replicas);
    if (vector_has(expected, "last_active_time_set"))
        outcome_equal(outcome, "last active time set",
                      vector_bool(vector_get(expected, "last_active_time_set"), false),
                      decision.active_noted);
    return outcome->text[0] == '\0';
}

static enum keda_fallback_behavior read_fallback_behavior(struct fy_node *node)
{
    if (vector_is(node, "currentReplicas"))
        return KEDA_FALLBACK_CURRENT;
    if (vector_is(node, "currentReplicasIfHigher"))
        return KEDA_FALLBACK_CURRENT_IF_HIGHER;
    return vector_is(node, "currentReplicasIfLower") ? KEDA_FALLBACK_CURRENT_IF_LOWER : KEDA_FALLBACK_STATIC;
}

static bool run_fallback(struct fy_node *input, struct fy_node *expected, struct outcome *outcome)
{
    struct fy_node *value = vector_get(input, "metric");
    struct keda_fallback fallback = {
        .enabled = vector_bool(vector_get(input, "fallback"), true),
        .behavior = read_fallback_behavior(vector_get(input, "behavior")),
        .failure_threshold = vector_int32(vector_get(input, "failure_threshold"), 0),
        .replicas = vector_int32(vector_get(input, "fallback_replicas"), 0),
    };
    struct keda_metric metric = {
        .target = vector_double(vector_get(input, "target"), 0),
        .average = !vector_is(vector_get(input, "target_type"), "Value"),
        .failed = value == NULL,
        .value = vector_double(value, 0),
        .replicas = vector_int32(vector_get(input, "current_replicas"), 0),
        .ready = vector_int32(vector_get(input, "ready_replicas"), 0),
    };
    int32_t failures = vector_int32(vector_get(input, "failures_before"), 0);
    struct keda_answer answer = keda_metric_answer(&fallback, &metric, &failures);

    outcome_equal(outcome, "error", vector_bool(vector_get(expected, "error"), false), answer.error);
    if (vector_has(expected, "value"))
        outcome_close(outcome, "value", vector_double(vector_get(expected, "value"), NAN), answer.value,
                      1e-12);
    if (vector_has(expected, "failures"))
        outcome_equal(outcome, "failures", vector_int64(vector_get(expected, "failures"), -1), failures);
    if (vector_has(expected, "status"))
        outcome_text(outcome, "status", vector_text(vector_get(expected, "status"), ""),
                     failures > 0 ? "Failing" : "Happy");
    return outcome->text[0] == '\0';
}

static bool run_activity(struct fy_node *input, struct fy_node *expected, struct outcome *outcome)
{
    struct fy_node *value = vector_get(input, "value");
    struct keda_trigger trigger = {
        .kind = KEDA_TRIGGER_VALUE,
        .activation_threshold = vector_double(vector_get(input, "activation_threshold"), 0),
        .empty_is_error = !vector_bool(vector_get(input, "ignore_null_values"), true)};
    struct keda_sample sample = {.value = vector_double(value, 0), .empty = value == NULL};
    struct keda_activity activity = keda_trigger_activity(&trigger, &sample);

    outcome_equal(outcome, "error", vector_bool(vector_get(expected, "error"), false), activity.error);
    return outcome_equal(outcome, "active", vector_bool(vector_get(expected, "active"), false),
                         activity.active);
}

static bool run_bounds(struct fy_node *input, struct fy_node *expected, struct outcome *outcome)
{
    struct keda_spec spec;
    struct hpa_spec hpa;

    keda_spec_defaults(&spec);
    hpa_spec_init(&hpa);
    spec.min = vector_int32(vector_get(input, "min_replica_count"), KEDA_NONE);
    spec.max = vector_int32(vector_get(input, "max_replica_count"), KEDA_NONE);
    keda_hpa_bounds(&spec, &hpa);
    outcome_equal(outcome, "min", vector_int64(vector_get(expected, "min"), -1), hpa.min);
    return outcome_equal(outcome, "max", vector_int64(vector_get(expected, "max"), -1), hpa.max);
}

static bool run(struct fy_node *root, struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *function = vector_get(vector, "func");
    struct fy_node *input = vector_get(vector, "input"), *expected = vector_get(vector, "expected");

    (void)root;
    if (vector_is(function, "poll_decision"))
        return run_poll(input, expected, outcome);
    if (vector_is(function, "fallback_metric"))
        return run_fallback(input, expected, outcome);
    if (vector_is(function, "prometheus_activity"))
        return run_activity(input, expected, outcome);
    if (vector_is(function, "hpa_bounds"))
        return run_bounds(input, expected, outcome);
    return outcome_fail(outcome, "unknown function \"%s\"", vector_text(function, ""));
}

int main(int argc, char **argv)
{
    return vectors_main(argc, argv, run);
}
