#ifndef MODELS_TRAFFIC_TRACE_INTERNAL_H
#define MODELS_TRAFFIC_TRACE_INTERNAL_H

#include "models/traffic/trace.h"

/* What the trace formats share. */

enum trace_unit {
    TRACE_SECONDS,
    TRACE_MILLISECONDS,
    TRACE_MICROSECONDS,
    TRACE_NANOSECONDS,
    TRACE_DATES,
    TRACE_UNITS
};

struct trace_spec {
    const struct trace_type *type;
    char *path;
    /* what the scenario says about the file; NULL or 0: nothing */
    char *time, *tokens_in, *tokens_out, *work, *session, *count; /* column names */
    enum trace_unit unit;
    bool unit_given;
    sim_time width; /* of counts */
    bool is_rate;   /* "value": "rate": numbers are requests/s */
    bool is_rate_given;
};

/* Errors of a reader: ERROR_INPUT with the place "file:line". Returns -1. */
int trace_fail(const char *file, uint64_t line, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Counts a repair and remembers where it was first seen. */
void trace_count(struct trace_repairs *repairs, enum trace_repair repair, uint64_t line);

/*
 * A time out of its text, in whole nanoseconds and without a double in between: decimal numbers in the unit
 * ("4.31457900", also with an exponent), or dates "2023-11-16 18:15:46.6805900", with 'T' or a space, any
 * number of fraction digits (beyond nine: rounded), "Z",
 * "+00:00" or no zone (UTC). 0, or -1: it is none, or beyond 292 years.
 */
int trace_time(const char *text, enum trace_unit unit, int64_t *out);
/* A number of tokens, 0 .. INT32_MAX; "12.0" is one too. 0, or -1. */
int trace_tokens(const char *text, int32_t *out);

/* A number of a JSON object as nanoseconds of the unit; accepts a string that holds one. */
struct cJSON;
int trace_json_time(const struct cJSON *item, enum trace_unit unit, int64_t *out);
int trace_json_tokens(const struct cJSON *item, int32_t *out);

/* ---- tables: CSV with a header row, one request a row (trace_table.c) ---- */
struct table_format {
    const char *time, *tokens_in, *tokens_out, *work,
        *session;  /* header names (case does not matter); NULL: none */
    bool optional; /* all but the time may be missing */
    enum trace_unit unit;
    bool ends;      /* the time is that of the end: the arrival is work earlier */
    bool zero_skip; /* rows with neither input nor output are no requests */
};
int table_open(const struct trace_spec *spec, const struct table_format *format, void **reader,
               struct error *err);
int table_next(void *reader, struct trace_record *record, struct trace_repairs *repairs, struct error *err);
void table_close(void *reader);

/* ---- JSON lines: one object a line (trace_jsonl.c) ---- */
struct jsonl;
int jsonl_open(const struct trace_spec *spec, struct jsonl **out, struct error *err);
/* The next object (owned by the reader until the next call): 1, 0, -1. A last line that is cut short is
 * counted and left out. */
int jsonl_next(struct jsonl *jsonl, const struct cJSON **object, uint64_t *line,
               struct trace_repairs *repairs, struct error *err);
const char *jsonl_name(const struct jsonl *jsonl);
void jsonl_close(struct jsonl *jsonl);

/* Does the head hold this text? */
bool trace_head_has(const char *head, size_t length, const char *text);

/* The rows of trace_registry.c; each stands at the foot of its own file. */
extern const struct trace_type trace_azure_llm, trace_vidur, trace_burstgpt, trace_azure_functions, trace_csv,
    trace_mooncake, trace_ragpulse, trace_aibrix, trace_counts;

#endif
