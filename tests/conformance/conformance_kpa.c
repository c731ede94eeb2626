/* Runs the decisions of models/scaling/kpa against vectors recorded from the real functions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/scaling/kpa.h"
#include "tests/conformance/vectors.h"

/* The averages were recorded with another library's pow. */
#define CLOSE 1e-12

static void read_spec(struct fy_node *node, struct kpa_spec *spec)
{
    kpa_spec_defaults(spec);
    spec->target = vector_double(vector_get(node, "target"), spec->target);
    spec->total = vector_double(vector_get(node, "total"), spec->total);
    spec->target_burst_capacity = vector_double(vector_get(node, "target_burst_capacity"),
                                                spec->target_burst_capacity);
    spec->max_scale_up_rate = vector_double(vector_get(node, "max_scale_up_rate"), spec->max_scale_up_rate);
    spec->max_scale_down_rate = vector_double(vector_get(node, "max_scale_down_rate"),
                                              spec->max_scale_down_rate);
    spec->panic_threshold = vector_double(vector_get(node, "panic_threshold"), spec->panic_threshold);
    spec->activation_scale = vector_int32(vector_get(node, "activation_scale"), 0);
    spec->reachable = vector_bool(vector_get(node, "reachable"), true);
    spec->stable_window = vector_time(vector_get(node, "stable_window_s"), spec->stable_window);
    spec->scale_down_delay = vector_time(vector_get(node, "scale_down_delay_s"), 0);
}

static const char *at_time(char *text, size_t size, const char *what, sim_time now)
{
    snprintf(text, size, "t=%g s %s", sim_time_seconds(now), what);
    return text;
}

static void check_decision(sim_time now, const struct kpa_decision *got, struct fy_node *desired,
                           struct fy_node *excess, struct fy_node *panicking, struct outcome *outcome)
{
    char text[64];

    outcome_equal(outcome, at_time(text, sizeof text, "desired", now), vector_int64(desired, INT64_MIN),
                  got->desired);
    outcome_equal(outcome, at_time(text, sizeof text, "excess burst capacity", now),
                  vector_int64(excess, INT64_MIN), got->excess_burst_capacity);
    outcome_equal(outcome, at_time(text, sizeof text, "panicking", now), vector_bool(panicking, false),
                  got->panicking);
}

/* Steps as mappings, with a spec that may change and inputs that may fail. */
static bool run_scale(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *steps = vector_get(vector, "steps"), *step;
    sim_time start = 1000 * SIM_SECOND +
                     vector_time(vector_get(vector, "t0_alignment_s"), 0); /* an even second, moved */
    sim_time panic_age = vector_time(vector_get(vector, "initial_panic_age_s"), -1);
    struct kpa_state state;
    struct kpa_spec spec;
    void *position = NULL;

    read_spec(vector_get(vector_at(steps, 0), "spec"), &spec);
    if (kpa_state_init(&state, &spec, start, 0, NULL) != 0)
        return outcome_fail(outcome, "out of memory");
    state.panicking = panic_age >= 0;
    state.panic_time = start - panic_age;
    state.panic_floor = vector_int32(vector_get(vector, "initial_max_panic_pods"), 0);
    while (steps != NULL && outcome->text[0] == '\0' &&
           (step = fy_node_sequence_iterate(steps, &position)) != NULL) {
        struct fy_node *expected = vector_get(step, "expected");
        sim_time now = start + vector_time(vector_get(step, "t_s"), 0);
        bool no_pods = vector_bool(vector_get(step, "ready_error"), false) &&
                       !vector_bool(vector_get(step, "ready_not_found"), false);
        bool valid = !no_pods && !vector_bool(vector_get(step, "metric_error"), false);
        struct kpa_decision decision;
        char text[64];

        if (vector_has(step, "spec"))
            read_spec(vector_get(step, "spec"), &spec);
        outcome_equal(outcome, "valid", vector_bool(vector_get(expected, "valid"), true), valid);
        if (!valid)
            continue;
        kpa_decide(&spec, &state, now, vector_int32(vector_get(step, "ready"), 0),
                   vector_double(vector_get(step, "stable"), 0), vector_double(vector_get(step, "panic"), 0),
                   &decision);
        check_decision(now - start, &decision, vector_get(expected, "desired"),
                       vector_get(expected, "excess_burst_capacity"), vector_get(expected, "panicking"),
                       outcome);
        if (vector_has(expected, "max_panic_pods"))
            outcome_equal(outcome, at_time(text, sizeof text, "panic floor", now - start),
                          vector_int64(vector_get(expected, "max_panic_pods"), -1), state.panic_floor);
    }
    kpa_state_free(&state);
    return outcome->text[0] == '\0';
}

/* Rows: t_s, ready, stable, panic, desired, excess, panicking. */
static bool run_scale_rows(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *steps = vector_get(vector, "steps"), *row;
    struct kpa_state state;
    struct kpa_spec spec;
    void *position = NULL;

    read_spec(vector_get(vector, "spec"), &spec);
    if (kpa_state_init(&state, &spec, 0, vector_int32(vector_get(vector, "initial_ready"), 0), NULL) != 0)
        return outcome_fail(outcome, "out of memory");
    while (steps != NULL && outcome->text[0] == '\0' &&
           (row = fy_node_sequence_iterate(steps, &position)) != NULL) {
        sim_time now = vector_time(vector_at(row, 0), 0);
        struct kpa_decision decision;

        kpa_decide(&spec, &state, now, vector_int32(vector_at(row, 1), 0),
                   vector_double(vector_at(row, 2), 0), vector_double(vector_at(row, 3), 0), &decision);
        check_decision(now, &decision, vector_at(row, 4), vector_at(row, 5), vector_at(row, 6), outcome);
    }
    kpa_state_free(&state);
    return outcome->text[0] == '\0';
}

static enum kpa_averaging read_averaging(struct fy_node *vector)
{
    return vector_is(vector_get(vector, "algorithm"), "linear") ? KPA_LINEAR : KPA_EXPONENTIAL;
}

/* One row a second: t_s, value; on even seconds ready, stable, panic, desired, excess, panicking, or one
 * null. */
static bool run_pipeline(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *steps = vector_get(vector, "steps"), *row;
    enum kpa_averaging averaging = read_averaging(vector);
    struct kpa_window stable, panic;
    struct kpa_state state;
    struct kpa_spec spec;
    void *position = NULL;

    read_spec(vector_get(vector, "spec"), &spec);
    if (kpa_window_init(&stable, spec.stable_window, SIM_SECOND, averaging, NULL) != 0 ||
        kpa_window_init(&panic, vector_time(vector_get(vector, "panic_window_s"), SIM_SECOND), SIM_SECOND,
                        averaging, NULL) != 0 ||
        kpa_state_init(&state, &spec, 0, vector_int32(vector_get(vector, "initial_ready"), 0), NULL) != 0)
        return outcome_fail(outcome, "out of memory");
    while (steps != NULL && outcome->text[0] == '\0' &&
           (row = fy_node_sequence_iterate(steps, &position)) != NULL) {
        sim_time now = vector_time(vector_at(row, 0), 0);
        struct kpa_decision decision;
        double averages[2];
        char text[64];

        if (vector_at(row, 1) != NULL) {
            kpa_window_record(&stable, now, vector_double(vector_at(row, 1), 0));
            kpa_window_record(&panic, now, vector_double(vector_at(row, 1), 0));
        }
        if (vector_count(row) <= 2)
            continue;
        outcome_equal(outcome, at_time(text, sizeof text, "no data", now), vector_at(row, 2) == NULL,
                      kpa_window_empty(&stable, now));
        if (vector_at(row, 2) == NULL)
            continue;
        averages[0] = kpa_window_average(&stable, now);
        averages[1] = kpa_window_average(&panic, now);
        outcome_close(outcome, at_time(text, sizeof text, "stable average", now),
                      vector_double(vector_at(row, 3), NAN), averages[0], CLOSE);
        outcome_close(outcome, at_time(text, sizeof text, "panic average", now),
                      vector_double(vector_at(row, 4), NAN), averages[1], CLOSE);
        kpa_decide(&spec, &state, now, vector_int32(vector_at(row, 2), 0), averages[0], averages[1],
                   &decision);
        check_decision(now, &decision, vector_at(row, 5), vector_at(row, 6), vector_at(row, 7), outcome);
    }
    kpa_window_free(&stable);
    kpa_window_free(&panic);
    kpa_state_free(&state);
    return outcome->text[0] == '\0';
}

/* Operations on one window: ["record", t, value], ["average", t, result]. */
static bool run_window(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *ops = vector_get(vector, "ops"), *op;
    struct kpa_window window;
    void *position = NULL;

    if (kpa_window_init(&window, vector_time(vector_get(vector, "window_s"), SIM_SECOND),
                        vector_time(vector_get(vector, "granularity_s"), SIM_SECOND), read_averaging(vector),
                        NULL) != 0)
        return outcome_fail(outcome, "out of memory");
    if (vector_has(vector, "smoothing_coefficient"))
        outcome_close(outcome, "smoothing", vector_double(vector_get(vector, "smoothing_coefficient"), NAN),
                      window.smoothing, CLOSE);
    while (ops != NULL && (op = fy_node_sequence_iterate(ops, &position)) != NULL) {
        sim_time now = vector_time(vector_at(op, 1), 0);
        double value = vector_double(vector_at(op, 2), NAN);
        char text[64];

        if (vector_is(vector_at(op, 0), "record"))
            kpa_window_record(&window, now, value);
        else if (vector_is(vector_at(op, 0), "average"))
            outcome_close(outcome, at_time(text, sizeof text, "average", now), value,
                          kpa_window_average(&window, now), CLOSE);
        else
            outcome_fail(outcome, "unknown operation %s", vector_text(vector_at(op, 0), ""));
    }
    kpa_window_free(&window);
    return outcome->text[0] == '\0';
}

/* Operations on a delay window: ["record", t, value], ["current", result]. */
static bool run_max_window(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *ops = vector_get(vector, "ops"), *op;
    sim_time granularity = vector_time(vector_get(vector, "granularity_s"), SIM_SECOND);
    struct kpa_maximum maximum;
    void *position = NULL;

    if (kpa_maximum_init(&maximum, granularity * vector_int64(vector_get(vector, "buckets"), 1), granularity,
                         NULL) != 0)
        return outcome_fail(outcome, "out of memory");
    while (ops != NULL && (op = fy_node_sequence_iterate(ops, &position)) != NULL) {
        if (vector_is(vector_at(op, 0), "record"))
            kpa_maximum_record(&maximum, vector_time(vector_at(op, 1), 0), vector_int32(vector_at(op, 2), 0));
        else if (vector_is(vector_at(op, 0), "current"))
            outcome_equal(outcome, "maximum", vector_int64(vector_at(op, 1), INT64_MIN),
                          kpa_maximum_current(&maximum));
        else
            outcome_fail(outcome, "unknown operation %s", vector_text(vector_at(op, 0), ""));
    }
    kpa_maximum_free(&maximum);
    return outcome->text[0] == '\0';
}

static bool run_resolve_target(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *config = vector_get(vector, "config"), *annotations = vector_get(vector, "annotations");
    struct fy_node *expected = vector_get(vector, "expected");
    bool rps = vector_is(vector_get(vector, "metric"), "rps");
    struct kpa_target_config target = {
        .metric = rps ? KPA_RPS : KPA_CONCURRENCY,
        .container_concurrency = vector_double(vector_get(vector, "container_concurrency"), 0),
        .concurrency_target_default = vector_double(
            vector_get(config, "container_concurrency_target_default"), KPA_CONCURRENCY_TARGET),
        .rps_target_default = vector_double(vector_get(config, "rps_target_default"), KPA_RPS_TARGET),
        .utilization = vector_double(
            vector_get(config, rps ? "target_utilization" : "container_concurrency_target_fraction"),
            KPA_TARGET_UTILIZATION),
        .target_annotation = vector_double(vector_get(annotations, "target"), -1),
    };
    double aimed, total;

    if (vector_has(annotations, "target-utilization-percentage"))
        target.utilization = vector_double(vector_get(annotations, "target-utilization-percentage"), 70) /
                             100;
    kpa_resolve_target(&target, &aimed, &total);
    outcome_close(outcome, "target", vector_double(vector_get(expected, "target"), NAN), aimed, CLOSE);
    outcome_close(outcome, "total", vector_double(vector_get(expected, "total"), NAN), total, CLOSE);
    return outcome->text[0] == '\0';
}

static bool run_bound(struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *input = vector_get(vector, "input"), *expected = vector_get(vector, "expected");
    struct fy_node *reach = vector_get(input, "reachability"), *activity = vector_get(input, "status");
    struct kpa_bounds bounds = {
        .min = vector_int32(vector_get(input, "min_scale"), 0),
        .max = vector_int32(vector_get(input, "max_scale"), 0),
        .initial = vector_int32(vector_get(input, "initial_scale"), 1),
        .scale_to_zero = vector_bool(vector_get(input, "enable_scale_to_zero"), true),
        .always_proxied = vector_double(vector_get(input, "target_burst_capacity"),
                                        KPA_TARGET_BURST_CAPACITY) == -1,
        .stable_window = vector_time(vector_get(input, "stable_window_s"), KPA_STABLE_WINDOW),
        .grace = vector_time(vector_get(input, "grace_period_s"), KPA_GRACE),
        .retention = vector_time(vector_get(input, "last_pod_retention_s"), 0),
        .activation_timeout = vector_time(vector_get(input, "activation_timeout_s"), 0),
    };
    struct kpa_status status = {
        .activity = vector_is(activity, "active")     ? KPA_ACTIVE
                    : vector_is(activity, "inactive") ? KPA_INACTIVE
                                                      : KPA_ACTIVATING,
        .activity_for = vector_time(vector_get(input, "for_s"), 0),
        .initialized = vector_bool(vector_get(input, "scale_target_initialized"), false),
        .reachability = vector_is(reach, "Reachable")     ? KPA_REACHABLE
                        : vector_is(reach, "Unreachable") ? KPA_UNREACHABLE
                                                          : KPA_REACHABLE_UNKNOWN,
        .proxy_mode = vector_is(vector_get(input, "sks_mode"), "Proxy"),
        .proxied_for = vector_time(vector_get(input, "proxy_for_s"), 0),
        .probe_ok = vector_bool(vector_get(input, "probe_ok"), false),
    };
    struct kpa_bounded got;

    kpa_bound(&bounds, &status, vector_int32(vector_get(input, "desired_in"), 0), &got);
    outcome_equal(outcome, "desired", vector_int64(vector_get(expected, "desired"), INT64_MIN), got.desired);
    outcome_equal(outcome, "left alone", !vector_has(expected, "apply"), got.left_alone);
    outcome_equal(outcome, "apply", vector_bool(vector_get(expected, "apply"), false), got.apply);
    outcome_equal(outcome, "probed", vector_has(input, "probe_ok"), got.probed);
    /* Recorded a hair short and rounded to a tenth. */
    if (fabs(vector_double(vector_get(expected, "requeue_after_s"), 0) - sim_time_seconds(got.requeue)) >
        0.11)
        outcome_fail(outcome, "requeue: expected %g s, got %g s",
                     vector_double(vector_get(expected, "requeue_after_s"), 0),
                     sim_time_seconds(got.requeue));
    return outcome->text[0] == '\0';
}

static bool run(struct fy_node *root, struct fy_node *vector, struct outcome *outcome)
{
    const char *function = vector_text(vector_get(vector, "func"),
                                       vector_text(vector_get(vector, "kind"), ""));
    int64_t expected = vector_int64(vector_get(vector, "expected"), INT64_MIN);

    (void)root;
    if (strcmp(function, "scale") == 0)
        return vector_is_map(vector_at(vector_get(vector, "steps"), 0)) ? run_scale(vector, outcome)
                                                                        : run_scale_rows(vector, outcome);
    if (strcmp(function, "pipeline") == 0)
        return run_pipeline(vector, outcome);
    if (strcmp(function, "window") == 0)
        return run_window(vector, outcome);
    if (strcmp(function, "max_window") == 0)
        return run_max_window(vector, outcome);
    if (strcmp(function, "resolve_target") == 0)
        return run_resolve_target(vector, outcome);
    if (strcmp(function, "bound_and_scale_to_zero") == 0)
        return run_bound(vector, outcome);
    if (strcmp(function, "scrape_sample_size") == 0)
        return outcome_equal(outcome, "sample", expected,
                             kpa_sample_size(vector_int32(vector_get(vector, "population"), 0)));
    if (strcmp(function, "num_activators") == 0)
        return outcome_equal(
            outcome, "activators", expected,
            kpa_activators(vector_int32(vector_get(vector, "ready"), 0),
                           vector_double(vector_get(vector, "total"), 0),
                           vector_double(vector_get(vector, "target_burst_capacity"), 0),
                           vector_double(vector_get(vector, "activator_capacity"), KPA_ACTIVATOR_CAPACITY)));
    return outcome_fail(outcome, "unknown kind of vector \"%s\"", function);
}

int main(int argc, char **argv)
{
    return vectors_main(argc, argv, run);
}
