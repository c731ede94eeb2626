#include "sim/run/world_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/*
 * Scaling: scrapes fill the metric pipelines, the policy is asked at its own period, and its answer becomes
 * replicas asked for, activated from the pool, or drained.
 */

static int32_t need_of(void *self, double rate)
{
    return capacity_need(self, rate);
}

static double rate_of(void *self, sim_time t)
{
    return traffic_rate(self, t);
}

/* Most replicas of this service that the cluster could hold if it were alone. */
static int32_t cluster_holds(const struct world *w, const struct service_run *s)
{
    const struct cluster_config *cluster = &w->scenario->cluster;
    int64_t sum = 0;

    for (int32_t i = 0; i < cluster->pool_count; i++)
        sum += (int64_t)(cluster->pools[i].gpus / s->config->start.gpus) * cluster->pools[i].max;
    return sum > INT32_MAX ? INT32_MAX : (int32_t)sum;
}

static double median_scale_out(const struct world *w, const struct service_run *s)
{
    return start_alone_seconds(&s->config->start, 0.5, w->scenario->cluster.registry_bytes_per_s,
                               w->scenario->cluster.store_bytes_per_s, 0);
}

/* Phases of controllers and scrapes are drawn once per replication, the same under every strategy. */
static sim_time phase(const struct world *w, const struct service_run *s, const char *purpose,
                      uint64_t ordinal, sim_time period)
{
    uint64_t key = random_key(w->scenario->seed, s->config->name, purpose, (uint64_t)w->replication);

    return (sim_time)(random_uniform_of(random_key_ordinal(key, ordinal)) * (double)period);
}

int scaling_open(struct world *w, struct service_run *s)
{
    const struct metric_config *metrics;
    struct policy_env env;

    s->setup = &w->scenario->strategies[w->strategy].policies[s->index];
    s->depth = s->setup->type->depth(s->setup->config);
    s->desired = s->config->initial;
    gauge_set(&s->desired_gauge, 0, s->desired);
    metrics = s->setup->type->metrics(s->setup->config, &s->pipeline_count);
    if (s->pipeline_count > 0) {
        s->pipelines = calloc((size_t)s->pipeline_count, sizeof *s->pipelines);
        s->readings = calloc((size_t)s->pipeline_count, sizeof *s->readings);
        if (!s->pipelines || !s->readings)
            return error_memory(w->err, "world");
    }
    for (int32_t m = 0; m < s->pipeline_count; m++) {
        if (pipeline_init(&s->pipelines[m], &metrics[m], w->err) < 0 ||
            pipeline_reserve(&s->pipelines[m], 1, w->err) < 0)
            return -1;
        world_schedule(w, world_slot_policy(w, s->index) + 1 + (uint32_t)m,
                       phase(w, s, "scrape", (uint64_t)m, metrics[m].interval), RANK_SCRAPE);
    }
    if (s->setup->type->needs_capacity(s->setup->config) && !s->capacity)
        return error_set(w->err, ERROR_INPUT, s->config->name,
                         "the policy %s solves replicas backward from the SLO, but this service has no "
                         "\"slo\" with a latency bound",
                         s->setup->type->name);
    env = (struct policy_env){
        .need = need_of,
        .need_self = (void *)(uintptr_t)s->capacity,
        .rate = rate_of,
        .rate_self = s->config->traffic,
        .history = traffic_history(s->config->traffic),
        .duration = w->duration,
        .initial = s->config->initial,
        .max_replicas = cluster_holds(w, s),
    };
    if (s->setup->type->create(s->setup->config, &env, &s->policy, w->err) < 0)
        return -1;
    s->policy_period = s->setup->type->period(s->setup->config);
    /* A controller without a period, and one that acts by the clock, act at the start. */
    world_schedule(w, world_slot_policy(w, s->index),
                   s->policy_period == SIM_NEVER || s->pipeline_count == 0
                       ? 0
                       : phase(w, s, "controller", 0, s->policy_period),
                   RANK_POLICY);
    return 0;
}

void scaling_close(struct world *w, struct service_run *s)
{
    (void)w;
    if (s->policy)
        s->setup->type->destroy(s->policy);
    for (int32_t m = 0; s->pipelines && m < s->pipeline_count; m++)
        pipeline_free(&s->pipelines[m]);
    free(s->pipelines);
    free(s->readings);
    free(s->pods);
    free(s->pod_replicas);
    free(s->pod_values);
}

/* The server answers its metrics endpoint from the time it listens. */
static bool exports_metrics(const struct replica *r)
{
    return r->state == REPLICA_READY || r->state == REPLICA_DRAINING || (int)r->state == START_PROBE ||
           (int)r->state == START_ENDPOINT;
}

void scaling_scrape(struct world *w, struct service_run *s, uint32_t metric)
{
    struct pipeline *pipeline = &s->pipelines[metric];
    const struct metric_config *config = pipeline->config;

    if (config->kind == METRIC_LATENCY) {
        pipeline_scrape_latency(pipeline, w->now);
    } else if (metric_is_external(config->kind, s->config->routing.central)) {
        pipeline_scrape_value(pipeline, 0, w->now, (double)s->central_waiting);
    } else {
        for (int32_t i = 0; i < s->fleet_count; i++) {
            struct replica *r = &w->replicas[s->fleet[i]];
            struct server_gauges gauges;

            if (r->member || !exports_metrics(r))
                continue;
            r->server->type->gauges(r->server, w->now, &gauges);
            pipeline_scrape(pipeline, s->fleet[i], w->now, &gauges);
        }
    }
    world_schedule(w, world_slot_policy(w, s->index) + 1 + metric, w->now + config->interval, RANK_SCRAPE);
}

void scaling_saw_latency(struct service_run *s, sim_time latency)
{
    for (int32_t m = 0; m < s->pipeline_count; m++)
        if (s->pipelines[m].config->kind == METRIC_LATENCY)
            histogram_record(&s->pipelines[m].current, latency);
}

/* ---- the view ---- */

static bool view_reserve(struct world *w, struct service_run *s, int32_t pods)
{
    int32_t size = s->pods_size ? s->pods_size : 64;

    if (pods <= s->pods_size)
        return true;
    while (size < pods)
        size *= 2;
    free(s->pods);
    free(s->pod_replicas);
    free(s->pod_values);
    s->pods = calloc((size_t)size, sizeof *s->pods);
    s->pod_replicas = calloc((size_t)size, sizeof *s->pod_replicas);
    s->pod_values = calloc((size_t)size * (size_t)(s->pipeline_count ? s->pipeline_count : 1),
                           sizeof *s->pod_values);
    s->pods_size = size;
    if (s->pods && s->pod_replicas && s->pod_values)
        return true;
    error_memory(w->err, "world");
    world_fail(w);
    return false;
}

static struct pod_view pod_of(const struct replica *r)
{
    bool started = r->container_start != SIM_NEVER;

    return (struct pod_view){
        .ordinal = r->ordinal,
        .phase = r->state == REPLICA_DRAINING ? POD_TERMINATING
                 : started                    ? POD_RUNNING
                                              : POD_PENDING,
        .ready = r->state == REPLICA_READY || (int)r->state == START_ENDPOINT,
        .created = r->asked,
        .started = r->container_start,
        .ready_changed = r->ready_changed,
    };
}

static void read_metric(struct world *w, struct service_run *s, int32_t m, struct policy_view *view)
{
    const struct pipeline *pipeline = &s->pipelines[m];
    const struct metric_config *config = pipeline->config;
    struct metric_reading *reading = &s->readings[m];
    double sum = 0, truth = 0;
    int32_t sampled = 0, true_count = 0;

    *reading = (struct metric_reading){.external = NAN, .newest = SIM_NEVER, .truth = NAN, .seen = NAN};
    /* As the custom metrics API reports it: without a window of its own the controller assumes 60 s. */
    reading->sample_window = config->window > 0 ? config->window : SIM_MINUTE;
    if (metric_is_external(config->kind, s->config->routing.central)) {
        if (config->kind == METRIC_LATENCY) {
            reading->external = pipeline_read_latency(pipeline, w->now, &reading->newest);
        } else {
            reading->external = pipeline_read(pipeline, 0, w->now, &reading->newest);
            reading->truth = (double)s->central_waiting;
        }
        reading->seen = reading->external;
        return;
    }
    for (int32_t i = 0; i < view->pod_count; i++) {
        const struct replica *r = &w->replicas[s->pod_replicas[i]];
        double *value = &s->pod_values[(size_t)m * (size_t)s->pods_size + (size_t)i];
        sim_time newest = SIM_NEVER;
        struct server_gauges gauges;

        *value = pipeline_read(pipeline, s->pod_replicas[i], w->now, &newest);
        if (!isnan(*value)) {
            sum += *value;
            sampled++;
            if (reading->newest == SIM_NEVER || newest > reading->newest)
                reading->newest = newest;
        }
        if (r->state == REPLICA_READY) {
            r->server->type->gauges(r->server, w->now, &gauges);
            truth += pipeline_truth(config, &gauges);
            true_count++;
        }
    }
    reading->pod = s->pod_values + (size_t)m * (size_t)s->pods_size;
    if (sampled)
        reading->seen = sum / sampled;
    if (true_count)
        reading->truth = truth / true_count;
}

static bool build_view(struct world *w, struct service_run *s, struct policy_view *view)
{
    int32_t count = 0;

    if (!view_reserve(w, s, s->fleet_count))
        return false;
    *view = (struct policy_view){
        .now = w->now,
        .desired = s->desired,
        .observed_rate = s->observed_rate,
        .pool_prepared = s->counts[REPLICA_PREPARED],
        .pool_members = s->members,
        .pods = s->pods,
        .readings = s->readings,
    };
    for (int32_t i = 0; i < s->fleet_count; i++) {
        const struct replica *r = &w->replicas[s->fleet[i]];

        if (r->member)
            continue;
        s->pods[count] = pod_of(r);
        s->pod_replicas[count] = s->fleet[i];
        view->replicas += r->state != REPLICA_DRAINING;
        view->ready += r->state == REPLICA_READY;
        count++;
    }
    view->pod_count = count;
    view->scale_out_p90_s = s->scale_outs.total ? (double)histogram_quantile(&s->scale_outs, 0.9) / 1e9
                                                : median_scale_out(w, s);
    for (int32_t m = 0; m < s->pipeline_count; m++)
        read_metric(w, s, m, view);
    return true;
}

/* ---- what the decision does ---- */

/* Oldest member at depth, UINT32_MAX if there is none. The fleet is in the order of asking. */
static uint32_t oldest_prepared(const struct world *w, const struct service_run *s)
{
    uint32_t oldest = UINT32_MAX;

    for (int32_t i = 0; i < s->fleet_count; i++) {
        const struct replica *r = &w->replicas[s->fleet[i]];

        if (r->member && r->state == REPLICA_PREPARED &&
            (oldest == UINT32_MAX || r->prepared < w->replicas[oldest].prepared))
            oldest = s->fleet[i];
    }
    return oldest;
}

/* Whom a ReplicaSet deletes first: not yet ready ones, the least advanced first; then the youngest. */
static uint32_t victim(const struct world *w, const struct service_run *s, bool members)
{
    uint32_t found = UINT32_MAX;

    for (int32_t i = 0; i < s->fleet_count; i++) {
        const struct replica *r = &w->replicas[s->fleet[i]];
        const struct replica *best = found == UINT32_MAX ? NULL : &w->replicas[found];

        if (r->member != members || r->state == REPLICA_DRAINING)
            continue;
        if (!best || r->state < best->state || (r->state == best->state && r->ordinal > best->ordinal))
            found = s->fleet[i];
    }
    return found;
}

static int32_t fleet_size(const struct service_run *s)
{
    int32_t size = s->counts[REPLICA_READY];

    for (int stage = 0; stage < START_STAGES; stage++)
        size += s->counts[stage];
    return size;
}

static void resize(struct world *w, struct service_run *s)
{
    int32_t change = s->desired - fleet_size(s);

    for (; change > 0 && !w->failed; change--) {
        uint32_t member = oldest_prepared(w, s);

        if (member != UINT32_MAX)
            replica_activate(w, member);
        else
            replica_create(w, s, ORIGIN_COLD, false);
    }
    for (; change < 0 && !w->failed; change++) {
        uint32_t index = victim(w, s, false);

        assert(index != UINT32_MAX);
        replica_drain(w, index);
    }
}

void scaling_refill(struct world *w, struct service_run *s)
{
    while (s->members < s->pool_target && !w->failed)
        replica_create(w, s, ORIGIN_POOL, true);
    while (s->members > s->pool_target && !w->failed)
        replica_end(w, victim(w, s, true));
}

static void record(struct world *w, struct service_run *s, const struct policy_view *view,
                   const struct policy_decision *decision, int32_t to)
{
    struct decision_record record = {
        .at = w->now,
        .service = s->index,
        .from = s->desired,
        .to = to,
        .proposal = decision->proposal,
        .ready = view->ready,
        .metric = decision->metric,
        .seen = decision->seen,
        .truth = NAN,
        .age = SIM_NEVER,
    };

    if (decision->metric >= 0 && decision->metric < s->pipeline_count) {
        const struct metric_reading *reading = &s->readings[decision->metric];

        record.seen = reading->seen;
        record.truth = reading->truth;
        record.age = reading->newest == SIM_NEVER ? SIM_NEVER : w->now - reading->newest;
    }
    for (size_t i = 0; i + 1 < sizeof record.reason && decision->reason[i]; i++)
        record.reason[i] = decision->reason[i];
    for (size_t i = 0; i + 1 < sizeof record.limit && decision->limit[i]; i++)
        record.limit[i] = decision->limit[i];
    if (w->out->decisions && spool_append(w->out->decisions, &record, w->err) < 0)
        world_fail(w);
    if (w->options->observe) {
        struct world_event event = {.at = w->now,
                                    .kind = EVENT_DECISION,
                                    .service = s->index,
                                    .replica = -1,
                                    .node = -1,
                                    .decision = &record};

        w->options->observe(w->options->observer, &event);
    }
}

void scaling_decide(struct world *w, struct service_run *s)
{
    struct policy_decision decision = {
        .desired = -1, .pool = -1, .proposal = -1, .metric = -1, .seen = NAN, .reason = "", .limit = ""};
    struct policy_view view;
    int32_t to;

    world_schedule(w, world_slot_policy(w, s->index),
                   s->policy_period == SIM_NEVER || w->now + s->policy_period >= w->stop
                       ? SIM_NEVER
                       : w->now + s->policy_period,
                   RANK_POLICY);
    if (!build_view(w, s, &view))
        return;
    s->setup->type->decide(s->policy, &view, &decision);
    to = decision.desired >= 0 ? decision.desired : s->desired;
    if (to != s->desired || decision.recorded)
        record(w, s, &view, &decision, to);
    if (to != s->desired) {
        measure_settle(w, s);
        s->desired = to;
        gauge_set(&s->desired_gauge, w->now, to);
    }
    resize(w, s);
    if (decision.pool >= 0)
        s->pool_target = decision.pool;
    scaling_refill(w, s);
}
