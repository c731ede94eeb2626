#ifndef MODELS_TRAFFIC_TRACE_H
#define MODELS_TRAFFIC_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * Recorded traffic as a file tells it: either requests, one record each, or counts per interval of time. A
 * format is one `const struct trace_type` at the foot of its own file (trace_azure_llm.c, ...) and one row in
 * trace_registry.c.
 *
 * A reader gives the file's records in the file's order, in constant memory, plain or gzip; what it repairs
 * it counts (struct trace_repairs), what it cannot repair is an ERROR_INPUT with "file:line". Sorting,
 * windows, scaling and copies are the replay's business (replay.c).
 */
enum trace_kind { TRACE_REQUESTS, TRACE_COUNTS };

struct trace_record {
    int64_t at;    /* ns on the trace's own clock: since 1970-01-01 UTC where it has dates, else since its own
                      zero */
    uint64_t line; /* of the file, from 1: for messages */
    /* TRACE_REQUESTS */
    int64_t work_ns;       /* the recorded duration where the format has one that is service time; else -1 */
    uint64_t prefix_group; /* 0: none */
    uint64_t session;      /* 0: none */
    int32_t prefix_tokens;
    int32_t tokens_in; /* 0 where there are none */
    int32_t tokens_out;
    bool failed; /* the recorded request failed (no output): still an offered request */
    /* TRACE_COUNTS: `count` requests in [at, at + width) */
    int64_t width; /* ns */
    double count;  /* >= 0; fractional where the source is a rate */
};

/* Repairs and peculiarities, counted. */
enum trace_repair {
    TRACE_BLANK_LINES,
    TRACE_OUT_OF_ORDER,    /* timestamps before their predecessor's (counted by whoever orders them) */
    TRACE_DUPLICATE_TIMES, /* equal timestamps in a row: kept, order of the file */
    TRACE_ZERO_TOKENS, /* records without output tokens: kept, marked failed where the format means that */
    TRACE_SKIPPED, /* records left out as the format's own rule says (heartbeats, other services, NaN samples)
                    */
    TRACE_MISSING_BINS, /* intervals that are missing in counts: read as 0 or as the format's rule says */
    TRACE_CLIPPED,      /* values beyond what a field can hold, clipped */
    TRACE_TRUNCATED,    /* last line cut short: left out */
    TRACE_REPAIRS
};
/* "blank lines", ...: plural, for "3 blank lines skipped". */
const char *trace_repair_text(enum trace_repair repair);

struct trace_repairs {
    int64_t count[TRACE_REPAIRS];
    uint64_t first_line[TRACE_REPAIRS]; /* where each was first seen; 0: never */
};

/* What a scenario (or a command line) says about a file: {"file", "format", "columns": {...}, and what the
 * format itself knows}. */
struct trace_spec;
struct trace_reader;

struct trace_type {
    const char *name; /* "azure-llm" */
    const char *help; /* one line */
    enum trace_kind kind;
    /* Does a file that begins with these bytes (at most 4 KiB, already decompressed) look like this format?
     * For `format` left out and for `trace info`. */
    bool (*sniff)(const char *head, size_t length, const char *file_name);
    int (*open)(const struct trace_spec *spec, void **reader, struct error *err);
    /* 1, 0 at the end, -1. */
    int (*next)(void *reader, struct trace_record *record, struct trace_repairs *repairs, struct error *err);
    void (*close)(void *reader);
};
/* All formats, NULL-terminated, in the order in which help lists them and sniffing tries them. */
const struct trace_type *const *trace_types(void);

/* Reads the trace's keys of a "replay" map: file (path relative to the document's own directory), format,
 * columns, ... Keys that belong to the replay itself (window, rate_scale, ...) are read by its own parser
 * from the same map. Errors: input. */
int trace_spec_parse(struct map *map, struct trace_spec **out, struct error *err);
/* From a command line; format NULL: sniffed. Errors: input (no such file, no format fits: lists those known).
 */
int trace_spec_from_path(const char *path, const char *format, struct trace_spec **out, struct error *err);
void trace_spec_free(struct trace_spec *spec);
const struct trace_type *trace_spec_type(const struct trace_spec *spec);
const char *trace_spec_path(const struct trace_spec *spec);

int trace_open(const struct trace_spec *spec, struct trace_reader **out, struct error *err);
/* Next record in the file's order: 1, 0 at the end, -1 with err. No allocation per call once warm, but what
 * cJSON needs for a line of JSON. */
int trace_next(struct trace_reader *reader, struct trace_record *record, struct error *err);
const struct trace_repairs *trace_repairs(const struct trace_reader *reader);
void trace_close(struct trace_reader *reader); /* NULL is fine */

#endif
