#ifndef SIM_ENGINE_HISTOGRAM_H
#define SIM_ENGINE_HISTOGRAM_H

#include <stdint.h>

#include "sim/engine/error.h"

/*
 * Log-linear histogram of non-negative int64 values in HdrHistogram's layout with 3 significant decimal
 * digits (2,048 sub-buckets, unit magnitude 0): a value is known to within 1 part in 1,000. Counts only, so
 * histograms of threads, replications and services add up exactly and in any order.
 *
 * Values are latencies in nanoseconds here, but any non-negative int64 will do; larger ones than
 * HISTOGRAM_LIMIT (about 13 days in ns) are counted in `beyond` and rank above every other value. Values that
 * never ended (rejected, timed out) are recorded as beyond, too: histogram_record_infinite.
 */
#define HISTOGRAM_LIMIT ((int64_t)1 << 50)

/* Layout: 41 buckets of 2,048 equal sub-buckets; each bucket's lower half is covered by the finer bucket
 * below it. */
#define HISTOGRAM_SUB_BITS 11
#define HISTOGRAM_BUCKETS  41
#define HISTOGRAM_COUNTS   ((HISTOGRAM_BUCKETS + 1) << (HISTOGRAM_SUB_BITS - 1))

struct histogram {
    int64_t *counts;   /* HISTOGRAM_COUNTS of them, NULL until reserved: an unused histogram costs nothing */
    int64_t total;     /* finite values recorded */
    int64_t beyond;    /* infinite ones */
    int64_t low, high; /* least and largest value recorded; INT64_MAX and -1 when none */
    double sum;        /* of the finite values, exact below 2^53, then up to rounding; for the mean */
};

/* An empty histogram. Never fails; no memory is taken yet. */
void histogram_init(struct histogram *h);
void histogram_free(struct histogram *h);
void histogram_reset(struct histogram *h); /* empties it, keeps its memory */

/* Takes the memory now, so that record cannot fail. Errors: memory. */
int histogram_reserve(struct histogram *h, struct error *err);

/* Index of the value's count. 0 <= value <= HISTOGRAM_LIMIT. */
static inline uint32_t histogram_index(int64_t value)
{
    /* The bucket is the number of bits beyond the sub-bucket's; the or keeps it from going negative. */
    unsigned bucket = (unsigned)(64 - HISTOGRAM_SUB_BITS -
                                 __builtin_clzll((uint64_t)value | ((1u << HISTOGRAM_SUB_BITS) - 1)));

    return (bucket << (HISTOGRAM_SUB_BITS - 1)) + (uint32_t)(value >> bucket);
}

/* `count` times the value; 0 or fewer: nothing. Negative values are recorded as 0. The histogram must have
 * been reserved.
 */
static inline void histogram_record_many(struct histogram *h, int64_t value, int64_t count)
{
    if (count <= 0)
        return;
    if (value < 0)
        value = 0;
    if (value > HISTOGRAM_LIMIT) {
        h->beyond += count;
        return;
    }
    h->counts[histogram_index(value)] += count;
    h->total += count;
    h->sum += (double)value * (double)count;
    if (value < h->low) /* rare after the first few: a branch spares the store */
        h->low = value;
    if (value > h->high)
        h->high = value;
}

/* One value. O(1), about 3 ns back to back, most of it the chain of additions to the sum. */
static inline void histogram_record(struct histogram *h, int64_t value)
{
    histogram_record_many(h, value, 1);
}

/* A value that never ended. Needs no reserve. */
static inline void histogram_record_infinite(struct histogram *h)
{
    h->beyond++;
}

/* to += from; to -= from (from must be a part of to: used for delete-one replications). Errors: memory (add
 * only). After a subtraction `low` and `high` stay those of the whole. */
int histogram_add(struct histogram *to, const struct histogram *from, struct error *err);
void histogram_subtract(struct histogram *to, const struct histogram *from);

/*
 * Nearest-rank quantile: the value at rank ceil(q * (total + beyond)), the highest value equivalent to its
 * bucket as HdrHistogram reports it, but never above `high`. -1 when nothing was recorded; INT64_MAX when the
 * rank falls among the infinite ones. q is clamped to [0, 1] and rank to at least 1; a q * n within rounding
 * of a whole number is that number (0.07 * 100 is rank 7).
 */
int64_t histogram_quantile(const struct histogram *h, double q);

/* Mean of the finite values, NaN when none. */
double histogram_mean(const struct histogram *h);

/* Count of the values, finite and infinite, that are > value (to bucket resolution: whole buckets above
 * value's). */
int64_t histogram_count_above(const struct histogram *h, int64_t value);

/* Width of the bucket that holds value: the error allowance of a quantile. */
int64_t histogram_bucket_width(int64_t value);

/*
 * Percentile spectrum in HdrHistogram's text form (.hgrm): Value, Percentile, TotalCount, 1/(1-Percentile),
 * values divided by `unit` (1e6 for ms out of ns), 5 ticks a half distance, and the closing # lines. `write`
 * receives each line with its newline. Byte for byte what HdrHistogram prints for the same finite values, so
 * mean, deviation and maximum are those of the buckets (within 1 in 1,000), not the exact ones. Infinite
 * values are not in the spectrum; if there are any, one more # line counts them.
 */
void histogram_write_hgrm(const struct histogram *h, double unit, void (*write)(void *to, const char *line),
                          void *to);

#endif
