#ifndef SIM_RUN_STATISTICS_H
#define SIM_RUN_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/histogram.h"

/*
 * What may be said from a handful of replications. Pure functions of their arguments.
 *
 * All intervals are two-sided at 95 % and given as a half width: value +- half. NAN: no interval can be given
 * (too few replications, or the value itself is infinite or unknown); INFINITY: the interval has no bound.
 */
#define STATISTICS_CONFIDENCE 0.95

/* Fewest replications for the interval of a quantile: below, the jackknife's own spread is too poorly known.
 */
enum { STATISTICS_JACKKNIFE_LEAST = 10 };

struct estimate {
    double value; /* NAN: nothing to estimate from; INFINITY: beyond every finite value */
    double half;  /* of the 95 % interval */
};

/* Quantile of Student's t with that many degrees of freedom (>= 1) that leaves (1 - 95 %) / 2 above it. */
double statistics_t95(double degrees);

/*
 * Mean with its Student t interval. NAN among the values means "does not exist in that replication" and is
 * left out; any infinite value makes the mean infinite. Fewer than two values: no interval.
 */
struct estimate statistics_mean(const double *values, int32_t count);

/* Least and largest of the values that are not NAN; NAN when there are none. */
void statistics_range(const double *values, int32_t count, double *low, double *high);

/*
 * Quantiles over replications. The estimate is the quantile of all replications' histograms added up. Its
 * interval is the delete-one-replication jackknife (Efron and Tibshirani, An Introduction to the
 * Bootstrap, 11.2): with theta(i) the quantile without replication i,
 *
 *     se^2 = (n - 1) / n * sum (theta(i) - mean of theta(.))^2,    half = t(n - 1) * se
 *
 * A quantile is not smooth in single observations, but it is in whole replications, which are what is deleted
 * (Shao and Wu, Annals of Statistics 17, 1989: the delete-d jackknife). The theta(i) are interpolated inside
 * their histogram bucket, so that the bucket's width (1 part in 1,000) does not show up as noise or as false
 * certainty.
 *
 * The replications' values are kept in a table of count x (replications + ...) by the caller:
 *   estimates[k]                       for quantiles[k]
 *   each[k * replications + i]         quantile k of replication i alone (NAN: nothing recorded)
 *   without[k * replications + i]      quantile k without replication i (smoothed); may be NULL
 */
struct quantile_request {
    const struct histogram *const
        *parts;              /* parts[i * width + j]: the j-th histogram of replication i, to be added up */
    int32_t replications;    /* >= 1 */
    int32_t width;           /* >= 1 */
    bool finite_only;        /* leave the infinite values out (latency of completed requests alone) */
    double scale;            /* factor on all results: 1e-9 for seconds out of ns */
    const double *quantiles; /* ascending, in (0, 1] */
    int32_t count;
};
/* Errors: memory. */
int statistics_quantiles(const struct quantile_request *request, struct estimate *estimates, double *each,
                         double *without, struct error *err);

/* The histogram's quantile, interpolated linearly inside its bucket by rank; NAN when empty, INFINITY when
 * among the infinite. In the histogram's unit. */
double statistics_smooth_quantile(const struct histogram *h, double q);

/* The jackknife's half width alone, from the n estimates without one replication each. NAN below
 * STATISTICS_JACKKNIFE_LEAST. */
double statistics_jackknife_half(const double *without, int32_t count);

/* ---- two strategies under common random numbers ---- */
enum comparison_test {
    COMPARISON_NONE, /* nothing can be tested: too few replications, or values that do not exist */
    COMPARISON_T,    /* Student t on paired differences, or on jackknifed ones */
    COMPARISON_SIGN /* sign test (Conover, Practical Nonparametric Statistics, 3.4): some values are infinite,
                       so only who is larger counts */
};
const char *comparison_test_name(enum comparison_test test);

struct paired {
    double difference; /* a - b; NAN where both are infinite, +-INFINITY where one is */
    double half;       /* of its 95 % interval */
    double p;          /* two-sided, uncorrected; NAN with COMPARISON_NONE */
    enum comparison_test test;
};

/*
 * Means: a[i] - b[i] of the same replication i. Differences that are all equal are certain: p = 0, or 1 if
 * they are 0. If any value is infinite, the sign test decides (an infinite value is larger than any finite
 * one, two infinite ones are equal and left out).
 */
struct paired statistics_paired_mean(const double *a, const double *b, int32_t count);

/*
 * Quantiles: the difference of the merged histograms' quantiles, whose standard error comes from leaving the
 * same replication out of both. `each` are the replications' own quantiles, for the sign test where anything
 * is infinite. Needs STATISTICS_JACKKNIFE_LEAST replications for a t.
 */
struct paired statistics_paired_quantile(double a, double b, const double *a_without, const double *b_without,
                                         const double *a_each, const double *b_each, int32_t count);

/*
 * Holm's step-down correction (Scandinavian Journal of Statistics 6, 1979): adjusted[k] <= alpha means that
 * test k is significant when the chance of even one false claim in the whole family is held at alpha. NAN
 * p-values are no tests: they do not count and stay NAN. Errors: memory.
 */
int statistics_holm(const double *p, int32_t count, double *adjusted, struct error *err);

#endif
