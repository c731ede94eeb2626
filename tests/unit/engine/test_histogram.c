#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/histogram.h"
#include "sim/engine/random.h"

static void assert_near(double got, double expected, double allowance)
{
    assert_true(fabs(got - expected) <= allowance);
}

static struct histogram reserved(void)
{
    struct histogram h;

    histogram_init(&h);
    assert_int_equal(histogram_reserve(&h, NULL), 0);
    return h;
}

/*
 * What HdrHistogram documents and tests for 3 significant digits: unit resolution below 2,048, then
 * buckets of 2 up to 4,096, of 4 up to 8,192, of 8 up to 16,384 (so 10,000 to 10,007 are one value).
 */
static void bucket_widths_are_hdrhistograms(void **state)
{
    (void)state;
    assert_int_equal(histogram_bucket_width(0), 1);
    assert_int_equal(histogram_bucket_width(1), 1);
    assert_int_equal(histogram_bucket_width(2047), 1);
    assert_int_equal(histogram_bucket_width(2048), 2);
    assert_int_equal(histogram_bucket_width(2500), 2);
    assert_int_equal(histogram_bucket_width(8191), 4);
    assert_int_equal(histogram_bucket_width(8192), 8);
    assert_int_equal(histogram_bucket_width(10000), 8);
    assert_int_equal(histogram_index(10000), histogram_index(10007));
    assert_int_equal(histogram_index(10008), histogram_index(10000) + 1);
    assert_int_equal(histogram_index(9999), histogram_index(10000) - 1);
    /* 2^49 has 50 bits, 39 more than the 11 of a sub-bucket: width 2^39. */
    assert_int_equal(histogram_bucket_width((INT64_C(1) << 49) + 5), INT64_C(1) << 39);
}

/* Every bucket follows the one before without gap or overlap, all the way up, and is never wider than 1 in
 * 1,000. */
static void buckets_tile_the_range(void **state)
{
    int64_t value = 0;
    uint32_t index = 0;

    (void)state;
    while (value < HISTOGRAM_LIMIT) {
        int64_t width = histogram_bucket_width(value);

        assert_int_equal(histogram_index(value), index);
        assert_int_equal(histogram_index(value + width - 1), index);
        assert_true(width == 1 || width * 1000 <= value);
        value += width;
        index++;
    }
    assert_int_equal(value, HISTOGRAM_LIMIT);
    assert_int_equal(histogram_index(HISTOGRAM_LIMIT), index);
    assert_true(index < HISTOGRAM_COUNTS);
}

static void an_empty_one(void **state)
{
    struct histogram h, other;

    (void)state;
    histogram_init(&h);
    histogram_init(&other);
    assert_null(h.counts);
    assert_int_equal(histogram_quantile(&h, 0.5), -1);
    assert_true(isnan(histogram_mean(&h)));
    assert_int_equal(histogram_count_above(&h, 0), 0);
    assert_int_equal(histogram_add(&h, &other, NULL), 0);
    assert_null(h.counts); /* nothing to add, nothing taken */
    histogram_reset(&h);
    histogram_free(&h);
    histogram_free(&h);
}

/* HdrHistogram's own example: 10,000 values of 1,000 and one of 100,000,000. */
static void one_outlier_in_ten_thousand(void **state)
{
    struct histogram h = reserved();

    (void)state;
    histogram_record_many(&h, 1000, 10000);
    histogram_record(&h, 100000000);
    assert_int_equal(histogram_quantile(&h, 0.3), 1000);
    assert_int_equal(histogram_quantile(&h, 0.99), 1000);
    assert_int_equal(histogram_quantile(&h, 0.9999), 1000); /* rank 9,999.9999 -> 10,000 */
    assert_int_equal(histogram_quantile(&h, 0.99999),
                     100000000); /* rank 10,000.9 -> 10,001, capped at high */
    assert_int_equal(histogram_quantile(&h, 1), 100000000);
    assert_int_equal(histogram_quantile(&h, 0), 1000);
    /* (10,000 x 1,000 + 10^8) / 10,001 */
    assert_near(histogram_mean(&h), 110000000.0 / 10001, 1e-9);
    histogram_free(&h);
}

static void zero_negative_limit_and_beyond(void **state)
{
    struct histogram h = reserved();

    (void)state;
    histogram_record(&h, -5); /* counts as 0 */
    histogram_record(&h, 0);
    histogram_record(&h, HISTOGRAM_LIMIT);
    histogram_record(&h, HISTOGRAM_LIMIT + 1);
    histogram_record(&h, INT64_MAX);
    histogram_record_infinite(&h);
    histogram_record_many(&h, 7, 0);
    histogram_record_many(&h, 7, -3);
    assert_int_equal(h.total, 3);
    assert_int_equal(h.beyond, 3);
    assert_int_equal(h.low, 0);
    assert_int_equal(h.high, HISTOGRAM_LIMIT);
    /* six values: 0, 0, limit, three infinite */
    assert_int_equal(histogram_quantile(&h, 2.0 / 6), 0);
    assert_int_equal(histogram_quantile(&h, 0.5), HISTOGRAM_LIMIT);
    assert_int_equal(histogram_quantile(&h, 0.51), INT64_MAX);
    assert_int_equal(histogram_quantile(&h, 1), INT64_MAX);
    assert_int_equal(histogram_count_above(&h, -1), 6);
    assert_int_equal(histogram_count_above(&h, 0), 4);
    assert_int_equal(histogram_count_above(&h, HISTOGRAM_LIMIT), 3);
    assert_int_equal(histogram_count_above(&h, INT64_MAX), 3);
    histogram_free(&h);
}

/* Rank ceil(q n) with decimal q, though 0.07 x 100 is 7.000000000000001 in doubles and 0.29 x 100
 * is 28.999999999999996. */
static void ranks_of_decimal_quantiles(void **state)
{
    struct histogram h = reserved();

    (void)state;
    for (int value = 1; value <= 100; value++)
        histogram_record(&h, value);
    for (int percent = 1; percent <= 100; percent++)
        assert_int_equal(histogram_quantile(&h, percent / 100.0), percent);
    assert_int_equal(histogram_quantile(&h, 0.0701), 8);
    assert_int_equal(histogram_quantile(&h, -1), 1);
    assert_int_equal(histogram_quantile(&h, 2), 100);
    assert_int_equal(histogram_quantile(&h, (double)NAN), 1);
    histogram_free(&h);
}

#define SAMPLE 5000
static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* Values whose logarithms are uniform up to 2^45: every magnitude is met. */
static void draw_values(uint64_t seed, int64_t *values)
{
    for (size_t i = 0; i < SAMPLE; i++)
        values[i] = (int64_t)exp2(45 * random_uniform_of(random_key_ordinal(seed, i)));
}

static void quantiles_match_the_sorted_values(void **state)
{
    static const double quantiles[] = {0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};
    int64_t values[SAMPLE];

    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct histogram h = reserved();
        double sum = 0;

        draw_values(seed, values);
        for (size_t i = 0; i < SAMPLE; i++) {
            histogram_record(&h, values[i]);
            sum += (double)values[i];
        }
        qsort(values, SAMPLE, sizeof *values, ascending);
        for (size_t j = 0; j < sizeof quantiles / sizeof quantiles[0]; j++) {
            double rank = ceil(quantiles[j] * SAMPLE - 1e-6);
            int64_t exact = values[rank < 1 ? 0 : (size_t)rank - 1];
            int64_t got = histogram_quantile(&h, quantiles[j]);

            assert_true(got >= exact);
            assert_true(got - exact < histogram_bucket_width(exact));
            assert_true(got <= values[SAMPLE - 1]);
        }
        for (size_t i = 0; i < SAMPLE; i += 97) {
            int64_t above = 0;

            for (size_t k = 0; k < SAMPLE; k++)
                above += histogram_index(values[k]) > histogram_index(values[i]);
            assert_int_equal(histogram_count_above(&h, values[i]), above);
        }
        assert_int_equal(h.low, values[0]);
        assert_int_equal(h.high, values[SAMPLE - 1]);
        assert_near(histogram_mean(&h), sum / SAMPLE, sum / SAMPLE * 1e-12);
        histogram_free(&h);
    }
}

static void assert_same_counts(const struct histogram *a, const struct histogram *b)
{
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->beyond, b->beyond);
    assert_memory_equal(a->counts, b->counts, HISTOGRAM_COUNTS * sizeof *a->counts);
}

/* The parts added in either order are the whole; the whole less one part is the others together. */
static void parts_add_up_and_come_off(void **state)
{
    struct histogram part[4], forward, backward, whole = reserved(), rest = reserved();
    int64_t values[SAMPLE];

    (void)state;
    histogram_init(&forward); /* not reserved: add does it */
    histogram_init(&backward);
    for (uint64_t p = 0; p < 4; p++) {
        part[p] = reserved();
        draw_values(100 + p, values);
        for (size_t i = 0; i < SAMPLE; i++) {
            histogram_record(&part[p], values[i]);
            histogram_record(&whole, values[i]);
            if (p != 2)
                histogram_record(&rest, values[i]);
        }
        histogram_record_infinite(&part[p]);
        histogram_record_infinite(&whole);
        if (p != 2)
            histogram_record_infinite(&rest);
    }
    for (int p = 0; p < 4; p++) {
        assert_int_equal(histogram_add(&forward, &part[p], NULL), 0);
        assert_int_equal(histogram_add(&backward, &part[3 - p], NULL), 0);
    }
    assert_same_counts(&forward, &whole);
    assert_same_counts(&backward, &whole);
    assert_int_equal(forward.low, whole.low);
    assert_int_equal(forward.high, whole.high);
    assert_near(histogram_mean(&forward), histogram_mean(&whole), histogram_mean(&whole) * 1e-12);

    histogram_subtract(&forward, &part[2]);
    assert_same_counts(&forward, &rest);
    assert_int_equal(forward.high, whole.high); /* as the header says: of the whole */
    for (int q = 0; q < 100; q++)
        assert_int_equal(histogram_quantile(&forward, q / 100.0), histogram_quantile(&rest, q / 100.0));

    histogram_reset(&whole);
    assert_non_null(whole.counts);
    assert_int_equal(histogram_quantile(&whole, 0.5), -1);
    histogram_record(&whole, 9);
    assert_int_equal(histogram_quantile(&whole, 0.5), 9);
    for (int p = 0; p < 4; p++)
        histogram_free(&part[p]);
    histogram_free(&forward);
    histogram_free(&backward);
    histogram_free(&whole);
    histogram_free(&rest);
}

struct text {
    char bytes[16384];
    size_t length;
};

static void append(void *to, const char *line)
{
    struct text *text = to;
    size_t length = strlen(line);

    assert_true(length > 0 && line[length - 1] == '\n');
    assert_true(text->length + length < sizeof text->bytes);
    memcpy(text->bytes + text->length, line, length + 1);
    text->length += length;
}

/* The format as HdrHistogram prints it: 25, 50, 75 with 5 ticks a half distance. The ticks: steps of 10 % up
 * to 50 %, of 5 % up to 75 %, and so on; each line has the first value at which that share is reached. The
 * deviation of 25, 50, 75 is sqrt(2 x 625 / 3) = 20.412. */
static void hgrm_of_three_values(void **state)
{
    static struct text text;
    struct histogram h = reserved();

    (void)state;
    histogram_record(&h, 25);
    histogram_record(&h, 50);
    histogram_record(&h, 75);
    histogram_write_hgrm(&h, 1, append, &text);
    assert_string_equal(text.bytes, "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                    "\n"
                                    "      25.000 0.000000000000          1           1.00\n"
                                    "      25.000 0.100000000000          1           1.11\n"
                                    "      25.000 0.200000000000          1           1.25\n"
                                    "      25.000 0.300000000000          1           1.43\n"
                                    "      50.000 0.400000000000          2           1.67\n"
                                    "      50.000 0.500000000000          2           2.00\n"
                                    "      50.000 0.550000000000          2           2.22\n"
                                    "      50.000 0.600000000000          2           2.50\n"
                                    "      50.000 0.650000000000          2           2.86\n"
                                    "      75.000 0.700000000000          3           3.33\n"
                                    "      75.000 1.000000000000          3\n"
                                    "#[Mean    =       50.000, StdDeviation   =       20.412]\n"
                                    "#[Max     =       75.000, Total count    =            3]\n"
                                    "#[Buckets =           41, SubBuckets     =         2048]\n");
    histogram_free(&h);
}

/* The cubes of 1 to 200 in thousands, from an independent transcription of the iteration. 8,000,000 lies in
 * the bucket 7,999,488 to 8,003,583 (width 4,096). Two infinite values add one line and change nothing else.
 */
static void hgrm_of_wide_buckets(void **state)
{
    static struct text text;
    struct histogram h = reserved();

    (void)state;
    for (int64_t i = 1; i <= 200; i++)
        histogram_record(&h, i * i * i);
    histogram_record_infinite(&h);
    histogram_record_infinite(&h);
    histogram_write_hgrm(&h, 1000, append, &text);
    assert_string_equal(text.bytes, "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                    "\n"
                                    "       0.001 0.000000000000          1           1.00\n"
                                    "       8.003 0.100000000000         20           1.11\n"
                                    "      64.031 0.200000000000         40           1.25\n"
                                    "     216.063 0.300000000000         60           1.43\n"
                                    "     512.255 0.400000000000         80           1.67\n"
                                    "    1000.447 0.500000000000        100           2.00\n"
                                    "    1331.199 0.550000000000        110           2.22\n"
                                    "    1728.511 0.600000000000        120           2.50\n"
                                    "    2197.503 0.650000000000        130           2.86\n"
                                    "    2744.319 0.700000000000        140           3.33\n"
                                    "    3375.103 0.750000000000        150           4.00\n"
                                    "    3725.311 0.775000000000        155           4.44\n"
                                    "    4098.047 0.800000000000        160           5.00\n"
                                    "    4493.311 0.825000000000        165           5.71\n"
                                    "    4915.199 0.850000000000        170           6.67\n"
                                    "    5361.663 0.875000000000        175           8.00\n"
                                    "    5640.191 0.887500000000        178           8.89\n"
                                    "    5832.703 0.900000000000        180          10.00\n"
                                    "    6131.711 0.912500000000        183          11.43\n"
                                    "    6332.415 0.925000000000        185          13.33\n"
                                    "    6647.807 0.937500000000        188          16.00\n"
                                    "    6754.303 0.943750000000        189          17.78\n"
                                    "    6860.799 0.950000000000        190          20.00\n"
                                    "    7081.983 0.956250000000        192          22.86\n"
                                    "    7192.575 0.962500000000        193          26.67\n"
                                    "    7303.167 0.968750000000        194          32.00\n"
                                    "    7417.855 0.971875000000        195          35.56\n"
                                    "    7417.855 0.975000000000        195          40.00\n"
                                    "    7532.543 0.978125000000        196          45.71\n"
                                    "    7647.231 0.981250000000        197          53.33\n"
                                    "    7647.231 0.984375000000        197          64.00\n"
                                    "    7766.015 0.985937500000        198          71.11\n"
                                    "    7766.015 0.987500000000        198          80.00\n"
                                    "    7766.015 0.989062500000        198          91.43\n"
                                    "    7880.703 0.990625000000        199         106.67\n"
                                    "    7880.703 0.992187500000        199         128.00\n"
                                    "    7880.703 0.992968750000        199         142.22\n"
                                    "    7880.703 0.993750000000        199         160.00\n"
                                    "    7880.703 0.994531250000        199         182.86\n"
                                    "    8003.583 0.995312500000        200         213.33\n"
                                    "    8003.583 1.000000000000        200\n"
                                    "#[Mean    =     2020.104, StdDeviation   =     2285.481]\n"
                                    "#[Max     =     8003.583, Total count    =          200]\n"
                                    "#[Buckets =           41, SubBuckets     =         2048]\n"
                                    "#[Infinite values, not counted above = 2]\n");
    histogram_free(&h);
}

static void hgrm_of_nothing(void **state)
{
    static struct text text;
    struct histogram h;

    (void)state;
    histogram_init(&h);
    histogram_record_infinite(&h);
    histogram_write_hgrm(&h, 1e6, append, &text);
    assert_string_equal(text.bytes, "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                    "\n"
                                    "#[Mean    =        0.000, StdDeviation   =        0.000]\n"
                                    "#[Max     =        0.000, Total count    =            0]\n"
                                    "#[Buckets =           41, SubBuckets     =         2048]\n"
                                    "#[Infinite values, not counted above = 1]\n");
    histogram_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bucket_widths_are_hdrhistograms),
        cmocka_unit_test(buckets_tile_the_range),
        cmocka_unit_test(an_empty_one),
        cmocka_unit_test(one_outlier_in_ten_thousand),
        cmocka_unit_test(zero_negative_limit_and_beyond),
        cmocka_unit_test(ranks_of_decimal_quantiles),
        cmocka_unit_test(quantiles_match_the_sorted_values),
        cmocka_unit_test(parts_add_up_and_come_off),
        cmocka_unit_test(hgrm_of_three_values),
        cmocka_unit_test(hgrm_of_wide_buckets),
        cmocka_unit_test(hgrm_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
