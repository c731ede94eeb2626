#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/traffic/trace_internal.h"
#include "sim/engine/random.h"
#include "sim/io/csv_stream.h"

enum { NONE = -1 };

struct table {
    struct csv_stream *csv;
    struct table_format format;
    int time, tokens_in, tokens_out, work, session; /* columns, NONE */
    size_t columns;
    int64_t last;
    bool any;
};

/* Column of a name; NONE and err if it is not there and must be. */
static int column_of(const struct csv_row *header, const char *name, bool optional, const char *file,
                     int *out, struct error *err)
{
    char known[256] = "";

    *out = NONE;
    if (!name)
        return 0;
    for (size_t i = 0; i < header->count; i++)
        if (strcasecmp(header->fields[i].text, name) == 0) {
            *out = (int)i;
            return 0;
        }
    if (optional)
        return 0;
    for (size_t i = 0; i < header->count && strlen(known) < 200; i++) {
        strncat(known, i ? ", " : "", 4);
        strncat(known, header->fields[i].text, 40);
    }
    return trace_fail(file, header->line, err,
                      "no column is called \"%s\"; there are: %s. Is the format right?", name, known);
}

static int header_read(struct table *t, const char *file, struct error *err)
{
    const struct table_format *f = &t->format;
    struct csv_row row;
    int got = csv_stream_next(t->csv, &row, err);

    if (got < 0)
        return -1;
    if (got == 0)
        return error_set(err, ERROR_INPUT, file, "the file is empty");
    t->columns = row.count;
    if (column_of(&row, f->time, false, file, &t->time, err) < 0 ||
        column_of(&row, f->tokens_in, f->optional, file, &t->tokens_in, err) < 0 ||
        column_of(&row, f->tokens_out, f->optional, file, &t->tokens_out, err) < 0 ||
        column_of(&row, f->work, f->optional && !f->ends, file, &t->work, err) < 0 ||
        column_of(&row, f->session, true, file, &t->session, err) < 0)
        return -1;
    return 0;
}

int table_open(const struct trace_spec *spec, const struct table_format *format, void **reader,
               struct error *err)
{
    struct table *t = calloc(1, sizeof *t);

    if (!t)
        return error_memory(err, "trace");
    t->format = *format;
    if (csv_stream_open(&t->csv, spec->path, ',', err) < 0 || header_read(t, spec->path, err) < 0) {
        table_close(t);
        return -1;
    }
    *reader = t;
    return 0;
}

static int tokens_read(struct table *t, const struct csv_row *row, int column, const char *what, int32_t *out,
                       struct error *err)
{
    if (column == NONE || row->fields[column].length == 0)
        return 0;
    if (trace_tokens(row->fields[column].text, out) < 0)
        return trace_fail(csv_stream_name(t->csv), row->line, err,
                          "%s \"%.40s\" is no number of tokens (a whole number, 0 or more)", what,
                          row->fields[column].text);
    return 0;
}

static uint64_t session_of(const char *text)
{
    uint64_t key = 0x73657373696f6e; /* "session" */

    for (; *text; text++)
        key = random_hash(key ^ (unsigned char)*text);
    return key | 1;
}

static int row_read(struct table *t, const struct csv_row *row, struct trace_record *record,
                    struct error *err)
{
    const char *file = csv_stream_name(t->csv);
    const char *time;

    if (row->count != t->columns)
        return trace_fail(file, row->line, err, "the row has %zu fields and the header %zu", row->count,
                          t->columns);
    time = row->fields[t->time].text;
    record->line = row->line;
    if (trace_time(time, t->format.unit, &record->at) < 0)
        return trace_fail(file, row->line, err, "\"%.60s\" is no time (%s)", time,
                          t->format.unit == TRACE_DATES ? "YYYY-MM-DD HH:MM:SS" : "a decimal number");
    if (tokens_read(t, row, t->tokens_in, "input", &record->tokens_in, err) < 0 ||
        tokens_read(t, row, t->tokens_out, "output", &record->tokens_out, err) < 0)
        return -1;
    if (t->work != NONE && row->fields[t->work].length > 0 &&
        (trace_time(row->fields[t->work].text, TRACE_SECONDS, &record->work_ns) < 0 || record->work_ns < 0))
        return trace_fail(file, row->line, err, "\"%.40s\" is no duration in seconds",
                          row->fields[t->work].text);
    if (t->format.ends)
        record->at -= record->work_ns > 0 ? record->work_ns : 0;
    if (t->session != NONE && row->fields[t->session].length > 0)
        record->session = session_of(row->fields[t->session].text);
    return 0;
}

int table_next(void *reader, struct trace_record *record, struct trace_repairs *repairs, struct error *err)
{
    struct table *t = reader;
    struct csv_row row;
    int got;

    while ((got = csv_stream_next(t->csv, &row, err)) > 0) {
        bool zero;

        *record = (struct trace_record){.work_ns = -1};
        if (row_read(t, &row, record, err) < 0)
            return -1;
        zero = t->tokens_out != NONE && record->tokens_out == 0;
        if (zero && record->tokens_in == 0 && t->format.zero_skip) {
            trace_count(repairs, TRACE_SKIPPED, row.line);
            continue;
        }
        if (zero) {
            record->failed = t->format.zero_skip;
            trace_count(repairs, TRACE_ZERO_TOKENS, row.line);
        }
        if (t->any && record->at == t->last)
            trace_count(repairs, TRACE_DUPLICATE_TIMES, row.line);
        t->any = true;
        t->last = record->at;
        return 1;
    }
    repairs->count[TRACE_BLANK_LINES] = (int64_t)csv_stream_blank_lines(t->csv);
    return got;
}

void table_close(void *reader)
{
    struct table *t = reader;

    csv_stream_close(t->csv);
    free(t);
}
