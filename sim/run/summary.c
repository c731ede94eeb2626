#include "sim/run/summary.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Statistics of a service and of a strategy, to size the memory of their values; the last one is
 * peak_p99_without. */
enum {
    SERVICE_STATISTICS = 4 * LATENCY_FIGURES + 4 + 2 + 4 + 2 + 1 + SHORTAGE_CAUSES + 1,
    STRATEGY_STATISTICS = 1 + GPU_USES + 5
};

struct maker {
    struct summary *summary;
    const struct experiment_results *results;
    const int32_t *used; /* replications that count */
    int32_t n;
    const struct outcome **runs;    /* of the strategy at hand */
    const struct histogram **parts; /* scratch: 2 a replication */
    double *scratch;                /* LATENCY_FIGURES * n */
    double *cursor, *end;           /* free values */
    struct error *err;
};

const char *latency_figure_name(enum latency_figure figure)
{
    static const char *const names[LATENCY_FIGURES] = {"mean", "p50", "p90", "p95", "p99", "p999", "max"};

    return (unsigned)figure < LATENCY_FIGURES ? names[figure] : "unknown";
}

const char *verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_NONE:
        return NULL;
    case VERDICT_YES:
        return "yes";
    case VERDICT_NO:
        return "no";
    case VERDICT_UNDECIDED:
        return "undecided";
    }
    return NULL;
}

const char *comparison_metric_name(enum comparison_metric metric)
{
    return metric == COMPARE_PEAK_P99 ? "peak_p99_s" : "cost_gross";
}

static double *take(struct maker *m)
{
    double *values = m->cursor;

    assert(m->end - m->cursor >= m->n);
    m->cursor += m->n;
    return values;
}

/* From the values in statistic->each. */
static void finish_mean(struct maker *m, struct statistic *statistic)
{
    struct estimate estimate = statistics_mean(statistic->each, m->n);

    statistic->mean = estimate.value;
    statistic->ci95 = estimate.half;
    statistics_range(statistic->each, m->n, &statistic->low, &statistic->high);
}

static void mean_of(struct maker *m, struct statistic *statistic,
                    double (*get)(const struct outcome *run, int32_t which), int32_t which)
{
    statistic->each = take(m);
    for (int32_t r = 0; r < m->n; r++)
        statistic->each[r] = get(m->runs[r], which);
    finish_mean(m, statistic);
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

/* ---- of one service; `which` is its index ---- */

static double peak_unserved(const struct outcome *run, int32_t which)
{
    const struct histogram *h = &run->services[which].latency_peak;

    return share(h->beyond, h->total + h->beyond);
}

static double whole_unserved(const struct outcome *run, int32_t which)
{
    const struct outcome_service *s = &run->services[which];

    return share(s->offered - s->completed, s->offered);
}

static double attainment(const struct outcome *run, int32_t which)
{
    return share(run->services[which].good, run->services[which].offered);
}

static double violation_s(const struct outcome *run, int32_t which)
{
    return 60.0 * (double)run->services[which].violation_windows;
}

static double replicas_mean(const struct outcome *run, int32_t which)
{
    return run->services[which].replicas_mean;
}

static double replicas_min(const struct outcome *run, int32_t which)
{
    return (double)run->services[which].replicas_min;
}

static double replicas_max(const struct outcome *run, int32_t which)
{
    return (double)run->services[which].replicas_max;
}

static double cold_starts(const struct outcome *run, int32_t which)
{
    return (double)run->services[which].cold_starts;
}

static double shortage_total(const struct outcome *run, int32_t which)
{
    return run->services[which].shortage_total_replica_s;
}

/* ---- of one run ---- */

static double gpu_total(const struct outcome *run, int32_t which)
{
    (void)which;
    return run->gpu_seconds_billed / 3600;
}

static double gpu_of_use(const struct outcome *run, int32_t which)
{
    return run->gpu_seconds[which] / 3600;
}

static double gross(const struct outcome *run, int32_t which)
{
    (void)which;
    return run->priced ? (double)run->gross_micro / 1e6 : (double)NAN;
}

static double credit(const struct outcome *run, int32_t which)
{
    (void)which;
    return run->priced ? (double)run->credit_micro / 1e6 : (double)NAN;
}

static double net(const struct outcome *run, int32_t which)
{
    (void)which;
    return run->priced ? (double)(run->gross_micro - run->credit_micro) / 1e6 : (double)NAN;
}

static double per_million_requests(const struct outcome *run, int32_t which)
{
    int64_t completed = 0;

    (void)which;
    for (int32_t i = 0; i < run->service_count; i++)
        completed += run->services[i].completed;
    /* micro-units per unit are units per million units */
    return run->priced ? share(run->gross_micro, completed) : (double)NAN;
}

static double per_million_tokens(const struct outcome *run, int32_t which)
{
    int64_t tokens = 0;

    (void)which;
    for (int32_t i = 0; i < run->service_count; i++)
        tokens += run->services[i].tokens_in + run->services[i].tokens_out;
    return run->priced ? share(run->gross_micro, tokens) : (double)NAN;
}

/* ---- quantiles ---- */

enum part { PART_PEAK, PART_WHOLE, PART_TTFT, PART_TPOT, PART_WAIT, PART_SCALE_OUT };

/* Fills m->parts; returns how many histograms a replication has. */
static int32_t parts_of(struct maker *m, int32_t service, enum part part)
{
    int32_t width = part == PART_WHOLE ? 2 : 1;

    for (int32_t r = 0; r < m->n; r++) {
        const struct outcome_service *s = &m->runs[r]->services[service];
        const struct histogram **at = m->parts + r * width;

        switch (part) {
        case PART_PEAK:
            at[0] = &s->latency_peak;
            break;
        case PART_WHOLE:
            at[0] = &s->latency_peak;
            at[1] = &s->latency_off;
            break;
        case PART_TTFT:
            at[0] = &s->ttft;
            break;
        case PART_TPOT:
            at[0] = &s->tpot;
            break;
        case PART_WAIT:
            at[0] = &s->wait;
            break;
        case PART_SCALE_OUT:
            at[0] = &s->scale_out;
            break;
        }
    }
    return width;
}

static int quantiles_of(struct maker *m, int32_t service, enum part part, bool finite_only,
                        const double *quantiles, int32_t count, struct statistic *const *statistics,
                        double *without)
{
    struct quantile_request request = {m->parts, m->n, 1, finite_only, 1e-9, quantiles, count};
    struct estimate estimates[LATENCY_FIGURES];

    assert(count <= LATENCY_FIGURES);
    request.width = parts_of(m, service, part);
    if (statistics_quantiles(&request, estimates, m->scratch, without, m->err) != 0)
        return -1;
    for (int32_t k = 0; k < count; k++) {
        struct statistic *statistic = statistics[k];

        statistic->each = take(m);
        for (int32_t r = 0; r < m->n; r++)
            statistic->each[r] = m->scratch[k * m->n + r];
        statistic->mean = estimates[k].value;
        statistic->ci95 = estimates[k].half;
        statistics_range(statistic->each, m->n, &statistic->low, &statistic->high);
    }
    return 0;
}

/* All figures of a latency of completed requests. */
static int figures_of(struct maker *m, int32_t service, enum part part,
                      struct statistic figures[LATENCY_FIGURES])
{
    static const double quantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    struct statistic *const statistics[] = {&figures[FIGURE_P50], &figures[FIGURE_P90], &figures[FIGURE_P95],
                                            &figures[FIGURE_P99], &figures[FIGURE_P999]};
    struct statistic *mean = &figures[FIGURE_MEAN], *max = &figures[FIGURE_MAX];
    int32_t width;

    if (quantiles_of(m, service, part, true, quantiles, 5, statistics, NULL) != 0)
        return -1;
    width = parts_of(m, service, part);
    mean->each = take(m);
    max->each = take(m);
    for (int32_t r = 0; r < m->n; r++) {
        double sum = 0;
        int64_t total = 0, high = -1;

        for (int32_t j = 0; j < width; j++) {
            const struct histogram *h = m->parts[r * width + j];

            sum += (double)h->sum;
            total += h->total;
            if (h->total > 0 && h->high > high)
                high = h->high;
        }
        mean->each[r] = total > 0 ? sum / (double)total * 1e-9 : (double)NAN;
        max->each[r] = high >= 0 ? (double)high * 1e-9 : (double)NAN;
    }
    finish_mean(m, mean);
    finish_mean(m, max);
    return 0;
}

/* ---- the verdict ---- */

/* Share of the requests that may miss, with room for the rounding of 1 - q. */
static double allowance(double q)
{
    return 1 - q + 1e-12;
}

static double bound_missed_share(const struct outcome_service *s, int32_t bound)
{
    return share(s->bound_missed_peak[bound], s->latency_peak.total + s->latency_peak.beyond);
}

static bool replication_met(const struct outcome_service *s, const struct slo *slo)
{
    for (int32_t i = 0; i < slo->count; i++)
        if (bound_missed_share(s, i) > allowance(slo->bounds[i].quantile))
            return false;
    return !(slo->success > 0 && share(s->offered - s->completed, s->offered) > allowance(slo->success));
}

/* NAN shares (no request in the peaks) show nothing against the service. */
static enum verdict judge(const double *shares, int32_t n, double allowed)
{
    struct estimate missed = statistics_mean(shares, n);
    double half = isnan(missed.half) ? 0 : missed.half;

    if (isnan(missed.value) || missed.value + half <= allowed)
        return VERDICT_YES;
    return missed.value - half > allowed ? VERDICT_NO : VERDICT_UNDECIDED;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    static const int badness[] = {
        [VERDICT_NONE] = 0, [VERDICT_YES] = 1, [VERDICT_UNDECIDED] = 2, [VERDICT_NO] = 3};

    return badness[a] >= badness[b] ? a : b;
}

static void judge_slo(struct maker *m, int32_t service, struct summary_service *out)
{
    const struct slo *slo = out->slo;
    int32_t met = 0;

    out->met = VERDICT_NONE;
    out->p_met = NAN;
    if (m->n == 0 || (slo->count == 0 && !(slo->success > 0)))
        return;
    if (out->offered == 0) { /* nothing speaks for it either */
        out->met = VERDICT_UNDECIDED;
        return;
    }
    for (int32_t i = 0; i < slo->count; i++) {
        for (int32_t r = 0; r < m->n; r++)
            m->scratch[r] = bound_missed_share(&m->runs[r]->services[service], i);
        out->met = worse(out->met, judge(m->scratch, m->n, allowance(slo->bounds[i].quantile)));
    }
    if (slo->success > 0) {
        for (int32_t r = 0; r < m->n; r++)
            m->scratch[r] = whole_unserved(m->runs[r], service);
        out->met = worse(out->met, judge(m->scratch, m->n, allowance(slo->success)));
    }
    for (int32_t r = 0; r < m->n; r++)
        met += replication_met(&m->runs[r]->services[service], slo);
    out->p_met = (double)met / m->n;
}

/* ---- putting it together ---- */

static void add_counts(struct maker *m, int32_t service, struct summary_service *out)
{
    for (int32_t r = 0; r < m->n; r++) {
        const struct outcome_service *s = &m->runs[r]->services[service];

        out->offered += s->offered;
        out->completed += s->completed;
        out->rejected += s->rejected;
        out->timed_out += s->timed_out;
        out->failed += s->failed;
        out->in_flight += s->in_flight;
        out->retries += s->retries;
        out->fallback += s->fallback;
        out->tokens_in += s->tokens_in;
        out->tokens_out += s->tokens_out;
        out->peak_offered += s->latency_peak.total + s->latency_peak.beyond;
    }
}

static void shortage_of(struct maker *m, int32_t service, struct summary_service *out)
{
    mean_of(m, &out->shortage_total, shortage_total, service);
    for (int32_t cause = 0; cause < SHORTAGE_CAUSES; cause++) {
        struct statistic *statistic = &out->shortage[cause];

        statistic->each = take(m);
        for (int32_t r = 0; r < m->n; r++) {
            const struct outcome_service *s = &m->runs[r]->services[service];

            statistic->each[r] = isnan(s->shortage_total_replica_s) ? (double)NAN
                                                                    : s->shortage_replica_s[cause];
        }
        finish_mean(m, statistic);
    }
}

static int make_service(struct maker *m, int32_t service, struct summary_service *out)
{
    static const double p99[] = {0.99}, p50_p99[] = {0.5, 0.99};
    struct statistic *const peak[] = {&out->peak_p99_s}, *const whole[] = {&out->whole_p99_s};
    struct statistic *const scale_out[] = {&out->scale_out_p50_s, &out->scale_out_p99_s};

    add_counts(m, service, out);
    out->peak_p99_without = take(m);
    if (figures_of(m, service, PART_WHOLE, out->latency) != 0 ||
        figures_of(m, service, PART_TTFT, out->ttft) != 0 ||
        figures_of(m, service, PART_TPOT, out->tpot) != 0 ||
        figures_of(m, service, PART_WAIT, out->wait) != 0 ||
        quantiles_of(m, service, PART_PEAK, false, p99, 1, peak, out->peak_p99_without) != 0 ||
        quantiles_of(m, service, PART_WHOLE, false, p99, 1, whole, NULL) != 0 ||
        quantiles_of(m, service, PART_SCALE_OUT, true, p50_p99, 2, scale_out, NULL) != 0)
        return -1;
    mean_of(m, &out->peak_unserved_share, peak_unserved, service);
    mean_of(m, &out->whole_unserved_share, whole_unserved, service);
    mean_of(m, &out->attainment, attainment, service);
    mean_of(m, &out->violation_s, violation_s, service);
    mean_of(m, &out->replicas_mean, replicas_mean, service);
    mean_of(m, &out->replicas_min, replicas_min, service);
    mean_of(m, &out->replicas_max, replicas_max, service);
    mean_of(m, &out->cold_starts, cold_starts, service);
    shortage_of(m, service, out);
    judge_slo(m, service, out);
    return 0;
}

/* The runs of one strategy into m->runs, checked against the scenario. */
static int gather_runs(struct maker *m, int32_t strategy)
{
    const struct scenario *scenario = m->results->scenario;

    for (int32_t r = 0; r < m->n; r++) {
        const struct outcome *run = m->results->outcomes[strategy * m->results->replications + m->used[r]];

        if (run->service_count != scenario->service_count)
            return error_set(m->err, ERROR_INTERNAL, "summary", "a run has %d services, the scenario %d",
                             (int)run->service_count, (int)scenario->service_count);
        for (int32_t i = 0; i < run->service_count; i++)
            if (run->services[i].bounds != scenario->services[i].slo.count)
                return error_set(m->err, ERROR_INTERNAL, "summary",
                                 "a run of service \"%s\" counted %d SLO bounds, the scenario has %d",
                                 scenario->services[i].name, (int)run->services[i].bounds,
                                 (int)scenario->services[i].slo.count);
        m->runs[r] = run;
    }
    return 0;
}

static int make_strategy(struct maker *m, int32_t strategy, struct summary_strategy *out)
{
    const struct scenario *scenario = m->results->scenario;

    if (gather_runs(m, strategy) != 0)
        return -1;
    for (int32_t i = 0; i < scenario->service_count; i++) {
        out->services[i].name = scenario->services[i].name;
        out->services[i].slo = &scenario->services[i].slo;
        if (make_service(m, i, &out->services[i]) != 0)
            return -1;
        out->met = worse(out->met, out->services[i].met);
    }
    mean_of(m, &out->gpu_total_h, gpu_total, 0);
    for (int32_t use = 0; use < GPU_USES; use++)
        mean_of(m, &out->gpu_h[use], gpu_of_use, use);
    mean_of(m, &out->gross, gross, 0);
    mean_of(m, &out->credit, credit, 0);
    mean_of(m, &out->net, net, 0);
    mean_of(m, &out->per_million_requests, per_million_requests, 0);
    mean_of(m, &out->per_million_tokens, per_million_tokens, 0);
    out->priced = !isnan(out->gross.mean);
    return 0;
}

static int correct_family(struct summary *summary, enum comparison_metric metric, double *p, double *adjusted,
                          struct error *err)
{
    for (int32_t i = 0; i < summary->comparison_count; i++)
        p[i] = summary->comparisons[i].metric == metric ? summary->comparisons[i].paired.p : (double)NAN;
    if (statistics_holm(p, summary->comparison_count, adjusted, err) != 0)
        return -1;
    for (int32_t i = 0; i < summary->comparison_count; i++) {
        struct comparison *c = &summary->comparisons[i];

        if (c->metric != metric)
            continue;
        c->p_holm = adjusted[i];
        c->significant = adjusted[i] <= 1 - STATISTICS_CONFIDENCE;
    }
    return 0;
}

/* All pairs: the peak P99 of each service, then cost. */
static int make_comparisons(struct summary *summary, struct error *err)
{
    int32_t strategies = summary->scenario->strategy_count, services = summary->scenario->service_count;
    int32_t pairs = strategies * (strategies - 1) / 2, at = 0;
    int32_t n = summary->replications;
    size_t count = (size_t)pairs * (size_t)(services + 1);
    double *p;
    int status;

    summary->comparisons = calloc(count ? count : 1, sizeof *summary->comparisons);
    p = calloc(count ? 2 * count : 1, sizeof *p);
    if (!summary->comparisons || !p) {
        free(p);
        return error_memory(err, "summary");
    }
    for (int32_t a = 0; a < strategies; a++)
        for (int32_t b = a + 1; b < strategies; b++) {
            const struct summary_strategy *sa = &summary->strategies[a], *sb = &summary->strategies[b];

            for (int32_t i = 0; i < services; i++) {
                const struct summary_service *x = &sa->services[i], *y = &sb->services[i];

                summary->comparisons[at++] = (struct comparison){
                    a,
                    b,
                    i,
                    COMPARE_PEAK_P99,
                    statistics_paired_quantile(x->peak_p99_s.mean, y->peak_p99_s.mean, x->peak_p99_without,
                                               y->peak_p99_without, x->peak_p99_s.each, y->peak_p99_s.each,
                                               n),
                    NAN,
                    false};
            }
            summary->comparisons[at++] = (struct comparison){
                a,   b,    -1, COMPARE_COST_GROSS, statistics_paired_mean(sa->gross.each, sb->gross.each, n),
                NAN, false};
        }
    summary->comparison_count = at;
    status = correct_family(summary, COMPARE_PEAK_P99, p, p + count, err);
    if (status == 0)
        status = correct_family(summary, COMPARE_COST_GROSS, p, p + count, err);
    free(p);
    return status;
}

/* ---- what the reader must know ---- */

static int caution(struct summary *summary, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int caution(struct summary *summary, struct error *err, const char *format, ...)
{
    char **grown = realloc(summary->cautions, sizeof *grown * (size_t)(summary->caution_count + 1));
    char text[1024];
    va_list args;

    if (!grown)
        return error_memory(err, "summary");
    summary->cautions = grown;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    grown[summary->caution_count] = strdup(text);
    if (!grown[summary->caution_count])
        return error_memory(err, "summary");
    summary->caution_count++;
    return 0;
}

/* A P99 whose upper hundredth is a handful of requests, a single peak, few replications. */
static int make_cautions(struct summary *summary, struct error *err)
{
    const struct scenario *scenario = summary->scenario;

    if (summary->partial && caution(summary, err, "Interrupted: the figures rest on %d of %d replications.",
                                    (int)summary->replications, (int)summary->replications_asked) != 0)
        return -1;
    if (summary->replications == 1 &&
        caution(summary, err,
                "One replication: no interval can be given, and no difference can be called real.") != 0)
        return -1;
    if (summary->replications > 1 && summary->replications < STATISTICS_JACKKNIFE_LEAST &&
        caution(summary, err, "%d replications: intervals of quantiles need %d.", (int)summary->replications,
                STATISTICS_JACKKNIFE_LEAST) != 0)
        return -1;
    if (scenario->peak_count == 1 && summary->replications > 0 &&
        caution(summary, err,
                "One peak window: the peak P99 says how this peak goes, not how peaks differ.") != 0)
        return -1;
    for (int32_t i = 0;
         i < scenario->service_count && summary->replications > 0 && scenario->strategy_count > 0; i++) {
        int64_t offered = summary->strategies[0].services[i].peak_offered; /* the same under every strategy */

        if (offered == 0 && caution(summary, err, "Service \"%s\" had no request in the peak windows.",
                                    scenario->services[i].name) != 0)
            return -1;
        if (offered > 0 && offered < 1000 &&
            caution(summary, err,
                    "Service \"%s\": the peak P99 rests on %lld requests in all replications, %lld of them "
                    "above it.",
                    scenario->services[i].name, (long long)offered, (long long)(offered / 100)) != 0)
            return -1;
    }
    return 0;
}

bool experiment_complete(const struct experiment_results *results, int32_t r)
{
    for (int32_t s = 0; s < results->scenario->strategy_count; s++)
        if (!results->outcomes[s * results->replications + r])
            return false;
    return true;
}

int32_t experiment_first(const struct experiment_results *results)
{
    for (int32_t r = 0; r < results->replications; r++)
        if (experiment_complete(results, r))
            return r;
    return -1;
}

/* Replications that count. Returns how many. */
static int32_t usable(const struct experiment_results *results, int32_t *used)
{
    int32_t n = 0;

    for (int32_t r = 0; r < results->replications; r++)
        if (experiment_complete(results, r))
            used[n++] = r;
    return n;
}

static int make_all(struct maker *m)
{
    struct summary *summary = m->summary;
    const struct scenario *scenario = summary->scenario;

    for (int32_t s = 0; s < scenario->strategy_count; s++) {
        struct summary_strategy *out = &summary->strategies[s];

        out->name = scenario->strategies[s].name;
        out->policy = scenario->service_count > 0 && scenario->strategies[s].policies[0].type
                          ? scenario->strategies[s].policies[0].type->name
                          : "";
        out->services = summary->services + (size_t)s * (size_t)scenario->service_count;
        if (make_strategy(m, s, out) != 0)
            return -1;
    }
    if (make_comparisons(summary, m->err) != 0)
        return -1;
    return make_cautions(summary, m->err);
}

int summary_make(const struct experiment_results *results, struct summary *summary, struct error *err)
{
    const struct scenario *scenario = results->scenario;
    size_t strategies = (size_t)scenario->strategy_count, services = (size_t)scenario->service_count;
    size_t n = (size_t)results->replications, rows;
    struct maker m = {.summary = summary, .results = results, .err = err};
    int32_t *used = calloc(n ? n : 1, sizeof *used);
    int status = -1;

    *summary = (struct summary){
        .scenario = scenario, .replications_asked = results->replications, .partial = results->partial};
    rows = strategies * (services * SERVICE_STATISTICS + STRATEGY_STATISTICS);
    summary->strategies = calloc(strategies ? strategies : 1, sizeof *summary->strategies);
    summary->services = calloc(strategies * services + 1, sizeof *summary->services);
    summary->values = calloc(rows * n + 1, sizeof *summary->values);
    m.runs = calloc(n ? n : 1, sizeof *m.runs);
    m.parts = calloc(n ? 2 * n : 1, sizeof *m.parts);
    m.scratch = calloc(LATENCY_FIGURES * n + 1, sizeof *m.scratch);
    if (!used || !summary->strategies || !summary->services || !summary->values || !m.runs || !m.parts ||
        !m.scratch) {
        error_memory(err, "summary");
        goto out;
    }
    m.used = used;
    m.n = summary->replications = usable(results, used);
    m.cursor = summary->values;
    m.end = summary->values + rows * n;
    status = make_all(&m);
out:
    free(used);
    free(m.runs);
    free(m.parts);
    free(m.scratch);
    return status;
}

void summary_free(struct summary *summary)
{
    for (int32_t i = 0; i < summary->caution_count; i++)
        free(summary->cautions[i]);
    free(summary->cautions);
    free(summary->comparisons);
    free(summary->strategies);
    free(summary->services);
    free(summary->values);
    *summary = (struct summary){0};
}

int32_t summary_cheapest(const struct summary *summary)
{
    int32_t best = -1;

    for (int32_t s = 0; s < summary->scenario->strategy_count; s++) {
        const struct summary_strategy *strategy = &summary->strategies[s];

        if (strategy->met != VERDICT_YES || !strategy->priced)
            continue;
        if (best < 0 || strategy->gross.mean < summary->strategies[best].gross.mean)
            best = s;
    }
    return best;
}
