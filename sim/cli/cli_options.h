#ifndef SIM_CLI_CLI_OPTIONS_H
#define SIM_CLI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/run/scenario.h"

/*
 * The options that commands share. A command says which it takes; the rest is a usage error that names the
 * command.
 */
enum cli_option {
    OPTION_SET = 1 << 0,          /* --set PATH=VALUE, repeated */
    OPTION_SEED = 1 << 1,         /* --seed N */
    OPTION_REPLICATIONS = 1 << 2, /* --replications N */
    OPTION_JOBS = 1 << 3,         /* --jobs N */
    OPTION_OUT = 1 << 4,          /* --out DIR */
    OPTION_FORMAT = 1 << 5,       /* --format table|json */
    OPTION_QUIET = 1 << 6,        /* --quiet */
    OPTION_GATE = 1 << 7,         /* --gate */
    OPTION_NO_PLOTS = 1 << 8,     /* --no-plots */
    OPTION_STRATEGY = 1 << 9,     /* -s, --strategy NAME */
    OPTION_REPLICATION = 1 << 10, /* --replication N */
    OPTION_EVENTS = 1 << 11,      /* --events FILE */
    OPTION_INPUTS = 1 << 12       /* --inputs */
};

enum { CLI_SETS = 256 };

struct cli_options {
    const char *command;
    const char *path; /* the one argument: SCENARIO or OUTDIR */
    const char *sets[CLI_SETS + 1];
    const char *seed, *replications; /* texts of whole numbers; NULL: not given */
    int jobs;                        /* 0: not given */
    const char *out;
    bool json;
    bool quiet, gate, no_plots, inputs;
    const char *strategy;
    int32_t replication;
    const char *events;
};

/*
 * Reads a command's options and its one argument (called `argument` in messages). help: the text for --help,
 * printed on stdout. Returns true to go on; false when the command is over, with its exit status in *status.
 */
bool cli_options_read(int argc, char **argv, unsigned allowed, const char *argument, const char *help,
                      struct cli_options *options, int *status);

/* The scenario that the options name, with --set, --seed and --replications applied. */
int cli_scenario_read(const struct cli_options *options, struct scenario *scenario, struct error *err);

#endif
