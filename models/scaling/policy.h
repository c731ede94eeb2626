#ifndef MODELS_SCALING_POLICY_H
#define MODELS_SCALING_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/random.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * A policy decides how many replicas a service should have. It sees only what a real controller would see: metrics that
 * were scraped, windowed and delayed, the pods' phases, and the past. One `const struct policy_type` a policy, at the foot of its
 * own file (policy_hpa.c, ...), and one row in policy_registry.c.
 */

/* ---- metrics ---- */
enum metric_kind {
    METRIC_CONCURRENCY,     /* per pod: requests running and waiting in it */
    METRIC_QUEUE_DEPTH,     /* per pod: requests waiting in it; with a central queue: one external value */
    METRIC_RPS,             /* per pod: requests finished per second over the window */
    METRIC_UTILIZATION,     /* per pod: running / capacity, 0..1 (slots in use, sequences in the batch) */
    METRIC_GPU_UTILIZATION, /* per pod: share of the window in which anything ran: the duty cycle, which saturates */
    METRIC_CPU,             /* per pod: base + share per running request: the naive baseline */
    METRIC_KV_USAGE,        /* per pod: share of the KV cache in use */
    METRIC_LATENCY,         /* external: a quantile of the latency of what finished in the window, in seconds */
    METRIC_KINDS
};
const char *metric_name(enum metric_kind kind); /* "queue_depth" as scenarios write it */

/* A metric as a policy asks for it. */
struct metric_config {
    enum metric_kind kind;
    sim_time interval; /* scrape */
    sim_time window;   /* average (or rate) over so much of the past; 0: the newest sample */
    sim_time delay;    /* between a scrape and its being visible (adapter, query, remote write) */
    double quantile;   /* METRIC_LATENCY */
    double cpu_base, cpu_per_request; /* METRIC_CPU: cores of the request used when idle, and by each running request */
};

/* Reads the pipeline keys ("interval", "window", "delay", "quantile", "cpu") of an already opened map into config, whose kind is set. */
bool metric_config_parse(struct map *map, struct metric_config *config);

enum pod_phase { POD_PENDING, POD_RUNNING, POD_TERMINATING };

/* One pod of the service as the API server shows it. Pool members are not among them. */
struct pod_view {
    uint32_t ordinal;
    enum pod_phase phase;    /* Pending through schedule, node and pull; Running from load on */
    bool ready;
    sim_time created;
    sim_time started;        /* container start; SIM_NEVER while Pending */
    sim_time ready_changed;  /* last transition of the Ready condition; creation if it never changed */
};

/* What one metric says at a decision. */
struct metric_reading {
    const double *pod;       /* value of pod i of the view, NAN where it has no sample; NULL for external metrics */
    double external;         /* the value of an external metric, NAN if none */
    sim_time newest;         /* time of the newest sample used; SIM_NEVER: none */
    sim_time sample_window;  /* as the controller is told */
    double truth;            /* true value now: mean over ready pods, or the external value; for the record only, never for the decision */
    double seen;             /* mean over the pods with a sample, or the external value */
};

/* ---- what the policy sees ---- */
struct policy_view {
    sim_time now;
    int32_t desired;   /* spec.replicas: what was asked for last */
    int32_t replicas;  /* status.replicas: pods that exist and are not terminating */
    int32_t ready;
    const struct pod_view *pods;
    int32_t pod_count;
    const struct metric_reading *readings; /* one for each metric that the policy asked for */
    double observed_rate;     /* arrivals per second over the last 30 s, as the router counts them */
    double scale_out_p90_s;   /* P90 of this run's scale-out times so far; before the first the sum of the configured medians */
    int32_t pool_prepared;    /* warm-pool members at their depth */
    int32_t pool_members;     /* all members, being prepared too */
};

/* Depth of a pool member: what it holds (design 5.6). */
enum pool_depth { POOL_STOPPED, POOL_NODE, POOL_IMAGE, POOL_HOST_MEMORY, POOL_ASLEEP, POOL_HOT, POOL_DEPTHS };
const char *pool_depth_name(enum pool_depth depth);

struct policy_decision {
    int32_t desired;     /* replicas wanted; -1: leave as it is */
    int32_t pool;        /* pool members wanted, -1: the policy has no pool */
    /* why, for people */
    int32_t proposal;    /* raw */
    int32_t metric;      /* index of the metric that won, -1: none */
    double seen;         /* what it acted on where that is no metric (a forecast, requests/s); NAN: none */
    const char *reason;  /* static text: the controller's own reason name */
    const char *limit;   /* static text; "" nothing limited it */
    bool recorded;       /* worth a row although nothing changes (an error, a limit that bites) */
};

/* ---- what a policy may know beyond the view ---- */
struct policy_env {
    /* Least n with lambda*(n) >= rate (requests/s); the same function for every policy and for the shortage. */
    int32_t (*need)(void *self, double rate);
    void *need_self;
    /* Traffic before t = 0 (requests/s at t < 0), and true rates for the oracle alone. */
    double (*rate)(void *self, sim_time t);
    void *rate_self;
    sim_time history;      /* how far back rate is known to everybody */
    sim_time duration;
    int32_t initial;       /* replicas at t = 0 */
    int32_t max_replicas;  /* what the cluster can hold */
};

/* What a policy's parser may look at beyond its own map. */
struct policy_context {
    const struct node *strategies; /* the scenario's list: a "base" may name another strategy; NULL in tests */
    int32_t depth;                 /* how many bases deep we are: a base that names itself ends in an error */
};

struct policy; /* a running policy; each file defines its own */

struct policy_type {
    const char *name;
    const char *help;
    /* Reads the value of {"<name>": {...}}. Config is immutable, shared by threads. Errors: input. */
    int (*parse)(const struct node *node, const struct policy_context *context, void **config, struct error *err);
    void (*config_free)(void *config);
    /* Which metrics it wants; borrowed from the config. */
    const struct metric_config *(*metrics)(const void *config, int32_t *count);
    /* Time between decisions (controllers run at a fixed period from a phase drawn per replication); SIM_NEVER: only at t = 0. */
    sim_time (*period)(const void *config);
    /* Does it need env.need? (then the capacity function is computed before the runs) */
    bool (*needs_capacity)(const void *config);
    /* Largest number of replicas it may ask for; for scratch sizes and the limit blame. */
    int32_t (*max)(const void *config);
    /* The pool's depth; POOL_DEPTHS if it has none. */
    enum pool_depth (*depth)(const void *config);
    int (*create)(const void *config, const struct policy_env *env, struct policy **out, struct error *err);
    void (*destroy)(struct policy *policy);
    /* One decision. Never fails: trouble is a reason. */
    void (*decide)(struct policy *policy, const struct policy_view *view, struct policy_decision *decision);
};

/* All policies, NULL-terminated. */
const struct policy_type *const *policy_types(void);

struct policy_setup {
    const struct policy_type *type;
    void *config;
};
/* Reads the one policy key of a strategy's map (or of a "base"); `map` is open and stays so. Errors: none or several keys. */
int policy_setup_parse(struct map *map, const struct policy_context *context, struct policy_setup *setup);
/* Reads a "base": a policy map, or the name of another strategy of the scenario. Errors: input. */
int policy_base_parse(struct map *map, const char *key, const struct policy_context *context, struct policy_setup *setup);
void policy_setup_free(struct policy_setup *setup);

#endif
