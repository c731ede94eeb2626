#include "models/traffic/trace_internal.h"

const struct trace_type *const *trace_types(void)
{
    static const struct trace_type *const types[] = {
        &trace_azure_llm, &trace_vidur,           &trace_burstgpt, &trace_mooncake, &trace_ragpulse,
        &trace_aibrix,    &trace_azure_functions, &trace_counts,   &trace_csv,      NULL,
    };

    return types;
}
