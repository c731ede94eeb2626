/*
 * azure-llm: the Azure LLM inference traces of 2023 to 2025 (github.com/Azure/AzurePublicDataset): TIMESTAMP
 * with up to seven fraction digits and no zone (UTC) or an offset, ContextTokens, GeneratedTokens; columns
 * are found by their names, further ones are ignored.
 */
#include "models/traffic/trace_internal.h"

static bool azure_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return trace_head_has(head, length, "ContextTokens") && trace_head_has(head, length, "GeneratedTokens");
}

static int azure_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    static const struct table_format format = {.time = "TIMESTAMP",
                                               .tokens_in = "ContextTokens",
                                               .tokens_out = "GeneratedTokens",
                                               .unit = TRACE_DATES};

    return table_open(spec, &format, reader, err);
}

const struct trace_type trace_azure_llm = {
    .name = "azure-llm",
    .help = "Azure LLM inference traces 2023, 2024, 2025 (CSV)",
    .kind = TRACE_REQUESTS,
    .sniff = azure_sniff,
    .open = azure_open,
    .next = table_next,
    .close = table_close,
};
