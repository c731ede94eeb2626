#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/random.h"

static gsl_rng *generator(unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(random_xoshiro256pp);

    assert_non_null(rng);
    gsl_rng_set(rng, seed);
    return rng;
}

/* The authors' reference code started in state 1, 2, 3, 4. First: rotl(1 + 4, 23) + 1 = 5 x 2^23 + 1 =
 * 41943041. */
static void xoshiro_from_a_known_state(void **state)
{
    static const uint64_t start[4] = {1, 2, 3, 4};
    static const uint64_t expected[10] = {41943041U,
                                          58720359U,
                                          3588806011781223U,
                                          3591011842654386U,
                                          9228616714210784205U,
                                          9973669472204895162U,
                                          14011001112246962877U,
                                          12406186145184390807U,
                                          15849039046786891736U,
                                          10450023813501588000U};
    gsl_rng *rng = generator(0);

    (void)state;
    assert_int_equal(gsl_rng_size(rng), sizeof start);
    memcpy(gsl_rng_state(rng), start, sizeof start);
    for (int i = 0; i < 10; i++)
        assert_true(gsl_rng_get(rng) == expected[i]);
    gsl_rng_free(rng);
}

/* SplitMix64 of 0 and of 1,234,567 as published; the seeded state is its first four values. */
static void splitmix_seeds_the_state(void **state)
{
    static const uint64_t expected[4] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                         0xf88bb8a8724c81ec};
    gsl_rng *rng = generator(0);

    (void)state;
    assert_memory_equal(gsl_rng_state(rng), expected, sizeof expected);
    assert_true(random_hash(0) == expected[0]);
    assert_true(random_hash(1234567) == 6457827717110365317U);
    gsl_rng_free(rng);
}

/* GSL's custom: the value at draw 10,000; from an independent transcription of both algorithms. */
static void known_answers_at_ten_thousand(void **state)
{
    static const struct {
        unsigned long seed;
        uint64_t first, last;
    } answers[] = {{0, 0x53175d61490b23df, 0x619df8b7cdd5c1a7},
                   {1, 0xcfc5d07f6f03c29b, 0xc63d128bab8beb4b},
                   {42, 0xd0764d4f4476689f, 0xabe37b7688f13ec1}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        gsl_rng *rng = generator(answers[i].seed);
        uint64_t last = gsl_rng_get(rng);

        assert_true(last == answers[i].first);
        for (int draw = 2; draw <= 10000; draw++)
            last = gsl_rng_get(rng);
        assert_true(last == answers[i].last);
        gsl_rng_free(rng);
    }
}

static void gsl_knows_its_range(void **state)
{
    gsl_rng *rng = generator(5), *copy;

    (void)state;
    assert_string_equal(gsl_rng_name(rng), "xoshiro256++");
    assert_true(gsl_rng_max(rng) == UINT64_MAX);
    assert_true(gsl_rng_min(rng) == 0);
    copy = gsl_rng_clone(rng);
    for (int i = 0; i < 1000; i++) {
        double u = gsl_rng_uniform(rng);

        assert_true(u >= 0 && u < 1);
        assert_true(u == (double)(gsl_rng_get(copy) >> 11) / 9007199254740992.0); /* 53 bits */
    }
    gsl_rng_free(rng);
    gsl_rng_free(copy);
}

/* Chi-square of n draws over k equally likely classes, below the 1 - 1e-6 quantile. Seeds are fixed: it
 * passes always or never. */
static void assert_uniform_counts(const int *count, int classes, int draws)
{
    double expected = (double)draws / classes, chi2 = 0;

    for (int i = 0; i < classes; i++)
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
    assert_true(chi2 < gsl_cdf_chisq_Qinv(1e-6, classes - 1));
    assert_true(chi2 > gsl_cdf_chisq_Pinv(1e-6, classes - 1));
}

/* gsl_rng_uniform_int divides max - min by n: a generator of the full 64 bits is the border case. */
static void integers_of_every_range(void **state)
{
    gsl_rng *rng = generator(11);
    int faces[6] = {0}, halves[2] = {0}, thirds[3] = {0};
    unsigned long large = 3UL << 62; /* 3/4 of the range: a quarter of the draws is refused */

    (void)state;
    for (int i = 0; i < 60000; i++) {
        unsigned long die = gsl_rng_uniform_int(rng, 6);
        unsigned long wide = gsl_rng_uniform_int(rng, ULONG_MAX);
        unsigned long third = gsl_rng_uniform_int(rng, large);

        assert_true(die < 6 && wide < ULONG_MAX && third < large);
        assert_int_equal(gsl_rng_uniform_int(rng, 1), 0);
        faces[die]++;
        halves[wide >> 63]++;
        thirds[third >> 62]++;
    }
    assert_uniform_counts(faces, 6, 60000);
    assert_uniform_counts(halves, 2, 60000);
    assert_uniform_counts(thirds, 3, 60000);
    gsl_rng_free(rng);
}

#define DRAWS 200000
/* Sample mean of `count` draws within 5 standard errors. */
static void assert_mean(double sum, double mean, double sd)
{
    assert_true(fabs(sum / DRAWS - mean) < 5 * sd / sqrt(DRAWS));
}

static void gsl_distributions_work_on_it(void **state)
{
    gsl_rng *rng = generator(2026);
    double gauss = 0, gauss2 = 0, exponential = 0, poisson = 0, binomial = 0, gamma = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double z = gsl_ran_gaussian_ziggurat(rng, 1);

        gauss += z;
        gauss2 += z * z;
        exponential += gsl_ran_exponential(rng, 3);
        poisson += gsl_ran_poisson(rng, 40);
        binomial += gsl_ran_binomial(rng, 0.3, 50);
        gamma += gsl_ran_gamma(rng, 0.5, 2);
    }
    assert_mean(gauss, 0, 1);
    assert_mean(gauss2, 1, sqrt(2));
    assert_mean(exponential, 3, 3);
    assert_mean(poisson, 40, sqrt(40));
    assert_mean(binomial, 15, sqrt(50 * 0.3 * 0.7));
    assert_mean(gamma, 1, sqrt(2));
    gsl_rng_free(rng);
}

static void keys_tell_all_parts_apart(void **state)
{
    uint64_t keys[] = {random_key(1, "ab", "c", 0),
                       random_key(1, "a", "bc", 0),
                       random_key(1, "abc", "", 0),
                       random_key(1, "", "abc", 0),
                       random_key(1, "c", "ab", 0),
                       random_key(2, "ab", "c", 0),
                       random_key(1, "ab", "c", 1),
                       random_key(1, "ab", "c\x80", 0),
                       random_key(1, "chat", "arrivals", 0),
                       random_key(1, "chat", "arrivals!", 0),
                       random_key(1, "chat", "arrivals", 1),
                       random_key(0, "", "", 0),
                       random_key(0, "", "", 1),
                       random_key(UINT64_MAX, "", "", UINT64_MAX)};

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(keys[i] != keys[j]);
    }
}

/* Pinned, from an independent transcription: a change here would change every result that anybody ever
 * stored. */
static void keys_never_change(void **state)
{
    (void)state;
    assert_true(random_key(1, "chat", "arrivals", 0) == 0xcc62e9b2efb901d8);
    assert_true(random_key(7, "embedding-service", "size", 9) == 0xb294dca9bcaecb2);
    assert_true(random_key_ordinal(0, 0) == 0x98bc9b3a9f64da94);
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* 100 x 100 x 4 related names: all keys differ, and their top bits are spread evenly. */
static void related_keys_are_spread(void **state)
{
    static uint64_t keys[40000];
    int top[64] = {0};
    size_t n = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        for (uint64_t replication = 0; replication < 100; replication++) {
            keys[n++] = random_key(seed, "a", "p", replication);
            keys[n++] = random_key(seed, "b", "p", replication);
            keys[n++] = random_key_ordinal(random_key(seed, "a", "p", 0), replication + 1);
            keys[n++] = random_key_ordinal(random_hash(seed), random_hash(replication));
        }
    }
    for (size_t i = 0; i < n; i++)
        top[keys[i] >> 58]++;
    assert_uniform_counts(top, 64, (int)n);
    qsort(keys, n, sizeof *keys, ascending);
    for (size_t i = 1; i < n; i++)
        assert_true(keys[i] != keys[i - 1]);
}

static struct stream opened(uint64_t key)
{
    struct stream s;

    assert_int_equal(stream_open(&s, key, NULL), 0);
    return s;
}

static void equal_keys_give_equal_streams(void **state)
{
    struct stream a = opened(99), b = opened(99), c = opened(100), zero = {.rng = NULL};
    int same = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t bits = stream_bits(&a);

        assert_true(bits == gsl_rng_get(b.rng));
        same += bits == stream_bits(&c);
    }
    assert_int_equal(same, 0);
    assert_true(stream_uniform(&a) == gsl_rng_uniform(b.rng));
    stream_close(&a);
    stream_close(&b);
    stream_close(&c);
    stream_close(&zero);
}

/* A sub-stream depends on its ordinal alone, not on what was drawn or re-keyed before. */
static void rekeyed_streams_forget(void **state)
{
    struct stream s = opened(5), direct = opened(random_key_ordinal(5, 3));
    uint64_t first[4];

    (void)state;
    stream_rekey(&s, 3);
    for (int i = 0; i < 4; i++)
        assert_true((first[i] = stream_bits(&s)) == stream_bits(&direct));
    stream_rekey(&s, 8);
    assert_true(stream_bits(&s) != first[0]);
    for (int i = 0; i < 77; i++)
        stream_uniform(&s);
    stream_rekey(&s, 3);
    for (int i = 0; i < 4; i++)
        assert_true(stream_bits(&s) == first[i]);
    stream_close(&s);
    stream_close(&direct);
}

/* First draws of consecutive ordinals: uniform, and not correlated from one to the next. */
static void neighbouring_substreams_are_independent(void **state)
{
    struct stream s = opened(random_key(1, "chat", "replica", 0));
    int classes[100] = {0};
    double before = 0.5, products = 0;
    int n = 100000;

    (void)state;
    for (int i = 0; i < n; i++) {
        double u;

        stream_rekey(&s, (uint64_t)i);
        u = stream_uniform(&s);
        classes[(int)(u * 100)]++;
        products += (u - 0.5) * (before - 0.5);
        before = u;
    }
    assert_uniform_counts(classes, 100, n);
    /* products of independent uniforms: mean 0, variance 1/144 */
    assert_true(fabs(products / n) < 5.0 / 12 / sqrt(n));
    stream_close(&s);
}

static void hashes_of_numbers_are_uniform(void **state)
{
    int classes[100] = {0};

    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        double u = random_uniform_of(i);

        assert_true(u >= 0 && u < 1);
        classes[(int)(u * 100)]++;
    }
    assert_uniform_counts(classes, 100, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xoshiro_from_a_known_state),
        cmocka_unit_test(splitmix_seeds_the_state),
        cmocka_unit_test(known_answers_at_ten_thousand),
        cmocka_unit_test(gsl_knows_its_range),
        cmocka_unit_test(integers_of_every_range),
        cmocka_unit_test(gsl_distributions_work_on_it),
        cmocka_unit_test(keys_tell_all_parts_apart),
        cmocka_unit_test(keys_never_change),
        cmocka_unit_test(related_keys_are_spread),
        cmocka_unit_test(equal_keys_give_equal_streams),
        cmocka_unit_test(rekeyed_streams_forget),
        cmocka_unit_test(neighbouring_substreams_are_independent),
        cmocka_unit_test(hashes_of_numbers_are_uniform),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
