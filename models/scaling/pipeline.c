#include "models/scaling/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prometheus: query.lookback-delta. */
#define STALE (5 * SIM_MINUTE)

bool metric_is_external(enum metric_kind kind, bool central_queue)
{
    return kind == METRIC_LATENCY || (kind == METRIC_QUEUE_DEPTH && central_queue);
}

static bool is_counter(enum metric_kind kind)
{
    return kind == METRIC_RPS || kind == METRIC_GPU_UTILIZATION || kind == METRIC_CPU;
}

int pipeline_init(struct pipeline *pipeline, const struct metric_config *config, struct error *err)
{
    sim_time kept = config->window + config->delay;

    *pipeline = (struct pipeline){.config = config};
    pipeline->ring = (uint32_t)(kept / config->interval) + 4;
    if (pipeline->ring > 4096)
        return error_set(err, ERROR_INPUT, metric_name(config->kind),
                         "window and delay together are more than 4,000 scrape intervals");
    histogram_init(&pipeline->current);
    if (config->kind != METRIC_LATENCY)
        return 0;
    pipeline->windows = calloc(pipeline->ring, sizeof *pipeline->windows);
    pipeline->window_times = calloc(pipeline->ring, sizeof *pipeline->window_times);
    if (!pipeline->windows || !pipeline->window_times)
        return error_memory(err, "metric pipeline");
    for (uint32_t i = 0; i < pipeline->ring; i++) {
        histogram_init(&pipeline->windows[i]);
        if (histogram_reserve(&pipeline->windows[i], err) < 0)
            return -1;
    }
    return histogram_reserve(&pipeline->current, err);
}

void pipeline_free(struct pipeline *pipeline)
{
    for (uint32_t i = 0; pipeline->windows && i < pipeline->ring; i++)
        histogram_free(&pipeline->windows[i]);
    histogram_free(&pipeline->current);
    free(pipeline->windows);
    free(pipeline->window_times);
    free(pipeline->samples);
    free(pipeline->newest);
    free(pipeline->count);
}

int pipeline_reserve(struct pipeline *pipeline, uint32_t rows, struct error *err)
{
    uint32_t size = pipeline->rows ? pipeline->rows : 16;
    void *samples, *newest, *count;

    if (rows <= pipeline->rows)
        return 0;
    while (size < rows)
        size *= 2;
    samples = realloc(pipeline->samples, (size_t)size * pipeline->ring * sizeof *pipeline->samples);
    if (samples)
        pipeline->samples = samples;
    newest = realloc(pipeline->newest, size * sizeof *pipeline->newest);
    if (newest)
        pipeline->newest = newest;
    count = realloc(pipeline->count, size * sizeof *pipeline->count);
    if (count)
        pipeline->count = count;
    if (!samples || !newest || !count)
        return error_memory(err, "metric pipeline");
    memset(pipeline->newest + pipeline->rows, 0, (size - pipeline->rows) * sizeof *pipeline->newest);
    memset(pipeline->count + pipeline->rows, 0, (size - pipeline->rows) * sizeof *pipeline->count);
    pipeline->rows = size;
    return 0;
}

void pipeline_reset(struct pipeline *pipeline, uint32_t row)
{
    if (row < pipeline->rows)
        pipeline->count[row] = 0;
}

void pipeline_scrape_value(struct pipeline *pipeline, uint32_t row, sim_time now, double value)
{
    pipeline->newest[row] = (pipeline->newest[row] + 1) % pipeline->ring;
    pipeline->samples[(size_t)row * pipeline->ring + pipeline->newest[row]] = (struct sample){now, value};
    if (pipeline->count[row] < pipeline->ring)
        pipeline->count[row]++;
}

void pipeline_scrape(struct pipeline *pipeline, uint32_t row, sim_time now, const struct server_gauges *gauges)
{
    double value = 0;

    switch (pipeline->config->kind) {
    case METRIC_RPS:
        value = (double)gauges->finished;
        break;
    case METRIC_GPU_UTILIZATION:
        value = sim_time_seconds(gauges->busy_ns);
        break;
    case METRIC_CPU: /* core-seconds above the idle base */
        value = pipeline->config->cpu_per_request * sim_time_seconds(gauges->running_ns);
        break;
    default:
        value = pipeline_truth(pipeline->config, gauges);
        break;
    }
    pipeline_scrape_value(pipeline, row, now, value);
}

void pipeline_scrape_latency(struct pipeline *pipeline, sim_time now)
{
    struct histogram *window;

    pipeline->window_newest = (pipeline->window_newest + 1) % pipeline->ring;
    window = &pipeline->windows[pipeline->window_newest];
    histogram_reset(window);
    histogram_add(window, &pipeline->current, NULL);
    histogram_reset(&pipeline->current);
    pipeline->window_times[pipeline->window_newest] = now;
    if (pipeline->window_count < pipeline->ring)
        pipeline->window_count++;
}

static const struct sample *sample_back(const struct pipeline *pipeline, uint32_t row, uint32_t back)
{
    uint32_t at = (pipeline->newest[row] + pipeline->ring - back) % pipeline->ring;

    return &pipeline->samples[(size_t)row * pipeline->ring + at];
}

double pipeline_read(const struct pipeline *pipeline, uint32_t row, sim_time now, sim_time *newest)
{
    const struct metric_config *config = pipeline->config;
    sim_time visible = now - config->delay, from;
    const struct sample *last, *first;
    uint32_t count, back = 0, used = 1;
    double sum;

    if (row >= pipeline->rows)
        return NAN;
    count = pipeline->count[row];
    while (back < count && sample_back(pipeline, row, back)->at > visible)
        back++;
    if (back == count)
        return NAN;
    last = first = sample_back(pipeline, row, back);
    if (last->at < visible - STALE)
        return NAN;
    /* A rate needs two samples: with no window, the last two. */
    from = config->window > 0 ? visible - config->window : is_counter(config->kind) ? last->at - config->interval : last->at;
    sum = last->value;
    while (back + used < count && sample_back(pipeline, row, back + used)->at >= from) {
        first = sample_back(pipeline, row, back + used);
        sum += first->value;
        used++;
    }
    if (is_counter(config->kind)) {
        if (first->at == last->at)
            return NAN;
        sum = (last->value - first->value) / sim_time_seconds(last->at - first->at);
        if (config->kind == METRIC_CPU)
            sum += config->cpu_base;
    } else {
        sum /= used;
    }
    *newest = last->at;
    return sum;
}

double pipeline_read_latency(const struct pipeline *pipeline, sim_time now, sim_time *newest)
{
    sim_time visible = now - pipeline->config->delay;
    struct histogram merged;
    double value = NAN;
    bool any = false;

    histogram_init(&merged);
    for (uint32_t back = 0; back < pipeline->window_count; back++) {
        uint32_t at = (pipeline->window_newest + pipeline->ring - back) % pipeline->ring;
        sim_time time = pipeline->window_times[at];

        if (time > visible || time <= visible - pipeline->config->window - (pipeline->config->window ? 0 : pipeline->config->interval))
            continue;
        if (!any)
            *newest = time;
        any = true;
        if (pipeline->windows[at].total && histogram_add(&merged, &pipeline->windows[at], NULL) < 0)
            break;
    }
    if (merged.total > 0)
        value = (double)histogram_quantile(&merged, pipeline->config->quantile) / 1e9;
    histogram_free(&merged);
    return value;
}

double pipeline_truth(const struct metric_config *config, const struct server_gauges *gauges)
{
    switch (config->kind) {
    case METRIC_CONCURRENCY:
        return (double)(gauges->running + gauges->waiting);
    case METRIC_QUEUE_DEPTH:
        return (double)gauges->waiting;
    case METRIC_UTILIZATION:
        return gauges->capacity > 0 ? (double)gauges->running / (double)gauges->capacity : NAN;
    case METRIC_GPU_UTILIZATION:
        return gauges->running > 0 ? 1 : 0;
    case METRIC_CPU:
        return config->cpu_base + config->cpu_per_request * (double)gauges->running;
    case METRIC_KV_USAGE:
        return gauges->kv_usage;
    default:
        return NAN;
    }
}
