#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/distribution.h"
#include "sim/engine/random.h"

static void assert_near(double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fmax(fabs(expected), 1e-300)))
        fail_msg("got %.17g, expected %.17g within %g", got, expected, relative);
}

static void assert_exactly(double got, double expected)
{
    if (!(got >= expected && got <= expected))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

/* One of each kind, and its distribution function from GSL or by hand. */
static const double list[5] = {5, 1, 4, 1, 9};

#define KINDS 11
static struct distribution make(int which)
{
    struct distribution d = {.kind = DISTRIBUTION_CONSTANT};
    int rc = -1;

    switch (which) {
    case 0:
        rc = distribution_constant(&d, 4.5, NULL);
        break;
    case 1:
        rc = distribution_uniform(&d, 2, 7, NULL);
        break;
    case 2:
        rc = distribution_exponential(&d, 3, NULL);
        break;
    case 3:
        rc = distribution_normal(&d, 10, 3, 4, 12, NULL);
        break;
    case 4:
        rc = distribution_normal(&d, -2, 1, 0, (double)INFINITY, NULL);
        break;
    case 5:
        rc = distribution_lognormal_quantiles(&d, 40, 120, NULL);
        break;
    case 6:
        rc = distribution_lognormal_moments(&d, 20, 0.8, NULL);
        break;
    case 7:
        rc = distribution_gamma(&d, 6, 1.5, NULL);
        break;
    case 8:
        rc = distribution_weibull(&d, 2, 1.5, NULL);
        break;
    case 9:
        rc = distribution_pareto(&d, 2, 9, NULL);
        break;
    case 10:
        rc = distribution_empirical(&d, list, 5, NULL);
        break;
    default:
        break;
    }
    assert_int_equal(rc, 0);
    return d;
}

static double cdf(int which, double x)
{
    struct distribution d = make(which);
    double p = -1;

    switch (which) {
    case 1:
        p = gsl_cdf_flat_P(x, 2, 7);
        break;
    case 2:
        p = gsl_cdf_exponential_P(x, 3);
        break;
    case 3:
        p = (gsl_cdf_gaussian_P(x - 10, 3) - gsl_cdf_gaussian_P(-6, 3)) /
            (gsl_cdf_gaussian_P(2, 3) - gsl_cdf_gaussian_P(-6, 3));
        break;
    case 4:
        p = 1 - gsl_cdf_ugaussian_Q(x + 2) / gsl_cdf_ugaussian_Q(2);
        break;
    case 5:
    case 6:
        p = gsl_cdf_lognormal_P(x, d.a, d.b);
        break;
    case 7:
        p = gsl_cdf_gamma_P(x, 1 / 2.25, 6 * 2.25);
        break;
    case 8:
        p = gsl_cdf_weibull_P(x, 2, 1.5);
        break;
    case 9:
        p = gsl_cdf_pareto_P(x, 9, 2);
        break;
    default:
        break;
    }
    distribution_free(&d);
    return p;
}

/* Closed forms worked out by hand, or by numerical integration elsewhere where there are none. */
static void means_and_variances(void **state)
{
    static const double expected[KINDS][2] = {
        {4.5, 0},                                 /* the value */
        {4.5, 25.0 / 12},                         /* (2 + 7) / 2, 5^2 / 12 */
        {3, 9},                                   /* m, m^2 */
        {8.9011892898376, 3.8071080006829},       /* integrated */
        {0.373215532822848, 0.114279100414077},   /* l = phi(2) / Q(2) = 2.37321553: l - 2, 1 + 2 l - l^2 */
        {44.718548459874654, 499.62290404589186}, /* sigma = ln 3 / 2.32635 = 0.472248, 40 exp(sigma^2 / 2) */
        {20, 256},                                /* (0.8 x 20)^2 */
        {6, 81},                                  /* (1.5 x 6)^2 */
        {1.8054905859018673, 1.502761139255727},  /* 2 Gamma(5/3), 4 (Gamma(7/3) - Gamma(5/3)^2) */
        {2.25, 9 * 4.0 / (64 * 7)},               /* 2 x 9 / 8; 9 x 2^2 / (8^2 x 7) */
        {4, 8.8}                                  /* 20 / 5; (1 + 9 + 0 + 9 + 25) / 5 */
    };

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct distribution d = make(k);

        assert_near(d.mean, expected[k][0], 1e-12);
        assert_near(distribution_variance(&d), expected[k][1], 1e-11);
        distribution_free(&d);
    }
}

/* Truncated normals where closed forms lose digits: one-sided, narrow, far out in the tail. References:
 * Simpson's rule on 400,000 panels elsewhere; (0, 1) on [0, inf) is the half-normal, sqrt(2 / pi) and 1 - 2 /
 * pi. */
static void truncated_normals(void **state)
{
    static const struct {
        double mean, sd, low, high, expected_mean, expected_variance;
    } cases[] = {
        {0, 1, 0, (double)INFINITY, 0.797884560802865, 0.363380227632419},
        {0, 1, 0, 1, 0.459862229286427, 0.0796518248485113},
        {10, 3, 0, (double)INFINITY, 10.0046288230332, 8.95369034366507},
        {-30, 1, 0, (double)INFINITY, 0.0332596674333737, 0.00110377151192045},
        {100, 1, 0, 83, 82.9415766854872, 0.00339036960036256},
        {5, 2, 5.001, 5.0011, 5.00104999999978, 8.33333333260005e-10},
        {0, 1, 5, 5.79, 5.1769680289805, 0.0253790508925658}, /* either side of the change of method */
        {0, 1, 5, 5.81, 5.17783723521543, 0.0258842992412213},
        {0, 1, 4, 8, 4.22560714441295, 0.0466728380999477},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct distribution d;
        double before = cases[i].low, sum = 0;
        int points = 20000;

        assert_int_equal(
            distribution_normal(&d, cases[i].mean, cases[i].sd, cases[i].low, cases[i].high, NULL), 0);
        assert_near(d.mean, cases[i].expected_mean, 1e-9);
        assert_near(distribution_variance(&d), cases[i].expected_variance, 1e-7);
        /* The quantiles rise, stay inside, and their average is the mean. */
        for (int k = 0; k < points; k++) {
            double x = distribution_quantile(&d, (k + 0.5) / points);

            assert_true(x >= before && x <= cases[i].high);
            before = x;
            sum += x;
        }
        assert_near(sum / points, d.mean, 5e-5);
    }
}

#define DRAWS 200000
/*
 * Means within 5 standard errors of the exact ones, variances within 5 of theirs (from the sample's fourth
 * moment), and as many draws below each quantile as there should be, within 5 standard deviations of the
 * binomial. One seed, chosen once.
 */
static void samples_agree_with_the_formulas(void **state)
{
    static const double quantiles[] = {0.01, 0.1, 0.5, 0.9, 0.99};
    static double x[DRAWS];

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct distribution d = make(k);
        double variance = distribution_variance(&d);
        double sum = 0, squares = 0, fourths = 0;
        struct stream s;

        assert_int_equal(stream_open(&s, random_key(20261201, "test", "sample", (uint64_t)k), NULL), 0);
        for (int i = 0; i < DRAWS; i++) {
            double off;

            x[i] = distribution_draw(&d, s.rng);
            assert_true(x[i] >= 0 && isfinite(x[i]));
            off = x[i] - d.mean;
            sum += off;
            squares += off * off;
            fourths += off * off * off * off;
        }
        squares /= DRAWS;
        fourths /= DRAWS;
        assert_true(fabs(sum / DRAWS) <= 5 * sqrt(variance / DRAWS));
        assert_true(fabs(squares - variance) <= 5 * sqrt((fourths - squares * squares) / DRAWS));
        for (size_t j = 0; j < sizeof quantiles / sizeof quantiles[0] && d.kind != DISTRIBUTION_EMPIRICAL &&
                           d.kind != DISTRIBUTION_CONSTANT;
             j++) {
            double p = quantiles[j], at = distribution_quantile(&d, p);
            int below = 0;

            for (int i = 0; i < DRAWS; i++)
                below += x[i] <= at;
            assert_true(fabs(below - p * DRAWS) <= 5 * sqrt(p * (1 - p) * DRAWS));
        }
        stream_close(&s);
        distribution_free(&d);
    }
}

static void quantiles_invert_the_distribution_function(void **state)
{
    static const double quantiles[] = {1e-6, 0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 0.999999};

    (void)state;
    for (int k = 1; k < KINDS - 1; k++) {
        struct distribution d = make(k);

        for (size_t j = 0; j < sizeof quantiles / sizeof quantiles[0]; j++)
            assert_near(cdf(k, distribution_quantile(&d, quantiles[j])), quantiles[j], 1e-8);
    }
}

/* Distribution function of the standard gamma by Simpson's rule over 12 standard deviations below x: for
 * large shapes, where GSL's is off by up to 1e-6 near the centre. */
static double gamma_integral(double x, double shape)
{
    double low = shape - 12 * sqrt(shape), step = (x - low) / 20000, sum = 0;

    for (int i = 0; i <= 20000; i++) {
        double t = low + i * step, off = (t - shape) / shape;
        /* t^(a-1) e^-t / Gamma(a) with Stirling's series for Gamma(a), in terms of the distance from a */
        double density = exp(shape * (log1p(off) - off) - 1 / (12 * shape)) / (t / shape) /
                         sqrt(2 * M_PI * shape);

        sum += density * (i == 0 || i == 20000 ? 1 : i % 2 ? 4 : 2);
    }
    return sum * step / 3;
}

/* Shapes from 10^-6 to 10^18, either side of the change of method: quantiles rise with p, invert the
 * distribution function and stay within reach of the mean. (GSL's own inverse
 * aborts on some of these.) */
static void gamma_of_every_shape(void **state)
{
    static const double cvs[] = {1000,  30,     5,      1,      0.3,     0.05, 0.0101, 0.0099,
                                 0.004, 0.0033, 0.0031, 0.0014, 0.00105, 1e-4, 1e-6,   1e-9};

    (void)state;
    for (size_t i = 0; i < sizeof cvs / sizeof cvs[0]; i++) {
        double shape = 1 / (cvs[i] * cvs[i]), before = 0;
        struct distribution d;

        assert_int_equal(distribution_gamma(&d, 2, cvs[i], NULL), 0);
        for (int k = 1; k < 400; k++) {
            double p = k / 400.0, x = distribution_quantile(&d, p);

            assert_true(x >= before);
            assert_true(fabs(x - 2) <= 2 * fmax(cvs[i] * 4, 4 * cvs[i] * cvs[i] * 10));
            if (shape < 1e4 && x > 1e-300) /* below: few digits are left */
                assert_near(gsl_cdf_gamma_P(x, shape, 2 / shape), p, 1e-8);
            else if (shape > 1e4 && shape < 1e9 && k % 57 == 1)
                assert_near(gamma_integral(x * shape / 2, shape), p, 1e-8);
            before = x;
        }
        assert_true(isfinite(distribution_quantile(&d, 1e-15)));
        assert_true(isfinite(distribution_quantile(&d, 1 - 1e-16)));
    }
}

static void quantiles_at_the_ends(void **state)
{
    static const double least[KINDS] = {4.5, 2, 0, 4, 0, 0, 0, 0, 0, 2, 1};
    static const double largest[KINDS] = {4.5, 7, -1, 12, -1, -1, -1, -1, -1, -1, 9}; /* -1: infinite */

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct distribution d = make(k);

        assert_exactly(distribution_quantile(&d, 0), least[k]);
        assert_exactly(distribution_quantile(&d, 1), largest[k] < 0 ? (double)INFINITY : largest[k]);
        distribution_free(&d);
    }
}

static void lognormal_keeps_its_quantiles(void **state)
{
    struct distribution d;

    (void)state;
    assert_int_equal(distribution_lognormal_quantiles(&d, 40, 120, NULL), 0);
    assert_near(distribution_quantile(&d, 0.5), 40, 1e-12);
    assert_near(distribution_quantile(&d, 0.99), 120, 1e-12);
}

static void empirical_is_nearest_rank(void **state)
{
    double values[100];
    struct distribution d;

    (void)state;
    /* 1 1 4 5 9: rank ceil(5 p) */
    assert_int_equal(distribution_empirical(&d, list, 5, NULL), 0);
    assert_exactly(distribution_quantile(&d, 0.4), 1);
    assert_exactly(distribution_quantile(&d, 0.41), 4);
    assert_exactly(distribution_quantile(&d, 0.6), 4);
    assert_exactly(distribution_quantile(&d, 0.8), 5);
    assert_exactly(distribution_quantile(&d, 0.81), 9);
    distribution_free(&d);
    for (int i = 0; i < 100; i++)
        values[i] = 100 - i;
    assert_int_equal(distribution_empirical(&d, values, 100, NULL), 0);
    assert_exactly(values[0], 100); /* the caller's list is left alone */
    for (int percent = 1; percent <= 100; percent++)
        assert_exactly(distribution_quantile(&d, percent / 100.0), percent);
    distribution_free(&d);
    distribution_free(&d); /* harmless twice */
}

static void no_spread_is_a_constant(void **state)
{
    static const double same[3] = {6, 6, 6};
    struct distribution d[8];
    gsl_rng *rng = gsl_rng_alloc(random_xoshiro256pp);
    uint64_t first;

    (void)state;
    assert_int_equal(distribution_uniform(&d[0], 6, 6, NULL), 0);
    assert_int_equal(distribution_normal(&d[1], 6, 0, 0, 10, NULL), 0);
    assert_int_equal(distribution_normal(&d[2], 1, 5, 6, 6, NULL), 0);
    assert_int_equal(distribution_lognormal_quantiles(&d[3], 6, 6, NULL), 0);
    assert_int_equal(distribution_lognormal_moments(&d[4], 6, 0, NULL), 0);
    assert_int_equal(distribution_gamma(&d[5], 6, 0, NULL), 0);
    assert_int_equal(distribution_empirical(&d[6], same, 3, NULL), 0);
    assert_int_equal(distribution_constant(&d[7], 6, NULL), 0);
    gsl_rng_set(rng, 1);
    first = gsl_rng_get(rng);
    gsl_rng_set(rng, 1);
    for (int i = 0; i < 8; i++) {
        assert_true(distribution_is_constant(&d[i]));
        assert_false(distribution_is_zero(&d[i]));
        assert_exactly(distribution_draw(&d[i], rng), 6);
        assert_exactly(distribution_quantile(&d[i], 0.3), 6);
        assert_exactly(distribution_variance(&d[i]), 0);
        distribution_free(&d[i]);
    }
    assert_true(gsl_rng_get(rng) == first); /* none of them drew */
    assert_int_equal(distribution_constant(&d[0], 0, NULL), 0);
    assert_true(distribution_is_zero(&d[0]));
    gsl_rng_free(rng);
}

/* Uniform, exponential, normal, weibull, pareto, empirical: exactly one number of the generator a draw. */
static void draws_are_fixed_in_number(void **state)
{
    static const int kinds[] = {1, 2, 3, 4, 8, 9, 10};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct distribution d = make(kinds[i]);
        struct stream drawn, counted;

        assert_int_equal(stream_open(&drawn, 3, NULL), 0);
        assert_int_equal(stream_open(&counted, 3, NULL), 0);
        for (int draw = 0; draw < 500; draw++) {
            distribution_draw(&d, drawn.rng);
            stream_bits(&counted);
        }
        assert_true(stream_bits(&drawn) == stream_bits(&counted));
        stream_close(&drawn);
        stream_close(&counted);
        distribution_free(&d);
    }
}

static void scaling_scales_everything(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct distribution d = make(k), scaled = make(k);
        gsl_rng *a = gsl_rng_alloc(random_xoshiro256pp), *b = gsl_rng_alloc(random_xoshiro256pp);

        gsl_rng_set(a, 8);
        gsl_rng_set(b, 8);
        distribution_scale(&scaled, 2.5);
        assert_near(scaled.mean, 2.5 * d.mean, 1e-12);
        assert_near(distribution_variance(&scaled), 6.25 * distribution_variance(&d), 1e-10);
        for (int i = 1; i < 20; i++) {
            assert_near(distribution_quantile(&scaled, i / 20.0), 2.5 * distribution_quantile(&d, i / 20.0),
                        1e-10);
            assert_near(distribution_draw(&scaled, b), 2.5 * distribution_draw(&d, a), 1e-9);
        }
        gsl_rng_free(a);
        gsl_rng_free(b);
        distribution_free(&d);
        distribution_free(&scaled);
    }
}

static void copies_are_independent(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct distribution d = make(k), copy;

        assert_int_equal(distribution_copy(&copy, &d, NULL), 0);
        distribution_scale(&d, 100);
        distribution_free(&d);
        d = make(k);
        assert_exactly(copy.mean, d.mean);
        assert_exactly(distribution_quantile(&copy, 0.7), distribution_quantile(&d, 0.7));
        distribution_free(&d);
        distribution_free(&copy);
    }
}

static void draws_as_time(void **state)
{
    struct distribution d;

    (void)state;
    assert_int_equal(distribution_constant(&d, 1.5, NULL), 0);
    assert_int_equal(distribution_draw_time(&d, NULL),
                     1500 * SIM_MILLISECOND); /* a constant asks no generator */
    assert_int_equal(distribution_constant(&d, 0.4e-9, NULL), 0);
    assert_int_equal(distribution_draw_time(&d, NULL), 0);
    assert_int_equal(distribution_constant(&d, 0.6e-9, NULL), 0);
    assert_int_equal(distribution_draw_time(&d, NULL), 1);
    assert_int_equal(distribution_constant(&d, 1e300, NULL), 0);
    assert_int_equal(distribution_draw_time(&d, NULL), SIM_TIME_LIMIT);
}

/* The constructor that failed must have said which parameter, and left a harmless constant 0. */
static void assert_refused(int rc, struct distribution *d, struct error *err, const char *parameter)
{
    assert_int_equal(rc, -1);
    assert_int_equal(err->code, ERROR_INPUT);
    if (strncmp(err->message, parameter, strlen(parameter)) != 0)
        fail_msg("'%s' does not start with '%s'", err->message, parameter);
    assert_true(distribution_is_zero(d));
    distribution_free(d);
    error_clear(err);
}

static void bad_parameters_are_named(void **state)
{
    static const double bad[] = {-1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    const double inf = (double)INFINITY;
    double with_bad[3] = {1, 2, 3};
    struct error err = {.code = ERROR_NONE};
    struct distribution d;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double x = bad[i];

        assert_refused(distribution_constant(&d, x, &err), &d, &err, "value is");
        assert_refused(distribution_uniform(&d, x, 5, &err), &d, &err, "low is");
        assert_refused(distribution_uniform(&d, 5, x, &err), &d, &err, "high is");
        assert_refused(distribution_exponential(&d, x, &err), &d, &err, "mean is");
        assert_refused(distribution_normal(&d, 5, x, 0, 9, &err), &d, &err, "sd is");
        assert_refused(distribution_normal(&d, 5, 1, x, 9, &err), &d, &err, "low is");
        assert_refused(distribution_lognormal_quantiles(&d, x, 9, &err), &d, &err, "median is");
        assert_refused(distribution_lognormal_quantiles(&d, 5, x, &err), &d, &err, "p99 is");
        assert_refused(distribution_lognormal_moments(&d, x, 1, &err), &d, &err, "mean is");
        assert_refused(distribution_lognormal_moments(&d, 5, x, &err), &d, &err, "cv is");
        assert_refused(distribution_gamma(&d, x, 1, &err), &d, &err, "mean is");
        assert_refused(distribution_gamma(&d, 5, x, &err), &d, &err, "cv is");
        assert_refused(distribution_weibull(&d, x, 1, &err), &d, &err, "scale is");
        assert_refused(distribution_weibull(&d, 5, x, &err), &d, &err, "shape is");
        assert_refused(distribution_pareto(&d, x, 2, &err), &d, &err, "least is");
        assert_refused(distribution_pareto(&d, 5, x, &err), &d, &err, "exponent is");
        with_bad[2] = x;
        assert_refused(distribution_empirical(&d, with_bad, 3, &err), &d, &err, "a value of the list is");
    }
    assert_refused(distribution_normal(&d, inf, 1, 0, 9, &err), &d, &err, "mean is");
    assert_refused(distribution_normal(&d, (double)NAN, 1, 0, 9, &err), &d, &err, "mean is");
    assert_refused(distribution_normal(&d, 5, 1, 0, (double)NAN, &err), &d, &err, "high is");
    assert_refused(distribution_empirical(&d, NULL, 0, &err), &d, &err, "an empirical distribution needs");
}

static void contradictory_parameters_are_named(void **state)
{
    static const double huge[3] = {1e308, 1e308, 1};
    struct error err = {.code = ERROR_NONE};
    struct distribution d;

    (void)state;
    assert_refused(distribution_uniform(&d, 5, 4, &err), &d, &err, "high is 4");
    assert_refused(distribution_normal(&d, 5, 1, 6, 5, &err), &d, &err, "high is 5");
    assert_refused(distribution_normal(&d, 5, 0, 6, 9, &err), &d, &err, "mean is 5");
    assert_refused(distribution_normal(&d, -50, 1, 0, 9, &err), &d, &err, "mean is -50");
    assert_refused(distribution_lognormal_quantiles(&d, 5, 4, &err), &d, &err, "p99 is 4");
    assert_refused(distribution_exponential(&d, 0, &err), &d, &err, "mean is 0");
    assert_refused(distribution_lognormal_moments(&d, 0, 1, &err), &d, &err, "mean is 0");
    assert_refused(distribution_lognormal_moments(&d, 1, 1e200, &err), &d, &err, "cv is");
    assert_refused(distribution_gamma(&d, 1, 5000, &err), &d, &err, "cv is 5000");
    assert_refused(distribution_weibull(&d, 1, 0.001, &err), &d, &err, "the mean that follows");
    assert_refused(distribution_pareto(&d, 1, 1, &err), &d, &err, "exponent is 1");
    assert_refused(distribution_empirical(&d, huge, 3, &err), &d, &err, "the sum of the list");
    assert_refused(distribution_lognormal_quantiles(&d, 1e-300, 1e300, &err), &d, &err,
                   "the mean that follows");
}

static void a_pareto_without_variance(void **state)
{
    struct distribution d;

    (void)state;
    assert_int_equal(distribution_pareto(&d, 1, 2, NULL), 0);
    assert_true(isinf(distribution_variance(&d)));
    assert_exactly(d.mean, 2);
}

static void descriptions(void **state)
{
    static const char *const expected[KINDS] = {"constant 4.5",
                                                "uniform, mean 4.5, p99 6.95",   /* 2 + 0.99 x 5 */
                                                "exponential, mean 3, p99 13.8", /* 3 ln 100 = 13.816 */
                                                NULL,
                                                NULL,
                                                "lognormal, mean 44.7, p99 120",
                                                NULL,
                                                NULL,
                                                "weibull, mean 1.81, p99 5.54", /* 2 (ln 100)^(2/3) = 5.536 */
                                                "pareto, mean 2.25, p99 3.34",  /* 2 x 100^(1/9) = 3.336 */
                                                "empirical (5 values), mean 4, p99 9"};
    struct distribution d;
    char text[80];

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        d = make(k);
        distribution_describe(&d, text, sizeof text);
        assert_true(strlen(text) > 0);
        if (expected[k])
            assert_string_equal(text, expected[k]);
        distribution_free(&d);
    }
    assert_int_equal(distribution_constant(&d, 1234567, NULL), 0);
    distribution_describe(&d, text, sizeof text);
    assert_string_equal(text, "constant 1234567");
    distribution_describe(&d, text, 6);
    assert_string_equal(text, "const");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_variances),
        cmocka_unit_test(truncated_normals),
        cmocka_unit_test(samples_agree_with_the_formulas),
        cmocka_unit_test(quantiles_invert_the_distribution_function),
        cmocka_unit_test(gamma_of_every_shape),
        cmocka_unit_test(quantiles_at_the_ends),
        cmocka_unit_test(lognormal_keeps_its_quantiles),
        cmocka_unit_test(empirical_is_nearest_rank),
        cmocka_unit_test(no_spread_is_a_constant),
        cmocka_unit_test(draws_are_fixed_in_number),
        cmocka_unit_test(scaling_scales_everything),
        cmocka_unit_test(copies_are_independent),
        cmocka_unit_test(draws_as_time),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(contradictory_parameters_are_named),
        cmocka_unit_test(a_pareto_without_variance),
        cmocka_unit_test(descriptions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
