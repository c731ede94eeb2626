#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plots/plot.h"
#include "sim/cli/cli.h"
#include "sim/cli/cli_options.h"
#include "sim/cli/interrupt.h"
#include "sim/io/output_dir.h"
#include "sim/io/progress.h"
#include "sim/run/experiment.h"
#include "sim/run/report_table.h"
#include "sim/run/results.h"

static const char HELP[] =
    "Usage: peaksim compare [options] SCENARIO\n"
    "\n"
    "Runs every strategy of a scenario in every replication, on all cores, with common random numbers, and "
    "compares them:\n"
    "P99 over the peak, unserved requests, SLO, cost, and which differences are real.\n"
    "\n"
    "Options\n"
    "  -o, --out DIR           write the result files and plots there (whole or not at all)\n"
    "      --set PATH=VALUE    replace a value of the scenario, such as "
    "services[chat].traffic.replay.rate_scale=4;\n"
    "                          may be repeated\n"
    "      --seed N            seed of all random streams\n"
    "      --replications N    runs of each strategy\n"
    "      --jobs N            threads (default: one a processor); results do not depend on it\n"
    "      --format FORM       table (default) or json (summary.json) on standard output\n"
    "      --gate              exit with 4 unless at least one strategy meets every SLO\n"
    "      --no-plots          no plots in DIR\n"
    "  -q, --quiet             no progress\n"
    "  -h, --help              this text\n";

static void progressed(void *to)
{
    progress_add(to, 1);
}

static bool bold(void)
{
    const char *no_color = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static int print(const struct cli_options *options, const struct experiment_results *results,
                 const struct summary *summary, struct error *err)
{
    return options->json ? report_print_json(summary, stdout, err)
                         : report_print_table(results, summary, stdout, bold(), err);
}

/* Takes out in any case. */
static int save(const struct cli_options *options, const struct experiment_results *results,
                const struct summary *summary, struct output_dir *out, struct error *err)
{
    struct error drawing = {.code = ERROR_NONE};

    if (results_write(results, summary, out, err) < 0) {
        output_dir_abort(out);
        return -1;
    }
    if (output_dir_commit(out, err) < 0)
        return -1;
    if (!options->no_plots && plots_draw(options->out, &drawing) < 0)
        fprintf(stderr, "peaksim: results are whole, plots are not: %s%s%s\n", drawing.place,
                drawing.place[0] ? ": " : "", drawing.message);
    if (!options->quiet)
        fprintf(stderr, "Results: %s\n", options->out);
    return 0;
}

static bool gate_passed(const struct summary *summary)
{
    for (int32_t i = 0; i < summary->scenario->strategy_count; i++)
        if (summary->strategies[i].met == VERDICT_YES || summary->strategies[i].met == VERDICT_NONE)
            return true;
    return false;
}

static int compare(const struct cli_options *options, const struct scenario *scenario, struct output_dir *out,
                   struct error *err)
{
    struct progress progress;
    struct experiment experiment;
    struct summary summary = {0};
    const struct experiment_options runs = {
        .jobs = options->jobs,
        .keep = true,
        .progressed = progressed,
        .progress_to = &progress,
        .interrupted = interrupt_came,
    };
    int result, status = -1;

    progress_begin(&progress, "runs", (uint64_t)experiment_run_count(scenario), options->quiet);
    result = experiment_run(scenario, &runs, &experiment, err);
    progress_end(&progress);
    if (result == 0 && summary_make(&experiment.results, &summary, err) == 0 &&
        print(options, &experiment.results, &summary, err) == 0) {
        fflush(stdout);
        result = out ? save(options, &experiment.results, &summary, out, err) : 0;
        out = NULL;
        if (result == 0)
            status = experiment.results.partial                ? CLI_INTERRUPTED
                     : options->gate && !gate_passed(&summary) ? CLI_THRESHOLD
                                                               : CLI_OK;
    }
    output_dir_abort(out);
    summary_free(&summary);
    experiment_free(&experiment);
    return status;
}

int cmd_compare(int argc, char **argv)
{
    const unsigned allowed = OPTION_SET | OPTION_SEED | OPTION_REPLICATIONS | OPTION_JOBS | OPTION_OUT |
                             OPTION_FORMAT | OPTION_QUIET | OPTION_GATE | OPTION_NO_PLOTS;
    struct cli_options options;
    struct scenario scenario;
    struct output_dir *out = NULL;
    struct error err = {.code = ERROR_NONE};
    int status;

    if (!cli_options_read(argc, argv, allowed, "SCENARIO", HELP, &options, &status))
        return status;
    if (cli_scenario_read(&options, &scenario, &err) < 0)
        return cli_fail(&err);
    interrupt_catch();
    status = -1;
    if (!options.out || output_dir_begin(&out, options.out, &err) == 0)
        status = compare(&options, &scenario, out, &err);
    scenario_free(&scenario);
    if (status < 0)
        return cli_fail(&err);
    if (status == CLI_INTERRUPTED)
        fputs("peaksim: interrupted; what was finished is shown, marked partial\n", stderr);
    if (status == CLI_THRESHOLD)
        fputs("peaksim: no strategy meets the SLO\n", stderr);
    return status;
}
