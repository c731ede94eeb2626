/* aibrix: JSON lines {"timestamp": ms, "requests": [{"Prompt Length", "Output Length", ...}, ...]}: several
 * requests at one time. */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "models/traffic/trace_internal.h"

struct aibrix {
    struct jsonl *jsonl;
    const cJSON *request; /* next one of the present line */
    int64_t at;
    uint64_t line;
};

static bool aibrix_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return length > 0 && head[0] == '{' && trace_head_has(head, length, "\"requests\"") &&
           trace_head_has(head, length, "Prompt Length");
}

static int aibrix_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    struct aibrix *a = calloc(1, sizeof *a);

    if (!a)
        return error_memory(err, "trace");
    if (jsonl_open(spec, &a->jsonl, err) < 0) {
        free(a);
        return -1;
    }
    *reader = a;
    return 0;
}

static int aibrix_next(void *reader, struct trace_record *record, struct trace_repairs *repairs,
                       struct error *err)
{
    struct aibrix *a = reader;
    const cJSON *object, *requests;

    while (!a->request) {
        int got = jsonl_next(a->jsonl, &object, &a->line, repairs, err);

        if (got <= 0)
            return got;
        if (trace_json_time(cJSON_GetObjectItemCaseSensitive(object, "timestamp"), TRACE_MILLISECONDS,
                            &a->at) < 0)
            return trace_fail(jsonl_name(a->jsonl), a->line, err,
                              "\"timestamp\" is missing or no number of milliseconds");
        requests = cJSON_GetObjectItemCaseSensitive(object, "requests");
        if (!cJSON_IsArray(requests))
            return trace_fail(jsonl_name(a->jsonl), a->line, err, "\"requests\" is missing or no list");
        a->request = requests->child;
    }
    record->at = a->at;
    record->line = a->line;
    if (trace_json_tokens(cJSON_GetObjectItemCaseSensitive(a->request, "Prompt Length"), &record->tokens_in) <
            0 ||
        trace_json_tokens(cJSON_GetObjectItemCaseSensitive(a->request, "Output Length"),
                          &record->tokens_out) < 0)
        return trace_fail(jsonl_name(a->jsonl), a->line, err,
                          "\"Prompt Length\" or \"Output Length\" is missing or no number of tokens");
    if (record->tokens_out == 0)
        trace_count(repairs, TRACE_ZERO_TOKENS, a->line);
    a->request = a->request->next;
    return 1;
}

static void aibrix_close(void *reader)
{
    struct aibrix *a = reader;

    jsonl_close(a->jsonl);
    free(a);
}

const struct trace_type trace_aibrix = {
    .name = "aibrix",
    .help = "AIBrix workloads, several requests a line (JSON lines)",
    .kind = TRACE_REQUESTS,
    .sniff = aibrix_sniff,
    .open = aibrix_open,
    .next = aibrix_next,
    .close = aibrix_close,
};
