#ifndef MODELS_TRAFFIC_TRAFFIC_H
#define MODELS_TRAFFIC_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * Where requests come from: synthesized, or replayed from a trace. A traffic is parsed once, is immutable
 * afterwards and shared by all threads; each run opens a stream of it, which yields arrivals in the order of
 * time, in constant memory.
 */
struct arrival {
    sim_time at;           /* ns since the start of the run, >= 0, never before the one returned last */
    int64_t work_ns;       /* service demand where the traffic gives it (a "work" size in seconds, a trace's
                              duration), else -1 */
    uint64_t luck;         /* 64 random bits of this request, the same under every strategy */
    uint64_t prefix_group; /* 0: none; see struct job */
    uint64_t session;      /* 0: none */
    int32_t prefix_tokens;
    int32_t tokens_in; /* 0 where there are none */
    int32_t tokens_out;
};

struct traffic;
struct traffic_stream;

/*
 * Reads a service's "traffic" map: {"synth": {...}} or {"replay": {...}} (the registry of
 * traffic_registry.c), and its optional "history" key there. `duration` is the scenario's. A replay scans its
 * trace here once (rate bins, order, counts). Errors: input.
 */
int traffic_parse(const struct node *node, sim_time duration, struct traffic **out, struct error *err);
/* Arrivals from an array (borrowed, ascending in time): for tests and benches, and for stationary probes. */
int traffic_from_array(const struct arrival *arrivals, size_t count, struct traffic **out, struct error *err);
/* Stationary Poisson arrivals at rate_per_s with the sizes of `like` (its size mix: distributions or trace
 * rows resampled jointly): what the capacity search offers to its probes. `like` must outlive the result. */
int traffic_stationary(const struct traffic *like, double rate_per_s, struct traffic **out,
                       struct error *err);
void traffic_free(struct traffic *traffic);

/* A stream at t = 0. (seed, service, replication) name its random streams. Errors: memory, a trace that
 * vanished. */
int traffic_open(const struct traffic *traffic, uint64_t seed, const char *service, uint64_t replication,
                 struct traffic_stream **out, struct error *err);
/* Next arrival: 1, or 0 at the end (time >= duration, or the trace is over), or -1 with err. No allocation
 * per call. */
int traffic_next(struct traffic_stream *stream, struct arrival *arrival, struct error *err);
void traffic_close(struct traffic_stream *stream);

/* Expected offered rate at t in requests/s, without noise and jitter, averaged over at most 60 s for replays;
 * 0 outside [0, duration). For t < 0: the history, if there is one. */
double traffic_rate(const struct traffic *traffic, sim_time t);
/* Expected number of arrivals in [from, to). */
double traffic_expected(const struct traffic *traffic, sim_time from, sim_time to);
/* Mean sizes of a request (expected, or of the trace). */
struct traffic_sizes {
    double tokens_in, tokens_out; /* 0 where there are none */
    double work_seconds;          /* NaN where the traffic gives none */
};
void traffic_mean_sizes(const struct traffic *traffic, struct traffic_sizes *sizes);

/* Does anything about the arrivals differ between replications? A replay at rate_scale 1 does not. */
bool traffic_is_random(const struct traffic *traffic);

/* Notes that belong beside the results: repairs with their counts, "given this trace", dispersion at 1 s and
 * 60 s before and after the copies, sessions replayed open-loop. Index from 0; NULL past the end. Owned by
 * the traffic. */
const char *traffic_note(const struct traffic *traffic, size_t index);

/* How far back before t = 0 traffic_rate is known (the scenario's history); 0 if not at all. */
sim_time traffic_history(const struct traffic *traffic);

#endif
