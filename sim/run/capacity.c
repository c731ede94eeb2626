#include "sim/run/capacity.h"

#include <math.h>
#include <stdlib.h>

#include "sim/run/parallel.h"
#include "sim/run/scenario.h"
#include "sim/run/world.h"

/*
 * Bisection over stationary probes. All probes of a service draw the same unit exponentials, sizes and luck
 * (the seed does not depend on rate or n), so that the share of missed bounds is as good as monotone in the
 * rate and the search does not chase noise.
 */
enum {
    PROBE_REQUESTS = 60000, /* measured: the 99th percentile then has 600 requests above it */
    WARM_SERVICES = 10      /* warm-up: at least so many service times */
};
static const double PRECISION = 0.004; /* of lambda* */

double capacity_rate(const struct capacity *capacity, int32_t n)
{
    int32_t i = 0;

    if (n <= 0 || capacity->points == 0)
        return 0;
    while (i + 1 < capacity->points && capacity->n[i + 1] <= n)
        i++;
    if (capacity->n[i] >= n || i + 1 == capacity->points)
        return capacity->rate_per_s[i] / capacity->n[i] * n;
    {
        double low = capacity->rate_per_s[i] / capacity->n[i],
               high = capacity->rate_per_s[i + 1] / capacity->n[i + 1];
        double part = (double)(n - capacity->n[i]) / (capacity->n[i + 1] - capacity->n[i]);

        return (low + (high - low) * part) * n;
    }
}

int32_t capacity_need(const struct capacity *capacity, double rate)
{
    int32_t low = 0, high = 1;

    if (!(rate > 0))
        return 0;
    while (capacity_rate(capacity, high) < rate) {
        if (high > INT32_MAX / 4)
            return INT32_MAX / 2;
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;

        if (capacity_rate(capacity, middle) >= rate)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- probes ---- */

struct search {
    const struct scenario *scenario; /* one service, all of the run is peak */
    double demand_s;                 /* mean service demand of a lone request */
    double max_rate;                 /* of one replica; INFINITY: no bound known */
    bool (*interrupted)(void *to);
    void *interrupted_to;
};

/* Do n replicas meet the SLO at this rate? 1, 0, -1. */
static int probe(const struct search *search, int32_t n, double rate, struct error *err)
{
    const struct scenario_service *service = &search->scenario->services[0];
    double measured_s = PROBE_REQUESTS / rate, warm_s = measured_s / 10;
    struct world_options options = {
        .probe_replicas = n, .interrupted = search->interrupted, .interrupted_to = search->interrupted_to};
    struct traffic *traffic;
    struct outcome outcome;
    int meets = -1;

    warm_s = fmax(warm_s, WARM_SERVICES * search->demand_s);
    measured_s = fmax(measured_s, WARM_SERVICES * search->demand_s);
    if (traffic_stationary(service->traffic, rate, &traffic, err) < 0)
        return -1;
    options.traffic = traffic;
    options.warmup = sim_time_from_seconds(warm_s);
    options.duration = options.warmup + sim_time_from_seconds(measured_s);
    if (world_run(search->scenario, 0, 0, NULL, &options, &outcome, err) == 0) {
        const struct outcome_service *out = &outcome.services[0];
        const struct slo *slo = &service->slo;
        double offered = (double)out->offered;

        meets = out->offered > 0;
        for (int32_t i = 0; i < slo->count; i++)
            meets = meets && (double)out->bound_missed_peak[i] <= (1 - slo->bounds[i].quantile) * offered;
        meets = meets && (double)(out->offered - out->completed) <= (1 - slo->success) * offered;
    }
    outcome_free(&outcome);
    traffic_free(traffic);
    return meets;
}

/* Largest rate in [low, high] that meets it, given that low does (or is 0) and high does not. */
static int bisect(const struct search *search, int32_t n, double low, double high, double *rate,
                  int64_t *probes, struct error *err)
{
    while (high - low > PRECISION * high) {
        double middle = low > 0 ? (low + high) / 2 : high / 4;
        int meets = probe(search, n, middle, err);

        ++*probes;
        if (meets < 0)
            return -1;
        if (meets)
            low = middle;
        else
            high = middle;
        if (low <= 0 && high * search->demand_s < 1e-4 * n) /* as good as alone, and still too slow */
            break;
    }
    *rate = low;
    return 0;
}

/* lambda*(n) within the bracket [low, high], which is widened until it holds it. */
static int solve(const struct search *search, int32_t n, double low, double high, double *rate,
                 int64_t *probes, struct error *err)
{
    double ceiling = search->max_rate * n;
    int meets;

    if (!(low > 0))
        low = 0;
    while (low > 0) {
        meets = probe(search, n, low, err);
        ++*probes;
        if (meets < 0)
            return -1;
        if (meets)
            break;
        high = low;
        low = low > 0.01 * high ? low * 0.8 : 0;
        if (low * search->demand_s < 1e-3 * n)
            low = 0;
    }
    while (high < ceiling) {
        meets = probe(search, n, high, err);
        ++*probes;
        if (meets < 0)
            return -1;
        if (!meets)
            break;
        low = high;
        high = isinf(ceiling) ? 2 * high : fmin(1.25 * high, ceiling);
        if (high > 1e12)
            return error_set(
                err, ERROR_INPUT, search->scenario->services[0].name,
                "no rate is too high for this service model: its SLO never fails, so it has no capacity");
    }
    /* At the ceiling the queue only grows: no stationary state, whatever a finite probe says. */
    return bisect(search, n, low, fmin(high, ceiling), rate, probes, err);
}

/* ---- points ---- */

struct point {
    int32_t service, index, n;
    double low, high; /* bracket */
    double rate;
    int64_t probes;
};

struct work {
    struct search *searches; /* a service */
    struct point *points;
};

static int point_run(void *self, int32_t task, struct error *err)
{
    struct work *work = self;
    struct point *point = &work->points[task];

    return solve(&work->searches[point->service], point->n, point->low, point->high, &point->rate,
                 &point->probes, err);
}

static bool is_wanted(const struct scenario_service *service)
{
    return service->slo.count > 0;
}

/* 1, 2, 3, 4, 6, 8, 12, 16, 24, ... up to max, and max itself. */
static void choose_points(struct capacity *capacity, int32_t max)
{
    int32_t n = 1;

    capacity->points = 0;
    while (n < max && capacity->points < 38) {
        capacity->n[capacity->points++] = n;
        if (n < 4)
            n++;
        else
            n = (n & (n - 1)) == 0 ? n + n / 2 : n / 3 * 4;
    }
    capacity->n[capacity->points++] = max;
}

static double first_guess(const struct search *search)
{
    return isinf(search->max_rate) ? 1 / search->demand_s : search->max_rate;
}

static int searches_make(const struct scenario *scenario, struct scenario *alone, struct window *always,
                         struct search *searches)
{
    *always = (struct window){0, SIM_NEVER};
    for (int32_t i = 0; i < scenario->service_count; i++) {
        const struct scenario_service *service = &scenario->services[i];
        const struct service_type *type = service->serve.type;
        struct traffic_sizes sizes;
        double demand;

        alone[i] = *scenario;
        alone[i].services = &scenario->services[i];
        alone[i].service_count = 1;
        alone[i].peaks = always;
        alone[i].peak_count = 1;
        traffic_mean_sizes(service->traffic, &sizes);
        demand = type->nominal_seconds(service->serve.config, (int32_t)lround(sizes.tokens_in),
                                       (int32_t)lround(sizes.tokens_out));
        if (isnan(demand))
            demand = sizes.work_seconds;
        searches[i].scenario = &alone[i];
        searches[i].demand_s = demand;
        searches[i].max_rate = type->max_rate(service->serve.config, demand, sizes.tokens_in,
                                              sizes.tokens_out);
    }
    return 0;
}

/* Two rounds: one replica and the most of them, then all between, whose lambda*(n) / n lies between those
 * two. */
static int rounds_run(const struct scenario *scenario, struct search *searches, struct point *points,
                      int jobs, struct capacity *out, struct error *err)
{
    struct work work = {searches, points};
    int32_t count = 0;

    for (int round = 0; round < 2; round++) {
        count = 0;
        for (int32_t i = 0; i < scenario->service_count; i++)
            for (int32_t k = out[i].points - 1; k >= 0;
                 k--) { /* large ones first: the threads end together */
                bool end = k == 0 || k == out[i].points - 1;
                double one = out[i].rate_per_s[0],
                       most = out[i].rate_per_s[out[i].points - 1] / out[i].n[out[i].points - 1];
                double guess = first_guess(&searches[i]);

                if (!is_wanted(&scenario->services[i]) || end != (round == 0))
                    continue;
                points[count++] = (struct point){
                    .service = i,
                    .index = k,
                    .n = out[i].n[k],
                    .low = out[i].n[k] * (round == 0 ? 0.5 * guess : 0.99 * fmin(one, most)),
                    .high = out[i].n[k] * (round == 0 ? guess : 1.01 * fmax(one, most)),
                };
            }
        if (parallel_run(jobs, count, point_run, &work, err) < 0)
            return -1;
        for (int32_t k = 0; k < count; k++) {
            out[points[k].service].rate_per_s[points[k].index] = points[k].rate;
            out[points[k].service].probes += points[k].probes;
        }
    }
    return 0;
}

int capacity_compute(const struct scenario *scenario, int32_t max_replicas, int jobs,
                     bool (*interrupted)(void *to), void *interrupted_to, struct capacity *out,
                     struct error *err)
{
    size_t services = (size_t)scenario->service_count;
    struct scenario *alone = calloc(services, sizeof *alone);
    struct search *searches = calloc(services, sizeof *searches);
    struct point *points = calloc(services * 40, sizeof *points);
    struct window always;
    int result = -1;

    if (!alone || !searches || !points) {
        error_memory(err, "capacity");
        goto out;
    }
    for (size_t i = 0; i < services; i++) {
        out[i] = (struct capacity){.known = is_wanted(&scenario->services[i])};
        searches[i].interrupted = interrupted;
        searches[i].interrupted_to = interrupted_to;
        if (out[i].known)
            choose_points(&out[i], max_replicas > 1 ? max_replicas : 1);
    }
    searches_make(scenario, alone, &always, searches);
    result = rounds_run(scenario, searches, points, jobs, out, err);
out:
    free(points);
    free(searches);
    free(alone);
    return result;
}
