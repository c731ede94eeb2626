#ifndef MODELS_TRAFFIC_ARRIVALS_H
#define MODELS_TRAFFIC_ARRIVALS_H

#include "models/traffic/rate_curve.h"
#include "sim/engine/random.h"
#include "sim/io/document.h"

/*
 * Arrivals at a given rate curve: a point process of rate 1 on the rescaled clock, where the clock is the
 * integral of the rate (Cinlar, "Introduction to Stochastic Processes", 1975, 4.7: inversion of the
 * integrated rate; the integral is inverted in closed form piece by piece). Its gaps are
 *
 *   poisson  exponential
 *   gamma    Gamma-distributed with a coefficient of variation; the first is that of a renewal process long
 * under way mmpp     exponential, and the rate is multiplied by the factor of the present state of a Markov
 * chain that goes round its states, staying in each for an exponential time; factors are normalized so that
 * the mean rate stays the curve's
 *
 * The rate may also carry noise: a Gamma factor of mean 1, drawn anew for every interval.
 */
enum arrivals_kind { ARRIVALS_POISSON, ARRIVALS_GAMMA, ARRIVALS_MMPP };
enum { ARRIVALS_STATES = 8 };

struct arrivals_config {
    enum arrivals_kind kind;
    double cv; /* gamma */
    int states;
    double factor[ARRIVALS_STATES]; /* mmpp, normalized */
    double stay_s[ARRIVALS_STATES];
    double noise_cv; /* 0: none */
    sim_time noise_every;
};

/* Reads "arrivals" ("poisson", {"gamma": {"cv"}}, {"mmpp": {"states": [{"rate", "mean"}]}}) and "noise"
 * ({"cv", "every"}) of a map. */
bool arrivals_config_parse(struct map *map, struct arrivals_config *config);

struct arrivals {
    const struct rate_curve *curve;
    const struct arrivals_config *config;
    struct stream gaps, noise, chain;
    size_t piece;
    /* the stretch over which the rate is one straight line: part of a piece, of a noise interval, of a
     * state's stay */
    sim_time from, to;
    double rate, slope; /* requests/s at `from`, and its change a second */
    double length;      /* s */
    double at;          /* s since from */
    sim_time chain_until;
    int state;
    bool first;
};

/* keys of (seed, service, replication) and its own purposes. Errors: memory. */
int arrivals_open(struct arrivals *arrivals, const struct rate_curve *curve,
                  const struct arrivals_config *config, uint64_t seed, const char *service,
                  uint64_t replication, struct error *err);
void arrivals_close(struct arrivals *arrivals);
/* Time of the next arrival, SIM_NEVER after the curve's end. */
sim_time arrivals_next(struct arrivals *arrivals);

#endif
