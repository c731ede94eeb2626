#include "sim/engine/distribution.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "distribution"

/* Least share of a normal that must lie inside its bounds: below, its quantiles are no longer exact. */
#define NORMAL_SHARE_MIN 1e-300

static int refuse(struct distribution *d, struct error *err, const char *what, double value,
                  const char *range)
{
    *d = (struct distribution){.kind = DISTRIBUTION_CONSTANT};
    return error_set(err, ERROR_INPUT, PLACE, "%s is %g; it must be %s", what, value, range);
}

/* Sets the mean last, so that one place refuses means that overflow. */
static int finish(struct distribution *d, double mean, struct error *err)
{
    if (!isfinite(mean))
        return refuse(d, err, "the mean that follows from the parameters", mean, "finite");
    d->mean = mean;
    return 0;
}

static bool is_positive(double x)
{
    return isfinite(x) && x > 0;
}

static bool is_non_negative(double x)
{
    return isfinite(x) && x >= 0;
}

int distribution_constant(struct distribution *d, double value, struct error *err)
{
    if (!is_non_negative(value))
        return refuse(d, err, "value", value, "finite and not negative");
    *d = (struct distribution){.kind = DISTRIBUTION_CONSTANT, .a = value};
    return finish(d, value, err);
}

int distribution_uniform(struct distribution *d, double low, double high, struct error *err)
{
    if (!is_non_negative(low))
        return refuse(d, err, "low", low, "finite and not negative");
    if (!isfinite(high) || high < low)
        return refuse(d, err, "high", high, "finite and not below low");
    if (low == high)
        return distribution_constant(d, low, err);
    *d = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .low = low, .high = high};
    return finish(d, low + (high - low) / 2, err);
}

int distribution_exponential(struct distribution *d, double mean, struct error *err)
{
    if (!is_positive(mean))
        return refuse(d, err, "mean", mean, "finite and above 0");
    *d = (struct distribution){.kind = DISTRIBUTION_EXPONENTIAL, .a = mean};
    return finish(d, mean, err);
}

/*
 * Normal with mean a and sd b, truncated to [low, high]; alpha, beta are the bounds in standard units and
 * Z = Phi(beta) - Phi(alpha) (Johnson, Kotz, Balakrishnan, "Continuous univariate distributions" 1, 13.10.1):
 *
 *     mean     = a + b (phi(alpha) - phi(beta)) / Z
 *     variance = b^2 (1 + (alpha phi(alpha) - beta phi(beta)) / Z - ((phi(alpha) - phi(beta)) / Z)^2)
 *
 * Everything is done on the side of the normal's centre where the tails are small, so that a range far above
 * the mean keeps its digits: tail_low >= tail_high are upper tails if alpha > 0, else lower ones, tail_low <=
 * tail_high.
 */
static double normal_share(const struct distribution *d)
{
    return fabs(d->tail_high - d->tail_low);
}

static void normal_set_tails(struct distribution *d)
{
    double alpha = (d->low - d->a) / d->b, beta = (d->high - d->a) / d->b;

    d->tail_low = alpha > 0 ? gsl_cdf_ugaussian_Q(alpha) : gsl_cdf_ugaussian_P(alpha);
    d->tail_high = alpha > 0 ? gsl_cdf_ugaussian_Q(beta) : gsl_cdf_ugaussian_P(beta);
}

static double normal_quantile(const struct distribution *d, double p)
{
    double tail = d->tail_low + p * (d->tail_high - d->tail_low);
    double z = d->low > d->a ? gsl_cdf_ugaussian_Qinv(tail) : gsl_cdf_ugaussian_Pinv(tail);

    return fmin(fmax(d->a + d->b * z, d->low), d->high);
}

/*
 * Mean and variance by quadrature (five-point Gauss-Legendre on 16 panels, the density relative to its value
 * at the middle), for ranges so narrow that the closed forms would subtract nearly equal numbers.
 */
static void normal_moments_narrow(double alpha, double beta, double *mean, double *variance)
{
    static const double nodes[5] = {-0.906179845938664, -0.5384693101056831, 0, 0.5384693101056831,
                                    0.906179845938664};
    static const double weights[5] = {0.23692688505618908, 0.47862867049936647, 0.5688888888888889,
                                      0.47862867049936647, 0.23692688505618908};
    double middle = alpha + (beta - alpha) / 2, half = (beta - alpha) / 32;
    double mass = 0, first = 0, second = 0;

    for (int panel = 0; panel < 16; panel++) {
        for (int i = 0; i < 5; i++) {
            double off = half * (2 * panel - 15 + nodes[i]); /* from the middle */
            double density = weights[i] * exp(-off * (middle + off / 2));

            mass += density;
            first += density * off;
            second += density * off * off;
        }
    }
    first /= mass;
    *mean = middle + first;
    *variance = second / mass - first * first;
}

static void normal_moments(const struct distribution *d, double *mean, double *variance)
{
    double alpha = (d->low - d->a) / d->b, beta = (d->high - d->a) / d->b;

    if ((beta - alpha) * fmax(1, fmax(fabs(alpha), fabs(beta))) < 4) {
        normal_moments_narrow(alpha, beta, mean, variance);
    } else {
        double at_low = gsl_ran_ugaussian_pdf(alpha) / normal_share(d);
        double at_high = isinf(beta) ? 0 : gsl_ran_ugaussian_pdf(beta) / normal_share(d);

        *mean = at_low - at_high;
        *variance = 1 + alpha * at_low - (isinf(beta) ? 0 : beta * at_high) - *mean * *mean;
    }
    *mean = fmin(fmax(d->a + d->b * *mean, d->low), d->high);
    *variance *= d->b * d->b;
}

int distribution_normal(struct distribution *d, double mean, double sd, double low, double high,
                        struct error *err)
{
    double inside_mean, inside_variance;

    if (!isfinite(mean))
        return refuse(d, err, "mean", mean, "finite");
    if (!is_non_negative(sd))
        return refuse(d, err, "sd", sd, "finite and not negative");
    if (!is_non_negative(low))
        return refuse(d, err, "low", low, "finite and not negative");
    if (isnan(high) || high < low)
        return refuse(d, err, "high", high, "not below low");
    if (low == high)
        return distribution_constant(d, low, err);
    if (sd == 0 && (mean < low || mean > high))
        return refuse(d, err, "mean", mean, "within [low, high] if sd is 0");
    if (sd == 0)
        return distribution_constant(d, mean, err);
    *d = (struct distribution){.kind = DISTRIBUTION_NORMAL, .a = mean, .b = sd, .low = low, .high = high};
    normal_set_tails(d);
    if (normal_share(d) < NORMAL_SHARE_MIN)
        return refuse(d, err, "mean", mean,
                      "such that a visible share of the normal lies within [low, high]");
    normal_moments(d, &inside_mean, &inside_variance);
    return finish(d, inside_mean, err);
}

/* mean = exp(zeta + sigma^2 / 2), variance = mean^2 (exp(sigma^2) - 1), quantile = exp(zeta + sigma z_p). */
static int lognormal(struct distribution *d, double zeta, double sigma, double mean, struct error *err)
{
    if (sigma == 0)
        return distribution_constant(d, mean, err);
    *d = (struct distribution){.kind = DISTRIBUTION_LOGNORMAL, .a = zeta, .b = sigma};
    return finish(d, mean, err);
}

int distribution_lognormal_quantiles(struct distribution *d, double median, double p99, struct error *err)
{
    double sigma;

    if (!is_positive(median))
        return refuse(d, err, "median", median, "finite and above 0");
    if (!isfinite(p99) || p99 < median)
        return refuse(d, err, "p99", p99, "finite and not below the median");
    sigma = log(p99 / median) / gsl_cdf_ugaussian_Pinv(0.99);
    return lognormal(d, log(median), sigma, median * exp(sigma * sigma / 2), err);
}

int distribution_lognormal_moments(struct distribution *d, double mean, double cv, struct error *err)
{
    double variance; /* of the logarithm */

    if (!is_positive(mean))
        return refuse(d, err, "mean", mean, "finite and above 0");
    if (!is_non_negative(cv))
        return refuse(d, err, "cv", cv, "finite and not negative");
    variance = log1p(cv * cv);
    if (!isfinite(variance))
        return refuse(d, err, "cv", cv, "below 1e150");
    return lognormal(d, log(mean) - variance / 2, sqrt(variance), mean, err);
}

int distribution_gamma(struct distribution *d, double mean, double cv, struct error *err)
{
    double shape; /* 1 / cv^2; scale = mean / shape */

    if (!is_positive(mean))
        return refuse(d, err, "mean", mean, "finite and above 0");
    if (!is_non_negative(cv))
        return refuse(d, err, "cv", cv, "finite and not negative");
    shape = 1 / (cv * cv);
    if (isinf(shape)) /* cv 0, or so near that the spread is below the mean's last digit */
        return distribution_constant(d, mean, err);
    if (shape < 1e-6)
        return refuse(d, err, "cv", cv, "at most 1000");
    *d = (struct distribution){.kind = DISTRIBUTION_GAMMA, .a = shape, .b = mean / shape};
    return finish(d, mean, err);
}

/* mean = a Gamma(1 + 1/b), second moment a^2 Gamma(1 + 2/b). */
int distribution_weibull(struct distribution *d, double scale, double shape, struct error *err)
{
    if (!is_positive(scale))
        return refuse(d, err, "scale", scale, "finite and above 0");
    if (!is_positive(shape))
        return refuse(d, err, "shape", shape, "finite and above 0");
    *d = (struct distribution){.kind = DISTRIBUTION_WEIBULL, .a = scale, .b = shape};
    return finish(d, scale * tgamma(1 + 1 / shape), err);
}

/* mean = a b / (a - 1), variance = a b^2 / ((a - 1)^2 (a - 2)). */
int distribution_pareto(struct distribution *d, double least, double exponent, struct error *err)
{
    if (!is_positive(least))
        return refuse(d, err, "least", least, "finite and above 0");
    if (!isfinite(exponent) || exponent <= 1)
        return refuse(d, err, "exponent", exponent, "finite and above 1, or there is no mean");
    *d = (struct distribution){.kind = DISTRIBUTION_PARETO, .a = exponent, .b = least};
    return finish(d, least * (exponent / (exponent - 1)), err);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double *copy_values(const double *values, size_t count)
{
    double *copy = calloc(count, sizeof *copy);

    if (copy)
        memcpy(copy, values, count * sizeof *copy);
    return copy;
}

int distribution_empirical(struct distribution *d, const double *values, size_t count, struct error *err)
{
    double sum = 0;
    double *sorted;

    if (count == 0) {
        *d = (struct distribution){.kind = DISTRIBUTION_CONSTANT};
        return error_set(err, ERROR_INPUT, PLACE, "an empirical distribution needs at least one value");
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_non_negative(values[i]))
            return refuse(d, err, "a value of the list", values[i], "finite and not negative");
    }
    sorted = copy_values(values, count);
    if (!sorted) {
        *d = (struct distribution){.kind = DISTRIBUTION_CONSTANT};
        return error_memory(err, PLACE);
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    if (sorted[0] == sorted[count - 1]) {
        double only = sorted[0];

        free(sorted);
        return distribution_constant(d, only, err);
    }
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    if (!isfinite(sum)) {
        free(sorted);
        return refuse(d, err, "the sum of the list", sum, "finite");
    }
    *d = (struct distribution){.kind = DISTRIBUTION_EMPIRICAL, .values = sorted, .count = count};
    return finish(d, sum / (double)count, err);
}

int distribution_copy(struct distribution *to, const struct distribution *from, struct error *err)
{
    double *values = NULL;

    if (from->count > 0) {
        values = copy_values(from->values, from->count);
        if (!values) {
            *to = (struct distribution){.kind = DISTRIBUTION_CONSTANT};
            return error_memory(err, PLACE);
        }
    }
    *to = *from;
    to->values = values;
    return 0;
}

void distribution_free(struct distribution *d)
{
    free(d->values);
    d->values = NULL;
    d->count = 0;
}

double distribution_draw(const struct distribution *d, gsl_rng *rng)
{
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return d->a;
    case DISTRIBUTION_UNIFORM:
        return gsl_ran_flat(rng, d->low, d->high);
    case DISTRIBUTION_EXPONENTIAL:
        return gsl_ran_exponential(rng, d->a);
    case DISTRIBUTION_NORMAL:
        return normal_quantile(d, gsl_rng_uniform_pos(rng));
    case DISTRIBUTION_LOGNORMAL:
        return gsl_ran_lognormal(rng, d->a, d->b);
    case DISTRIBUTION_GAMMA:
        return gsl_ran_gamma(rng, d->a, d->b);
    case DISTRIBUTION_WEIBULL:
        return gsl_ran_weibull(rng, d->a, d->b);
    case DISTRIBUTION_PARETO:
        return gsl_ran_pareto(rng, d->a, d->b);
    case DISTRIBUTION_EMPIRICAL: {
        size_t at = (size_t)(gsl_rng_uniform(rng) * (double)d->count);

        return d->values[at < d->count ? at : d->count - 1];
    }
    }
    return d->mean;
}

sim_time distribution_draw_time(const struct distribution *d, gsl_rng *rng)
{
    return sim_time_from_seconds(distribution_draw(d, rng));
}

static double empirical_quantile(const struct distribution *d, double p)
{
    double rank = p * (double)d->count;
    double whole = nearbyint(rank);

    /* Whole but for rounding is whole: 0.07 of 100 values is the seventh. */
    if (fabs(rank - whole) > rank * 0x1p-50)
        whole = ceil(rank);
    if (!(whole > 1))
        return d->values[0];
    return whole >= (double)d->count ? d->values[d->count - 1] : d->values[(size_t)whole - 1];
}

/*
 * Quantile of the standard gamma, not by gsl_cdf_gamma_Pinv: its Newton steps fail to converge for many p
 * once the shape is beyond some 10^5, and failing there means GSL's handler, which ends the program. For
 * shapes up to 10^4 the logarithm is bisected with gsl_cdf_gamma_P. Beyond (where that, too, loses digits
 * near the centre, and fails from 10^6) the Cornish-Fisher expansion about the normal with its terms up to
 * a^(-3/2) is right to 1e-11 in p (Abramowitz and Stegun 26.2.49 with the cumulants (r - 1)! a).
 */
static double gamma_quantile(double p, double a)
{
    double low = -745, high = log(a + 10 * sqrt(a) + 50); /* exp(-745): the least double */

    if (a > 1e4) {
        double z = gsl_cdf_ugaussian_Pinv(p), z2 = z * z, r = 1 / sqrt(a);

        return a +
               (z + r * ((z2 - 1) / 3 + r * (z * (z2 - 7) / 36 - r * ((3 * z2 + 7) * z2 - 16) / 810))) / r;
    }
    if (gsl_cdf_gamma_P(exp(low), a, 1) >= p)
        return 0;
    for (int i = 0; i < 70; i++) {
        double middle = low + (high - low) / 2;

        if (gsl_cdf_gamma_P(exp(middle), a, 1) < p)
            low = middle;
        else
            high = middle;
    }
    return exp(high);
}

static double quantile_of_zero(const struct distribution *d)
{
    switch (d->kind) {
    case DISTRIBUTION_UNIFORM:
    case DISTRIBUTION_NORMAL:
        return d->low;
    case DISTRIBUTION_PARETO:
        return d->b;
    default:
        return 0;
    }
}

static double quantile_of_one(const struct distribution *d)
{
    return d->kind == DISTRIBUTION_UNIFORM || d->kind == DISTRIBUTION_NORMAL ? d->high : INFINITY;
}

double distribution_quantile(const struct distribution *d, double p)
{
    if (d->kind == DISTRIBUTION_CONSTANT)
        return d->a;
    if (d->kind == DISTRIBUTION_EMPIRICAL)
        return empirical_quantile(d, p);
    if (!(p > 0))
        return quantile_of_zero(d);
    if (p >= 1)
        return quantile_of_one(d);
    switch (d->kind) {
    case DISTRIBUTION_UNIFORM:
        return gsl_cdf_flat_Pinv(p, d->low, d->high);
    case DISTRIBUTION_EXPONENTIAL:
        return gsl_cdf_exponential_Pinv(p, d->a);
    case DISTRIBUTION_NORMAL:
        return normal_quantile(d, p);
    case DISTRIBUTION_LOGNORMAL:
        return gsl_cdf_lognormal_Pinv(p, d->a, d->b);
    case DISTRIBUTION_GAMMA:
        return gamma_quantile(p, d->a) * d->b;
    case DISTRIBUTION_WEIBULL:
        return gsl_cdf_weibull_Pinv(p, d->a, d->b);
    case DISTRIBUTION_PARETO:
        return gsl_cdf_pareto_Pinv(p, d->a, d->b);
    case DISTRIBUTION_CONSTANT:
    case DISTRIBUTION_EMPIRICAL:
        break;
    }
    return d->mean;
}

static double weibull_variance(const struct distribution *d)
{
    double second = lgamma(1 + 2 / d->b), first = lgamma(1 + 1 / d->b);

    /* Gamma(1+2/b) - Gamma(1+1/b)^2 without the difference of two nearly equal numbers when b is large. */
    return d->a * d->a * exp(2 * first) * expm1(second - 2 * first);
}

static double empirical_variance(const struct distribution *d)
{
    double sum = 0;

    for (size_t i = 0; i < d->count; i++)
        sum += (d->values[i] - d->mean) * (d->values[i] - d->mean);
    return sum / (double)d->count;
}

double distribution_variance(const struct distribution *d)
{
    double mean, variance;

    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return 0;
    case DISTRIBUTION_UNIFORM:
        return (d->high - d->low) * (d->high - d->low) / 12;
    case DISTRIBUTION_EXPONENTIAL:
        return d->a * d->a;
    case DISTRIBUTION_NORMAL:
        normal_moments(d, &mean, &variance);
        return variance;
    case DISTRIBUTION_LOGNORMAL:
        return d->mean * d->mean * expm1(d->b * d->b);
    case DISTRIBUTION_GAMMA:
        return d->a * d->b * d->b;
    case DISTRIBUTION_WEIBULL:
        return weibull_variance(d);
    case DISTRIBUTION_PARETO:
        if (d->a <= 2)
            return INFINITY;
        return d->a * d->b * d->b / ((d->a - 1) * (d->a - 1) * (d->a - 2));
    case DISTRIBUTION_EMPIRICAL:
        return empirical_variance(d);
    }
    return 0;
}

void distribution_scale(struct distribution *d, double factor)
{
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
    case DISTRIBUTION_EXPONENTIAL:
    case DISTRIBUTION_WEIBULL:
        d->a *= factor;
        break;
    case DISTRIBUTION_NORMAL: /* the tails are in standard units and stay */
        d->a *= factor;
        d->b *= factor;
        d->low *= factor;
        d->high *= factor;
        break;
    case DISTRIBUTION_UNIFORM:
        d->low *= factor;
        d->high *= factor;
        break;
    case DISTRIBUTION_LOGNORMAL:
        d->a += log(factor);
        break;
    case DISTRIBUTION_GAMMA:
    case DISTRIBUTION_PARETO:
        d->b *= factor;
        break;
    case DISTRIBUTION_EMPIRICAL:
        for (size_t i = 0; i < d->count; i++)
            d->values[i] *= factor;
        break;
    }
    d->mean *= factor;
}

bool distribution_is_constant(const struct distribution *d)
{
    return d->kind == DISTRIBUTION_CONSTANT;
}

bool distribution_is_zero(const struct distribution *d)
{
    return d->kind == DISTRIBUTION_CONSTANT && d->a == 0;
}

static const char *kind_name(enum distribution_kind kind)
{
    switch (kind) {
    case DISTRIBUTION_CONSTANT:
        return "constant";
    case DISTRIBUTION_UNIFORM:
        return "uniform";
    case DISTRIBUTION_EXPONENTIAL:
        return "exponential";
    case DISTRIBUTION_NORMAL:
        return "normal";
    case DISTRIBUTION_LOGNORMAL:
        return "lognormal";
    case DISTRIBUTION_GAMMA:
        return "gamma";
    case DISTRIBUTION_WEIBULL:
        return "weibull";
    case DISTRIBUTION_PARETO:
        return "pareto";
    case DISTRIBUTION_EMPIRICAL:
        return "empirical";
    }
    return "unknown";
}

/* Three digits are enough to recognise a number; whole ones that people write out stay written out. */
static void number_text(double x, char *text, size_t size)
{
    snprintf(text, size, fabs(x) >= 999.5 && fabs(x) < 1e15 ? "%.0f" : "%.3g", x);
}

void distribution_describe(const struct distribution *d, char *text, size_t size)
{
    char mean[32], p99[32];

    number_text(d->mean, mean, sizeof mean);
    if (d->kind == DISTRIBUTION_CONSTANT) {
        snprintf(text, size, "constant %s", mean);
        return;
    }
    number_text(distribution_quantile(d, 0.99), p99, sizeof p99);
    if (d->kind == DISTRIBUTION_EMPIRICAL)
        snprintf(text, size, "empirical (%zu values), mean %s, p99 %s", d->count, mean, p99);
    else
        snprintf(text, size, "%s, mean %s, p99 %s", kind_name(d->kind), mean, p99);
}
