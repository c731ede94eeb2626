#ifndef SIM_IO_CSV_STREAM_H
#define SIM_IO_CSV_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * Rows of delimited text (RFC 4180 by libcsv: quotes, doubled quotes, line breaks inside quotes), plain or
 * gzip, in constant memory.
 *
 *   struct csv_stream *csv;
 *   struct csv_row row;
 *   int got;
 *
 *   csv_stream_open(&csv, "trace.csv.gz", ',', err)
 *   while ((got = csv_stream_next(csv, &row, err)) > 0)
 *       use(row.fields[0].text);
 *   csv_stream_close(csv);
 *   got < 0: err
 *
 * CRLF, LF and a lone CR end a row; the last one needs no line end; a BOM is skipped; blank lines are skipped
 * and counted. Space around unquoted fields is trimmed. The reader does not look at the number of fields or
 * at their encoding: that is the format's business.
 */
struct csv_stream;

struct csv_field {
    const char *text; /* NUL-terminated; never NULL */
    size_t length;
};

struct csv_row {
    const struct csv_field *fields; /* valid until the next call */
    size_t count;                   /* at least 1 */
    uint64_t line;                  /* on which the row begins, from 1 */
};

enum {
    CSV_STREAM_ROW_LIMIT = 1 << 20,   /* bytes of one row */
    CSV_STREAM_FIELDS_LIMIT = 1 << 14 /* fields of one row */
};

/* Opens a file. Errors (ERROR_INPUT): it cannot be opened. */
int csv_stream_open(struct csv_stream **out, const char *path, char delimiter, struct error *err);
/* The same over memory, plain only (borrowed until closed); name stands in messages. */
int csv_stream_open_memory(struct csv_stream **out, const char *text, size_t length, const char *name,
                           char delimiter, struct error *err);
/* 1: *row was filled; 0: the end; -1: an error, which stays. Errors (ERROR_INPUT, place "file:line"): a NUL
 * byte, a row over the limits, a quote that is never closed, a truncated or damaged gzip file, a read error.
 */
int csv_stream_next(struct csv_stream *csv, struct csv_row *row, struct error *err);
uint64_t csv_stream_rows(const struct csv_stream *csv);        /* given so far */
uint64_t csv_stream_blank_lines(const struct csv_stream *csv); /* skipped so far */
const char *csv_stream_name(const struct csv_stream *csv);
void csv_stream_close(struct csv_stream *csv); /* NULL is fine */

#endif
