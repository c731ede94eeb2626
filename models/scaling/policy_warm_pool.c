/*
 * warm-pool: a base policy, and beside it a pool of prepared replicas. When the base wants more replicas, the oldest prepared
 * member is activated; the pool refills at once; what it cannot cover starts cold. Members are invisible to the base.
 * The world keeps the members (sim/run/world_scaling.c); the policy only says how many there should be.
 */
#include "models/scaling/policies.h"

#include <stdlib.h>

struct pool_config {
    struct policy_setup base;
    int64_t size;
    enum pool_depth depth;
};

struct policy {
    const struct pool_config *config;
    struct policy *base;
};

static int pool_parse(const struct node *node, const struct policy_context *context, void **out, struct error *err)
{
    static const char *const depths[] = {"node", "image", "hot", NULL};
    static const enum pool_depth values[] = {POOL_NODE, POOL_IMAGE, POOL_HOT};
    struct pool_config *config = calloc(1, sizeof *config);
    struct map map;
    int depth = 0;

    if (!config)
        return error_memory(err, "warm-pool");
    *out = config;
    map_open(&map, node, err);
    map_integer(&map, "size", MAP_REQUIRED, 0, 100000, &config->size);
    if (map_choice(&map, "depth", MAP_REQUIRED, depths, &depth))
        config->depth = values[depth];
    if (map_failed(&map) || policy_base_parse(&map, "base", context, &config->base) < 0)
        return -1;
    if (config->base.type == &policy_warm_pool)
        return node_error(node, err, "a warm pool cannot be the base of another one");
    return map_close(&map);
}

static void pool_config_free(void *config)
{
    struct pool_config *pool = config;

    policy_setup_free(&pool->base);
    free(pool);
}

static const struct metric_config *pool_metrics(const void *config, int32_t *count)
{
    const struct pool_config *pool = config;

    return pool->base.type->metrics(pool->base.config, count);
}

static sim_time pool_period(const void *config)
{
    const struct pool_config *pool = config;

    return pool->base.type->period(pool->base.config);
}

static bool pool_needs_capacity(const void *config)
{
    const struct pool_config *pool = config;

    return pool->base.type->needs_capacity(pool->base.config);
}

static int32_t pool_max(const void *config)
{
    const struct pool_config *pool = config;

    return pool->base.type->max(pool->base.config);
}

static enum pool_depth pool_depth(const void *config)
{
    return ((const struct pool_config *)config)->depth;
}

static int pool_create(const void *config, const struct policy_env *env, struct policy **out, struct error *err)
{
    const struct pool_config *pool = config;

    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_memory(err, "warm-pool");
    (*out)->config = pool;
    return pool->base.type->create(pool->base.config, env, &(*out)->base, err);
}

static void pool_destroy(struct policy *policy)
{
    if (policy->base)
        policy->config->base.type->destroy(policy->base);
    free(policy);
}

static void pool_decide(struct policy *policy, const struct policy_view *view, struct policy_decision *decision)
{
    const struct pool_config *config = policy->config;

    config->base.type->decide(policy->base, view, decision);
    decision->pool = (int32_t)config->size;
}

const struct policy_type policy_warm_pool = {
    .name = "warm-pool",
    .help = "a base policy with a pool of prepared replicas beside it",
    .parse = pool_parse,
    .config_free = pool_config_free,
    .metrics = pool_metrics,
    .period = pool_period,
    .needs_capacity = pool_needs_capacity,
    .max = pool_max,
    .depth = pool_depth,
    .create = pool_create,
    .destroy = pool_destroy,
    .decide = pool_decide,
};
