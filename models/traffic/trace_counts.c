/*
 * counts: requests per interval. By its header the file is one of
 *
 *   period,count                     dates, a minute each unless "width" says otherwise
 *   minute_index,requests            whole minutes
 *   timestamp,value                  dates; the width is the first step
 *   window_start_s,total_rate_rps    seconds and a rate; the width is the first step
 *   time_s,width_s,count             as `peaksim trace slice` writes it
 *   (no header) whole numbers separated by space: one second each unless "width" says otherwise
 *
 * "columns": {"time", "count"}, "time_unit", "width" and "value" ("count" or "rate") read other tables. An
 * interval that is missing is counted and is no zero.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/traffic/trace_internal.h"
#include "sim/io/csv_stream.h"
#include "sim/io/line_stream.h"
#include "sim/io/quantity.h"

struct known {
    const char *time, *count, *width_column;
    enum trace_unit unit;
    int64_t unit_factor; /* of the time column */
    sim_time width;      /* 0: the first step */
    bool is_rate;
};

static const struct known knowns[] = {
    {"period", "count", NULL, TRACE_DATES, 1, SIM_MINUTE, false},
    {"minute_index", "requests", NULL, TRACE_SECONDS, 60, SIM_MINUTE, false},
    {"timestamp", "value", NULL, TRACE_DATES, 1, 0, false},
    {"window_start_s", "total_rate_rps", NULL, TRACE_SECONDS, 1, 0, true},
    {"time_s", "count", "width_s", TRACE_SECONDS, 1, 0, false},
};

struct point {
    int64_t at;
    sim_time width; /* 0: not said */
    double value;
    uint64_t line;
};

struct counts {
    struct csv_stream *csv; /* NULL: numbers on lines */
    struct line_stream *lines;
    const char *cursor; /* in the present line */
    uint64_t line, index;
    int time, count, width_column;
    size_t columns;
    enum trace_unit unit;
    int64_t unit_factor;
    sim_time width;
    bool is_rate;
    struct point ahead; /* read to learn the first step */
    bool has_ahead, over;
    int64_t last_end;
    bool any;
};

static bool numbers_only(const char *head, size_t length)
{
    bool digits = false;

    for (size_t i = 0; i < length; i++) {
        if (head[i] >= '0' && head[i] <= '9')
            digits = true;
        else if (head[i] != ' ' && head[i] != '\n' && head[i] != '\r' && head[i] != '\t')
            return false;
    }
    return digits;
}

static bool counts_sniff(const char *head, size_t length, const char *file_name)
{
    size_t line = length < 200 ? length : 200;

    (void)file_name;
    return numbers_only(head, length) || trace_head_has(head, line, "period,count") ||
           trace_head_has(head, line, "minute_index,requests") ||
           trace_head_has(head, line, "timestamp,value") ||
           trace_head_has(head, line, "window_start_s,total_rate_rps") ||
           trace_head_has(head, line, "time_s,width_s,count");
}

static int find(const struct csv_row *header, const char *name)
{
    for (size_t i = 0; name && i < header->count; i++)
        if (strcasecmp(header->fields[i].text, name) == 0)
            return (int)i;
    return -1;
}

static int header_read(struct counts *c, const struct trace_spec *spec, const struct csv_row *header,
                       struct error *err)
{
    c->columns = header->count;
    c->width_column = -1;
    c->unit_factor = 1;
    c->time = find(header, spec->time);
    c->count = find(header, spec->count);
    c->unit = TRACE_SECONDS;
    for (size_t i = 0; !spec->time && !spec->count && i < sizeof knowns / sizeof *knowns; i++) {
        const struct known *k = &knowns[i];

        if (find(header, k->time) < 0 || find(header, k->count) < 0)
            continue;
        c->time = find(header, k->time);
        c->count = find(header, k->count);
        c->width_column = find(header, k->width_column);
        c->unit = k->unit;
        c->unit_factor = k->unit_factor;
        c->width = k->width;
        c->is_rate = k->is_rate;
        break;
    }
    if (c->time < 0 || c->count < 0)
        return trace_fail(spec->path, header->line, err,
                          "no columns of times and counts are known here; name them: \"columns\": {\"time\": "
                          "..., \"count\": ...}");
    if (spec->unit_given)
        c->unit = spec->unit;
    if (spec->width > 0)
        c->width = spec->width;
    if (spec->is_rate_given)
        c->is_rate = spec->is_rate;
    return 0;
}

static void counts_close(void *reader)
{
    struct counts *c = reader;

    csv_stream_close(c->csv);
    line_stream_close(c->lines);
    free(c);
}

static int counts_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    struct counts *c = calloc(1, sizeof *c);
    struct csv_row row;
    int got;

    if (!c)
        return error_memory(err, "trace");
    if (csv_stream_open(&c->csv, spec->path, ',', err) < 0 ||
        (got = csv_stream_next(c->csv, &row, err)) < 0) {
        counts_close(c);
        return -1;
    }
    if (got == 0) {
        counts_close(c);
        return error_set(err, ERROR_INPUT, spec->path, "the file is empty");
    }
    if (row.count == 1 && numbers_only(row.fields[0].text, row.fields[0].length)) {
        csv_stream_close(c->csv);
        c->csv = NULL;
        c->width = spec->width > 0 ? spec->width : SIM_SECOND;
        c->is_rate = spec->is_rate;
        if (line_stream_open(&c->lines, spec->path, err) < 0) {
            counts_close(c);
            return -1;
        }
    } else if (header_read(c, spec, &row, err) < 0) {
        counts_close(c);
        return -1;
    }
    *reader = c;
    return 0;
}

static int value_of(const char *file, uint64_t line, const char *text, double *out, struct error *err)
{
    struct error ignored = {.code = ERROR_NONE};

    if (quantity_number(text, out, &ignored) < 0 || !(*out >= 0))
        return trace_fail(file, line, err, "\"%.40s\" is no number of requests (0 or more)", text);
    return 0;
}

/* The next number of a file of numbers. */
static int number_next(struct counts *c, struct point *point, struct error *err)
{
    char text[32];
    size_t n = 0;

    while (!c->cursor || !c->cursor[strspn(c->cursor, " \t")]) {
        struct line line;
        int got = line_stream_next(c->lines, &line, err);

        if (got <= 0)
            return got;
        c->cursor = line.text;
        c->line = line.number;
    }
    c->cursor += strspn(c->cursor, " \t");
    n = strcspn(c->cursor, " \t");
    if (n >= sizeof text)
        return trace_fail(line_stream_name(c->lines), c->line, err, "a number is too long");
    memcpy(text, c->cursor, n);
    text[n] = '\0';
    c->cursor += n;
    *point = (struct point){.at = (int64_t)c->index++ * c->width, .width = c->width, .line = c->line};
    return value_of(line_stream_name(c->lines), c->line, text, &point->value, err) < 0 ? -1 : 1;
}

static int point_next(struct counts *c, struct point *point, struct trace_repairs *repairs, struct error *err)
{
    const char *file;
    struct csv_row row;
    int got;

    if (!c->csv)
        return number_next(c, point, err);
    file = csv_stream_name(c->csv);
    got = csv_stream_next(c->csv, &row, err);
    if (got <= 0) {
        repairs->count[TRACE_BLANK_LINES] = (int64_t)csv_stream_blank_lines(c->csv);
        return got;
    }
    if (row.count != c->columns)
        return trace_fail(file, row.line, err, "the row has %zu fields and the header %zu", row.count,
                          c->columns);
    *point = (struct point){.line = row.line};
    if (trace_time(row.fields[c->time].text, c->unit, &point->at) < 0 ||
        __builtin_mul_overflow(point->at, c->unit_factor, &point->at))
        return trace_fail(file, row.line, err, "\"%.60s\" is no time", row.fields[c->time].text);
    if (c->width_column >= 0 &&
        (trace_time(row.fields[c->width_column].text, TRACE_SECONDS, &point->width) < 0 || point->width <= 0))
        return trace_fail(file, row.line, err, "\"%.40s\" is no width in seconds",
                          row.fields[c->width_column].text);
    return value_of(file, row.line, row.fields[c->count].text, &point->value, err) < 0 ? -1 : 1;
}

static int counts_next(void *reader, struct trace_record *record, struct trace_repairs *repairs,
                       struct error *err)
{
    struct counts *c = reader;
    struct point point = c->ahead;

    if (c->has_ahead) {
        c->has_ahead = false;
    } else {
        int got = c->over ? 0 : point_next(c, &point, repairs, err);

        if (got <= 0)
            return got;
    }
    if (point.width == 0 && c->width == 0) { /* the first step says it */
        int got = point_next(c, &c->ahead, repairs, err);

        if (got < 0)
            return -1;
        c->over = got == 0;
        c->has_ahead = got > 0;
        c->width = got > 0 ? c->ahead.at - point.at : SIM_MINUTE;
        if (c->width <= 0)
            return trace_fail(csv_stream_name(c->csv), c->ahead.line, err,
                              "the first two times do not say how long an interval is; give \"width\"");
    }
    if (point.width == 0)
        point.width = c->width;
    if (c->any && point.at >= c->last_end + point.width) {
        int64_t missing = (point.at - c->last_end) / point.width;

        if (repairs->count[TRACE_MISSING_BINS] == 0)
            repairs->first_line[TRACE_MISSING_BINS] = point.line;
        repairs->count[TRACE_MISSING_BINS] += missing;
    }
    c->any = true;
    c->last_end = point.at + point.width;
    record->at = point.at;
    record->line = point.line;
    record->width = point.width;
    record->count = c->is_rate ? point.value * sim_time_seconds(point.width) : point.value;
    return 1;
}

const struct trace_type trace_counts = {
    .name = "counts",
    .help = "requests per interval: a table of times and counts (or rates), or numbers alone",
    .kind = TRACE_COUNTS,
    .sniff = counts_sniff,
    .open = counts_open,
    .next = counts_next,
    .close = counts_close,
};
