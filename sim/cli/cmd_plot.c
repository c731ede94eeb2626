#include <stdio.h>

#include "plots/plot.h"
#include "sim/cli/cli.h"
#include "sim/cli/cli_options.h"

static const char HELP[] =
    "Usage: peaksim plot OUTDIR\n"
    "\n"
    "Draws OUTDIR/plots/*.svg and *.png again out of the result files there, without simulating again.\n"
    "\n"
    "Options\n"
    "  -q, --quiet   do not say where the plots are\n"
    "  -h, --help    this text\n";

int cmd_plot(int argc, char **argv)
{
    struct cli_options options;
    struct error err = {.code = ERROR_NONE};
    int status;

    if (!cli_options_read(argc, argv, OPTION_QUIET, "OUTDIR", HELP, &options, &status))
        return status;
    if (plots_draw(options.path, &err) < 0)
        return cli_fail(&err);
    if (!options.quiet)
        printf("Plots: %s/plots\n", options.path);
    return CLI_OK;
}
