#ifndef SIM_CLI_RUN_STORY_H
#define SIM_CLI_RUN_STORY_H

#include <stdio.h>

#include "sim/run/event_log.h"
#include "sim/run/summary.h"

/*
 * One run told as a timeline: what the policy decided and why, who became ready and after how long, nodes
 * that came and went; things of one kind that follow each other closely become one line. Then the start
 * waterfall as a table.
 */
struct story {
    FILE *file;
    const struct scenario *scenario;
    struct event_log *log; /* every event goes there too; NULL: nowhere */
    /* events of one kind that wait to be told together */
    struct world_event first, last;
    int32_t gathered; /* 0: none */
    sim_time shortest, longest;
    int32_t ready[64]; /* a service: ready replicas */
};

void story_begin(struct story *story, FILE *file, const struct scenario *scenario, struct event_log *log);
/* An observer for world_options.observe. */
void story_see(void *to, const struct world_event *event);
void story_end(struct story *story);

/* The stages of every replica that was asked for in the run, out of the outcome's records; at most `rows` of
 * them, and how many more there are. Errors: a spool's, memory. */
int story_waterfall(const struct scenario *scenario, const struct outcome *outcome, int32_t rows, FILE *file,
                    struct error *err);

#endif
