#include "sim/run/event_log.h"

#include <math.h>

#include "sim/run/number_text.h"

const char *event_kind_name(enum world_event_kind kind)
{
    static const char *const names[] = {
        "decision",         "replica_asked", "stage_ended",   "replica_ready",    "replica_prepared",
        "replica_draining", "replica_ended", "node_launched", "node_allocatable", "node_terminated"};

    return names[kind];
}

/* A JSON string (RFC 8259, section 7). */
static void put_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, ",\"%s\":\"", key);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    }
    fputc('"', file);
}

static void put_number(FILE *file, const char *key, double value)
{
    char text[NUMBER_TEXT];

    if (isfinite(value))
        fprintf(file, ",\"%s\":%s", key, number_text(text, value));
    else
        fprintf(file, ",\"%s\":null", key);
}

/* Exact seconds: nine decimals without the zeros at their end. */
static void put_time(FILE *file, sim_time time)
{
    int64_t rest = time % SIM_SECOND;

    fprintf(file, "%lld", (long long)(time / SIM_SECOND));
    if (rest) {
        int digits = 9;

        while (rest % 10 == 0) {
            rest /= 10;
            digits--;
        }
        fprintf(file, ".%0*lld", digits, (long long)rest);
    }
}

static void put_seconds(FILE *file, const char *key, sim_time time)
{
    fprintf(file, ",\"%s\":", key);
    put_time(file, time);
}

static void put_decision(FILE *file, const struct decision_record *decision)
{
    fprintf(file, ",\"from\":%d,\"to\":%d,\"proposal\":%d,\"ready\":%d", (int)decision->from,
            (int)decision->to, (int)decision->proposal, (int)decision->ready);
    put_number(file, "seen", decision->seen);
    put_number(file, "truth", decision->truth);
    if (decision->age != SIM_NEVER)
        put_seconds(file, "age_s", decision->age);
    put_text(file, "reason", decision->reason);
    if (decision->limit[0])
        put_text(file, "limit", decision->limit);
}

void event_log_write(void *to, const struct world_event *event)
{
    const struct event_log *log = to;
    FILE *file = log->file;

    fputs("{\"t\":", file);
    put_time(file, event->at);
    put_text(file, "event", event_kind_name(event->kind));
    if (event->service >= 0)
        put_text(file, "service", log->scenario->services[event->service].name);
    if (event->replica >= 0)
        fprintf(file, ",\"replica\":%lld", (long long)event->replica);
    if (event->node >= 0)
        fprintf(file, ",\"node\":%d", (int)event->node);
    switch (event->kind) {
    case EVENT_DECISION:
        put_decision(file, event->decision);
        break;
    case EVENT_STAGE_ENDED:
        put_text(file, "stage", start_stage_name((enum start_stage)event->stage));
        put_seconds(file, "took_s", event->duration);
        break;
    case EVENT_REPLICA_READY:
    case EVENT_REPLICA_PREPARED:
    case EVENT_NODE_ALLOCATABLE:
    case EVENT_NODE_TERMINATED:
        put_seconds(file, "after_s", event->duration);
        break;
    case EVENT_REPLICA_ASKED:
    case EVENT_REPLICA_DRAINING:
    case EVENT_REPLICA_ENDED:
    case EVENT_NODE_LAUNCHED:
        break;
    }
    fputs("}\n", file);
}
