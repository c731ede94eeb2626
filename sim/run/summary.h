#ifndef SIM_RUN_SUMMARY_H
#define SIM_RUN_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/run/outcome.h"
#include "sim/run/scenario.h"
#include "sim/run/statistics.h"

/*
 * From raw outcomes to the figures of summary.json: what each strategy gave in each service, with intervals,
 * the SLO's verdict, cost, and which differences between strategies are real. Depends on nothing but the
 * outcomes, so the result is the same whatever the order in which threads finished them.
 */

/* All runs of one experiment. */
struct experiment_results {
    const struct scenario *scenario;
    struct outcome **outcomes; /* [strategy * replications + r]; NULL: not finished (only if partial) */
    int32_t replications;      /* asked for */
    bool partial; /* interrupted: replications that some strategy did not finish are left out, so that pairs
                     stay pairs */
};

/* Did every strategy finish replication r? Only such replications count. */
bool experiment_complete(const struct experiment_results *results, int32_t r);
/* The first one that did: "replication 0" of series and records, unless the experiment was interrupted early.
 * -1: none. */
int32_t experiment_first(const struct experiment_results *results);

/*
 * One statistic over replications. mean is the estimate: the mean of the replications' values, or for
 * quantiles that of their merged histogram. NAN: there is nothing to measure, INFINITY: among the requests
 * that were never served.
 */
struct statistic {
    double mean;
    double ci95;      /* half width; NAN: none, INFINITY: unbounded */
    double low, high; /* least and largest of `each` that exist */
    double *each;     /* the value of every replication used; owned by the summary */
};

enum latency_figure {
    FIGURE_MEAN,
    FIGURE_P50,
    FIGURE_P90,
    FIGURE_P95,
    FIGURE_P99,
    FIGURE_P999,
    FIGURE_MAX,
    LATENCY_FIGURES
};
const char *latency_figure_name(enum latency_figure figure);

enum verdict { VERDICT_NONE, VERDICT_YES, VERDICT_NO, VERDICT_UNDECIDED }; /* NONE: no SLO was given */
const char *verdict_name(enum verdict verdict);                            /* NULL for NONE */

struct summary_service {
    const char *name;
    const struct slo *slo;
    int64_t offered, completed, rejected, timed_out, failed, in_flight, retries,
        fallback; /* totals over replications */
    int64_t tokens_in, tokens_out;

    /* of completed requests that have it, whole window, seconds; max is the mean of the replications' largest
     */
    struct statistic latency[LATENCY_FIGURES], ttft[LATENCY_FIGURES], tpot[LATENCY_FIGURES],
        wait[LATENCY_FIGURES];

    /* of all offered requests: what was not completed ranks as infinite */
    int64_t peak_offered;
    struct statistic peak_p99_s, peak_unserved_share;
    double *peak_p99_without; /* jackknife: without one replication each */
    struct statistic whole_p99_s, whole_unserved_share;

    enum verdict met;
    double p_met; /* share of the replications that met the SLO; NAN without one */
    struct statistic attainment, violation_s;

    struct statistic replicas_mean, replicas_min, replicas_max, cold_starts;
    struct statistic scale_out_p50_s, scale_out_p99_s;
    struct statistic shortage_total, shortage[SHORTAGE_CAUSES]; /* replica-seconds; NAN if need is unknown */
};

struct summary_strategy {
    const char *name;
    const char *policy; /* of the first service */
    struct summary_service *services;
    enum verdict met; /* over all services: the worst */
    struct statistic gpu_total_h, gpu_h[GPU_USES];
    bool priced;
    struct statistic gross, credit, net, per_million_requests,
        per_million_tokens; /* in the scenario's currency */
};

enum comparison_metric { COMPARE_PEAK_P99, COMPARE_COST_GROSS };
const char *comparison_metric_name(enum comparison_metric metric);

struct comparison {
    int32_t a, b;    /* strategies, a < b */
    int32_t service; /* -1 for cost */
    enum comparison_metric metric;
    struct paired paired;
    double p_holm;    /* corrected within all comparisons of this metric */
    bool significant; /* p_holm <= 5 % */
};

struct summary {
    const struct scenario *scenario;
    int32_t replications; /* that the figures rest on */
    int32_t replications_asked;
    bool partial;
    struct summary_strategy *strategies; /* scenario->strategy_count */
    struct comparison *comparisons;
    int32_t comparison_count;
    char **cautions; /* what the reader must know about these figures; whole sentences */
    int32_t caution_count;
    /* memory */
    struct summary_service *services;
    double *values;
};

/*
 * The verdict on one SLO: for each bound the share of the peak's offered requests that missed it, averaged
 * over replications with its Student t interval, against what the quantile allows (1 - q), and the share of
 * all offered requests that were not completed against 1 - success. yes: every upper end is within what is
 * allowed; no: a lower end is above it; else undecided. One replication: its own answer.
 */

/* Errors: memory; an outcome that does not fit the scenario (ERROR_INTERNAL). Free with summary_free, on
 * errors too. The scenario and the outcomes must outlive it (names are borrowed). */
int summary_make(const struct experiment_results *results, struct summary *summary, struct error *err);
void summary_free(struct summary *summary); /* a zeroed one is fine */

/* Cheapest strategy (mean gross cost) whose verdict is yes; -1 if there is none or no prices. Ties: the
 * first. */
int32_t summary_cheapest(const struct summary *summary);

/* The text of summary.json with a final newline; free() it. NULL with err: out of memory. */
char *summary_to_json(const struct summary *summary, struct error *err);

#endif
