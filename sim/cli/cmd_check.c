#include <stdio.h>
#include <string.h>

#include "sim/cli/cli.h"
#include "sim/cli/cli_options.h"
#include "sim/io/text_table.h"

static const char HELP[] = "Usage: peaksim check [options] SCENARIO\n"
                           "\n"
                           "Reads a scenario and says whether it is valid, without simulating it.\n"
                           "\n"
                           "Options\n"
                           "      --inputs          list every input: its value, and whether it was "
                           "measured, is a preset, or a guess\n"
                           "      --set PATH=VALUE  replace a value of the scenario; may be repeated\n"
                           "      --seed N, --replications N\n"
                           "  -q, --quiet           only the exit status\n"
                           "  -h, --help            this text\n";

static const char *provenance_name(enum provenance provenance)
{
    static const char *const names[] = {"measured", "preset", "guessed"};

    return names[provenance];
}

static int inputs_print(const struct scenario *scenario, struct error *err)
{
    struct text_table table;
    int result;

    text_table_init(&table);
    text_table_column(&table, "input", TEXT_LEFT);
    text_table_column(&table, "value", TEXT_LEFT);
    text_table_column(&table, "rests on", TEXT_LEFT);
    text_table_column(&table, "source", TEXT_LEFT);
    for (size_t i = 0; i < document_input_count(scenario->document); i++) {
        const struct input *input = document_input(scenario->document, i);

        text_table_cell(&table, "%s", input->path);
        text_table_cell(&table, "%.60s%s", input->value, strlen(input->value) > 60 ? "..." : "");
        text_table_cell(&table, "%s", provenance_name(input->provenance));
        text_table_cell(&table, "%s", input->source);
    }
    putchar('\n');
    result = text_table_print(&table, stdout, false, err);
    text_table_free(&table);
    return result;
}

static void facts_print(const struct cli_options *options, const struct scenario *scenario)
{
    size_t by[3] = {0, 0, 0};
    double requests = 0;
    char count[32], duration[32];

    for (size_t i = 0; i < document_input_count(scenario->document); i++)
        by[document_input(scenario->document, i)->provenance]++;
    for (int32_t i = 0; i < scenario->service_count; i++)
        requests += traffic_expected(scenario->services[i].traffic, 0, scenario->duration);
    printf("%s: valid. Scenario %s: %d service%s, %d strateg%s, %s, about %s requests a replication, %d "
           "replication%s.\n",
           options->path, scenario->name, (int)scenario->service_count,
           scenario->service_count == 1 ? "" : "s", (int)scenario->strategy_count,
           scenario->strategy_count == 1 ? "y" : "ies",
           human_duration(sim_time_seconds(scenario->duration), duration, sizeof duration),
           human_count(requests, count, sizeof count), (int)scenario->replications,
           scenario->replications == 1 ? "" : "s");
    printf("Inputs: %zu measured, %zu presets, %zu guessed (--inputs lists them).\n", by[PROVENANCE_MEASURED],
           by[PROVENANCE_PRESET], by[PROVENANCE_GUESSED]);
    for (int32_t i = 0; i < scenario->service_count; i++) {
        const char *note;

        for (size_t k = 0; (note = traffic_note(scenario->services[i].traffic, k)); k++)
            printf("Note: %s: %s\n", scenario->services[i].name, note);
    }
}

int cmd_check(int argc, char **argv)
{
    struct cli_options options;
    struct scenario scenario;
    struct error err = {.code = ERROR_NONE};
    int status, result = 0;

    if (!cli_options_read(argc, argv,
                          OPTION_SET | OPTION_SEED | OPTION_REPLICATIONS | OPTION_QUIET | OPTION_INPUTS,
                          "SCENARIO", HELP, &options, &status))
        return status;
    if (cli_scenario_read(&options, &scenario, &err) < 0)
        return cli_fail(&err);
    if (!options.quiet)
        facts_print(&options, &scenario);
    if (options.inputs)
        result = inputs_print(&scenario, &err);
    scenario_free(&scenario);
    return result < 0 ? cli_fail(&err) : CLI_OK;
}
