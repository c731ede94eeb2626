#ifndef SIM_ENGINE_SIM_TIME_H
#define SIM_ENGINE_SIM_TIME_H

#include <math.h>
#include <stdint.h>

/*
 * Simulated time: whole nanoseconds since the start of the run. Integers, so
 * that comparisons are exact and sums do not depend on their order; 2^63 ns
 * are 292 years, which no scenario reaches (durations are checked when read).
 */
typedef int64_t sim_time;

#define SIM_NEVER       INT64_MAX
#define SIM_NANOSECOND  ((sim_time)1)
#define SIM_MICROSECOND ((sim_time)1000)
#define SIM_MILLISECOND ((sim_time)1000000)
#define SIM_SECOND      ((sim_time)1000000000)
#define SIM_MINUTE      (60 * SIM_SECOND)
#define SIM_HOUR        (60 * SIM_MINUTE)
#define SIM_DAY         (24 * SIM_HOUR)

/* Longest span that an input may name: 100 years. Sums of a few stay representable. */
#define SIM_TIME_LIMIT (36525 * SIM_DAY)

static inline double sim_time_seconds(sim_time t)
{
    return (double)t / 1e9;
}

/* Nearest nanosecond, halves away from zero. Negative and NaN give 0; too long gives SIM_TIME_LIMIT. */
static inline sim_time sim_time_from_seconds(double seconds)
{
    double ns = seconds * 1e9;

    if (!(ns > 0))
        return 0;
    if (ns >= (double)SIM_TIME_LIMIT)
        return SIM_TIME_LIMIT;
    return (sim_time)llround(ns);
}

#endif
