#include "sim/run/scenario.h"

#include <stdlib.h>

#include "models/routing/balancers.h"

const char *slo_metric_name(enum slo_metric metric)
{
    static const char *const names[SLO_METRICS] = {"latency", "ttft", "tpot", "wait"};

    return (unsigned)metric < SLO_METRICS ? names[metric] : "unknown";
}

void scenario_free(struct scenario *scenario)
{
    for (int32_t i = 0; scenario->strategies && i < scenario->strategy_count; i++) {
        struct scenario_strategy *strategy = &scenario->strategies[i];

        for (int32_t k = 0; strategy->policies && k < scenario->service_count; k++)
            policy_setup_free(&strategy->policies[k]);
        free(strategy->policies);
    }
    for (int32_t i = 0; scenario->services && i < scenario->service_count; i++) {
        struct scenario_service *service = &scenario->services[i];

        traffic_free(service->traffic);
        service_model_free(&service->serve);
        start_config_free(&service->start);
    }
    cluster_config_free(&scenario->cluster);
    price_list_free(&scenario->prices);
    free(scenario->strategies);
    free(scenario->services);
    free(scenario->peaks);
    document_free(scenario->document);
    *scenario = (struct scenario){0};
}

static bool start_is_random(const struct start_config *start)
{
    return !distribution_is_constant(&start->schedule) || !distribution_is_constant(&start->image_bytes) ||
           !distribution_is_constant(&start->weight_bytes) || !distribution_is_constant(&start->init) ||
           !distribution_is_constant(&start->endpoint);
}

/* A controller that acts at a period has a phase, which is drawn; so does every scrape. */
static bool policy_is_random(const struct policy_setup *setup)
{
    int32_t metrics = 0;

    setup->type->metrics(setup->config, &metrics);
    return metrics > 0 || setup->type->period(setup->config) != SIM_NEVER;
}

bool scenario_is_random(const struct scenario *scenario)
{
    for (int32_t i = 0; i < scenario->service_count; i++) {
        const struct scenario_service *service = &scenario->services[i];
        const struct balancer_type *balancer = service->routing.balancer;

        if (traffic_is_random(service->traffic) || start_is_random(&service->start) ||
            balancer == &balancer_random || balancer == &balancer_power_of_two)
            return true;
        if (service->serve.type->is_random && service->serve.type->is_random(service->serve.config))
            return true;
        for (int32_t k = 0; k < scenario->strategy_count; k++)
            if (policy_is_random(&scenario->strategies[k].policies[i]))
                return true;
    }
    for (int32_t i = 0; i < scenario->cluster.pool_count; i++)
        if (!distribution_is_constant(&scenario->cluster.pools[i].provision) ||
            !distribution_is_constant(&scenario->cluster.pools[i].gpu_ready))
            return true;
    return false;
}

int32_t scenario_peak_at(const struct scenario *scenario, sim_time t)
{
    int32_t low = 0, high = scenario->peak_count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;

        if (scenario->peaks[middle].to <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scenario->peak_count && scenario->peaks[low].from <= t ? low : -1;
}
