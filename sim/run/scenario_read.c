#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/quantity.h"
#include "sim/run/scenario.h"
#include "sim/run/scenario_peaks.h"

/*
 * The scenario's own keys; what stands below "traffic", "serve", "start", "cluster", a policy, ... is read by
 * the model that it belongs to.
 */

enum { SERVICES_LIMIT = 64, STRATEGIES_LIMIT = 64, NAME_LIMIT = 100 };

static int name_check(const struct node *node, const char *name, struct error *err)
{
    size_t length = strlen(name);

    if (length == 0 || length > NAME_LIMIT)
        return node_error(node, err, "a name has 1 to %d bytes", NAME_LIMIT);
    for (const char *at = name; *at; at++)
        if (iscntrl((unsigned char)*at))
            return node_error(node, err, "a name has no control characters");
    return 0;
}

/* ---- slo ---- */

/* "p50" 0.5, "p99" 0.99, "p999" 0.999, "p99.9" 0.999; NAN: no quantile. */
static double quantile_of(const char *key)
{
    double value = 0, scale = 1;
    int digits = 0;

    if (*key++ != 'p')
        return NAN;
    for (; *key; key++) {
        if (*key == '.' && digits == 2 && isdigit((unsigned char)key[1]))
            continue;
        if (!isdigit((unsigned char)*key) || ++digits > 7)
            return NAN;
        scale /= 10;
        value += (*key - '0') * scale;
    }
    return digits >= 2 && value > 0 && value < 1 ? value : (double)NAN;
}

static void bounds_read(struct map *parent, enum slo_metric metric, struct slo *slo)
{
    const struct node *node = map_node(parent, slo_metric_name(metric));
    struct map map;

    if (map_failed(parent) || !node)
        return;
    map_open_child(&map, parent, slo_metric_name(metric));
    for (size_t i = 0; !map_failed(&map) && i < node_count(node); i++) {
        const char *key = node_key_at(node, i);
        double quantile = quantile_of(key);
        struct slo_bound *bound = &slo->bounds[slo->count];

        if (isnan(quantile)) {
            node_error(node_at(node, i), parent->err,
                       "\"%s\" is not a quantile; bounds are written as {\"p99\": \"2s\"}", key);
            return;
        }
        if (slo->count == SLO_BOUNDS) {
            node_error(node_at(node, i), parent->err, "an SLO has at most %d bounds", (int)SLO_BOUNDS);
            return;
        }
        bound->metric = metric;
        bound->quantile = quantile;
        if (map_time(&map, key, MAP_REQUIRED, &bound->bound))
            slo->count++;
    }
    map_close(&map);
}

static int slo_read(struct map *service, struct slo *slo)
{
    struct map map;

    if (!map_has(service, "slo"))
        return 0;
    map_open_child(&map, service, "slo");
    for (int metric = 0; metric < SLO_METRICS; metric++)
        bounds_read(&map, (enum slo_metric)metric, slo);
    map_share(&map, "success", MAP_DEFAULT("0", "not asked for"), &slo->success);
    return map_close(&map);
}

/* ---- services ---- */

/* A model that needs work or tokens, and a traffic that has none. */
static int sizes_check(const struct node *node, const struct scenario_service *service, struct error *err)
{
    struct traffic_sizes sizes;
    double nominal;

    traffic_mean_sizes(service->traffic, &sizes);
    nominal = service->serve.type->nominal_seconds(service->serve.config, (int32_t)lround(sizes.tokens_in),
                                                   (int32_t)lround(sizes.tokens_out));
    if (isnan(nominal) && isnan(sizes.work_seconds))
        return node_error(node, err,
                          "the model \"%s\" needs to know how much work a request is, and the traffic of "
                          "service \"%s\" does not "
                          "say: give it \"sizes\" (\"tokens_in\" and \"tokens_out\", or \"work\")",
                          service->serve.type->name, service->name);
    return 0;
}

static int service_read(const struct node *node, const struct scenario *scenario,
                        struct scenario_service *service, struct error *err)
{
    struct map map, replica;
    int64_t gpus = 1, initial = 0, priority = 0;
    const struct node *serve;

    map_open(&map, node, err);
    if (!map_string(&map, "name", MAP_REQUIRED, &service->name) ||
        name_check(map_node(&map, "name"), service->name, err) < 0)
        return -1;
    if (slo_read(&map, &service->slo) < 0 || !map_required(&map, "traffic") ||
        traffic_parse(map_node(&map, "traffic"), scenario->duration, &service->traffic, err) < 0)
        return -1;
    if (!map_required(&map, "replica") || !map_open_child(&replica, &map, "replica"))
        return -1;
    map_integer(&replica, "gpus", MAP_DEFAULT("1", "one GPU a replica"), 1, 64, &gpus);
    serve = map_required(&replica, "serve");
    if (!serve || service_model_parse(serve, &service->serve, err) < 0 ||
        start_config_parse(map_node(&replica, "start"), &service->start, err) < 0)
        return -1;
    service->start.gpus = (int32_t)gpus;
    if (map_close(&replica) < 0)
        return -1;
    map_integer(&map, "initial", MAP_DEFAULT("1", "one ready replica at the start"), 0, 100000, &initial);
    map_integer(&map, "priority", MAP_DEFAULT("0", "all services alike"), -1000000, 1000000, &priority);
    service->initial = (int32_t)initial;
    service->priority = (int32_t)priority;
    if (map_failed(&map) ||
        routing_config_parse(map_node(&map, "routing"), map_node(&map, "client"), &service->routing, err) < 0)
        return -1;
    if (map_close(&map) < 0)
        return -1;
    return sizes_check(serve, service, err);
}

/* A list of 1 to limit maps under a key, NULL with the error. */
static const struct node *list_of(struct map *map, const char *key, int limit)
{
    const struct node *list = map_required(map, key);

    if (!list)
        return NULL;
    if (node_kind(list) != NODE_SEQUENCE || node_count(list) == 0 || node_count(list) > (size_t)limit) {
        node_error(list, map->err, "\"%s\" is a list of 1 to %d", key, limit);
        return NULL;
    }
    return list;
}

static int services_read(struct map *root, struct scenario *scenario, struct error *err)
{
    const struct node *list = list_of(root, "services", SERVICES_LIMIT);

    if (!list)
        return -1;
    scenario->services = calloc(node_count(list), sizeof *scenario->services);
    if (!scenario->services)
        return error_memory(err, "scenario");
    for (size_t i = 0; i < node_count(list); i++) {
        scenario->service_count++;
        if (service_read(node_at(list, i), scenario, &scenario->services[i], err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(scenario->services[k].name, scenario->services[i].name) == 0)
                return node_error(node_at(list, i), err, "two services are called \"%s\"",
                                  scenario->services[i].name);
    }
    return 0;
}

/* Would a replica fit on any node? */
static int cluster_check(const struct node *node, const struct scenario *scenario, struct error *err)
{
    int32_t largest = 0;

    for (int32_t i = 0; i < scenario->cluster.pool_count; i++)
        if (scenario->cluster.pools[i].gpus > largest)
            largest = scenario->cluster.pools[i].gpus;
    for (int32_t i = 0; i < scenario->service_count; i++)
        if (scenario->services[i].start.gpus > largest)
            return node_error(
                node, err, "a replica of service \"%s\" takes %d GPUs, and no node has more than %d",
                scenario->services[i].name, (int)scenario->services[i].start.gpus, (int)largest);
    return 0;
}

/* ---- strategies ---- */

/* {"name", "services": {"chat": {"hpa": {...}}, ...}}: a policy for each service by name. */
static int policies_by_service(struct map *map, const struct scenario *scenario,
                               const struct policy_context *context, struct scenario_strategy *strategy,
                               struct error *err)
{
    struct map services;

    if (!map_open_child(&services, map, "services"))
        return -1;
    for (int32_t i = 0; i < scenario->service_count; i++) {
        struct map one;

        if (!map_required(&services, scenario->services[i].name) ||
            !map_open_child(&one, &services, scenario->services[i].name) ||
            policy_setup_parse(&one, context, &strategy->policies[i]) < 0 || map_close(&one) < 0)
            return -1;
    }
    (void)err;
    return map_close(&services);
}

static int strategy_read(const struct node *node, const struct node *list, const struct scenario *scenario,
                         struct scenario_strategy *strategy, struct error *err)
{
    const struct policy_context context = {.strategies = list, .depth = 0};
    struct map map;

    map_open(&map, node, err);
    if (!map_string(&map, "name", MAP_REQUIRED, &strategy->name) ||
        name_check(map_node(&map, "name"), strategy->name, err) < 0)
        return -1;
    strategy->policies = calloc((size_t)scenario->service_count, sizeof *strategy->policies);
    if (!strategy->policies)
        return error_memory(err, "scenario");
    if (map_has(&map, "services")) {
        if (policies_by_service(&map, scenario, &context, strategy, err) < 0)
            return -1;
        return map_close(&map);
    }
    for (int32_t i = 0; i < scenario->service_count; i++)
        if (policy_setup_parse(&map, &context, &strategy->policies[i]) < 0)
            return -1;
    return map_close(&map);
}

/* Refused when the scenario is read, not in the middle of its runs. */
static int strategy_check(const struct node *node, const struct scenario *scenario,
                          const struct scenario_strategy *strategy, struct error *err)
{
    for (int32_t i = 0; i < scenario->service_count; i++) {
        const struct policy_setup *setup = &strategy->policies[i];

        if (setup->type->needs_capacity(setup->config) && scenario->services[i].slo.count == 0)
            return node_error(node, err,
                              "strategy \"%s\" solves replicas backward from the SLO, and service \"%s\" has "
                              "none: give it a bound, "
                              "such as \"slo\": {\"latency\": {\"p99\": \"2s\"}}",
                              strategy->name, scenario->services[i].name);
    }
    return 0;
}

static int strategies_read(struct map *root, struct scenario *scenario, struct error *err)
{
    const struct node *list = list_of(root, "strategies", STRATEGIES_LIMIT);

    if (!list)
        return -1;
    scenario->strategies = calloc(node_count(list), sizeof *scenario->strategies);
    if (!scenario->strategies)
        return error_memory(err, "scenario");
    for (size_t i = 0; i < node_count(list); i++) {
        struct scenario_strategy *strategy = &scenario->strategies[i];

        scenario->strategy_count++;
        if (strategy_read(node_at(list, i), list, scenario, strategy, err) < 0 ||
            strategy_check(node_at(list, i), scenario, strategy, err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(scenario->strategies[k].name, strategy->name) == 0)
                return node_error(node_at(list, i), err, "two strategies are called \"%s\"", strategy->name);
    }
    return 0;
}

/* ---- the whole ---- */

static int times_read(struct map *root, struct scenario *scenario)
{
    int64_t seed = 1, replications = 10;

    map_time(root, "duration", MAP_REQUIRED, &scenario->duration);
    map_time(root, "warmup",
             MAP_DEFAULT("10m", "longer than a cold start and a controller's first decisions"),
             &scenario->warmup);
    map_time(root, "cooldown", MAP_DEFAULT("30m", "what is still open then counts as never answered"),
             &scenario->cooldown);
    map_time(root, "bucket", MAP_DEFAULT("10s", "fine enough to see a scale-out"), &scenario->bucket);
    map_integer(root, "seed", MAP_DEFAULT("1", "any number does"), 0, INT64_MAX, &seed);
    map_integer(root, "replications", MAP_DEFAULT("10", "the least that gives a quantile an interval"), 1,
                10000, &replications);
    scenario->seed = (uint64_t)seed;
    scenario->replications = (int32_t)replications;
    if (map_failed(root))
        return -1;
    if (scenario->duration < SIM_SECOND)
        return node_error(map_node(root, "duration"), root->err, "\"duration\" must be at least 1s");
    if (scenario->warmup >= scenario->duration)
        return node_error(
            root->node, root->err,
            "\"warmup\" (%gs) must be shorter than \"duration\" (%gs): nothing would be measured",
            sim_time_seconds(scenario->warmup), sim_time_seconds(scenario->duration));
    if (scenario->bucket < SIM_SECOND)
        return node_error(map_node(root, "bucket"), root->err, "\"bucket\" must be at least 1s");
    return 0;
}

static int read_root(struct map *root, struct scenario *scenario, struct error *err)
{
    const char **types;
    int got;

    map_has(root, "$schema");  /* for editors */
    map_node(root, "sources"); /* read by the document's ledger */
    map_string(root, "comment", MAP_DEFAULT("", ""), &scenario->comment);
    if (!map_string(root, "name", MAP_REQUIRED, &scenario->name) ||
        name_check(map_node(root, "name"), scenario->name, err) < 0 || times_read(root, scenario) < 0 ||
        services_read(root, scenario, err) < 0)
        return -1;
    if (!map_required(root, "cluster") ||
        cluster_config_parse(map_node(root, "cluster"), &scenario->cluster, err) < 0 ||
        cluster_check(map_node(root, "cluster"), scenario, err) < 0 ||
        strategies_read(root, scenario, err) < 0)
        return -1;
    types = malloc((size_t)scenario->cluster.pool_count * sizeof *types);
    if (!types)
        return error_memory(err, "scenario");
    for (int32_t i = 0; i < scenario->cluster.pool_count; i++)
        types[i] = scenario->cluster.pools[i].name;
    got = price_list_parse(map_node(root, "prices"), types, scenario->cluster.pool_count, &scenario->prices,
                           err);
    free(types);
    if (got < 0)
        return -1;
    if (map_has(root, "peak") ? scenario_peaks_parse(map_node(root, "peak"), scenario, err) < 0
                              : scenario_peaks_find(scenario, err) < 0)
        return -1;
    return map_close(root);
}

int scenario_from_document(struct document *document, struct scenario *scenario, struct error *err)
{
    struct map root;

    *scenario = (struct scenario){.document = document};
    map_open(&root, document_root(document), err);
    if (map_failed(&root) || read_root(&root, scenario, err) < 0 ||
        document_check_sources(document, err) < 0) {
        scenario_free(scenario);
        return -1;
    }
    return 0;
}

static int overrides_apply(struct document *document, const struct scenario_overrides *overrides,
                           struct error *err)
{
    for (const char *const *at = overrides->assignments; at && *at; at++)
        if (document_set(document, *at, err) < 0)
            return -1;
    if (overrides->seed && document_put(document, "seed", overrides->seed, err) < 0)
        return -1;
    if (overrides->replications && document_put(document, "replications", overrides->replications, err) < 0)
        return -1;
    return 0;
}

int scenario_read(const char *path, const struct scenario_overrides *overrides, struct scenario *scenario,
                  struct error *err)
{
    struct document *document;

    *scenario = (struct scenario){0};
    if (document_read_file(path, &document, err) < 0)
        return -1;
    if (overrides && overrides_apply(document, overrides, err) < 0) {
        document_free(document);
        return -1;
    }
    return scenario_from_document(document, scenario, err);
}
