#ifndef SIM_ENGINE_DISTRIBUTION_H
#define SIM_ENGINE_DISTRIBUTION_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * Non-negative random quantities (durations in seconds, sizes in bytes, tokens,
 * counts) with means and quantiles that are known exactly, so that tests and
 * capacity formulas need no sampling. Draws are GSL's.
 */
enum distribution_kind {
    DISTRIBUTION_CONSTANT,    /* value */
    DISTRIBUTION_UNIFORM,     /* low, high */
    DISTRIBUTION_EXPONENTIAL, /* mean */
    DISTRIBUTION_NORMAL,      /* mean and sd of the parent, truncated to [low, high], low >= 0 */
    DISTRIBUTION_LOGNORMAL,   /* zeta, sigma of the logarithm */
    DISTRIBUTION_GAMMA,       /* shape a, scale b */
    DISTRIBUTION_WEIBULL,     /* scale a, exponent b */
    DISTRIBUTION_PARETO,      /* exponent a > 1 (the mean must exist), scale b: the least value */
    DISTRIBUTION_EMPIRICAL    /* one of a list of values, each equally likely */
};

struct distribution {
    enum distribution_kind kind;
    double a, b;      /* as named at the kind */
    double low, high; /* bounds: UNIFORM, NORMAL (high may be infinite) */
    double tail_low,
        tail_high;  /* NORMAL: probability beyond each bound, on the side where it is the smaller */
    double *values; /* EMPIRICAL: ascending, owned */
    size_t count;
    double mean; /* exact, set by the constructors */
};

/* Constructors. Errors (ERROR_INPUT, message names the parameter and its range): negative, NaN, infinite or
 * contradictory parameters, or a mean that overflows. A spread of zero (sd or cv 0, p99 = median, low = high,
 * equal values) is allowed and makes a DISTRIBUTION_CONSTANT. On an error *d is a constant 0. A distribution
 * must be freed only if it is EMPIRICAL; freeing the others is harmless. */
int distribution_constant(struct distribution *d, double value, struct error *err);
int distribution_uniform(struct distribution *d, double low, double high, struct error *err);
int distribution_exponential(struct distribution *d, double mean, struct error *err);
/* Parent's mean (any sign) and sd, truncated to [low, high]; 0 <= low, high may be INFINITY. Errors also:
 * next to nothing of the parent (less than 1e-300) lies inside the bounds. */
int distribution_normal(struct distribution *d, double mean, double sd, double low, double high,
                        struct error *err);
int distribution_lognormal_quantiles(struct distribution *d, double median, double p99, struct error *err);
int distribution_lognormal_moments(struct distribution *d, double mean, double cv, struct error *err);
int distribution_gamma(struct distribution *d, double mean, double cv, struct error *err);
int distribution_weibull(struct distribution *d, double scale, double shape, struct error *err);
int distribution_pareto(struct distribution *d, double least, double exponent, struct error *err);
/* Copies the values, sorts them. Errors also: none given. */
int distribution_empirical(struct distribution *d, const double *values, size_t count, struct error *err);
int distribution_copy(struct distribution *to, const struct distribution *from, struct error *err);
void distribution_free(struct distribution *d);

/* One draw. A constant consumes no randomness; a gamma consumes as much as its rejections need, the others
 * one uniform each, lognormal a few. */
double distribution_draw(const struct distribution *d, gsl_rng *rng);

/* A draw of seconds as simulated time, to the nearest nanosecond. */
sim_time distribution_draw_time(const struct distribution *d, gsl_rng *rng);

/* Exact quantile, 0 <= p <= 1 (p = 1 of an unbounded one is infinite); the empirical one is nearest-rank. */
double distribution_quantile(const struct distribution *d, double p);

/* Exact second moment about the mean; infinite for a Pareto with exponent <= 2. */
double distribution_variance(const struct distribution *d);

/* The same distribution times a positive factor (a slower link, a faster card). */
void distribution_scale(struct distribution *d, double factor);

bool distribution_is_constant(const struct distribution *d);
/* True for a constant 0: the stage that it describes does not exist. */
bool distribution_is_zero(const struct distribution *d);

/* "lognormal, mean 42.1, p99 120" into text; never fails, may truncate. Numbers are in the quantity's base
 * unit. */
void distribution_describe(const struct distribution *d, char *text, size_t size);

#endif
