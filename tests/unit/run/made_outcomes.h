#ifndef TESTS_UNIT_RUN_MADE_OUTCOMES_H
#define TESTS_UNIT_RUN_MADE_OUTCOMES_H

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run/summary.h"

/*
 * Experiments made by hand: a scenario without a document or traffic, and outcomes whose every figure the
 * test knows. For the tests of what comes after the runs. Up to MADE_STRATEGIES x MADE_SERVICES x
 * MADE_REPLICATIONS.
 */
enum { MADE_STRATEGIES = 9, MADE_SERVICES = 2, MADE_REPLICATIONS = 12 };

struct made {
    struct scenario scenario;
    struct scenario_service services[MADE_SERVICES];
    struct scenario_strategy strategies[MADE_STRATEGIES];
    struct policy_setup setups[MADE_STRATEGIES][MADE_SERVICES];
    struct policy_type type;
    struct window peaks[2];
    struct outcome runs[MADE_STRATEGIES * MADE_REPLICATIONS];
    struct outcome *outcomes[MADE_STRATEGIES * MADE_REPLICATIONS];
    struct experiment_results results;
};

static inline struct outcome *made_run(struct made *made, int strategy, int replication)
{
    return &made->runs[strategy * made->results.replications + replication];
}

/* Six hours in 10 s buckets, peaks 1 h to 2 h and 4 h to 5 h; SLO: latency P99 2 s, ttft P90 1 s, success 95
 * %. Outcomes are empty. */
static inline void made_init(struct made *made, int strategies, int services, int replications)
{
    static const char *const strategy_names[MADE_STRATEGIES] = {
        "hpa", "warm-pool", "slo-backfill", "keda", "kpa", "schedule", "predictive", "oracle", "fixed"};
    static const char *const service_names[MADE_SERVICES] = {"chat", "embed"};
    struct error err = {0};

    memset(made, 0, sizeof *made);
    made->type.name = "made";
    made->peaks[0] = (struct window){SIM_HOUR, 2 * SIM_HOUR};
    made->peaks[1] = (struct window){4 * SIM_HOUR, 5 * SIM_HOUR};
    made->scenario.name = "launch day";
    made->scenario.duration = 6 * SIM_HOUR;
    made->scenario.warmup = 10 * SIM_MINUTE;
    made->scenario.bucket = 10 * SIM_SECOND;
    made->scenario.seed = UINT64_MAX;
    made->scenario.prices.currency = "USD";
    made->scenario.replications = replications;
    made->scenario.services = made->services;
    made->scenario.service_count = services;
    made->scenario.strategies = made->strategies;
    made->scenario.strategy_count = strategies;
    made->scenario.peaks = made->peaks;
    made->scenario.peak_count = 2;
    for (int i = 0; i < services; i++) {
        made->services[i].name = service_names[i];
        made->services[i].slo = (struct slo){
            .bounds = {{SLO_LATENCY, 0.99, 2 * SIM_SECOND}, {SLO_TTFT, 0.9, SIM_SECOND}},
            .count = 2,
            .success = 0.95};
    }
    made->results = (struct experiment_results){
        .scenario = &made->scenario, .outcomes = made->outcomes, .replications = replications};
    for (int s = 0; s < strategies; s++) {
        made->strategies[s].name = strategy_names[s];
        made->strategies[s].policies = made->setups[s];
        for (int i = 0; i < services; i++)
            made->setups[s][i].type = &made->type;
        for (int r = 0; r < replications; r++) {
            struct outcome *run = made_run(made, s, r);

            if (outcome_init(run, services, &err) != 0)
                abort();
            for (int i = 0; i < services; i++)
                run->services[i].bounds = 2;
            made->outcomes[s * replications + r] = run;
        }
    }
}

static inline void made_free(struct made *made)
{
    for (int i = 0; i < made->scenario.strategy_count * made->results.replications; i++)
        outcome_free(&made->runs[i]);
}

/* count requests of the service, completed after latency, in the peak or not; counted as offered and
 * completed. */
static inline void made_requests(struct outcome_service *s, bool peak, sim_time latency, int64_t count)
{
    struct histogram *h = peak ? &s->latency_peak : &s->latency_off;
    struct error err = {0};

    if (histogram_reserve(h, &err) != 0)
        abort();
    histogram_record_many(h, latency, count);
    s->offered += count;
    s->completed += count;
}

static inline void made_rejects(struct outcome_service *s, bool peak, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        histogram_record_infinite(peak ? &s->latency_peak : &s->latency_off);
    s->offered += count;
    s->rejected += count;
}

#endif
