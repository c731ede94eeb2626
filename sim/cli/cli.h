#ifndef SIM_CLI_CLI_H
#define SIM_CLI_CLI_H

#include "sim/engine/error.h"

/*
 * The command line: main.c finds the subcommand; each lives in its own cmd_*.c as a function that gets its
 * own argc and argv (argv[0] is the subcommand's name) and returns the exit status. This is the only part of
 * the program that prints errors.
 */
enum { CLI_OK = 0, CLI_INTERNAL = 1, CLI_USAGE = 2, CLI_INPUT = 3, CLI_THRESHOLD = 4, CLI_INTERRUPTED = 130 };

struct cli_command {
    const char *name;
    const char *help; /* one line */
    int (*main)(int argc, char **argv);
};

/* All subcommands, ended by a row without a name. */
const struct cli_command *cli_commands(void);

/* Prints "peaksim: place: message" on stderr; returns the exit status of the code. */
int cli_fail(const struct error *err);

/* Prints "peaksim COMMAND: message" and a hint at --help on stderr; returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_trace(int argc, char **argv);

#endif
