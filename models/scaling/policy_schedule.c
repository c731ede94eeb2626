/*
 * schedule: replicas by the clock. {"schedule": {"steps": [["0s", 4], ["8h", 20], ["12h", 6]]}}: from each time (since the start of
 * the run) on, so many replicas; before the first, as many as there were. People who know when the peak comes, run this.
 */
#include "models/scaling/policies.h"

#include <stdlib.h>

#include "sim/io/quantity.h"

enum { STEPS = 512 };

struct step {
    sim_time at;
    int32_t replicas;
};

struct schedule_config {
    struct step steps[STEPS];
    int32_t count, max;
    sim_time period;
};

struct policy {
    const struct schedule_config *config;
};

static int step_parse(const struct node *node, struct schedule_config *config, struct error *err)
{
    struct step *step = &config->steps[config->count];
    struct error problem = {.code = ERROR_NONE};
    char *end;
    long replicas;

    if (node_kind(node) != NODE_SEQUENCE || node_count(node) != 2 || !node_text(node_at(node, 0)) || !node_text(node_at(node, 1)))
        return node_error(node, err, "a step is [time, replicas], such as [\"8h\", 20]");
    if (quantity_time(node_text(node_at(node, 0)), &step->at, &problem) < 0)
        return node_error(node_at(node, 0), err, "%s", problem.message);
    replicas = strtol(node_text(node_at(node, 1)), &end, 10);
    if (node_kind(node_at(node, 1)) != NODE_NUMBER || *end || replicas < 0 || replicas > 100000)
        return node_error(node_at(node, 1), err, "replicas must be a whole number from 0 to 100000");
    step->replicas = (int32_t)replicas;
    if (config->count && step->at <= step[-1].at)
        return node_error(node, err, "steps must be in the order of their times");
    if (step->replicas > config->max)
        config->max = step->replicas;
    config->count++;
    return 0;
}

static int schedule_parse(const struct node *node, const struct policy_context *context, void **out, struct error *err)
{
    struct schedule_config *config = calloc(1, sizeof *config);
    const struct node *steps;
    struct map map;

    (void)context;
    if (!config)
        return error_memory(err, "schedule");
    *out = config;
    map_open(&map, node, err);
    steps = map_required(&map, "steps");
    map_time(&map, "period", MAP_DEFAULT("1s", "how often the clock is looked at"), &config->period);
    if (map_failed(&map))
        return -1;
    if (node_kind(steps) != NODE_SEQUENCE || node_count(steps) < 1 || node_count(steps) > STEPS)
        return node_error(steps, err, "\"steps\" is a list of 1 to %d [time, replicas]", STEPS);
    for (size_t i = 0; i < node_count(steps); i++)
        if (step_parse(node_at(steps, i), config, err) < 0)
            return -1;
    if (config->period <= 0)
        return node_error(node, err, "\"period\" must be longer than 0");
    return map_close(&map);
}

static const struct metric_config *schedule_metrics(const void *config, int32_t *count)
{
    (void)config;
    *count = 0;
    return NULL;
}

static sim_time schedule_period(const void *config)
{
    return ((const struct schedule_config *)config)->period;
}

static bool schedule_needs_capacity(const void *config)
{
    (void)config;
    return false;
}

static int32_t schedule_max(const void *config)
{
    return ((const struct schedule_config *)config)->max;
}

static enum pool_depth schedule_depth(const void *config)
{
    (void)config;
    return POOL_DEPTHS;
}

static int schedule_create(const void *config, const struct policy_env *env, struct policy **out, struct error *err)
{
    (void)env;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_memory(err, "schedule");
    (*out)->config = config;
    return 0;
}

static void schedule_destroy(struct policy *policy)
{
    free(policy);
}

static void schedule_decide(struct policy *policy, const struct policy_view *view, struct policy_decision *decision)
{
    const struct schedule_config *config = policy->config;

    decision->reason = "Schedule";
    for (int32_t i = 0; i < config->count && config->steps[i].at <= view->now; i++)
        decision->desired = decision->proposal = config->steps[i].replicas;
}

const struct policy_type policy_schedule = {
    .name = "schedule",
    .help = "replicas by the clock, in steps",
    .parse = schedule_parse,
    .config_free = free,
    .metrics = schedule_metrics,
    .period = schedule_period,
    .needs_capacity = schedule_needs_capacity,
    .max = schedule_max,
    .depth = schedule_depth,
    .create = schedule_create,
    .destroy = schedule_destroy,
    .decide = schedule_decide,
};
