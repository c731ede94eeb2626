#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/cli.h"
#include "sim/cli/trace_commands.h"
#include "sim/io/document.h"

static const char HELP[] =
    "Usage: peaksim trace info [--as FORMAT] [--format table|json] FILE\n"
    "       peaksim trace slice --from TIME --to TIME -o OUT.csv [--as FORMAT] FILE\n"
    "       peaksim trace synth [--service NAME] [--replication N] [--seed N] -o OUT.csv SCENARIO\n"
    "\n"
    "info   what a trace of requests or counts is like: rates, peaks, burstiness, sizes, and what had to be "
    "repaired\n"
    "slice  the requests (or counts) of a window, times since the trace's first record\n"
    "synth  the arrivals of a scenario's service, as a trace\n"
    "\n"
    "slice and synth write CSV that the format \"csv\" reads again: time_s, tokens_in, tokens_out, work_s "
    "(requests) or\n"
    "time_s, width_s, count (counts).\n"
    "\n"
    "Options\n"
    "      --as FORMAT       the trace's format, where it cannot be told from the file (--as help lists "
    "them)\n"
    "      --format FORM     table (default) or json\n"
    "      --from TIME, --to TIME\n"
    "                        the window, such as 10m and 1h30m\n"
    "      --service NAME    the service (needed where the scenario has several)\n"
    "      --replication N   which replication's random streams (default 0)\n"
    "      --seed N          seed of all random streams\n"
    "  -o, --out FILE        where to write\n"
    "  -h, --help            this text\n";

static int formats_list(void)
{
    for (const struct trace_type *const *type = trace_types(); *type; type++)
        printf("%-20s %s\n", (*type)->name, (*type)->help);
    return CLI_OK;
}

/* Takes the options; CLI_OK, or the exit status with *over set. */
static int options_read(int argc, char **argv, struct trace_options *options, bool *over)
{
    static const struct option longs[] = {
        {"as", required_argument, NULL, 'a'},      {"format", required_argument, NULL, 'f'},
        {"from", required_argument, NULL, 'F'},    {"to", required_argument, NULL, 'T'},
        {"service", required_argument, NULL, 'S'}, {"replication", required_argument, NULL, 'r'},
        {"seed", required_argument, NULL, 's'},    {"out", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    int letter;

    *over = true;
    optind = 1;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, ":o:h", longs, NULL)) != -1) {
        switch (letter) {
        case 'a':
            options->as = optarg;
            break;
        case 'f':
            if (strcmp(optarg, "json") != 0 && strcmp(optarg, "table") != 0)
                return cli_usage(
                    "trace", "--format is table or json, not \"%s\" (--as names a trace's format)", optarg);
            options->json = *optarg == 'j';
            break;
        case 'F':
            options->from = optarg;
            break;
        case 'T':
            options->to = optarg;
            break;
        case 'S':
            options->service = optarg;
            break;
        case 'r':
            options->replication = optarg;
            break;
        case 's':
            options->seed = optarg;
            break;
        case 'o':
            options->out = optarg;
            break;
        case 'h':
            fputs(HELP, stdout);
            return CLI_OK;
        case ':':
            return cli_usage("trace", "%s needs an argument", argv[optind - 1]);
        default:
            return cli_usage("trace", "unknown option %s", argv[optind - 1]);
        }
    }
    if (options->as && strcmp(options->as, "help") == 0)
        return formats_list();
    if (optind + 1 != argc)
        return cli_usage("trace", optind == argc ? "a file is missing" : "one file, please");
    options->path = argv[optind];
    *over = false;
    return CLI_OK;
}

int cmd_trace(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct trace_options *options, struct error *err);
    } actions[] = {
        {"info", trace_command_info}, {"slice", trace_command_slice}, {"synth", trace_command_synth}};
    static const char *const names[] = {"info", "slice", "synth"};
    struct trace_options options = {0};
    struct error err = {.code = ERROR_NONE};
    bool over;
    int status;

    if (argc < 2)
        return cli_usage("trace", "info, slice or synth is missing");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, argv[1]) != 0)
            continue;
        status = options_read(argc - 1, argv + 1, &options, &over);
        if (over)
            return status;
        return actions[i].run(&options, &err) < 0 ? cli_fail(&err) : CLI_OK;
    }
    {
        const char *near = nearest_name(argv[1], names, 3);

        return cli_usage("trace", "unknown command \"%s\"%s%s%s", argv[1], near ? "; did you mean \"" : "",
                         near ? near : "", near ? "\"?" : "");
    }
}
