#include <math.h>

#include "sim/run/csv_writer.h"
#include "sim/run/results.h"

/* strategies.csv: one column list, walked once for the header and once a row, so that the two cannot part. */
struct column {
    const char *name;
    const struct statistic *statistic; /* NULL: a count */
    int64_t count;
};

enum { COLUMNS = 80 };

struct columns {
    struct column list[COLUMNS];
    int count;
};

static void add(struct columns *columns, const char *name, const struct statistic *statistic)
{
    if (columns->count < COLUMNS)
        columns->list[columns->count++] = (struct column){name, statistic, 0};
}

static void add_count(struct columns *columns, const char *name, int64_t count)
{
    if (columns->count < COLUMNS)
        columns->list[columns->count++] = (struct column){name, NULL, count};
}

static void collect(struct columns *columns, const struct summary_strategy *strategy,
                    const struct summary_service *s)
{
    columns->count = 0;
    add_count(columns, "offered", s->offered);
    add_count(columns, "completed", s->completed);
    add_count(columns, "rejected", s->rejected);
    add_count(columns, "timed_out", s->timed_out);
    add_count(columns, "failed", s->failed);
    add_count(columns, "in_flight", s->in_flight);
    add_count(columns, "retries", s->retries);
    add_count(columns, "fallback", s->fallback);
    add(columns, "peak_p99_s", &s->peak_p99_s);
    add(columns, "peak_unserved_share", &s->peak_unserved_share);
    add(columns, "whole_p99_s", &s->whole_p99_s);
    add(columns, "whole_unserved_share", &s->whole_unserved_share);
    add(columns, "completed_mean_s", &s->latency[FIGURE_MEAN]);
    add(columns, "completed_p50_s", &s->latency[FIGURE_P50]);
    add(columns, "completed_p99_s", &s->latency[FIGURE_P99]);
    add(columns, "ttft_p99_s", &s->ttft[FIGURE_P99]);
    add(columns, "tpot_p99_s", &s->tpot[FIGURE_P99]);
    add(columns, "wait_p99_s", &s->wait[FIGURE_P99]);
    add(columns, "attainment", &s->attainment);
    add(columns, "violation_s", &s->violation_s);
    add(columns, "replicas_mean", &s->replicas_mean);
    add(columns, "replicas_min", &s->replicas_min);
    add(columns, "replicas_max", &s->replicas_max);
    add(columns, "cold_starts", &s->cold_starts);
    add(columns, "scale_out_p50_s", &s->scale_out_p50_s);
    add(columns, "scale_out_p99_s", &s->scale_out_p99_s);
    add(columns, "shortage_replica_s", &s->shortage_total);
    add(columns, "gpu_hours", &strategy->gpu_total_h); /* of the whole strategy from here on */
    add(columns, "cost_gross", &strategy->gross);
    add(columns, "cost_credit", &strategy->credit);
    add(columns, "cost_net", &strategy->net);
    add(columns, "cost_per_million_requests", &strategy->per_million_requests);
    add(columns, "cost_per_million_tokens", &strategy->per_million_tokens);
}

static void write_header(struct csv_writer *csv, const struct columns *columns)
{
    csv_text(csv, "strategy");
    csv_text(csv, "policy");
    csv_text(csv, "service");
    csv_text(csv, "slo_met");
    csv_text(csv, "p_met");
    csv_text(csv, "currency");
    for (int i = 0; i < columns->count; i++) {
        char name[64];

        csv_text(csv, columns->list[i].name);
        if (!columns->list[i].statistic)
            continue;
        snprintf(name, sizeof name, "%s_ci95", columns->list[i].name);
        csv_text(csv, name);
    }
    csv_end(csv);
}

static void write_row(struct csv_writer *csv, const struct columns *columns, const struct summary *summary,
                      const struct summary_strategy *strategy, const struct summary_service *s)
{
    const char *met = verdict_name(s->met), *currency = summary->scenario->prices.currency;

    csv_text(csv, strategy->name);
    csv_text(csv, strategy->policy);
    csv_text(csv, s->name);
    csv_text(csv, met ? met : "");
    csv_number(csv, s->p_met);
    csv_text(csv, strategy->priced && currency ? currency : "");
    for (int i = 0; i < columns->count; i++) {
        const struct column *column = &columns->list[i];

        if (column->statistic) {
            csv_number(csv, column->statistic->mean);
            csv_number(csv, column->statistic->ci95);
        } else {
            csv_integer(csv, column->count);
        }
    }
    csv_end(csv);
}

int results_write_strategies(const struct summary *summary, FILE *file, struct error *err)
{
    struct columns columns;
    struct csv_writer csv;
    bool begun = false;

    (void)err;
    csv_writer_init(&csv, file);
    for (int32_t s = 0; s < summary->scenario->strategy_count; s++)
        for (int32_t i = 0; i < summary->scenario->service_count; i++) {
            const struct summary_strategy *strategy = &summary->strategies[s];

            collect(&columns, strategy, &strategy->services[i]);
            if (!begun)
                write_header(&csv, &columns);
            begun = true;
            write_row(&csv, &columns, summary, strategy, &strategy->services[i]);
        }
    return 0;
}
