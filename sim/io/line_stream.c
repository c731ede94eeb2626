#include "sim/io/line_stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/byte_source.h"

enum { FIRST_ROOM = 64 * 1024 };

struct line_stream {
    struct byte_source source;
    char *buffer; /* unread bytes stand at [at, end); one byte of room is kept for a NUL */
    size_t at, end, room;
    size_t searched; /* bytes from at on that hold no line feed */
    bool last;       /* the source has no more */
    bool begun;      /* a BOM can no longer come */
    uint64_t number; /* lines taken */
    uint64_t blank_lines;
    struct error error;
};

static struct line_stream *stream_new(void)
{
    struct line_stream *lines = calloc(1, sizeof *lines);

    if (!lines)
        return NULL;
    lines->room = FIRST_ROOM;
    lines->buffer = malloc(lines->room);
    if (!lines->buffer) {
        free(lines);
        return NULL;
    }
    return lines;
}

int line_stream_open(struct line_stream **out, const char *path, struct error *err)
{
    struct line_stream *lines = stream_new();

    *out = NULL;
    if (!lines)
        return error_memory(err, path);
    if (byte_source_open(&lines->source, path, err)) {
        line_stream_close(lines);
        return -1;
    }
    *out = lines;
    return 0;
}

int line_stream_open_memory(struct line_stream **out, const char *text, size_t length, const char *name,
                            struct error *err)
{
    struct line_stream *lines = stream_new();

    *out = NULL;
    if (!lines)
        return error_memory(err, name);
    if (byte_source_open_memory(&lines->source, text, length, name, err)) {
        line_stream_close(lines);
        return -1;
    }
    *out = lines;
    return 0;
}

static int fail(struct line_stream *lines, uint64_t number, const char *message)
{
    char place[sizeof lines->error.place];

    snprintf(place, sizeof place, "%.480s:%llu", lines->source.name, (unsigned long long)number);
    return error_set(&lines->error, ERROR_INPUT, place, "%s", message);
}

/* Makes room and reads on behind the unread bytes. */
static int fill(struct line_stream *lines)
{
    size_t unread = lines->end - lines->at;
    size_t want;
    long got;

    memmove(lines->buffer, lines->buffer + lines->at, unread);
    lines->at = 0;
    lines->end = unread;
    if (unread + 1 >= lines->room) {
        char *more;

        if (unread > LINE_STREAM_LIMIT)
            return fail(lines, lines->number + 1, "a line longer than 16 MiB");
        more = realloc(lines->buffer, lines->room * 2);
        if (!more)
            return error_memory(&lines->error, lines->source.name);
        lines->buffer = more;
        lines->room *= 2;
    }
    want = lines->room - 1 - unread;
    got = byte_source_read(&lines->source, lines->buffer + unread, want, &lines->error);
    if (got < 0)
        return -1;
    lines->end += (size_t)got;
    lines->last = (size_t)got < want;
    if (!lines->begun && lines->end >= 3 && !memcmp(lines->buffer, "\xef\xbb\xbf", 3))
        lines->at = 3;
    lines->begun = true;
    return 0;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

/* The next line, blank or not. 1, 0, -1. */
static int take(struct line_stream *lines, struct line *line)
{
    char *start, *feed;
    size_t length;

    while (true) {
        start = lines->buffer + lines->at;
        length = lines->end - lines->at;
        feed = lines->searched < length ? memchr(start + lines->searched, '\n', length - lines->searched)
                                        : NULL;
        if (feed || lines->last)
            break;
        lines->searched = length;
        if (fill(lines))
            return -1;
        if (lines->searched > lines->end - lines->at)
            lines->searched = 0; /* a BOM went */
    }
    lines->searched = 0;
    if (!feed && !length)
        return 0;
    if (feed)
        length = (size_t)(feed - start);
    lines->at += length + (feed != NULL);
    lines->number++;
    if (length > LINE_STREAM_LIMIT)
        return fail(lines, lines->number, "a line longer than 16 MiB");
    if (length && memchr(start, 0, length))
        return fail(lines, lines->number, "a NUL byte; is this a text file?");
    if (length && start[length - 1] == '\r')
        length--;
    start[length] = 0; /* the line end's place, or the byte of room */
    *line = (struct line){.text = start, .length = length, .number = lines->number};
    return 1;
}

int line_stream_next(struct line_stream *lines, struct line *line, struct error *err)
{
    int got = -1;

    while (lines->error.code == ERROR_NONE && (got = take(lines, line)) > 0 &&
           is_blank(line->text, line->length))
        lines->blank_lines++;
    if (lines->error.code != ERROR_NONE)
        return error_set(err, lines->error.code, lines->error.place, "%s", lines->error.message);
    return got;
}

uint64_t line_stream_blank_lines(const struct line_stream *lines)
{
    return lines->blank_lines;
}

const char *line_stream_name(const struct line_stream *lines)
{
    return lines->source.name;
}

void line_stream_close(struct line_stream *lines)
{
    if (!lines)
        return;
    byte_source_close(&lines->source);
    free(lines->buffer);
    free(lines);
}
