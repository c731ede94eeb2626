#include "sim/run/statistics.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

double statistics_t95(double degrees)
{
    return gsl_cdf_tdist_Pinv(0.5 + STATISTICS_CONFIDENCE / 2, degrees);
}

/* Sum of squared deviations from the mean of count finite values. */
static double sum_of_squares(const double *values, int32_t count, double *mean)
{
    double sum = 0, squares = 0;

    for (int32_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / count;
    for (int32_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    return squares;
}

struct estimate statistics_mean(const double *values, int32_t count)
{
    struct estimate estimate = {NAN, NAN};
    double sum = 0, squares = 0, mean;
    int32_t n = 0;

    for (int32_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        sum += values[i];
        n++;
    }
    if (n == 0)
        return estimate;
    mean = sum / n;
    estimate.value = mean;
    if (n < 2 || !isfinite(mean))
        return estimate;
    for (int32_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            squares += (values[i] - mean) * (values[i] - mean);
    estimate.half = statistics_t95(n - 1) * sqrt(squares / (n - 1) / n);
    return estimate;
}

void statistics_range(const double *values, int32_t count, double *low, double *high)
{
    *low = *high = NAN;
    for (int32_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        if (!(values[i] >= *low))
            *low = values[i];
        if (!(values[i] <= *high))
            *high = values[i];
    }
}

double statistics_smooth_quantile(const struct histogram *h, double q)
{
    int64_t recorded = h->total + h->beyond;
    int64_t value, width, base, above, inside;
    double rank, share, smooth;

    if (recorded == 0)
        return NAN;
    value = histogram_quantile(h, q);
    if (value == INT64_MAX)
        return INFINITY;
    width = histogram_bucket_width(value);
    if (width <= 1)
        return (double)value;
    base = value - value % width;
    above = histogram_count_above(h, value);
    inside = (base > 0 ? histogram_count_above(h, base - 1) : recorded) - above;
    if (inside <= 0)
        return (double)value;
    rank = q * (double)recorded - (double)(recorded - above - inside);
    share = rank / (double)inside;
    smooth = (double)base + (double)width * (share < 0 ? 0 : share > 1 ? 1 : share);
    return smooth < (double)h->high ? smooth : (double)h->high;
}

double statistics_jackknife_half(const double *without, int32_t count)
{
    double mean, squares;

    if (count < STATISTICS_JACKKNIFE_LEAST)
        return NAN;
    for (int32_t i = 0; i < count; i++)
        if (isnan(without[i]))
            return NAN;
    for (int32_t i = 0; i < count; i++)
        if (isinf(without[i]))
            return INFINITY;
    squares = sum_of_squares(without, count, &mean);
    return statistics_t95(count - 1) * sqrt(squares * (count - 1) / count);
}

static double plain_quantile(const struct histogram *h, double q, double scale)
{
    int64_t value = histogram_quantile(h, q);

    return value < 0 ? NAN : value == INT64_MAX ? INFINITY : (double)value * scale;
}

static int add_replication(struct histogram *to, const struct quantile_request *request, int32_t i,
                           struct error *err)
{
    for (int32_t j = 0; j < request->width; j++)
        if (histogram_add(to, request->parts[i * request->width + j], err) != 0)
            return -1;
    if (request->finite_only)
        to->beyond = 0;
    return 0;
}

/* rest = all - replication i, in rest, which holds `all` before and after. */
static int quantiles_without(struct histogram *rest, const struct quantile_request *request, int32_t i,
                             double *without, struct error *err)
{
    for (int32_t j = 0; j < request->width; j++) {
        histogram_subtract(rest, request->parts[i * request->width + j]);
        if (request->finite_only)
            rest->beyond = 0;
    }
    for (int32_t k = 0; k < request->count; k++)
        without[k * request->replications + i] = statistics_smooth_quantile(rest, request->quantiles[k]) *
                                                 request->scale;
    return add_replication(rest, request, i, err);
}

int statistics_quantiles(const struct quantile_request *request, struct estimate *estimates, double *each,
                         double *without, struct error *err)
{
    int32_t n = request->replications;
    struct histogram all, one;
    double *owned = NULL;
    int status = -1;

    histogram_init(&all);
    histogram_init(&one);
    if (!without) {
        owned = calloc((size_t)n * (size_t)(request->count > 0 ? request->count : 1), sizeof *owned);
        if (!owned)
            return error_memory(err, "statistics");
        without = owned;
    }
    for (int32_t i = 0; i < n; i++) {
        histogram_reset(&one);
        if (add_replication(&one, request, i, err) != 0 || add_replication(&all, request, i, err) != 0)
            goto out;
        for (int32_t k = 0; k < request->count; k++)
            each[k * n + i] = plain_quantile(&one, request->quantiles[k], request->scale);
    }
    for (int32_t k = 0; k < request->count; k++)
        estimates[k] = (struct estimate){plain_quantile(&all, request->quantiles[k], request->scale), NAN};
    for (int32_t i = 0; i < n; i++)
        if (quantiles_without(&all, request, i, without, err) != 0)
            goto out;
    for (int32_t k = 0; k < request->count; k++)
        if (isfinite(estimates[k].value))
            estimates[k].half = statistics_jackknife_half(without + k * n, n);
    status = 0;
out:
    histogram_free(&all);
    histogram_free(&one);
    free(owned);
    return status;
}

const char *comparison_test_name(enum comparison_test test)
{
    switch (test) {
    case COMPARISON_NONE:
        return "none";
    case COMPARISON_T:
        return "t";
    case COMPARISON_SIGN:
        return "sign";
    }
    return "none";
}

/* Two-sided p of a t statistic = difference / error. */
static double t_p_value(double difference, double error, double degrees)
{
    if (error == 0)
        return difference == 0 ? 1 : 0;
    return fmin(1, 2 * gsl_cdf_tdist_Q(fabs(difference) / error, degrees));
}

/* Two-sided sign test; equal pairs are left out. NAN without any pair that differs. */
static double sign_p_value(const double *a, const double *b, int32_t count)
{
    unsigned larger = 0, smaller = 0, least;

    for (int32_t i = 0; i < count; i++) {
        if (a[i] > b[i])
            larger++;
        else if (a[i] < b[i])
            smaller++;
    }
    if (larger + smaller == 0)
        return NAN;
    least = larger < smaller ? larger : smaller;
    return fmin(1, 2 * gsl_cdf_binomial_P(least, 0.5, larger + smaller));
}

static struct paired by_sign(double difference, const double *a, const double *b, int32_t count)
{
    struct paired paired = {difference, NAN, sign_p_value(a, b, count), COMPARISON_SIGN};

    if (isnan(paired.p))
        paired.test = COMPARISON_NONE;
    return paired;
}

static bool any_infinite(const double *values, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (isinf(values[i]))
            return true;
    return false;
}

static bool any_nan(const double *values, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

struct paired statistics_paired_mean(const double *a, const double *b, int32_t count)
{
    struct paired paired = {NAN, NAN, NAN, COMPARISON_NONE};
    double sum = 0, squares = 0, error;

    if (count < 1 || any_nan(a, count) || any_nan(b, count))
        return paired;
    for (int32_t i = 0; i < count; i++)
        sum += a[i] - b[i];
    paired.difference = sum / count;
    if (any_infinite(a, count) || any_infinite(b, count))
        return by_sign(paired.difference, a, b, count);
    if (count < 2)
        return paired;
    for (int32_t i = 0; i < count; i++)
        squares += (a[i] - b[i] - paired.difference) * (a[i] - b[i] - paired.difference);
    error = sqrt(squares / (count - 1) / count);
    paired.half = statistics_t95(count - 1) * error;
    paired.p = t_p_value(paired.difference, error, count - 1);
    paired.test = COMPARISON_T;
    return paired;
}

struct paired statistics_paired_quantile(double a, double b, const double *a_without, const double *b_without,
                                         const double *a_each, const double *b_each, int32_t count)
{
    struct paired paired = {a - b, NAN, NAN, COMPARISON_NONE};
    double mean = 0, squares = 0, error;

    if (isnan(a) || isnan(b) || count < 1)
        return paired;
    if (isinf(a) || isinf(b) || any_infinite(a_without, count) || any_infinite(b_without, count))
        return by_sign(paired.difference, a_each, b_each, count);
    if (count < STATISTICS_JACKKNIFE_LEAST || any_nan(a_without, count) || any_nan(b_without, count))
        return paired;
    for (int32_t i = 0; i < count; i++)
        mean += (a_without[i] - b_without[i]) / count;
    for (int32_t i = 0; i < count; i++)
        squares += (a_without[i] - b_without[i] - mean) * (a_without[i] - b_without[i] - mean);
    error = sqrt(squares * (count - 1) / count);
    paired.half = statistics_t95(count - 1) * error;
    paired.p = t_p_value(paired.difference, error, count - 1);
    paired.test = COMPARISON_T;
    return paired;
}

struct ranked {
    double p;
    int32_t at;
};

static int by_p(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->p != b->p)
        return a->p < b->p ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

int statistics_holm(const double *p, int32_t count, double *adjusted, struct error *err)
{
    struct ranked *ranked = malloc(sizeof *ranked * (size_t)(count > 0 ? count : 1));
    int32_t tests = 0;
    double largest = 0;

    if (!ranked)
        return error_memory(err, "statistics");
    for (int32_t i = 0; i < count; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            ranked[tests++] = (struct ranked){p[i], i};
    }
    qsort(ranked, (size_t)tests, sizeof *ranked, by_p);
    for (int32_t k = 0; k < tests; k++) {
        largest = fmax(largest, fmin(1, (tests - k) * ranked[k].p));
        adjusted[ranked[k].at] = largest;
    }
    free(ranked);
    return 0;
}
