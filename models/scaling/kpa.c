/* Knative's decision every two seconds, and what bounds it. */
#include "models/scaling/kpa.h"

#include <math.h>

/* Ceil and floor give integral doubles; only their size needs care. */
static int32_t count_of(double x)
{
    if (isnan(x))
        return 0;
    if (x >= (double)INT32_MAX)
        return INT32_MAX;
    return x <= (double)INT32_MIN ? INT32_MIN : (int32_t)x;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

void kpa_resolve_target(const struct kpa_target_config *config, double *target, double *total)
{
    double capacity = config->rps_target_default;

    if (config->metric == KPA_CONCURRENCY)
        capacity = config->container_concurrency > 0 ? config->container_concurrency
                                                     : config->concurrency_target_default;
    if (config->target_annotation >= 0) {
        capacity = config->target_annotation;
        if (config->metric == KPA_CONCURRENCY && config->container_concurrency > 0)
            capacity = fmin(capacity, config->container_concurrency); /* no more than the container lets in */
    }
    *total = capacity;
    *target = fmax(KPA_MIN_TARGET, capacity * config->utilization);
}

int32_t kpa_sample_size(int32_t n)
{
    const double x = 15.3664; /* (1.96 * 0.4 / 0.2)^2 */

    if (n <= 3)
        return n;
    return count_of(ceil((double)n * x / ((double)n + x - 1)));
}

void kpa_spec_defaults(struct kpa_spec *spec)
{
    *spec = (struct kpa_spec){
        .target = KPA_CONCURRENCY_TARGET * KPA_TARGET_UTILIZATION,
        .total = KPA_CONCURRENCY_TARGET,
        .target_burst_capacity = KPA_TARGET_BURST_CAPACITY,
        .max_scale_up_rate = KPA_MAX_SCALE_UP_RATE,
        .max_scale_down_rate = KPA_MAX_SCALE_DOWN_RATE,
        .panic_threshold = KPA_PANIC_THRESHOLD,
        .reachable = true,
        .stable_window = KPA_STABLE_WINDOW,
    };
}

int kpa_state_init(struct kpa_state *state, const struct kpa_spec *spec, sim_time now, int32_t ready,
                   struct error *err)
{
    *state = (struct kpa_state){.panicking = ready > 1,
                                .panic_time = now,
                                .panic_floor = ready,
                                .delayed = spec->scale_down_delay > 0};
    return state->delayed ? kpa_maximum_init(&state->delay, spec->scale_down_delay, KPA_TICK, err) : 0;
}

void kpa_state_free(struct kpa_state *state)
{
    kpa_maximum_free(&state->delay);
    *state = (struct kpa_state){0};
}

static void update_panic(const struct kpa_spec *spec, struct kpa_state *state, sim_time now, bool over)
{
    if (over) {
        state->panicking = true;
        state->panic_time = now;
    } else if (state->panicking && state->panic_time + spec->stable_window < now) {
        state->panicking = false;
        state->panic_floor = 0;
    }
}

static int32_t excess_burst_capacity(const struct kpa_spec *spec, int32_t ready, double panic)
{
    if (spec->target_burst_capacity == 0)
        return 0;
    if (spec->target_burst_capacity < 0)
        return -1;
    return count_of(floor((double)ready * spec->total - spec->target_burst_capacity - panic));
}

void kpa_decide(const struct kpa_spec *spec, struct kpa_state *state, sim_time now, int32_t ready,
                double stable, double panic, struct kpa_decision *decision)
{
    double pods = fmax(1, (double)ready);
    double most = ceil(spec->max_scale_up_rate * pods);
    double least = spec->reachable ? floor(pods / spec->max_scale_down_rate) : 0;
    double for_stable = ceil(stable / spec->target);
    double for_panic = ceil(panic / spec->target);
    int32_t wanted;

    *decision = (struct kpa_decision){
        .stable_pods = count_of(fmin(fmax(for_stable, least), most)),
        .panic_pods = count_of(fmin(fmax(for_panic, least), most)),
        .rate_up = count_of(most),
        .rate_down = count_of(least),
        .over_threshold = for_panic / pods >= spec->panic_threshold,
    };
    if (spec->activation_scale > 1) {
        if (for_stable > 0)
            decision->stable_pods = larger(decision->stable_pods, spec->activation_scale);
        if (for_panic > 0)
            decision->panic_pods = larger(decision->panic_pods, spec->activation_scale);
    }
    update_panic(spec, state, now, decision->over_threshold);
    wanted = decision->stable_pods;
    if (state->panicking) {
        wanted = larger(wanted, decision->panic_pods);
        state->panic_floor = larger(state->panic_floor, wanted);
        wanted = state->panic_floor;
    }
    if (state->delayed && spec->reachable) {
        kpa_maximum_record(&state->delay, now, wanted);
        wanted = kpa_maximum_current(&state->delay);
    }
    decision->desired = wanted;
    decision->panicking = state->panicking;
    decision->excess_burst_capacity = excess_burst_capacity(spec, ready, panic);
}

int32_t kpa_initial_excess(int32_t initial_scale, double total, double target_burst_capacity)
{
    return count_of((double)initial_scale * total - target_burst_capacity);
}

bool kpa_proxied(int32_t wanted, int32_t excess)
{
    return wanted <= 0 || excess < 0;
}

int32_t kpa_activators(int32_t ready, double total, double target_burst_capacity, double activator_capacity)
{
    double capacity = (double)ready * total;

    if (target_burst_capacity == 0)
        return 2;
    if (target_burst_capacity > 0)
        capacity += target_burst_capacity;
    return larger(2, count_of(ceil(capacity / activator_capacity)));
}

/* ---- bounds, and the way to zero ---- */

static int32_t least_replicas(const struct kpa_bounds *bounds, const struct kpa_status *status)
{
    int32_t min = status->reachability == KPA_UNREACHABLE ? 0 : bounds->min;

    /* An initial scale of 1 needs no help: the first request asks for one pod. */
    if (!status->initialized && status->reachability != KPA_UNREACHABLE && bounds->initial > 1)
        min = larger(min, bounds->initial);
    return min;
}

static void zero_while_active(const struct kpa_bounds *bounds, const struct kpa_status *status,
                              struct kpa_bounded *bounded)
{
    if (status->activity_for < bounds->stable_window) {
        bounded->desired = 1;
        bounded->apply = true;
        bounded->requeue = bounds->stable_window - status->activity_for;
        return;
    }
    /* Only becomes inactive. Already proxied, nothing else would wake the autoscaler again. */
    if (status->proxy_mode)
        bounded->requeue = 3 * SIM_SECOND;
}

static void zero_while_inactive(const struct kpa_bounds *bounds, const struct kpa_status *status,
                                struct kpa_bounded *bounded)
{
    sim_time retention = status->reachability == KPA_UNREACHABLE ? 0 : bounds->retention;
    sim_time longest = retention > bounds->grace ? retention : bounds->grace;

    bounded->probed = !bounds->always_proxied;
    if (bounded->probed && !status->probe_ok)
        return; /* an asynchronous probe will call again */
    if (status->activity_for >= longest) {
        bounded->apply = true;
        return;
    }
    if (status->activity_for < retention) {
        bounded->requeue = retention - status->activity_for;
        return;
    }
    if (status->proxied_for >= bounds->grace)
        bounded->apply = true;
    else
        bounded->requeue = bounds->grace - status->proxied_for;
}

void kpa_bound(const struct kpa_bounds *bounds, const struct kpa_status *status, int32_t desired,
               struct kpa_bounded *bounded)
{
    int32_t min = least_replicas(bounds, status);

    *bounded = (struct kpa_bounded){.desired = desired};
    if (desired < 0 && status->activity != KPA_ACTIVATING) {
        bounded->left_alone = true;
        return;
    }
    if (desired < min)
        bounded->desired = min;
    else if (bounds->max != 0 && desired > bounds->max)
        bounded->desired = bounds->max;
    if (bounded->desired != 0) {
        bounded->apply = true;
        return;
    }
    if (!bounds->scale_to_zero) {
        bounded->desired = 1;
        bounded->apply = true;
        return;
    }
    switch (status->activity) {
    case KPA_ACTIVATING:
        if (status->activity_for > bounds->activation_timeout) {
            bounded->apply = true; /* it cannot be started: give up */
            return;
        }
        bounded->desired = KPA_SCALE_UNKNOWN;
        bounded->requeue = bounds->activation_timeout;
        return;
    case KPA_ACTIVE:
        zero_while_active(bounds, status, bounded);
        return;
    case KPA_INACTIVE:
        zero_while_inactive(bounds, status, bounded);
        return;
    }
}

enum kpa_activity kpa_activity_next(const struct kpa_bounds *bounds, const struct kpa_status *status,
                                    int32_t want, int32_t ready, bool *initialized)
{
    int32_t min = status->reachability == KPA_UNREACHABLE ? 0 : bounds->min;
    int32_t needed = larger(min, status->initialized ? 1 : bounds->initial);

    *initialized = status->initialized || ready >= needed;
    if (want == 0 || needed == 0)
        return KPA_INACTIVE;
    if (want < 0 && status->activity == KPA_INACTIVE)
        return KPA_INACTIVE;
    return ready < needed ? KPA_ACTIVATING : KPA_ACTIVE;
}
