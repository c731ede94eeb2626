#ifndef MODELS_TRAFFIC_TRAFFIC_INTERNAL_H
#define MODELS_TRAFFIC_TRAFFIC_INTERNAL_H

#include "models/traffic/arrivals.h"
#include "models/traffic/rate_curve.h"
#include "models/traffic/sizes.h"
#include "models/traffic/traffic.h"

/*
 * The inside of a traffic, for the files of this folder. Arrivals come from one of three sources: a process
 * at a rate curve (synthesized traffic, counts, resampled and stationary ones), a trace's own requests, or an
 * array.
 */
enum traffic_source { TRAFFIC_PROCESS, TRAFFIC_TRACE, TRAFFIC_ARRAY };

struct replay; /* a trace and what is done with it: replay.c */
struct replay_stream;

struct traffic {
    enum traffic_source source;
    sim_time duration;
    struct rate_curve curve;        /* expected rate in [0, duration) */
    struct arrivals_config process; /* TRAFFIC_PROCESS */
    struct sizes sizes;             /* of TRAFFIC_TRACE: only if they override the trace's own */
    struct sizes rows;              /* TRAFFIC_TRACE: sample of the trace's rows, for traffic_stationary */
    struct traffic_sizes mean;
    struct replay *replay; /* TRAFFIC_TRACE */
    const struct arrival *array;
    size_t array_count;
    char **notes; /* owned */
    size_t note_count;
};

/* The parsers of the two keys; *traffic is zeroed but for duration. */
int synth_parse(const struct node *node, struct traffic *traffic, struct error *err);
int replay_parse(const struct node *node, struct traffic *traffic, struct error *err);

int traffic_add_note(struct traffic *traffic, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- replay.c / replay_stream.c ---- */
void replay_free(struct replay *replay);
bool replay_is_random(const struct replay *replay);
int replay_open(const struct traffic *traffic, uint64_t seed, const char *service, uint64_t replication,
                struct replay_stream **out, struct error *err);
/* As traffic_next, but luck and overriding sizes are the caller's. */
int replay_next(struct replay_stream *stream, struct arrival *arrival, struct error *err);
void replay_close(struct replay_stream *stream);

#endif
