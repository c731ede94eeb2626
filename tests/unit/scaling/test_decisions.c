/* Corners of the autoscalers' decisions that the recorded vectors do not reach. Times are seconds, quantities
 * milli-units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/scaling/hpa.h"
#include "models/scaling/keda.h"
#include "models/scaling/kpa.h"

#define S SIM_SECOND

/* ---- hpa ---- */

static struct hpa_pod running(int64_t request)
{
    return (struct hpa_pod){.start = -3600 * S,
                            .ready_transition = -3590 * S,
                            .request_milli = request,
                            .phase = HPA_RUNNING,
                            .ready = true};
}

static struct hpa_sample sample(int64_t value)
{
    return (struct hpa_sample){.value_milli = value, .timestamp = -5 * S, .window = 15 * S, .present = true};
}

static void propose(const struct hpa_metric *metric, int32_t current, const struct hpa_pod *pods,
                    size_t count, const struct hpa_reading *reading, struct hpa_proposal *proposal)
{
    struct hpa_view view = {.spec_replicas = current,
                            .status_replicas = current,
                            .pods = pods,
                            .pod_count = count,
                            .readings = reading};
    struct hpa_controller controller;

    hpa_controller_defaults(&controller);
    hpa_propose(&controller, &controller.tolerance, metric, &view, reading, proposal);
}

static void missing_pods_use_their_request(void **cmocka)
{
    struct hpa_metric metric = {
        .source = HPA_SOURCE_RESOURCE, .target_kind = HPA_TARGET_UTILIZATION, .target = 80};
    struct hpa_pod pods[3] = {running(1000), running(1000), running(1003)};
    struct hpa_sample samples[3] = {sample(200), sample(200), {0}};
    struct hpa_reading reading = {.samples = samples};
    struct hpa_proposal proposal;

    (void)cmocka;
    /* 400/2000 = 20 %, r = 0.25 < 1, so the missing one uses all of its request: (400 + 1003)/3003 = 46.7 ->
     * 46 %, 46/80 = 0.575, ceil(0.575 * 3) = 2. Without the fill ceil(0.25 * 2) = 1. */
    propose(&metric, 3, pods, 3, &reading, &proposal);
    assert_int_equal(proposal.replicas, 2);
    assert_int_equal(proposal.utilization, 20);
    assert_int_equal(proposal.missing, 1);
    /* Targets above 100 fill with the target: at 150 % trunc(1003 * 150 / 100) = 1504. Two at 1000: 100 %, r
     * = 0.667; filled (2000 + 1504)/3003 = 116 %, 0.773 * 3 = 2.32, ceil 3. With the request alone: 100 %,
     * 0.667 * 3 = 2. */
    metric.target = 150;
    samples[0] = samples[1] = sample(1000);
    propose(&metric, 3, pods, 3, &reading, &proposal);
    assert_int_equal(proposal.replicas, 3);
}

static void the_fill_is_one_whole_request(void **cmocka)
{
    struct hpa_metric metric = {
        .source = HPA_SOURCE_RESOURCE, .target_kind = HPA_TARGET_UTILIZATION, .target = 100};
    struct hpa_pod pods[4] = {running(1000), running(1000), running(1000), running(1000)};
    struct hpa_sample samples[4] = {sample(0), {0}, {0}, {0}};
    struct hpa_reading reading = {.samples = samples};
    struct hpa_proposal proposal;

    (void)cmocka;
    /* 40 measured and three missing at 1000 each: 3040/4000 = 76 %, 0.76 * 4 = 3.04, ceil 4. At 999 each:
     * 3037/4000 = 75.9, truncated 75 %, 0.75 * 4 = 3. And 39 measured, at 1000: 3039/4000, 75 % as well: 3.
     */
    samples[0] = sample(40);
    propose(&metric, 4, pods, 4, &reading, &proposal);
    assert_int_equal(proposal.replicas, 4);
    samples[0] = sample(39);
    propose(&metric, 4, pods, 4, &reading, &proposal);
    assert_int_equal(proposal.replicas, 3);
}

static void unready_pods_use_nothing_on_the_way_up(void **cmocka)
{
    struct hpa_metric metric = {
        .source = HPA_SOURCE_PODS, .target_kind = HPA_TARGET_AVERAGE_VALUE, .target = 100};
    struct hpa_pod pods[4] = {running(0), running(0), running(0), running(0)};
    struct hpa_sample samples[4] = {sample(400), sample(400), {0}, {0}};
    struct hpa_reading reading = {.samples = samples};
    struct hpa_proposal proposal;

    (void)cmocka;
    /* Mean 400, r = 4; a pending and a missing pod at 0: 800/4 = 200, 2 * 4 = 8. */
    pods[3].phase = HPA_PENDING;
    propose(&metric, 4, pods, 4, &reading, &proposal);
    assert_int_equal(proposal.replicas, 8);
    /* One sample of 400 and three at 0: mean 100, within tolerance, so the 2 asked for stay. With the pending
     * one left out: 400/3 = 133, 1.33 * 3 = 3.99, 4. */
    samples[1].present = false;
    propose(&metric, 2, pods, 4, &reading, &proposal);
    assert_int_equal(proposal.replicas, 2);
}

static void strays_count_in_averages_only(void **cmocka)
{
    struct hpa_metric metric = {
        .source = HPA_SOURCE_RESOURCE, .target_kind = HPA_TARGET_AVERAGE_VALUE, .target = 100};
    const int64_t stray = 700;
    struct hpa_pod pods[2] = {running(1000), running(1000)};
    struct hpa_sample samples[2] = {sample(100), sample(100)};
    struct hpa_reading reading = {.samples = samples, .stray_milli = &stray, .stray_count = 1};
    struct hpa_proposal proposal;

    (void)cmocka;
    /* (100 + 100 + 700)/3 = 300, r = 3, times the 2 pods that count = 6. */
    propose(&metric, 2, pods, 2, &reading, &proposal);
    assert_int_equal(proposal.replicas, 6);
    /* Utilization: 200/2000 = 10 %, the stray has no request. 10/10 stays. */
    metric.target_kind = HPA_TARGET_UTILIZATION;
    metric.target = 10;
    propose(&metric, 2, pods, 2, &reading, &proposal);
    assert_int_equal(proposal.utilization, 10);
    assert_int_equal(proposal.replicas, 2);
    /* Only strays: an average of them, but no utilization. */
    samples[0].present = samples[1].present = false;
    propose(&metric, 2, pods, 2, &reading, &proposal);
    assert_int_equal(proposal.error, HPA_METRIC_NO_MATCH);
}

static void bad_targets_and_sources_fail(void **cmocka)
{
    static const struct hpa_metric bad[] = {
        {.source = HPA_SOURCE_INVALID, .target_kind = HPA_TARGET_VALUE, .target = 1},
        {.source = HPA_SOURCE_RESOURCE, .target_kind = HPA_TARGET_MISSING, .target = 1},
        {.source = HPA_SOURCE_PODS, .target_kind = HPA_TARGET_UTILIZATION, .target = 1},
        {.source = HPA_SOURCE_OBJECT, .target_kind = HPA_TARGET_UTILIZATION, .target = 1},
    };
    const struct hpa_pod pod = running(1000);
    const struct hpa_sample one = sample(5);
    const int64_t value = 5;
    struct hpa_reading reading = {.samples = &one, .values_milli = &value, .value_count = 1};
    struct hpa_proposal proposal;

    (void)cmocka;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        propose(&bad[i], 1, &pod, 1, &reading, &proposal);
        assert_int_equal(proposal.error, HPA_METRIC_INVALID);
        assert_int_equal(proposal.replicas, 0);
    }
}

static void min_raised_at_zero_is_reached_past_the_rules(void **cmocka)
{
    const int64_t value = 1000;
    struct hpa_reading reading = {.values_milli = &value, .value_count = 1};
    struct hpa_view view = {.readings = &reading};
    struct hpa_controller controller;
    struct hpa_proposal proposal;
    struct hpa_decision decision;
    struct hpa_state state;
    struct hpa_spec spec;

    (void)cmocka;
    /* Zero by itself, min raised to 5 meanwhile, one pod a minute at most: the rules allow 1, min asks for 5.
     */
    hpa_controller_defaults(&controller);
    hpa_spec_init(&spec);
    spec.min = 5;
    spec.max = 10;
    spec.metrics[spec.metric_count++] = (struct hpa_metric){
        .source = HPA_SOURCE_EXTERNAL, .target_kind = HPA_TARGET_AVERAGE_VALUE, .target = 1000};
    spec.behavior = true;
    spec.rules[HPA_UP].policies[spec.rules[HPA_UP].policy_count++] = (struct hpa_policy){HPA_POLICY_PODS, 1,
                                                                                         60 * S};
    hpa_spec_default(&spec);
    hpa_state_init(&state);
    state.conditions.scaled_to_zero = (struct hpa_condition){.status = true, .reason = HPA_SCALED_TO_ZERO};
    assert_int_equal(hpa_reconcile(&controller, &spec, &state, &view, &proposal, &decision, NULL), 0);
    assert_int_equal(decision.replicas, 5);
    hpa_state_free(&state);
}

static void defaults_are_the_product_s(void **cmocka)
{
    struct hpa_spec spec;

    (void)cmocka;
    hpa_spec_init(&spec);
    spec.behavior = true;
    spec.rules[HPA_UP].policies[spec.rules[HPA_UP].policy_count++] = (struct hpa_policy){HPA_POLICY_PODS, 7,
                                                                                         30 * S};
    hpa_spec_default(&spec);
    assert_int_equal(spec.metric_count, 1);
    assert_true(spec.metrics[0].cpu && spec.metrics[0].target == 80 &&
                spec.metrics[0].target_kind == HPA_TARGET_UTILIZATION);
    /* A given list replaces the default whole; the rest is filled. */
    assert_int_equal(spec.rules[HPA_UP].policy_count, 1);
    assert_int_equal(spec.rules[HPA_UP].window, 0);
    assert_int_equal(spec.rules[HPA_DOWN].policy_count, 1);
    assert_int_equal(spec.rules[HPA_DOWN].window, HPA_UNSET);
    assert_int_equal(spec.rules[HPA_DOWN].policies[0].value, 100);
}

static void every_reason_and_error_has_a_text(void **cmocka)
{
    (void)cmocka;
    assert_string_equal(hpa_reason_text(HPA_REASON_NONE), "");
    for (int reason = HPA_SUCCEEDED_GET_SCALE; reason <= HPA_NOT_SCALED_TO_ZERO; reason++)
        assert_true(hpa_reason_text((enum hpa_reason)reason)[0] != '\0');
    for (int error = HPA_METRIC_OK; error <= HPA_METRIC_INVALID; error++)
        assert_true(hpa_metric_error_text((enum hpa_metric_error)error)[0] != '\0');
}

/* Twenty-four hours of reconciles every 15 s: the memory stays as long as its windows. */
static void memory_is_bounded(void **cmocka)
{
    int64_t value = 0;
    struct hpa_reading reading = {.values_milli = &value, .value_count = 1};
    struct hpa_view view = {.readings = &reading, .spec_replicas = 4, .status_replicas = 4};
    struct hpa_controller controller;
    struct hpa_proposal proposal;
    struct hpa_decision decision;
    struct hpa_state state;
    struct hpa_spec spec;

    (void)cmocka;
    hpa_controller_defaults(&controller);
    hpa_spec_init(&spec);
    spec.max = 50;
    spec.metrics[spec.metric_count++] = (struct hpa_metric){
        .source = HPA_SOURCE_EXTERNAL, .target_kind = HPA_TARGET_AVERAGE_VALUE, .target = 1000};
    spec.behavior = true;
    spec.rules[HPA_DOWN].window = 60 * S;
    hpa_spec_default(&spec);
    hpa_state_init(&state);
    for (int tick = 0; tick < 5760; tick++) {
        view.now = tick * 15 * S;
        value = 1000 * (1 + tick * 7919 % 40);
        assert_int_equal(hpa_reconcile(&controller, &spec, &state, &view, &proposal, &decision, NULL), 0);
        view.spec_replicas = view.status_replicas = decision.replicas;
    }
    /* Slots free up once older than 60 s: ages 0, 15, 30, 45, 60 are held, so at most 6. Events: periods of
     * 15 s, ages 0 and 15, at most 3. */
    assert_in_range(state.recommendations.count, 1, 6);
    assert_in_range(state.events[HPA_UP].count, 1, 3);
    assert_in_range(state.events[HPA_DOWN].count, 1, 3);
    hpa_state_free(&state);
}

/* ---- kpa ---- */

static void a_silent_window_is_no_data(void **cmocka)
{
    struct kpa_window window;

    (void)cmocka;
    assert_int_equal(kpa_window_init(&window, 60 * S, S, KPA_LINEAR, NULL), 0);
    assert_true(kpa_window_empty(&window, 0));
    kpa_window_record(&window, 100 * S, 6);
    /* Silence of exactly the window: an average of 0, but still data; a second more: no data. */
    assert_false(kpa_window_empty(&window, 160 * S));
    assert_true(kpa_window_average(&window, 160 * S) == 0);
    assert_true(kpa_window_empty(&window, 161 * S));
    /* Before that the silence is left out: 6 over one bucket. */
    assert_true(kpa_window_average(&window, 159 * S) == 6);
    kpa_window_free(&window);
}

static void panic_windows_are_whole_seconds(void **cmocka)
{
    (void)cmocka;
    assert_int_equal(kpa_panic_window(60 * S, 0.1), 6 * S);
    assert_int_equal(kpa_panic_window(65 * S, 0.1), 7 * S); /* 6.5, halves away from zero */
    assert_int_equal(kpa_panic_window(6 * S, 0.1), 1 * S);
    assert_int_equal(kpa_panic_window(6 * S, 0.01), 1 * S);
}

static void activity_follows_ready_pods(void **cmocka)
{
    struct kpa_bounds bounds = {.min = 0, .initial = 3};
    struct kpa_status status = {.activity = KPA_ACTIVATING, .reachability = KPA_REACHABLE};
    bool initialized;

    (void)cmocka;
    /* First time: the initial scale of 3 must be ready. */
    assert_int_equal(kpa_activity_next(&bounds, &status, 3, 2, &initialized), KPA_ACTIVATING);
    assert_false(initialized);
    assert_int_equal(kpa_activity_next(&bounds, &status, 3, 3, &initialized), KPA_ACTIVE);
    assert_true(initialized);
    /* Later: max(min, 1). */
    status.initialized = true;
    status.activity = KPA_INACTIVE;
    assert_int_equal(kpa_activity_next(&bounds, &status, 1, 0, &initialized), KPA_ACTIVATING);
    assert_int_equal(kpa_activity_next(&bounds, &status, 1, 1, &initialized), KPA_ACTIVE);
    assert_int_equal(kpa_activity_next(&bounds, &status, 0, 1, &initialized), KPA_INACTIVE);
    /* Nothing known wakes nothing. */
    assert_int_equal(kpa_activity_next(&bounds, &status, KPA_SCALE_UNKNOWN, 1, &initialized), KPA_INACTIVE);
}

static void proxied_when_short_of_capacity(void **cmocka)
{
    (void)cmocka;
    /* 1 pod of 100: 100 - 211 = -111; 4 pods: 189. */
    assert_int_equal(kpa_initial_excess(1, 100, 211), -111);
    assert_int_equal(kpa_initial_excess(4, 100, 211), 189);
    assert_true(kpa_proxied(1, -111));
    assert_false(kpa_proxied(1, 0));
    assert_true(kpa_proxied(0, 189));
    assert_true(kpa_proxied(KPA_SCALE_UNKNOWN, 189));
}

/* ---- keda ---- */

static void triggers(void **cmocka)
{
    struct keda_trigger trigger = {.kind = KEDA_TRIGGER_VALUE, .activation_threshold = -1};
    struct keda_sample nothing = {.empty = true}, broken = {.failed = true, .value = 9};
    struct keda_activity activity;

    (void)cmocka;
    /* An empty result is 0 > -1, or an error where the user said so. */
    assert_true(keda_trigger_activity(&trigger, &nothing).active);
    trigger.empty_is_error = true;
    activity = keda_trigger_activity(&trigger, &nothing);
    assert_true(activity.error && !activity.active);
    activity = keda_trigger_activity(&trigger, &broken);
    assert_true(activity.error && !activity.active);
    trigger.kind = KEDA_TRIGGER_POD;
    assert_true(keda_trigger_activity(&trigger, &nothing).active);
    trigger.kind = KEDA_TRIGGER_CRON;
    assert_false(keda_trigger_activity(&trigger, &nothing).active);
    nothing.inside = true;
    assert_true(keda_trigger_activity(&trigger, &nothing).active);
}

static void paused_directions_become_disabled(void **cmocka)
{
    struct keda_spec spec;
    struct hpa_spec hpa;

    (void)cmocka;
    keda_spec_defaults(&spec);
    hpa_spec_init(&hpa);
    spec.paused_scale_in = true;
    keda_hpa_bounds(&spec, &hpa);
    assert_true(hpa.behavior);
    assert_int_equal(hpa.rules[HPA_DOWN].select, HPA_SELECT_DISABLED);
    assert_int_equal(hpa.rules[HPA_UP].select, HPA_SELECT_UNSET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_pods_use_their_request),
        cmocka_unit_test(the_fill_is_one_whole_request),
        cmocka_unit_test(unready_pods_use_nothing_on_the_way_up),
        cmocka_unit_test(strays_count_in_averages_only),
        cmocka_unit_test(bad_targets_and_sources_fail),
        cmocka_unit_test(min_raised_at_zero_is_reached_past_the_rules),
        cmocka_unit_test(defaults_are_the_product_s),
        cmocka_unit_test(every_reason_and_error_has_a_text),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_silent_window_is_no_data),
        cmocka_unit_test(panic_windows_are_whole_seconds),
        cmocka_unit_test(activity_follows_ready_pods),
        cmocka_unit_test(proxied_when_short_of_capacity),
        cmocka_unit_test(triggers),
        cmocka_unit_test(paused_directions_become_disabled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
