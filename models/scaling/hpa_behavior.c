/* Stabilization, rate limits and their memory: what stands between a proposal and the replica count. */
#include "models/scaling/hpa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hpa_controller_defaults(struct hpa_controller *controller)
{
    *controller = (struct hpa_controller){
        .tolerance = {.up = 0.1, .down = 0.1, .form = HPA_TOLERANCE_BAND},
        .downscale_stabilization = 300 * SIM_SECOND,
        .cpu_initialization = 300 * SIM_SECOND,
        .initial_readiness_delay = 30 * SIM_SECOND,
        .scale_up_limit_factor = 2,
        .scale_up_limit_minimum = 4,
        .zero_rule = HPA_ZERO_CONDITION,
        .succeeded_pods_count_as_gone = true,
    };
}

void hpa_rules_init(struct hpa_rules *rules)
{
    *rules = (struct hpa_rules){.window = HPA_UNSET, .tolerance = HPA_TOLERANCE_UNSET};
}

void hpa_rules_default(struct hpa_rules *rules, enum hpa_direction direction)
{
    static const struct hpa_policy four_pods = {HPA_POLICY_PODS, 4, 15 * SIM_SECOND};
    static const struct hpa_policy double_or_all = {HPA_POLICY_PERCENT, 100, 15 * SIM_SECOND};

    if (rules->window == HPA_UNSET && direction == HPA_UP)
        rules->window = 0;
    if (rules->select == HPA_SELECT_UNSET)
        rules->select = HPA_SELECT_MAX;
    if (rules->policy_count == 0) {
        if (direction == HPA_UP)
            rules->policies[rules->policy_count++] = four_pods;
        rules->policies[rules->policy_count++] = double_or_all;
    }
}

void hpa_spec_init(struct hpa_spec *spec)
{
    *spec = (struct hpa_spec){.min = -1, .max = 1};
    hpa_rules_init(&spec->rules[HPA_UP]);
    hpa_rules_init(&spec->rules[HPA_DOWN]);
}

void hpa_spec_default(struct hpa_spec *spec)
{
    if (spec->metric_count == 0)
        spec->metrics[spec->metric_count++] = (struct hpa_metric){
            .source = HPA_SOURCE_RESOURCE, .target_kind = HPA_TARGET_UTILIZATION, .cpu = true, .target = 80};
    if (spec->behavior) {
        hpa_rules_default(&spec->rules[HPA_UP], HPA_UP);
        hpa_rules_default(&spec->rules[HPA_DOWN], HPA_DOWN);
    }
}

/* ---- memory ---- */

void hpa_state_init(struct hpa_state *state)
{
    *state = (struct hpa_state){0};
}

void hpa_state_free(struct hpa_state *state)
{
    free(state->recommendations.items);
    free(state->events[HPA_UP].items);
    free(state->events[HPA_DOWN].items);
    *state = (struct hpa_state){0};
}

void hpa_state_restart(struct hpa_state *state)
{
    state->recommendations.count = 0;
    state->recommendations.known = false;
    state->events[HPA_UP].count = 0;
    state->events[HPA_DOWN].count = 0;
}

/* Room for one more item. */
static int reserve(void **items, size_t *capacity, size_t count, size_t size, struct error *err)
{
    size_t wanted = *capacity == 0 ? 32 : 2 * *capacity;
    void *grown;

    if (count < *capacity)
        return 0;
    grown = realloc(*items, wanted * size);
    if (grown == NULL)
        return error_memory(err, "hpa");
    *items = grown;
    *capacity = wanted;
    return 0;
}

int hpa_recommendations_add(struct hpa_recommendations *list, sim_time time, int32_t replicas,
                            struct error *err)
{
    void *items = list->items;

    if (reserve(&items, &list->capacity, list->count, sizeof *list->items, err) != 0)
        return -1;
    list->items = items;
    list->items[list->count++] = (struct hpa_recommendation){.time = time, .replicas = replicas};
    return 0;
}

int hpa_events_add(struct hpa_events *list, sim_time time, int32_t change, struct error *err)
{
    void *items = list->items;

    if (reserve(&items, &list->capacity, list->count, sizeof *list->items, err) != 0)
        return -1;
    list->items = items;
    list->items[list->count++] = (struct hpa_event){.time = time, .change = change};
    return 0;
}

enum { NO_SLOT = -1 };

static int record(struct hpa_recommendations *list, ptrdiff_t slot, sim_time now, int32_t proposal,
                  struct error *err)
{
    if (slot == NO_SLOT)
        return hpa_recommendations_add(list, now, proposal, err);
    list->items[slot] = (struct hpa_recommendation){.time = now, .replicas = proposal};
    return 0;
}

/* ---- without behavior ---- */

int hpa_stabilize_plain(const struct hpa_controller *controller, struct hpa_recommendations *list,
                        sim_time now, int32_t proposal, int32_t *stabilized, struct error *err)
{
    sim_time cutoff = now - controller->downscale_stabilization;
    ptrdiff_t slot = NO_SLOT;
    int32_t largest = proposal;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].time < cutoff)
            slot = (ptrdiff_t)i;
        else if (list->items[i].replicas > largest)
            largest = list->items[i].replicas;
    }
    *stabilized = largest;
    return record(list, slot, now, proposal, err);
}

static int32_t saturate(double x)
{
    if (x >= (double)INT32_MAX)
        return INT32_MAX;
    return x <= (double)INT32_MIN ? INT32_MIN : (int32_t)x;
}

int32_t hpa_limit_plain(const struct hpa_controller *controller, int32_t current, int32_t desired,
                        int32_t min, int32_t max, enum hpa_reason *reason)
{
    int32_t fastest = saturate(
        fmax(controller->scale_up_limit_factor * (double)current, controller->scale_up_limit_minimum));
    int32_t upper = max > fastest ? fastest : max;

    if (desired < min) {
        *reason = HPA_TOO_FEW_REPLICAS;
        return min;
    }
    if (desired > upper) {
        *reason = max > fastest ? HPA_SCALE_UP_LIMIT : HPA_TOO_MANY_REPLICAS;
        return upper;
    }
    *reason = HPA_DESIRED_WITHIN_RANGE;
    return desired;
}

/* ---- with behavior ---- */

int hpa_stabilize(struct hpa_recommendations *list, sim_time up_window, sim_time down_window, sim_time now,
                  int32_t current, int32_t proposal, int32_t *stabilized, struct error *err)
{
    sim_time up_cutoff = now - up_window;
    sim_time down_cutoff = now - down_window;
    int32_t lowest = proposal, highest = proposal, clamped = current;
    ptrdiff_t slot = NO_SLOT;

    for (size_t i = 0; i < list->count; i++) {
        const struct hpa_recommendation *r = &list->items[i];

        if (r->time > up_cutoff && r->replicas < lowest)
            lowest = r->replicas;
        if (r->time > down_cutoff && r->replicas > highest)
            highest = r->replicas;
        if (r->time < up_cutoff && r->time < down_cutoff)
            slot = (ptrdiff_t)i;
    }
    if (clamped < lowest)
        clamped = lowest;
    if (clamped > highest)
        clamped = highest;
    *stabilized = clamped;
    return record(list, slot, now, proposal, err);
}

int32_t hpa_events_change(const struct hpa_events *list, sim_time now, sim_time period)
{
    sim_time cutoff = now - period;
    int64_t sum = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].time > cutoff)
            sum += list->items[i].change;
    return sum > INT32_MAX ? INT32_MAX : (int32_t)sum;
}

static int32_t policy_limit(const struct hpa_policy *policy, enum hpa_direction direction,
                            const struct hpa_events *events, sim_time now, int32_t current)
{
    int32_t start = saturate((double)current -
                             (double)hpa_events_change(&events[HPA_UP], now, policy->period) +
                             (double)hpa_events_change(&events[HPA_DOWN], now, policy->period));

    if (policy->kind == HPA_POLICY_PODS)
        return saturate(direction == HPA_UP ? (double)start + policy->value : (double)start - policy->value);
    if (direction == HPA_UP)
        return saturate(ceil((double)start * (1 + (double)policy->value / 100)));
    return saturate((double)start *
                    (1 - (double)policy->value / 100)); /* the conversion truncates towards zero */
}

/* The furthest count that the rules let the direction reach from current; never on the other side of current.
 */
static int32_t rules_limit(const struct hpa_rules *rules, enum hpa_direction direction,
                           const struct hpa_events *events, sim_time now, int32_t current)
{
    /* The largest change is the highest limit on the way up and the lowest on the way down. */
    bool want_highest = (rules->select != HPA_SELECT_MIN) == (direction == HPA_UP);
    int32_t limit = want_highest ? INT32_MIN : INT32_MAX;

    if (rules->select == HPA_SELECT_DISABLED)
        return current;
    for (size_t i = 0; i < rules->policy_count; i++) {
        int32_t one = policy_limit(&rules->policies[i], direction, events, now, current);

        if (want_highest ? one > limit : one < limit)
            limit = one;
    }
    if (direction == HPA_UP ? limit < current : limit > current)
        return current;
    return limit;
}

int32_t hpa_limit(const struct hpa_rules *rules, const struct hpa_events *events, sim_time now,
                  int32_t current, int32_t desired, int32_t min, int32_t max, enum hpa_reason *reason)
{
    *reason = HPA_DESIRED_WITHIN_RANGE;
    if (desired > current) {
        int32_t limit = rules_limit(&rules[HPA_UP], HPA_UP, events, now, current);
        int32_t upper = max > limit ? limit : max;

        if (desired > upper) {
            *reason = max > limit ? HPA_SCALE_UP_LIMIT : HPA_TOO_MANY_REPLICAS;
            return upper;
        }
    } else if (desired < current) {
        int32_t limit = rules_limit(&rules[HPA_DOWN], HPA_DOWN, events, now, current);
        int32_t lower = min < limit ? limit : min;

        if (desired < lower) {
            *reason = min < limit ? HPA_SCALE_DOWN_LIMIT : HPA_TOO_FEW_REPLICAS;
            return lower;
        }
    }
    return desired;
}

int hpa_store_event(const struct hpa_rules *rules, struct hpa_events *list, sim_time now, int32_t from,
                    int32_t to, struct error *err)
{
    int32_t change = to > from ? to - from : from - to;
    sim_time longest = 0;
    ptrdiff_t slot = NO_SLOT;

    for (size_t i = 0; i < rules->policy_count; i++)
        if (rules->policies[i].period > longest)
            longest = rules->policies[i].period;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].time < now - longest)
            list->items[i].outdated = true;
        if (list->items[i].outdated)
            slot = (ptrdiff_t)i;
    }
    if (slot == NO_SLOT)
        return hpa_events_add(list, now, change, err);
    list->items[slot] = (struct hpa_event){.time = now, .change = change};
    return 0;
}
