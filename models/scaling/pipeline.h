#ifndef MODELS_SCALING_PIPELINE_H
#define MODELS_SCALING_PIPELINE_H

#include <stdint.h>

#include "models/replica/service.h"
#include "models/scaling/policy.h"
#include "sim/engine/histogram.h"

/*
 * From a replica's metrics endpoint to the controller: scraped at a fixed interval, visible after a delay, averaged (or differenced) over a
 * window. One pipeline a metric of a service. A reading at time t uses scrapes taken at or before t - delay, and is
 *   gauges    (concurrency, queue_depth, utilization, kv_usage): the newest of them, or their mean over the window (avg_over_time)
 *   counters  (rps, gpu_utilization, cpu): (newest - oldest inside the window) / time between them (rate), over the last two scrapes if the
 *             window is 0. As with rate(), two scrapes are needed: a new pod has no sample before its second one.
 *   latency   (external): quantile of all that finished between the scrapes inside the window
 * A sample older than 5 minutes is stale and gone, as in Prometheus (query.lookback-delta).
 */
struct sample {
    sim_time at;
    double value; /* gauge, or counter */
};

struct pipeline {
    const struct metric_config *config;
    uint32_t ring;           /* samples kept a replica */
    struct sample *samples;  /* rows x ring */
    uint32_t *newest, *count;
    uint32_t rows;
    struct histogram current;    /* METRIC_LATENCY: since the last scrape */
    struct histogram *windows;   /* METRIC_LATENCY: ring of scrapes */
    sim_time *window_times;
    uint32_t window_newest, window_count;
};

int pipeline_init(struct pipeline *pipeline, const struct metric_config *config, struct error *err);
void pipeline_free(struct pipeline *pipeline);
/* Rows are replicas' indices; row 0 alone serves an external gauge. Errors: memory. */
int pipeline_reserve(struct pipeline *pipeline, uint32_t rows, struct error *err);
/* A new replica in this row: forgets the old one's samples. */
void pipeline_reset(struct pipeline *pipeline, uint32_t row);
/* One scrape of a replica's server; of an external gauge; of the latencies since the last one. */
void pipeline_scrape(struct pipeline *pipeline, uint32_t row, sim_time now, const struct server_gauges *gauges);
void pipeline_scrape_value(struct pipeline *pipeline, uint32_t row, sim_time now, double value);
void pipeline_scrape_latency(struct pipeline *pipeline, sim_time now);
/* Reading as the controller gets it at now: NAN if there is none. *newest: time of the newest sample used. */
double pipeline_read(const struct pipeline *pipeline, uint32_t row, sim_time now, sim_time *newest);
double pipeline_read_latency(const struct pipeline *pipeline, sim_time now, sim_time *newest);
/* The value at this very moment, undelayed and unwindowed; NAN for rates. */
double pipeline_truth(const struct metric_config *config, const struct server_gauges *gauges);

/* Can this metric be read per pod? False: one external value for the service. */
bool metric_is_external(enum metric_kind kind, bool central_queue);

#endif
