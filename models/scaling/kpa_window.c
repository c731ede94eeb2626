/* Windows: averages of what was reported, and the maximum that delays scaling down. */
#include "models/scaling/kpa.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Number of the bucket that holds a time; times before 0 too. */
static int64_t bucket_of(sim_time time, sim_time granularity)
{
    int64_t bucket = time / granularity;

    return time % granularity < 0 ? bucket - 1 : bucket;
}

static size_t slot_of(int64_t bucket, size_t count)
{
    int64_t slot = bucket % (int64_t)count;

    return (size_t)(slot < 0 ? slot + (int64_t)count : slot);
}

static size_t bucket_count(sim_time length, sim_time granularity)
{
    return (size_t)((length + granularity - 1) / granularity);
}

sim_time kpa_panic_window(sim_time stable_window, double share)
{
    double seconds = round(share * sim_time_seconds(stable_window));

    return seconds < 1 ? SIM_SECOND : (sim_time)seconds * SIM_SECOND;
}

int kpa_window_init(struct kpa_window *window, sim_time length, sim_time granularity,
                    enum kpa_averaging averaging, struct error *err)
{
    assert(granularity > 0 && length >= granularity);
    *window = (struct kpa_window){.count = bucket_count(length, granularity),
                                  .granularity = granularity,
                                  .window = length,
                                  .averaging = averaging};
    /* Weights of all buckets together make 0.9999, unless that would be almost the plain mean. */
    window->smoothing = fmax(1 - pow(1 - 0.9999, 1 / (double)window->count), 0.2);
    window->buckets = calloc(window->count, sizeof *window->buckets);
    return window->buckets != NULL ? 0 : error_memory(err, "kpa window");
}

void kpa_window_free(struct kpa_window *window)
{
    free(window->buckets);
    *window = (struct kpa_window){0};
}

void kpa_window_record(struct kpa_window *window, sim_time now, double value)
{
    int64_t bucket = bucket_of(now, window->granularity);
    sim_time start = bucket * window->granularity;

    if (!window->written || start - window->last_write >= window->window) {
        for (size_t i = 0; i < window->count; i++)
            window->buckets[i] = 0;
        window->total = 0;
        window->first_write = window->last_write = start;
        window->written = true;
    } else if (start != window->last_write) {
        if (start + window->window <= window->last_write)
            return;
        if (window->first_write > start)
            window->first_write = start;
        if (start > window->last_write) {
            for (int64_t i = window->last_write / window->granularity + 1; i <= bucket; i++) {
                double *old = &window->buckets[slot_of(i, window->count)];

                window->total -= *old;
                *old = 0;
            }
            window->last_write = start;
        }
    }
    window->buckets[slot_of(bucket, window->count)] += value;
    window->total += value;
}

bool kpa_window_empty(const struct kpa_window *window, sim_time now)
{
    sim_time start = bucket_of(now, window->granularity) * window->granularity;

    return !window->written || start - window->last_write > window->window;
}

static double rounded(double x)
{
    return round(x * 1e6) / 1e6;
}

static double linear_average(const struct kpa_window *window, sim_time start)
{
    sim_time silence = start - window->last_write;
    int64_t last = window->last_write / window->granularity;
    int64_t newer = silence > 0 ? silence / window->granularity : 0; /* buckets since the last write */
    double spanned = (double)((window->last_write - window->first_write) / window->granularity) + 1;
    double total = window->total;

    if (silence >= window->window)
        return 0;
    for (int64_t i = last + 1; i <= last + newer; i++)
        total -= window->buckets[slot_of(i, window->count)]; /* the oldest: they have left the window */
    return rounded(total / fmin(spanned, (double)window->count - (double)newer));
}

static double exponential_average(const struct kpa_window *window, sim_time start)
{
    int64_t last = window->last_write / window->granularity;
    int64_t buckets = (int64_t)window->count;
    double weight = window->smoothing, average = 0;

    if (start > window->last_write) {
        int64_t silent = (start - window->last_write) / window->granularity;

        weight = weight * pow(1 - window->smoothing, (double)silent);
        buckets -= silent;
    }
    for (int64_t i = 0; i < buckets; i++) {
        average += window->buckets[slot_of(last - i, window->count)] * weight;
        weight *= 1 - window->smoothing;
    }
    return average;
}

double kpa_window_average(const struct kpa_window *window, sim_time now)
{
    sim_time start = bucket_of(now, window->granularity) * window->granularity;

    if (kpa_window_empty(window, now))
        return 0;
    return window->averaging == KPA_LINEAR ? linear_average(window, start)
                                           : exponential_average(window, start);
}

/* ---- maximum ---- */

int kpa_maximum_init(struct kpa_maximum *maximum, sim_time length, sim_time granularity, struct error *err)
{
    assert(granularity > 0 && length > 0);
    *maximum = (struct kpa_maximum){.capacity = bucket_count(length, granularity),
                                    .granularity = granularity};
    maximum->entries = calloc(maximum->capacity, sizeof *maximum->entries);
    return maximum->entries != NULL ? 0 : error_memory(err, "kpa delay window");
}

void kpa_maximum_free(struct kpa_maximum *maximum)
{
    free(maximum->entries);
    *maximum = (struct kpa_maximum){0};
}

static struct kpa_maximum_entry *newest(const struct kpa_maximum *maximum)
{
    return &maximum->entries[(maximum->first + maximum->length - 1) % maximum->capacity];
}

void kpa_maximum_record(struct kpa_maximum *maximum, sim_time now, int32_t value)
{
    int64_t bucket = bucket_of(now, maximum->granularity);

    /* Smaller and older entries can never be the maximum again; so those kept fall in value, and the first is
     * the largest. */
    while (maximum->length > 0 && value >= newest(maximum)->value)
        maximum->length--;
    while (maximum->length > 0 &&
           bucket - maximum->entries[maximum->first].bucket >= (int64_t)maximum->capacity) {
        maximum->first = (maximum->first + 1) % maximum->capacity;
        maximum->length--;
    }
    if (maximum->length > 0 && newest(maximum)->bucket >= bucket)
        return; /* a larger value of this very bucket stands */
    maximum->length++;
    *newest(maximum) = (struct kpa_maximum_entry){.bucket = bucket, .value = value};
}

int32_t kpa_maximum_current(const struct kpa_maximum *maximum)
{
    return maximum->length > 0 ? maximum->entries[maximum->first].value : 0;
}
