#ifndef PLOTS_PLOT_DATA_H
#define PLOTS_PLOT_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * What the pictures show, read from an output directory's files. The series are thinned while they are read,
 * to PLOT_BINS points, so that a week takes no more memory than an hour. The files are input like any other:
 * whatever is missing or of the wrong type is an error or unknown (NAN), never trusted.
 */
enum {
    PLOT_BINS = 320,
    PLOT_STATES = 10,
    PLOT_STAGES = 7,
    PLOT_STRATEGIES_MAX = 64,
    PLOT_SERVICES_MAX = 64,
    PLOT_STARTS = 36
};

/* Columns replicas_<name> of timeseries.csv, in the order in which they are stacked, and the stages (<name>_s
 * of replicas.csv). */
extern const char *const plot_state_names[PLOT_STATES];
extern const char *const plot_stage_names[PLOT_STAGES];

/* Means over the bin, of replication 0; latencies: the worst bucket. NAN: unknown or none. */
struct plot_bin {
    double p50_s, p99_s; /* INFINITY: not served */
    double offered, capacity, need;
    double states[PLOT_STATES];
    double buckets, capacity_buckets, need_buckets; /* summed so far */
};

/* One start of replication 0. */
struct plot_start {
    double asked_s;
    double stages_s[PLOT_STAGES]; /* NAN: not passed */
};

struct plot_estimate {
    double mean, ci95;
};

struct plot_line { /* one strategy in one service */
    struct plot_bin bins[PLOT_BINS];
    struct plot_start starts[PLOT_STARTS]; /* every so-manieth of them, in the order of asking */
    int64_t start_count, start_kept, start_step;
    struct plot_estimate peak_p99;
    double unserved_share;
    char met[16]; /* "yes", "no", "undecided", "" */
};

struct plot_service {
    char *name;
    double slo_s;            /* P99 bound on the latency, NAN if there is none */
    char slo_text[128];      /* all bounds, for people: "ttft P99 2 s" */
    struct plot_line *lines; /* one a strategy */
};

struct plot_strategy {
    char *name;
    struct plot_estimate gross, gpu_hours;
};

struct plot_window {
    double from_s, to_s;
};

struct plot_data {
    char *scenario;
    char *currency; /* "" without prices */
    double horizon_s, bucket_s;
    int32_t bins; /* used: as many as there are buckets, at most PLOT_BINS */
    int32_t strategy_count, service_count;
    struct plot_strategy *strategies;
    struct plot_service *services;
    struct plot_window *peaks;
    int32_t peak_count;
};

/* Free with plot_data_free, on errors too. */
int plot_data_read(const char *outdir, struct plot_data *data, struct error *err);
void plot_data_free(struct plot_data *data);

#endif
