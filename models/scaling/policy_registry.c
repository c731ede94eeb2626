#include "models/scaling/policies.h"

#include <stdio.h>
#include <string.h>

const struct policy_type *const *policy_types(void)
{
    static const struct policy_type *const types[] = {
        &policy_fixed, &policy_hpa, &policy_schedule, &policy_warm_pool, &policy_slo_backfill, NULL,
    };

    return types;
}

const char *metric_name(enum metric_kind kind)
{
    static const char *const names[] = {"concurrency", "queue_depth", "rps",      "utilization", "gpu_utilization",
                                        "cpu",         "kv_usage",    "latency"};

    return names[kind];
}

const char *pool_depth_name(enum pool_depth depth)
{
    static const char *const names[] = {"stopped", "node", "image", "host-memory", "asleep", "hot", ""};

    return names[depth];
}

bool metric_config_parse(struct map *map, struct metric_config *config)
{
    struct map cpu;

    map_time(map, "interval", MAP_DEFAULT("15s", "Prometheus scrape interval commonly set for custom metrics; metrics-server 15 s"),
             &config->interval);
    map_time(map, "window", MAP_DEFAULT(config->kind == METRIC_LATENCY || config->kind == METRIC_RPS ? "1m" : "0s",
                                        "the usual rate(...[1m]); gauges are read as they are"),
             &config->window);
    map_time(map, "delay", MAP_DEFAULT("0s", "adapter answers from what was scraped last"), &config->delay);
    if (config->kind == METRIC_LATENCY)
        map_number(map, "quantile", MAP_DEFAULT("0.95", "histogram_quantile usually alerted on"), 0, 1, &config->quantile);
    if (config->kind == METRIC_CPU && map_open(&cpu, map_node(map, "cpu"), map->err)) {
        map_number(&cpu, "base", MAP_DEFAULT("0.05", "idle server loop; to be measured"), 0, 1000, &config->cpu_base);
        map_number(&cpu, "per_request", MAP_DEFAULT("0.01", "tokenizer and streaming of one request; to be measured"), 0,
                   1000, &config->cpu_per_request);
        map_close(&cpu);
    }
    if (!map_failed(map) && config->interval <= 0) {
        node_error(map->node, map->err, "\"interval\" must be longer than 0");
        return false;
    }
    return !map_failed(map);
}

int policy_setup_parse(struct map *map, const struct policy_context *context, struct policy_setup *setup)
{
    const struct policy_type *const *types = policy_types();
    const struct policy_type *found = NULL;
    char known[256] = "";
    size_t used = 0;

    *setup = (struct policy_setup){NULL, NULL};
    if (map_failed(map))
        return -1;
    for (int i = 0; types[i]; i++) {
        int n = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", types[i]->name);

        used += n > 0 ? (size_t)n : 0;
        if (used >= sizeof known)
            used = sizeof known - 1;
        if (!map_has(map, types[i]->name))
            continue;
        if (found)
            return node_error(map_node(map, types[i]->name), map->err, "a strategy has one policy; this one has \"%s\" and \"%s\"",
                              found->name, types[i]->name);
        found = types[i];
    }
    if (!found)
        return node_error(map->node, map->err, "no policy here; one of these is needed: %s", known);
    setup->type = found;
    return found->parse(map_node(map, found->name), context, &setup->config, map->err);
}

/* The policy of the strategy that is called `name`. */
static int named_base(const struct node *at, const char *name, const struct policy_context *context, struct policy_setup *setup,
                      struct error *err)
{
    const char *names[64];
    size_t count = 0;

    for (size_t i = 0; context->strategies && i < node_count(context->strategies); i++) {
        const struct node *strategy = node_at(context->strategies, i);
        const struct node *its = node_kind(strategy) == NODE_MAP ? node_get(strategy, "name") : NULL;
        const struct policy_type *const *types = policy_types();

        if (!its || node_kind(its) != NODE_STRING)
            continue;
        if (count < 64)
            names[count++] = node_text(its);
        if (strcmp(node_text(its), name) != 0)
            continue;
        for (int k = 0; types[k]; k++) {
            const struct node *config = node_get(strategy, types[k]->name);
            struct policy_context deeper = {context->strategies, context->depth + 1};

            if (!config)
                continue;
            if (deeper.depth > 8)
                return node_error(at, err, "strategies are each other's base in a circle");
            setup->type = types[k];
            return types[k]->parse(config, &deeper, &setup->config, err);
        }
        return node_error(at, err, "strategy \"%s\" has no policy of its own that could be a base", name);
    }
    {
        const char *near = nearest_name(name, names, count);

        return node_error(at, err, "no strategy is called \"%s\"%s%s%s; a base is the name of another strategy, or a policy such as {\"hpa\": {...}}",
                          name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
}

int policy_base_parse(struct map *map, const char *key, const struct policy_context *context, struct policy_setup *setup)
{
    const struct node *node = map_required(map, key);
    struct map base;

    *setup = (struct policy_setup){NULL, NULL};
    if (!node || map_failed(map))
        return -1;
    if (node_kind(node) == NODE_STRING)
        return named_base(node, node_text(node), context, setup, map->err);
    if (!map_open(&base, node, map->err) || policy_setup_parse(&base, context, setup) < 0)
        return -1;
    return map_close(&base);
}

void policy_setup_free(struct policy_setup *setup)
{
    if (setup->type && setup->config)
        setup->type->config_free(setup->config);
    *setup = (struct policy_setup){NULL, NULL};
}
