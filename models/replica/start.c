#include "models/replica/start.h"

#include <assert.h>
#include <math.h>

const char *start_stage_name(enum start_stage stage)
{
    static const char *const names[START_STAGES + 1] = {"schedule", "node",  "pull",     "load",
                                                        "init",     "probe", "endpoint", "ready"};

    assert(stage <= START_STAGES);
    return names[stage];
}

/* ---- draws ---- */

/* Each quantity has a sub-stream of its own: another distribution for one of them leaves the luck of the
 * others as it was, however many random numbers it takes. */
enum draw { DRAW_SCHEDULE, DRAW_IMAGE, DRAW_WEIGHTS, DRAW_INIT, DRAW_ENDPOINT, DRAWS };

/* More than any image or model; keeps the products of bytes and nanoseconds within 128 bits. */
#define BYTES_LIMIT ((int64_t)1 << 55)

static gsl_rng *substream(struct stream *stream, uint64_t ordinal, enum draw draw)
{
    stream_rekey(stream, ordinal * DRAWS + (uint64_t)draw);
    return stream->rng;
}

static int64_t draw_bytes(const struct distribution *distribution, gsl_rng *rng)
{
    double bytes = distribution_draw(distribution, rng);

    if (bytes >= (double)BYTES_LIMIT)
        return BYTES_LIMIT;
    return llround(bytes);
}

void start_draw(const struct start_config *config, struct stream *stream, uint64_t ordinal,
                struct start_draws *draws)
{
    draws->schedule = distribution_draw_time(&config->schedule, substream(stream, ordinal, DRAW_SCHEDULE));
    draws->image_bytes = draw_bytes(&config->image_bytes, substream(stream, ordinal, DRAW_IMAGE));
    draws->weight_bytes = draw_bytes(&config->weight_bytes, substream(stream, ordinal, DRAW_WEIGHTS));
    draws->init = distribution_draw_time(&config->init, substream(stream, ordinal, DRAW_INIT));
    draws->endpoint = distribution_draw_time(&config->endpoint, substream(stream, ordinal, DRAW_ENDPOINT));
}

/* ---- stages with a formula ---- */

sim_time start_probe_ready(const struct start_config *config, sim_time container_start, sim_time listening)
{
    sim_time first = container_start + config->probe_initial_delay;
    sim_time successes = config->probe_success_threshold - 1;

    if (first < listening) {
        sim_time periods = (listening - first - 1) / config->probe_period + 1; /* rounded up */

        first += periods * config->probe_period;
    }
    return first + successes * config->probe_period;
}

sim_time start_extract_time(const struct start_config *config, int64_t image_bytes, double disk_bytes_per_s)
{
    double rate = fmin(config->extract_bytes_per_s, disk_bytes_per_s);
    /* 64 bits of mantissa: exact where bytes and rate are round numbers, so that a whole second stays one */
    long double ns = (long double)image_bytes * config->extract_ratio * 1e9L / rate;

    return ns < (long double)SIM_TIME_LIMIT ? (sim_time)ceill(ns) : SIM_TIME_LIMIT;
}

double start_alone_seconds(const struct start_config *config, double p, double registry_bytes_per_s,
                           double store_bytes_per_s, double provision_s)
{
    double image = distribution_quantile(&config->image_bytes, p);
    double weights = distribution_quantile(&config->weight_bytes, p);
    double before = distribution_quantile(&config->schedule, p) + provision_s + image / registry_bytes_per_s +
                    image * config->extract_ratio / config->extract_bytes_per_s;
    double until_listening = weights / store_bytes_per_s + distribution_quantile(&config->init, p);
    sim_time ready = start_probe_ready(config, 0, sim_time_from_seconds(until_listening));

    return before + sim_time_seconds(ready) + distribution_quantile(&config->endpoint, p);
}
