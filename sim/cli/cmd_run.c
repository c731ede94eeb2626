#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/plot.h"
#include "sim/cli/cli.h"
#include "sim/cli/cli_options.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/run_story.h"
#include "sim/io/output_dir.h"
#include "sim/run/experiment.h"
#include "sim/run/parallel.h"
#include "sim/run/report_table.h"
#include "sim/run/results.h"

static const char HELP[] =
    "Usage: peaksim run [options] SCENARIO -s NAME\n"
    "\n"
    "One strategy, one run, told as a timeline: what the policy decided and why, who became ready and when, "
    "and\n"
    "where the start of each replica spent its time.\n"
    "\n"
    "Options\n"
    "  -s, --strategy NAME     the strategy (needed where the scenario has several)\n"
    "      --replication N     which replication, from 0 on (default 0): the same run as that of compare\n"
    "  -o, --out DIR           write the result files, the event log (events.jsonl) and plots there\n"
    "      --events FILE       write the event log there\n"
    "      --set PATH=VALUE    replace a value of the scenario; may be repeated\n"
    "      --seed N            seed of all random streams\n"
    "      --jobs N            threads for the capacity search\n"
    "      --format FORM       table (default: the timeline) or json (summary.json) on standard output\n"
    "      --gate              exit with 4 unless the strategy meets every SLO\n"
    "      --no-plots          no plots in DIR\n"
    "  -q, --quiet             no timeline, only the figures\n"
    "  -h, --help              this text\n";

/* Rows of the waterfall on the terminal. */
enum { WATERFALL_ROWS = 40 };

static int find_strategy(const struct scenario *scenario, const char *name, int32_t *found, struct error *err)
{
    const char *names[64];
    char known[512] = "";
    size_t used = 0;
    const char *near;

    for (int32_t i = 0; i < scenario->strategy_count; i++) {
        int n = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                         scenario->strategies[i].name);

        used = n < 0 || used + (size_t)n >= sizeof known ? sizeof known - 1 : used + (size_t)n;
        names[i] = scenario->strategies[i].name;
        if (name ? strcmp(name, names[i]) == 0 : scenario->strategy_count == 1) {
            *found = i;
            return 0;
        }
    }
    if (!name)
        return error_set(err, ERROR_USAGE, "run",
                         "the scenario has several strategies; choose one with -s: %s", known);
    near = nearest_name(name, names, (size_t)scenario->strategy_count);
    if (near)
        return error_set(err, ERROR_USAGE, "run",
                         "no strategy is called \"%s\"; did you mean \"%s\"? There are: %s", name, near,
                         known);
    return error_set(err, ERROR_USAGE, "run", "no strategy is called \"%s\"; there are: %s", name, known);
}

/* A file for the event log: --events, or events.jsonl of --out; NULL: none wanted. */
static int log_open(const struct cli_options *options, struct output_dir *out, FILE **file, bool *ours,
                    struct error *err)
{
    *file = NULL;
    *ours = false;
    if (options->events) {
        *file = fopen(options->events, "wb");
        *ours = true;
        if (!*file)
            return error_set(err, ERROR_SYSTEM, options->events, "the event log cannot be written");
        return 0;
    }
    return out ? output_dir_open(out, "events.jsonl", file, err) : 0;
}

/* The run that the options ask for, told on the way. */
static int simulate(const struct cli_options *options, const struct scenario *scenario, int32_t strategy,
                    FILE *log_file, struct outcome *outcome, struct error *err)
{
    struct capacity *capacities = calloc((size_t)scenario->service_count, sizeof *capacities);
    struct event_log log = {log_file, scenario};
    bool told = !options->quiet && !options->json;
    struct world_options world = {
        .keep = true,
        .keep_records = true,
        .interrupted = interrupt_came,
    };
    struct story story;
    int result = -1;

    if (!capacities)
        return error_memory(err, "run");
    story_begin(&story, stdout, scenario, log_file ? &log : NULL);
    if (told) {
        world.observe = story_see;
        world.observer = &story;
    } else if (log_file) {
        world.observe = event_log_write;
        world.observer = &log;
    }
    if (!experiment_wants_capacity(scenario) ||
        capacity_compute(scenario, experiment_max_replicas(scenario),
                         options->jobs ? options->jobs : parallel_processors(), interrupt_came, NULL,
                         capacities, err) == 0)
        result = world_run(scenario, strategy, options->replication, capacities, &world, outcome, err);
    if (result == 0 && told) {
        story_end(&story);
        result = story_waterfall(scenario, outcome, WATERFALL_ROWS, stdout, err);
    }
    free(capacities);
    return result;
}

/* Takes out in any case. */
static int report(const struct cli_options *options, const struct scenario *scenario, struct outcome *outcome,
                  struct output_dir *out, struct error *err)
{
    struct outcome *outcomes[] = {outcome};
    const struct experiment_results results = {.scenario = scenario, .outcomes = outcomes, .replications = 1};
    struct summary summary = {0};
    struct error drawing = {.code = ERROR_NONE};
    int status = -1;

    if (summary_make(&results, &summary, err) == 0) {
        if (!options->json)
            putchar('\n');
        status = options->json ? report_print_json(&summary, stdout, err)
                               : report_print_table(&results, &summary, stdout, false, err);
    }
    if (status == 0 && out) {
        status = results_write(&results, &summary, out, err);
        if (status == 0) {
            status = output_dir_commit(out, err);
            out = NULL;
            if (status == 0 && !options->no_plots && plots_draw(options->out, &drawing) < 0)
                fprintf(stderr, "peaksim: results are whole, plots are not: %s\n", drawing.message);
        }
    }
    output_dir_abort(out);
    if (status == 0 && options->gate && summary.strategies[0].met != VERDICT_YES &&
        summary.strategies[0].met != VERDICT_NONE)
        status = CLI_THRESHOLD;
    summary_free(&summary);
    return status;
}

static int run(const struct cli_options *options, const struct scenario *scenario, int32_t strategy,
               struct error *err)
{
    struct scenario alone = *scenario; /* the same, with this strategy only */
    struct output_dir *out = NULL;
    struct outcome outcome = {0};
    FILE *log_file;
    bool ours;
    int status = -1;

    if (options->out && output_dir_begin(&out, options->out, err) < 0)
        return -1;
    if (log_open(options, out, &log_file, &ours, err) < 0) {
        output_dir_abort(out);
        return -1;
    }
    alone.strategies += strategy;
    alone.strategy_count = 1;
    if (simulate(options, &alone, 0, log_file, &outcome, err) == 0) {
        status = report(options, &alone, &outcome, out, err);
        out = NULL;
    }
    output_dir_abort(out);
    if (ours && fclose(log_file) != 0 && status >= 0)
        status = error_set(err, ERROR_SYSTEM, options->events, "the event log could not be written whole");
    outcome_free(&outcome);
    return status;
}

int cmd_run(int argc, char **argv)
{
    const unsigned allowed = OPTION_SET | OPTION_SEED | OPTION_JOBS | OPTION_OUT | OPTION_FORMAT |
                             OPTION_QUIET | OPTION_GATE | OPTION_NO_PLOTS | OPTION_STRATEGY |
                             OPTION_REPLICATION | OPTION_EVENTS;
    struct cli_options options;
    struct scenario scenario;
    struct error err = {.code = ERROR_NONE};
    int32_t strategy = 0;
    int status;

    if (!cli_options_read(argc, argv, allowed, "SCENARIO", HELP, &options, &status))
        return status;
    if (cli_scenario_read(&options, &scenario, &err) < 0)
        return cli_fail(&err);
    interrupt_catch();
    status = -1;
    if (find_strategy(&scenario, options.strategy, &strategy, &err) == 0)
        status = run(&options, &scenario, strategy, &err);
    scenario_free(&scenario);
    if (status < 0)
        return cli_fail(&err);
    if (status == CLI_THRESHOLD)
        fputs("peaksim: the SLO is not met\n", stderr);
    return status;
}
