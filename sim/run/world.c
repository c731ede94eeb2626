#include "sim/run/world_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- slots ---- */

enum { SLOTS_PER_SERVICE = 2 + 8 }; /* timeout, policy, and a scrape for each of at most 8 metrics */

uint32_t world_slot_timeout(const struct world *w, int32_t service)
{
    (void)w;
    return SLOT_FIRST_SERVICE + (uint32_t)service * SLOTS_PER_SERVICE;
}

uint32_t world_slot_policy(const struct world *w, int32_t service)
{
    return world_slot_timeout(w, service) + 1;
}

uint32_t world_slot_server(const struct world *w, uint32_t replica)
{
    return w->fixed_slots + 2 * replica;
}

uint32_t world_slot_stage(const struct world *w, uint32_t replica)
{
    return w->fixed_slots + 2 * replica + 1;
}

void world_schedule(struct world *w, uint32_t slot, sim_time time, uint32_t rank)
{
    if (time == SIM_NEVER)
        timeline_cancel(&w->timeline, slot);
    else
        timeline_set(&w->timeline, slot, time, rank);
}

void world_fail(struct world *w)
{
    w->failed = true;
}

void world_emit(struct world *w, enum world_event_kind kind, const struct service_run *s,
                const struct replica *r, int32_t stage, sim_time duration)
{
    struct world_event event;

    if (!w->options->observe)
        return;
    event = (struct world_event){
        .at = w->now,
        .kind = kind,
        .service = s ? s->index : -1,
        .replica = r ? (int64_t)r->ordinal : -1,
        .node = r ? r->node : -1,
        .stage = stage,
        .duration = duration,
    };
    w->options->observe(w->options->observer, &event);
}

/* ---- creation ---- */

static int slots_open(struct world *w)
{
    w->fixed_slots = SLOT_FIRST_SERVICE + (uint32_t)w->service_count * SLOTS_PER_SERVICE;
    w->actors = calloc(w->fixed_slots, sizeof *w->actors);
    w->free_replicas = malloc((size_t)w->service_count * sizeof *w->free_replicas);
    if (!w->actors || !w->free_replicas)
        return error_memory(w->err, "world");
    w->actors[SLOT_NETWORK].kind = ACTOR_NETWORK;
    w->actors[SLOT_CLUSTER].kind = ACTOR_CLUSTER;
    w->actors[SLOT_WARMUP].kind = ACTOR_WARMUP;
    w->actors[SLOT_BUCKET].kind = ACTOR_BUCKET;
    w->actors[SLOT_SECOND].kind = ACTOR_SECOND;
    w->actors[SLOT_END].kind = ACTOR_END;
    for (int32_t i = 0; i < w->service_count; i++) {
        w->free_replicas[i] = UINT32_MAX;
        w->actors[world_slot_timeout(w, i)] = (struct actor){ACTOR_TIMEOUT, i, 0};
        w->actors[world_slot_policy(w, i)] = (struct actor){ACTOR_POLICY, i, 0};
        for (uint32_t m = 0; m < SLOTS_PER_SERVICE - 2; m++)
            w->actors[world_slot_policy(w, i) + 1 + m] = (struct actor){ACTOR_SCRAPE, i, m};
    }
    return timeline_init(&w->timeline, w->fixed_slots, w->err);
}

static int cluster_open(struct world *w)
{
    const struct scenario *scenario = w->scenario;
    int32_t total = 0, k = 0;
    int32_t *gpus;
    int got;

    w->network = network_create(w->err);
    if (!w->network)
        return -1;
    w->registry_link = network_add_link(w->network, scenario->cluster.registry_bytes_per_s, w->err);
    w->store_link = network_add_link(w->network, scenario->cluster.store_bytes_per_s, w->err);
    if (w->registry_link < 0 || w->store_link < 0)
        return -1;
    for (int32_t i = 0; i < w->service_count; i++)
        total += scenario->services[i].initial;
    gpus = malloc((size_t)(total ? total : 1) * sizeof *gpus);
    if (!gpus)
        return error_memory(w->err, "world");
    for (int32_t i = 0; i < w->service_count; i++)
        for (int32_t n = 0; n < scenario->services[i].initial; n++)
            gpus[k++] = scenario->services[i].start.gpus;
    got = cluster_create(&scenario->cluster,
                         random_key(scenario->seed, "", "cluster", (uint64_t)w->replication), gpus, total,
                         &w->cluster, w->err);
    free(gpus);
    return got;
}

static int services_open(struct world *w, const struct capacity *capacities)
{
    w->services = calloc((size_t)w->service_count, sizeof *w->services);
    if (!w->services)
        return error_memory(w->err, "world");
    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];

        s->config = &w->scenario->services[i];
        s->index = i;
        s->out = &w->out->services[i];
        s->capacity = capacities && capacities[i].known ? &capacities[i] : NULL;
        if (stream_open(&s->start_stream,
                        random_key(w->scenario->seed, s->config->name, "start", (uint64_t)w->replication),
                        w->err) < 0)
            return -1;
    }
    if (measure_open(w) < 0)
        return -1;
    for (int32_t i = 0; i < w->service_count; i++)
        if (requests_open(w, &w->services[i]) < 0)
            return -1;
    return 0;
}

static int fleet_open(struct world *w)
{
    bool probe = w->options->probe_replicas > 0;

    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];
        int32_t replicas = probe ? w->options->probe_replicas : s->config->initial;

        if (!probe && scaling_open(w, s) < 0)
            return -1;
        for (int32_t k = 0; k < replicas; k++)
            if (replica_create_ready(w, s, !probe) == UINT32_MAX)
                return -1;
    }
    if (!probe)
        cluster_poll(w);
    return w->failed ? -1 : 0;
}

static void world_close(struct world *w)
{
    for (int32_t i = 0; w->services && i < w->service_count; i++) {
        struct service_run *s = &w->services[i];

        requests_close(w, s);
        scaling_close(w, s);
        stream_close(&s->start_stream);
        free(s->fleet);
    }
    measure_close(w);
    for (uint32_t i = 0; i < w->replica_count; i++)
        if (w->replicas[i].server)
            w->replicas[i].server->type->destroy(w->replicas[i].server);
    for (int32_t i = 0; i < w->job_chunk_count; i++)
        free(w->job_chunks[i]);
    free(w->job_chunks);
    free(w->replicas);
    free(w->free_replicas);
    free(w->nodes_told);
    free(w->actors);
    free(w->services);
    if (w->network)
        network_free(w->network);
    if (w->cluster)
        cluster_free(w->cluster);
    timeline_free(&w->timeline);
}

/* ---- the loop ---- */

static void dispatch(struct world *w, uint32_t slot)
{
    struct actor actor = w->actors[slot];

    switch (actor.kind) {
    case ACTOR_SERVER:
        server_advance(w, actor.index);
        break;
    case ACTOR_STAGE:
        timeline_cancel(&w->timeline, slot);
        replica_stage_due(w, actor.index);
        break;
    case ACTOR_NETWORK:
        network_poll(w);
        break;
    case ACTOR_CLUSTER:
        if (cluster_advance(w->cluster, w->now, w->err) < 0)
            world_fail(w);
        else
            cluster_poll(w);
        break;
    case ACTOR_TIMEOUT:
        timeouts_run(w, &w->services[actor.service]);
        break;
    case ACTOR_SCRAPE:
        scaling_scrape(w, &w->services[actor.service], actor.index);
        break;
    case ACTOR_POLICY:
        scaling_decide(w, &w->services[actor.service]);
        break;
    case ACTOR_WARMUP:
        timeline_cancel(&w->timeline, slot);
        measure_warmup_over(w);
        break;
    case ACTOR_BUCKET:
        measure_bucket(w);
        break;
    case ACTOR_SECOND:
        measure_second(w);
        break;
    case ACTOR_END: /* first at duration, then, if requests are still open, at the end of the cooldown */
        if (!w->measuring_over) {
            measure_window_over(w);
            world_schedule(w, slot, w->stop, RANK_END);
        } else {
            timeline_cancel(&w->timeline, slot);
        }
        break;
    }
}

/* The service whose arrival comes first (the earlier service at equal times); NULL: none any more. */
static struct service_run *next_arrival(struct world *w)
{
    struct service_run *first = NULL;

    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];

        if (s->more && (!first || s->next.at < first->next.at))
            first = s;
    }
    return first;
}

static int loop(struct world *w)
{
    struct service_run *arriving = next_arrival(w);

    while (!w->failed) {
        sim_time time = timeline_next_time(&w->timeline);

        if ((w->events++ & 0xffff) == 0 && w->options->interrupted &&
            w->options->interrupted(w->options->interrupted_to)) {
            error_set(w->err, ERROR_INTERRUPTED, w->scenario->name, "interrupted");
            return -1;
        }
        if (arriving && (arriving->next.at < time ||
                         (arriving->next.at == time && RANK_ARRIVAL < timeline_next_rank(&w->timeline)))) {
            w->now = arriving->next.at;
            request_arrive(w, arriving);
            if (w->service_count > 1 || !arriving->more)
                arriving = next_arrival(w);
            continue;
        }
        if (time == SIM_NEVER)
            break;
        if (w->measuring_over && (w->open_jobs == 0 || time > w->stop)) {
            if (time > w->stop)
                w->now = w->stop;
            break;
        }
        assert(time >= w->now);
        w->now = time;
        dispatch(w, timeline_next_slot(&w->timeline));
    }
    return w->failed ? -1 : 0;
}

int world_run(const struct scenario *scenario, int32_t strategy, int32_t replication,
              const struct capacity *capacities, const struct world_options *options, struct outcome *outcome,
              struct error *err)
{
    bool probe = options->probe_replicas > 0;
    struct world w = {
        .scenario = scenario,
        .options = options,
        .out = outcome,
        .err = err,
        .strategy = strategy,
        .replication = replication,
        .service_count = probe ? 1 : scenario->service_count,
        .duration = options->duration ? options->duration : scenario->duration,
        .warmup = options->duration ? options->warmup : scenario->warmup,
    };
    int result = -1;

    w.stop = w.duration + scenario->cooldown;
    if (outcome_init(outcome, w.service_count, err) < 0)
        return -1;
    if (slots_open(&w) < 0 || (!probe && cluster_open(&w) < 0) || services_open(&w, capacities) < 0 ||
        fleet_open(&w) < 0)
        goto out;
    world_schedule(&w, SLOT_WARMUP, w.warmup, RANK_MEASURE);
    world_schedule(&w, SLOT_END, w.duration, RANK_END);
    if (loop(&w) < 0)
        goto out;
    result = measure_finish(&w);
out:
    world_close(&w);
    return result;
}
