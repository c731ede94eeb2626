#ifndef TESTS_UNIT_RUN_MADE_SERIES_H
#define TESTS_UNIT_RUN_MADE_SERIES_H

#include "sim/io/spool.h"
#include "tests/unit/run/made_outcomes.h"

/*
 * Spools for made outcomes, and a whole made day: a fluid picture of two peaks under strategies that are
 * late, prepared, or ahead. Not a simulation: only figures with the right shape, for result files and plots.
 */
static inline struct spool *made_spool(size_t size)
{
    struct spool *spool = malloc(sizeof *spool);
    struct error err = {0};

    if (!spool || spool_init(spool, size, &err) != 0)
        abort();
    return spool;
}

static inline void made_spools(struct made *made, int strategy, int replication)
{
    struct outcome *run = made_run(made, strategy, replication);

    run->series = calloc((size_t)run->service_count, sizeof *run->series);
    for (int i = 0; i < run->service_count; i++)
        run->series[i] = made_spool(sizeof(struct series_record));
    run->decisions = made_spool(sizeof(struct decision_record));
    run->replicas = made_spool(sizeof(struct replica_record));
}

static inline double made_rate(double hours, int service)
{
    double first = (hours - 1.5) / 0.35, second = (hours - 4.5) / 0.45;

    return (service ? 0.5 : 1) * (8 + 60 * exp(-first * first) + 95 * exp(-second * second));
}

/* Time between need and ready, replicas kept ready on top, for strategy s. */
static inline double made_lag_hours(int s)
{
    static const double lag[] = {0.15, 0.04, -0.02, 0.1, 0.08, 0.02, 0.01, 0, 0.2};

    return lag[s % 9];
}

static inline void made_bucket(struct made *made, int s, int i, int r, int64_t k, double *backlog)
{
    struct outcome *run = made_run(made, s, r);
    struct outcome_service *out = &run->services[i];
    struct series_record record = {.start = k * 10 * SIM_SECOND};
    double hours = (double)k / 360, lag = made_lag_hours(s),
           noise = 1 + 0.05 * sin((double)k * (1.3 + 0.1 * r) + r);
    double rate = made_rate(hours, i) * noise, need = ceil(rate / 4);
    double ready = ceil(made_rate(hours - lag, i) / 4) + (s == 2 ? 2 : 1);
    double starting = fmax(0,
                           ceil(made_rate(hours - lag + 0.06, i) / 4) - ceil(made_rate(hours - lag, i) / 4));
    double draining = fmax(0,
                           ceil(made_rate(hours - lag - 0.01, i) / 4) - ceil(made_rate(hours - lag, i) / 4));
    double load = rate / (4 * ready), p99;
    bool peak = (hours >= 1 && hours < 2) || (hours >= 4 && hours < 5), lost;
    struct error err = {0};

    *backlog = fmax(0, *backlog + (rate - 4 * ready) * 10);
    p99 = 0.35 + 0.2 * load / fmax(0.05, 1.15 - load) + *backlog / (4 * ready);
    lost = p99 > 30;
    record.arrivals = (int64_t)(rate * 10);
    record.completed = lost ? record.arrivals / 2 : record.arrivals;
    record.rejected = record.arrivals - record.completed;
    record.p50_ns = (int64_t)(fmin(p99, 20) * 0.4e9);
    record.p99_ns = lost ? INT64_MAX : (int64_t)(p99 * 1e9);
    record.queue = (float)*backlog;
    record.running = (float)(rate * 0.3);
    record.replicas[REPLICA_READY] = (float)ready;
    record.replicas[START_NODE] = (float)floor(starting / 4);
    record.replicas[START_PULL] = (float)floor(starting / 3);
    record.replicas[START_LOAD] = (float)floor(starting / 3);
    record.replicas[START_INIT] = (float)(starting - floor(starting / 4) - 2 * floor(starting / 3));
    record.replicas[REPLICA_DRAINING] = (float)draining;
    record.replicas[REPLICA_PREPARED] = s == 1 ? 4 : 0;
    record.desired = (float)(ready + starting);
    record.need = (float)need;
    record.capacity_per_s = (float)(4 * ready);
    record.offered_per_s = (float)rate;
    record.cost_per_hour = (float)((ready + starting + draining + record.replicas[REPLICA_PREPARED]) * 4);
    if (run->series && spool_append(run->series[i], &record, &err) != 0)
        abort();
    if (hours < 1.0 / 6)
        return;
    if (record.completed)
        made_requests(out, peak, (sim_time)(fmin(p99, 30) * 0.6e9), record.completed);
    made_rejects(out, peak, record.rejected);
    if (peak) {
        int64_t missed = p99 * 0.6 > 2 ? record.arrivals : record.rejected;

        out->bound_missed_peak[0] += missed;
        out->bound_missed_peak[1] += missed;
    }
    out->good += p99 * 0.6 > 2 ? 0 : record.completed;
    out->windows += k % 6 == 0;
    out->violation_windows += k % 6 == 0 && p99 * 0.6 > 2;
    out->replicas_mean += ready / (350.0 * 6);
    out->replicas_max = fmax((double)out->replicas_max, ready) > 0
                            ? (int64_t)fmax((double)out->replicas_max, ready)
                            : 0;
    out->replicas_min = out->replicas_min ? (int64_t)fmin((double)out->replicas_min, ready) : (int64_t)ready;
    out->shortage_total_replica_s += fmax(0, need - ready) * 10;
    out->shortage_replica_s[SHORTAGE_PULL] += fmax(0, need - ready) * 10;
    run->gpu_seconds[GPU_BUSY] += load * ready * 10;
    run->gpu_seconds[GPU_IDLE] += (1 - load) * ready * 10;
    run->gpu_seconds[GPU_STARTING] += starting * 10;
    run->gpu_seconds_billed += (ready + starting) * 10;
    run->gross_micro += (int64_t)((double)record.cost_per_hour / 360 * 1e6);
}

static inline void made_starts(struct made *made, int s, int i, int r, int count)
{
    struct outcome *run = made_run(made, s, r);
    struct error err = {0};

    if (histogram_reserve(&run->services[i].scale_out, &err) != 0)
        abort();
    for (int k = 0; k < count; k++) {
        struct replica_record record = {.service = i,
                                        .ordinal = (uint32_t)(k + 4),
                                        .node = k / 8,
                                        .origin = k % 5 == 4 && s == 1 ? ORIGIN_POOL : ORIGIN_COLD};
        double pull = k % 4 == 0 ? 95 + 7 * (k % 9) : 2, init = 40 + 3 * (k % 6);
        double stages[START_STAGES] = {
            0.05, k % 8 == 0 && s == 0 ? 240 : 0, pull, 18 + k % 7, init, 5 + k % 5, 1};
        sim_time total = 0;

        record.asked = SIM_HOUR + k * 90 * SIM_SECOND;
        record.prepared = SIM_NEVER;
        for (int j = 0; j < START_STAGES; j++) {
            record.stage[j] = record.origin == ORIGIN_POOL && j < START_INIT
                                  ? -1
                                  : sim_time_from_seconds(stages[j]);
            total += record.stage[j] > 0 ? record.stage[j] : 0;
        }
        record.ready = record.asked + total;
        record.draining = record.ended = SIM_NEVER;
        histogram_record(&run->services[i].scale_out, total);
        run->services[i].cold_starts++;
        if (run->replicas && spool_append(run->replicas, &record, &err) != 0)
            abort();
    }
}

/* Fills every run of the experiment; all keep their spools. */
static inline void made_peak_day(struct made *made)
{
    for (int s = 0; s < made->scenario.strategy_count; s++)
        for (int r = 0; r < made->results.replications; r++) {
            struct outcome *run = made_run(made, s, r);

            made_spools(made, s, r);
            run->priced = true;
            for (int i = 0; i < run->service_count; i++) {
                double backlog = 0;

                for (int64_t k = 0; k < 6 * 360; k++)
                    made_bucket(made, s, i, r, k, &backlog);
                made_starts(made, s, i, r, 18 + 9 * (s % 3));
            }
        }
}

#endif
