#include "models/traffic/traffic.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/traffic/traffic_internal.h"

struct traffic_stream {
    const struct traffic *traffic;
    struct arrivals arrivals;
    struct replay_stream *replay;
    struct stream sizes;
    uint64_t luck_key;
    uint64_t number; /* of the next request */
};

int traffic_add_note(struct traffic *traffic, struct error *err, const char *format, ...)
{
    char text[1024];
    char **notes = realloc(traffic->notes, (traffic->note_count + 1) * sizeof *notes);
    va_list args;

    if (!notes)
        return error_memory(err, "traffic");
    traffic->notes = notes;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    notes[traffic->note_count] = strdup(text);
    if (!notes[traffic->note_count])
        return error_memory(err, "traffic");
    traffic->note_count++;
    return 0;
}

int traffic_parse(const struct node *node, sim_time duration, struct traffic **out, struct error *err)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);
    struct map map;
    int result = -1;

    *out = NULL;
    if (!traffic)
        return error_memory(err, "traffic");
    traffic->duration = duration;
    if (map_open(&map, node, err)) {
        bool synth = map_has(&map, "synth"), replay = map_has(&map, "replay");

        if (synth == replay)
            node_error(node, err, "a traffic is one of {\"synth\": {...}} and {\"replay\": {...}}");
        else
            result = synth ? synth_parse(map_node(&map, "synth"), traffic, err)
                           : replay_parse(map_node(&map, "replay"), traffic, err);
        if (result == 0)
            result = map_close(&map);
    }
    if (result < 0) {
        traffic_free(traffic);
        return -1;
    }
    *out = traffic;
    return 0;
}

int traffic_from_array(const struct arrival *arrivals, size_t count, struct traffic **out, struct error *err)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);
    double in = 0, tokens_out = 0, work = 0;
    bool worked = true;

    *out = traffic;
    if (!traffic)
        return error_memory(err, "traffic");
    traffic->source = TRAFFIC_ARRAY;
    traffic->array = arrivals;
    traffic->array_count = count;
    traffic->mean.work_seconds = NAN;
    if (count == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        in += arrivals[i].tokens_in;
        tokens_out += arrivals[i].tokens_out;
        work += (double)arrivals[i].work_ns / 1e9;
        worked = worked && arrivals[i].work_ns >= 0;
    }
    traffic->mean = (struct traffic_sizes){in / (double)count, tokens_out / (double)count,
                                           worked ? work / (double)count : (double)NAN};
    traffic->duration = arrivals[count - 1].at + 1;
    if (rate_curve_add(&traffic->curve, 0, traffic->duration,
                       (double)count / sim_time_seconds(traffic->duration),
                       (double)count / sim_time_seconds(traffic->duration), err) < 0) {
        traffic_free(traffic);
        *out = NULL;
        return -1;
    }
    return 0;
}

/* The sizes that a stationary copy has. */
static const struct sizes *sizes_of(const struct traffic *traffic)
{
    if (traffic->source == TRAFFIC_TRACE && traffic->sizes.form == SIZES_NONE)
        return &traffic->rows;
    return &traffic->sizes;
}

int traffic_stationary(const struct traffic *like, double rate_per_s, struct traffic **out, struct error *err)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);

    *out = traffic;
    if (!traffic)
        return error_memory(err, "traffic");
    traffic->source = TRAFFIC_PROCESS;
    traffic->duration = SIM_TIME_LIMIT;
    traffic->mean = like->mean;
    traffic->process = (struct arrivals_config){.kind = ARRIVALS_POISSON, .noise_every = SIM_MINUTE};
    if (sizes_copy(&traffic->sizes, sizes_of(like), err) < 0 ||
        rate_curve_add(&traffic->curve, 0, traffic->duration, rate_per_s, rate_per_s, err) < 0) {
        traffic_free(traffic);
        *out = NULL;
        return -1;
    }
    return 0;
}

void traffic_free(struct traffic *traffic)
{
    if (!traffic)
        return;
    rate_curve_free(&traffic->curve);
    sizes_free(&traffic->sizes);
    sizes_free(&traffic->rows);
    replay_free(traffic->replay);
    for (size_t i = 0; i < traffic->note_count; i++)
        free(traffic->notes[i]);
    free(traffic->notes);
    free(traffic);
}

int traffic_open(const struct traffic *traffic, uint64_t seed, const char *service, uint64_t replication,
                 struct traffic_stream **out, struct error *err)
{
    struct traffic_stream *stream = calloc(1, sizeof *stream);
    int result = 0;

    *out = stream;
    if (!stream)
        return error_memory(err, "traffic");
    stream->traffic = traffic;
    stream->luck_key = random_key(seed, service, "luck", replication);
    if (stream_open(&stream->sizes, random_key(seed, service, "sizes", replication), err) < 0)
        result = -1;
    else if (traffic->source == TRAFFIC_PROCESS)
        result = arrivals_open(&stream->arrivals, &traffic->curve, &traffic->process, seed, service,
                               replication, err);
    else if (traffic->source == TRAFFIC_TRACE)
        result = replay_open(traffic, seed, service, replication, &stream->replay, err);
    if (result < 0) {
        traffic_close(stream);
        *out = NULL;
    }
    return result;
}

int traffic_next(struct traffic_stream *stream, struct arrival *arrival, struct error *err)
{
    const struct traffic *traffic = stream->traffic;
    uint64_t number = stream->number;

    switch (traffic->source) {
    case TRAFFIC_PROCESS: {
        sim_time at = arrivals_next(&stream->arrivals);

        if (at >= traffic->duration)
            return 0;
        *arrival = (struct arrival){.at = at, .work_ns = -1};
        sizes_draw(&traffic->sizes, &stream->sizes, number, arrival);
        break;
    }
    case TRAFFIC_TRACE: {
        int got = replay_next(stream->replay, arrival, err);

        if (got <= 0)
            return got;
        if (traffic->sizes.form != SIZES_NONE) {
            arrival->work_ns = -1;
            arrival->tokens_in = arrival->tokens_out = 0;
            sizes_draw(&traffic->sizes, &stream->sizes, number, arrival);
            if (arrival->prefix_tokens > arrival->tokens_in)
                arrival->prefix_tokens = arrival->tokens_in;
        }
        break;
    }
    case TRAFFIC_ARRAY:
        if (number == traffic->array_count)
            return 0;
        *arrival = traffic->array[number];
        stream->number++;
        return 1;
    }
    arrival->luck = random_key_ordinal(stream->luck_key, number);
    stream->number++;
    return 1;
}

void traffic_close(struct traffic_stream *stream)
{
    if (!stream)
        return;
    arrivals_close(&stream->arrivals);
    replay_close(stream->replay);
    if (stream->sizes.rng)
        stream_close(&stream->sizes);
    free(stream);
}

double traffic_rate(const struct traffic *traffic, sim_time t)
{
    return rate_curve_at(&traffic->curve, t);
}

double traffic_expected(const struct traffic *traffic, sim_time from, sim_time to)
{
    return rate_curve_integral(&traffic->curve, from, to);
}

void traffic_mean_sizes(const struct traffic *traffic, struct traffic_sizes *sizes)
{
    *sizes = traffic->mean;
}

bool traffic_is_random(const struct traffic *traffic)
{
    switch (traffic->source) {
    case TRAFFIC_PROCESS:
        return true;
    case TRAFFIC_TRACE:
        return replay_is_random(traffic->replay) || sizes_is_random(&traffic->sizes);
    case TRAFFIC_ARRAY:
        return false;
    }
    return true;
}

const char *traffic_note(const struct traffic *traffic, size_t index)
{
    return index < traffic->note_count ? traffic->notes[index] : NULL;
}

sim_time traffic_history(const struct traffic *traffic)
{
    (void)traffic;
    return 0;
}
