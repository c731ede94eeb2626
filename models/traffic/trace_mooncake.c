/*
 * mooncake: JSON lines {"timestamp": ms, "input_length", "output_length", "hash_ids": [blocks of 512 tokens,
 * named by what they and all before them hold]}. Requests share a prefix if their first block is the same:
 * that block is the prefix group, and the shared part is taken to be all blocks whose id was seen before in
 * the trace, in a row from the first (a filter of 2^20 bits remembers them: it may take a new block for a
 * seen one, about once in a hundred at 10,000 blocks).
 */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "models/traffic/trace_internal.h"
#include "sim/engine/random.h"

enum { BLOCK_TOKENS = 512, FILTER_BITS = 1 << 20 };

struct mooncake {
    struct jsonl *jsonl;
    int64_t last;
    bool any;
    uint64_t seen[FILTER_BITS / 64];
};

static bool mooncake_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return length > 0 && head[0] == '{' && trace_head_has(head, length, "\"hash_ids\": [") &&
           trace_head_has(head, length, "\"input_length\"");
}

static int mooncake_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    struct mooncake *m = calloc(1, sizeof *m);

    if (!m)
        return error_memory(err, "trace");
    if (jsonl_open(spec, &m->jsonl, err) < 0) {
        free(m);
        return -1;
    }
    *reader = m;
    return 0;
}

static bool was_seen(struct mooncake *m, uint64_t block)
{
    uint64_t bit = random_hash(block) % FILTER_BITS;
    bool seen = m->seen[bit / 64] >> (bit % 64) & 1;

    m->seen[bit / 64] |= (uint64_t)1 << (bit % 64);
    return seen;
}

static void prefix_read(struct mooncake *m, const cJSON *ids, struct trace_record *record)
{
    const cJSON *id;
    int64_t shared = 0;
    bool all = true;

    cJSON_ArrayForEach(id, ids)
    {
        uint64_t block = cJSON_IsNumber(id) && id->valuedouble >= 0 && id->valuedouble < 9e15
                             ? (uint64_t)id->valuedouble
                             : 0;

        if (record->prefix_group == 0)
            record->prefix_group = random_hash(block) | 1;
        all = was_seen(m, block) && all;
        shared += all;
    }
    shared *= BLOCK_TOKENS;
    record->prefix_tokens = shared < record->tokens_in ? (int32_t)shared : record->tokens_in;
}

static int mooncake_next(void *reader, struct trace_record *record, struct trace_repairs *repairs,
                         struct error *err)
{
    struct mooncake *m = reader;
    const cJSON *object;
    int got = jsonl_next(m->jsonl, &object, &record->line, repairs, err);

    if (got <= 0)
        return got;
    if (trace_json_time(cJSON_GetObjectItemCaseSensitive(object, "timestamp"), TRACE_MILLISECONDS,
                        &record->at) < 0)
        return trace_fail(jsonl_name(m->jsonl), record->line, err,
                          "\"timestamp\" is missing or no number of milliseconds");
    if (trace_json_tokens(cJSON_GetObjectItemCaseSensitive(object, "input_length"), &record->tokens_in) < 0 ||
        trace_json_tokens(cJSON_GetObjectItemCaseSensitive(object, "output_length"), &record->tokens_out) < 0)
        return trace_fail(jsonl_name(m->jsonl), record->line, err,
                          "\"input_length\" or \"output_length\" is missing or no number of tokens");
    prefix_read(m, cJSON_GetObjectItemCaseSensitive(object, "hash_ids"), record);
    if (m->any && record->at == m->last)
        trace_count(repairs, TRACE_DUPLICATE_TIMES, record->line);
    m->any = true;
    m->last = record->at;
    return 1;
}

static void mooncake_close(void *reader)
{
    struct mooncake *m = reader;

    jsonl_close(m->jsonl);
    free(m);
}

const struct trace_type trace_mooncake = {
    .name = "mooncake",
    .help = "Mooncake conversation traces (JSON lines)",
    .kind = TRACE_REQUESTS,
    .sniff = mooncake_sniff,
    .open = mooncake_open,
    .next = mooncake_next,
    .close = mooncake_close,
};
