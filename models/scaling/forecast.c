#include "models/scaling/forecast.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Weight of the newest squared error: about the last 20 steps count. */
#define ERROR_WEIGHT 0.1

void forecast_init(struct forecast *forecast, enum forecast_kind kind, double level_weight, double trend_weight)
{
    *forecast = (struct forecast){.kind = kind, .level_weight = level_weight, .trend_weight = trend_weight};
}

static double at_least_zero(double rate)
{
    return rate > 0 ? rate : 0;
}

void forecast_observe(struct forecast *forecast, double rate, int64_t horizon)
{
    double old = forecast->level;

    if (horizon >= 1 && horizon < FORECAST_PAST && forecast->steps >= horizon) {
        int64_t then = (forecast->steps + 1 - horizon) % FORECAST_PAST; /* made by the observation horizon steps before this one */
        double said = at_least_zero(forecast->points[then] + (double)horizon * forecast->trends[then]);
        double square = (rate - said) * (rate - said);

        forecast->square_error = forecast->scored ? (1 - ERROR_WEIGHT) * forecast->square_error + ERROR_WEIGHT * square : square;
        forecast->scored++;
    }
    forecast->steps++;
    if (forecast->kind == FORECAST_LAST_VALUE || forecast->steps == 1) {
        forecast->level = rate;
        forecast->trend = 0;
    } else {
        forecast->level = forecast->level_weight * rate + (1 - forecast->level_weight) * (old + forecast->trend);
        forecast->trend = forecast->trend_weight * (forecast->level - old) + (1 - forecast->trend_weight) * forecast->trend;
    }
    forecast->points[forecast->steps % FORECAST_PAST] = forecast->level;
    forecast->trends[forecast->steps % FORECAST_PAST] = forecast->trend;
}

double forecast_point(const struct forecast *forecast, int64_t horizon)
{
    return at_least_zero(forecast->level + (double)horizon * forecast->trend);
}

double forecast_quantile(const struct forecast *forecast, int64_t horizon, double q)
{
    double z = gsl_cdf_ugaussian_Pinv(q);

    return at_least_zero(forecast_point(forecast, horizon) + z * sqrt(forecast->square_error));
}
