#include "models/traffic/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/traffic/trace_internal.h"
#include "sim/io/byte_source.h"

enum { HEAD = 4096, PATH = 4096 };

struct trace_reader {
    const struct trace_spec *spec;
    void *reader;
    struct trace_repairs repairs;
};

const char *trace_repair_text(enum trace_repair repair)
{
    static const char *const texts[TRACE_REPAIRS] = {
        "blank lines skipped",
        "records out of order",
        "records at the same time as the one before",
        "requests without output tokens",
        "records that are no requests left out",
        "intervals that are missing",
        "values clipped to what a request can have",
        "last lines cut short and left out",
    };

    return (unsigned)repair < TRACE_REPAIRS ? texts[repair] : "unknown";
}

int trace_fail(const char *file, uint64_t line, struct error *err, const char *format, ...)
{
    char place[512], message[900];
    va_list args;

    snprintf(place, sizeof place, "%.480s:%llu", file, (unsigned long long)line);
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(err, ERROR_INPUT, place, "%s", message);
}

void trace_count(struct trace_repairs *repairs, enum trace_repair repair, uint64_t line)
{
    if (repairs->count[repair]++ == 0)
        repairs->first_line[repair] = line;
}

bool trace_head_has(const char *head, size_t length, const char *text)
{
    return memmem(head, length, text, strlen(text)) != NULL;
}

/* ---- what the file is ---- */

static int head_read(const char *path, char head[HEAD], size_t *length, struct error *err)
{
    struct byte_source source;
    long got = 0;

    *length = 0;
    if (byte_source_open(&source, path, err) < 0)
        return -1;
    while (*length < HEAD && (got = byte_source_read(&source, head + *length, HEAD - *length, err)) > 0)
        *length += (size_t)got;
    byte_source_close(&source);
    return got < 0 ? -1 : 0;
}

static void known(char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (const struct trace_type *const *type = trace_types(); *type && used < size; type++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", (*type)->name);
}

static const struct trace_type *sniff(const char *path, struct error *err)
{
    char head[HEAD], names[512];
    const char *slash = strrchr(path, '/');
    size_t length;

    if (head_read(path, head, &length, err) < 0)
        return NULL;
    if (length == 0) {
        error_set(err, ERROR_INPUT, path, "the file is empty");
        return NULL;
    }
    for (const struct trace_type *const *type = trace_types(); *type; type++)
        if ((*type)->sniff && (*type)->sniff(head, length, slash ? slash + 1 : path))
            return *type;
    known(names, sizeof names);
    error_set(err, ERROR_INPUT, path, "no known trace format looks like this file; name one: %s", names);
    return NULL;
}

static const struct trace_type *named(const char *name, struct error *err)
{
    const char *names[32], *near;
    char all[512];
    size_t count = 0;

    for (const struct trace_type *const *type = trace_types(); *type; type++) {
        if (strcmp((*type)->name, name) == 0)
            return *type;
        names[count++] = (*type)->name;
    }
    near = nearest_name(name, names, count);
    known(all, sizeof all);
    error_set(err, ERROR_INPUT, "trace", "no trace format is called \"%s\"%s%s%s; there are: %s", name,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", all);
    return NULL;
}

/* ---- the spec ---- */

int trace_spec_from_path(const char *path, const char *format, struct trace_spec **out, struct error *err)
{
    struct trace_spec *spec = calloc(1, sizeof *spec);
    FILE *file;

    *out = NULL;
    if (!spec || !(spec->path = strdup(path))) {
        free(spec);
        return error_memory(err, "trace");
    }
    file = fopen(path, "rb");
    if (!file) {
        trace_spec_free(spec);
        return error_set(
            err, ERROR_INPUT, path,
            "the trace cannot be opened: is the path right? It starts at the scenario's own folder");
    }
    fclose(file);
    spec->type = format ? named(format, err) : sniff(path, err);
    if (!spec->type) {
        trace_spec_free(spec);
        return -1;
    }
    *out = spec;
    return 0;
}

static bool column(struct map *columns, const char *key, char **out)
{
    const char *name = NULL;

    if (!map_has(columns, key))
        return !map_failed(columns);
    if (!map_string(columns, key, MAP_REQUIRED, &name))
        return false;
    *out = strdup(name);
    if (!*out)
        error_memory(columns->err, "trace");
    return *out != NULL;
}

static int options_parse(struct map *map, struct trace_spec *spec)
{
    static const char *const units[] = {"s", "ms", "us", "ns", "datetime", NULL};
    static const char *const values[] = {"count", "rate", NULL};
    struct map columns;
    int unit = 0, value = 0;

    if (map_has(map, "columns")) {
        map_open_child(&columns, map, "columns");
        column(&columns, "time", &spec->time);
        column(&columns, "tokens_in", &spec->tokens_in);
        column(&columns, "tokens_out", &spec->tokens_out);
        column(&columns, "work", &spec->work);
        column(&columns, "session", &spec->session);
        column(&columns, "count", &spec->count);
        map_close(&columns);
    }
    if (map_has(map, "time_unit")) {
        map_choice(map, "time_unit", MAP_REQUIRED, units, &unit);
        spec->unit = (enum trace_unit)unit;
        spec->unit_given = true;
    }
    if (map_has(map, "width")) {
        map_time(map, "width", MAP_REQUIRED, &spec->width);
        if (!map_failed(map) && spec->width < SIM_MILLISECOND)
            return node_error(map_node(map, "width"), map->err, "\"width\" must be at least 1ms");
    }
    if (map_has(map, "value")) {
        map_choice(map, "value", MAP_REQUIRED, values, &value);
        spec->is_rate = value == 1;
        spec->is_rate_given = true;
    }
    return map_failed(map) ? -1 : 0;
}

int trace_spec_parse(struct map *map, struct trace_spec **out, struct error *err)
{
    const char *file = NULL, *format = NULL;
    struct error detail = {.code = ERROR_NONE};
    char path[PATH];

    *out = NULL;
    if (!map_string(map, "file", MAP_REQUIRED, &file))
        return -1;
    if (map_has(map, "format") && !map_string(map, "format", MAP_REQUIRED, &format))
        return -1;
    document_resolve_path(map->node, file, path, sizeof path);
    if (trace_spec_from_path(path, format, out, &detail) < 0) {
        if (detail.code != ERROR_INPUT)
            return error_set(err, detail.code, detail.place, "%s", detail.message);
        return node_error(map_node(map, format && strcmp(detail.place, "trace") == 0 ? "format" : "file"),
                          err, "%s: %s", file, detail.message);
    }
    if (options_parse(map, *out) < 0) {
        trace_spec_free(*out);
        *out = NULL;
        return -1;
    }
    return 0;
}

void trace_spec_free(struct trace_spec *spec)
{
    if (!spec)
        return;
    free(spec->path);
    free(spec->time);
    free(spec->tokens_in);
    free(spec->tokens_out);
    free(spec->work);
    free(spec->session);
    free(spec->count);
    free(spec);
}

const struct trace_type *trace_spec_type(const struct trace_spec *spec)
{
    return spec->type;
}

const char *trace_spec_path(const struct trace_spec *spec)
{
    return spec->path;
}

/* ---- reading ---- */

int trace_open(const struct trace_spec *spec, struct trace_reader **out, struct error *err)
{
    struct trace_reader *reader = calloc(1, sizeof *reader);

    *out = NULL;
    if (!reader)
        return error_memory(err, "trace");
    reader->spec = spec;
    if (spec->type->open(spec, &reader->reader, err) < 0) {
        free(reader);
        return -1;
    }
    *out = reader;
    return 0;
}

int trace_next(struct trace_reader *reader, struct trace_record *record, struct error *err)
{
    *record = (struct trace_record){.work_ns = -1};
    return reader->spec->type->next(reader->reader, record, &reader->repairs, err);
}

const struct trace_repairs *trace_repairs(const struct trace_reader *reader)
{
    return &reader->repairs;
}

void trace_close(struct trace_reader *reader)
{
    if (!reader)
        return;
    reader->spec->type->close(reader->reader);
    free(reader);
}
