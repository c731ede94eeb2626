/*
 * hpa: the Kubernetes HorizontalPodAutoscaler over this service's pods, with the controller's own code path (hpa.h).
 *
 * How peaksim's metrics become the object's:
 *   per-pod gauges  (concurrency, queue_depth, rps, utilization, gpu_utilization, kv_usage)  Pods, AverageValue, in milli-units
 *   cpu             Resource, Utilization: the target is a share of the request
 *   queue_depth of a central queue   External, AverageValue
 *   latency         External, Value, in seconds
 */
#include "models/scaling/policies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/scaling/hpa.h"
#include "models/scaling/pipeline.h"
#include "sim/io/quantity.h"

struct hpa_config {
    struct hpa_controller controller;
    struct hpa_spec spec;
    struct metric_config metrics[HPA_METRICS];
    double targets[HPA_METRICS];
    sim_time sync_period;
};

struct policy {
    const struct hpa_config *config;
    struct hpa_spec spec; /* sources settled: central queues make a metric external */
    struct hpa_state state;
    struct hpa_pod *pods;
    struct hpa_sample *samples; /* metrics x size */
    struct hpa_reading readings[HPA_METRICS];
    struct hpa_proposal proposals[HPA_METRICS];
    int64_t externals[HPA_METRICS];
    int32_t size;
};

/* ---- reading ---- */

static const char *const metric_names[] = {"concurrency", "queue_depth", "rps",      "utilization", "gpu_utilization",
                                           "cpu",         "kv_usage",    "latency", NULL};

static int metric_parse(struct map *map, struct hpa_config *config)
{
    size_t i = config->spec.metric_count;
    struct hpa_metric *metric = &config->spec.metrics[i];
    int kind = 0;
    double target = 0;

    map_choice(map, "metric", MAP_REQUIRED, metric_names, &kind);
    config->metrics[i].kind = (enum metric_kind)kind;
    if (map_failed(map) || !metric_config_parse(map, &config->metrics[i]))
        return -1;
    if (kind == METRIC_LATENCY) {
        sim_time bound = 0;

        map_time(map, "target", MAP_REQUIRED, &bound);
        target = sim_time_seconds(bound);
        *metric = (struct hpa_metric){HPA_SOURCE_EXTERNAL, HPA_TARGET_VALUE, false, llround(target * 1000)};
    } else if (kind == METRIC_CPU) {
        map_share(map, "target", MAP_REQUIRED, &target);
        *metric = (struct hpa_metric){HPA_SOURCE_RESOURCE, HPA_TARGET_UTILIZATION, true, llround(target * 100)};
    } else {
        if (kind == METRIC_UTILIZATION || kind == METRIC_GPU_UTILIZATION || kind == METRIC_KV_USAGE)
            map_share(map, "target", MAP_REQUIRED, &target);
        else
            map_number(map, "target", MAP_REQUIRED, 0, 1e9, &target);
        *metric = (struct hpa_metric){HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, false, llround(target * 1000)};
    }
    if (!map_failed(map) && metric->target <= 0)
        return node_error(map->node, map->err, "\"target\" must be above 0 (quantities are whole thousandths)");
    config->targets[i] = target;
    config->spec.metric_count++;
    return map_failed(map) ? -1 : 0;
}

static int rule_policy_parse(const struct node *node, struct hpa_rules *rules, struct error *err)
{
    struct hpa_policy *policy = &rules->policies[rules->policy_count];
    struct map map;
    int64_t value = 0;
    bool pods;

    map_open(&map, node, err);
    pods = map_has(&map, "pods");
    if (!map_failed(&map) && pods == map_has(&map, "percent"))
        return node_error(node, err, "a scaling policy has one of \"pods\" and \"percent\"");
    map_integer(&map, pods ? "pods" : "percent", MAP_REQUIRED, 1, INT32_MAX, &value);
    map_time(&map, "period", MAP_REQUIRED, &policy->period);
    if (!map_failed(&map) && (policy->period < SIM_SECOND || policy->period > 1800 * SIM_SECOND))
        return node_error(node, err, "\"period\" must be from 1s to 30m (autoscaling/v2)");
    policy->kind = pods ? HPA_POLICY_PODS : HPA_POLICY_PERCENT;
    policy->value = (int32_t)value;
    rules->policy_count++;
    return map_close(&map);
}

static int rules_parse(const struct node *node, struct hpa_rules *rules, struct error *err)
{
    static const char *const selects[] = {"Max", "Min", "Disabled", NULL};
    const struct node *policies;
    struct map map;
    int select = 0;

    map_open(&map, node, err);
    if (map_has(&map, "window"))
        map_time(&map, "window", MAP_REQUIRED, &rules->window);
    if (map_has(&map, "tolerance"))
        map_share(&map, "tolerance", MAP_REQUIRED, &rules->tolerance);
    if (map_has(&map, "select") && map_choice(&map, "select", MAP_REQUIRED, selects, &select))
        rules->select = (enum hpa_select)(HPA_SELECT_MAX + select);
    policies = map_node(&map, "policies");
    if (map_failed(&map))
        return -1;
    if (rules->window != HPA_UNSET && rules->window > SIM_HOUR)
        return node_error(node, err, "\"window\" must be from 0 to 1h (autoscaling/v2)");
    if (policies) {
        if (node_kind(policies) != NODE_SEQUENCE || node_count(policies) < 1 || node_count(policies) > HPA_POLICIES)
            return node_error(policies, err, "\"policies\" is a list of 1 to %d scaling policies", HPA_POLICIES);
        for (size_t i = 0; i < node_count(policies); i++)
            if (rule_policy_parse(node_at(policies, i), rules, err) < 0)
                return -1;
    }
    return map_close(&map);
}

static int behavior_parse(const struct node *node, struct hpa_spec *spec, struct error *err)
{
    struct map map;
    const struct node *up, *down;

    if (!node)
        return 0;
    spec->behavior = true;
    map_open(&map, node, err);
    up = map_node(&map, "scale_up");
    down = map_node(&map, "scale_down");
    if ((up && rules_parse(up, &spec->rules[HPA_UP], err) < 0) || (down && rules_parse(down, &spec->rules[HPA_DOWN], err) < 0))
        return -1;
    return map_close(&map);
}

static int metrics_parse(struct map *map, struct hpa_config *config)
{
    const struct node *list = map_node(map, "metrics");

    if (!list)
        return metric_parse(map, config);
    if (map_has(map, "metric"))
        return node_error(list, map->err, "give \"metric\" and \"target\", or the list \"metrics\", not both");
    if (node_kind(list) != NODE_SEQUENCE || node_count(list) < 1 || node_count(list) > 8)
        return node_error(list, map->err, "\"metrics\" is a list of 1 to 8 metrics");
    for (size_t i = 0; i < node_count(list); i++) {
        struct map one;

        if (!map_open(&one, node_at(list, i), map->err) || metric_parse(&one, config) < 0 || map_close(&one) < 0)
            return -1;
    }
    return 0;
}

static int hpa_parse(const struct node *node, const struct policy_context *context, void **out, struct error *err)
{
    struct hpa_config *config = calloc(1, sizeof *config);
    struct map map;
    int64_t min = 1, max = 1;
    double version = 0;

    (void)context;
    if (!config)
        return error_memory(err, "hpa");
    *out = config;
    hpa_controller_defaults(&config->controller);
    hpa_spec_init(&config->spec);
    map_open(&map, node, err);
    map_integer(&map, "min", MAP_DEFAULT("1", "autoscaling/v2 default"), 0, 100000, &min);
    map_integer(&map, "max", MAP_REQUIRED, 1, 100000, &max);
    map_share(&map, "tolerance", MAP_DEFAULT("0.1", "kube-controller-manager --horizontal-pod-autoscaler-tolerance"),
              &config->controller.tolerance.up);
    config->controller.tolerance.down = config->controller.tolerance.up;
    map_time(&map, "sync_period", MAP_DEFAULT("15s", "kube-controller-manager --horizontal-pod-autoscaler-sync-period"),
             &config->sync_period);
    map_time(&map, "downscale_stabilization",
             MAP_DEFAULT("5m", "kube-controller-manager --horizontal-pod-autoscaler-downscale-stabilization"),
             &config->controller.downscale_stabilization);
    map_number(&map, "kubernetes", MAP_DEFAULT("1.36", "release whose tolerance and zero rules apply"), 1.2, 2, &version);
    if (map_failed(&map) || metrics_parse(&map, config) < 0 || behavior_parse(map_node(&map, "behavior"), &config->spec, err) < 0)
        return -1;
    if (min > max)
        return node_error(node, err, "\"min\" (%lld) is above \"max\" (%lld)", (long long)min, (long long)max);
    if (config->sync_period <= 0)
        return node_error(node, err, "\"sync_period\" must be longer than 0");
    if (version < 1.33)
        config->controller.tolerance.form = HPA_TOLERANCE_DISTANCE;
    if (version < 1.36)
        config->controller.zero_rule = HPA_ZERO_CLASSIC;
    config->spec.min = (int32_t)min;
    config->spec.max = (int32_t)max;
    hpa_spec_default(&config->spec);
    return map_close(&map);
}

static const struct metric_config *hpa_metrics(const void *config, int32_t *count)
{
    const struct hpa_config *hpa = config;

    *count = (int32_t)hpa->spec.metric_count;
    return hpa->metrics;
}

static sim_time hpa_period(const void *config)
{
    return ((const struct hpa_config *)config)->sync_period;
}

static bool hpa_needs_capacity(const void *config)
{
    (void)config;
    return false;
}

static int32_t hpa_max(const void *config)
{
    return ((const struct hpa_config *)config)->spec.max;
}

static enum pool_depth hpa_depth(const void *config)
{
    (void)config;
    return POOL_DEPTHS;
}

/* ---- deciding ---- */

static int hpa_create(const void *config, const struct policy_env *env, struct policy **out, struct error *err)
{
    (void)env;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_memory(err, "hpa");
    (*out)->config = config;
    (*out)->spec = ((const struct hpa_config *)config)->spec;
    hpa_state_init(&(*out)->state);
    return 0;
}

static void hpa_destroy(struct policy *policy)
{
    hpa_state_free(&policy->state);
    free(policy->pods);
    free(policy->samples);
    free(policy);
}

static bool reserve(struct policy *policy, int32_t pods)
{
    int32_t size = policy->size ? policy->size : 64;

    if (pods <= policy->size)
        return true;
    while (size < pods)
        size *= 2;
    free(policy->pods);
    free(policy->samples);
    policy->pods = calloc((size_t)size, sizeof *policy->pods);
    policy->samples = calloc((size_t)size * policy->spec.metric_count, sizeof *policy->samples);
    policy->size = policy->pods && policy->samples ? size : 0;
    return policy->size > 0;
}

static int64_t milli(double value)
{
    double scaled = value * 1000;

    if (!(scaled > 0))
        return 0;
    return scaled >= 9e18 ? INT64_MAX : llround(scaled);
}

static void fill_pods(struct policy *policy, const struct policy_view *view)
{
    for (int32_t i = 0; i < view->pod_count; i++) {
        const struct pod_view *pod = &view->pods[i];

        policy->pods[i] = (struct hpa_pod){
            .start = pod->created, /* status.startTime: the kubelet saw the pod; here it is created and bound */
            .ready_transition = pod->ready_changed,
            .request_milli = 1000, /* cpu values are shares of the request */
            .phase = pod->phase == POD_PENDING ? HPA_PENDING : HPA_RUNNING,
            .deleted = pod->phase == POD_TERMINATING,
            .ready = pod->ready,
        };
    }
}

static void fill_metric(struct policy *policy, const struct policy_view *view, size_t m)
{
    const struct metric_reading *from = &view->readings[m];
    struct hpa_reading *to = &policy->readings[m];
    struct hpa_metric *metric = &policy->spec.metrics[m];

    *to = (struct hpa_reading){.error = HPA_METRIC_OK};
    if (from->pod) {
        struct hpa_sample *samples = policy->samples + m * (size_t)policy->size;

        for (int32_t i = 0; i < view->pod_count; i++)
            samples[i] = (struct hpa_sample){
                .value_milli = isnan(from->pod[i]) ? 0 : milli(from->pod[i]),
                .timestamp = from->newest,
                .window = from->sample_window,
                .present = !isnan(from->pod[i]),
            };
        to->samples = samples;
        return;
    }
    if (metric->source == HPA_SOURCE_PODS) /* the queue is central */
        metric->source = HPA_SOURCE_EXTERNAL;
    if (isnan(from->external)) {
        to->error = HPA_METRIC_NO_SAMPLES;
        return;
    }
    policy->externals[m] = milli(from->external);
    to->values_milli = &policy->externals[m];
    to->value_count = 1;
}

static void hpa_decide(struct policy *policy, const struct policy_view *view, struct policy_decision *decision)
{
    struct hpa_decision hpa;
    struct hpa_view seen;
    struct error err = {.code = ERROR_NONE};

    decision->reason = "OutOfMemory";
    if (!reserve(policy, view->pod_count))
        return;
    fill_pods(policy, view);
    for (size_t m = 0; m < policy->spec.metric_count; m++)
        fill_metric(policy, view, m);
    seen = (struct hpa_view){
        .now = view->now,
        .spec_replicas = view->desired,
        .status_replicas = view->replicas,
        .pods = policy->pods,
        .pod_count = (size_t)view->pod_count,
        .readings = policy->readings,
    };
    if (hpa_reconcile(&policy->config->controller, &policy->spec, &policy->state, &seen, policy->proposals, &hpa, &err) < 0)
        return;
    decision->desired = hpa.replicas;
    decision->proposal = hpa.proposal >= 0 ? hpa.proposal : hpa.replicas;
    decision->metric = hpa.winner;
    if (hpa.path == HPA_PATH_FAILED) {
        decision->reason = hpa_reason_text(hpa.conditions.scaling_active.reason);
        decision->limit = "";
    } else {
        decision->reason = hpa_reason_text(hpa.conditions.able_to_scale.reason);
        decision->limit = hpa.conditions.scaling_limited.status ? hpa_reason_text(hpa.conditions.scaling_limited.reason) : "";
    }
    decision->recorded = hpa.rescaled || hpa.failed || hpa.proposal != view->desired;
}

const struct policy_type policy_hpa = {
    .name = "hpa",
    .help = "Kubernetes HorizontalPodAutoscaler (autoscaling/v2)",
    .parse = hpa_parse,
    .config_free = free,
    .metrics = hpa_metrics,
    .period = hpa_period,
    .needs_capacity = hpa_needs_capacity,
    .max = hpa_max,
    .depth = hpa_depth,
    .create = hpa_create,
    .destroy = hpa_destroy,
    .decide = hpa_decide,
};
