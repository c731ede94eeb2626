#ifndef SIM_ENGINE_GAUGE_H
#define SIM_ENGINE_GAUGE_H

#include "sim/engine/sim_time.h"

/*
 * A piecewise-constant quantity over simulated time (queue length, replicas in a state) with its exact
 * integral. Values are integers, the integral is value x nanoseconds in 128 bits, so that it is exact for any
 * run and GPU-time can be conserved to the nanosecond.
 */
struct gauge {
    int64_t value;
    sim_time since;    /* when value was set */
    sim_time start;    /* start of the measured window */
    __int128 integral; /* of value over [start, since) */
    int64_t low, high; /* over the measured window */
};

void gauge_init(struct gauge *gauge, sim_time now, int64_t value);

static inline void gauge_set(struct gauge *gauge, sim_time now, int64_t value)
{
    gauge->integral += (__int128)gauge->value * (now - gauge->since);
    gauge->since = now;
    gauge->value = value;
    if (value < gauge->low)
        gauge->low = value;
    if (value > gauge->high)
        gauge->high = value;
}

static inline void gauge_add(struct gauge *gauge, sim_time now, int64_t change)
{
    gauge_set(gauge, now, gauge->value + change);
}

/* Forgets what was measured before now; the value stays. */
void gauge_restart(struct gauge *gauge, sim_time now);

/* Integral over [start, now) in value x nanoseconds; in value x seconds. now must not be before the last set.
 */
__int128 gauge_integral(const struct gauge *gauge, sim_time now);
double gauge_integral_seconds(const struct gauge *gauge, sim_time now);
/* Time average over [start, now); the current value if no time has passed. */
double gauge_mean(const struct gauge *gauge, sim_time now);

#endif
