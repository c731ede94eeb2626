#include <stdlib.h>

#include "models/cluster/cluster_internal.h"

/*
 * The node autoscaler, after Kubernetes' Cluster Autoscaler: it looks every scan_interval, up first, then
 * down. Scans in which there is nothing to do change nothing and are left out; those that happen are on the
 * grid phase + k * scan_interval.
 */

/* ---- nodes ---- */

int32_t cluster_pool_for(const struct cluster *cluster, int32_t gpus)
{
    for (int32_t pool = 0; pool < cluster->config->pool_count; pool++)
        if (cluster->config->pools[pool].gpus >= gpus &&
            cluster->held[pool] < cluster->config->pools[pool].max)
            return pool;
    return -1;
}

static int nodes_reserve(struct cluster *cluster, struct error *err)
{
    int32_t size = cluster->node_size ? 2 * cluster->node_size : 16;
    struct cluster_node *nodes;
    int32_t *living;

    if (cluster->node_count < cluster->node_size)
        return 0;
    nodes = realloc(cluster->nodes, (size_t)size * sizeof *nodes);
    if (!nodes)
        return error_memory(err, "cluster");
    cluster->nodes = nodes;
    living = realloc(cluster->living, (size_t)size * sizeof *living);
    if (!living)
        return error_memory(err, "cluster");
    cluster->living = living;
    cluster->node_size = size;
    return 0;
}

static sim_time draw(struct cluster *cluster, const struct distribution *distribution, int32_t node,
                     uint64_t which)
{
    stream_rekey(&cluster->stream, 2 * (uint64_t)node + which);
    return distribution_draw_time(distribution, cluster->stream.rng);
}

int32_t cluster_launch(struct cluster *cluster, sim_time now, int32_t pool, bool initial, struct error *err)
{
    const struct node_pool_config *config = &cluster->config->pools[pool];
    int32_t number = cluster->node_count;
    struct cluster_node *node;

    if (nodes_reserve(cluster, err) < 0)
        return -1;
    node = &cluster->nodes[number];
    *node = (struct cluster_node){
        .state = initial ? NODE_UP : NODE_LAUNCHING,
        .initial = initial,
        .pool = pool,
        .gpus = config->gpus,
        .planned = config->gpus,
        .launched = now,
        .ready = now,
        .allocatable = now,
        .terminated = SIM_NEVER,
        .empty_since = initial ? now : SIM_NEVER,
        .since = now,
        .link = -1,
    };
    if (!initial) {
        node->ready = now + draw(cluster, &config->provision, number, 0);
        node->allocatable = node->ready + draw(cluster, &config->gpu_ready, number, 1);
        cluster->launching++;
    } else {
        cluster->gpus_allocatable += config->gpus;
    }
    cluster->gpus_total += config->gpus;
    cluster->held[pool]++;
    cluster->living[cluster->living_count++] = number;
    cluster->node_count++;
    return number;
}

static void terminate(struct cluster *cluster, sim_time now, int32_t number)
{
    struct cluster_node *node = &cluster->nodes[number];
    int32_t i = 0;

    cluster_account(node, now);
    node->state = NODE_GONE;
    node->terminated = now;
    cluster->held[node->pool]--;
    cluster->gpus_total -= node->gpus;
    cluster->gpus_allocatable -= node->gpus;
    while (cluster->living[i] != number)
        i++;
    for (cluster->living_count--; i < cluster->living_count; i++)
        cluster->living[i] = cluster->living[i + 1];
    if (cluster->limited_count > 0) /* its pool has room again */
        cluster->scan_wanted = true;
}

/* Nodes whose GPUs are there now. */
static void arrivals(struct cluster *cluster, sim_time now)
{
    for (int32_t i = 0; i < cluster->living_count; i++) {
        struct cluster_node *node = &cluster->nodes[cluster->living[i]];

        if (node->state != NODE_LAUNCHING || node->allocatable > now)
            continue;
        node->state = NODE_UP;
        node->empty_since = now;
        cluster->launching--;
        cluster->gpus_allocatable += node->gpus;
        cluster_fill(cluster, now, cluster->living[i]);
    }
}

/* ---- a scan ---- */

/* A launching node, from *from in the list of the living on, with so many GPUs that are not planned for; -1:
 * none. *from moves past nodes that are planned for to the last GPU. */
static int32_t on_its_way(const struct cluster *cluster, int32_t gpus, int32_t *from)
{
    for (int32_t i = *from; i < cluster->living_count; i++) {
        const struct cluster_node *node = &cluster->nodes[cluster->living[i]];
        bool usable = node->state == NODE_LAUNCHING && node->planned > 0;

        if (usable && node->planned >= gpus)
            return cluster->living[i];
        if (!usable && i == *from)
            ++*from;
    }
    return -1;
}

/* Launches what the pending pods need beyond the nodes on their way, first fit. */
static int scale_up(struct cluster *cluster, sim_time now, struct error *err)
{
    int32_t from = 0;

    for (int32_t i = 0; i < cluster->living_count; i++)
        cluster->nodes[cluster->living[i]].planned = cluster->nodes[cluster->living[i]].gpus;
    cluster->limited_count = 0;
    for (uint32_t owner = cluster->pending.first; owner != POD_NOBODY; owner = cluster->pods[owner].next) {
        struct pod *pod = &cluster->pods[owner];
        int32_t node = on_its_way(cluster, pod->gpus, &from);

        if (node < 0 && cluster_pool_for(cluster, pod->gpus) >= 0) {
            node = cluster_launch(cluster, now, cluster_pool_for(cluster, pod->gpus), false, err);
            if (node < 0)
                return -1;
        }
        pod->limited = node < 0;
        cluster->limited_count += pod->limited;
        if (node >= 0)
            cluster->nodes[node].planned -= pod->gpus;
    }
    return 0;
}

/* The node of a pool that has been empty longest; -1: none. */
static int32_t longest_empty(const struct cluster *cluster, int32_t pool)
{
    int32_t longest = -1;

    for (int32_t i = 0; i < cluster->living_count; i++) {
        const struct cluster_node *node = &cluster->nodes[cluster->living[i]];

        if (node->pool == pool && node->empty_since != SIM_NEVER &&
            (longest < 0 || node->empty_since < cluster->nodes[longest].empty_since))
            longest = cluster->living[i];
    }
    return longest;
}

static void scale_down(struct cluster *cluster, sim_time now)
{
    for (int32_t pool = 0; pool < cluster->config->pool_count; pool++)
        while (cluster->held[pool] > cluster->config->pools[pool].min) {
            int32_t node = longest_empty(cluster, pool);

            if (node < 0 || cluster->nodes[node].empty_since > now - cluster->config->scale_down_delay)
                break;
            terminate(cluster, now, node);
        }
}

/* ---- what is due ---- */

/* First scan at or after a time, and after the last one. */
static sim_time scan_at(const struct cluster *cluster, sim_time time)
{
    sim_time interval = cluster->config->scan_interval, at = cluster->phase;

    if (time <= cluster->last_scan)
        time = cluster->last_scan + 1;
    if (time > at)
        at += (time - at + interval - 1) / interval * interval;
    return at;
}

void cluster_reschedule(struct cluster *cluster, sim_time now)
{
    cluster->next_arrival = cluster->next_scan = SIM_NEVER;
    if (cluster->launching > 0)
        for (int32_t i = 0; i < cluster->living_count; i++) {
            const struct cluster_node *node = &cluster->nodes[cluster->living[i]];

            if (node->state == NODE_LAUNCHING && node->allocatable < cluster->next_arrival)
                cluster->next_arrival = node->allocatable;
        }
    cluster->scan_wanted = cluster->scan_wanted && cluster->pending_count > 0;
    if (cluster->scan_wanted)
        cluster->next_scan = scan_at(cluster, now);
    for (int32_t pool = 0; pool < cluster->config->pool_count; pool++)
        if (cluster->held[pool] > cluster->config->pools[pool].min) {
            int32_t node = longest_empty(cluster, pool);
            sim_time due = node < 0 ? SIM_NEVER
                                    : cluster->nodes[node].empty_since + cluster->config->scale_down_delay;

            if (node >= 0 && scan_at(cluster, due) < cluster->next_scan)
                cluster->next_scan = scan_at(cluster, due);
        }
}

sim_time cluster_next(const struct cluster *cluster)
{
    return cluster->next_arrival < cluster->next_scan ? cluster->next_arrival : cluster->next_scan;
}

int cluster_advance(struct cluster *cluster, sim_time now, struct error *err)
{
    while (cluster_next(cluster) <= now) {
        arrivals(cluster, now);
        if (cluster->next_scan <= now) {
            cluster->last_scan = now;
            cluster->scan_wanted = false;
            if (scale_up(cluster, now, err) < 0)
                return -1;
            scale_down(cluster, now);
        }
        cluster_reschedule(cluster, now);
    }
    return 0;
}
