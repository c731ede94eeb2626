/*
 * ragpulse: JSON lines {"timestamp": "seconds as text", "input_length", "output_length", "hash_ids": {lists},
 * "session_id"}. The file joins sorted blocks, so times fall back between them: the replay puts them in
 * order.
 */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "models/traffic/trace_internal.h"
#include "sim/engine/random.h"

struct ragpulse {
    struct jsonl *jsonl;
    int64_t last;
    bool any;
};

static bool ragpulse_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return length > 0 && head[0] == '{' && trace_head_has(head, length, "\"hash_ids\": {") &&
           trace_head_has(head, length, "\"input_length\"");
}

static int ragpulse_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    struct ragpulse *r = calloc(1, sizeof *r);

    if (!r)
        return error_memory(err, "trace");
    if (jsonl_open(spec, &r->jsonl, err) < 0) {
        free(r);
        return -1;
    }
    *reader = r;
    return 0;
}

static uint64_t session_of(const cJSON *item)
{
    uint64_t key = 0x73657373696f6e; /* "session" */

    if (cJSON_IsNumber(item))
        return random_hash((uint64_t)(int64_t)item->valuedouble) | 1;
    if (!cJSON_IsString(item) || !*item->valuestring)
        return 0;
    for (const char *at = item->valuestring; *at; at++)
        key = random_hash(key ^ (unsigned char)*at);
    return key | 1;
}

static int ragpulse_next(void *reader, struct trace_record *record, struct trace_repairs *repairs,
                         struct error *err)
{
    struct ragpulse *r = reader;
    const cJSON *object;
    int got = jsonl_next(r->jsonl, &object, &record->line, repairs, err);

    if (got <= 0)
        return got;
    if (trace_json_time(cJSON_GetObjectItemCaseSensitive(object, "timestamp"), TRACE_SECONDS, &record->at) <
        0)
        return trace_fail(jsonl_name(r->jsonl), record->line, err,
                          "\"timestamp\" is missing or no number of seconds");
    if (trace_json_tokens(cJSON_GetObjectItemCaseSensitive(object, "input_length"), &record->tokens_in) < 0 ||
        trace_json_tokens(cJSON_GetObjectItemCaseSensitive(object, "output_length"), &record->tokens_out) < 0)
        return trace_fail(jsonl_name(r->jsonl), record->line, err,
                          "\"input_length\" or \"output_length\" is missing or no number of tokens");
    record->session = session_of(cJSON_GetObjectItemCaseSensitive(object, "session_id"));
    if (r->any && record->at == r->last)
        trace_count(repairs, TRACE_DUPLICATE_TIMES, record->line);
    r->any = true;
    r->last = record->at;
    return 1;
}

static void ragpulse_close(void *reader)
{
    struct ragpulse *r = reader;

    jsonl_close(r->jsonl);
    free(r);
}

const struct trace_type trace_ragpulse = {
    .name = "ragpulse",
    .help = "RAGPulse (JSON lines)",
    .kind = TRACE_REQUESTS,
    .sniff = ragpulse_sniff,
    .open = ragpulse_open,
    .next = ragpulse_next,
    .close = ragpulse_close,
};
