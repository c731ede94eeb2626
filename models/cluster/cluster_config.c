#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"

/* The "cluster" of a scenario. Defaults are measured or documented figures of public clouds, each with its
 * source. */

enum { POOLS_LIMIT = 32, NODES_LIMIT = 10000, GPUS_LIMIT = 64, NAME_LIMIT = 100 };

static int type_check(const struct node *node, const struct cluster_config *config, const char *name,
                      struct error *err)
{
    size_t length = strlen(name);

    for (const char *at = name; *at; at++)
        if (iscntrl((unsigned char)*at))
            length = 0;
    if (length == 0 || length > NAME_LIMIT)
        return node_error(node, err, "a node type has 1 to %d bytes and no control characters", NAME_LIMIT);
    if (strcmp(name, "currency") == 0)
        return node_error(node, err, "\"currency\" is a key of \"prices\" and cannot be a node type");
    for (int32_t i = 0; i < config->pool_count; i++)
        if (strcmp(config->pools[i].name, name) == 0)
            return node_error(node, err, "two node pools have the type \"%s\"", name);
    return 0;
}

static void limits_read(struct map *map, struct node_pool_config *pool)
{
    int64_t gpus = 1, min = 0, max = 0;

    map_integer(map, "gpus", MAP_REQUIRED, 1, GPUS_LIMIT, &gpus);
    map_integer(map, "min", MAP_DEFAULT("0", "a pool may be empty"), 0, NODES_LIMIT, &min);
    map_integer(map, "max", MAP_REQUIRED, 0, NODES_LIMIT, &max);
    pool->gpus = (int32_t)gpus;
    pool->min = (int32_t)min;
    pool->max = (int32_t)max;
    if (!map_failed(map) && min > max)
        node_error(map_node(map, "min"), map->err, "\"min\" (%d) is more than \"max\" (%d)", (int)min,
                   (int)max);
}

static int pool_read(const struct node *node, const struct cluster_config *config,
                     struct node_pool_config *pool, struct error *err)
{
    struct map map;

    *pool = (struct node_pool_config){.nic_bytes_per_s = INFINITY, .disk_bytes_per_s = INFINITY};
    map_open(&map, node, err);
    if (!map_string(&map, "type", MAP_REQUIRED, &pool->name) ||
        type_check(map_node(&map, "type"), config, pool->name, err) < 0)
        return -1;
    limits_read(&map, pool);
    map_distribution(
        &map, "provision",
        MAP_DEFAULT("{\"lognormal\": {\"median\": \"3m\", \"p99\": \"8m\"}}",
                    "estimate: GKE's cluster autoscaler adds a GPU node in 3 to 8 min (EaseCloud)"),
        UNIT_SECONDS, &pool->provision);
    map_distribution(
        &map, "gpu_ready",
        MAP_DEFAULT("30s", "estimate: the NVIDIA device plugin advertises GPUs up to 30 s after Ready"),
        UNIT_SECONDS, &pool->gpu_ready);
    if (map_has(&map, "nic"))
        map_bandwidth(&map, "nic", MAP_REQUIRED, &pool->nic_bytes_per_s);
    if (map_has(&map, "disk"))
        map_bandwidth(&map, "disk", MAP_REQUIRED, &pool->disk_bytes_per_s);
    map_size(&map, "host_memory", MAP_DEFAULT("1152Gi", "AWS p4d.24xlarge, 8x A100"),
             &pool->host_memory_bytes);
    return map_close(&map);
}

static int pools_read(struct map *cluster, struct cluster_config *config, struct error *err)
{
    const struct node *list = map_required(cluster, "nodes");

    if (!list)
        return -1;
    if (node_kind(list) != NODE_SEQUENCE || node_count(list) == 0 || node_count(list) > POOLS_LIMIT)
        return node_error(list, err, "\"nodes\" is a list of 1 to %d node pools", POOLS_LIMIT);
    config->pools = calloc(node_count(list), sizeof *config->pools);
    if (!config->pools)
        return error_memory(err, "cluster");
    for (size_t i = 0; i < node_count(list); i++) {
        int got = pool_read(node_at(list, i), config, &config->pools[i], err);

        config->pool_count++; /* its distributions are freed, whatever was read */
        if (got < 0)
            return -1;
    }
    return 0;
}

static void links_read(struct map *cluster, struct cluster_config *config)
{
    struct map map;

    map_open_child(&map, cluster, "links");
    map_bandwidth(&map, "registry",
                  MAP_DEFAULT("1.35GB/s", "measured: 156 GB of image layers fetched in 116 s"),
                  &config->registry_bytes_per_s);
    map_bandwidth(&map, "store",
                  MAP_DEFAULT("3GB/s", "measured: Run:ai model streamer from S3, 32 at a time"),
                  &config->store_bytes_per_s);
    map_close(&map);
}

static void autoscaler_read(struct map *cluster, struct cluster_config *config)
{
    struct map map;

    map_open_child(&map, cluster, "autoscaler");
    map_time(&map, "scan_interval", MAP_DEFAULT("10s", "Kubernetes Cluster Autoscaler, --scan-interval"),
             &config->scan_interval);
    map_time(&map, "scale_down_delay",
             MAP_DEFAULT("10m", "Kubernetes Cluster Autoscaler, --scale-down-unneeded-time"),
             &config->scale_down_delay);
    if (!map_failed(&map) && config->scan_interval < SIM_MILLISECOND)
        node_error(map_node(&map, "scan_interval"), map.err, "\"scan_interval\" must be at least 1ms");
    map_close(&map);
}

int cluster_config_parse(const struct node *node, struct cluster_config *config, struct error *err)
{
    static const char *const placements[] = {"pack", "spread", NULL};
    struct map map;
    int placement = 0;

    *config = (struct cluster_config){0};
    if (!node)
        return error_set(err, ERROR_INPUT, "cluster",
                         "\"cluster\" is missing: it says what GPUs there are, as in {\"nodes\": [{\"type\": "
                         "\"a100-8\", \"gpus\": 8, "
                         "\"min\": 1, \"max\": 10}]}");
    map_open(&map, node, err);
    if (pools_read(&map, config, err) < 0)
        goto failed;
    links_read(&map, config);
    autoscaler_read(&map, config);
    if (map_choice(&map, "placement",
                   MAP_DEFAULT(
                       "pack",
                       "Run:ai's default for GPUs, so that nodes become empty; kube-scheduler alone spreads"),
                   placements, &placement))
        config->spread = placement == 1;
    if (map_close(&map) == 0)
        return 0;
failed:
    cluster_config_free(config);
    return -1;
}

void cluster_config_free(struct cluster_config *config)
{
    for (int32_t i = 0; i < config->pool_count; i++) {
        distribution_free(&config->pools[i].provision);
        distribution_free(&config->pools[i].gpu_ready);
    }
    free(config->pools);
    *config = (struct cluster_config){0};
}
