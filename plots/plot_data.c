#include "plots/plot_data.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/csv_stream.h"
#include "sim/run/number_text.h"

const char *const plot_state_names[PLOT_STATES] = {"ready", "endpoint", "probe",    "init",     "load",
                                                   "pull",  "node",     "schedule", "draining", "prepared"};
const char *const plot_stage_names[PLOT_STAGES] = {"schedule", "node",  "pull",    "load",
                                                   "init",     "probe", "endpoint"};

enum { SUMMARY_LIMIT = 64 << 20, WINDOWS_MAX = 400 };

/* ---- summary.json ---- */

static char *read_whole(const char *path, struct error *err)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (!file) {
        error_set(err, ERROR_INPUT, path, "cannot be opened; is this an output directory of peaksim?");
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || size > SUMMARY_LIMIT ||
        fseek(file, 0, SEEK_SET) != 0) {
        error_set(err, ERROR_INPUT, path, "is not a file that can be read, or larger than 64 MiB");
    } else {
        text = malloc((size_t)size + 1);
        if (!text)
            error_memory(err, path);
        else if (fread(text, 1, (size_t)size, file) != (size_t)size) {
            error_set(err, ERROR_INPUT, path, "cannot be read");
            free(text);
            text = NULL;
        } else {
            text[size] = '\0';
        }
    }
    fclose(file);
    return text;
}

static const cJSON *get(const cJSON *json, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(json, key);
}

static double number_of(const cJSON *json, const char *key)
{
    const cJSON *item = get(json, key);

    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static char *text_of(const cJSON *json, const char *key)
{
    const cJSON *item = get(json, key);

    return strdup(cJSON_IsString(item) && item->valuestring ? item->valuestring : "");
}

static struct plot_estimate estimate_of(const cJSON *json, const char *key)
{
    const cJSON *item = get(json, key);

    return (struct plot_estimate){number_of(item, "mean"), number_of(item, "ci95")};
}

static int wrong(const char *what, struct error *err)
{
    return error_set(err, ERROR_INPUT, "summary.json", "is not as peaksim writes it: %s", what);
}

/* "latency P99 2 s, ttft P90 1 s", and the P99 bound on the latency. */
static void read_slo(const cJSON *slo, struct plot_service *service)
{
    const cJSON *bound;
    size_t used = 0;

    service->slo_s = NAN;
    cJSON_ArrayForEach(bound, get(slo, "bounds"))
    {
        double quantile = number_of(bound, "quantile"), seconds = number_of(bound, "bound_s");
        char *metric = text_of(bound, "metric"), percent[NUMBER_TEXT], limit[NUMBER_TEXT];

        if (metric && isfinite(quantile) && isfinite(seconds) && used < sizeof service->slo_text) {
            if (strcmp(metric, "latency") == 0 && fabs(quantile - 0.99) < 1e-9)
                service->slo_s = seconds;
            used += (size_t)snprintf(service->slo_text + used, sizeof service->slo_text - used,
                                     "%s%s P%s \xe2\x89\xa4 %s s", used ? ", " : "", metric,
                                     number_text(percent, rint(quantile * 1e5) / 1e3),
                                     number_text(limit, seconds));
        }
        free(metric);
    }
}

static int read_line(const cJSON *service, struct plot_line *line, struct error *err)
{
    const cJSON *peak = get(service, "peak"), *slo = get(service, "slo");
    char *met = text_of(slo, "met");

    if (!met)
        return error_memory(err, "plots");
    snprintf(line->met, sizeof line->met, "%s", met);
    free(met);
    line->peak_p99 = estimate_of(peak, "p99_s");
    line->unserved_share = estimate_of(peak, "unserved_share").mean;
    line->start_step = 1;
    for (int k = 0; k < PLOT_BINS; k++)
        line->bins[k] = (struct plot_bin){.p50_s = NAN, .p99_s = NAN};
    return 0;
}

static int read_strategies(const cJSON *strategies, struct plot_data *data, struct error *err)
{
    for (int32_t s = 0; s < data->strategy_count; s++) {
        const cJSON *strategy = cJSON_GetArrayItem(strategies, s), *cost = get(strategy, "cost");
        const cJSON *services = get(strategy, "services");
        char *currency = text_of(cost, "currency");

        data->strategies[s].name = text_of(strategy, "name");
        data->strategies[s].gross = estimate_of(cost, "gross");
        data->strategies[s].gpu_hours = estimate_of(get(strategy, "gpu_hours"), "total");
        if (!currency || !data->strategies[s].name) {
            free(currency);
            return error_memory(err, "plots");
        }
        free(data->currency);
        data->currency = currency;
        if (cJSON_GetArraySize(services) != data->service_count)
            return wrong("strategies differ in their services", err);
        for (int32_t i = 0; i < data->service_count; i++) {
            const cJSON *service = cJSON_GetArrayItem(services, i);

            if (s == 0) {
                data->services[i].name = text_of(service, "name");
                if (!data->services[i].name)
                    return error_memory(err, "plots");
                read_slo(get(service, "slo"), &data->services[i]);
            }
            if (read_line(service, &data->services[i].lines[s], err) != 0)
                return -1;
        }
    }
    return 0;
}

static int read_peaks(const cJSON *peaks, struct plot_data *data, struct error *err)
{
    int count = cJSON_GetArraySize(peaks);
    const cJSON *peak;

    if (count <= 0)
        return 0;
    data->peaks = calloc((size_t)count, sizeof *data->peaks);
    if (!data->peaks)
        return error_memory(err, "plots");
    cJSON_ArrayForEach(peak, peaks)
    {
        struct plot_window window = {number_of(peak, "from_s"), number_of(peak, "to_s")};
        struct plot_window *last = data->peak_count ? &data->peaks[data->peak_count - 1] : NULL;

        if (!isfinite(window.from_s) || !isfinite(window.to_s))
            continue;
        /* windows closer than a pixel are one picture */
        if (last && window.from_s - last->to_s < data->horizon_s / 1000)
            last->to_s = fmax(last->to_s, window.to_s);
        else if (data->peak_count < WINDOWS_MAX)
            data->peaks[data->peak_count++] = window;
    }
    return 0;
}

static int read_summary(const char *outdir, struct plot_data *data, struct error *err)
{
    char path[4096], *text;
    cJSON *root;
    const cJSON *strategies;
    int status = -1;
    double bins;

    if ((size_t)snprintf(path, sizeof path, "%s/summary.json", outdir) >= sizeof path)
        return error_set(err, ERROR_INPUT, outdir, "the path is too long");
    text = read_whole(path, err);
    if (!text)
        return -1;
    root = cJSON_ParseWithOpts(text, NULL, true);
    free(text);
    if (!root)
        return error_set(err, ERROR_INPUT, path, "is not JSON");
    strategies = get(root, "strategies");
    data->strategy_count = cJSON_GetArraySize(strategies);
    data->service_count = cJSON_GetArraySize(get(cJSON_GetArrayItem(strategies, 0), "services"));
    data->horizon_s = number_of(root, "horizon_s");
    data->bucket_s = number_of(root, "bucket_s");
    data->scenario = text_of(root, "scenario");
    if (number_of(root, "schema") != 1 || !(data->horizon_s > 0) || !(data->bucket_s > 0) ||
        !isfinite(data->horizon_s)) {
        wrong("schema 1, horizon_s and bucket_s are needed", err);
        goto out;
    }
    if (data->strategy_count < 1 || data->strategy_count > PLOT_STRATEGIES_MAX || data->service_count < 1 ||
        data->service_count > PLOT_SERVICES_MAX) {
        wrong("between 1 and 64 strategies and services can be drawn", err);
        goto out;
    }
    bins = ceil(data->horizon_s / data->bucket_s);
    data->bins = bins < 1 ? 1 : bins < PLOT_BINS ? (int32_t)bins : PLOT_BINS;
    data->strategies = calloc((size_t)data->strategy_count, sizeof *data->strategies);
    data->services = calloc((size_t)data->service_count, sizeof *data->services);
    if (!data->scenario || !data->strategies || !data->services) {
        error_memory(err, "plots");
        goto out;
    }
    for (int32_t i = 0; i < data->service_count; i++) {
        data->services[i].lines = calloc((size_t)data->strategy_count, sizeof(struct plot_line));
        if (!data->services[i].lines) {
            error_memory(err, "plots");
            goto out;
        }
    }
    status = read_strategies(strategies, data, err);
    if (status == 0)
        status = read_peaks(get(root, "peak_windows"), data, err);
out:
    cJSON_Delete(root);
    return status;
}

/* ---- the CSV files ---- */

struct reader {
    struct csv_stream *csv;
    struct csv_row row;
    const char *name;
    size_t strategy, service, replication; /* columns */
};

/* Index of a column in the header row; -1 with err if it is not there. */
static int column_of(const struct csv_row *header, const char *file, const char *name, size_t *column,
                     struct error *err)
{
    for (size_t i = 0; i < header->count; i++)
        if (strcmp(header->fields[i].text, name) == 0) {
            *column = i;
            return 0;
        }
    return error_set(err, ERROR_INPUT, file, "has no column \"%s\"", name);
}

static double field_number(const struct csv_row *row, size_t column)
{
    const char *text = row->fields[column].text;
    char *end;
    double value;

    if (!*text)
        return NAN;
    value = strtod(text, &end);
    return *end ? (double)NAN : value;
}

static int reader_open(struct reader *reader, const char *outdir, const char *name, struct error *err)
{
    char path[4096];
    int got;

    *reader = (struct reader){.name = name};
    if ((size_t)snprintf(path, sizeof path, "%s/%s", outdir, name) >= sizeof path)
        return error_set(err, ERROR_INPUT, outdir, "the path is too long");
    if (csv_stream_open(&reader->csv, path, ',', err) != 0)
        return -1;
    got = csv_stream_next(reader->csv, &reader->row, err);
    if (got < 0)
        return -1;
    if (got == 0)
        return error_set(err, ERROR_INPUT, name, "is empty");
    if (column_of(&reader->row, name, "strategy", &reader->strategy, err) != 0 ||
        column_of(&reader->row, name, "service", &reader->service, err) != 0)
        return -1;
    return column_of(&reader->row, name, "replication", &reader->replication, err);
}

/* Next row of at least `columns` fields that belongs to a strategy and service that are drawn; 1, 0 at the
 * end, -1. */
static int reader_next(struct reader *reader, const struct plot_data *data, size_t columns,
                       struct plot_line **line, struct error *err)
{
    int got;

    while ((got = csv_stream_next(reader->csv, &reader->row, err)) > 0) {
        const struct csv_field *fields = reader->row.fields;
        int32_t strategy = -1, service = -1;

        if (reader->row.count < columns)
            return error_set(err, ERROR_INPUT, reader->name, "line %llu has %zu fields instead of %zu",
                             (unsigned long long)reader->row.line, reader->row.count, columns);
        if (strcmp(fields[reader->replication].text, "mean") == 0)
            continue;
        for (int32_t s = 0; s < data->strategy_count && strategy < 0; s++)
            if (strcmp(data->strategies[s].name, fields[reader->strategy].text) == 0)
                strategy = s;
        for (int32_t i = 0; i < data->service_count && service < 0; i++)
            if (strcmp(data->services[i].name, fields[reader->service].text) == 0)
                service = i;
        if (strategy < 0 || service < 0)
            continue;
        *line = &data->services[service].lines[strategy];
        return 1;
    }
    return got;
}

enum series_column { TIME, P50, P99, OFFERED, CAPACITY, NEED, SERIES_COLUMNS };

static double worst(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

static void bin_add(struct plot_bin *bin, const struct csv_row *row, const size_t columns[SERIES_COLUMNS],
                    const size_t states[PLOT_STATES])
{
    double capacity = field_number(row, columns[CAPACITY]), need = field_number(row, columns[NEED]);
    double offered = field_number(row, columns[OFFERED]);

    bin->p50_s = worst(bin->p50_s, field_number(row, columns[P50]));
    bin->p99_s = worst(bin->p99_s, field_number(row, columns[P99]));
    bin->buckets++;
    bin->offered += isnan(offered) ? 0 : offered;
    if (isfinite(capacity)) {
        bin->capacity += capacity;
        bin->capacity_buckets++;
    }
    if (isfinite(need)) {
        bin->need += need;
        bin->need_buckets++;
    }
    for (int k = 0; k < PLOT_STATES; k++) {
        double replicas = field_number(row, states[k]);

        bin->states[k] += isfinite(replicas) ? replicas : 0;
    }
}

static void bin_finish(struct plot_bin *bin)
{
    double buckets = bin->buckets > 0 ? bin->buckets : (double)NAN;

    bin->offered /= buckets;
    for (int k = 0; k < PLOT_STATES; k++)
        bin->states[k] /= buckets;
    bin->capacity = bin->capacity_buckets > 0 ? bin->capacity / bin->capacity_buckets : (double)NAN;
    bin->need = bin->need_buckets > 0 ? bin->need / bin->need_buckets : (double)NAN;
}

static int read_series(const char *outdir, struct plot_data *data, struct error *err)
{
    static const char *const names[SERIES_COLUMNS] = {"time_s",        "p50_s",          "p99_s",
                                                      "offered_per_s", "capacity_per_s", "replicas_need"};
    size_t columns[SERIES_COLUMNS], states[PLOT_STATES], count;
    struct plot_line *line;
    struct reader reader;
    int status = -1, got;

    if (reader_open(&reader, outdir, "timeseries.csv", err) != 0)
        goto out;
    count = reader.row.count;
    for (int k = 0; k < SERIES_COLUMNS; k++)
        if (column_of(&reader.row, reader.name, names[k], &columns[k], err) != 0)
            goto out;
    for (int k = 0; k < PLOT_STATES; k++) {
        char name[64];

        snprintf(name, sizeof name, "replicas_%s", plot_state_names[k]);
        if (column_of(&reader.row, reader.name, name, &states[k], err) != 0)
            goto out;
    }
    while ((got = reader_next(&reader, data, count, &line, err)) > 0) {
        double time = field_number(&reader.row, columns[TIME]) / data->horizon_s;

        if (time >= 0 && time < 1)
            bin_add(&line->bins[(int32_t)(time * data->bins)], &reader.row, columns, states);
    }
    if (got < 0)
        goto out;
    for (int32_t i = 0; i < data->service_count; i++)
        for (int32_t s = 0; s < data->strategy_count; s++)
            for (int32_t k = 0; k < data->bins; k++)
                bin_finish(&data->services[i].lines[s].bins[k]);
    status = 0;
out:
    csv_stream_close(reader.csv);
    return status;
}

/*
 * One start into a line that keeps at most PLOT_STARTS of them: every so-manieth, and the step doubles
 * whenever the room is used up, so that any number is thinned evenly in one pass.
 */
static void keep_start(struct plot_line *line, const struct plot_start *start)
{
    if (line->start_kept == PLOT_STARTS) {
        if (line->start_count % line->start_step != 0) {
            line->start_count++;
            return;
        }
        for (int k = 0; k < PLOT_STARTS / 2; k++)
            line->starts[k] = line->starts[2 * k];
        line->start_kept = PLOT_STARTS / 2;
        line->start_step *= 2;
    }
    if (line->start_count++ % line->start_step == 0)
        line->starts[line->start_kept++] = *start;
}

static int by_asked(const void *left, const void *right)
{
    const struct plot_start *a = left, *b = right;

    return a->asked_s < b->asked_s ? -1 : a->asked_s > b->asked_s;
}

static int read_starts(const char *outdir, struct plot_data *data, struct error *err)
{
    size_t stages[PLOT_STAGES], asked = 0, origin = 0, count;
    struct plot_line *line;
    struct reader reader;
    int status = -1, got;

    if (reader_open(&reader, outdir, "replicas.csv", err) != 0)
        goto out;
    count = reader.row.count;
    if (column_of(&reader.row, reader.name, "asked_s", &asked, err) != 0 ||
        column_of(&reader.row, reader.name, "origin", &origin, err) != 0)
        goto out;
    for (int k = 0; k < PLOT_STAGES; k++) {
        char name[64];

        snprintf(name, sizeof name, "%s_s", plot_stage_names[k]);
        if (column_of(&reader.row, reader.name, name, &stages[k], err) != 0)
            goto out;
    }
    while ((got = reader_next(&reader, data, count, &line, err)) > 0) {
        struct plot_start start = {.asked_s = field_number(&reader.row, asked)};

        if (strcmp(reader.row.fields[origin].text, "initial") == 0 || !isfinite(start.asked_s))
            continue;
        for (int k = 0; k < PLOT_STAGES; k++)
            start.stages_s[k] = field_number(&reader.row, stages[k]);
        keep_start(line, &start);
    }
    if (got < 0)
        goto out;
    for (int32_t i = 0; i < data->service_count; i++)
        for (int32_t s = 0; s < data->strategy_count; s++)
            qsort(data->services[i].lines[s].starts, (size_t)data->services[i].lines[s].start_kept,
                  sizeof(struct plot_start), by_asked);
    status = 0;
out:
    csv_stream_close(reader.csv);
    return status;
}

int plot_data_read(const char *outdir, struct plot_data *data, struct error *err)
{
    *data = (struct plot_data){0};
    if (read_summary(outdir, data, err) != 0 || read_series(outdir, data, err) != 0)
        return -1;
    return read_starts(outdir, data, err);
}

void plot_data_free(struct plot_data *data)
{
    for (int32_t i = 0; data->services && i < data->service_count; i++) {
        free(data->services[i].name);
        free(data->services[i].lines);
    }
    for (int32_t s = 0; data->strategies && s < data->strategy_count; s++)
        free(data->strategies[s].name);
    free(data->scenario);
    free(data->currency);
    free(data->services);
    free(data->strategies);
    free(data->peaks);
    *data = (struct plot_data){0};
}
