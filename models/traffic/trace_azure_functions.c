/*
 * azure-functions: the Azure Functions invocation trace of 2021: end_timestamp and duration in seconds. A
 * request arrived at end - duration; its duration is its work. Rows are in the order of their arrivals, not
 * of their ends.
 */
#include "models/traffic/trace_internal.h"

static bool functions_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return trace_head_has(head, length, "end_timestamp") && trace_head_has(head, length, "duration");
}

static int functions_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    static const struct table_format format = {
        .time = "end_timestamp", .work = "duration", .unit = TRACE_SECONDS, .ends = true};

    return table_open(spec, &format, reader, err);
}

const struct trace_type trace_azure_functions = {
    .name = "azure-functions",
    .help = "Azure Functions invocations 2021 (CSV)",
    .kind = TRACE_REQUESTS,
    .sniff = functions_sniff,
    .open = functions_open,
    .next = table_next,
    .close = table_close,
};
