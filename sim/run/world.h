#ifndef SIM_RUN_WORLD_H
#define SIM_RUN_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/run/capacity.h"
#include "sim/run/outcome.h"
#include "sim/run/scenario.h"

/*
 * One run: the world that wires traffic, routing, replicas, cluster and policy of one strategy together and
 * drives them through simulated time. world_run does it all; the parts live in world_*.c beside this file,
 * over the struct in world_internal.h.
 *
 * What happens at one and the same nanosecond happens in the order of these ranks (then of the actors'
 * slots):
 */
enum world_rank {
    RANK_SERVER_END = SERVER_END, /* service ends: a slot that becomes free at t serves who arrives at t */
    RANK_NETWORK = 2,             /* transfers end */
    RANK_CLUSTER = 3,             /* nodes come, go; pods are bound */
    RANK_REPLICA = 4,             /* a replica's stage ends */
    RANK_TIMEOUT = 6,             /* a client gives up (not if its answer came at the same time) */
    RANK_ARRIVAL = 8,
    RANK_SERVER_START = SERVER_START, /* a batch's next step begins: with whoever arrived by then */
    RANK_SCRAPE = 20,
    RANK_POLICY = 21, /* sees what was scraped at the same time, if its pipeline has no delay */
    RANK_MEASURE = 24,
    RANK_END = 31
};

/* What happened, for `peaksim run` and the event log. Fixed size, no pointers that outlive the call. */
enum world_event_kind {
    EVENT_DECISION,      /* decision */
    EVENT_REPLICA_ASKED, /* replica */
    EVENT_STAGE_ENDED,   /* replica, stage, duration */
    EVENT_REPLICA_READY,
    EVENT_REPLICA_PREPARED,
    EVENT_REPLICA_DRAINING,
    EVENT_REPLICA_ENDED,
    EVENT_NODE_LAUNCHED,
    EVENT_NODE_ALLOCATABLE,
    EVENT_NODE_TERMINATED
};
struct world_event {
    sim_time at;
    enum world_event_kind kind;
    int32_t service;
    int64_t replica; /* ordinal, -1 */
    int32_t node;    /* -1 */
    int32_t stage;   /* enum start_stage of EVENT_STAGE_ENDED */
    sim_time duration;
    const struct decision_record *decision; /* EVENT_DECISION */
};

struct world_options {
    bool keep;         /* the series into the outcome's spools */
    bool keep_records; /* decisions and replicas too (with keep) */
    /* Called for each event, in order; NULL: nobody listens. */
    void (*observe)(void *to, const struct world_event *event);
    void *observer;
    /* Called for each logical request when it is over; for per-request validation. NULL: nobody. state: enum
     * job_state. */
    void (*request)(void *to, const struct job *job);
    void *request_to;
    /* A stationary probe: exactly this many replicas, ready from t = 0 on, no policy, no cluster, only
     * service 0. 0: no probe. */
    int32_t probe_replicas;
    /* Use this traffic instead of the scenario's for service 0; NULL: the scenario's. */
    const struct traffic *traffic;
    /* Horizon instead of the scenario's, with a probe or a traffic of its own; 0: the scenario's. */
    sim_time duration, warmup;
    /* Polled now and then; true stops the run with ERROR_INTERRUPTED. NULL: never. */
    bool (*interrupted)(void *to);
    void *interrupted_to;
};

enum job_state {
    JOB_FREE,
    JOB_CENTRAL,
    JOB_SERVER,
    JOB_ABANDONED,
    JOB_COMPLETED,
    JOB_REJECTED,
    JOB_TIMED_OUT,
    JOB_FAILED,
    JOB_OPEN
};

/*
 * Runs strategy `strategy` in replication `replication`. outcome is initialised here and owned by the caller
 * (free it even on errors). capacities has one table a service (or is NULL: need is then unknown, and
 * policies that ask for it are an error). Every run ends with the checks of conservation (requests, Little's
 * identity, GPU time); a violation is ERROR_INTERNAL.
 */
int world_run(const struct scenario *scenario, int32_t strategy, int32_t replication,
              const struct capacity *capacities, const struct world_options *options, struct outcome *outcome,
              struct error *err);

#endif
