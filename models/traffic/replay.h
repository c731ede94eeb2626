#ifndef MODELS_TRAFFIC_REPLAY_H
#define MODELS_TRAFFIC_REPLAY_H

#include <math.h>

#include "models/traffic/trace.h"
#include "models/traffic/traffic_internal.h"

/* A trace of requests and what is done with it; the semantics stand in replay.c. */
struct replay {
    struct trace_spec *spec; /* owned */
    int64_t zero;            /* the trace's own time of its earliest record, ns */
    sim_time from, to;       /* window on the trace's clock, since zero; to: exclusive */
    double time_scale;
    double rate_scale;
    sim_time jitter;
    sim_time spread;
    bool loop;
    sim_time period;   /* of a loop, scaled */
    sim_time disorder; /* furthest that a record comes after a later one, on the trace's clock */
};

static inline sim_time replay_scaled(const struct replay *replay, sim_time since_from)
{
    return replay->time_scale == 1 ? since_from : (sim_time)llround((double)since_from * replay->time_scale);
}

#endif
