#include <assert.h>
#include <stdlib.h>

#include "models/cluster/cluster_internal.h"

/* ---- lists of pods ---- */

/* Puts the pod behind another one (POD_NOBODY: first). */
static void list_insert(struct cluster *cluster, struct pod_list *list, uint32_t owner, uint32_t before)
{
    struct pod *pod = &cluster->pods[owner];
    uint32_t next = before == POD_NOBODY ? list->first : cluster->pods[before].next;

    pod->before = before;
    pod->next = next;
    if (before == POD_NOBODY)
        list->first = owner;
    else
        cluster->pods[before].next = owner;
    if (next == POD_NOBODY)
        list->last = owner;
    else
        cluster->pods[next].before = owner;
}

static void list_remove(struct cluster *cluster, struct pod_list *list, uint32_t owner)
{
    const struct pod *pod = &cluster->pods[owner];

    if (pod->before == POD_NOBODY)
        list->first = pod->next;
    else
        cluster->pods[pod->before].next = pod->next;
    if (pod->next == POD_NOBODY)
        list->last = pod->before;
    else
        cluster->pods[pod->next].before = pod->before;
}

/* ---- binding ---- */

void cluster_account(struct cluster_node *node, sim_time now)
{
    node->bound_ns += node->bound * (now - node->since);
    node->since = now;
}

/* Packing takes the node with the least room that suffices (NodeResourcesFit, MostAllocated), spreading the
 * one with the most (LeastAllocated); of equals the one launched first. */
int32_t cluster_pick(const struct cluster *cluster, int32_t gpus)
{
    int32_t best = -1, best_room = 0;

    for (int32_t i = 0; i < cluster->living_count; i++) {
        const struct cluster_node *node = &cluster->nodes[cluster->living[i]];
        int32_t room = node->gpus - node->bound;

        if (node->state != NODE_UP || room < gpus)
            continue;
        if (best < 0 || (cluster->config->spread ? room > best_room : room < best_room)) {
            best = cluster->living[i];
            best_room = room;
        }
    }
    return best;
}

static void bind(struct cluster *cluster, sim_time now, uint32_t owner, int32_t number)
{
    struct cluster_node *node = &cluster->nodes[number];
    struct pod *pod = &cluster->pods[owner];

    assert(node->state == NODE_UP && node->gpus - node->bound >= pod->gpus);
    cluster_account(node, now);
    node->bound += pod->gpus;
    node->empty_since = SIM_NEVER;
    cluster->gpus_bound += pod->gpus;
    pod->state = POD_BOUND;
    pod->node = number;
    pod->untold = true;
    list_insert(cluster, &cluster->untold, owner, cluster->untold.last);
}

static void pending_remove(struct cluster *cluster, uint32_t owner)
{
    struct pod *pod = &cluster->pods[owner];

    list_remove(cluster, &cluster->pending, owner);
    cluster->pending_count--;
    cluster->limited_count -= pod->limited;
    pod->limited = false;
    /* A launching node that was meant for it may do for one that no pool has room for. */
    if (cluster->limited_count > 0 && cluster->launching > 0)
        cluster->scan_wanted = true;
}

void cluster_fill(struct cluster *cluster, sim_time now, int32_t number)
{
    uint32_t next;

    for (uint32_t owner = cluster->pending.first; owner != POD_NOBODY; owner = next) {
        const struct cluster_node *node = &cluster->nodes[number];
        int32_t room = node->gpus - node->bound;

        next = cluster->pods[owner].next;
        if (room == 0)
            break;
        if (cluster->pods[owner].gpus > room)
            continue;
        pending_remove(cluster, owner);
        bind(cluster, now, owner, number);
    }
}

static void pend(struct cluster *cluster, uint32_t owner)
{
    struct pod *pod = &cluster->pods[owner];
    uint32_t before = cluster->pending.last;

    while (before != POD_NOBODY && cluster->pods[before].priority < pod->priority)
        before = cluster->pods[before].before;
    pod->state = POD_PENDING;
    list_insert(cluster, &cluster->pending, owner, before);
    cluster->pending_count++;
    cluster->scan_wanted = true;
    /* Where nothing is on its way, that no pool has room is known without a scan. */
    pod->limited = cluster->launching == 0 && cluster_pool_for(cluster, pod->gpus) < 0;
    cluster->limited_count += pod->limited;
}

static int pods_reserve(struct cluster *cluster, uint32_t owner, struct error *err)
{
    uint32_t count = cluster->pod_count ? cluster->pod_count : 64;
    struct pod *pods;

    assert(owner < POD_NOBODY / 2);
    if (owner < cluster->pod_count)
        return 0;
    while (count <= owner)
        count *= 2;
    pods = realloc(cluster->pods, count * sizeof *pods);
    if (!pods)
        return error_memory(err, "cluster");
    for (uint32_t i = cluster->pod_count; i < count; i++)
        pods[i] = (struct pod){.state = POD_NONE};
    cluster->pods = pods;
    cluster->pod_count = count;
    return 0;
}

/* The initial replicas go where the plan of t = 0 has them; as soon as somebody else asks, it is void. */
static int32_t planned_node(struct cluster *cluster, sim_time now, int32_t gpus)
{
    if (cluster->plan.at < cluster->plan.count && now == 0 && cluster->plan.gpus[cluster->plan.at] == gpus)
        return cluster->plan.node[cluster->plan.at++];
    cluster->plan.at = cluster->plan.count;
    return -1;
}

int cluster_request(struct cluster *cluster, sim_time now, uint32_t owner, int32_t gpus, int32_t priority,
                    struct error *err)
{
    int32_t largest = 0, node;

    for (int32_t i = 0; i < cluster->config->pool_count; i++)
        if (cluster->config->pools[i].gpus > largest)
            largest = cluster->config->pools[i].gpus;
    if (gpus > largest)
        return error_set(err, ERROR_INPUT, "cluster", "a replica takes %d GPUs, and no node has more than %d",
                         (int)gpus, (int)largest);
    assert(gpus > 0);
    if (pods_reserve(cluster, owner, err) < 0)
        return -1;
    assert(cluster->pods[owner].state == POD_NONE);
    cluster->pods[owner] = (struct pod){.gpus = gpus, .priority = priority, .node = -1};
    node = planned_node(cluster, now, gpus);
    if (node < 0)
        node = cluster_pick(cluster, gpus);
    if (node >= 0)
        bind(cluster, now, owner, node);
    else
        pend(cluster, owner);
    cluster_reschedule(cluster, now);
    return 0;
}

void cluster_release(struct cluster *cluster, sim_time now, uint32_t owner)
{
    struct pod *pod;
    struct cluster_node *node;

    if (owner >= cluster->pod_count || cluster->pods[owner].state == POD_NONE)
        return;
    pod = &cluster->pods[owner];
    if (pod->state == POD_PENDING) {
        pending_remove(cluster, owner);
        pod->state = POD_NONE;
        cluster_reschedule(cluster, now);
        return;
    }
    if (pod->untold) /* bound and given back before anybody was told */
        list_remove(cluster, &cluster->untold, owner);
    pod->state = POD_NONE;
    node = &cluster->nodes[pod->node];
    cluster_account(node, now);
    node->bound -= pod->gpus;
    cluster->gpus_bound -= pod->gpus;
    if (node->bound == 0)
        node->empty_since = now;
    cluster_fill(cluster, now, pod->node);
    cluster_reschedule(cluster, now);
}

bool cluster_bound(struct cluster *cluster, uint32_t *owner, int32_t *node)
{
    uint32_t first = cluster->untold.first;

    if (first == POD_NOBODY)
        return false;
    list_remove(cluster, &cluster->untold, first);
    cluster->pods[first].untold = false;
    *owner = first;
    *node = cluster->pods[first].node;
    return true;
}

bool cluster_is_pending(const struct cluster *cluster, uint32_t owner)
{
    return owner < cluster->pod_count && cluster->pods[owner].state == POD_PENDING;
}

bool cluster_limited(const struct cluster *cluster, uint32_t owner)
{
    return cluster_is_pending(cluster, owner) && cluster->pods[owner].limited;
}

/* ---- facts and figures ---- */

int32_t cluster_node_pool(const struct cluster *cluster, int32_t node)
{
    return cluster->nodes[node].pool;
}

uint64_t *cluster_node_images(struct cluster *cluster, int32_t node)
{
    return &cluster->nodes[node].images;
}

uint64_t *cluster_node_weights(struct cluster *cluster, int32_t node)
{
    return &cluster->nodes[node].weights;
}

int *cluster_node_link(struct cluster *cluster, int32_t node)
{
    return &cluster->nodes[node].link;
}

void cluster_gauges(const struct cluster *cluster, struct cluster_gauges *gauges)
{
    *gauges = (struct cluster_gauges){
        .nodes_launching = cluster->launching,
        .nodes_ready = cluster->living_count - cluster->launching,
        .gpus_total = cluster->gpus_total,
        .gpus_allocatable = cluster->gpus_allocatable,
        .gpus_bound = cluster->gpus_bound,
        .pods_pending = cluster->pending_count,
    };
}

void cluster_pool_gauges(const struct cluster *cluster, int32_t pool, int32_t *nodes, int32_t *gpus_bound)
{
    *nodes = cluster->held[pool];
    *gpus_bound = 0;
    for (int32_t i = 0; i < cluster->living_count; i++) {
        const struct cluster_node *node = &cluster->nodes[cluster->living[i]];

        if (node->pool == pool)
            *gpus_bound += node->bound;
    }
}

int32_t cluster_node_count(const struct cluster *cluster)
{
    return cluster->node_count;
}

void cluster_node_record(const struct cluster *cluster, int32_t number, sim_time now,
                         struct node_record *record)
{
    const struct cluster_node *node = &cluster->nodes[number];

    *record = (struct node_record){
        .pool = node->pool,
        .initial = node->initial,
        .launched = node->launched,
        .ready = node->ready,
        .allocatable = node->allocatable,
        .terminated = node->terminated,
        .bound_gpu_ns = node->bound_ns + node->bound * (now - node->since),
    };
    record->marked_gpu_ns = record->bound_gpu_ns - node->marked_ns;
}

void cluster_mark(struct cluster *cluster, sim_time now)
{
    for (int32_t i = 0; i < cluster->node_count; i++) {
        cluster_account(&cluster->nodes[i], now);
        cluster->nodes[i].marked_ns = cluster->nodes[i].bound_ns;
    }
}
