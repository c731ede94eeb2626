#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "models/traffic/trace_internal.h"
#include "sim/io/line_stream.h"

struct jsonl {
    struct line_stream *lines;
    cJSON *object;
    uint64_t broken; /* line that could not be read: an error unless it is the last */
};

int jsonl_open(const struct trace_spec *spec, struct jsonl **out, struct error *err)
{
    struct jsonl *jsonl = calloc(1, sizeof *jsonl);

    *out = NULL;
    if (!jsonl)
        return error_memory(err, "trace");
    if (line_stream_open(&jsonl->lines, spec->path, err) < 0) {
        free(jsonl);
        return -1;
    }
    *out = jsonl;
    return 0;
}

int jsonl_next(struct jsonl *jsonl, const cJSON **object, uint64_t *number, struct trace_repairs *repairs,
               struct error *err)
{
    struct line line;
    int got = line_stream_next(jsonl->lines, &line, err);

    cJSON_Delete(jsonl->object);
    jsonl->object = NULL;
    if (got <= 0) {
        repairs->count[TRACE_BLANK_LINES] = (int64_t)line_stream_blank_lines(jsonl->lines);
        return got;
    }
    jsonl->object = cJSON_ParseWithOpts(line.text, NULL, true);
    *number = line.number;
    if (!cJSON_IsObject(jsonl->object)) {
        uint64_t broken = line.number;
        bool cut = !jsonl->object && line.length > 0 && line.text[line.length - 1] != '}';

        got = line_stream_next(jsonl->lines, &line, err);
        if (got < 0)
            return -1;
        if (got == 0 && cut) { /* the writer was cut off */
            trace_count(repairs, TRACE_TRUNCATED, broken);
            return 0;
        }
        return trace_fail(line_stream_name(jsonl->lines), broken, err, "the line is no JSON object");
    }
    *object = jsonl->object;
    return 1;
}

const char *jsonl_name(const struct jsonl *jsonl)
{
    return line_stream_name(jsonl->lines);
}

void jsonl_close(struct jsonl *jsonl)
{
    cJSON_Delete(jsonl->object);
    line_stream_close(jsonl->lines);
    free(jsonl);
}
