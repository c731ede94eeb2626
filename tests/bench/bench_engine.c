/*
 * The event queue against no event queue: M/M/64 at 90 % load, first come, first served, the same draws on
 * both sides.
 *
 *   recursion  Kiefer and Wolfowitz: the times at which the servers fall free in a 64-entry min-heap; a
 * customer takes the least. No events at all, the least work that can answer the question. timeline   one
 * slot a server in struct timeline, arrivals streamed beside it, a ring of waiting customers.
 *
 * Both write each customer's waiting time, which must agree for every customer. Prints medians of ns per
 * customer (arrival and departure) and their ratio; the goal is 3 at most. Beside it: a histogram record, a
 * stream draw.
 *
 *   bench_engine [customers [repetitions]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_randist.h>

#include "sim/engine/histogram.h"
#include "sim/engine/random.h"
#include "sim/engine/timeline.h"

#define SERVERS      64
#define LOAD         0.9
#define SERVICE_NS   1e6
#define REPS_MAX     101
#define RING_INITIAL 1024

struct work {
    size_t customers;
    int64_t *arrival; /* ns */
    int64_t *service; /* ns */
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static void draw_work(struct work *work, size_t customers)
{
    struct stream stream;
    int64_t at = 0;

    if (stream_open(&stream, random_key(1, "bench", "work", 0), NULL) < 0)
        exit(1);
    work->customers = customers;
    work->arrival = allocate(customers, sizeof *work->arrival);
    work->service = allocate(customers, sizeof *work->service);
    for (size_t i = 0; i < customers; i++) {
        at += (int64_t)gsl_ran_exponential(stream.rng, SERVICE_NS / (SERVERS * LOAD));
        work->arrival[i] = at;
        work->service[i] = 1 + (int64_t)gsl_ran_exponential(stream.rng, SERVICE_NS);
    }
    stream_close(&stream);
}

/* The least free time is replaced by the later of it and the arrival, plus the service. Binary heap, hole
 * downward. */
static void run_recursion(const struct work *work, int64_t *wait)
{
    int64_t free_at[SERVERS] = {0};

    for (size_t i = 0; i < work->customers; i++) {
        int64_t arrival = work->arrival[i];
        int64_t start = arrival > free_at[0] ? arrival : free_at[0];
        int64_t until = start + work->service[i];
        size_t at = 0, child;

        wait[i] = start - arrival;
        while ((child = 2 * at + 1) < SERVERS) {
            if (child + 1 < SERVERS)
                child += free_at[child + 1] < free_at[child];
            if (until <= free_at[child])
                break;
            free_at[at] = free_at[child];
            at = child;
        }
        free_at[at] = until;
    }
}

/* Waiting customers: a ring of a power of two that doubles when full. */
struct ring {
    uint32_t *items;
    size_t capacity, head, count;
};

static void ring_push(struct ring *ring, uint32_t item)
{
    if (ring->count == ring->capacity) {
        uint32_t *larger = allocate(2 * ring->capacity, sizeof *larger);

        for (size_t i = 0; i < ring->count; i++)
            larger[i] = ring->items[(ring->head + i) & (ring->capacity - 1)];
        free(ring->items);
        *ring = (struct ring){.items = larger, .capacity = 2 * ring->capacity, .count = ring->count};
    }
    ring->items[(ring->head + ring->count++) & (ring->capacity - 1)] = item;
}

static uint32_t ring_pop(struct ring *ring)
{
    uint32_t item = ring->items[ring->head];

    ring->head = (ring->head + 1) & (ring->capacity - 1);
    ring->count--;
    return item;
}

static void run_timeline(const struct work *work, int64_t *wait)
{
    struct ring queue = {.items = allocate(RING_INITIAL, sizeof(uint32_t)), .capacity = RING_INITIAL};
    struct timeline timeline;
    uint32_t idle[SERVERS];
    uint32_t idle_count = SERVERS;
    size_t next = 0;

    if (timeline_init(&timeline, SERVERS, NULL) < 0)
        exit(1);
    for (uint32_t i = 0; i < SERVERS; i++)
        idle[i] = SERVERS - 1 - i;
    for (;;) {
        int64_t arrival = next < work->customers ? work->arrival[next] : SIM_NEVER;
        int64_t departure = timeline_next_time(&timeline);

        if (arrival < departure) {
            if (idle_count > 0) {
                wait[next] = 0;
                timeline_set(&timeline, idle[--idle_count], arrival + work->service[next], 0);
            } else {
                ring_push(&queue, (uint32_t)next);
            }
            next++;
        } else if (timeline_empty(&timeline)) {
            break;
        } else if (queue.count > 0) {
            uint32_t customer = ring_pop(&queue);

            wait[customer] = departure - work->arrival[customer];
            timeline_set(&timeline, timeline_next_slot(&timeline), departure + work->service[customer], 0);
        } else {
            idle[idle_count++] = timeline_pop(&timeline);
        }
    }
    timeline_free(&timeline);
    free(queue.items);
}

static double time_of(void (*run)(const struct work *, int64_t *), const struct work *work, int64_t *wait)
{
    double start = now_ns();

    run(work, wait);
    return (now_ns() - start) / (double)work->customers;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static uint64_t checksum(const int64_t *wait, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum = random_key_ordinal(sum, (uint64_t)wait[i]);
    return sum;
}

static void bench_queue(const struct work *work, int repetitions)
{
    int64_t *by_recursion = allocate(work->customers, sizeof *by_recursion);
    int64_t *by_timeline = allocate(work->customers, sizeof *by_timeline);
    double recursion[REPS_MAX], timeline[REPS_MAX], ratio[REPS_MAX];
    double mean_wait = 0;

    /* The first of each only warms memory up. */
    run_recursion(work, by_recursion);
    run_timeline(work, by_timeline);
    for (int r = 0; r < repetitions; r++) {
        recursion[r] = time_of(run_recursion, work, by_recursion);
        timeline[r] = time_of(run_timeline, work, by_timeline);
        ratio[r] = timeline[r] / recursion[r];
    }
    for (size_t i = 0; i < work->customers; i++) {
        if (by_recursion[i] != by_timeline[i]) {
            fprintf(stderr, "customer %zu waits %lld ns by recursion, %lld ns by timeline\n", i,
                    (long long)by_recursion[i], (long long)by_timeline[i]);
            exit(1);
        }
        mean_wait += (double)by_recursion[i];
    }
    printf("M/M/%d at %.0f %% load, %zu customers, %d repetitions, mean wait %.2f us, checksums %016llx "
           "%016llx\n",
           SERVERS, 100 * LOAD, work->customers, repetitions, mean_wait / (double)work->customers / 1e3,
           (unsigned long long)checksum(by_recursion, work->customers),
           (unsigned long long)checksum(by_timeline, work->customers));
    printf("recursion       %7.1f ns per customer\n", median(recursion, repetitions));
    printf("timeline        %7.1f ns per customer\n", median(timeline, repetitions));
    printf("ratio           %7.2f (median of pairs; goal: at most 3)\n", median(ratio, repetitions));
    free(by_recursion);
    free(by_timeline);
}

static void bench_histogram(const struct work *work, int repetitions)
{
    struct histogram h;
    double ns[REPS_MAX];

    histogram_init(&h);
    if (histogram_reserve(&h, NULL) < 0)
        exit(1);
    for (int r = 0; r < repetitions; r++) {
        double start = now_ns();

        for (size_t i = 0; i < work->customers; i++)
            histogram_record(&h, work->service[i]);
        ns[r] = (now_ns() - start) / (double)work->customers;
    }
    printf("histogram       %7.2f ns per record (p99 %lld ns)\n", median(ns, repetitions),
           (long long)histogram_quantile(&h, 0.99));
    histogram_free(&h);
}

static void bench_stream(size_t draws, int repetitions)
{
    struct stream stream;
    double bits[REPS_MAX], exponential[REPS_MAX];
    uint64_t sum = 0;
    double total = 0;

    if (stream_open(&stream, 1, NULL) < 0)
        exit(1);
    for (int r = 0; r < repetitions; r++) {
        double start = now_ns();

        for (size_t i = 0; i < draws; i++)
            sum += stream_bits(&stream);
        bits[r] = (now_ns() - start) / (double)draws;
        start = now_ns();
        for (size_t i = 0; i < draws; i++)
            total += gsl_ran_exponential(stream.rng, 1);
        exponential[r] = (now_ns() - start) / (double)draws;
    }
    printf("stream          %7.2f ns per 64 bits, %.2f ns per gsl_ran_exponential (%016llx, mean %.4f)\n",
           median(bits, repetitions), median(exponential, repetitions), (unsigned long long)sum,
           total / (double)draws / repetitions);
    stream_close(&stream);
}

int main(int argc, char **argv)
{
    long customers = argc > 1 ? atol(argv[1]) : 1000000;
    int repetitions = argc > 2 ? atoi(argv[2]) : 11;
    struct work work;

    if (customers < 1 || customers > UINT32_MAX || repetitions < 1 || repetitions > REPS_MAX) {
        fprintf(stderr, "usage: bench_engine [customers [repetitions, at most %d]]\n", REPS_MAX);
        return 2;
    }
    draw_work(&work, (size_t)customers);
    bench_queue(&work, repetitions);
    bench_histogram(&work, repetitions);
    bench_stream((size_t)customers, repetitions);
    free(work.arrival);
    free(work.service);
    return 0;
}
