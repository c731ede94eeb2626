#include "sim/run/world_internal.h"

#include <math.h>
#include <stdlib.h>

/* What a run costs: the nodes that were held over the measured window, by the contract of their type. */

/* The nodes of one pool and the GPU-time bound on them since warmup. Returns how many. */
static int32_t pool_nodes(const struct world *w, int32_t pool, struct node_time *nodes,
                          __int128 *bound_gpu_ns)
{
    int32_t count = 0;

    *bound_gpu_ns = 0;
    for (int32_t i = 0; i < cluster_node_count(w->cluster); i++) {
        struct node_record record;

        if (cluster_node_pool(w->cluster, i) != pool)
            continue;
        cluster_node_record(w->cluster, i, w->now, &record);
        nodes[count++] = (struct node_time){.launched = record.launched, .terminated = record.terminated};
        *bound_gpu_ns += record.marked_gpu_ns;
    }
    return count;
}

static int bill_all(const struct world *w, double bound_gpu_seconds, struct node_time *nodes,
                    struct bill *bill)
{
    const struct cluster_config *config = &w->scenario->cluster;
    __int128 sum = 0;
    bool by_use = false;

    for (int32_t pool = 0; pool < config->pool_count; pool++) {
        __int128 bound;
        int32_t count = pool_nodes(w, pool, nodes, &bound);

        sum += bound;
        by_use = by_use || w->scenario->prices.types[pool].bound_only;
        if (price_bill(&w->scenario->prices, pool, nodes, count, w->warmup, w->now, config->pools[pool].gpus,
                       bound, bill, w->err) < 0)
            return -1;
    }
    /* GPU-time that is paid as it is used must be known by node type. */
    if (by_use && fabs((double)sum / 1e9 - bound_gpu_seconds) > 1e-6 * (1 + bound_gpu_seconds))
        return error_set(w->err, ERROR_INTERNAL, w->scenario->name,
                         "GPU time is not conserved: by replicas %.9f s, by node types %.9f s",
                         bound_gpu_seconds, (double)sum / 1e9);
    return 0;
}

void world_bill(struct world *w, double bound_gpu_seconds)
{
    int32_t count = cluster_node_count(w->cluster);
    struct node_time *nodes = malloc((size_t)(count > 0 ? count : 1) * sizeof *nodes);
    struct outcome *out = w->out;
    struct bill bill = {0};

    if (!nodes) {
        error_memory(w->err, "world");
        world_fail(w);
        return;
    }
    if (bill_all(w, bound_gpu_seconds, nodes, &bill) < 0) {
        world_fail(w);
    } else {
        out->priced = true;
        out->gross_micro = bill.micro;
        out->credit_micro = 0; /* nothing is lent, so nothing is earned */
        out->gpu_seconds_billed = (double)bill.gpu_ns / 1e9;
        out->gpu_seconds[GPU_STRANDED] = out->gpu_seconds_billed - bound_gpu_seconds;
    }
    free(nodes);
}

double world_price_rate(const struct world *w)
{
    const struct cluster_config *config = &w->scenario->cluster;
    double rate = 0;

    if (!w->cluster)
        return NAN;
    for (int32_t pool = 0; pool < config->pool_count; pool++) {
        int32_t nodes, bound;

        cluster_pool_gauges(w->cluster, pool, &nodes, &bound);
        rate += price_rate_per_hour(&w->scenario->prices, pool, nodes, config->pools[pool].gpus, bound);
    }
    return rate;
}
