/* Vectors of single functions that stabilize and limit a proposal. */
#include "tests/conformance/hpa_vectors.h"

#include <string.h>

static void check_limit(struct fy_node *expected, int32_t replicas, enum hpa_reason reason,
                        struct outcome *outcome)
{
    outcome_equal(outcome, "replicas", vector_int64(vector_get(expected, "replicas"), INT64_MIN), replicas);
    if (vector_has(expected, "reason"))
        outcome_text(outcome, "reason", vector_text(vector_get(expected, "reason"), ""),
                     hpa_reason_text(reason));
}

static void run_legacy_limits(struct fy_node *vector, struct outcome *outcome)
{
    struct hpa_controller controller;
    enum hpa_reason reason;
    int32_t replicas;

    read_controller(vector, &controller);
    replicas = hpa_limit_plain(&controller, vector_int32(vector_get(vector, "current"), 0),
                               vector_int32(vector_get(vector, "desired"), 0),
                               vector_int32(vector_get(vector, "min_replicas"), 1),
                               vector_int32(vector_get(vector, "max_replicas"), 1), &reason);
    check_limit(vector_get(vector, "expected"), replicas, reason, outcome);
}

static void run_behavior_rate(struct fy_node *vector, struct hpa_state *state, struct outcome *outcome)
{
    struct hpa_rules rules[2];
    enum hpa_reason reason;
    int32_t replicas;

    read_rules(vector_get(vector, "scale_up"), &rules[HPA_UP]);
    read_rules(vector_get(vector, "scale_down"), &rules[HPA_DOWN]);
    hpa_rules_default(&rules[HPA_UP], HPA_UP);
    hpa_rules_default(&rules[HPA_DOWN], HPA_DOWN);
    read_events(vector_get(vector, "scale_up_events"), &state->events[HPA_UP]);
    read_events(vector_get(vector, "scale_down_events"), &state->events[HPA_DOWN]);
    replicas = hpa_limit(rules, state->events, 0, vector_int32(vector_get(vector, "current"), 0),
                         vector_int32(vector_get(vector, "desired"), 0),
                         vector_int32(vector_get(vector, "min_replicas"), 1),
                         vector_int32(vector_get(vector, "max_replicas"), 1), &reason);
    check_limit(vector_get(vector, "expected"), replicas, reason, outcome);
}

static void check_recommendations(struct fy_node *expected, const struct hpa_recommendations *list,
                                  struct outcome *outcome)
{
    struct fy_node *after = vector_get(expected, "recommendations_after");

    if (vector_has(expected, "log_length"))
        outcome_equal(outcome, "log length", vector_int64(vector_get(expected, "log_length"), -1),
                      (int64_t)list->count);
    if (after == NULL)
        return;
    outcome_equal(outcome, "recommendations", vector_count(after), (int64_t)list->count);
    for (int i = 0; i < vector_count(after) && i < (int)list->count; i++)
        outcome_equal(outcome, "recommendation", vector_int64(vector_at(after, i), -1),
                      list->items[i].replicas);
}

static void run_stabilize(struct fy_node *vector, bool behavior, struct hpa_state *state,
                          struct outcome *outcome)
{
    struct fy_node *expected = vector_get(vector, "expected");
    int32_t desired = vector_int32(vector_get(vector, "desired"), 0), stabilized = -1;
    struct hpa_controller controller;

    read_controller(vector, &controller);
    read_recommendations(vector_get(vector, "recommendations"), &state->recommendations);
    if (behavior)
        hpa_stabilize(
            &state->recommendations, vector_time(vector_get(vector, "scale_up_window_s"), 0),
            vector_time(vector_get(vector, "scale_down_window_s"), controller.downscale_stabilization), 0,
            vector_int32(vector_get(vector, "current"), 0), desired, &stabilized, NULL);
    else
        hpa_stabilize_plain(&controller, &state->recommendations, 0, desired, &stabilized, NULL);
    outcome_equal(outcome, "replicas", vector_int64(vector_get(expected, "replicas"), INT64_MIN), stabilized);
    check_recommendations(expected, &state->recommendations, outcome);
}

static enum hpa_direction read_direction(struct fy_node *vector)
{
    return vector_is(vector_get(vector, "direction"), "down") ? HPA_DOWN : HPA_UP;
}

static void run_store_event(struct fy_node *vector, struct hpa_state *state, struct outcome *outcome)
{
    struct fy_node *expected = vector_get(vector, "expected"), *after = vector_get(expected, "events_after");
    struct hpa_events *events = &state->events[read_direction(vector)];
    struct hpa_rules rules;

    read_events(vector_get(vector, "previous_events"), events);
    if (vector_get(vector, "rules") != NULL) { /* none: nobody reads the events, none is stored */
        read_rules(vector_get(vector, "rules"), &rules);
        if (vector_has(expected, "change_in_last_60s_before"))
            outcome_equal(outcome, "change in the last 60 s",
                          vector_int64(vector_get(expected, "change_in_last_60s_before"), -1),
                          hpa_events_change(events, 0, 60 * SIM_SECOND));
        hpa_store_event(&rules, events, 0, vector_int32(vector_get(vector, "from"), 0),
                        vector_int32(vector_get(vector, "to"), 0), NULL);
    }
    outcome_equal(outcome, "events", vector_count(after), (int64_t)events->count);
    for (int i = 0; i < vector_count(after) && i < (int)events->count; i++) {
        struct fy_node *event = vector_at(after, i);

        outcome_equal(outcome, "event", vector_int64(vector_get(event, "change"), -1),
                      events->items[i].change);
        outcome_equal(outcome, "outdated", vector_bool(vector_get(event, "outdated"), false),
                      events->items[i].outdated);
    }
}

static void run_defaulting(struct fy_node *vector, struct outcome *outcome)
{
    struct hpa_rules got, expected;

    read_rules(vector_get(vector, "rules"), &got);
    read_rules(vector_get(vector, "expected"), &expected);
    hpa_rules_default(&got, read_direction(vector));
    outcome_equal(outcome, "window", expected.window, got.window);
    outcome_equal(outcome, "select", expected.select, got.select);
    outcome_equal(outcome, "policies", (int64_t)expected.policy_count, (int64_t)got.policy_count);
    for (size_t i = 0; i < expected.policy_count && i < got.policy_count; i++) {
        outcome_equal(outcome, "policy type", expected.policies[i].kind, got.policies[i].kind);
        outcome_equal(outcome, "policy value", expected.policies[i].value, got.policies[i].value);
        outcome_equal(outcome, "policy period", expected.policies[i].period, got.policies[i].period);
    }
}

bool run_behavior_function(struct fy_node *vector, const char *function, bool *passed,
                           struct outcome *outcome)
{
    struct hpa_state state;
    bool known = true;

    hpa_state_init(&state);
    if (strcmp(function, "legacy_limits") == 0)
        run_legacy_limits(vector, outcome);
    else if (strcmp(function, "behavior_rate") == 0)
        run_behavior_rate(vector, &state, outcome);
    else if (strcmp(function, "stabilize_legacy") == 0)
        run_stabilize(vector, false, &state, outcome);
    else if (strcmp(function, "stabilize_behavior") == 0)
        run_stabilize(vector, true, &state, outcome);
    else if (strcmp(function, "store_scale_event") == 0)
        run_store_event(vector, &state, outcome);
    else if (strcmp(function, "defaulting") == 0)
        run_defaulting(vector, outcome);
    else
        known = false;
    hpa_state_free(&state);
    *passed = outcome->text[0] == '\0';
    return known;
}
