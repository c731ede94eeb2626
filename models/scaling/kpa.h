#ifndef MODELS_SCALING_KPA_H
#define MODELS_SCALING_KPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * The decisions of Knative's pod autoscaler (KPA), as pure functions.
 *
 * Source: knative/serving, pkg/autoscaler (decision, windows) and pkg/reconciler/autoscaling/kpa (bounds,
 * scale to zero), as of 98e5ef90aa70. Held to the real functions by tests/conformance/conformance_kpa.c.
 * Arithmetic is IEEE double in their order.
 *
 *   kpa_window    1 s buckets of what was reported -> stable and panic averages
 *   kpa_decide    every 2 s: the two averages -> wanted pods, excess burst capacity
 *   kpa_bound     min, max, initial scale, and the slow way to zero
 */

/* The product's defaults (config-autoscaler). Shares are fractions, not percent. */
#define KPA_TICK                  (2 * SIM_SECOND)
#define KPA_STABLE_WINDOW         (60 * SIM_SECOND) /* 6 s to 1 h */
#define KPA_PANIC_WINDOW_SHARE    0.1               /* of the stable window, in whole seconds, at least 1 */
#define KPA_PANIC_THRESHOLD       2.0               /* 1.1 to 10 */
#define KPA_TARGET_UTILIZATION    0.7
#define KPA_CONCURRENCY_TARGET    100.0
#define KPA_RPS_TARGET            200.0
#define KPA_MAX_SCALE_UP_RATE     1000.0
#define KPA_MAX_SCALE_DOWN_RATE   2.0
#define KPA_TARGET_BURST_CAPACITY 211.0
#define KPA_ACTIVATOR_CAPACITY    100.0
#define KPA_GRACE                 (30 * SIM_SECOND)
#define KPA_PROGRESS_BUFFER       (30 * SIM_SECOND) /* activation timeout = progress deadline + this */
#define KPA_MIN_TARGET            0.01
#define KPA_SCALE_UNKNOWN         (-1)

/* Length of the panic window: share of the stable one, rounded to a whole second, at least one. */
sim_time kpa_panic_window(sim_time stable_window, double share);

/* ---- windows of averages ---- */

/* Linear: mean of the buckets from first to last write, at most the window; silent seconds between writes are
 * 0, those since the last write are left out. Exponential: newest bucket weighs c = max(0.2, 1 -
 * 0.0001^(1/buckets)), each older one (1 - c) times that of its successor; silence since the last write
 * decays it. */
enum kpa_averaging { KPA_LINEAR, KPA_EXPONENTIAL };

struct kpa_window {
    double *buckets; /* ring, by bucket number */
    size_t count;
    sim_time granularity; /* of a bucket, 1 s */
    sim_time window;
    enum kpa_averaging averaging;
    double smoothing; /* c */
    double total;     /* of all buckets; kept up step by step as the original does, rounding errors and all */
    sim_time first_write;
    sim_time last_write; /* both in whole buckets */
    bool written;
};

/* Errors: memory. window >= granularity > 0. Free with kpa_window_free. */
int kpa_window_init(struct kpa_window *window, sim_time length, sim_time granularity,
                    enum kpa_averaging averaging, struct error *err);
void kpa_window_free(struct kpa_window *window);
/* Adds to the bucket of `now`: several reports in one second add up. Older than a window before the last
 * write: dropped. */
void kpa_window_record(struct kpa_window *window, sim_time now, double value);
/* Linear averages are rounded to 6 decimals. 0 after a window without a write. */
double kpa_window_average(const struct kpa_window *window, sim_time now);
/* Nothing written for longer than the window: no data, so no decision (unless the activator is always in the
 * path: then 0). */
bool kpa_window_empty(const struct kpa_window *window, sim_time now);

/* Maximum over the last n buckets of absolute time, for the scale-down delay. */
struct kpa_maximum {
    struct kpa_maximum_entry {
        int64_t bucket;
        int32_t value;
    } * entries; /* ring; values fall from oldest to newest */
    size_t capacity, first, length;
    sim_time granularity;
};

/* Buckets: ceil(length / granularity). Errors: memory. */
int kpa_maximum_init(struct kpa_maximum *maximum, sim_time length, sim_time granularity, struct error *err);
void kpa_maximum_free(struct kpa_maximum *maximum);
/* Time must not go back. */
void kpa_maximum_record(struct kpa_maximum *maximum, sim_time now, int32_t value);
/* As of the last record; 0 before the first. */
int32_t kpa_maximum_current(const struct kpa_maximum *maximum);

/* ---- targets ---- */

enum kpa_metric { KPA_CONCURRENCY, KPA_RPS };

struct kpa_target_config {
    enum kpa_metric metric;
    double container_concurrency;      /* 0: no limit */
    double concurrency_target_default; /* KPA_CONCURRENCY_TARGET */
    double rps_target_default;         /* KPA_RPS_TARGET */
    double utilization;                /* of the metric in use; the annotation's if given */
    double target_annotation;          /* < 0: none */
};
/* What one pod takes (total) and what it is aimed at (target = max(0.01, total * utilization)). */
void kpa_resolve_target(const struct kpa_target_config *config, double *target, double *total);

/* Pods to scrape out of n: all up to 3, else ceil(n * X / (n + X - 1)), X = 15.3664 (95 % confidence). The
 * sum is scaled up to n. */
int32_t kpa_sample_size(int32_t n);

/* ---- the decision ---- */

struct kpa_spec {
    double target;                /* per pod, of the metric; > 0 */
    double total;                 /* capacity of a pod */
    double target_burst_capacity; /* 0: never the activator; < 0: always */
    double max_scale_up_rate;     /* > 1 */
    double max_scale_down_rate;   /* > 1 */
    double panic_threshold;       /* panic pods per ready pod */
    int32_t activation_scale;     /* 0 or 1: none */
    bool reachable;               /* some route leads here */
    sim_time stable_window;
    sim_time scale_down_delay;
};
void kpa_spec_defaults(struct kpa_spec *spec);

struct kpa_state {
    bool panicking;
    sim_time panic_time; /* last time over the threshold */
    int32_t panic_floor; /* no fewer pods while panicking */
    bool delayed;        /* a scale-down delay was set when it was made */
    struct kpa_maximum delay;
};

/* A new autoscaler, or one whose process restarted: with more than one ready pod it starts in panic, which
 * holds the scale for a stable window. Errors: memory. Free with kpa_state_free. */
int kpa_state_init(struct kpa_state *state, const struct kpa_spec *spec, sim_time now, int32_t ready,
                   struct error *err);
void kpa_state_free(struct kpa_state *state);

struct kpa_decision {
    int32_t desired;
    int32_t excess_burst_capacity; /* negative: the activator stays in the path */
    bool panicking;
    bool over_threshold;
    int32_t stable_pods; /* within the rates, after the activation scale */
    int32_t panic_pods;
    int32_t rate_up; /* the bounds of the rates */
    int32_t rate_down;
};

/*
 * With R = max(1, ready): ds = ceil(stable / target), dp likewise; S = min(max(ds, floor(R / down)), ceil(up
 * * R)), P likewise; the activation scale lifts S and P that are due to traffic, past the rates. dp / R >=
 * threshold (before the rates) starts or extends panic, a stable window without it ends it. In panic max(S,
 * P) and never down. Then the scale-down delay. stable, panic: averages of the two windows. Call it only with
 * data.
 */
void kpa_decide(const struct kpa_spec *spec, struct kpa_state *state, sim_time now, int32_t ready,
                double stable, double panic, struct kpa_decision *decision);

/* At creation nothing is wanted yet (KPA_SCALE_UNKNOWN) and the excess is trunc(initial * total - target
 * burst capacity). */
int32_t kpa_initial_excess(int32_t initial_scale, double total, double target_burst_capacity);
/* Is the activator in the path? */
bool kpa_proxied(int32_t wanted, int32_t excess_burst_capacity);
/* Activators assigned to a revision; at least 2. */
int32_t kpa_activators(int32_t ready, double total, double target_burst_capacity, double activator_capacity);

/* ---- bounds, and the way to zero ---- */

enum kpa_activity { KPA_ACTIVATING, KPA_ACTIVE, KPA_INACTIVE };
enum kpa_reachability { KPA_REACHABLE_UNKNOWN, KPA_REACHABLE, KPA_UNREACHABLE };

struct kpa_bounds {
    int32_t min;     /* ignored if unreachable */
    int32_t max;     /* 0: none */
    int32_t initial; /* counts as a minimum until it was reached once */
    bool scale_to_zero;
    bool always_proxied; /* target burst capacity -1: no probe needed */
    sim_time stable_window;
    sim_time grace;
    sim_time retention;          /* of the last pod; ignored if unreachable */
    sim_time activation_timeout; /* progress deadline + KPA_PROGRESS_BUFFER */
};

struct kpa_status {
    enum kpa_activity activity;
    sim_time activity_for; /* how long it has been that */
    bool initialized;      /* initial scale reached once */
    enum kpa_reachability reachability;
    bool proxy_mode; /* the activator is in the path by our wish */
    sim_time proxied_for;
    bool probe_ok; /* would the activator answer in the service's place? Read only when decision->probed */
};

struct kpa_bounded {
    int32_t desired;  /* KPA_SCALE_UNKNOWN: nothing known */
    bool left_alone;  /* no data yet: neither bounds nor anything else applied */
    bool apply;       /* set the workload's replicas; otherwise desired only says what is wanted (0: becomes
                         inactive) */
    bool probed;      /* the activator probe was consulted */
    sim_time requeue; /* ask again after this long; 0: no need */
};

/* One pass from a decision's wish to what is written. */
void kpa_bound(const struct kpa_bounds *bounds, const struct kpa_status *status, int32_t desired,
               struct kpa_bounded *bounded);

/* What the revision's activity becomes. want: kpa_bounded.desired. *initialized is set once enough pods are
 * ready. */
enum kpa_activity kpa_activity_next(const struct kpa_bounds *bounds, const struct kpa_status *status,
                                    int32_t want, int32_t ready, bool *initialized);

#endif
