/*
 * What naive simulators of the autoscalers get wrong: one test a trap, each with its computation by hand.
 * Times are seconds from an arbitrary start, quantities milli-units.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/scaling/hpa.h"
#include "models/scaling/keda.h"
#include "models/scaling/kpa.h"

enum { PODS = 16 };

#define S SIM_SECOND

/* An HPA with one metric, its pods and its memory. */
struct rig {
    struct hpa_controller controller;
    struct hpa_spec spec;
    struct hpa_state state;
    struct hpa_pod pods[PODS];
    struct hpa_sample samples[PODS];
    size_t pod_count;
    int64_t value;
    struct hpa_reading readings[2];
    struct hpa_proposal proposals[2];
    struct hpa_decision decision;
};

static struct hpa_metric metric(enum hpa_source source, enum hpa_target kind, int64_t target)
{
    return (struct hpa_metric){.source = source, .target_kind = kind, .target = target};
}

static void rig_init(struct rig *rig, struct hpa_metric one)
{
    *rig = (struct rig){0};
    hpa_controller_defaults(&rig->controller);
    hpa_spec_init(&rig->spec);
    rig->spec.min = 1;
    rig->spec.max = 1000;
    rig->spec.metrics[rig->spec.metric_count++] = one;
    hpa_state_init(&rig->state);
}

/* n pods that run and are Ready for an hour, each with this sample and a request of 1000. */
static void rig_pods(struct rig *rig, size_t n, int64_t sample)
{
    rig->pod_count = n;
    for (size_t i = 0; i < n; i++) {
        rig->pods[i] = (struct hpa_pod){.start = -3600 * S,
                                        .ready_transition = -3590 * S,
                                        .request_milli = 1000,
                                        .phase = HPA_RUNNING,
                                        .ready = true};
        rig->samples[i] = (struct hpa_sample){
            .value_milli = sample, .timestamp = -5 * S, .window = 15 * S, .present = true};
    }
}

static struct hpa_view rig_view(struct rig *rig, sim_time now, int32_t spec_replicas, int32_t status_replicas)
{
    rig->readings[0].samples = rig->samples;
    rig->readings[0].values_milli = &rig->value;
    rig->readings[0].value_count = 1;
    return (struct hpa_view){.now = now,
                             .spec_replicas = spec_replicas,
                             .status_replicas = status_replicas,
                             .pods = rig->pods,
                             .pod_count = rig->pod_count,
                             .readings = rig->readings};
}

/* The first metric's proposal. */
static int32_t propose(struct rig *rig, int32_t spec_replicas, int32_t status_replicas)
{
    struct hpa_view view = rig_view(rig, 0, spec_replicas, status_replicas);

    hpa_propose(&rig->controller, &rig->controller.tolerance, &rig->spec.metrics[0], &view, &rig->readings[0],
                &rig->proposals[0]);
    return rig->proposals[0].replicas;
}

/* One reconcile while the external metric asks for `raw` replicas (target 1000 average): replicas afterwards.
 */
static int32_t reconcile(struct rig *rig, sim_time now, int32_t current, int32_t raw)
{
    struct hpa_view view = rig_view(rig, now, current, current);

    rig->value = 1000 * (int64_t)raw;
    assert_int_equal(
        hpa_reconcile(&rig->controller, &rig->spec, &rig->state, &view, rig->proposals, &rig->decision, NULL),
        0);
    return rig->decision.replicas;
}

static void rig_external(struct rig *rig)
{
    rig_init(rig, metric(HPA_SOURCE_EXTERNAL, HPA_TARGET_AVERAGE_VALUE, 1000));
    rig->controller.tolerance.up = rig->controller.tolerance.down = 0;
}

/* Behavior with one policy in each direction and no windows. */
static void rig_behavior(struct rig *rig, struct hpa_policy up, struct hpa_policy down)
{
    rig->spec.behavior = true;
    rig->spec.rules[HPA_UP].policies[0] = up;
    rig->spec.rules[HPA_DOWN].policies[0] = down;
    rig->spec.rules[HPA_UP].policy_count = rig->spec.rules[HPA_DOWN].policy_count = 1;
    rig->spec.rules[HPA_UP].window = rig->spec.rules[HPA_DOWN].window = 0;
    hpa_spec_default(&rig->spec);
}

static void trap_01_exactly_ten_percent(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    /* 55 for a target of 50: r = 1.1, in doubles the same number as 1 + 0.1, so r <= 1 + t holds and 10 stay.
     * |1 - r| = 0.10000000000000009 > 0.1, so before 1.33 ceil(1.1 * 10) = 11 (the product rounds to 11). */
    rig_init(&rig, metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 50));
    rig_pods(&rig, 10, 55);
    assert_int_equal(propose(&rig, 10, 10), 10);
    rig.controller.tolerance.form = HPA_TOLERANCE_DISTANCE;
    assert_int_equal(propose(&rig, 10, 10), 11);
}

static void trap_02_averages_are_truncated(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    /* Utilization: (559 + 559 + 560) / 3000 = 55.93 %, taken as 55; 55/50 = 1.1 stays. 1.1187 would give
     * ceil(3.36) = 4. */
    rig_init(&rig, metric(HPA_SOURCE_RESOURCE, HPA_TARGET_UTILIZATION, 50));
    rig_pods(&rig, 3, 559);
    rig.samples[2].value_milli = 560;
    assert_int_equal(propose(&rig, 3, 3), 3);
    assert_int_equal(rig.proposals[0].utilization, 55);
    /* Average: (11 + 11 + 13) / 3 = 11.67, taken as 11; 11/10 = 1.1 stays. 1.167 would give ceil(3.5) = 4. */
    rig_init(&rig, metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 10));
    rig_pods(&rig, 3, 11);
    rig.samples[2].value_milli = 13;
    assert_int_equal(propose(&rig, 3, 3), 3);
    assert_int_equal(rig.proposals[0].usage_milli, 11);
}

static void trap_03_double_rounding_is_visible(void **cmocka)
{
    struct hpa_events events[2] = {{0}};
    enum hpa_reason reason;
    struct rig rig;

    (void)cmocka;
    /* 290/70 is 4.142857142857143 in doubles, * 7 = 29.000000000000004, ceil 30; exactly it is 29. */
    rig_init(&rig, metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 70));
    rig_pods(&rig, 7, 290);
    assert_int_equal(propose(&rig, 7, 7), 30);
    /* 90 % down from 10: 1 - 0.9 = 0.09999999999999998, * 10 = 0.9999999999999998, truncated 0; exactly 1.
     * 10 % up from 50: 1 + 0.1 = 1.1000000000000001, * 50 = 55.00000000000001, ceil 56; exactly 55. */
    rig_behavior(&rig, (struct hpa_policy){HPA_POLICY_PERCENT, 10, 60 * S},
                 (struct hpa_policy){HPA_POLICY_PERCENT, 90, 60 * S});
    assert_int_equal(hpa_limit(rig.spec.rules, events, 0, 10, 0, 0, 100, &reason), 0);
    assert_int_equal(hpa_limit(rig.spec.rules, events, 0, 50, 100, 0, 100, &reason), 56);
}

static void trap_04_the_ratio_multiplies_pods_that_count(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    /* 10 asked for, 6 of them pending: 4 pods at 30 for a target of 50, r = 0.6 < 1, ceil(0.6 * 4) = 3, not
     * ceil(0.6 * 10) = 6. */
    rig_init(&rig, metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 50));
    rig_pods(&rig, 10, 30);
    for (size_t i = 4; i < 10; i++)
        rig.pods[i].phase = HPA_PENDING;
    assert_int_equal(propose(&rig, 10, 10), 3);
    assert_int_equal(rig.proposals[0].unready, 6);
}

static void trap_05_readiness_matters_only_for_cpu(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    /* Two Ready pods at 50 and two fresh ones, not Ready, at 250; target 100. A Pods metric counts all: mean
     * 150, r = 1.5, ceil(1.5 * 4) = 6. */
    rig_init(&rig, metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 100));
    rig_pods(&rig, 4, 50);
    for (size_t i = 2; i < 4; i++) {
        rig.samples[i].value_milli = 250;
        rig.pods[i].ready = false;
        rig.pods[i].start = rig.pods[i].ready_transition = -20 * S;
    }
    assert_int_equal(propose(&rig, 4, 4), 6);
    /* Memory likewise. */
    rig.spec.metrics[0].source = HPA_SOURCE_RESOURCE;
    assert_int_equal(propose(&rig, 4, 4), 6);
    /* For cpu the two do not count: mean 50, r = 0.5, ceil(0.5 * 2) = 1. */
    rig.spec.metrics[0].cpu = true;
    assert_int_equal(propose(&rig, 4, 4), 1);
}

static void trap_06_value_and_average_value_of_objects(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    /* Value: 3000/1000 = 3 times the 2 pods that run and are Ready = 6, though 5 were asked for and 4 exist.
     */
    rig_init(&rig, metric(HPA_SOURCE_OBJECT, HPA_TARGET_VALUE, 1000));
    rig_pods(&rig, 4, 0);
    rig.pods[2].ready = false;
    rig.pods[3].phase = HPA_PENDING;
    rig.value = 3000;
    assert_int_equal(propose(&rig, 5, 4), 6);
    /* AverageValue: ceil(3000/1000) = 3, whatever the pods do. Within tolerance of status replicas:
     * 3000/(1000 * 3) = 1 gives these 3, not the 5 asked for. */
    rig.spec.metrics[0].target_kind = HPA_TARGET_AVERAGE_VALUE;
    rig.pod_count = 0;
    assert_int_equal(propose(&rig, 5, 4), 3);
    rig.value = 3100; /* 3100/3000 = 1.033, within */
    assert_int_equal(propose(&rig, 5, 3), 3);
}

static void trap_07_one_failed_metric_blocks_only_the_way_down(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    rig_external(&rig);
    rig.spec.metrics[rig.spec.metric_count++] = metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 1000);
    rig.readings[1].error = HPA_METRIC_FETCH_FAILED;
    /* The other asks for 3 of 5: the reconcile ends in an error, 5 stay, and 3 is not recorded (only the
     * initial 5 is). */
    assert_int_equal(reconcile(&rig, 0, 5, 3), 5);
    assert_int_equal(rig.decision.path, HPA_PATH_FAILED);
    assert_int_equal(rig.decision.conditions.scaling_active.reason, HPA_FAILED_GET_PODS_METRIC);
    assert_int_equal(rig.state.recommendations.count, 1);
    /* It asks for 8 of 5: done, and still reported. */
    assert_int_equal(reconcile(&rig, 15 * S, 5, 8), 8);
    assert_true(rig.decision.failed);
    hpa_state_free(&rig.state);
}

static void trap_08_outside_the_range_jumps_to_the_bound(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    rig_external(&rig);
    /* One pod a minute at most, either way; yet 50 > max 20 goes to 20 at once, and 2 < min 10 to 10. */
    rig_behavior(&rig, (struct hpa_policy){HPA_POLICY_PODS, 1, 60 * S},
                 (struct hpa_policy){HPA_POLICY_PODS, 1, 60 * S});
    rig.spec.max = 20;
    rig.spec.min = 10;
    assert_int_equal(reconcile(&rig, 0, 50, 50), 20);
    assert_int_equal(reconcile(&rig, 15 * S, 2, 50), 10);
    /* Both stored an event of their size, and neither recorded a recommendation beyond the initial one. */
    assert_int_equal(rig.state.events[HPA_DOWN].items[0].change, 30);
    assert_int_equal(rig.state.events[HPA_UP].items[0].change, 8);
    assert_int_equal(rig.state.recommendations.count, 1);
    hpa_state_free(&rig.state);
}

static void trap_09_a_new_controller_holds_for_300_s(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    rig_external(&rig);
    /* First seen at 0 s with 10: that is a recommendation of 10 until 300 s inclusive. */
    for (sim_time t = 0; t <= 300; t += 15)
        assert_int_equal(reconcile(&rig, t * S, 10, 2), 10);
    assert_int_equal(rig.decision.conditions.able_to_scale.reason, HPA_SCALE_DOWN_STABILIZED);
    assert_int_equal(reconcile(&rig, 315 * S, 10, 2), 2);
    /* A restart forgets, and so holds whatever is current again. */
    hpa_state_restart(&rig.state);
    assert_int_equal(reconcile(&rig, 330 * S, 7, 2), 7);
    assert_int_equal(reconcile(&rig, 630 * S, 7, 2), 7);
    assert_int_equal(reconcile(&rig, 631 * S, 7, 2), 2);
    hpa_state_free(&rig.state);
}

static void trap_10_behavior_clamps_from_current(void **cmocka)
{
    struct hpa_recommendations list = {0};
    int32_t stabilized;

    (void)cmocka;
    /* Windows of 300 s both ways; 180 s ago 3 was recommended, now 1: the range is [1, 3] and current 2 lies
     * in it, so nothing happens. The largest of the window would have been 3. */
    assert_int_equal(hpa_recommendations_add(&list, -180 * S, 3, NULL), 0);
    assert_int_equal(hpa_stabilize(&list, 300 * S, 300 * S, 0, 2, 1, &stabilized, NULL), 0);
    assert_int_equal(stabilized, 2);
    /* Current 9 comes down to 3, current 0 up to 1. */
    assert_int_equal(hpa_stabilize(&list, 300 * S, 300 * S, 0, 9, 1, &stabilized, NULL), 0);
    assert_int_equal(stabilized, 3);
    assert_int_equal(hpa_stabilize(&list, 300 * S, 300 * S, 0, 0, 1, &stabilized, NULL), 0);
    assert_int_equal(stabilized, 1);
    /* An entry exactly as old as the window is out here (without behavior it is in). */
    assert_int_equal(hpa_stabilize(&list, 0, 180 * S, 0, 9, 1, &stabilized, NULL), 0);
    assert_int_equal(stabilized, 1);
    struct hpa_state state = {.recommendations = list};
    hpa_state_free(&state);
}

static void trap_11_select_policy_on_the_way_down(void **cmocka)
{
    struct hpa_events events[2] = {{0}};
    struct hpa_rules rules[2];
    enum hpa_reason reason;

    (void)cmocka;
    /* From 15: 4 pods allow 11; 50 % allows trunc(7.5) = 7. Max is the largest change: 7. Min: 11.
     * Disabled: 15. */
    hpa_rules_init(&rules[HPA_UP]);
    hpa_rules_init(&rules[HPA_DOWN]);
    rules[HPA_DOWN].policies[0] = rules[HPA_UP].policies[0] = (struct hpa_policy){HPA_POLICY_PODS, 4, 60 * S};
    rules[HPA_DOWN].policies[1] = rules[HPA_UP].policies[1] = (struct hpa_policy){HPA_POLICY_PERCENT, 50,
                                                                                  60 * S};
    rules[HPA_DOWN].policy_count = rules[HPA_UP].policy_count = 2;
    rules[HPA_DOWN].select = rules[HPA_UP].select = HPA_SELECT_MAX;
    assert_int_equal(hpa_limit(rules, events, 0, 15, 1, 1, 100, &reason), 7);
    assert_int_equal(reason, HPA_SCALE_DOWN_LIMIT);
    /* Up: 19 and ceil(22.5) = 23; Max is 23, Min 19. */
    assert_int_equal(hpa_limit(rules, events, 0, 15, 90, 1, 100, &reason), 23);
    rules[HPA_DOWN].select = rules[HPA_UP].select = HPA_SELECT_MIN;
    assert_int_equal(hpa_limit(rules, events, 0, 15, 1, 1, 100, &reason), 11);
    assert_int_equal(hpa_limit(rules, events, 0, 15, 90, 1, 100, &reason), 19);
    rules[HPA_DOWN].select = rules[HPA_UP].select = HPA_SELECT_DISABLED;
    assert_int_equal(hpa_limit(rules, events, 0, 15, 1, 1, 100, &reason), 15);
}

static void trap_12_start_counts_both_lists(void **cmocka)
{
    struct rig rig;
    enum hpa_reason reason;

    (void)cmocka;
    rig_external(&rig);
    rig_behavior(&rig, (struct hpa_policy){HPA_POLICY_PODS, 4, 60 * S},
                 (struct hpa_policy){HPA_POLICY_PODS, 4, 600 * S});
    assert_int_equal(hpa_events_add(&rig.state.events[HPA_UP], -10 * S, 3, NULL), 0);
    assert_int_equal(hpa_events_add(&rig.state.events[HPA_DOWN], -20 * S, 2, NULL), 0);
    /* start = 10 - 3 + 2 = 9; up to 9 + 4 = 13. Down: start is 9 too, to 9 - 4 = 5. */
    assert_int_equal(hpa_limit(rig.spec.rules, rig.state.events, 0, 10, 90, 1, 100, &reason), 13);
    assert_int_equal(hpa_limit(rig.spec.rules, rig.state.events, 0, 10, 1, 1, 100, &reason), 5);
    /* 60 s later, at 50 s, the up event is exactly 60 s old: out of the up period, not yet outdated, so a new
     * one is appended. */
    assert_int_equal(hpa_limit(rig.spec.rules, rig.state.events, 50 * S, 10, 90, 1, 100, &reason), 14);
    assert_int_equal(
        hpa_store_event(&rig.spec.rules[HPA_UP], &rig.state.events[HPA_UP], 50 * S, 10, 11, NULL), 0);
    assert_int_equal(rig.state.events[HPA_UP].count, 2);
    /* At 51 s it is older than the longest up period and its slot is taken, although the down policy of 600 s
     * would still count it: start is 12 - (1 + 1) + 2 = 12, down to 8; with the lost 3 it would be 9, down
     * to 5. */
    assert_int_equal(
        hpa_store_event(&rig.spec.rules[HPA_UP], &rig.state.events[HPA_UP], 51 * S, 11, 12, NULL), 0);
    assert_int_equal(rig.state.events[HPA_UP].count, 2);
    assert_int_equal(rig.state.events[HPA_UP].items[0].change, 1);
    assert_int_equal(hpa_limit(rig.spec.rules, rig.state.events, 51 * S, 12, 1, 1, 100, &reason), 8);
    hpa_state_free(&rig.state);
}

static void trap_13_any_behavior_replaces_double_or_four(void **cmocka)
{
    struct rig plain, ruled;

    (void)cmocka;
    rig_external(&plain);
    rig_external(&ruled);
    ruled.spec.behavior = true; /* say, only a scale-down window was given */
    ruled.spec.rules[HPA_DOWN].window = 60 * S;
    hpa_spec_default(&ruled.spec);
    /* Both take 10 to 20. Ten seconds later (a reconcile by a changed spec) plain doubles again: per sync.
     * With behavior the 10 added are within the period of 15 s: start = 20 - 10 = 10, up to max(14, 20) = 20.
     */
    assert_int_equal(reconcile(&plain, 0, 10, 900), 20);
    assert_int_equal(reconcile(&ruled, 0, 10, 900), 20);
    assert_int_equal(reconcile(&plain, 10 * S, 20, 900), 40);
    assert_int_equal(reconcile(&ruled, 10 * S, 20, 900), 20);
    assert_int_equal(reconcile(&ruled, 15 * S, 20, 900), 40);
    hpa_state_free(&plain.state);
    hpa_state_free(&ruled.state);
}

static void trap_14_the_factor_is_two(void **cmocka)
{
    struct hpa_controller controller;
    enum hpa_reason reason;

    (void)cmocka;
    hpa_controller_defaults(&controller);
    /* max(2 * 3, 4) = 6 and max(2 * 1, 4) = 4; upstream's own tests override the factor with 8: 24. */
    assert_int_equal(hpa_limit_plain(&controller, 3, 100, 1, 1000, &reason), 6);
    assert_int_equal(reason, HPA_SCALE_UP_LIMIT);
    assert_int_equal(hpa_limit_plain(&controller, 1, 100, 1, 1000, &reason), 4);
    controller.scale_up_limit_factor = 8;
    assert_int_equal(hpa_limit_plain(&controller, 3, 100, 1, 1000, &reason), 24);
}

static void trap_15_scale_from_zero(void **cmocka)
{
    struct rig rig;

    (void)cmocka;
    rig_external(&rig);
    rig.spec.min = 0;
    rig.controller.downscale_stabilization = 0;
    /* A manual zero: switched off, though the metric asks for 3. */
    assert_int_equal(reconcile(&rig, 0, 0, 3), 0);
    assert_int_equal(rig.decision.conditions.scaling_active.reason, HPA_SCALING_DISABLED);
    /* From 2 it goes to 0 itself, and back up: min(3, max(2 * 0, 4)) = 3. */
    assert_int_equal(reconcile(&rig, 15 * S, 2, 0), 0);
    assert_int_equal(rig.decision.conditions.scaled_to_zero.reason, HPA_SCALED_TO_ZERO);
    hpa_state_restart(&rig.state); /* the condition is in the object's status: a restart does not lose it */
    assert_int_equal(reconcile(&rig, 30 * S, 0, 3), 3);
    assert_int_equal(rig.decision.conditions.scaled_to_zero.reason, HPA_NOT_SCALED_TO_ZERO);
    /* That was a rescale to 3; a manual zero after it is off again. */
    assert_int_equal(reconcile(&rig, 45 * S, 0, 3), 0);
    /* Zero by itself, min then raised to 5: up to at least these. */
    assert_int_equal(reconcile(&rig, 60 * S, 2, 0), 0);
    rig.spec.min = 5;
    assert_int_equal(reconcile(&rig, 75 * S, 0, 1), 5);
    /* Older releases: a manual zero with min 0 goes on, with min 1 it does not. */
    rig.controller.zero_rule = HPA_ZERO_CLASSIC;
    rig.spec.min = 1;
    assert_int_equal(reconcile(&rig, 90 * S, 0, 3), 0);
    rig.spec.min = 0;
    assert_int_equal(reconcile(&rig, 105 * S, 0, 3), 3);
    hpa_state_free(&rig.state);
}

static void trap_16_keda_goes_to_zero_in_one_step(void **cmocka)
{
    struct keda_poll poll = {.now = 1000 * S, .last_active = 700 * S, .replicas = 40};
    struct keda_decision decision;
    struct keda_spec spec;
    struct hpa_spec hpa;

    (void)cmocka;
    keda_spec_defaults(&spec);
    /* 300 s since the last active poll is not more than the cooldown of 300 s; a nanosecond later 40 go to 0.
     */
    keda_poll_decide(&spec, &poll, &decision);
    assert_int_equal(decision.replicas, 40);
    assert_int_equal(decision.step, KEDA_STEP_COOLING);
    poll.now += 1;
    keda_poll_decide(&spec, &poll, &decision);
    assert_int_equal(decision.replicas, 0);
    /* With min 1 the cooldown plays no part: N to 1 is the HPA's. */
    spec.min = 1;
    keda_poll_decide(&spec, &poll, &decision);
    assert_int_equal(decision.replicas, 40);
    /* The HPA it makes never holds less than 1, so 0 to 1 is KEDA's, past all policies. */
    spec.min = 0;
    hpa_spec_init(&hpa);
    keda_hpa_bounds(&spec, &hpa);
    assert_int_equal(hpa.min, 1);
    assert_int_equal(hpa.max, 100);
    poll = (struct keda_poll){.now = 1000 * S, .last_active = KEDA_NEVER, .active = true};
    keda_poll_decide(&spec, &poll, &decision);
    assert_int_equal(decision.replicas, 1);
    assert_true(decision.active_noted);
}

static void kpa_bound_at(enum kpa_activity activity, sim_time since, struct kpa_bounded *bounded)
{
    struct kpa_bounds bounds = {
        .initial = 1, .scale_to_zero = true, .stable_window = 60 * S, .grace = 30 * S};
    struct kpa_status status = {.activity = activity,
                                .activity_for = since,
                                .initialized = true,
                                .reachability = KPA_REACHABLE,
                                .probe_ok = true};

    kpa_bound(&bounds, &status, 0, bounded);
}

static void trap_17_knative(void **cmocka)
{
    struct kpa_decision decision;
    struct kpa_bounded bounded;
    struct kpa_state state;
    struct kpa_spec spec;

    (void)cmocka;
    kpa_spec_defaults(&spec); /* target 70, total 100, burst 211 */
    /* 8 ready at creation: panic with a floor of 8 for the stable window of 60 s, then halving each tick: 4,
     * 2, 1. */
    assert_int_equal(kpa_state_init(&state, &spec, 0, 8, NULL), 0);
    kpa_decide(&spec, &state, 60 * S, 8, 1, 1, &decision);
    assert_int_equal(decision.desired, 8);
    assert_true(decision.panicking);
    kpa_decide(&spec, &state, 62 * S, 8, 1, 1, &decision);
    assert_int_equal(decision.desired, 4);
    assert_false(decision.panicking);
    /* Excess burst capacity: floor(8 * 100 - 211 - 1) = 588; with the target of 70 it would be 348. */
    assert_int_equal(decision.excess_burst_capacity, 588);
    kpa_decide(&spec, &state, 64 * S, 4, 1, 1, &decision);
    assert_int_equal(decision.desired, 2);
    /* Any average above zero keeps a pod: ceil(0.000001 / 70) = 1. Exactly zero does not: floor(1 / 2) = 0.
     */
    kpa_decide(&spec, &state, 66 * S, 1, 0.000001, 0, &decision);
    assert_int_equal(decision.desired, 1);
    kpa_decide(&spec, &state, 68 * S, 1, 0, 0, &decision);
    assert_int_equal(decision.desired, 0);
    /* The activation scale is not held by the rate: at most ceil(2 * 1) = 2 pods by rate, yet 9. */
    spec.max_scale_up_rate = 2;
    spec.activation_scale = 9;
    kpa_decide(&spec, &state, 70 * S, 1, 1, 1, &decision);
    assert_int_equal(decision.rate_up, 2);
    assert_int_equal(decision.desired, 9);
    kpa_state_free(&state);

    /* To zero: active for less than the stable window keeps 1; then it only becomes inactive; then it waits
     * for the grace of 30 s. */
    kpa_bound_at(KPA_ACTIVE, 40 * S, &bounded);
    assert_true(bounded.desired == 1 && bounded.apply && bounded.requeue == 20 * S);
    kpa_bound_at(KPA_ACTIVE, 60 * S, &bounded);
    assert_true(bounded.desired == 0 && !bounded.apply);
    kpa_bound_at(KPA_INACTIVE, 29 * S, &bounded);
    assert_true(bounded.desired == 0 && !bounded.apply && bounded.requeue == 30 * S);
    kpa_bound_at(KPA_INACTIVE, 30 * S, &bounded);
    assert_true(bounded.desired == 0 && bounded.apply);
}

static void trap_18_quantities_are_int64(void **cmocka)
{
    const int64_t halves[2] = {INT64_C(4611686018427387904), INT64_C(4611686018427387904)}; /* 2^62 each */
    struct rig rig;
    struct hpa_view view;

    (void)cmocka;
    /* 9007199254740993 = 2^53 + 1 is no double; as the shown usage it stays whole. */
    rig_init(&rig, metric(HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, INT64_C(9007199254740993)));
    rig_pods(&rig, 1, INT64_C(9007199254740993));
    assert_int_equal(propose(&rig, 1, 1), 1);
    assert_true(rig.proposals[0].usage_milli == INT64_C(9007199254740993));
    /* 2^62 + 2^62 = 2^63 is capped at 2^63 - 1; over a target of 1 the count saturates at 2^31 - 1. */
    rig_init(&rig, metric(HPA_SOURCE_EXTERNAL, HPA_TARGET_VALUE, 1));
    rig_pods(&rig, 1, 0);
    view = rig_view(&rig, 0, 1, 1);
    rig.readings[0].values_milli = halves;
    rig.readings[0].value_count = 2;
    hpa_propose(&rig.controller, &rig.controller.tolerance, &rig.spec.metrics[0], &view, &rig.readings[0],
                &rig.proposals[0]);
    assert_true(rig.proposals[0].usage_milli == INT64_MAX);
    assert_int_equal(rig.proposals[0].replicas, INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_01_exactly_ten_percent),
        cmocka_unit_test(trap_02_averages_are_truncated),
        cmocka_unit_test(trap_03_double_rounding_is_visible),
        cmocka_unit_test(trap_04_the_ratio_multiplies_pods_that_count),
        cmocka_unit_test(trap_05_readiness_matters_only_for_cpu),
        cmocka_unit_test(trap_06_value_and_average_value_of_objects),
        cmocka_unit_test(trap_07_one_failed_metric_blocks_only_the_way_down),
        cmocka_unit_test(trap_08_outside_the_range_jumps_to_the_bound),
        cmocka_unit_test(trap_09_a_new_controller_holds_for_300_s),
        cmocka_unit_test(trap_10_behavior_clamps_from_current),
        cmocka_unit_test(trap_11_select_policy_on_the_way_down),
        cmocka_unit_test(trap_12_start_counts_both_lists),
        cmocka_unit_test(trap_13_any_behavior_replaces_double_or_four),
        cmocka_unit_test(trap_14_the_factor_is_two),
        cmocka_unit_test(trap_15_scale_from_zero),
        cmocka_unit_test(trap_16_keda_goes_to_zero_in_one_step),
        cmocka_unit_test(trap_17_knative),
        cmocka_unit_test(trap_18_quantities_are_int64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
