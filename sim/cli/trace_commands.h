#ifndef SIM_CLI_TRACE_COMMANDS_H
#define SIM_CLI_TRACE_COMMANDS_H

#include <stdbool.h>

#include "models/traffic/trace.h"
#include "sim/engine/error.h"

/* What `peaksim trace ...` does; cmd_trace.c reads the options. NULL: not given. */
struct trace_options {
    const char *path;
    const char *as;
    bool json;
    const char *from, *to;
    const char *service, *replication, *seed;
    const char *out;
};

int trace_command_info(const struct trace_options *options, struct error *err);
int trace_command_slice(const struct trace_options *options, struct error *err);
int trace_command_synth(const struct trace_options *options, struct error *err);

#endif
