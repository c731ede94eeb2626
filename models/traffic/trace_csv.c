/*
 * csv: any table with a header row and one request a row. "columns": {"time", "tokens_in", "tokens_out",
 * "work" (s), "session"} name its columns, "time_unit" ("s", "ms", "us", "ns", "datetime") says what the time
 * is in. Without "columns": time_s, tokens_in, tokens_out, work_s, session, as `peaksim trace` writes them.
 */
#include "models/traffic/trace_internal.h"

static bool csv_sniff(const char *head, size_t length, const char *file_name)
{
    (void)file_name;
    return length > 7 && trace_head_has(head, length < 64 ? length : 64, "time_s,tokens_in");
}

static int csv_open(const struct trace_spec *spec, void **reader, struct error *err)
{
    bool named = spec->time || spec->tokens_in || spec->tokens_out || spec->work || spec->session;
    struct table_format format = {
        .time = spec->time ? spec->time : "time_s",
        .tokens_in = spec->tokens_in ? spec->tokens_in
                     : named         ? NULL
                                     : "tokens_in",
        .tokens_out = spec->tokens_out ? spec->tokens_out
                      : named          ? NULL
                                       : "tokens_out",
        .work = spec->work ? spec->work
                : named    ? NULL
                           : "work_s",
        .session = spec->session ? spec->session
                   : named       ? NULL
                                 : "session",
        .optional = !named,
        .unit = spec->unit_given ? spec->unit : TRACE_SECONDS,
    };

    return table_open(spec, &format, reader, err);
}

const struct trace_type trace_csv = {
    .name = "csv",
    .help = "any table of requests, with \"columns\" and \"time_unit\"",
    .kind = TRACE_REQUESTS,
    .sniff = csv_sniff,
    .open = csv_open,
    .next = table_next,
    .close = table_close,
};
