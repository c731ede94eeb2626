/*
 * fixed: a fleet of constant size, asked for at t = 0. What people run when they do not trust autoscaling.
 */
#include "models/scaling/policies.h"

#include <stdlib.h>

struct fixed_config {
    int64_t replicas;
};

struct policy {
    const struct fixed_config *config;
};

static int fixed_parse(const struct node *node, const struct policy_context *context, void **out, struct error *err)
{
    struct fixed_config *config = calloc(1, sizeof *config);
    struct map map;

    (void)context;
    if (!config)
        return error_memory(err, "fixed");
    *out = config;
    map_open(&map, node, err);
    map_integer(&map, "replicas", MAP_REQUIRED, 0, 100000, &config->replicas);
    return map_close(&map);
}

static const struct metric_config *fixed_metrics(const void *config, int32_t *count)
{
    (void)config;
    *count = 0;
    return NULL;
}

static sim_time fixed_period(const void *config)
{
    (void)config;
    return SIM_NEVER;
}

static bool fixed_needs_capacity(const void *config)
{
    (void)config;
    return false;
}

static int32_t fixed_max(const void *config)
{
    return (int32_t)((const struct fixed_config *)config)->replicas;
}

static enum pool_depth fixed_depth(const void *config)
{
    (void)config;
    return POOL_DEPTHS;
}

static int fixed_create(const void *config, const struct policy_env *env, struct policy **out, struct error *err)
{
    (void)env;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_memory(err, "fixed");
    (*out)->config = config;
    return 0;
}

static void fixed_destroy(struct policy *policy)
{
    free(policy);
}

static void fixed_decide(struct policy *policy, const struct policy_view *view, struct policy_decision *decision)
{
    (void)view;
    decision->desired = decision->proposal = (int32_t)policy->config->replicas;
    decision->reason = "Fixed";
}

const struct policy_type policy_fixed = {
    .name = "fixed",
    .help = "a fleet of constant size",
    .parse = fixed_parse,
    .config_free = free,
    .metrics = fixed_metrics,
    .period = fixed_period,
    .needs_capacity = fixed_needs_capacity,
    .max = fixed_max,
    .depth = fixed_depth,
    .create = fixed_create,
    .destroy = fixed_destroy,
    .decide = fixed_decide,
};
