#ifndef MODELS_SCALING_HPA_H
#define MODELS_SCALING_HPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * The decisions of the Kubernetes HorizontalPodAutoscaler (autoscaling/v2), as pure functions: configuration,
 * memory and what the controller sees go in, a replica count and its reasons come out. No input or output, no
 * clock, no simulator.
 *
 * Source: kubernetes/kubernetes, pkg/controller/podautoscaler, the release 1.28 and its successor of mid-2026
 * (both rules where they differ). Held to the real controller by tests/conformance/conformance_hpa.c.
 *
 * One reconcile, top to bottom:
 *
 *   hpa_reconcile      1 remembers the current count if nothing is remembered
 *                      2 the zero rule; a count outside [min, max] jumps to the bound
 *     hpa_propose      3 a metric's samples and pods -> a proposal; the largest that worked counts
 *     hpa_stabilize*   4 holds the proposal against recent ones
 *     hpa_limit*       5 bounds the speed and the range
 *     hpa_store_event  6 remembers the change, for later limits
 *
 * Arithmetic is the controller's own: quantities are int64 milli-units that wrap where Go's wrap and are
 * capped where the controller caps; ratios are IEEE doubles in its order of operations, rounded by ceil or
 * truncation of the double, because double rounding is visible (290/70 on 7 pods gives 30). Never rewrite it
 * in exact arithmetic.
 *
 * Replica counts are int32 >= 0 (a proposal from negative metric values may be negative; the result is not).
 * Where Go would convert an unrepresentable double (its result depends on the processor), counts saturate at
 * INT32_MAX.
 */

/* ---- what the controller is configured with (kube-controller-manager flags and the release's rules) ---- */

/* How a ratio r is held against the tolerance: since 1.33 by 1 - down <= r <= 1 + up; before by |1 - r| <= up
 * (one value), which differs at exactly +10 %: 55 for a target of 50 stays now and scaled then. */
enum hpa_tolerance_form { HPA_TOLERANCE_BAND, HPA_TOLERANCE_DISTANCE };

struct hpa_tolerance {
    double up;   /* share, 0.1 = 10 % */
    double down; /* not read by HPA_TOLERANCE_DISTANCE */
    enum hpa_tolerance_form form;
};

/* Is the ratio close enough to 1 to leave things alone? NaN never is. */
bool hpa_tolerance_within(const struct hpa_tolerance *tolerance, double ratio);

/* What happens at 0 replicas. Classic: scaling is off unless min is 0. Condition (1.37, beta and on): scaling
 * goes on only if this autoscaler scaled to zero itself; a manual zero switches it off. */
enum hpa_zero_rule { HPA_ZERO_CLASSIC, HPA_ZERO_CONDITION };

struct hpa_controller {
    struct hpa_tolerance tolerance;   /* 0.1 both ways */
    sim_time downscale_stabilization; /* 300 s */
    sim_time cpu_initialization;      /* 300 s: cpu of younger pods counts only if Ready for a whole window */
    sim_time initial_readiness_delay; /* 30 s: a pod whose Ready last changed earlier than that after its
                                         start never was ready */
    double
        scale_up_limit_factor; /* 2; without behavior a step reaches at most max(factor * current, minimum) */
    double scale_up_limit_minimum;     /* 4 */
    enum hpa_zero_rule zero_rule;      /* HPA_ZERO_CONDITION */
    bool succeeded_pods_count_as_gone; /* true; older releases ignore only Failed and deleted pods */
};

/* The product's defaults, as of 1.37. */
void hpa_controller_defaults(struct hpa_controller *controller);

/* ---- what the user asked for (the HorizontalPodAutoscaler object) ---- */

enum hpa_source {
    HPA_SOURCE_RESOURCE,
    HPA_SOURCE_CONTAINER_RESOURCE,
    HPA_SOURCE_PODS,
    HPA_SOURCE_OBJECT,
    HPA_SOURCE_EXTERNAL,
    HPA_SOURCE_INVALID /* a type that the controller does not know: the metric always fails */
};

enum hpa_target { HPA_TARGET_MISSING, HPA_TARGET_UTILIZATION, HPA_TARGET_AVERAGE_VALUE, HPA_TARGET_VALUE };

struct hpa_metric {
    enum hpa_source source;
    enum hpa_target
        target_kind; /* utilization: (container) resource; average: all; value: object and external */
    bool cpu;        /* the resource is cpu: readiness matters then, and only then */
    int64_t target;  /* percent of the request for a utilization, else milli-units; > 0 */
};

enum hpa_policy_kind { HPA_POLICY_PODS, HPA_POLICY_PERCENT };

struct hpa_policy {
    enum hpa_policy_kind kind;
    int32_t value;   /* > 0 */
    sim_time period; /* 1 to 1800 s */
};

/* Max takes the largest change, so on the way down the smallest limit. */
enum hpa_select { HPA_SELECT_UNSET, HPA_SELECT_MAX, HPA_SELECT_MIN, HPA_SELECT_DISABLED };

enum { HPA_POLICIES = 16, HPA_METRICS = 16 };

#define HPA_UNSET           INT64_MIN /* a time that is not there */
#define HPA_TOLERANCE_UNSET (-1.0)

struct hpa_rules {
    sim_time window;  /* stabilization, 0 to 3600 s; HPA_UNSET: the default */
    double tolerance; /* this direction's own (alpha in 1.33, on since 1.35), or HPA_TOLERANCE_UNSET: the
                         controller's */
    enum hpa_select select;
    size_t policy_count; /* 0: the default policies */
    struct hpa_policy policies[HPA_POLICIES];
};

enum hpa_direction { HPA_UP, HPA_DOWN };

/* Everything unset. */
void hpa_rules_init(struct hpa_rules *rules);
/*
 * Fills what is unset, field by field, as the API server does: a given field replaces the default whole.
 * Up: window 0, Max, {4 pods / 15 s, 100 % / 15 s}. Down: Max, {100 % / 15 s}; the window stays HPA_UNSET,
 * which means the controller's downscale stabilization.
 */
void hpa_rules_default(struct hpa_rules *rules, enum hpa_direction direction);

struct hpa_spec {
    int32_t min; /* < 0: unset, which is 1. 0 needs an object or external metric (the API server checks, not
                    we) */
    int32_t max; /* >= max(min, 1) */
    size_t metric_count;
    struct hpa_metric metrics[HPA_METRICS];
    bool behavior;             /* given, even if for one direction only */
    struct hpa_rules rules[2]; /* [HPA_UP], [HPA_DOWN]; read only with behavior */
};

/* min unset, max 1, no metrics, no behavior, rules unset. */
void hpa_spec_init(struct hpa_spec *spec);
/* The API server's defaults: no metrics listed means cpu utilization 80 %; with behavior both directions are
 * filled. */
void hpa_spec_default(struct hpa_spec *spec);

/* ---- what the controller sees ---- */

enum hpa_phase { HPA_PENDING, HPA_RUNNING, HPA_SUCCEEDED, HPA_FAILED };

#define HPA_NO_REQUEST ((int64_t)-1)

struct hpa_pod {
    sim_time start;            /* status.startTime; HPA_UNSET: none yet */
    sim_time ready_transition; /* last change of the Ready condition; HPA_UNSET: no such condition */
    int64_t request_milli;     /* of the metric's resource, see hpa_pod_request; HPA_NO_REQUEST: none */
    enum hpa_phase phase;
    bool deleted; /* has a deletion timestamp */
    bool ready;
};

struct hpa_sample {
    int64_t value_milli;
    sim_time timestamp; /* end of the window that was measured */
    sim_time window;    /* custom metrics without one: 60 s */
    bool present;
};

enum hpa_metric_error {
    HPA_METRIC_OK,
    HPA_METRIC_FETCH_FAILED,  /* the metrics API gave an error */
    HPA_METRIC_NO_SAMPLES,    /* it gave nothing */
    HPA_METRIC_NO_PODS,       /* no pod matches the selector */
    HPA_METRIC_ALL_DISCARDED, /* samples, but none of a pod that counts */
    HPA_METRIC_NO_REQUEST,    /* a pod lacks the request that utilization is measured by */
    HPA_METRIC_NO_MATCH,      /* samples of unknown pods only */
    HPA_METRIC_INVALID        /* source or target that the controller does not know */
};
const char *hpa_metric_error_text(enum hpa_metric_error error);

/* One metric's values at this moment; all arrays are the caller's. */
struct hpa_reading {
    enum hpa_metric_error error; /* HPA_METRIC_OK, or why the source gave nothing */
    /* Resource, ContainerResource, Pods: one sample per pod in the order of the pods, present or not. NULL:
     * none at all. */
    const struct hpa_sample *samples;
    /* Samples of pods that are not among the pods (they count in averages, not in utilizations). */
    const int64_t *stray_milli;
    size_t stray_count;
    /* The pods as this metric sees them (a container's request instead of the pod's). NULL: those of the
     * view. */
    const struct hpa_pod *pods;
    size_t pod_count;
    /* Object: one value. External: any number, summed and capped at INT64_MAX. None: no samples. */
    const int64_t *values_milli;
    size_t value_count;
};

struct hpa_view {
    sim_time now;
    int32_t spec_replicas;   /* asked for: the controller's "current" */
    int32_t status_replicas; /* what the workload reports */
    const struct hpa_pod *pods;
    size_t pod_count;
    const struct hpa_reading *readings; /* one per metric of the spec, in its order */
};

/* ---- pods and metrics to a proposal ---- */

enum hpa_group { HPA_GROUP_COUNTS, HPA_GROUP_UNREADY, HPA_GROUP_MISSING, HPA_GROUP_IGNORED };

/*
 * Which group a pod is in, first rule that fits: deleted or ended: ignored. Pending: unready. No sample (NULL
 * or not present): missing. Only for cpu: unready without Ready condition or start time; while start +
 * cpu_initialization > now, if not Ready or its sample began before it last became Ready; later, if not Ready
 * and it never was. Else it counts.
 */
enum hpa_group hpa_pod_group(const struct hpa_controller *controller, bool cpu, sim_time now,
                             const struct hpa_pod *pod, const struct hpa_sample *sample);

struct hpa_container {
    const char *name;
    int64_t request_milli; /* or HPA_NO_REQUEST */
    bool init;             /* an init container: counts only if it restarts always (a sidecar) */
    bool restart_always;
};

/*
 * A pod's request for a resource. With a container named (not NULL or ""), that container's alone; else the
 * pod-level one if set (HPA_NO_REQUEST: not set); else the sum over containers and restartable init
 * containers. HPA_NO_REQUEST if one that is needed is missing or the container is unknown.
 */
int64_t hpa_pod_request(const struct hpa_container *containers, size_t count, int64_t pod_level_milli,
                        const char *container);

struct hpa_proposal {
    enum hpa_metric_error error;
    int32_t replicas;    /* 0 on an error */
    int32_t utilization; /* percent, for a utilization target */
    int64_t usage_milli; /* average over pods, or the value (a Value target), before filling in */
    double ratio;        /* usage over target before filling in; 0 on an error */
    int32_t counted;     /* pods in each group, for metrics of pods */
    int32_t unready;
    int32_t missing;
    int32_t ignored;
};

/*
 * One metric's proposal. current: spec replicas; status: status replicas (read by average targets of object
 * and external metrics).
 *
 * Over pods: r = usage / target from the samples that count. Within tolerance gives current, else ceil(r *
 * pods that count), so pods that do not count vanish from the result. If pods lack samples, or unready ones
 * exist and r > 1, these are filled in against the direction of travel and the ratio is taken again: missing
 * ones use all of the target when r < 1 (the request, for utilizations), and nothing when r > 1; unready ones
 * nothing when r > 1. Never across 1, never against the direction. Object and external: Value multiplies
 * Running and Ready pods; AverageValue is ceil(value / target), against status replicas.
 */
void hpa_propose(const struct hpa_controller *controller, const struct hpa_tolerance *tolerance,
                 const struct hpa_metric *metric, const struct hpa_view *view,
                 const struct hpa_reading *reading, struct hpa_proposal *proposal);

/* ---- memory and conditions ---- */

/* The controller's own reason names, see hpa_reason_text. */
enum hpa_reason {
    HPA_REASON_NONE, /* the condition was never written */
    HPA_SUCCEEDED_GET_SCALE,
    HPA_READY_FOR_NEW_SCALE,
    HPA_SCALE_UP_STABILIZED,
    HPA_SCALE_DOWN_STABILIZED,
    HPA_SUCCEEDED_RESCALE,
    HPA_DESIRED_WITHIN_RANGE,
    HPA_SCALE_UP_LIMIT,
    HPA_SCALE_DOWN_LIMIT,
    HPA_TOO_MANY_REPLICAS,
    HPA_TOO_FEW_REPLICAS,
    HPA_VALID_METRIC_FOUND,
    HPA_SCALING_DISABLED,
    HPA_FAILED_GET_RESOURCE_METRIC,
    HPA_FAILED_GET_CONTAINER_RESOURCE_METRIC,
    HPA_FAILED_GET_PODS_METRIC,
    HPA_FAILED_GET_OBJECT_METRIC,
    HPA_FAILED_GET_EXTERNAL_METRIC,
    HPA_INVALID_METRIC_SOURCE_TYPE,
    HPA_SCALED_TO_ZERO,
    HPA_NOT_SCALED_TO_ZERO
};
/* "ReadyForNewScale"; "" for HPA_REASON_NONE. Never NULL. */
const char *hpa_reason_text(enum hpa_reason reason);

struct hpa_condition {
    enum hpa_reason reason;
    bool status;
};

/* Kept in the object's status: survive a restart of the controller, and keep their value on reconciles that
 * do not write them. */
struct hpa_conditions {
    struct hpa_condition able_to_scale;
    struct hpa_condition scaling_active;
    struct hpa_condition scaling_limited;
    struct hpa_condition scaled_to_zero; /* HPA_ZERO_CONDITION only */
};

struct hpa_recommendation {
    sim_time time;
    int32_t replicas;
};

struct hpa_event {
    sim_time time;
    int32_t change; /* size, >= 0 */
    bool outdated;  /* its slot may be reused */
};

struct hpa_recommendations {
    struct hpa_recommendation *items;
    size_t count, capacity;
    bool known; /* this autoscaler was seen since the controller started */
};

struct hpa_events {
    struct hpa_event *items;
    size_t count, capacity;
};

/* Lists reuse outdated slots, so they stay about as long as window / sync period; they grow by doubling and
 * never shrink. */
struct hpa_state {
    struct hpa_recommendations recommendations;
    struct hpa_events events[2]; /* [HPA_UP], [HPA_DOWN] */
    struct hpa_conditions conditions;
};

/* Empty memory. Cannot fail: memory comes with the first entry. */
void hpa_state_init(struct hpa_state *state);
void hpa_state_free(struct hpa_state *state);
/* The controller restarted: recommendations and events are lost, conditions stay. */
void hpa_state_restart(struct hpa_state *state);
/* Entries as they are, for tests and for starting in the middle of things. Errors: memory. */
int hpa_recommendations_add(struct hpa_recommendations *list, sim_time time, int32_t replicas,
                            struct error *err);
int hpa_events_add(struct hpa_events *list, sim_time time, int32_t change, struct error *err);

/* ---- the pieces of the normalization, each on its own ---- */

/* Without behavior: the largest of the proposal and all recommendations with time >= now - downscale
 * stabilization. Then records the proposal over the last older entry, else appends it. Errors: memory. */
int hpa_stabilize_plain(const struct hpa_controller *controller, struct hpa_recommendations *list,
                        sim_time now, int32_t proposal, int32_t *stabilized, struct error *err);

/* Without behavior: result within [min, min(max, max(factor * current, minimum))]. */
int32_t hpa_limit_plain(const struct hpa_controller *controller, int32_t current, int32_t desired,
                        int32_t min, int32_t max, enum hpa_reason *reason);

/*
 * With behavior: clamps *current* into [smallest, largest] of the proposal and the recommendations with time
 * > now - window of up and down respectively, so with two windows it may stay put although proposals moved.
 * Records the proposal over the last entry older than both windows, else appends it. Errors: memory.
 */
int hpa_stabilize(struct hpa_recommendations *list, sim_time up_window, sim_time down_window, sim_time now,
                  int32_t current, int32_t proposal, int32_t *stabilized, struct error *err);

/* Sum of changes with time > now - period. */
int32_t hpa_events_change(const struct hpa_events *list, sim_time now, sim_time period);

/*
 * With behavior: bounds desired in its direction from current. rules and events: two each, [HPA_UP] and
 * [HPA_DOWN]. Each policy allows from start = current - ups
 * + downs of its period: Pods start +- value; Percent ceil(start * (1 + value/100)) up, trunc(start * (1 -
 * value/100)) down. desired = current is never limited.
 */
int32_t hpa_limit(const struct hpa_rules *rules, const struct hpa_events *events, sim_time now,
                  int32_t current, int32_t desired, int32_t min, int32_t max, enum hpa_reason *reason);

/* Remembers the change from -> to (which differ) in its direction's list: marks entries older than that
 * direction's longest period, overwrites the last marked one, else appends. rules: that direction's. Errors:
 * memory. */
int hpa_store_event(const struct hpa_rules *rules, struct hpa_events *list, sim_time now, int32_t from,
                    int32_t to, struct error *err);

/* ---- the whole reconcile ---- */

/* Which way the reconcile went. */
enum hpa_path {
    HPA_PATH_DISABLED,  /* 0 replicas and the zero rule says no */
    HPA_PATH_ABOVE_MAX, /* jumped to max, past metrics, windows and policies */
    HPA_PATH_BELOW_MIN,
    HPA_PATH_FAILED, /* no metric worked, or one failed and the others wanted fewer: nothing done or recorded
                      */
    HPA_PATH_METRICS
};

struct hpa_decision {
    int32_t current;
    int32_t replicas;   /* spec.replicas afterwards */
    int32_t proposal;   /* raw, largest of the working metrics; -1 where metrics were not asked or failed */
    int32_t stabilized; /* after the windows; -1 likewise */
    int winner;         /* index of the metric that proposed it, -1 for none */
    int first_failed;   /* index of the first metric that failed, -1 for none */
    enum hpa_path path;
    bool rescaled;
    bool failed; /* the reconcile reports an error: some metric failed, even if it scaled */
    struct hpa_conditions conditions;
};

/*
 * One reconcile. proposals: spec->metric_count entries of the caller's, filled on HPA_PATH_FAILED and
 * HPA_PATH_METRICS. The caller applies decision->replicas. Takes O(pods * metrics + memory), allocates only
 * when the memory grows. Returns 0, or -1 when out of memory.
 */
int hpa_reconcile(const struct hpa_controller *controller, const struct hpa_spec *spec,
                  struct hpa_state *state, const struct hpa_view *view, struct hpa_proposal *proposals,
                  struct hpa_decision *decision, struct error *err);

#endif
