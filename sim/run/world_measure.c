#include "sim/run/world_internal.h"

#include <math.h>
#include <stdlib.h>

/*
 * What a run measures as it goes: time-weighted gauges over the window [warmup, duration), a record a bucket,
 * the shortage and whom to blame for it, GPU-time by use; and at the end the checks that nothing was lost or
 * made up.
 */

static void settle_shortage(struct world *w, struct service_run *s)
{
    sim_time now = w->now;
    double dt = (double)(now - s->shortage_since);
    int32_t missing;

    if (dt <= 0)
        return;
    s->shortage_since = now;
    if (!s->capacity || now <= w->warmup || w->measuring_over)
        return;
    missing = s->need - s->counts[REPLICA_READY];
    if (missing <= 0)
        return;
    s->out->shortage_total_replica_s += dt * missing / 1e9;
    /* Starting replicas, most advanced first, take one unit each (design 5.7). */
    for (int stage = START_STAGES; stage-- > 0 && missing > 0;) {
        int32_t taken = s->counts[stage] < missing ? s->counts[stage] : missing;

        missing -= taken;
        if (stage == START_NODE && s->limited > 0) {
            int32_t bound = s->limited < taken ? s->limited : taken;

            s->out->shortage_replica_s[SHORTAGE_LIMIT] += dt * bound / 1e9;
            taken -= bound;
        }
        s->out->shortage_replica_s[stage] += dt * taken / 1e9;
    }
    if (missing > 0) {
        bool capped = s->setup && s->desired >= s->setup->type->max(s->setup->config);

        s->out->shortage_replica_s[capped ? SHORTAGE_LIMIT : SHORTAGE_POLICY] += dt * missing / 1e9;
    }
}

void measure_settle(struct world *w, struct service_run *s)
{
    settle_shortage(w, s);
}

static void capacity_changed(struct world *w, struct service_run *s)
{
    if (s->capacity)
        gauge_set(&s->capacity_gauge, w->now,
                  (int64_t)(1000 * capacity_rate(s->capacity, s->counts[REPLICA_READY])));
}

void measure_state(struct world *w, struct service_run *s, enum replica_state state, int32_t change)
{
    if (state == REPLICA_ENDED)
        return;
    settle_shortage(w, s);
    s->counts[state] += change;
    gauge_set(&s->state_gauges[state], w->now, s->counts[state]);
    if (state == REPLICA_READY) {
        gauge_set(&s->ready_whole, w->now, s->counts[state]);
        capacity_changed(w, s);
    }
}

void measure_use(struct world *w, struct replica *r, enum gpu_use use)
{
    int32_t gpus = w->services[r->service].config->start.gpus;

    if (!r->bound || r->use == use) {
        return;
    }
    if (r->use != GPU_USES)
        gauge_add(&w->use_gauges[r->use], w->now, -gpus);
    if (use != GPU_USES)
        gauge_add(&w->use_gauges[use], w->now, gpus);
    r->use = use;
}

static struct spool *spool_new(size_t record_size, struct error *err)
{
    struct spool *spool = malloc(sizeof *spool);

    if (!spool) {
        error_memory(err, "spool");
        return NULL;
    }
    if (spool_init(spool, record_size, err) < 0) {
        free(spool);
        return NULL;
    }
    return spool;
}

static int spools_open(struct world *w)
{
    w->out->series = calloc((size_t)w->service_count, sizeof(struct spool *));
    if (!w->out->series)
        return error_memory(w->err, "world");
    for (int32_t i = 0; i < w->service_count; i++)
        if (!(w->out->series[i] = spool_new(sizeof(struct series_record), w->err)))
            return -1;
    if (!w->options->keep_records)
        return 0;
    w->out->decisions = spool_new(sizeof(struct decision_record), w->err);
    w->out->replicas = spool_new(sizeof(struct replica_record), w->err);
    return w->out->decisions && w->out->replicas ? 0 : -1;
}

int measure_open(struct world *w)
{
    for (int i = 0; i < GPU_USES; i++)
        gauge_init(&w->use_gauges[i], 0, 0);
    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];
        struct outcome_service *out = s->out;

        gauge_init(&s->little, 0, 0);
        gauge_init(&s->waiting, 0, 0);
        gauge_init(&s->running, 0, 0);
        gauge_init(&s->ready_whole, 0, 0);
        gauge_init(&s->desired_gauge, 0, 0);
        gauge_init(&s->need_gauge, 0, 0);
        gauge_init(&s->capacity_gauge, 0, 0);
        for (int k = 0; k < REPLICA_ENDED; k++)
            gauge_init(&s->state_gauges[k], 0, 0);
        histogram_init(&s->bucket_latency);
        histogram_init(&s->scale_outs);
        if (histogram_reserve(&out->latency_peak, w->err) < 0 ||
            histogram_reserve(&out->latency_off, w->err) < 0 || histogram_reserve(&out->ttft, w->err) < 0 ||
            histogram_reserve(&out->tpot, w->err) < 0 || histogram_reserve(&out->wait, w->err) < 0 ||
            histogram_reserve(&out->scale_out, w->err) < 0 ||
            histogram_reserve(&s->bucket_latency, w->err) < 0 ||
            histogram_reserve(&s->scale_outs, w->err) < 0)
            return -1;
        out->shortage_total_replica_s = s->capacity ? 0 : NAN;
        out->bounds = s->config->slo.count;
        if (s->capacity) {
            const struct traffic *traffic = s->config->traffic;

            s->need = capacity_need(s->capacity, traffic_rate(traffic, 0));
            gauge_set(&s->need_gauge, 0, s->need);
        }
    }
    for (int32_t i = 0; i < w->service_count; i++)
        w->services[i].observed_rate = traffic_rate(w->services[i].config->traffic, 0);
    if (w->options->keep) {
        if (spools_open(w) < 0)
            return -1;
        world_schedule(w, SLOT_BUCKET, w->scenario->bucket, RANK_MEASURE);
    }
    if (!w->options->probe_replicas)
        world_schedule(w, SLOT_SECOND, SIM_SECOND, RANK_MEASURE);
    return 0;
}

void measure_close(struct world *w)
{
    for (int32_t i = 0; w->services && i < w->service_count; i++) {
        histogram_free(&w->services[i].bucket_latency);
        histogram_free(&w->services[i].scale_outs);
    }
}

static int64_t bound_gpu_ns(const struct world *w, sim_time now)
{
    int64_t sum = 0;

    for (int32_t node = 0; node < cluster_node_count(w->cluster); node++) {
        struct node_record record;

        cluster_node_record(w->cluster, node, now, &record);
        sum += record.bound_gpu_ns;
    }
    return sum;
}

void measure_warmup_over(struct world *w)
{
    for (int i = 0; i < GPU_USES; i++)
        gauge_restart(&w->use_gauges[i], w->now);
    if (w->cluster) {
        w->bound_before_ns = bound_gpu_ns(w, w->now);
        cluster_mark(w->cluster, w->now);
    }
    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];

        s->shortage_since = w->now;
        gauge_restart(&s->ready_whole, w->now);
    }
}

/* GPU-time and money over [warmup, duration). */
static void bill(struct world *w)
{
    struct outcome *out = w->out;
    __int128 used = 0;

    for (int i = 0; i < GPU_USES; i++) {
        __int128 ns = gauge_integral(&w->use_gauges[i], w->now);

        out->gpu_seconds[i] = (double)ns / 1e9;
        used += ns;
    }
    if (!w->cluster)
        return;
    if (used != bound_gpu_ns(w, w->now) - w->bound_before_ns) {
        error_set(w->err, ERROR_INTERNAL, w->scenario->name,
                  "GPU time is not conserved: by use %.9f s, bound on nodes %.9f s", (double)used / 1e9,
                  (double)(bound_gpu_ns(w, w->now) - w->bound_before_ns) / 1e9);
        world_fail(w);
        return;
    }
    world_bill(w, (double)used / 1e9);
}

void measure_window_over(struct world *w)
{
    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];

        settle_shortage(w, s);
        s->out->replicas_mean = gauge_mean(&s->ready_whole, w->now);
        s->out->replicas_min = s->ready_whole.low;
        s->out->replicas_max = s->ready_whole.high;
    }
    bill(w);
    if (w->options->keep && w->now % w->scenario->bucket != 0)
        measure_bucket(w); /* the last, shorter one */
    w->measuring_over = true;
    world_schedule(w, SLOT_BUCKET, SIM_NEVER, RANK_MEASURE);
    world_schedule(w, SLOT_SECOND, SIM_NEVER, RANK_MEASURE);
}

static float bucket_mean(struct gauge *gauge, sim_time now)
{
    double mean = gauge_mean(gauge, now);

    gauge_restart(gauge, now);
    return (float)mean;
}

void measure_bucket(struct world *w)
{
    sim_time bucket = w->scenario->bucket, now = w->now;
    sim_time start = (now - 1) / bucket * bucket;
    double seconds = sim_time_seconds(now - start);

    for (int32_t i = 0; i < w->service_count && !w->failed; i++) {
        struct service_run *s = &w->services[i];
        struct series_record record = {
            .start = start,
            .arrivals = s->bucket_arrivals,
            .completed = s->bucket_completed,
            .rejected = s->bucket_rejected,
            .timed_out = s->bucket_timed_out,
            .p50_ns = histogram_quantile(&s->bucket_latency, 0.5),
            .p99_ns = histogram_quantile(&s->bucket_latency, 0.99),
            .queue = bucket_mean(&s->waiting, now),
            .running = bucket_mean(&s->running, now),
            .desired = bucket_mean(&s->desired_gauge, now),
            .need = bucket_mean(&s->need_gauge, now),
            .capacity_per_s = bucket_mean(&s->capacity_gauge, now) / 1000.0F,
            .offered_per_s = (float)((double)s->bucket_arrivals / seconds),
            .cost_per_hour = (float)world_price_rate(w),
        };

        for (int k = 0; k < REPLICA_ENDED; k++)
            record.replicas[k] = bucket_mean(&s->state_gauges[k], now);
        if (!s->capacity)
            record.need = record.capacity_per_s = NAN;
        if (spool_append(w->out->series[i], &record, w->err) < 0)
            world_fail(w);
        s->bucket_arrivals = s->bucket_completed = s->bucket_rejected = s->bucket_timed_out = 0;
        histogram_reset(&s->bucket_latency);
    }
    world_schedule(w, SLOT_BUCKET, now - now % bucket + bucket, RANK_MEASURE);
}

/* Once a second: the rate over the last 30 s, and what it needs. */
void measure_second(struct world *w)
{
    int64_t second = w->now / SIM_SECOND;
    int64_t span = second < 30 ? second : 30;

    for (int32_t i = 0; i < w->service_count; i++) {
        struct service_run *s = &w->services[i];

        s->second_counts[second & 31] = s->arrivals_total;
        s->observed_rate = (double)(s->arrivals_total - s->second_counts[(second - span) & 31]) /
                           (double)span;
        if (!s->capacity)
            continue;
        settle_shortage(w, s);
        s->need = capacity_need(s->capacity, s->observed_rate);
        gauge_set(&s->need_gauge, w->now, s->need);
        s->limited = 0;
        if (s->counts[START_NODE] > 0)
            for (int32_t k = 0; k < s->fleet_count; k++)
                s->limited += cluster_limited(w->cluster, s->fleet[k]);
    }
    world_schedule(w, SLOT_SECOND, w->now + SIM_SECOND, RANK_MEASURE);
}

/* Requests in = requests out, and Little's identity: the integral of the number inside is the sum of the
 * times inside. */
static int check(struct world *w, struct service_run *s)
{
    const struct outcome_service *out = s->out;
    int64_t ended = out->completed + out->rejected + out->timed_out + out->failed + out->in_flight;

    if (out->offered != ended)
        return error_set(w->err, ERROR_INTERNAL, s->config->name,
                         "requests are not conserved: %lld offered, %lld ended", (long long)out->offered,
                         (long long)ended);
    if (s->entered_jobs != s->left_jobs || s->little.value != 0)
        return error_set(w->err, ERROR_INTERNAL, s->config->name,
                         "attempts are not conserved: %lld in, %lld out", (long long)s->entered_jobs,
                         (long long)s->left_jobs);
    if (gauge_integral(&s->little, w->now) != s->sojourn_ns)
        return error_set(
            w->err, ERROR_INTERNAL, s->config->name,
            "Little's identity does not hold: integral %.9f, sum of times inside %.9f request-seconds",
            (double)gauge_integral(&s->little, w->now) / 1e9, (double)s->sojourn_ns / 1e9);
    return 0;
}

int measure_finish(struct world *w)
{
    w->out->end = w->now;
    w->out->events = w->events;
    for (int32_t i = 0; i < w->service_count; i++) {
        requests_finish(w, &w->services[i]);
        if (check(w, &w->services[i]) < 0)
            return -1;
    }
    replicas_record_living(w);
    return w->failed ? -1 : 0;
}
