#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster_internal.h"

/*
 * The cluster at t = 0. Initial replicas are placed here, in the order in which they will ask, so that what
 * fits when the nodes are counted also fits when they ask.
 */

/* Places them on the nodes there are; may_launch: and on new ones. Where each goes into node[]. 1: done, 0:
 * one found no room, its number in *stuck, -1: memory. */
static int place_all(struct cluster *cluster, bool may_launch, int32_t *nodes, int32_t *stuck,
                     struct error *err)
{
    for (int32_t i = 0; i < cluster->living_count; i++)
        cluster->nodes[i].bound = 0;
    for (int32_t i = 0; i < cluster->plan.count; i++) {
        int32_t gpus = cluster->plan.gpus[i];
        int32_t node = cluster_pick(cluster, gpus);

        if (node < 0 && may_launch && cluster_pool_for(cluster, gpus) >= 0) {
            node = cluster_launch(cluster, 0, cluster_pool_for(cluster, gpus), true, err);
            if (node < 0)
                return -1;
        }
        *stuck = i;
        if (node < 0)
            return 0;
        cluster->nodes[node].bound += gpus;
        nodes[i] = node;
    }
    return 1;
}

static int plan(struct cluster *cluster, const int32_t *initial_gpus, int32_t count, struct error *err)
{
    size_t size = (size_t)(count > 0 ? count : 1) * sizeof *initial_gpus;
    int32_t *again = malloc(size);
    int32_t stuck = 0;
    int placed = -1;

    cluster->plan.node = malloc(size);
    cluster->plan.gpus = malloc(size);
    if (!again || !cluster->plan.node || !cluster->plan.gpus) {
        error_memory(err, "cluster");
        goto out;
    }
    if (count > 0)
        memcpy(cluster->plan.gpus, initial_gpus, (size_t)count * sizeof *initial_gpus);
    cluster->plan.count = count;
    placed = place_all(cluster, true, cluster->plan.node, &stuck, err);
    if (placed == 0)
        error_set(err, ERROR_INPUT, "cluster",
                  "the initial replicas do not fit: number %d of %d wants %d GPUs of one node, and no pool "
                  "has room for "
                  "another such node; raise a pool's \"max\" or lower \"initial\"",
                  (int)stuck + 1, (int)count, (int)initial_gpus[stuck]);
    /* Now that all nodes are there, spreading can use them all from the first replica on. */
    if (placed == 1 && cluster->config->spread && place_all(cluster, false, again, &stuck, err) == 1)
        memcpy(cluster->plan.node, again, (size_t)count * sizeof *again);
    for (int32_t i = 0; i < cluster->living_count; i++)
        cluster->nodes[i].bound = 0;
out:
    free(again);
    return placed == 1 ? 0 : -1;
}

int cluster_create(const struct cluster_config *config, uint64_t key, const int32_t *initial_gpus,
                   int32_t initial_count, struct cluster **out, struct error *err)
{
    struct cluster *cluster = calloc(1, sizeof *cluster);

    *out = NULL;
    if (!cluster)
        return error_memory(err, "cluster");
    cluster->config = config;
    cluster->pending = cluster->untold = (struct pod_list){POD_NOBODY, POD_NOBODY};
    cluster->last_scan = -1;
    cluster->held = calloc((size_t)config->pool_count, sizeof *cluster->held);
    if (!cluster->held) {
        error_memory(err, "cluster");
        goto failed;
    }
    if (stream_open(&cluster->stream, key, err) < 0)
        goto failed;
    stream_rekey(&cluster->stream, UINT64_MAX); /* no node has that number */
    cluster->phase = (sim_time)(stream_uniform(&cluster->stream) * (double)config->scan_interval);
    for (int32_t pool = 0; pool < config->pool_count; pool++)
        for (int32_t i = 0; i < config->pools[pool].min; i++)
            if (cluster_launch(cluster, 0, pool, true, err) < 0)
                goto failed;
    if (plan(cluster, initial_gpus, initial_count, err) < 0)
        goto failed;
    cluster_reschedule(cluster, 0);
    *out = cluster;
    return 0;
failed:
    cluster_free(cluster);
    return -1;
}

void cluster_free(struct cluster *cluster)
{
    if (!cluster)
        return;
    stream_close(&cluster->stream);
    free(cluster->nodes);
    free(cluster->living);
    free(cluster->held);
    free(cluster->pods);
    free(cluster->plan.node);
    free(cluster->plan.gpus);
    free(cluster);
}
