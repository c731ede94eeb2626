#include "sim/engine/gauge.h"

void gauge_init(struct gauge *gauge, sim_time now, int64_t value)
{
    *gauge = (struct gauge){.value = value, .since = now, .start = now, .low = value, .high = value};
}

void gauge_restart(struct gauge *gauge, sim_time now)
{
    gauge_init(gauge, now, gauge->value);
}

__int128 gauge_integral(const struct gauge *gauge, sim_time now)
{
    return gauge->integral + (__int128)gauge->value * (now - gauge->since);
}

double gauge_integral_seconds(const struct gauge *gauge, sim_time now)
{
    return (double)gauge_integral(gauge, now) / 1e9;
}

double gauge_mean(const struct gauge *gauge, sim_time now)
{
    if (now <= gauge->start)
        return (double)gauge->value;
    return (double)gauge_integral(gauge, now) / (double)(now - gauge->start);
}
