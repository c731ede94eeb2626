#include "models/traffic/trace_info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A growing list of whole numbers. */
struct list {
    int64_t *values;
    size_t count, room;
};

static int list_add(struct list *list, int64_t value, struct error *err)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        int64_t *values = realloc(list->values, room * sizeof *values);

        if (!values)
            return error_memory(err, "trace info");
        list->values = values;
        list->room = room;
    }
    list->values[list->count++] = value;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void list_sort(struct list *list)
{
    if (list->count > 1)
        qsort(list->values, list->count, sizeof *list->values, ascending);
}

static int64_t nearest_rank(const struct list *list, int percent)
{
    size_t rank = (list->count * (size_t)percent + 99) / 100;

    return list->values[rank > 0 ? rank - 1 : 0];
}

static void values_make(struct list *list, struct trace_values *values)
{
    list_sort(list);
    for (size_t i = 0; i < list->count; i++)
        values->sum += list->values[i];
    values->mean = (double)values->sum / (double)list->count;
    values->p50 = nearest_rank(list, 50);
    values->p90 = nearest_rank(list, 90);
    values->p99 = nearest_rank(list, 99);
    values->max = list->values[list->count - 1];
}

/* Over times in their order. Squares are summed in 128 bits: the variance is exact but for its last rounding.
 */
static void bins_make(const struct list *times, sim_time width, double mean_per_s, struct trace_bins *out)
{
    int64_t zero = times->values[0], full = 0;
    unsigned __int128 squares = 0;
    double mean;

    *out = (struct trace_bins){.bins = (times->values[times->count - 1] - zero) / width + 1};
    for (size_t i = 0; i < times->count;) {
        int64_t bin = (times->values[i] - zero) / width, n = 0;

        for (; i < times->count && (times->values[i] - zero) / width == bin; i++)
            n++;
        full++;
        squares += (unsigned __int128)n * (unsigned __int128)n;
        if (n > out->peak) {
            out->peak = n;
            out->peak_at = bin * width;
        }
    }
    out->empty = out->bins - full;
    mean = (double)times->count / (double)out->bins;
    out->dispersion = ((double)squares / (double)out->bins - mean * mean) / mean;
    out->peak_to_mean = (double)out->peak / (mean_per_s * sim_time_seconds(width));
}

static void gaps_make(const struct list *times, struct trace_info *info)
{
    size_t n = times->count - 1;
    double mean, squares = 0;
    int64_t most = 0;

    info->gap_cv = info->gap_max_s = NAN;
    if (n == 0)
        return;
    mean = (double)(times->values[n] - times->values[0]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        int64_t gap = times->values[i + 1] - times->values[i];

        squares += ((double)gap - mean) * ((double)gap - mean);
        most = gap > most ? gap : most;
    }
    info->gap_cv = mean > 0 ? sqrt(squares / (double)n) / mean : (double)NAN;
    info->gap_max_s = sim_time_seconds(most);
}

struct lists {
    struct list times, in, out, work;
};

static int request_add(struct lists *lists, const struct trace_record *record, struct trace_info *info,
                       struct error *err)
{
    info->failed += record->failed;
    info->has_tokens = info->has_tokens || record->tokens_in > 0 || record->tokens_out > 0;
    info->has_work = info->has_work || record->work_ns >= 0;
    if (list_add(&lists->times, record->at, err) < 0 || list_add(&lists->in, record->tokens_in, err) < 0 ||
        list_add(&lists->out, record->tokens_out, err) < 0)
        return -1;
    return record->work_ns < 0 ? 0 : list_add(&lists->work, record->work_ns, err);
}

static void requests_finish(struct lists *lists, struct trace_info *info)
{
    list_sort(&lists->times);
    info->first = lists->times.values[0];
    info->last = lists->times.values[lists->times.count - 1];
    info->span_s = sim_time_seconds(info->last - info->first);
    info->mean_per_s = info->span_s > 0 ? (double)info->rows / info->span_s : (double)NAN;
    bins_make(&lists->times, SIM_SECOND, info->mean_per_s, &info->second);
    bins_make(&lists->times, SIM_MINUTE, info->mean_per_s, &info->minute);
    gaps_make(&lists->times, info);
    if (info->has_tokens) {
        values_make(&lists->in, &info->in);
        values_make(&lists->out, &info->out);
    }
    if (info->has_work)
        values_make(&lists->work, &info->work_ns);
}

static void count_add(const struct trace_record *record, struct trace_info *info)
{
    if (info->rows == 1 || record->at < info->first)
        info->first = record->at;
    if (info->rows == 1 || record->at + record->width > info->last)
        info->last = record->at + record->width;
    if (info->rows == 1) {
        info->step_s = sim_time_seconds(record->width);
        info->peak = -1;
    }
    info->total += record->count;
    info->covered_s += sim_time_seconds(record->width);
    info->zero_points += record->count == 0;
    if (record->count > info->peak) {
        info->peak = record->count;
        info->peak_at = record->at;
    }
}

int trace_info_make(const struct trace_spec *spec, struct trace_info *info, struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    struct lists lists = {0};
    int64_t latest = INT64_MIN;
    int got;

    *info = (struct trace_info){.kind = trace_spec_type(spec)->kind, .sorted = true};
    if (trace_open(spec, &reader, err) < 0)
        return -1;
    while ((got = trace_next(reader, &record, err)) > 0) {
        info->rows++;
        if (record.at < latest) {
            info->sorted = false;
            info->out_of_order++;
        } else {
            latest = record.at;
        }
        if (info->kind == TRACE_COUNTS)
            count_add(&record, info);
        else if (request_add(&lists, &record, info, err) < 0) {
            got = -1;
            break;
        }
    }
    info->repairs = *trace_repairs(reader);
    trace_close(reader);
    if (got == 0 && info->rows == 0)
        got = error_set(err, ERROR_INPUT, trace_spec_path(spec), "the trace has no records");
    if (got == 0 && info->kind == TRACE_REQUESTS) {
        requests_finish(&lists, info);
    } else if (got == 0) {
        info->span_s = sim_time_seconds(info->last - info->first);
        info->mean_per_s = info->covered_s > 0 ? info->total / info->covered_s : (double)NAN;
        info->peak_to_mean = info->total > 0 ? info->peak / (info->total / (double)info->rows) : (double)NAN;
        info->missing = info->repairs.count[TRACE_MISSING_BINS];
    }
    free(lists.times.values);
    free(lists.in.values);
    free(lists.out.values);
    free(lists.work.values);
    return got;
}
