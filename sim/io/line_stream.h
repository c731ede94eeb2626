#ifndef SIM_IO_LINE_STREAM_H
#define SIM_IO_LINE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * Lines of a text file (JSONL traces, logs), plain or gzip, in constant memory: that of the longest line. LF
 * and CRLF end a line, the last one needs none; a BOM is skipped; lines of nothing but space are skipped and
 * counted.
 */
struct line_stream;

struct line {
    const char
        *text; /* without the line end, NUL-terminated, writable by nobody; valid until the next call */
    size_t length;
    uint64_t number; /* from 1, blank lines count */
};

enum { LINE_STREAM_LIMIT = 16 << 20 }; /* bytes of one line */

int line_stream_open(struct line_stream **out, const char *path, struct error *err);
/* Borrows text until closed; name stands in messages. */
int line_stream_open_memory(struct line_stream **out, const char *text, size_t length, const char *name,
                            struct error *err);
/* 1: *line was filled; 0: the end; -1: an error, which stays (ERROR_INPUT, place "file:line": a NUL byte, a
 * line beyond the limit, a truncated or damaged gzip file, a read error). */
int line_stream_next(struct line_stream *lines, struct line *line, struct error *err);
uint64_t line_stream_blank_lines(const struct line_stream *lines);
const char *line_stream_name(const struct line_stream *lines);
void line_stream_close(struct line_stream *lines); /* NULL is fine */

#endif
