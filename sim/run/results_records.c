#include <math.h>

#include "sim/run/csv_writer.h"
#include "sim/run/results.h"

/* decisions.csv and replicas.csv: the first replication's records, a row each, strategy by strategy. */

static void write_names(struct csv_writer *csv, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        csv_text(csv, names[i]);
}

/* Name of a service's metric by its index in the policy; "" if there is none. */
static const char *metric_of(const struct scenario *scenario, int32_t strategy, int32_t service,
                             int32_t metric)
{
    const struct policy_setup *setup = &scenario->strategies[strategy].policies[service];
    const struct metric_config *metrics;
    int32_t count = 0;

    if (metric < 0 || !setup->type || !setup->type->metrics)
        return "";
    metrics = setup->type->metrics(setup->config, &count);
    return metric < count ? metric_name(metrics[metric].kind) : "";
}

static const char *service_name(const struct scenario *scenario, int32_t service)
{
    return service >= 0 && service < scenario->service_count ? scenario->services[service].name : "";
}

/* Texts of a record may fill their field without a NUL. */
static void csv_field(struct csv_writer *csv, const char *field, size_t size)
{
    char text[64];

    snprintf(text, sizeof text, "%.*s", (int)size, field);
    csv_text(csv, text);
}

static void write_decision(struct csv_writer *csv, const struct scenario *scenario, int32_t strategy,
                           int32_t replication, const struct decision_record *d)
{
    csv_text(csv, scenario->strategies[strategy].name);
    csv_text(csv, service_name(scenario, d->service));
    csv_integer(csv, replication);
    csv_seconds(csv, d->at);
    csv_integer(csv, d->from);
    csv_integer(csv, d->to);
    csv_integer(csv, d->proposal);
    csv_integer(csv, d->ready);
    csv_text(csv, d->service >= 0 && d->service < scenario->service_count
                      ? metric_of(scenario, strategy, d->service, d->metric)
                      : "");
    csv_number(csv, d->seen);
    csv_number(csv, d->truth);
    csv_seconds(csv, d->age);
    csv_field(csv, d->reason, sizeof d->reason);
    csv_field(csv, d->limit, sizeof d->limit);
    csv_end(csv);
}

int results_write_decisions(const struct experiment_results *results, FILE *file, struct error *err)
{
    static const char *const names[] = {
        "strategy", "service", "replication", "time_s", "desired_before", "desired_after", "proposal",
        "ready",    "metric",  "seen",        "truth",  "sample_age_s",   "reason",        "limit"};
    int32_t first = experiment_first(results);
    struct decision_record record;
    struct csv_writer csv;

    csv_writer_init(&csv, file);
    write_names(&csv, names, sizeof names / sizeof names[0]);
    csv_end(&csv);
    for (int32_t s = 0; first >= 0 && s < results->scenario->strategy_count; s++) {
        struct spool *spool = results->outcomes[s * results->replications + first]->decisions;
        int got;

        if (!spool)
            continue;
        if (spool_rewind(spool, err) != 0)
            return -1;
        while ((got = spool_next(spool, &record, err)) > 0)
            write_decision(&csv, results->scenario, s, first, &record);
        if (got < 0)
            return -1;
    }
    return 0;
}

static const char *origin_name(enum replica_origin origin)
{
    switch (origin) {
    case ORIGIN_INITIAL:
        return "initial";
    case ORIGIN_COLD:
        return "cold";
    case ORIGIN_POOL:
        return "pool";
    }
    return "unknown";
}

static void write_replica(struct csv_writer *csv, const struct scenario *scenario, int32_t strategy,
                          int32_t replication, const struct replica_record *r)
{
    csv_text(csv, scenario->strategies[strategy].name);
    csv_text(csv, service_name(scenario, r->service));
    csv_integer(csv, replication);
    csv_integer(csv, r->ordinal);
    if (r->node >= 0)
        csv_integer(csv, r->node);
    else
        csv_text(csv, "");
    csv_text(csv, origin_name(r->origin));
    csv_seconds(csv, r->asked);
    csv_seconds(csv, r->prepared);
    for (int i = 0; i < START_STAGES; i++)
        csv_seconds(csv, r->stage[i]);
    csv_seconds(csv, r->ready);
    csv_seconds(csv, r->draining);
    csv_seconds(csv, r->ended);
    csv_integer(csv, r->served);
    csv_end(csv);
}

int results_write_replicas(const struct experiment_results *results, FILE *file, struct error *err)
{
    static const char *const before[] = {"strategy", "service", "replication", "ordinal",
                                         "node",     "origin",  "asked_s",     "prepared_s"};
    static const char *const after[] = {"ready_s", "draining_s", "ended_s", "served_requests"};
    int32_t first = experiment_first(results);
    struct replica_record record;
    struct csv_writer csv;

    csv_writer_init(&csv, file);
    write_names(&csv, before, sizeof before / sizeof before[0]);
    for (int i = 0; i < START_STAGES; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s_s", replica_state_name((enum replica_state)i));
        csv_text(&csv, name);
    }
    write_names(&csv, after, sizeof after / sizeof after[0]);
    csv_end(&csv);
    for (int32_t s = 0; first >= 0 && s < results->scenario->strategy_count; s++) {
        struct spool *spool = results->outcomes[s * results->replications + first]->replicas;
        int got;

        if (!spool)
            continue;
        if (spool_rewind(spool, err) != 0)
            return -1;
        while ((got = spool_next(spool, &record, err)) > 0)
            write_replica(&csv, results->scenario, s, first, &record);
        if (got < 0)
            return -1;
    }
    return 0;
}
