#include "sim/run/world_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/*
 * A replica's way: schedule, node, pull, load, init, probe, endpoint, ready, draining, ended. Each stage
 * begins where the one before it ended; the time in each is recorded. Pool members stop at their depth until
 * they are activated.
 */

static uint32_t replica_slot(struct world *w, struct service_run *s)
{
    uint32_t index = w->free_replicas[s->index];

    if (index != UINT32_MAX) {
        w->free_replicas[s->index] = w->replicas[index].next_free;
        return index;
    }
    if (w->replica_count == w->replica_size) {
        uint32_t size = w->replica_size ? 2 * w->replica_size : 64;
        uint32_t slots = w->fixed_slots + 2 * size;
        struct replica *replicas = realloc(w->replicas, size * sizeof *replicas);
        struct actor *actors;

        if (!replicas)
            goto memory;
        w->replicas = replicas;
        actors = realloc(w->actors, slots * sizeof *actors);
        if (!actors)
            goto memory;
        w->actors = actors;
        if (timeline_grow(&w->timeline, slots, w->err) < 0)
            goto memory;
        w->replica_size = size;
    }
    index = w->replica_count++;
    w->replicas[index] = (struct replica){.service = s->index, .state = REPLICA_ENDED, .transfer = -1};
    w->actors[world_slot_server(w, index)] = (struct actor){ACTOR_SERVER, s->index, index};
    w->actors[world_slot_stage(w, index)] = (struct actor){ACTOR_STAGE, s->index, index};
    w->replicas[index].server = s->config->serve.type->create(s->config->serve.config, w->err);
    if (!w->replicas[index].server) {
        world_fail(w);
        return UINT32_MAX;
    }
    for (int32_t m = 0; m < s->pipeline_count; m++)
        if (pipeline_reserve(&s->pipelines[m], w->replica_count, w->err) < 0) {
            world_fail(w);
            return UINT32_MAX;
        }
    return index;
memory:
    error_memory(w->err, "world");
    world_fail(w);
    return UINT32_MAX;
}

static void fleet_add(struct world *w, struct service_run *s, uint32_t index)
{
    if (s->fleet_count == s->fleet_size) {
        int32_t size = s->fleet_size ? 2 * s->fleet_size : 64;
        uint32_t *fleet = realloc(s->fleet, (size_t)size * sizeof *fleet);

        if (!fleet) {
            error_memory(w->err, "world");
            world_fail(w);
            return;
        }
        s->fleet = fleet;
        s->fleet_size = size;
    }
    s->fleet[s->fleet_count++] = index;
}

static void fleet_remove(struct service_run *s, uint32_t index)
{
    int32_t i = 0;

    while (s->fleet[i] != index)
        i++;
    for (; i + 1 < s->fleet_count; i++) /* keeps the order of asking */
        s->fleet[i] = s->fleet[i + 1];
    s->fleet_count--;
}

/* Counts: members are counted together (and as PREPARED once they are at depth), the others by their state.
 */
static void count_state(struct world *w, struct service_run *s, const struct replica *r, int32_t change)
{
    if (!r->member || r->state == REPLICA_PREPARED || r->state == REPLICA_DRAINING)
        measure_state(w, s, r->state, change);
}

static void enter(struct world *w, uint32_t index, enum replica_state state)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    count_state(w, s, r, -1);
    r->state = state;
    r->entered = w->now;
    count_state(w, s, r, 1);
}

static void stage_over(struct world *w, struct replica *r)
{
    sim_time spent = w->now - r->entered;

    assert(replica_is_starting(r));
    r->stage[r->state] = spent;
    world_emit(w, EVENT_STAGE_ENDED, &w->services[r->service], r, (int32_t)r->state, spent);
}

static void timer(struct world *w, uint32_t index, sim_time time)
{
    world_schedule(w, world_slot_stage(w, index), time, RANK_REPLICA);
}

/* ---- the stages: each begin_ enters its stage and arranges for its end ---- */

static void begin_ready(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    enter(w, index, REPLICA_READY);
    r->ready = w->now;
    measure_use(w, r, GPU_IDLE);
    histogram_record(&s->scale_outs, w->now - r->asked);
    if (r->asked >= w->warmup && !w->measuring_over)
        histogram_record(&s->out->scale_out, w->now - r->asked);
    world_emit(w, EVENT_REPLICA_READY, s, r, 0, w->now - r->asked);
    replica_route(w, index);
}

static void begin_endpoint(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];

    r->ready_changed = w->now;
    enter(w, index, (enum replica_state)START_ENDPOINT);
    timer(w, index, w->now + r->draws.endpoint);
}

static void prepared(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    r->prepared = w->now;
    enter(w, index, REPLICA_PREPARED);
    world_emit(w, EVENT_REPLICA_PREPARED, s, r, 0, w->now - r->asked);
}

/* The depth of the pool is reached after this stage. */
static bool pool_stop_after(enum pool_depth depth, enum start_stage stage)
{
    switch (depth) {
    case POOL_NODE:
        return stage == START_NODE;
    case POOL_IMAGE:
        return stage == START_PULL;
    case POOL_HOT:
        return stage == START_PROBE;
    default:
        return false;
    }
}

static bool stops_here(struct world *w, const struct replica *r, enum start_stage after)
{
    return r->member && pool_stop_after(w->services[r->service].depth, after);
}

static void begin_probe(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    const struct start_config *start = &w->services[r->service].config->start;

    enter(w, index, (enum replica_state)START_PROBE);
    r->listening = w->now;
    timer(w, index, start_probe_ready(start, r->container_start, r->listening));
}

static void begin_init(struct world *w, uint32_t index)
{
    enter(w, index, (enum replica_state)START_INIT);
    timer(w, index, w->now + w->replicas[index].draws.init);
}

static uint64_t *weights_of(struct world *w, const struct replica *r)
{
    return cluster_node_weights(w->cluster, r->node);
}

static int nic_of(struct world *w, const struct replica *r)
{
    int *link = cluster_node_link(w->cluster, r->node);

    if (*link < 0) {
        double rate = w->scenario->cluster.pools[cluster_node_pool(w->cluster, r->node)].nic_bytes_per_s;

        *link = network_add_link(w->network, rate, w->err);
        if (*link < 0)
            world_fail(w);
    }
    return *link;
}

static void transfer(struct world *w, uint32_t index, int link, int64_t bytes)
{
    struct replica *r = &w->replicas[index];
    int links[2] = {link, nic_of(w, r)};

    if (w->failed)
        return;
    r->transfer = network_start(w->network, w->now, bytes, links, 2, INFINITY, index, w->err);
    if (r->transfer < 0)
        world_fail(w);
    else
        world_schedule(w, SLOT_NETWORK, network_next(w->network), RANK_NETWORK);
}

static void begin_load(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    const struct start_config *start = &w->services[r->service].config->start;

    enter(w, index, (enum replica_state)START_LOAD);
    r->container_start = r->ready_changed = w->now;
    if (r->draws.weight_bytes == 0) {
        timer(w, index, w->now);
    } else if (start->weights_from_host && (*weights_of(w, r) >> (r->service & 63) & 1)) {
        double seconds = (double)r->draws.weight_bytes / start->host_bytes_per_s;

        timer(w, index, w->now + (sim_time)ceil(seconds * 1e9));
    } else {
        transfer(w, index, w->store_link, r->draws.weight_bytes);
    }
}

static void begin_pull(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    enter(w, index, (enum replica_state)START_PULL);
    r->follower = r->extracting = false;
    if (r->draws.image_bytes == 0 || (*cluster_node_images(w->cluster, r->node) >> (r->service & 63) & 1)) {
        timer(w, index, w->now);
        return;
    }
    /* The container runtime fetches an image once a node, whoever else asks for it meanwhile waits. */
    for (int32_t i = 0; i < s->fleet_count; i++) {
        const struct replica *other = &w->replicas[s->fleet[i]];

        if (other != r && other->node == r->node && (int)other->state == START_PULL && !other->follower &&
            (other->transfer >= 0 || other->extracting)) {
            r->follower = true;
            return;
        }
    }
    transfer(w, index, w->registry_link, r->draws.image_bytes);
}

void replica_transferred(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    const struct start_config *start = &w->services[r->service].config->start;

    r->transfer = -1;
    if ((int)r->state == START_PULL) {
        double disk = w->scenario->cluster.pools[cluster_node_pool(w->cluster, r->node)].disk_bytes_per_s;

        r->extracting = true;
        timer(w, index, w->now + start_extract_time(start, r->draws.image_bytes, disk));
    } else {
        timer(w, index, w->now);
    }
}

static void pull_over(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    if (r->extracting) {
        *cluster_node_images(w->cluster, r->node) |= (uint64_t)1 << (r->service & 63);
        r->extracting = false;
        for (int32_t i = 0; i < s->fleet_count; i++) {
            struct replica *other = &w->replicas[s->fleet[i]];

            if (other->follower && other->node == r->node && (int)other->state == START_PULL) {
                other->follower = false;
                timer(w, s->fleet[i], w->now);
            }
        }
    }
}

/* The leader of a shared pull was removed: the first follower takes over from the beginning. */
static void pull_abandoned(struct world *w, struct service_run *s, int32_t node)
{
    bool led = false;

    for (int32_t i = 0; i < s->fleet_count; i++) {
        struct replica *other = &w->replicas[s->fleet[i]];

        if (other->follower && other->node == node && (int)other->state == START_PULL && !led) {
            led = true;
            other->follower = false;
            transfer(w, s->fleet[i], w->registry_link, other->draws.image_bytes);
        }
    }
}

void replica_stage_due(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    if (r->state == REPLICA_DRAINING) { /* grace period over */
        replica_drop_requests(w, index);
        replica_end(w, index);
        return;
    }
    stage_over(w, r);
    switch ((enum start_stage)r->state) {
    case START_SCHEDULE:
        enter(w, index, (enum replica_state)START_NODE);
        if (cluster_request(w->cluster, w->now, index, s->config->start.gpus, s->config->priority, w->err) <
            0)
            world_fail(w);
        else
            cluster_poll(w);
        break;
    case START_NODE: /* never by a timer: the cluster binds */
        assert(false);
        break;
    case START_PULL:
        pull_over(w, index);
        if (stops_here(w, r, START_PULL))
            prepared(w, index);
        else
            begin_load(w, index);
        break;
    case START_LOAD:
        if (r->draws.weight_bytes > 0)
            *weights_of(w, r) |= (uint64_t)1 << (r->service & 63);
        begin_init(w, index);
        break;
    case START_INIT:
        begin_probe(w, index);
        break;
    case START_PROBE:
        if (stops_here(w, r, START_PROBE))
            prepared(w, index);
        else
            begin_endpoint(w, index);
        break;
    case START_ENDPOINT:
        begin_ready(w, index);
        break;
    case START_STAGES:
        assert(false);
        break;
    }
}

void replica_bound(struct world *w, uint32_t index, int32_t node)
{
    struct replica *r = &w->replicas[index];

    r->node = node;
    r->bound = true;
    measure_use(w, r, r->member ? GPU_WARM : GPU_STARTING);
    stage_over(w, r);
    if (stops_here(w, r, START_NODE))
        prepared(w, index);
    else
        begin_pull(w, index);
}

static void tell_node(struct world *w, int32_t node, enum world_event_kind kind, sim_time since)
{
    struct world_event event = {.at = w->now,
                                .kind = kind,
                                .service = -1,
                                .replica = -1,
                                .node = node,
                                .stage = -1,
                                .duration = since};

    w->options->observe(w->options->observer, &event);
}

/* Tells the observer what became of the nodes since it was told last; without one, nobody counts. */
static void nodes_tell(struct world *w)
{
    int32_t count = cluster_node_count(w->cluster);

    if (!w->options->observe)
        return;
    if (count > w->nodes_told_count) {
        uint8_t *told = realloc(w->nodes_told, (size_t)count);

        if (!told) {
            error_memory(w->err, "world");
            world_fail(w);
            return;
        }
        for (int32_t i = w->nodes_told_count; i < count; i++)
            told[i] = 0;
        w->nodes_told = told;
        w->nodes_told_count = count;
    }
    for (int32_t i = 0; i < count; i++) {
        struct node_record record;

        if (w->nodes_told[i] == 3)
            continue;
        cluster_node_record(w->cluster, i, w->now, &record);
        if (record.initial && w->nodes_told[i] == 0)
            w->nodes_told[i] = 2; /* it was there before the run */
        if (w->nodes_told[i] == 0) {
            w->nodes_told[i] = 1;
            tell_node(w, i, EVENT_NODE_LAUNCHED, 0);
        }
        if (w->nodes_told[i] == 1 && record.allocatable <= w->now) {
            w->nodes_told[i] = 2;
            tell_node(w, i, EVENT_NODE_ALLOCATABLE, w->now - record.launched);
        }
        if (record.terminated <= w->now) {
            w->nodes_told[i] = 3;
            tell_node(w, i, EVENT_NODE_TERMINATED, w->now - record.launched);
        }
    }
}

void cluster_poll(struct world *w)
{
    uint32_t owner;
    int32_t node;

    nodes_tell(w);
    while (!w->failed && cluster_bound(w->cluster, &owner, &node))
        replica_bound(w, owner, node);
    world_schedule(w, SLOT_CLUSTER, cluster_next(w->cluster), RANK_CLUSTER);
}

void network_poll(struct world *w)
{
    uint64_t owner;

    while (!w->failed && network_advance(w->network, w->now, &owner))
        replica_transferred(w, (uint32_t)owner);
    world_schedule(w, SLOT_NETWORK, network_next(w->network), RANK_NETWORK);
}

static uint32_t create(struct world *w, struct service_run *s, enum replica_origin origin, bool member)
{
    uint32_t index = replica_slot(w, s);
    struct replica *r;
    struct server *server;

    if (index == UINT32_MAX)
        return index;
    r = &w->replicas[index];
    server = r->server;
    *r = (struct replica){
        .server = server,
        .service = s->index,
        .ordinal = s->ordinals++,
        .state = (enum replica_state)START_SCHEDULE,
        .member = member,
        .node = -1,
        .transfer = -1,
        .asked = w->now,
        .prepared = SIM_NEVER,
        .ready = SIM_NEVER,
        .draining = SIM_NEVER,
        .entered = w->now,
        .container_start = SIM_NEVER,
        .listening = SIM_NEVER,
        .ready_changed = w->now,
        .origin = origin,
        .use = GPU_USES,
    };
    for (int i = 0; i < START_STAGES; i++)
        r->stage[i] = -1;
    server->type->reset(server, w->now);
    for (int32_t m = 0; m < s->pipeline_count; m++)
        pipeline_reset(&s->pipelines[m], index);
    start_draw(&s->config->start, &s->start_stream, r->ordinal, &r->draws);
    fleet_add(w, s, index);
    if (member)
        s->members++;
    return w->failed ? UINT32_MAX : index;
}

uint32_t replica_create(struct world *w, struct service_run *s, enum replica_origin origin, bool member)
{
    uint32_t index = create(w, s, origin, member);

    if (index == UINT32_MAX)
        return index;
    count_state(w, s, &w->replicas[index], 1);
    if (w->now >= w->warmup && !w->measuring_over && !member)
        s->out->cold_starts++;
    world_emit(w, EVENT_REPLICA_ASKED, s, &w->replicas[index], 0, 0);
    timer(w, index, w->now + w->replicas[index].draws.schedule);
    return index;
}

uint32_t replica_create_ready(struct world *w, struct service_run *s, bool on_cluster)
{
    uint32_t index = create(w, s, ORIGIN_INITIAL, false), owner;
    struct replica *r;
    int32_t node;

    if (index == UINT32_MAX)
        return index;
    r = &w->replicas[index];
    if (on_cluster) {
        if (cluster_request(w->cluster, w->now, index, s->config->start.gpus, s->config->priority, w->err) <
            0) {
            world_fail(w);
            return UINT32_MAX;
        }
        if (!cluster_bound(w->cluster, &owner, &node) || owner != index) {
            error_set(w->err, ERROR_INPUT, s->config->name,
                      "the cluster has no room for the initial replicas: raise the node pools' max or lower "
                      "\"initial\"");
            world_fail(w);
            return UINT32_MAX;
        }
        r->node = node;
        r->bound = true;
        *cluster_node_images(w->cluster, node) |= (uint64_t)1 << (s->index & 63);
        *cluster_node_weights(w->cluster, node) |= (uint64_t)1 << (s->index & 63);
    }
    r->state = REPLICA_READY;
    r->ready = r->container_start = r->listening = w->now;
    count_state(w, s, r, 1);
    measure_use(w, r, GPU_IDLE);
    replica_route(w, index);
    return index;
}

void replica_activate(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    assert(r->member && r->state == REPLICA_PREPARED);
    measure_state(w, s, REPLICA_PREPARED, -1);
    r->member = false;
    s->members--;
    r->origin = ORIGIN_POOL;
    r->asked = r->entered = w->now;
    for (int i = 0; i < START_STAGES; i++)
        r->stage[i] = -1; /* what it did before it was wanted is not scale-out time */
    /* The state that it is put into only for the counts: begin_ moves it on at once. */
    r->state = (enum replica_state)START_ENDPOINT;
    count_state(w, s, r, 1);
    measure_use(w, r, GPU_STARTING);
    world_emit(w, EVENT_REPLICA_ASKED, s, r, 0, 0);
    switch (s->depth) {
    case POOL_NODE:
        begin_pull(w, index);
        break;
    case POOL_IMAGE:
        begin_load(w, index);
        break;
    default:
        begin_endpoint(w, index);
        break;
    }
}

void replica_drain(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    if (r->state != REPLICA_READY) {
        replica_end(w, index);
        return;
    }
    replica_unroute(w, index);
    enter(w, index, REPLICA_DRAINING);
    r->draining = w->now;
    measure_use(w, r, GPU_DRAINING);
    world_emit(w, EVENT_REPLICA_DRAINING, s, r, 0, 0);
    if (r->server->running + r->server->waiting == 0)
        replica_end(w, index);
    else
        timer(w, index, w->now + s->config->start.grace);
}

static void record(struct world *w, const struct replica *r)
{
    struct replica_record record = {
        .service = r->service,
        .ordinal = r->ordinal,
        .node = r->node,
        .origin = r->origin,
        .asked = r->asked,
        .prepared = r->prepared,
        .ready = r->ready,
        .draining = r->draining,
        .ended = r->state == REPLICA_ENDED ? w->now : SIM_NEVER,
        .served = r->served,
    };

    for (int i = 0; i < START_STAGES; i++)
        record.stage[i] = r->stage[i];
    if (w->out->replicas && spool_append(w->out->replicas, &record, w->err) < 0)
        world_fail(w);
}

void replica_end(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];
    bool led = r->transfer >= 0 && (int)r->state == START_PULL;
    int32_t node = r->node;

    led = led || r->extracting;
    replica_unroute(w, index);
    if (r->transfer >= 0) {
        network_cancel(w->network, w->now, r->transfer);
        world_schedule(w, SLOT_NETWORK, network_next(w->network), RANK_NETWORK);
        r->transfer = -1;
    }
    count_state(w, s, r, -1);
    if (r->member)
        s->members--;
    measure_use(w, r, GPU_USES);
    r->state = REPLICA_ENDED;
    world_schedule(w, world_slot_stage(w, index), SIM_NEVER, RANK_REPLICA);
    world_schedule(w, world_slot_server(w, index), SIM_NEVER, RANK_SERVER_END);
    world_emit(w, EVENT_REPLICA_ENDED, s, r, 0, 0);
    record(w, r);
    fleet_remove(s, index);
    r->bound = false;
    if (led)
        pull_abandoned(w, s, node);
    r->next_free = w->free_replicas[s->index];
    w->free_replicas[s->index] = index;
    if (w->cluster) {
        cluster_release(w->cluster, w->now, index);
        cluster_poll(w);
    }
}

/* Those that live at the end of the run. */
void replicas_record_living(struct world *w)
{
    for (int32_t i = 0; i < w->service_count; i++)
        for (int32_t k = 0; k < w->services[i].fleet_count && !w->failed; k++)
            record(w, &w->replicas[w->services[i].fleet[k]]);
}
