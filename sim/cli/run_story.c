#include "sim/cli/run_story.h"

#include <math.h>
#include <string.h>

#include "sim/io/text_table.h"

/* Events of one kind and service within this time of each other are one line. */
static const sim_time TOGETHER = 30 * SIM_SECOND;

enum { TEXT = 64 };

/* "1d 02:03:04.5" since the start. */
static const char *clock_text(sim_time t, char text[TEXT])
{
    long long seconds = t / SIM_SECOND;
    int tenths = (int)(t % SIM_SECOND / (100 * SIM_MILLISECOND));
    int n = 0;

    if (seconds >= 86400)
        n = snprintf(text, TEXT, "%lldd ", seconds / 86400);
    snprintf(text + n, (size_t)(TEXT - n), "%02lld:%02lld:%02lld.%d", seconds / 3600 % 24, seconds / 60 % 60,
             seconds % 60, tenths);
    return text;
}

static const char *service_name(const struct story *story, int32_t service)
{
    return story->scenario->services[service].name;
}

void story_begin(struct story *story, FILE *file, const struct scenario *scenario, struct event_log *log)
{
    *story = (struct story){.file = file, .scenario = scenario, .log = log};
    for (int32_t i = 0; i < scenario->service_count && i < 64; i++)
        story->ready[i] = scenario->services[i].initial;
}

static void tell_decision(struct story *story, const struct world_event *event)
{
    const struct decision_record *d = event->decision;
    char when[TEXT], age[TEXT];

    fprintf(story->file, "%s  %s: wants %d", clock_text(event->at, when), service_name(story, event->service),
            (int)d->to);
    if (d->to != d->from)
        fprintf(story->file, " (%+d)", (int)(d->to - d->from));
    fprintf(story->file, ", %d ready  %s", (int)d->ready, d->reason);
    if (d->limit[0])
        fprintf(story->file, ", %s", d->limit);
    if (d->proposal >= 0 && d->proposal != d->to)
        fprintf(story->file, ", raw %d", (int)d->proposal);
    if (isfinite(d->seen))
        fprintf(story->file, ", saw %.4g", d->seen);
    if (isfinite(d->truth))
        fprintf(story->file, " (truth %.4g)", d->truth);
    if (d->age != SIM_NEVER && d->age > 0)
        fprintf(story->file, ", %s old", human_duration(sim_time_seconds(d->age), age, sizeof age));
    fputc('\n', story->file);
}

/* What was gathered, as one line. */
static void tell_gathered(struct story *story)
{
    const struct world_event *event = &story->last;
    int n = (int)story->gathered;
    const char *plural = n == 1 ? "" : "s";
    char when[TEXT], low[TEXT], high[TEXT];

    if (n == 0)
        return;
    story->gathered = 0;
    human_duration(sim_time_seconds(story->shortest), low, sizeof low);
    human_duration(sim_time_seconds(story->longest), high, sizeof high);
    fprintf(story->file, "%s  ", clock_text(story->first.at, when));
    switch (event->kind) {
    case EVENT_REPLICA_READY:
        fprintf(story->file, "%s: %d replica%s ready, %d now; %s%s%s after being asked for\n",
                service_name(story, event->service), n, plural, (int)story->ready[event->service & 63], low,
                n > 1 ? " to " : "", n > 1 ? high : "");
        break;
    case EVENT_REPLICA_PREPARED:
        fprintf(story->file, "%s: %d pool member%s prepared, after %s%s%s\n",
                service_name(story, event->service), n, plural, low, n > 1 ? " to " : "", n > 1 ? high : "");
        break;
    case EVENT_REPLICA_DRAINING:
        fprintf(story->file, "%s: %d replica%s drain, %d ready now\n", service_name(story, event->service), n,
                plural, (int)story->ready[event->service & 63]);
        break;
    case EVENT_NODE_LAUNCHED:
        fprintf(story->file, "cluster: %d node%s launched\n", n, plural);
        break;
    case EVENT_NODE_ALLOCATABLE:
        fprintf(story->file, "cluster: GPUs of %d node%s allocatable, %s%s%s after launch\n", n, plural, low,
                n > 1 ? " to " : "", n > 1 ? high : "");
        break;
    case EVENT_NODE_TERMINATED:
        fprintf(story->file, "cluster: %d node%s terminated\n", n, plural);
        break;
    case EVENT_DECISION:
    case EVENT_REPLICA_ASKED:
    case EVENT_STAGE_ENDED:
    case EVENT_REPLICA_ENDED:
        break;
    }
}

static void gather(struct story *story, const struct world_event *event)
{
    if (story->gathered > 0 && (story->last.kind != event->kind || story->last.service != event->service ||
                                event->at - story->last.at > TOGETHER))
        tell_gathered(story);
    if (story->gathered++ == 0) {
        story->first = *event;
        story->shortest = story->longest = event->duration;
    }
    story->last = *event;
    if (event->duration < story->shortest)
        story->shortest = event->duration;
    if (event->duration > story->longest)
        story->longest = event->duration;
}

void story_see(void *to, const struct world_event *event)
{
    struct story *story = to;

    if (story->log)
        event_log_write(story->log, event);
    switch (event->kind) {
    case EVENT_DECISION:
        tell_gathered(story);
        tell_decision(story, event);
        break;
    case EVENT_REPLICA_READY:
        story->ready[event->service & 63]++;
        gather(story, event);
        break;
    case EVENT_REPLICA_DRAINING:
        story->ready[event->service & 63]--;
        gather(story, event);
        break;
    case EVENT_REPLICA_PREPARED:
    case EVENT_NODE_LAUNCHED:
    case EVENT_NODE_ALLOCATABLE:
    case EVENT_NODE_TERMINATED:
        gather(story, event);
        break;
    case EVENT_REPLICA_ASKED:
    case EVENT_STAGE_ENDED:
    case EVENT_REPLICA_ENDED:
        break; /* the waterfall has them */
    }
}

void story_end(struct story *story)
{
    tell_gathered(story);
}

int story_waterfall(const struct scenario *scenario, const struct outcome *outcome, int32_t rows, FILE *file,
                    struct error *err)
{
    struct text_table table;
    struct replica_record record;
    int32_t shown = 0, more = 0;
    int got;

    if (!outcome->replicas || spool_rewind(outcome->replicas, err) < 0)
        return outcome->replicas ? -1 : 0;
    text_table_init(&table);
    text_table_column(&table, "service", TEXT_LEFT);
    text_table_column(&table, "replica", TEXT_RIGHT);
    text_table_column(&table, "asked at", TEXT_RIGHT);
    for (int stage = 0; stage < START_STAGES; stage++)
        text_table_column(&table, start_stage_name((enum start_stage)stage), TEXT_RIGHT);
    text_table_column(&table, "ready after", TEXT_RIGHT);
    text_table_column(&table, "served", TEXT_RIGHT);
    while ((got = spool_next(outcome->replicas, &record, err)) > 0) {
        char text[TEXT];

        if (record.origin == ORIGIN_INITIAL)
            continue;
        if (shown == rows) {
            more++;
            continue;
        }
        shown++;
        text_table_cell(&table, "%s", scenario->services[record.service].name);
        text_table_cell(&table, "%u%s", (unsigned)record.ordinal,
                        record.origin == ORIGIN_POOL ? " (pool)" : "");
        text_table_cell(&table, "%s", clock_text(record.asked, text));
        for (int stage = 0; stage < START_STAGES; stage++)
            text_table_cell(&table, "%s",
                            record.stage[stage] < 0
                                ? "–"
                                : human_duration(sim_time_seconds(record.stage[stage]), text, sizeof text));
        text_table_cell(
            &table, "%s",
            record.ready == SIM_NEVER
                ? "never"
                : human_duration(sim_time_seconds(record.ready - record.asked), text, sizeof text));
        text_table_cell(&table, "%lld", (long long)record.served);
    }
    if (got == 0 && shown > 0) {
        fprintf(file, "\nStarts, in the order in which the replicas ended:\n\n");
        got = text_table_print(&table, file, false, err);
        if (more > 0)
            fprintf(file, "... and %d more (replicas.csv of --out has all)\n", (int)more);
    }
    text_table_free(&table);
    return got < 0 ? -1 : 0;
}
