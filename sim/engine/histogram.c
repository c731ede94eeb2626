#include "sim/engine/histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUB_BUCKETS   (1 << HISTOGRAM_SUB_BITS)
#define HALF_BUCKETS  (SUB_BUCKETS / 2)
#define HGRM_TICKS    5
#define HGRM_LINE_MAX 512

static int64_t index_width(uint32_t index)
{
    uint32_t half = index / HALF_BUCKETS;

    return half < 2 ? 1 : (int64_t)1 << (half - 1);
}

static int64_t index_lowest(uint32_t index)
{
    uint32_t half = index / HALF_BUCKETS;

    if (half < 2)
        return index;
    return (int64_t)(index % HALF_BUCKETS + HALF_BUCKETS) << (half - 1);
}

static int64_t index_highest(uint32_t index)
{
    return index_lowest(index) + index_width(index) - 1;
}

/* The middle as HdrHistogram takes it. */
static int64_t index_middle(uint32_t index)
{
    return index_lowest(index) + index_width(index) / 2;
}

void histogram_init(struct histogram *h)
{
    *h = (struct histogram){.low = INT64_MAX, .high = -1};
}

void histogram_free(struct histogram *h)
{
    free(h->counts);
    histogram_init(h);
}

void histogram_reset(struct histogram *h)
{
    int64_t *counts = h->counts;

    if (counts)
        memset(counts, 0, HISTOGRAM_COUNTS * sizeof *counts);
    histogram_init(h);
    h->counts = counts;
}

int histogram_reserve(struct histogram *h, struct error *err)
{
    if (!h->counts)
        h->counts = calloc(HISTOGRAM_COUNTS, sizeof *h->counts);
    return h->counts ? 0 : error_memory(err, "histogram");
}

int histogram_add(struct histogram *to, const struct histogram *from, struct error *err)
{
    if (from->total > 0) {
        uint32_t last = histogram_index(from->high);

        if (histogram_reserve(to, err) < 0)
            return -1;
        for (uint32_t i = histogram_index(from->low); i <= last; i++)
            to->counts[i] += from->counts[i];
    }
    to->total += from->total;
    to->beyond += from->beyond;
    to->sum += from->sum;
    to->low = from->low < to->low ? from->low : to->low;
    to->high = from->high > to->high ? from->high : to->high;
    return 0;
}

void histogram_subtract(struct histogram *to, const struct histogram *from)
{
    if (from->total > 0) {
        uint32_t last = histogram_index(from->high);

        for (uint32_t i = histogram_index(from->low); i <= last; i++)
            to->counts[i] -= from->counts[i];
    }
    to->total -= from->total;
    to->beyond -= from->beyond;
    to->sum -= from->sum;
}

/* ceil(q * n), at least 1, at most n. q is a decimal that a double only approximates: a product that is whole
 * but for rounding counts as whole. */
static int64_t nearest_rank(double q, int64_t n)
{
    double rank = q * (double)n;
    double whole = nearbyint(rank);

    if (fabs(rank - whole) > rank * 0x1p-50)
        whole = ceil(rank);
    if (!(whole >= 1))
        return 1;
    return whole >= (double)n ? n : (int64_t)whole;
}

int64_t histogram_quantile(const struct histogram *h, double q)
{
    int64_t n = h->total + h->beyond;
    int64_t rank, seen = 0;
    uint32_t i;

    if (n <= 0)
        return -1;
    rank = nearest_rank(q, n);
    if (rank > h->total)
        return INT64_MAX;
    for (i = histogram_index(h->low); (seen += h->counts[i]) < rank; i++)
        ;
    return index_highest(i) < h->high ? index_highest(i) : h->high;
}

double histogram_mean(const struct histogram *h)
{
    return h->total > 0 ? h->sum / (double)h->total : NAN;
}

int64_t histogram_count_above(const struct histogram *h, int64_t value)
{
    int64_t above = h->beyond;

    if (value < 0)
        return h->total + h->beyond;
    if (h->total == 0 || value >= h->high)
        return above;
    for (uint32_t i = histogram_index(h->high); i > histogram_index(value); i--)
        above += h->counts[i];
    return above;
}

int64_t histogram_bucket_width(int64_t value)
{
    if (value < 0)
        value = 0;
    if (value > HISTOGRAM_LIMIT)
        value = HISTOGRAM_LIMIT;
    return index_width(histogram_index(value));
}

/* Mean and standard deviation of the buckets' middles, as HdrHistogram prints them. */
static void bucket_moments(const struct histogram *h, double *mean, double *deviation)
{
    double sum = 0, squares = 0;

    *mean = *deviation = 0;
    if (h->total == 0)
        return;
    for (uint32_t i = 0; i < HISTOGRAM_COUNTS; i++)
        sum += (double)index_middle(i) * (double)h->counts[i];
    *mean = sum / (double)h->total;
    for (uint32_t i = 0; i < HISTOGRAM_COUNTS; i++) {
        double off = (double)index_middle(i) - *mean;

        squares += off * off * (double)h->counts[i];
    }
    *deviation = sqrt(squares / (double)h->total);
}

/* Next percentile after `level`: each half of the distance that is left to 100 is walked in HGRM_TICKS steps.
 */
static double hgrm_next_level(double level)
{
    double halvings = floor(log(100 / (100 - level)) / log(2)) + 1;

    return level + 100 / (HGRM_TICKS * exp2(halvings));
}

static void write_spectrum(const struct histogram *h, double unit, void (*write)(void *, const char *),
                           void *to)
{
    char line[HGRM_LINE_MAX];
    double level = 0;
    int64_t seen = 0;
    uint32_t i = histogram_index(h->low);

    seen = h->counts[i];
    for (;;) {
        double value = (double)index_highest(i) / unit;

        if (h->counts[i] == 0 || 100.0 * (double)seen / (double)h->total < level) {
            seen += h->counts[++i];
            continue;
        }
        if (level >= 100) {
            snprintf(line, sizeof line, "%12.3f %2.12f %10lld\n", value, 1.0, (long long)seen);
            write(to, line);
            return;
        }
        snprintf(line, sizeof line, "%12.3f %2.12f %10lld %14.2f\n", value, level / 100, (long long)seen,
                 1 / (1 - level / 100));
        write(to, line);
        level = seen < h->total ? hgrm_next_level(level) : 100;
    }
}

void histogram_write_hgrm(const struct histogram *h, double unit, void (*write)(void *to, const char *line),
                          void *to)
{
    char line[HGRM_LINE_MAX];
    double mean, deviation;
    int64_t high = h->total > 0 ? index_highest(histogram_index(h->high)) : 0;

    snprintf(line, sizeof line, "%12s %14s %10s %14s\n", "Value", "Percentile", "TotalCount",
             "1/(1-Percentile)");
    write(to, line);
    write(to, "\n");
    if (h->total > 0)
        write_spectrum(h, unit, write, to);
    bucket_moments(h, &mean, &deviation);
    snprintf(line, sizeof line, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean / unit,
             deviation / unit);
    write(to, line);
    snprintf(line, sizeof line, "#[Max     = %12.3f, Total count    = %12lld]\n", (double)high / unit,
             (long long)h->total);
    write(to, line);
    snprintf(line, sizeof line, "#[Buckets = %12d, SubBuckets     = %12d]\n", HISTOGRAM_BUCKETS, SUB_BUCKETS);
    write(to, line);
    if (h->beyond > 0) {
        snprintf(line, sizeof line, "#[Infinite values, not counted above = %lld]\n", (long long)h->beyond);
        write(to, line);
    }
}
