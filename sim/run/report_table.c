#include "sim/run/report_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/text_table.h"

enum { NAME_WIDTH = 20, NARROW_NAME = 14, CELL = 96, SPARK = 24, NARROW_SPARK = 15, DIFFERENCES_SHOWN = 12 };

static const char unknown[] = "\xe2\x80\x93"; /* en dash */

/* A name of at most `width` characters; what is longer ends in an ellipsis. */
static const char *short_name(const char *name, size_t width, char text[CELL])
{
    size_t used = 0, characters = 0;

    while (name[used] && used < CELL - 8) {
        size_t next = used + 1;

        while (((unsigned char)name[next] & 0xc0) == 0x80)
            next++;
        if (characters == width - 1 && name[next]) {
            strcpy(text + used, "\xe2\x80\xa6");
            return text;
        }
        if (next >= CELL - 8)
            break;
        memcpy(text + used, name + used, next - used);
        used = next;
        characters++;
    }
    text[used] = '\0';
    return text;
}

/* A line of prose that may hold names: without control characters, wrapped at words. */
static void print_prose(FILE *file, const char *label, const char *text)
{
    size_t indent = text_width(label), column = indent;

    fputs(label, file);
    while (*text) {
        size_t length = strcspn(text, " "), width;
        char *word = strndup(text, length);

        if (!word)
            return;
        width = text_width(word);
        if (column > indent && column + 1 + width > REPORT_WIDTH) {
            fprintf(file, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            fputc(' ', file);
            column++;
        }
        for (unsigned char *c = (unsigned char *)word; *c; c++)
            fputc(*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) ? '?' : *c, file);
        column += width;
        free(word);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}

static const char *percent(double share, char text[CELL])
{
    if (isnan(share))
        return unknown;
    /* a few lost requests must not look like none, nor a miss like a full house */
    if (share > 0 && share < 0.0001)
        return "< 0.01 %";
    if (share < 1 && share > 0.9999)
        return "> 99.99 %";
    snprintf(text, CELL, share == 0 || share == 1 ? "%.0f %%" : "%.2f %%", share * 100);
    return text;
}

/* "1.24 s ± 40.0 ms" */
static const char *duration_with_interval(const struct statistic *statistic, char text[CELL])
{
    char value[32], half[32];

    human_duration(statistic->mean, value, sizeof value);
    if (isfinite(statistic->ci95))
        snprintf(text, CELL, "%s \xc2\xb1 %s", value, human_duration(statistic->ci95, half, sizeof half));
    else
        snprintf(text, CELL, "%s", value);
    return text;
}

static const char *figure(double value, const char *format, char text[CELL])
{
    if (!isfinite(value))
        return unknown;
    snprintf(text, CELL, strcmp(format, "%.0f") == 0 ? "%.0f" : "%.1f", value);
    return text;
}

static const char *money(double value, char text[CELL])
{
    if (!isfinite(value))
        return unknown;
    human_money(value, text, CELL);
    if (fabs(value) >= 1e4 && strchr(text, '.')) /* cents of a large sum are noise */
        *strchr(text, '.') = '\0';
    return text;
}

/* "SLO of chat: latency P99 <= 2 s, success >= 99.9 %" */
static void print_slos(const struct scenario *scenario, FILE *file)
{
    for (int32_t i = 0; i < scenario->service_count; i++) {
        const struct slo *slo = &scenario->services[i].slo;
        char text[1024], bound[32], name[CELL];
        size_t used = (size_t)snprintf(
            text, sizeof text, "SLO of %s:", short_name(scenario->services[i].name, NAME_WIDTH, name));
        const char *separator = "";

        for (int32_t k = 0; k < slo->count; k++) {
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s %s P%g \xe2\x89\xa4 %s", separator,
                slo_metric_name(slo->bounds[k].metric), rint(slo->bounds[k].quantile * 1e5) / 1e3,
                human_duration(sim_time_seconds(slo->bounds[k].bound), bound, sizeof bound));
            separator = ",";
        }
        if (slo->success > 0)
            snprintf(text + used, sizeof text - used, "%s success \xe2\x89\xa5 %g %%", separator,
                     rint(slo->success * 1e6) / 1e4);
        else if (slo->count == 0)
            snprintf(text + used, sizeof text - used, " none");
        print_prose(file, "", text);
    }
}

static void print_head(const struct summary *summary, FILE *file)
{
    const struct scenario *scenario = summary->scenario;
    char horizon[32], warmup[32], peaks[32], text[512];
    sim_time peak = 0;

    for (int32_t i = 0; i < scenario->peak_count; i++)
        peak += scenario->peaks[i].to - scenario->peaks[i].from;
    human_duration(sim_time_seconds(scenario->duration), horizon, sizeof horizon);
    human_duration(sim_time_seconds(scenario->warmup), warmup, sizeof warmup);
    human_duration(sim_time_seconds(peak), peaks, sizeof peaks);
    snprintf(
        text, sizeof text,
        "%s: %s, measured after %s; %d strateg%s, %d replication%s, seed %llu; peak: %d window%s, %s in all",
        scenario->name, horizon, warmup, (int)scenario->strategy_count,
        scenario->strategy_count == 1 ? "y" : "ies", (int)summary->replications,
        summary->replications == 1 ? "" : "s", (unsigned long long)scenario->seed, (int)scenario->peak_count,
        scenario->peak_count == 1 ? "" : "s", peaks);
    print_prose(file, "", text);
    print_slos(scenario, file);
    fputc('\n', file);
}

/* Names share the width with a second column where there are several services. */
static size_t name_width(const struct summary *summary)
{
    return summary->scenario->service_count > 1 ? NARROW_NAME : NAME_WIDTH;
}

static void name_columns(struct text_table *table, const struct summary *summary)
{
    text_table_column(table, "", TEXT_LEFT);
    text_table_column(table, "strategy", TEXT_LEFT);
    if (summary->scenario->service_count > 1)
        text_table_column(table, "service", TEXT_LEFT);
}

/* The mark of the cheapest strategy that meets the SLO, the names. */
static void name_cells(struct text_table *table, const struct summary *summary, int32_t strategy,
                       int32_t service)
{
    char text[CELL];

    text_table_cell(table, "%s", strategy == summary_cheapest(summary) ? "\xe2\x86\x92" : " ");
    text_table_cell(
        table, "%s",
        short_name(service == 0 ? summary->strategies[strategy].name : "", name_width(summary), text));
    if (summary->scenario->service_count > 1)
        text_table_cell(
            table, "%s",
            short_name(summary->strategies[strategy].services[service].name, name_width(summary), text));
}

/* What users get. */
static int print_service_table(const struct summary *summary, FILE *file, bool bold, struct error *err)
{
    struct text_table table;
    char text[CELL];
    int status;

    text_table_init(&table);
    name_columns(&table, summary);
    text_table_column(&table, "P99 in the peaks", TEXT_RIGHT);
    text_table_column(&table, "unserved", TEXT_RIGHT);
    text_table_column(&table, "P99 whole", TEXT_RIGHT);
    text_table_column(&table, "SLO met", TEXT_LEFT);
    text_table_column(&table, "attainment", TEXT_RIGHT);
    text_table_column(&table, "in violation", TEXT_RIGHT);
    for (int32_t s = 0; s < summary->scenario->strategy_count; s++)
        for (int32_t i = 0; i < summary->scenario->service_count; i++) {
            const struct summary_service *service = &summary->strategies[s].services[i];
            const char *met = verdict_name(service->met);

            name_cells(&table, summary, s, i);
            text_table_cell(&table, "%s", duration_with_interval(&service->peak_p99_s, text));
            text_table_cell(&table, "%s", percent(service->peak_unserved_share.mean, text));
            text_table_cell(&table, "%s", human_duration(service->whole_p99_s.mean, text, CELL));
            text_table_cell(&table, "%s", met ? met : unknown);
            text_table_cell(&table, "%s", percent(service->attainment.mean, text));
            text_table_cell(&table, "%s", human_duration(service->violation_s.mean, text, CELL));
        }
    status = text_table_print(&table, file, bold, err);
    text_table_free(&table);
    fputc('\n', file);
    return status;
}

/* Ready replicas of the first replication over time; "" if it kept no series. */
static int spark(const struct experiment_results *results, int32_t strategy, int32_t service, int blocks,
                 char text[CELL], struct error *err)
{
    int32_t first = experiment_first(results);
    double sums[SPARK] = {0}, counts[SPARK] = {0};
    struct series_record record;
    struct spool *spool;
    uint64_t at = 0, count;
    int got, bins;

    text[0] = '\0';
    if (first < 0 || !results->outcomes[strategy * results->replications + first]->series)
        return 0;
    spool = results->outcomes[strategy * results->replications + first]->series[service];
    count = spool_count(spool);
    if (count == 0)
        return 0;
    if (spool_rewind(spool, err) != 0)
        return -1;
    bins = count < (uint64_t)blocks ? (int)count : blocks;
    while ((got = spool_next(spool, &record, err)) > 0 && at < count) {
        uint64_t bin = at++ * (uint64_t)bins / count;

        sums[bin] += (double)record.replicas[REPLICA_READY];
        counts[bin]++;
    }
    if (got < 0)
        return -1;
    for (int k = 0; k < bins; k++)
        sums[k] /= counts[k];
    sparkline(sums, (size_t)bins, text, 3 * SPARK + 1);
    return 0;
}

/* What it takes. */
static int print_cost_table(const struct experiment_results *results, const struct summary *summary,
                            FILE *file, bool bold, struct error *err)
{
    const char *currency = summary->scenario->prices.currency;
    char text[CELL], title[CELL];
    struct text_table table;
    int blocks = summary->scenario->service_count > 1 ? NARROW_SPARK : SPARK, status = 0;

    snprintf(title, sizeof title, "gross %.8s", currency ? currency : "cost");
    text_table_init(&table);
    name_columns(&table, summary);
    text_table_column(&table, "replicas", TEXT_RIGHT);
    text_table_column(&table, "most", TEXT_RIGHT);
    text_table_column(&table, "starts", TEXT_RIGHT);
    text_table_column(&table, "start P50", TEXT_RIGHT);
    text_table_column(&table, "short of", TEXT_RIGHT);
    text_table_column(&table, title, TEXT_RIGHT);
    text_table_column(&table, "per M req", TEXT_RIGHT);
    text_table_column(&table, "ready over time", TEXT_LEFT);
    for (int32_t s = 0; s < summary->scenario->strategy_count && status == 0; s++)
        for (int32_t i = 0; i < summary->scenario->service_count && status == 0; i++) {
            const struct summary_strategy *strategy = &summary->strategies[s];
            const struct summary_service *service = &strategy->services[i];

            name_cells(&table, summary, s, i);
            text_table_cell(&table, "%s", figure(service->replicas_mean.mean, "%.1f", text));
            text_table_cell(&table, "%s", figure(service->replicas_max.high, "%.0f", text));
            text_table_cell(&table, "%s", figure(service->cold_starts.mean, "%.0f", text));
            text_table_cell(&table, "%s", human_duration(service->scale_out_p50_s.mean, text, CELL));
            text_table_cell(&table, "%s", figure(service->shortage_total.mean / 60, "%.0f", text));
            /* cost is the whole strategy's: once */
            text_table_cell(&table, "%s", i == 0 ? money(strategy->gross.mean, text) : "");
            text_table_cell(&table, "%s", i == 0 ? money(strategy->per_million_requests.mean, text) : "");
            status = spark(results, s, i, blocks, text, err);
            text_table_cell(&table, "%s", text);
        }
    if (status == 0)
        status = text_table_print(&table, file, bold, err);
    text_table_free(&table);
    return status;
}

static void print_legend(const struct summary *summary, FILE *file)
{
    int32_t cheapest = summary_cheapest(summary);
    char line[512], name[CELL];

    fputs("short of: replica-minutes that demand needed and were not ready; most: of all replications\n\n",
          file);
    if (cheapest >= 0) {
        snprintf(line, sizeof line, "%s is the cheapest strategy that meets the SLO.",
                 short_name(summary->strategies[cheapest].name, NAME_WIDTH, name));
        print_prose(file, "\xe2\x86\x92 ", line);
    } else if (summary->replications > 0) {
        bool slo = false, priced = false;

        for (int32_t s = 0; s < summary->scenario->strategy_count; s++) {
            slo = slo || summary->strategies[s].met != VERDICT_NONE;
            priced = priced || summary->strategies[s].priced;
        }
        print_prose(file, "",
                    !slo      ? "No service has an SLO, so no strategy can be called good enough."
                    : !priced ? "No prices are given, so no strategy can be called the cheapest."
                              : "No strategy is sure to meet the SLO.");
    }
}

/* "hpa costs 12.30 more than keda (± 0.40)"; "peak P99 of chat: ..." */
static void print_difference(const struct summary *summary, const struct comparison *c, FILE *file)
{
    const struct scenario *scenario = summary->scenario;
    /* the smaller one first */
    bool swap = c->paired.difference > 0;
    const char *low = scenario->strategies[swap ? c->b : c->a].name,
               *high = scenario->strategies[swap ? c->a : c->b].name;
    char line[512], a[CELL], b[CELL], by[64], half[64];

    short_name(low, NAME_WIDTH, a);
    short_name(high, NAME_WIDTH, b);
    if (c->metric == COMPARE_COST_GROSS) {
        human_money(fabs(c->paired.difference), by, sizeof by);
        human_money(c->paired.half, half, sizeof half);
        snprintf(line, sizeof line, "%s is cheaper than %s by %s \xc2\xb1 %s", a, b, by, half);
    } else {
        char service[CELL] = "", label[CELL * 2] = "";

        if (scenario->service_count > 1)
            snprintf(label, sizeof label,
                     "%s: ", short_name(scenario->services[c->service].name, NAME_WIDTH, service));
        if (isfinite(c->paired.difference))
            snprintf(line, sizeof line, "%sthe peak P99 of %s is lower than that of %s by %s \xc2\xb1 %s",
                     label, a, b, human_duration(fabs(c->paired.difference), by, sizeof by),
                     human_duration(c->paired.half, half, sizeof half));
        else if (isnan(c->paired.difference))
            snprintf(line, sizeof line,
                     "%sthe peak P99 of %s and of %s are both infinite, but not in the same replications",
                     label, a, b);
        else
            snprintf(line, sizeof line, "%sthe peak P99 of %s is lower than that of %s, which is infinite",
                     label, a, b);
    }
    print_prose(file, "  ", line);
}

static void print_differences(const struct summary *summary, FILE *file)
{
    int32_t real = 0, tested = 0, shown = 0;

    for (int32_t i = 0; i < summary->comparison_count; i++) {
        tested += summary->comparisons[i].paired.test != COMPARISON_NONE;
        real += summary->comparisons[i].significant;
    }
    if (summary->comparison_count == 0)
        return;
    if (tested == 0) {
        print_prose(file, "", "No difference between strategies can be tested with so few replications.");
        return;
    }
    fprintf(file, "Real differences (%d of %d; paired, 95 %% over all pairs):\n", (int)real,
            (int)summary->comparison_count);
    /* what concerns the recommended strategy first, and latency before cost */
    for (int rank = 0; rank < 4; rank++)
        for (int32_t i = 0; i < summary->comparison_count && shown < DIFFERENCES_SHOWN; i++) {
            const struct comparison *c = &summary->comparisons[i];
            bool recommended = c->a == summary_cheapest(summary) || c->b == summary_cheapest(summary);

            if (!c->significant || (recommended ? 0 : 2) + (c->metric == COMPARE_COST_GROSS) != rank)
                continue;
            print_difference(summary, c, file);
            shown++;
        }
    if (real > shown)
        fprintf(file, "  and %d more, see comparisons in summary.json\n", (int)(real - shown));
    if (real < summary->comparison_count)
        fputs("  All others may be chance.\n", file);
}

static void print_notes(const struct summary *summary, FILE *file)
{
    const struct scenario *scenario = summary->scenario;
    const char *note;

    print_prose(file, "",
                "Intervals: 95 %, simulation noise only; they do not know how wrong the inputs are.");
    for (int32_t i = 0; i < summary->caution_count; i++)
        print_prose(file, "Note: ", summary->cautions[i]);
    for (int32_t i = 0; i < scenario->service_count; i++)
        for (size_t k = 0;
             scenario->services[i].traffic && (note = traffic_note(scenario->services[i].traffic, k)); k++)
            print_prose(file, "Traffic: ", note);
    if (scenario->document) {
        int counts[3] = {0, 0, 0};

        for (size_t i = 0; i < document_input_count(scenario->document); i++)
            counts[document_input(scenario->document, i)->provenance]++;
        fprintf(file, "inputs: %d measured, %d preset, %d guessed; list: peaksim check --inputs\n",
                counts[PROVENANCE_MEASURED], counts[PROVENANCE_PRESET], counts[PROVENANCE_GUESSED]);
    }
}

int report_print_table(const struct experiment_results *results, const struct summary *summary, FILE *file,
                       bool bold, struct error *err)
{
    print_head(summary, file);
    if (print_service_table(summary, file, bold, err) != 0 ||
        print_cost_table(results, summary, file, bold, err) != 0)
        return -1;
    print_legend(summary, file);
    print_differences(summary, file);
    fputc('\n', file);
    print_notes(summary, file);
    if (fflush(file) != 0 || ferror(file))
        return error_set(err, ERROR_SYSTEM, "output", "cannot be written: %s", strerror(errno));
    return 0;
}

int report_print_json(const struct summary *summary, FILE *file, struct error *err)
{
    char *text = summary_to_json(summary, err);
    int status = 0;

    if (!text)
        return -1;
    if (fputs(text, file) == EOF || fflush(file) != 0)
        status = error_set(err, ERROR_SYSTEM, "output", "cannot be written: %s", strerror(errno));
    free(text);
    return status;
}
