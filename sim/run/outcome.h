#ifndef SIM_RUN_OUTCOME_H
#define SIM_RUN_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "models/replica/start.h"
#include "sim/engine/histogram.h"
#include "sim/engine/sim_time.h"
#include "sim/io/spool.h"

/*
 * What one run (one strategy, one replication) leaves behind: counts, histograms, integrals, and, where asked
 * for, spooled records of fixed size. Plain data: the world fills it, sim/run/summary.c reads it. Everything
 * is over the measured window [warmup, duration) of intended arrivals unless it says otherwise.
 */

/* Why a replica that demand needed was not ready (design 5.7). The start stages come first, with their own
 * numbers. */
enum shortage_cause {
    SHORTAGE_SCHEDULE = START_SCHEDULE,
    SHORTAGE_NODE = START_NODE,
    SHORTAGE_PULL = START_PULL,
    SHORTAGE_LOAD = START_LOAD,
    SHORTAGE_INIT = START_INIT,
    SHORTAGE_PROBE = START_PROBE,
    SHORTAGE_ENDPOINT = START_ENDPOINT,
    SHORTAGE_POLICY,  /* nobody asked for it */
    SHORTAGE_METRICS, /* the same policy with true, undelayed values would have asked for it */
    SHORTAGE_LIMIT,   /* max, quota or stock-out bound */
    SHORTAGE_RECLAIM, /* its GPU is being taken back from batch work */
    SHORTAGE_FAILURE, /* lost */
    SHORTAGE_CAUSES
};
const char *shortage_cause_name(enum shortage_cause cause);

/* What billed GPU-time was spent on (design 5.8); they add up to what was billed. */
enum gpu_use {
    GPU_BUSY,
    GPU_IDLE,
    GPU_STARTING,
    GPU_WARM,
    GPU_BACKFILL,
    GPU_DRAINING,
    GPU_STRANDED,
    GPU_USES
};
const char *gpu_use_name(enum gpu_use use);

/* States of a replica that the series counts: the start stages, then these. */
enum replica_state {
    REPLICA_READY = START_STAGES,
    REPLICA_DRAINING,
    REPLICA_PREPARED, /* a pool member at its depth */
    REPLICA_ENDED,
    REPLICA_STATES
};
const char *replica_state_name(enum replica_state state);

/* One bucket of one service: a row of timeseries.csv. Averages over the bucket where not said otherwise. */
struct series_record {
    sim_time start;
    int64_t arrivals, completed, rejected, timed_out; /* in the bucket, by when it happened */
    int64_t p50_ns, p99_ns; /* latency of what was *offered* in the bucket's own arrivals is not known yet: of
                               what ended in it; -1: nothing ended, INT64_MAX: beyond */
    float queue;            /* mean waiting requests, central and per replica */
    float running;
    float replicas[REPLICA_ENDED]; /* mean replicas by state */
    float desired;                 /* mean of what the policy wants */
    float need; /* mean of need(t): least replicas that meet the SLO at the true rate; NaN if unknown */
    float capacity_per_s; /* mean of lambda*(ready): the rate that the ready ones carry within the SLO; NaN if
                             unknown */
    float offered_per_s;  /* arrivals / bucket */
    float cost_per_hour; /* price rate of the nodes held, NaN without prices (service's share by bound GPUs is
                            not made here: whole cluster) */
};

/* One decision of a policy: a row of decisions.csv. */
struct decision_record {
    sim_time at;
    int32_t service;
    int32_t from, to;   /* desired before and after */
    int32_t proposal;   /* raw, before stabilization and limits */
    int32_t ready;      /* replicas ready at that time */
    int32_t metric;     /* index into the policy's metrics, -1: none */
    double seen, truth; /* value that the policy saw, value at that very moment; NaN: none */
    sim_time age;       /* of the newest sample in `seen` */
    char reason[40];    /* the controller's own reason name: "ReadyForNewScale", "ScaleDownStabilized", ... */
    char limit[40];     /* what limited it: "ScaleUpLimit", "TooManyReplicas", ...; "" nothing */
};

/* One replica: a row of replicas.csv. SIM_NEVER where it never got so far. */
enum replica_origin { ORIGIN_INITIAL, ORIGIN_COLD, ORIGIN_POOL };
struct replica_record {
    int32_t service;
    uint32_t ordinal; /* from 0 in the order in which the service's replicas were asked for */
    int32_t node;
    enum replica_origin origin;
    sim_time asked;               /* when the policy wanted it (activation of a pool member) */
    sim_time prepared;            /* pool members: when it reached its depth; else SIM_NEVER */
    sim_time stage[START_STAGES]; /* ns spent in each stage, after `asked` only; -1: not passed */
    sim_time ready;               /* requests can come */
    sim_time draining, ended;
    int64_t served;
};

/* What the batch work of one run did with the GPUs that were lent to it, over the cost window. GPU-seconds of
 * useful work add up with the lost and the overhead to gpu_seconds[GPU_BACKFILL]. */
struct outcome_batch {
    bool offered;          /* the strategy has batch work at all */
    double useful_gpu_s;   /* committed by a checkpoint or by the job's end, counted once: what is credited */
    double lost_gpu_s;     /* done since the last checkpoint and lost with the GPU */
    double open_gpu_s;     /* done and not yet committed when the window closed */
    double overhead_gpu_s; /* restarting, writing checkpoints, being taken back */
    int64_t completed, started;  /* jobs that ended; pieces of jobs that got GPUs */
    int64_t reclaims, evictions; /* pieces that a replica took the GPUs from; that went with their node */
    int64_t late;                /* jobs that ended after their deadline */
};

enum { OUTCOME_BOUNDS = 16 }; /* as many as a scenario's SLO_BOUNDS */

struct outcome_service {
    /* logical requests whose intended arrival was measured; conserved: offered = completed + rejected +
     * timed_out + failed + in_flight */
    int64_t offered, completed, rejected, timed_out, failed, in_flight;
    int64_t retries, fallback;
    int64_t offered_work_seconds;  /* sum of nominal demand, rounded */
    int64_t tokens_in, tokens_out; /* of completed requests */

    /* latency of completed requests from intended arrival; everything not completed is recorded as infinite
     * in these two */
    struct histogram latency_peak,
        latency_off; /* by intended arrival in or out of the peak windows; whole = both added */
    struct histogram ttft, tpot, wait; /* completed requests that have them; wait = started - intended */

    int64_t good;              /* offered requests that met every latency bound of the SLO */
    int64_t violation_windows; /* 60 s arrival windows with more than 1 % bad requests */
    int64_t windows;           /* 60 s arrival windows with any request */

    double replicas_mean;
    int64_t replicas_min, replicas_max; /* ready */
    int64_t cold_starts;                /* replicas that were asked for and not initial */
    struct histogram scale_out;         /* ns from asked to ready, of replicas asked for in the window */
    double shortage_replica_s[SHORTAGE_CAUSES];
    double shortage_total_replica_s; /* NaN if need is unknown */

    /* Of the offered requests of the peak windows, how many missed the SLO's i-th latency bound; whatever did
     * not complete missed all. Exact counts, so that "met" does not hang on a histogram's bucket and says the
     * same for ttft, tpot and wait as for latency. */
    int64_t bound_missed_peak[OUTCOME_BOUNDS];
    int32_t bounds; /* bounds counted: the SLO's count */

    /* Of the offered requests, those that missed a bound of the SLO and arrived while a replica was missing
     * because its GPU was being taken back from batch work. */
    int64_t reclaim_misses;

    /* The service's share of the cost window's bill: each node type's money by bound GPU-seconds
     * (design 5.8); what no service had bound is outcome.unallocated_micro. */
    int64_t cost_micro;
    double bound_gpu_s;
};

struct outcome {
    struct outcome_service *services; /* owned */
    int32_t service_count;
    sim_time end;                 /* when the run ended: duration .. duration + cooldown */
    double gpu_seconds[GPU_USES]; /* whole cluster, over the cost window */
    double gpu_seconds_billed;
    bool priced;
    int64_t gross_micro, credit_micro; /* money in millionths of the currency, over the cost window */
    int64_t unallocated_micro; /* gross = sum of the services' cost_micro + this: idle GPUs, stranded, batch
                                  work */
    struct outcome_batch batch;
    int64_t events; /* events that the engine ran, for progress and benches */

    /* only if the run was asked to keep them; else NULL. Fixed-size records, in the order of time. Each spool
     * is on the heap and owned */
    struct spool **series;   /* one a service: struct series_record */
    struct spool *decisions; /* struct decision_record */
    struct spool
        *replicas; /* struct replica_record, in the order of their end (the living ones last, by ordinal) */
};

int outcome_init(struct outcome *outcome, int32_t services, struct error *err);
void outcome_free(struct outcome *outcome);

#endif
