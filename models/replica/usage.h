#ifndef MODELS_REPLICA_USAGE_H
#define MODELS_REPLICA_USAGE_H

#include <stdint.h>

#include "models/replica/service.h"

/*
 * What a server's metrics endpoint counts, kept with one or two additions per event.
 *
 * The integral of `running` over time is the sum of (end - start) over the jobs that ended plus (now - start)
 * over those that are still inside. `balance` holds the sum of all ends minus the sum of all starts, so that
 * the integral at any time is balance + running * now. It is unsigned: intermediate sums may wrap, the
 * difference is right as long as the integral fits.
 */
struct usage {
    sim_time busy_ns;    /* closed busy periods */
    sim_time busy_since; /* start of the open one, if anything is in service */
    uint64_t balance;
    int64_t started, finished;
    int64_t prompt_tokens, generation_tokens;
};

/* A job goes into service beside `running` others. */
static inline void usage_begin(struct usage *usage, sim_time now, int32_t running)
{
    if (running == 0)
        usage->busy_since = now;
    usage->balance -= (uint64_t)now;
    usage->started++;
}

/* A job leaves service, finished or not; `running` others stay. */
static inline void usage_end(struct usage *usage, sim_time now, int32_t running)
{
    if (running == 0)
        usage->busy_ns += now - usage->busy_since;
    usage->balance += (uint64_t)now;
}

static inline void usage_count_finished(struct usage *usage, const struct job *job)
{
    usage->finished++;
    usage->prompt_tokens += job->tokens_in;
    usage->generation_tokens += job->tokens_out;
}

/* Time with anything in service, and the integral of running in request x ns; both until now. */
static inline sim_time usage_busy_ns(const struct usage *usage, sim_time now, int32_t running)
{
    return usage->busy_ns + (running > 0 ? now - usage->busy_since : 0);
}

static inline int64_t usage_running_ns(const struct usage *usage, sim_time now, int32_t running)
{
    return (int64_t)(usage->balance + (uint64_t)running * (uint64_t)now);
}

/* Fills everything of the gauges that the counters and the server's own numbers know; no cache figures. */
static inline void usage_gauges(const struct usage *usage, const struct server *server, sim_time now,
                                struct server_gauges *gauges)
{
    *gauges = (struct server_gauges){
        .running = server->running,
        .waiting = server->waiting,
        .busy_ns = usage_busy_ns(usage, now, server->running),
        .running_ns = usage_running_ns(usage, now, server->running),
        .started = usage->started,
        .finished = usage->finished,
        .prompt_tokens = usage->prompt_tokens,
        .generation_tokens = usage->generation_tokens,
        .kv_usage = (double)NAN,
        .cache_hit_rate = (double)NAN,
    };
}

#endif
