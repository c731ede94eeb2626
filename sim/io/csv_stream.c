#include "sim/io/csv_stream.h"

#include <csv.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/byte_source.h"

enum { CHUNK = 256 * 1024 };

/*
 * libcsv pushes rows at callbacks, our readers pull them: it is fed one line at a time, which can end one row
 * at most, and the callbacks only collect. A line is counted by us, since libcsv does not; the same pass
 * finds NUL bytes and the end of the line.
 */
struct csv_stream {
    struct byte_source source;
    struct csv_parser parser;
    char *chunk;
    size_t at, end;    /* unread part of chunk */
    size_t next_nul;   /* of chunk; end if none */
    bool has_cr;       /* somewhere in chunk */
    bool last;         /* nothing follows the chunk */
    bool finished;     /* csv_fini was called */
    bool after_cr;     /* a line feed now belongs to the line end before */
    bool begun;        /* a row is open */
    bool complete;     /* the open row has ended */
    bool failed;       /* out of memory, or too many fields, in a callback */
    uint64_t line;     /* of the next byte */
    uint64_t row_line; /* of the open row */
    uint64_t rows, blank_lines;
    size_t row_bytes; /* fed for the open row */
    char *text;       /* fields of the open row, each with its NUL */
    size_t text_used, text_room;
    struct csv_field *fields; /* text is set when the row is complete: the buffer may move until then */
    size_t field_count, field_room;
    struct error error; /* the first one; every later call gives it again */
};

static void take_field(void *bytes, size_t length, void *data)
{
    struct csv_stream *csv = data;

    if (csv->failed)
        return;
    if (csv->field_count == csv->field_room) {
        size_t room = csv->field_room ? csv->field_room * 2 : 32;
        struct csv_field *more = csv->field_count < CSV_STREAM_FIELDS_LIMIT
                                     ? realloc(csv->fields, room * sizeof *more)
                                     : NULL;

        if (!more) {
            csv->failed = true;
            return;
        }
        csv->fields = more;
        csv->field_room = room;
    }
    if (csv->text_used + length + 1 > csv->text_room) {
        size_t room = (csv->text_used + length + 1) * 2;
        char *more = realloc(csv->text, room);

        if (!more) {
            csv->failed = true;
            return;
        }
        csv->text = more;
        csv->text_room = room;
    }
    if (length)
        memcpy(csv->text + csv->text_used, bytes, length);
    csv->text[csv->text_used + length] = 0;
    csv->text_used += length + 1;
    csv->fields[csv->field_count++].length = length;
}

static void take_row(int end, void *data)
{
    struct csv_stream *csv = data;

    (void)end;
    csv->complete = true;
}

static struct csv_stream *stream_new(char delimiter)
{
    struct csv_stream *csv = calloc(1, sizeof *csv);

    if (!csv)
        return NULL;
    csv->chunk = malloc(CHUNK);
    if (!csv->chunk || csv_init(&csv->parser, 0)) {
        free(csv->chunk);
        free(csv);
        return NULL;
    }
    csv_set_delim(&csv->parser, (unsigned char)delimiter);
    csv->line = 1;
    return csv;
}

int csv_stream_open(struct csv_stream **out, const char *path, char delimiter, struct error *err)
{
    struct csv_stream *csv = stream_new(delimiter);

    *out = NULL;
    if (!csv)
        return error_memory(err, path);
    if (byte_source_open(&csv->source, path, err)) {
        csv_stream_close(csv);
        return -1;
    }
    *out = csv;
    return 0;
}

int csv_stream_open_memory(struct csv_stream **out, const char *text, size_t length, const char *name,
                           char delimiter, struct error *err)
{
    struct csv_stream *csv = stream_new(delimiter);

    *out = NULL;
    if (!csv)
        return error_memory(err, name);
    if (byte_source_open_memory(&csv->source, text, length, name, err)) {
        csv_stream_close(csv);
        return -1;
    }
    *out = csv;
    return 0;
}

static int fail(struct csv_stream *csv, uint64_t line, const char *message)
{
    char place[sizeof csv->error.place];

    snprintf(place, sizeof place, "%.480s:%llu", csv->source.name, (unsigned long long)line);
    return error_set(&csv->error, ERROR_INPUT, place, "%s", message);
}

/* The next chunk. 0, also at the end of the file; -1. */
static int fill(struct csv_stream *csv)
{
    bool first = csv->line == 1 && !csv->end;
    long got = byte_source_read(&csv->source, csv->chunk, CHUNK, &csv->error);
    const char *nul;

    if (got < 0)
        return -1;
    csv->at = 0;
    csv->end = (size_t)got;
    csv->last = got < CHUNK;
    if (first && csv->end >= 3 && !memcmp(csv->chunk, "\xef\xbb\xbf", 3))
        csv->at = 3;
    nul = csv->end ? memchr(csv->chunk, 0, csv->end) : NULL;
    csv->next_nul = nul ? (size_t)(nul - csv->chunk) : csv->end;
    csv->has_cr = csv->end && memchr(csv->chunk, '\r', csv->end);
    return 0;
}

/* Length of the next piece: up to and with a line end, or the rest of the chunk. */
static size_t piece_length(const struct csv_stream *csv)
{
    const char *start = csv->chunk + csv->at;
    size_t left = csv->end - csv->at;
    const char *feed = memchr(start, '\n', left);
    const char *carriage;

    if (feed)
        left = (size_t)(feed - start) + 1;
    carriage = csv->has_cr ? memchr(start, '\r', left) : NULL;
    return carriage ? (size_t)(carriage - start) + 1 : left;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
            return false;
    return true;
}

static int callback_error(struct csv_stream *csv)
{
    if (csv->field_count >= CSV_STREAM_FIELDS_LIMIT)
        return fail(csv, csv->row_line, "a row with more than 16384 fields; is the delimiter right?");
    return error_memory(&csv->error, csv->source.name);
}

/* Feeds one piece. 0 / -1; csv->complete tells whether it ended a row. */
static int feed(struct csv_stream *csv)
{
    const char *piece = csv->chunk + csv->at;
    size_t length = piece_length(csv);
    char end = piece[length - 1];
    bool line_ends = end == '\n' || end == '\r';
    bool rest_of_crlf = csv->after_cr && length == 1 && end == '\n';

    if (csv->next_nul < csv->at + length)
        return fail(csv, csv->line, "a NUL byte; is this a text file?");
    if (!csv->begun)
        csv->row_line = csv->line;
    csv->row_bytes += length;
    if (csv->row_bytes > CSV_STREAM_ROW_LIMIT)
        return fail(csv, csv->row_line, "a row longer than 1 MiB; is a quote left open?");
    if (csv_parse(&csv->parser, piece, length, take_field, take_row, csv) != length)
        return error_memory(&csv->error, csv->source.name);
    if (csv->failed)
        return callback_error(csv);
    csv->at += length;
    csv->after_cr = end == '\r';
    if (!csv->complete && !csv->begun) {
        /* No row, none begun: nothing but space so far, and a blank line if it ends here. */
        csv->begun = !is_blank(piece, length);
        if (!csv->begun) {
            csv->blank_lines += line_ends && !rest_of_crlf;
            csv->row_bytes = 0;
        }
    }
    csv->line += line_ends && !rest_of_crlf;
    return 0;
}

static int finish(struct csv_stream *csv)
{
    csv->finished = true;
    /* An open quote is an error only when strict, and strict before the end would refuse a "b, which is not
     * RFC 4180 but harmless. */
    csv_set_opts(&csv->parser, CSV_STRICT | CSV_STRICT_FINI);
    if (csv_fini(&csv->parser, take_field, take_row, csv)) {
        if (csv_error(&csv->parser) == CSV_EPARSE)
            return fail(csv, csv->row_line, "a quote that is never closed");
        return error_memory(&csv->error, csv->source.name);
    }
    return csv->failed ? callback_error(csv) : 0;
}

static void give(struct csv_stream *csv, struct csv_row *row)
{
    const char *text = csv->text;

    for (size_t i = 0; i < csv->field_count; i++) {
        csv->fields[i].text = text;
        text += csv->fields[i].length + 1;
    }
    *row = (struct csv_row){.fields = csv->fields, .count = csv->field_count, .line = csv->row_line};
    csv->rows++;
}

int csv_stream_next(struct csv_stream *csv, struct csv_row *row, struct error *err)
{
    csv->complete = false;
    csv->begun = false;
    csv->row_bytes = 0;
    csv->text_used = 0;
    csv->field_count = 0;
    while (!csv->complete && !csv->finished && csv->error.code == ERROR_NONE) {
        if (csv->at < csv->end)
            feed(csv);
        else if (!csv->last)
            fill(csv);
        else
            finish(csv);
    }
    if (csv->error.code != ERROR_NONE)
        return error_set(err, csv->error.code, csv->error.place, "%s", csv->error.message);
    if (!csv->complete)
        return 0;
    give(csv, row);
    return 1;
}

uint64_t csv_stream_rows(const struct csv_stream *csv)
{
    return csv->rows;
}

uint64_t csv_stream_blank_lines(const struct csv_stream *csv)
{
    return csv->blank_lines;
}

const char *csv_stream_name(const struct csv_stream *csv)
{
    return csv->source.name;
}

void csv_stream_close(struct csv_stream *csv)
{
    if (!csv)
        return;
    csv_free(&csv->parser);
    byte_source_close(&csv->source);
    free(csv->chunk);
    free(csv->text);
    free(csv->fields);
    free(csv);
}
