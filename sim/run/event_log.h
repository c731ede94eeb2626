#ifndef SIM_RUN_EVENT_LOG_H
#define SIM_RUN_EVENT_LOG_H

#include <stdio.h>

#include "sim/run/world.h"

/*
 * The event log of a run: JSON Lines, one event a line, in the order in which things happened
 * (docs/result-files.md). The bytes depend on the run alone.
 */
struct event_log {
    FILE *file;                      /* borrowed; write errors stay in it until it is closed */
    const struct scenario *scenario; /* for names */
};

/* An observer for world_options.observe; `to` is a struct event_log. */
void event_log_write(void *to, const struct world_event *event);

/* "decision", "replica_asked", ... as the log names them. */
const char *event_kind_name(enum world_event_kind kind);

#endif
