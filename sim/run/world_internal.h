#ifndef SIM_RUN_WORLD_INTERNAL_H
#define SIM_RUN_WORLD_INTERNAL_H

#include "models/cluster/network.h"
#include "models/scaling/pipeline.h"
#include "sim/engine/gauge.h"
#include "sim/engine/random.h"
#include "sim/engine/timeline.h"
#include "sim/run/world.h"

/*
 * The inside of a run, shared by the world_*.c files and nobody else:
 *
 *   world.c           the loop, actors and their slots, creation and the end
 *   world_requests.c  arrivals, routing, completions, clients
 *   world_replicas.c  a replica from asked to ended, stage by stage
 *   world_scaling.c   metric scrapes, policy decisions, what they do to the fleet and the pool
 *   world_measure.c   gauges, buckets, shortage, GPU time, the final checks
 */

/* A replica's slot in the world is recycled; its ordinal never is. */
struct replica {
    struct server *server; /* created with the slot's first use for its service, then recycled */
    int32_t service;
    uint32_t ordinal;
    enum replica_state state; /* REPLICA_ENDED: the slot is free */
    bool member;              /* belongs to the warm pool: invisible to the base policy */
    bool routed;              /* the balancer knows it */
    bool bound;               /* holds GPUs */
    bool extracting;          /* pull: transfer done, disk at work */
    bool follower;            /* pull: waits for the same image on its node */
    int32_t node;
    int32_t transfer; /* network transfer under way, -1 */
    sim_time asked, prepared, ready, draining;
    sim_time entered;         /* when the present state began */
    sim_time container_start; /* SIM_NEVER until the image is there */
    sim_time listening;       /* when the server answers probes */
    sim_time ready_changed;
    sim_time stage[START_STAGES];
    enum replica_origin origin;
    struct start_draws draws;
    int32_t seen_waiting, seen_running;
    enum gpu_use use; /* what its GPUs count as now; GPU_USES: nothing */
    int64_t served;
    uint32_t next_free;
};

struct service_run {
    const struct scenario_service *config;
    const struct capacity *capacity; /* NULL: need unknown */
    int32_t index;
    struct outcome_service *out;

    /* traffic */
    struct traffic_stream *arrivals;
    struct arrival next; /* the one that comes next */
    bool more;
    struct stream draw_stream; /* the service model's draws */
    uint64_t requests;
    int32_t peak_cursor;

    /* routing */
    struct balancer *balancer;
    struct job *central_first, *central_last;
    int64_t central_waiting;
    struct job *oldest, *newest; /* open deadlines */

    /* replicas */
    uint32_t *fleet; /* indices of all living replicas, in the order of asking */
    int32_t fleet_count, fleet_size;
    uint32_t ordinals;
    struct stream start_stream;
    int32_t counts[REPLICA_STATES]; /* replicas that are not pool members, by state; PREPARED counts members
                                       at depth */
    int32_t members;                /* pool members, at depth or not */
    int32_t desired;
    int32_t pool_target;
    enum pool_depth depth;

    /* scaling */
    const struct policy_setup *setup;
    struct policy *policy;
    sim_time policy_period;
    struct histogram
        scale_outs;             /* all so far, from asked to ready: what the policy may know of its own lag */
    struct pipeline *pipelines; /* one a metric */
    int32_t pipeline_count;
    struct pod_view *pods;
    uint32_t *pod_replicas;
    double *pod_values; /* pipeline_count x pods_size */
    struct metric_reading *readings;
    int32_t pods_size;

    /* measuring */
    struct gauge waiting;
    struct gauge running;
    struct gauge state_gauges[REPLICA_ENDED];
    struct gauge ready_whole;                               /* ready replicas over the measured window */
    struct gauge desired_gauge, need_gauge, capacity_gauge; /* the last in 1/1000 requests/s */
    int64_t bucket_arrivals, bucket_completed, bucket_rejected, bucket_timed_out;
    struct histogram bucket_latency;
    int64_t arrivals_total;
    int64_t second_counts[32]; /* arrivals_total at each of the last seconds */
    int64_t entered_jobs, left_jobs;
    __int128 sojourn_ns;  /* sum of the times inside of all attempts that left */
    struct gauge little;  /* attempts inside, never restarted: Little's identity */
    double observed_rate; /* requests/s over the last 30 s */
    int32_t need;
    int32_t limited; /* replicas that pend because every pool is full */
    sim_time shortage_since;
    uint32_t *minute_offered, *minute_bad; /* per 60 s of intended arrival, from warmup */
};

enum actor_kind {
    ACTOR_SERVER,
    ACTOR_STAGE,
    ACTOR_NETWORK,
    ACTOR_CLUSTER,
    ACTOR_TIMEOUT,
    ACTOR_SCRAPE,
    ACTOR_POLICY,
    ACTOR_WARMUP,
    ACTOR_BUCKET,
    ACTOR_SECOND,
    ACTOR_END
};

struct actor {
    enum actor_kind kind;
    int32_t service;
    uint32_t index; /* replica, or metric */
};

struct world {
    const struct scenario *scenario;
    const struct world_options *options;
    struct outcome *out;
    struct error *err;
    bool failed; /* err is filled: stop */

    sim_time now;
    sim_time warmup, duration, stop; /* stop: latest end */
    bool measuring_over;             /* duration has passed: the cost window is closed */
    int32_t strategy, replication;

    struct timeline timeline;
    struct actor *actors; /* by slot */
    uint32_t fixed_slots; /* slots before those of the replicas */

    struct service_run *services;
    int32_t service_count;

    struct replica *replicas;
    uint32_t replica_count, replica_size;
    uint32_t *free_replicas; /* first free slot per service: a slot keeps its service, because it keeps its
                                server */

    struct job *free_jobs;
    struct job **job_chunks;
    int32_t job_chunk_count;
    int64_t open_jobs; /* attempts inside the system */

    struct network *network;
    int registry_link, store_link;
    struct cluster *cluster;
    uint8_t *nodes_told; /* for the observer, a node: 1 launched, 2 allocatable, 3 terminated */
    int32_t nodes_told_count;

    struct gauge use_gauges[GPU_USES]; /* GPUs bound, by use */
    int64_t events;
    int64_t bound_before_ns; /* GPU-ns bound before the measured window */
};

/* slots */
enum { SLOT_NETWORK, SLOT_CLUSTER, SLOT_WARMUP, SLOT_BUCKET, SLOT_SECOND, SLOT_END, SLOT_FIRST_SERVICE };
uint32_t world_slot_timeout(const struct world *w, int32_t service);
uint32_t world_slot_policy(const struct world *w, int32_t service);
uint32_t world_slot_server(const struct world *w, uint32_t replica);
uint32_t world_slot_stage(const struct world *w, uint32_t replica);

/* Sets or cancels (SIM_NEVER) a slot. */
void world_schedule(struct world *w, uint32_t slot, sim_time time, uint32_t rank);
void world_fail(struct world *w); /* err has been filled */
void world_emit(struct world *w, enum world_event_kind kind, const struct service_run *s,
                const struct replica *r, int32_t stage, sim_time duration);

/* ---- world_requests.c ---- */
int requests_open(struct world *w, struct service_run *s);
void requests_close(struct world *w, struct service_run *s);
void request_arrive(struct world *w, struct service_run *s);
void server_advance(struct world *w, uint32_t replica);
void timeouts_run(struct world *w, struct service_run *s);
/* The replica takes requests from now on / takes no new ones any more. */
void replica_route(struct world *w, uint32_t replica);
void replica_unroute(struct world *w, uint32_t replica);
/* Everything in its server is lost: those requests fail. */
void replica_drop_requests(struct world *w, uint32_t replica);
/* At the very end: whoever is still inside. */
void requests_finish(struct world *w, struct service_run *s);

/* ---- world_replicas.c ---- */
/* A new replica, its index; UINT32_MAX on failure. */
uint32_t replica_create(struct world *w, struct service_run *s, enum replica_origin origin, bool member);
/* One that is ready at t = 0 on the cluster's initial nodes, or in a probe. */
uint32_t replica_create_ready(struct world *w, struct service_run *s, bool on_cluster);
void replica_stage_due(struct world *w, uint32_t replica);
void replica_bound(struct world *w, uint32_t replica, int32_t node);
void replica_transferred(struct world *w, uint32_t replica);
void replica_activate(struct world *w, uint32_t replica); /* a prepared pool member joins the fleet */
void replica_drain(struct world *w, uint32_t replica);    /* scale-in: ends now if it is not ready or empty */
void replica_end(struct world *w, uint32_t replica);
void cluster_poll(struct world *w); /* after any call that may have bound pods */
void network_poll(struct world *w);
void replicas_record_living(struct world *w);

/* ---- world_scaling.c ---- */
int scaling_open(struct world *w, struct service_run *s);
void scaling_close(struct world *w, struct service_run *s);
void scaling_scrape(struct world *w, struct service_run *s, uint32_t metric);
void scaling_decide(struct world *w, struct service_run *s);
void scaling_refill(struct world *w, struct service_run *s); /* pool members up or down to the target */
/* A latency that just ended, for METRIC_LATENCY. */
void scaling_saw_latency(struct service_run *s, sim_time latency);

/* ---- world_measure.c ---- */
int measure_open(struct world *w);
void measure_close(struct world *w);
void measure_warmup_over(struct world *w);
void measure_window_over(struct world *w); /* at duration */
void measure_bucket(struct world *w);
void measure_second(struct world *w);
/* Called before counts, need or desired of a service change, so that the integrals use the old values up to
 * now. */
void measure_settle(struct world *w, struct service_run *s);
void measure_state(struct world *w, struct service_run *s, enum replica_state state, int32_t change);
void measure_use(struct world *w, struct replica *r,
                 enum gpu_use use); /* what its GPUs count as from now on */
int measure_finish(struct world *w);

/* ---- world_cost.c ---- */
/* The bill over [warmup, now), now = duration; what is billed and not bound is stranded. */
void world_bill(struct world *w, double bound_gpu_seconds);
/* Price of the nodes held now, per hour; NAN without prices. */
double world_price_rate(const struct world *w);

static inline bool replica_is_starting(const struct replica *r)
{
    return (int)r->state < START_STAGES;
}

#endif
