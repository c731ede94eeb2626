#include "sim/cli/cli_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/cli.h"
#include "sim/io/quantity.h"

enum { CHAR_HELP = 'h', CHAR_QUIET = 'q', CHAR_STRATEGY = 's', CHAR_OUT = 'o', FIRST_LONG = 256 };

struct row {
    const char *name;
    enum cli_option option;
    int argument;
    int value;
};

static const struct row rows[] = {
    {"set", OPTION_SET, required_argument, FIRST_LONG + 0},
    {"seed", OPTION_SEED, required_argument, FIRST_LONG + 1},
    {"replications", OPTION_REPLICATIONS, required_argument, FIRST_LONG + 2},
    {"jobs", OPTION_JOBS, required_argument, FIRST_LONG + 3},
    {"out", OPTION_OUT, required_argument, CHAR_OUT},
    {"format", OPTION_FORMAT, required_argument, FIRST_LONG + 5},
    {"quiet", OPTION_QUIET, no_argument, CHAR_QUIET},
    {"gate", OPTION_GATE, no_argument, FIRST_LONG + 7},
    {"no-plots", OPTION_NO_PLOTS, no_argument, FIRST_LONG + 8},
    {"strategy", OPTION_STRATEGY, required_argument, CHAR_STRATEGY},
    {"replication", OPTION_REPLICATION, required_argument, FIRST_LONG + 10},
    {"events", OPTION_EVENTS, required_argument, FIRST_LONG + 11},
    {"inputs", OPTION_INPUTS, no_argument, FIRST_LONG + 12},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *row_of(int value)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].value == value)
            return &rows[i];
    return NULL;
}

static bool whole(const char *text, int64_t low, int64_t high, int64_t *out)
{
    struct error ignored = {.code = ERROR_NONE};

    return quantity_integer(text, out, &ignored) == 0 && *out >= low && *out <= high;
}

/* Takes one option; returns CLI_OK or the status of a usage error. */
static int take(struct cli_options *options, const struct row *row, const char *text, int *sets)
{
    int64_t number = 0;

    switch (row->option) {
    case OPTION_SET:
        if (*sets == CLI_SETS)
            return cli_usage(options->command, "more than %d --set", (int)CLI_SETS);
        options->sets[(*sets)++] = text;
        break;
    case OPTION_SEED:
        if (!whole(text, 0, INT64_MAX, &number))
            return cli_usage(options->command, "--seed takes a whole number from 0 on, not \"%s\"", text);
        options->seed = text;
        break;
    case OPTION_REPLICATIONS:
        if (!whole(text, 1, 10000, &number))
            return cli_usage(options->command,
                             "--replications takes a whole number from 1 to 10000, not \"%s\"", text);
        options->replications = text;
        break;
    case OPTION_JOBS:
        if (!whole(text, 1, 1024, &number))
            return cli_usage(options->command, "--jobs takes a whole number from 1 to 1024, not \"%s\"",
                             text);
        options->jobs = (int)number;
        break;
    case OPTION_OUT:
        if (!*text)
            return cli_usage(options->command, "--out takes the name of a folder");
        options->out = text;
        break;
    case OPTION_FORMAT:
        if (strcmp(text, "json") != 0 && strcmp(text, "table") != 0)
            return cli_usage(options->command, "--format is table or json, not \"%s\"", text);
        options->json = *text == 'j';
        break;
    case OPTION_QUIET:
        options->quiet = true;
        break;
    case OPTION_GATE:
        options->gate = true;
        break;
    case OPTION_NO_PLOTS:
        options->no_plots = true;
        break;
    case OPTION_STRATEGY:
        options->strategy = text;
        break;
    case OPTION_REPLICATION:
        if (!whole(text, 0, 9999, &number))
            return cli_usage(options->command,
                             "--replication takes a whole number from 0 to 9999, not \"%s\"", text);
        options->replication = (int32_t)number;
        break;
    case OPTION_EVENTS:
        options->events = text;
        break;
    case OPTION_INPUTS:
        options->inputs = true;
        break;
    }
    return CLI_OK;
}

/* Long options of this command, and the short ones in `letters`. */
static void options_make(unsigned allowed, struct option *longs, char *letters)
{
    int count = 0;

    *letters++ = ':'; /* a missing argument is told apart from an unknown option */
    *letters++ = CHAR_HELP;
    longs[count++] = (struct option){"help", no_argument, NULL, CHAR_HELP};
    for (int i = 0; i < ROWS; i++) {
        if (!(allowed & rows[i].option))
            continue;
        longs[count++] = (struct option){rows[i].name, rows[i].argument, NULL, rows[i].value};
        if (rows[i].value < FIRST_LONG) {
            *letters++ = (char)rows[i].value;
            if (rows[i].argument == required_argument)
                *letters++ = ':';
        }
    }
    *letters = '\0';
    longs[count] = (struct option){NULL, 0, NULL, 0};
}

static int unknown(const struct cli_options *options, unsigned allowed, const char *word)
{
    const char *names[ROWS + 1];
    size_t count = 0;
    const char *near;

    for (int i = 0; i < ROWS; i++)
        if (allowed & rows[i].option)
            names[count++] = rows[i].name;
    names[count++] = "help";
    near = word[0] == '-' && word[1] == '-' ? nearest_name(word + 2, names, count) : NULL;
    if (near)
        return cli_usage(options->command, "unknown option %s; did you mean --%s?", word, near);
    return cli_usage(options->command, "unknown option %s", word);
}

bool cli_options_read(int argc, char **argv, unsigned allowed, const char *argument, const char *help,
                      struct cli_options *options, int *status)
{
    struct option longs[ROWS + 2];
    char letters[2 * ROWS + 8];
    int sets = 0, letter;

    *options = (struct cli_options){.command = argv[0]};
    options_make(allowed, longs, letters);
    optind = 1;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (letter == CHAR_HELP) {
            fputs(help, stdout);
            *status = CLI_OK;
            return false;
        }
        if (letter == '?') {
            *status = unknown(options, allowed, argv[optind - 1]);
            return false;
        }
        if (letter == ':') {
            *status = cli_usage(options->command, "%s needs an argument", argv[optind - 1]);
            return false;
        }
        *status = take(options, row_of(letter), optarg, &sets);
        if (*status != CLI_OK)
            return false;
    }
    if (optind + 1 != argc) {
        *status = optind == argc ? cli_usage(options->command, "%s is missing", argument)
                                 : cli_usage(options->command, "one %s, please; \"%s\" is too much", argument,
                                             argv[optind + 1]);
        return false;
    }
    options->path = argv[optind];
    return true;
}

int cli_scenario_read(const struct cli_options *options, struct scenario *scenario, struct error *err)
{
    const struct scenario_overrides overrides = {
        .assignments = options->sets,
        .seed = options->seed,
        .replications = options->replications,
    };

    return scenario_read(options->path, &overrides, scenario, err);
}
