#include <gsl/gsl_errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/cli/cli.h"
#include "sim/io/document.h"

const struct cli_command *cli_commands(void)
{
    static const struct cli_command commands[] = {
        {"compare", "all strategies of a scenario: table, result files, plots", cmd_compare},
        {"run", "one strategy, one run, told as a timeline", cmd_run},
        {"check", "validate a scenario; list its inputs and what they rest on", cmd_check},
        {"trace", "information on traces; cut one, or make one", cmd_trace},
        {"plot", "draw the plots of an output folder again", cmd_plot},
        {NULL, NULL, NULL},
    };

    return commands;
}

int cli_fail(const struct error *err)
{
    if (err->place[0])
        fprintf(stderr, "peaksim: %s: %s\n", err->place, err->message);
    else
        fprintf(stderr, "peaksim: %s\n", err->message);
    switch (err->code) {
    case ERROR_USAGE:
        return CLI_USAGE;
    case ERROR_INPUT:
        return CLI_INPUT;
    case ERROR_THRESHOLD:
        return CLI_THRESHOLD;
    case ERROR_INTERRUPTED:
        return CLI_INTERRUPTED;
    case ERROR_NONE:
    case ERROR_INTERNAL:
    case ERROR_SYSTEM:
        break;
    }
    return CLI_INTERNAL;
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "peaksim%s%s: ", command ? " " : "", command ? command : "");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry: peaksim%s%s --help\n", command ? " " : "", command ? command : "");
    return CLI_USAGE;
}

static void help(FILE *file)
{
    fputs("peaksim: which scaling strategy gets this traffic through its peak, and at what cost\n"
          "\n"
          "Usage: peaksim COMMAND [options] FILE\n"
          "\n"
          "Commands\n",
          file);
    for (const struct cli_command *c = cli_commands(); c->name; c++)
        fprintf(file, "  %-9s %s\n", c->name, c->help);
    fputs("\n"
          "peaksim COMMAND --help says more. peaksim --version prints the version.\n"
          "Exit status: 0 done, 1 internal error, 2 usage, 3 bad input file, 4 an SLO missed under --gate, "
          "130 interrupted.\n",
          file);
}

static int dispatch(int argc, char **argv)
{
    const char *names[16];
    size_t count = 0;
    const char *near;

    for (const struct cli_command *c = cli_commands(); c->name; c++) {
        if (strcmp(c->name, argv[0]) == 0)
            return c->main(argc, argv);
        names[count++] = c->name;
    }
    near = nearest_name(argv[0], names, count);
    if (near)
        return cli_usage(NULL, "unknown command \"%s\"; did you mean \"%s\"?", argv[0], near);
    return cli_usage(NULL, "unknown command \"%s\"", argv[0]);
}

/* Each run spools its series to an open file: many strategies and replications need many. */
static void files_allow(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    int status;

    gsl_set_error_handler_off(); /* GSL's results are checked where they are used; its default is to abort */
    setlocale(LC_ALL, "C");      /* numbers with a point, whatever the user's locale */
    files_allow();
    if (argc < 2) {
        help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("peaksim " PEAKSIM_VERSION);
        return CLI_OK;
    }
    status = dispatch(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("peaksim: the output could not be written\n", stderr);
        return status == CLI_OK ? CLI_INTERNAL : status;
    }
    return status;
}
