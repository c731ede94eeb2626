#include "sim/run/experiment.h"

#include <stdlib.h>

#include "sim/run/parallel.h"
#include "sim/run/world.h"

struct runs {
    const struct scenario *scenario;
    const struct experiment_options *options;
    struct experiment *experiment;
    int32_t replications;
};

bool experiment_wants_capacity(const struct scenario *scenario)
{
    for (int32_t i = 0; i < scenario->service_count; i++)
        if (scenario->services[i].slo.count > 0)
            return true;
    return false;
}

int32_t experiment_max_replicas(const struct scenario *scenario)
{
    int64_t gpus = 0;
    int32_t most = 1;

    for (int32_t i = 0; i < scenario->cluster.pool_count; i++)
        gpus += (int64_t)scenario->cluster.pools[i].gpus * scenario->cluster.pools[i].max;
    for (int32_t k = 0; k < scenario->service_count; k++) {
        const struct scenario_service *service = &scenario->services[k];
        int64_t holds = gpus / service->start.gpus, wanted = service->initial;

        for (int32_t i = 0; i < scenario->strategy_count; i++) {
            const struct policy_setup *setup = &scenario->strategies[i].policies[k];
            int32_t max = setup->type->max(setup->config);

            if (max > wanted)
                wanted = max;
        }
        if (wanted > holds)
            wanted = holds;
        if (wanted > most)
            most = (int32_t)wanted;
    }
    return most;
}

static int32_t replications_of(const struct scenario *scenario)
{
    return scenario_is_random(scenario) ? scenario->replications : 1;
}

int32_t experiment_run_count(const struct scenario *scenario)
{
    return replications_of(scenario) * scenario->strategy_count;
}

static int run_one(void *self, int32_t number, struct error *err)
{
    struct runs *runs = self;
    const struct experiment_options *options = runs->options;
    struct experiment *experiment = runs->experiment;
    /* Replication by replication: whoever is interrupted has whole ones. */
    int32_t strategies = runs->scenario->strategy_count;
    int32_t strategy = number % strategies, replication = number / strategies;
    size_t at = (size_t)strategy * (size_t)runs->replications + (size_t)replication;
    struct world_options world = {
        .keep = options->keep,
        .keep_records = replication == 0,
        .interrupted = options->interrupted,
        .interrupted_to = options->interrupted_to,
    };

    if (world_run(runs->scenario, strategy, replication, experiment->capacities, &world,
                  &experiment->outcomes[at], err) < 0)
        return -1;
    experiment->results.outcomes[at] = &experiment->outcomes[at];
    if (options->progressed)
        options->progressed(options->progress_to);
    return 0;
}

static bool any_complete(const struct experiment_results *results)
{
    return experiment_first(results) >= 0;
}

int experiment_run(const struct scenario *scenario, const struct experiment_options *options,
                   struct experiment *experiment, struct error *err)
{
    int32_t replications = replications_of(scenario);
    size_t count = (size_t)scenario->strategy_count * (size_t)replications;
    struct runs runs = {scenario, options, experiment, replications};
    int jobs = options->jobs >= 1 ? options->jobs : parallel_processors();

    *experiment = (struct experiment){.results = {.scenario = scenario, .replications = replications}};
    experiment->outcomes = calloc(count, sizeof *experiment->outcomes);
    experiment->results.outcomes = calloc(count, sizeof *experiment->results.outcomes);
    experiment->capacities = calloc((size_t)scenario->service_count, sizeof *experiment->capacities);
    if (!experiment->outcomes || !experiment->results.outcomes || !experiment->capacities)
        return error_memory(err, "experiment");
    if (experiment_wants_capacity(scenario) &&
        capacity_compute(scenario, experiment_max_replicas(scenario), jobs, options->interrupted,
                         options->interrupted_to, experiment->capacities, err) < 0)
        return -1;
    if (parallel_run(jobs, (int32_t)count, run_one, &runs, err) == 0)
        return 0;
    if (!err || err->code != ERROR_INTERRUPTED || !any_complete(&experiment->results))
        return -1;
    error_clear(err);
    experiment->results.partial = true;
    return 0;
}

void experiment_free(struct experiment *experiment)
{
    size_t count = 0;

    if (experiment->results.scenario)
        count = (size_t)experiment->results.scenario->strategy_count *
                (size_t)experiment->results.replications;
    for (size_t i = 0; experiment->outcomes && i < count; i++)
        outcome_free(&experiment->outcomes[i]);
    free(experiment->outcomes);
    free(experiment->results.outcomes);
    free(experiment->capacities);
    *experiment = (struct experiment){0};
}
