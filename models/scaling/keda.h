#ifndef MODELS_SCALING_KEDA_H
#define MODELS_SCALING_KEDA_H

#include <stdbool.h>
#include <stdint.h>

#include "models/scaling/hpa.h"
#include "sim/engine/sim_time.h"

/*
 * The decisions of KEDA around the HPA that it makes for a ScaledObject, as pure functions: the step between
 * 0 (or idle) and 1, and what it reports in place of a failing trigger. 1..N is the HPA's (hpa.h), which asks
 * for the triggers' values on its own cycle: the polling interval does not slow it.
 *
 * Source: kedacore/keda, pkg/scaling/executor and pkg/fallback, as of 8b4f083ca8c8 (read, not run).
 */

#define KEDA_POLLING_INTERVAL (30 * SIM_SECOND)
#define KEDA_COOLDOWN         (300 * SIM_SECOND)
#define KEDA_MAX_REPLICAS     100
#define KEDA_NONE             (-1)      /* a count that was not given */
#define KEDA_NEVER            INT64_MIN /* a time that never was */

/* ---- triggers ---- */

enum keda_trigger_kind {
    KEDA_TRIGGER_VALUE, /* Prometheus and other measured values: active iff value > activation threshold */
    KEDA_TRIGGER_POD,   /* cpu, memory: always active, so an object with only these never goes to zero */
    KEDA_TRIGGER_CRON /* active inside its times, with value = desired replicas against an average target of 1
                       */
};

struct keda_trigger {
    enum keda_trigger_kind kind;
    double activation_threshold; /* 0 */
    bool empty_is_error;         /* ignoreNullValues: false. By default an empty result counts as 0 */
};

struct keda_sample {
    double value;
    bool empty;  /* the query gave no result */
    bool failed; /* the source gave an error */
    bool inside; /* cron: now is inside its times */
};

struct keda_activity {
    bool active;
    bool error;
};
/* One trigger's activity. The object is active if any trigger is; it has an error if any has. */
struct keda_activity keda_trigger_activity(const struct keda_trigger *trigger,
                                           const struct keda_sample *sample);

/* ---- the poll: 0, idle and min ---- */

struct keda_spec {
    int32_t min;               /* KEDA_NONE: not given, which acts as 0 here and as 1 in the HPA */
    int32_t max;               /* KEDA_NONE: 100 */
    int32_t idle;              /* KEDA_NONE, or < min: count while inactive */
    int32_t fallback_replicas; /* KEDA_NONE: no fallback */
    sim_time cooldown;         /* since the last active poll, strictly more */
    sim_time initial_cooldown; /* since creation, for an object that was never active */
    bool paused;               /* nothing scales */
    bool paused_scale_in;
    bool paused_scale_out;
    bool force_activation;
};
void keda_spec_defaults(struct keda_spec *spec);

/* Bounds and directions of the HPA that KEDA makes: min = max(1, min), max or 100; a paused direction is
 * Disabled. Touches nothing else of hpa. */
void keda_hpa_bounds(const struct keda_spec *spec, struct hpa_spec *hpa);

struct keda_poll {
    sim_time now;
    sim_time created;
    sim_time last_active; /* of the last active poll; KEDA_NEVER */
    int32_t replicas;     /* spec.replicas */
    bool active;          /* any trigger */
    bool error;           /* any trigger failed */
};

enum keda_step {
    KEDA_STEP_NONE,
    KEDA_STEP_PAUSED,
    KEDA_STEP_ACTIVATE, /* from 0 or idle to max(1, min), past the HPA's policies */
    KEDA_STEP_COOLING,  /* inactive, cooldown not over */
    KEDA_STEP_IDLE,     /* to idle or 0, in one step from any count */
    KEDA_STEP_MINIMUM,  /* lifted to min */
    KEDA_STEP_HELD      /* inactive with a failing trigger: nobody knows */
};

struct keda_decision {
    int32_t replicas;
    enum keda_step step;
    bool active_noted; /* last_active becomes now */
};

/* One pass of the polling loop. */
void keda_poll_decide(const struct keda_spec *spec, const struct keda_poll *poll,
                      struct keda_decision *decision);

/* ---- the fallback: what the HPA is told ---- */

enum keda_fallback_behavior {
    KEDA_FALLBACK_STATIC,
    KEDA_FALLBACK_CURRENT,
    KEDA_FALLBACK_CURRENT_IF_HIGHER,
    KEDA_FALLBACK_CURRENT_IF_LOWER
};

struct keda_fallback {
    bool enabled;
    enum keda_fallback_behavior behavior;
    int32_t failure_threshold; /* consecutive failures that are still passed on as errors; negative: never
                                  falls back */
    int32_t replicas;
};

struct keda_metric {
    double target;
    bool average;     /* AverageValue; else Value, which is shared out over ready pods */
    bool failed;      /* the source failed */
    double value;     /* read unless failed */
    int32_t replicas; /* spec.replicas */
    int32_t ready;
};

struct keda_answer {
    bool error;
    double value;
    bool fell_back;
};

/*
 * The value for the HPA. *failures counts consecutive failures of this metric, 0 to begin with. After more
 * than the threshold the answer is target * replicas, which makes the HPA ask for just these; until then it
 * sees an error, which blocks its scaling down.
 */
struct keda_answer keda_metric_answer(const struct keda_fallback *fallback, const struct keda_metric *metric,
                                      int32_t *failures);

#endif
