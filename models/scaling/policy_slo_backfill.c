/*
 * slo-backfill: replicas solved backward from the SLO. Every period it sets
 *
 *     need(P90 of the forecast rate at t + L) + redundancy
 *
 * where need(r) is the least n with lambda*(n) >= r and L the P90 of its scale-out times so far (the sum of the configured medians
 * before the first). It goes down only after `down_after` of lower need: the largest need of that past counts.
 */
#include "models/scaling/policies.h"

#include <math.h>
#include <stdlib.h>

#include "models/scaling/forecast.h"

enum { HELD = 4096 }; /* needs remembered for down_after */

struct backfill_config {
    int64_t redundancy, min, max;
    sim_time period, down_after;
    double quantile;
    int forecast;
    double level_weight, trend_weight;
};

struct policy {
    const struct backfill_config *config;
    struct policy_env env;
    struct forecast forecast;
    int32_t held[HELD];
    int64_t ticks;
};

static int backfill_parse(const struct node *node, const struct policy_context *context, void **out, struct error *err)
{
    static const char *const forecasts[] = {"last-value", "trend", NULL};
    struct backfill_config *config = calloc(1, sizeof *config);
    struct map map;

    (void)context;
    if (!config)
        return error_memory(err, "slo-backfill");
    *out = config;
    map_open(&map, node, err);
    map_integer(&map, "redundancy", MAP_DEFAULT("1", "N+1: one replica may fail or be late"), 0, 100000, &config->redundancy);
    map_integer(&map, "min", MAP_DEFAULT("1", "one replica always answers"), 0, 100000, &config->min);
    map_integer(&map, "max", MAP_DEFAULT("100000", "the cluster is the bound"), 1, 100000, &config->max);
    map_time(&map, "period", MAP_DEFAULT("30s", "peaksim's definition of the policy"), &config->period);
    map_time(&map, "down_after", MAP_DEFAULT("5m", "as long as the HPA's downscale stabilization"), &config->down_after);
    map_share(&map, "quantile", MAP_DEFAULT("0.9", "peaksim's definition of the policy"), &config->quantile);
    map_choice(&map, "forecast", MAP_DEFAULT("trend", "Holt's linear method; last-value lags every ramp by L"), forecasts,
               &config->forecast);
    map_share(&map, "level_weight", MAP_DEFAULT("0.5", "Holt's alpha, for 30 s steps"), &config->level_weight);
    map_share(&map, "trend_weight", MAP_DEFAULT("0.2", "Holt's beta, for 30 s steps"), &config->trend_weight);
    if (map_failed(&map))
        return -1;
    if (config->min > config->max)
        return node_error(node, err, "\"min\" (%lld) is above \"max\" (%lld)", (long long)config->min, (long long)config->max);
    if (config->period < SIM_SECOND)
        return node_error(node, err, "\"period\" must be at least 1s");
    if (config->down_after / config->period >= HELD)
        return node_error(node, err, "\"down_after\" must be shorter than %d periods", HELD);
    if (config->quantile <= 0 || config->quantile >= 1)
        return node_error(node, err, "\"quantile\" must be above 0 and below 1");
    return map_close(&map);
}

static const struct metric_config *backfill_metrics(const void *config, int32_t *count)
{
    (void)config;
    *count = 0; /* it watches the router's arrival rate */
    return NULL;
}

static sim_time backfill_period(const void *config)
{
    return ((const struct backfill_config *)config)->period;
}

static bool backfill_needs_capacity(const void *config)
{
    (void)config;
    return true;
}

static int32_t backfill_max(const void *config)
{
    return (int32_t)((const struct backfill_config *)config)->max;
}

static enum pool_depth backfill_depth(const void *config)
{
    (void)config;
    return POOL_DEPTHS;
}

static int backfill_create(const void *config, const struct policy_env *env, struct policy **out, struct error *err)
{
    const struct backfill_config *backfill = config;

    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_memory(err, "slo-backfill");
    (*out)->config = backfill;
    (*out)->env = *env;
    forecast_init(&(*out)->forecast, backfill->forecast ? FORECAST_TREND : FORECAST_LAST_VALUE, backfill->level_weight,
                  backfill->trend_weight);
    return 0;
}

static void backfill_destroy(struct policy *policy)
{
    free(policy);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void backfill_decide(struct policy *policy, const struct policy_view *view, struct policy_decision *decision)
{
    const struct backfill_config *config = policy->config;
    int64_t horizon = (int64_t)ceil(view->scale_out_p90_s / sim_time_seconds(config->period));
    int64_t held = config->down_after / config->period, wanted, highest;
    double rate;

    if (horizon < 1)
        horizon = 1;
    if (horizon >= FORECAST_PAST)
        horizon = FORECAST_PAST - 1;
    forecast_observe(&policy->forecast, view->observed_rate, horizon);
    rate = forecast_quantile(&policy->forecast, horizon, config->quantile);
    wanted = clamp((int64_t)policy->env.need(policy->env.need_self, rate) + config->redundancy, config->min, config->max);
    if (wanted > policy->env.max_replicas)
        wanted = policy->env.max_replicas;
    policy->held[policy->ticks % HELD] = (int32_t)wanted;
    policy->ticks++;
    highest = wanted;
    for (int64_t i = 1; i <= held && i < policy->ticks; i++) {
        int32_t past = policy->held[(policy->ticks - 1 - i) % HELD];

        highest = past > highest ? past : highest;
    }
    if (policy->ticks <= held && view->desired > highest)
        highest = view->desired; /* nothing goes down before down_after has been watched */
    decision->proposal = (int32_t)wanted;
    decision->desired = (int32_t)highest;
    decision->seen = rate;
    decision->reason = highest > wanted ? "HoldLowerNeed" : "NeedOfForecast";
    decision->limit = wanted == config->max || wanted == policy->env.max_replicas ? "TooManyReplicas" : wanted == config->min ? "TooFewReplicas" : "";
}

const struct policy_type policy_slo_backfill = {
    .name = "slo-backfill",
    .help = "replicas solved backward from the SLO: need of the forecast one scale-out time ahead",
    .parse = backfill_parse,
    .config_free = free,
    .metrics = backfill_metrics,
    .period = backfill_period,
    .needs_capacity = backfill_needs_capacity,
    .max = backfill_max,
    .depth = backfill_depth,
    .create = backfill_create,
    .destroy = backfill_destroy,
    .decide = backfill_decide,
};
