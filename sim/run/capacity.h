#ifndef SIM_RUN_CAPACITY_H
#define SIM_RUN_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"

struct scenario;

/*
 * Capacity is one function: lambda*(n) = the largest Poisson arrival rate at which n replicas meet the
 * service's SLO in a stationary simulation of its own service model, size mix and balancer. Pooling makes it
 * more than n * lambda*(1). Found by bisection at n = 1, 2, 3, 4, 6, 8, 12, 16, ... and interpolated linearly
 * in lambda*(n) / n between them; beyond the last, lambda*(n) / n stays. Used by slo-backfill, oracle, the
 * shortage and the plots.
 */
struct capacity {
    int32_t points;
    int32_t n[40];
    double rate_per_s[40]; /* lambda*(n[i]); 0 if even a lone request misses the SLO */
    int64_t probes;        /* stationary simulations that it took */
    bool known;            /* false: the service has no SLO, so need is unknown */
};

/* Computes the tables of all services with an SLO bound, for up to max_replicas each, on `jobs` threads; the
 * same result for any number of threads. interrupted is polled now and then (NULL: never). out: array of
 * scenario->service_count. Errors: of the runs, ERROR_INTERRUPTED. */
int capacity_compute(const struct scenario *scenario, int32_t max_replicas, int jobs,
                     bool (*interrupted)(void *to), void *interrupted_to, struct capacity *out,
                     struct error *err);

/* lambda*(n), requests/s; n >= 0. */
double capacity_rate(const struct capacity *capacity, int32_t n);

/* Least n >= 0 with lambda*(n) >= rate; INT32_MAX / 2 if no number of replicas meets the SLO; 0 for rate <=
 * 0. */
int32_t capacity_need(const struct capacity *capacity, double rate);

#endif
