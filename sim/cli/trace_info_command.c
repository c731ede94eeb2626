#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "models/traffic/trace_info.h"
#include "sim/cli/trace_commands.h"
#include "sim/io/text_table.h"

enum { TEXT = 64 };

/* A date where the trace's clock counts since 1970, else seconds. */
static const char *when(int64_t at, char text[TEXT])
{
    time_t seconds = (time_t)(at / SIM_SECOND);
    struct tm tm;

    if (at < 100000000 * SIM_SECOND || !gmtime_r(&seconds, &tm)) { /* before 1973: no date */
        snprintf(text, TEXT, "%.9g s", sim_time_seconds(at));
        return text;
    }
    strftime(text, TEXT, "%Y-%m-%d %H:%M:%S UTC", &tm);
    return text;
}

static void row(struct text_table *table, const char *name, const char *format, double value)
{
    text_table_cell(table, "%s", name);
    if (isnan(value))
        text_table_cell(table, "–");
    else
        text_table_cell(table, format, value);
}

static void bins_rows(struct text_table *table, const char *width, const struct trace_bins *bins)
{
    char name[TEXT];

    snprintf(name, sizeof name, "peak %s", width);
    row(table, name, "%.0f requests", (double)bins->peak);
    snprintf(name, sizeof name, "peak / mean %s", width);
    row(table, name, "%.4f", bins->peak_to_mean);
    snprintf(name, sizeof name, "empty %s bins", width);
    text_table_cell(table, "%s", name);
    text_table_cell(table, "%lld of %lld", (long long)bins->empty, (long long)bins->bins);
    snprintf(name, sizeof name, "dispersion %s", width);
    row(table, name, "%.4f", bins->dispersion);
}

static void values_rows(struct text_table *table, const char *name, const struct trace_values *v, double unit,
                        const char *unit_name)
{
    text_table_cell(table, "%s", name);
    text_table_cell(table, "mean %.4f, p50 %.10g, p90 %.10g, p99 %.10g, max %.10g, sum %.10g%s",
                    v->mean / unit, (double)v->p50 / unit, (double)v->p90 / unit, (double)v->p99 / unit,
                    (double)v->max / unit, (double)v->sum / unit, unit_name);
}

static void requests_rows(struct text_table *table, const struct trace_info *info)
{
    row(table, "span", "%.9f s", info->span_s);
    row(table, "mean rate", "%.6f requests/s", info->mean_per_s);
    bins_rows(table, "1 s", &info->second);
    bins_rows(table, "60 s", &info->minute);
    row(table, "gap CV", "%.4f", info->gap_cv);
    row(table, "longest gap", "%.6f s", info->gap_max_s);
    if (info->has_tokens) {
        values_rows(table, "input tokens", &info->in, 1, "");
        values_rows(table, "output tokens", &info->out, 1, "");
    }
    if (info->has_work)
        values_rows(table, "duration", &info->work_ns, 1e9, " s");
    if (info->failed)
        row(table, "recorded as failed", "%.0f requests", (double)info->failed);
}

static void counts_rows(struct text_table *table, const struct trace_info *info)
{
    char text[TEXT];

    row(table, "step", "%.9g s", info->step_s);
    row(table, "span", "%.9g s", info->span_s);
    row(table, "total", "%.10g requests", info->total);
    row(table, "mean rate", "%.6f requests/s", info->mean_per_s);
    text_table_cell(table, "peak step");
    text_table_cell(table, "%.10g requests at %s", info->peak, when(info->peak_at, text));
    row(table, "peak / mean", "%.4f", info->peak_to_mean);
    row(table, "zero points", "%.0f", (double)info->zero_points);
    row(table, "missing points", "%.0f", (double)info->missing);
}

static int info_table(const struct trace_options *options, const struct trace_spec *spec,
                      const struct trace_info *info, struct error *err)
{
    struct text_table table;
    char text[TEXT];
    int result;

    text_table_init(&table);
    text_table_column(&table, options->path, TEXT_LEFT);
    text_table_column(&table, "", TEXT_LEFT);
    text_table_cell(&table, "format");
    text_table_cell(&table, "%s (%s)", trace_spec_type(spec)->name,
                    info->kind == TRACE_COUNTS ? "counts" : "requests");
    row(&table, info->kind == TRACE_COUNTS ? "points" : "rows", "%.0f", (double)info->rows);
    text_table_cell(&table, "begins");
    text_table_cell(&table, "%s", when(info->first, text));
    if (info->kind == TRACE_COUNTS)
        counts_rows(&table, info);
    else
        requests_rows(&table, info);
    if (info->out_of_order)
        row(&table, "out of order", "%.0f (put in order)", (double)info->out_of_order);
    for (int i = 0; i < TRACE_REPAIRS; i++)
        if (info->repairs.count[i] > 0 && i != TRACE_OUT_OF_ORDER) {
            text_table_cell(&table, "%s", trace_repair_text((enum trace_repair)i));
            text_table_cell(&table, "%lld, first at line %llu", (long long)info->repairs.count[i],
                            (unsigned long long)info->repairs.first_line[i]);
        }
    result = text_table_print(&table, stdout, false, err);
    text_table_free(&table);
    return result;
}

static void json_bins(cJSON *to, const char *name, const struct trace_bins *bins)
{
    cJSON *it = cJSON_AddObjectToObject(to, name);

    cJSON_AddNumberToObject(it, "bins", (double)bins->bins);
    cJSON_AddNumberToObject(it, "empty", (double)bins->empty);
    cJSON_AddNumberToObject(it, "peak", (double)bins->peak);
    cJSON_AddNumberToObject(it, "peak_to_mean", bins->peak_to_mean);
    cJSON_AddNumberToObject(it, "dispersion", bins->dispersion);
}

static void json_values(cJSON *to, const char *name, const struct trace_values *v, double unit)
{
    cJSON *it = cJSON_AddObjectToObject(to, name);

    cJSON_AddNumberToObject(it, "mean", v->mean / unit);
    cJSON_AddNumberToObject(it, "p50", (double)v->p50 / unit);
    cJSON_AddNumberToObject(it, "p90", (double)v->p90 / unit);
    cJSON_AddNumberToObject(it, "p99", (double)v->p99 / unit);
    cJSON_AddNumberToObject(it, "max", (double)v->max / unit);
    cJSON_AddNumberToObject(it, "sum", (double)v->sum / unit);
}

static int info_json(const struct trace_options *options, const struct trace_spec *spec,
                     const struct trace_info *info, struct error *err)
{
    cJSON *root = cJSON_CreateObject(), *repairs;
    char *text;

    cJSON_AddStringToObject(root, "file", options->path);
    cJSON_AddStringToObject(root, "format", trace_spec_type(spec)->name);
    cJSON_AddNumberToObject(root, "rows", (double)info->rows);
    cJSON_AddNumberToObject(root, "span_s", info->span_s);
    cJSON_AddNumberToObject(root, "mean_per_s", info->mean_per_s);
    if (info->kind == TRACE_COUNTS) {
        cJSON_AddNumberToObject(root, "step_s", info->step_s);
        cJSON_AddNumberToObject(root, "total", info->total);
        cJSON_AddNumberToObject(root, "peak", info->peak);
        cJSON_AddNumberToObject(root, "peak_at_s", sim_time_seconds(info->peak_at));
        cJSON_AddNumberToObject(root, "peak_to_mean", info->peak_to_mean);
        cJSON_AddNumberToObject(root, "zero_points", (double)info->zero_points);
        cJSON_AddNumberToObject(root, "missing_points", (double)info->missing);
    } else {
        json_bins(root, "bins_1s", &info->second);
        json_bins(root, "bins_60s", &info->minute);
        cJSON_AddNumberToObject(root, "gap_cv", info->gap_cv); /* NAN is written as null */
        cJSON_AddNumberToObject(root, "gap_max_s", info->gap_max_s);
        if (info->has_tokens) {
            json_values(root, "tokens_in", &info->in, 1);
            json_values(root, "tokens_out", &info->out, 1);
        }
        if (info->has_work)
            json_values(root, "work_s", &info->work_ns, 1e9);
        cJSON_AddNumberToObject(root, "failed", (double)info->failed);
    }
    cJSON_AddNumberToObject(root, "out_of_order", (double)info->out_of_order);
    repairs = cJSON_AddObjectToObject(root, "repairs");
    for (int i = 0; i < TRACE_REPAIRS; i++)
        if (info->repairs.count[i] > 0)
            cJSON_AddNumberToObject(repairs, trace_repair_text((enum trace_repair)i),
                                    (double)info->repairs.count[i]);
    text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return error_memory(err, "trace info");
    puts(text);
    cJSON_free(text);
    return 0;
}

int trace_command_info(const struct trace_options *options, struct error *err)
{
    struct trace_spec *spec;
    struct trace_info info;
    int result;

    if (trace_spec_from_path(options->path, options->as, &spec, err) < 0)
        return -1;
    result = trace_info_make(spec, &info, err);
    if (result == 0)
        result = options->json ? info_json(options, spec, &info, err) : info_table(options, spec, &info, err);
    trace_spec_free(spec);
    return result;
}
