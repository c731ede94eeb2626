#include <math.h>
#include <stdlib.h>

#include "sim/run/csv_writer.h"
#include "sim/run/results.h"

/* timeseries.csv. One row as it is written; of one replication or the mean of several. */
struct row {
    double arrivals, completed, rejected, timed_out, offered_per_s, p50_s, p99_s;
    double queue, running, replicas[REPLICA_ENDED], desired, need, capacity_per_s, cost_per_hour;
};

/* Doubles of a row, summed and divided as an array. */
enum { ROW_VALUES = sizeof(struct row) / sizeof(double) };

struct series_mean {
    double sum[ROW_VALUES];
    int32_t known[ROW_VALUES];
};

static double seconds_of(int64_t ns)
{
    return ns < 0 ? (double)NAN : ns == INT64_MAX ? (double)INFINITY : (double)ns * 1e-9;
}

/* A float's shortest decimal is what was meant; widening it would print noise. */
static void row_of(struct row *row, const struct series_record *record)
{
    *row = (struct row){.arrivals = (double)record->arrivals,
                        .completed = (double)record->completed,
                        .rejected = (double)record->rejected,
                        .timed_out = (double)record->timed_out,
                        .offered_per_s = (double)record->offered_per_s,
                        .p50_s = seconds_of(record->p50_ns),
                        .p99_s = seconds_of(record->p99_ns),
                        .queue = (double)record->queue,
                        .running = (double)record->running,
                        .desired = (double)record->desired,
                        .need = (double)record->need,
                        .capacity_per_s = (double)record->capacity_per_s,
                        .cost_per_hour = (double)record->cost_per_hour};
    for (int i = 0; i < REPLICA_ENDED; i++)
        row->replicas[i] = (double)record->replicas[i];
}

static void mean_add(struct series_mean *mean, const struct row *row)
{
    const double *values = (const double *)row;

    for (int i = 0; i < ROW_VALUES; i++) {
        if (isnan(values[i]))
            continue;
        mean->sum[i] += values[i];
        mean->known[i]++;
    }
}

static void mean_row(const struct series_mean *mean, struct row *row)
{
    double *values = (double *)row;

    for (int i = 0; i < ROW_VALUES; i++)
        values[i] = mean->known[i] ? mean->sum[i] / mean->known[i] : (double)NAN;
}

static void write_header(struct csv_writer *csv)
{
    static const char *const first[] = {"strategy",        "service",   "replication", "time_s",
                                        "arrivals",        "completed", "rejected",    "timed_out",
                                        "offered_per_s",   "p50_s",     "p99_s",       "queue_requests",
                                        "running_requests"};
    static const char *const last[] = {"replicas_desired", "replicas_need", "capacity_per_s",
                                       "cost_per_hour"};
    char name[64];

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        csv_text(csv, first[i]);
    for (int i = 0; i < REPLICA_ENDED; i++) {
        snprintf(name, sizeof name, "replicas_%s", replica_state_name((enum replica_state)i));
        csv_text(csv, name);
    }
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        csv_text(csv, last[i]);
    csv_end(csv);
}

/* Gauges come as floats from the spools: 7 digits hold all that they know. */
static void csv_gauge(struct csv_writer *csv, double value)
{
    csv_number_float(csv, (float)value);
}

static void write_row(struct csv_writer *csv, const struct scenario *scenario, int32_t strategy,
                      int32_t service, int32_t replication, sim_time start, const struct row *row)
{
    csv_text(csv, scenario->strategies[strategy].name);
    csv_text(csv, scenario->services[service].name);
    if (replication >= 0)
        csv_integer(csv, replication);
    else
        csv_text(csv, "mean");
    csv_seconds(csv, start);
    csv_number(csv, row->arrivals);
    csv_number(csv, row->completed);
    csv_number(csv, row->rejected);
    csv_number(csv, row->timed_out);
    csv_gauge(csv, row->offered_per_s);
    csv_number(csv, row->p50_s);
    csv_number(csv, row->p99_s);
    csv_gauge(csv, row->queue);
    csv_gauge(csv, row->running);
    for (int i = 0; i < REPLICA_ENDED; i++)
        csv_gauge(csv, row->replicas[i]);
    csv_gauge(csv, row->desired);
    csv_gauge(csv, row->need);
    csv_gauge(csv, row->capacity_per_s);
    csv_gauge(csv, row->cost_per_hour);
    csv_end(csv);
}

/* One strategy and service: all replications' spools in step, one bucket at a time. The first replication has
 * a row of its own. */
static int write_series(const struct experiment_results *results, int32_t strategy, int32_t service,
                        struct spool **spools, int32_t count, struct csv_writer *csv, struct error *err)
{
    int32_t first = experiment_first(results);

    for (int32_t i = 0; i < count; i++)
        if (spool_rewind(spools[i], err) != 0)
            return -1;
    for (;;) {
        struct series_mean mean = {0};
        struct series_record record;
        struct row row;
        sim_time start = SIM_NEVER;

        for (int32_t i = 0; i < count; i++) {
            int got = spool_next(spools[i], &record, err);

            if (got < 0)
                return -1;
            if (got == 0)
                continue; /* this replication ended earlier */
            if (start != SIM_NEVER && record.start != start)
                return error_set(err, ERROR_INTERNAL, "timeseries.csv",
                                 "the replications' buckets are out of step");
            start = record.start;
            row_of(&row, &record);
            mean_add(&mean, &row);
            if (i == 0)
                write_row(csv, results->scenario, strategy, service, first, start, &row);
        }
        if (start == SIM_NEVER)
            return 0;
        mean_row(&mean, &row);
        write_row(csv, results->scenario, strategy, service, -1, start, &row);
    }
}

int results_write_timeseries(const struct experiment_results *results, FILE *file, struct error *err)
{
    struct spool **spools = calloc((size_t)results->replications + 1, sizeof(struct spool *));
    struct csv_writer csv;
    int status = 0;

    if (!spools)
        return error_memory(err, "timeseries.csv");
    csv_writer_init(&csv, file);
    write_header(&csv);
    for (int32_t s = 0; s < results->scenario->strategy_count && status == 0; s++)
        for (int32_t i = 0; i < results->scenario->service_count && status == 0; i++) {
            int32_t count = 0;

            for (int32_t r = 0; r < results->replications; r++) {
                const struct outcome *run = results->outcomes[s * results->replications + r];

                if (experiment_complete(results, r) && run->series)
                    spools[count++] = run->series[i];
            }
            status = write_series(results, s, i, spools, count, &csv, err);
        }
    free(spools);
    return status;
}
