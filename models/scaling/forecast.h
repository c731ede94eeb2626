#ifndef MODELS_SCALING_FORECAST_H
#define MODELS_SCALING_FORECAST_H

#include <stdint.h>

/*
 * Forecasts of an arrival rate, fitted on the observed past only.
 *
 *   last value   f(t + h) = y(t)
 *   trend        Holt's linear method (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 3rd ed., 8.2):
 *                level l = a y + (1 - a)(l + b), trend b = c (l - l') + (1 - c) b, f(t + h) = l + h b, never below 0
 *
 * A quantile of the forecast adds z(q) times the root mean square of the forecast's own past errors at that horizon,
 * exponentially weighted: what a band drawn around the forecast would show.
 */
enum forecast_kind { FORECAST_LAST_VALUE, FORECAST_TREND };

enum { FORECAST_PAST = 1024 };

struct forecast {
    enum forecast_kind kind;
    double level_weight, trend_weight; /* a, c: 0..1 */
    double level, trend;               /* requests/s, and per step */
    int64_t steps;
    double points[FORECAST_PAST]; /* level and trend of past steps, to score what was forecast then */
    double trends[FORECAST_PAST];
    double square_error;          /* exponentially weighted mean */
    int64_t scored;
};

void forecast_init(struct forecast *forecast, enum forecast_kind kind, double level_weight, double trend_weight);

/* One observation a step. Also scores the forecast made `horizon` steps ago (1..FORECAST_PAST - 1; else nothing is scored). */
void forecast_observe(struct forecast *forecast, double rate, int64_t horizon);

/* The rate `horizon` steps from the last observation: the point forecast, and its q-quantile (0 < q < 1). Never below 0. */
double forecast_point(const struct forecast *forecast, int64_t horizon);
double forecast_quantile(const struct forecast *forecast, int64_t horizon, double q);

#endif
