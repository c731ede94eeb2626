/* vidur: arrived_at (s from the first request, with the noise of a double), num_prefill_tokens,
 * num_decode_tokens. */
#include "models/traffic/trace_internal.h"

static bool vidur_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return trace_head_has(head, length, "num_prefill_tokens") && trace_head_has(head, length, "arrived_at");
}

static int vidur_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    static const struct table_format format = {.time = "arrived_at",
                                               .tokens_in = "num_prefill_tokens",
                                               .tokens_out = "num_decode_tokens",
                                               .unit = TRACE_SECONDS};

    return table_open(spec, &format, reader, err);
}

const struct trace_type trace_vidur = {
    .name = "vidur",
    .help = "Vidur and Splitwise request traces (CSV)",
    .kind = TRACE_REQUESTS,
    .sniff = vidur_sniff,
    .open = vidur_open,
    .next = table_next,
    .close = table_close,
};
