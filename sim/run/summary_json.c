#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run/number_text.h"
#include "sim/run/summary.h"

/*
 * summary.json. Numbers are written as raw text (number_text), because cJSON's own printing loses the digits
 * of large integers. A failure to allocate is remembered and reported once, at the end.
 */
struct writer {
    const struct summary *summary;
    bool failed;
};

static cJSON *keep(struct writer *w, cJSON *to, const char *key, cJSON *item)
{
    if (item && to && (key ? cJSON_AddItemToObject(to, key, item) : cJSON_AddItemToArray(to, item)))
        return item;
    cJSON_Delete(item);
    w->failed = true;
    return NULL;
}

static cJSON *object(struct writer *w, cJSON *to, const char *key)
{
    return keep(w, to, key, cJSON_CreateObject());
}

static cJSON *array(struct writer *w, cJSON *to, const char *key)
{
    return keep(w, to, key, cJSON_CreateArray());
}

static void null(struct writer *w, cJSON *to, const char *key)
{
    keep(w, to, key, cJSON_CreateNull());
}

static void text(struct writer *w, cJSON *to, const char *key, const char *value)
{
    keep(w, to, key, value ? cJSON_CreateString(value) : cJSON_CreateNull());
}

static void boolean(struct writer *w, cJSON *to, const char *key, bool value)
{
    keep(w, to, key, cJSON_CreateBool(value));
}

/* NAN and infinity become null. */
static void number(struct writer *w, cJSON *to, const char *key, double value)
{
    char digits[NUMBER_TEXT];

    keep(w, to, key, isfinite(value) ? cJSON_CreateRaw(number_text(digits, value)) : cJSON_CreateNull());
}

static void integer(struct writer *w, cJSON *to, const char *key, int64_t value)
{
    char digits[NUMBER_TEXT];

    snprintf(digits, sizeof digits, "%" PRId64, value);
    keep(w, to, key, cJSON_CreateRaw(digits));
}

static void statistic(struct writer *w, cJSON *to, const char *key, const struct statistic *value)
{
    cJSON *it = object(w, to, key), *each;

    number(w, it, "mean", value->mean);
    number(w, it, "ci95", value->ci95);
    number(w, it, "min", value->low);
    number(w, it, "max", value->high);
    each = array(w, it, "per_replication");
    for (int32_t r = 0; r < w->summary->replications; r++)
        number(w, each, NULL, value->each[r]);
}

static void figures(struct writer *w, cJSON *to, const char *key,
                    const struct statistic values[LATENCY_FIGURES])
{
    cJSON *it = object(w, to, key);

    for (int i = 0; i < LATENCY_FIGURES; i++)
        statistic(w, it, latency_figure_name((enum latency_figure)i), &values[i]);
}

static void requests(struct writer *w, cJSON *to, const struct summary_service *s)
{
    cJSON *it = object(w, to, "requests");

    integer(w, it, "offered", s->offered);
    integer(w, it, "completed", s->completed);
    integer(w, it, "rejected", s->rejected);
    integer(w, it, "timed_out", s->timed_out);
    integer(w, it, "failed", s->failed);
    integer(w, it, "in_flight", s->in_flight);
    integer(w, it, "retries", s->retries);
    integer(w, it, "fallback", s->fallback);
    integer(w, it, "tokens_in", s->tokens_in);
    integer(w, it, "tokens_out", s->tokens_out);
}

static void slo(struct writer *w, cJSON *to, const struct summary_service *s)
{
    cJSON *it = object(w, to, "slo"), *bounds;

    text(w, it, "met", verdict_name(s->met));
    statistic(w, it, "attainment", &s->attainment);
    statistic(w, it, "violation_s", &s->violation_s);
    number(w, it, "p_met", s->p_met);
    bounds = array(w, it, "bounds");
    for (int32_t i = 0; i < s->slo->count; i++) {
        cJSON *bound = object(w, bounds, NULL);

        text(w, bound, "metric", slo_metric_name(s->slo->bounds[i].metric));
        number(w, bound, "quantile", s->slo->bounds[i].quantile);
        number(w, bound, "bound_s", sim_time_seconds(s->slo->bounds[i].bound));
    }
    if (s->slo->success > 0)
        number(w, it, "success", s->slo->success);
    else
        null(w, it, "success");
}

static void shortage(struct writer *w, cJSON *to, const struct summary_service *s)
{
    /* in the order of the documentation: the total, the policy's side, the stages, the rest */
    static const enum shortage_cause order[SHORTAGE_CAUSES] = {
        SHORTAGE_POLICY, SHORTAGE_METRICS,  SHORTAGE_LIMIT,   SHORTAGE_SCHEDULE,
        SHORTAGE_NODE,   SHORTAGE_PULL,     SHORTAGE_LOAD,    SHORTAGE_INIT,
        SHORTAGE_PROBE,  SHORTAGE_ENDPOINT, SHORTAGE_RECLAIM, SHORTAGE_FAILURE};
    cJSON *it = object(w, to, "shortage_replica_s");

    statistic(w, it, "total", &s->shortage_total);
    for (int i = 0; i < SHORTAGE_CAUSES; i++)
        statistic(w, it, shortage_cause_name(order[i]), &s->shortage[order[i]]);
}

static void service(struct writer *w, cJSON *to, const struct summary_service *s)
{
    cJSON *it = object(w, to, NULL), *part;

    text(w, it, "name", s->name);
    requests(w, it, s);
    figures(w, it, "latency_s", s->latency);
    figures(w, it, "ttft_s", s->ttft);
    figures(w, it, "tpot_s", s->tpot);
    figures(w, it, "wait_s", s->wait);
    part = object(w, it, "peak");
    statistic(w, part, "p99_s", &s->peak_p99_s);
    statistic(w, part, "unserved_share", &s->peak_unserved_share);
    integer(w, part, "windows", w->summary->scenario->peak_count);
    integer(w, part, "offered", s->peak_offered);
    part = object(w, it, "whole");
    statistic(w, part, "p99_s", &s->whole_p99_s);
    statistic(w, part, "unserved_share", &s->whole_unserved_share);
    slo(w, it, s);
    part = object(w, it, "replicas");
    statistic(w, part, "mean", &s->replicas_mean);
    statistic(w, part, "min", &s->replicas_min);
    statistic(w, part, "max", &s->replicas_max);
    statistic(w, part, "cold_starts", &s->cold_starts);
    part = object(w, it, "scale_out_s");
    statistic(w, part, "p50", &s->scale_out_p50_s);
    statistic(w, part, "p99", &s->scale_out_p99_s);
    shortage(w, it, s);
}

static void cost(struct writer *w, cJSON *to, const struct summary_strategy *s)
{
    cJSON *it = object(w, to, "cost");

    text(w, it, "currency", s->priced ? w->summary->scenario->prices.currency : NULL);
    statistic(w, it, "gross", &s->gross);
    statistic(w, it, "credit", &s->credit);
    statistic(w, it, "net", &s->net);
    null(w, it, "break_even_batch_value");
    statistic(w, it, "per_million_requests", &s->per_million_requests);
    statistic(w, it, "per_million_tokens", &s->per_million_tokens);
    null(w, it, "regret");
}

static void strategy(struct writer *w, cJSON *to, const struct summary_strategy *s)
{
    cJSON *it = object(w, to, NULL), *part;

    text(w, it, "name", s->name);
    text(w, it, "policy", s->policy);
    text(w, it, "slo_met", verdict_name(s->met));
    part = array(w, it, "services");
    for (int32_t i = 0; i < w->summary->scenario->service_count; i++)
        service(w, part, &s->services[i]);
    part = object(w, it, "gpu_hours");
    statistic(w, part, "total", &s->gpu_total_h);
    for (int use = 0; use < GPU_USES; use++)
        statistic(w, part, gpu_use_name((enum gpu_use)use), &s->gpu_h[use]);
    cost(w, it, s);
}

static void comparison(struct writer *w, cJSON *to, const struct comparison *c)
{
    const struct scenario *scenario = w->summary->scenario;
    cJSON *it = object(w, to, NULL), *interval;

    text(w, it, "a", scenario->strategies[c->a].name);
    text(w, it, "b", scenario->strategies[c->b].name);
    text(w, it, "metric", comparison_metric_name(c->metric));
    text(w, it, "service", c->service >= 0 ? scenario->services[c->service].name : NULL);
    number(w, it, "difference", c->paired.difference);
    interval = array(w, it, "ci95");
    number(w, interval, NULL, c->paired.difference - c->paired.half);
    number(w, interval, NULL, c->paired.difference + c->paired.half);
    boolean(w, it, "significant", c->significant);
    text(w, it, "test", comparison_test_name(c->paired.test));
    number(w, it, "p", c->paired.p);
    number(w, it, "p_holm", c->p_holm);
}

static void inputs(struct writer *w, cJSON *to, const struct document *document)
{
    int64_t counts[3] = {0, 0, 0};
    cJSON *it = object(w, to, "inputs");

    for (size_t i = 0; document && i < document_input_count(document); i++)
        counts[document_input(document, i)->provenance]++;
    integer(w, it, "measured", counts[PROVENANCE_MEASURED]);
    integer(w, it, "preset", counts[PROVENANCE_PRESET]);
    integer(w, it, "guessed", counts[PROVENANCE_GUESSED]);
}

static void notes(struct writer *w, cJSON *to)
{
    const struct summary *summary = w->summary;
    cJSON *it = array(w, to, "notes");
    const char *note;

    for (int32_t i = 0; i < summary->caution_count; i++)
        text(w, it, NULL, summary->cautions[i]);
    for (int32_t i = 0; i < summary->scenario->service_count; i++) {
        const struct traffic *traffic = summary->scenario->services[i].traffic;

        for (size_t k = 0; traffic && (note = traffic_note(traffic, k)); k++)
            text(w, it, NULL, note);
    }
}

static void head(struct writer *w, cJSON *root)
{
    const struct scenario *scenario = w->summary->scenario;
    char digits[NUMBER_TEXT];
    cJSON *peaks;

    integer(w, root, "schema", 1);
    text(w, root, "scenario", scenario->name);
    snprintf(digits, sizeof digits, "%" PRIu64, scenario->seed);
    keep(w, root, "seed", cJSON_CreateRaw(digits));
    integer(w, root, "replications", w->summary->replications);
    integer(w, root, "replications_asked", w->summary->replications_asked);
    boolean(w, root, "partial", w->summary->partial);
    number(w, root, "horizon_s", sim_time_seconds(scenario->duration));
    number(w, root, "warmup_s", sim_time_seconds(scenario->warmup));
    number(w, root, "bucket_s", sim_time_seconds(scenario->bucket));
    text(w, root, "intervals", "simulation noise only");
    peaks = array(w, root, "peak_windows");
    for (int32_t i = 0; i < scenario->peak_count; i++) {
        cJSON *peak = object(w, peaks, NULL);

        number(w, peak, "from_s", sim_time_seconds(scenario->peaks[i].from));
        number(w, peak, "to_s", sim_time_seconds(scenario->peaks[i].to));
    }
    inputs(w, root, scenario->document);
    notes(w, root);
}

char *summary_to_json(const struct summary *summary, struct error *err)
{
    struct writer w = {summary, false};
    cJSON *root = cJSON_CreateObject(), *list;
    char *printed = NULL, *out = NULL;
    size_t length;

    if (root) {
        head(&w, root);
        list = array(&w, root, "strategies");
        for (int32_t s = 0; s < summary->scenario->strategy_count; s++)
            strategy(&w, list, &summary->strategies[s]);
        list = array(&w, root, "comparisons");
        for (int32_t i = 0; i < summary->comparison_count; i++)
            comparison(&w, list, &summary->comparisons[i]);
        if (!w.failed)
            printed = cJSON_Print(root);
    }
    cJSON_Delete(root);
    if (printed) {
        length = strlen(printed);
        out = malloc(length + 2);
        if (out) {
            memcpy(out, printed, length);
            memcpy(out + length, "\n", 2);
        }
        cJSON_free(printed);
    }
    if (!out)
        error_memory(err, "summary.json");
    return out;
}
