#include "sim/run/results.h"

#include <stdlib.h>
#include <string.h>

#include "sim/run/file_name.h"

enum { HGRM_NAME = 2 * FILE_NAME_PART + 32 };

static int write_text(struct output_dir *out, const char *name, const char *text, struct error *err)
{
    FILE *file;

    if (output_dir_open(out, name, &file, err) != 0)
        return -1;
    fputs(text, file);
    return output_dir_close_file(out, file, err);
}

static int write_documents(const struct summary *summary, struct output_dir *out, struct error *err)
{
    char *text = summary_to_json(summary, err);
    int status = text ? write_text(out, "summary.json", text, err) : -1;

    free(text);
    if (status != 0 || !summary->scenario->document)
        return status;
    text = document_to_json(summary->scenario->document);
    if (!text)
        return error_memory(err, "scenario.resolved.json");
    status = write_text(out, "scenario.resolved.json", text, err);
    free(text);
    return status;
}

static void write_line(void *to, const char *line)
{
    FILE *file = to;
    size_t length = strlen(line);

    fputs(line, file);
    if (length == 0 || line[length - 1] != '\n')
        fputc('\n', file);
}

static int write_histogram(const struct experiment_results *results, int32_t strategy, int32_t service,
                           struct output_dir *out, const char *name, struct error *err)
{
    struct histogram all;
    FILE *file;
    int status = -1;

    histogram_init(&all);
    for (int32_t r = 0; r < results->replications; r++) {
        const struct outcome_service *s;

        if (!experiment_complete(results, r))
            continue;
        s = &results->outcomes[strategy * results->replications + r]->services[service];
        if (histogram_add(&all, &s->latency_peak, err) != 0 || histogram_add(&all, &s->latency_off, err) != 0)
            goto out;
    }
    if (output_dir_open(out, name, &file, err) != 0)
        goto out;
    histogram_write_hgrm(&all, 1e6, write_line, file);
    status = output_dir_close_file(out, file, err);
out:
    histogram_free(&all);
    return status;
}

static int write_histograms(const struct experiment_results *results, struct output_dir *out,
                            struct error *err)
{
    const struct scenario *scenario = results->scenario;
    size_t files = (size_t)scenario->strategy_count * (size_t)scenario->service_count, at = 0;
    char *names = calloc(files ? files : 1, HGRM_NAME);
    int status = -1;

    if (!names)
        return error_memory(err, "results");
    for (int32_t s = 0; s < scenario->strategy_count; s++)
        for (int32_t i = 0; i < scenario->service_count; i++) {
            char strategy[FILE_NAME_PART], service[FILE_NAME_PART], name[HGRM_NAME + 8];
            char *stem = names + at * HGRM_NAME;

            file_name_part(strategy, scenario->strategies[s].name);
            file_name_part(service, scenario->services[i].name);
            snprintf(stem, HGRM_NAME, "latency-%s-%s", strategy, service);
            file_name_unique(names, HGRM_NAME, ++at);
            snprintf(name, sizeof name, "%s.hgrm", stem);
            if (write_histogram(results, s, i, out, name, err) != 0)
                goto out;
        }
    status = 0;
out:
    free(names);
    return status;
}

struct table {
    const char *name;
    int (*write)(const struct experiment_results *results, FILE *file, struct error *err);
};

/* Do the runs of the first replication have spools? */
static bool kept_records(const struct experiment_results *results)
{
    int32_t first = experiment_first(results);

    for (int32_t s = 0; first >= 0 && s < results->scenario->strategy_count; s++) {
        const struct outcome *run = results->outcomes[s * results->replications + first];

        if (!run->series || !run->decisions || !run->replicas)
            return false;
    }
    return first >= 0;
}

static int write_table(const struct experiment_results *results, const struct table *table,
                       struct output_dir *out, struct error *err)
{
    FILE *file;

    if (output_dir_open(out, table->name, &file, err) != 0 || table->write(results, file, err) != 0)
        return -1;
    return output_dir_close_file(out, file, err);
}

int results_write(const struct experiment_results *results, const struct summary *summary,
                  struct output_dir *out, struct error *err)
{
    static const struct table tables[] = {{"timeseries.csv", results_write_timeseries},
                                          {"decisions.csv", results_write_decisions},
                                          {"replicas.csv", results_write_replicas}};
    FILE *file;

    if (write_documents(summary, out, err) != 0 || output_dir_open(out, "strategies.csv", &file, err) != 0 ||
        results_write_strategies(summary, file, err) != 0 || output_dir_close_file(out, file, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && kept_records(results); i++)
        if (write_table(results, &tables[i], out, err) != 0)
            return -1;
    return write_histograms(results, out, err);
}
