/*
 * burstgpt: Timestamp (s), Request tokens, Response tokens; v3 puts Session ID and Elapsed time between, so
 * columns are found by their names. Rows with neither input nor output are no requests (heartbeats of failed
 * calls) and left out; rows with input but no output failed: offered all the same. Session ID is empty on
 * rows of the API.
 */
#include "models/traffic/trace_internal.h"

static bool burstgpt_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return trace_head_has(head, length, "Request tokens") && trace_head_has(head, length, "Response tokens");
}

static int burstgpt_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    static const struct table_format format = {.time = "Timestamp",
                                               .tokens_in = "Request tokens",
                                               .tokens_out = "Response tokens",
                                               .session = "Session ID",
                                               .unit = TRACE_SECONDS,
                                               .zero_skip = true};

    return table_open(spec, &format, reader, err);
}

const struct trace_type trace_burstgpt = {
    .name = "burstgpt",
    .help = "BurstGPT, versions 1 and 3 (CSV)",
    .kind = TRACE_REQUESTS,
    .sniff = burstgpt_sniff,
    .open = burstgpt_open,
    .next = table_next,
    .close = table_close,
};
