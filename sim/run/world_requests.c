#include "sim/run/world_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Requests: where they enter, who gets them, how they end. Each logical request is one attempt, a struct job
 * from the world's pool; nothing is allocated for it beyond the pool's own growth.
 */

enum { JOB_CHUNK = 1024 };

static struct job *job_take(struct world *w)
{
    struct job *job;

    if (!w->free_jobs) {
        struct job **chunks = realloc(w->job_chunks, (size_t)(w->job_chunk_count + 1) * sizeof *chunks);
        struct job *chunk;

        if (!chunks) {
            error_memory(w->err, "world");
            world_fail(w);
            return NULL;
        }
        w->job_chunks = chunks;
        chunk = calloc(JOB_CHUNK, sizeof *chunk);
        if (!chunk) {
            error_memory(w->err, "world");
            world_fail(w);
            return NULL;
        }
        w->job_chunks[w->job_chunk_count++] = chunk;
        for (int i = JOB_CHUNK; i-- > 0;) {
            chunk[i].next = w->free_jobs;
            w->free_jobs = &chunk[i];
        }
    }
    job = w->free_jobs;
    w->free_jobs = job->next;
    return job;
}

/* The attempt is no longer anywhere. */
static void job_leave(struct world *w, struct service_run *s, struct job *job)
{
    sim_time now = w->now;

    gauge_add(&s->little, now, -1);
    s->sojourn_ns += now - job->submitted;
    s->left_jobs++;
    w->open_jobs--;
    job->state = JOB_FREE;
    job->next = w->free_jobs;
    w->free_jobs = job;
}

static void deadline_add(struct world *w, struct service_run *s, struct job *job)
{
    /* One timeout for all requests of a service: deadlines come in the order of arrival, so a list is a
     * sorted queue. */
    job->deadline = job->submitted + s->config->routing.timeout;
    job->older = s->newest;
    job->newer = NULL;
    if (s->newest)
        s->newest->newer = job;
    else
        s->oldest = job;
    s->newest = job;
    if (timeline_time(&w->timeline, world_slot_timeout(w, s->index)) == SIM_NEVER)
        world_schedule(w, world_slot_timeout(w, s->index), s->oldest->deadline, RANK_TIMEOUT);
}

/* The timer is left as it is: when it fires early it is set again. */
static void deadline_remove(struct service_run *s, struct job *job)
{
    if (job->deadline == SIM_NEVER)
        return;
    if (job->older)
        job->older->newer = job->newer;
    else
        s->oldest = job->newer;
    if (job->newer)
        job->newer->older = job->older;
    else
        s->newest = job->older;
    job->deadline = SIM_NEVER;
}

/* Did the completed request meet every latency bound? Counts the bounds that a peak request missed. */
static bool job_is_good(const struct slo *slo, const struct job *job, struct outcome_service *out)
{
    bool good = true;

    for (int32_t i = 0; i < slo->count; i++) {
        sim_time value = -1;

        switch (slo->bounds[i].metric) {
        case SLO_LATENCY:
            value = job->finished - job->intended;
            break;
        case SLO_TTFT:
            value = (job->first_output == SIM_NEVER ? job->finished : job->first_output) - job->intended;
            break;
        case SLO_TPOT:
            if (job->first_output != SIM_NEVER && job->tokens_out > 1)
                value = (job->finished - job->first_output) / (job->tokens_out - 1);
            break;
        case SLO_WAIT:
            value = job->started - job->intended;
            break;
        case SLO_METRICS:
            break;
        }
        if (value > slo->bounds[i].bound) {
            good = false;
            out->bound_missed_peak[i] += job->peak;
        }
    }
    return good;
}

/* The logical request is over: counted once, in exactly one way. The attempt itself may still be inside
 * (abandoned). */
static void request_over(struct world *w, struct service_run *s, struct job *job, enum job_state state)
{
    struct outcome_service *out = s->out;
    bool good = false;

    deadline_remove(s, job);
    if (!w->measuring_over) {
        s->bucket_completed += state == JOB_COMPLETED;
        s->bucket_rejected += state == JOB_REJECTED || state == JOB_FAILED;
        s->bucket_timed_out += state == JOB_TIMED_OUT;
    }
    if (job->measured) {
        struct histogram *latency = job->peak ? &out->latency_peak : &out->latency_off;

        switch (state) {
        case JOB_COMPLETED:
            out->completed++;
            out->tokens_in += job->tokens_in;
            out->tokens_out += job->tokens_out;
            histogram_record(latency, job->finished - job->intended);
            histogram_record(&out->wait, job->started - job->intended);
            if (job->first_output != SIM_NEVER) {
                histogram_record(&out->ttft, job->first_output - job->intended);
                if (job->tokens_out > 1)
                    histogram_record(&out->tpot, (job->finished - job->first_output) / (job->tokens_out - 1));
            }
            good = job_is_good(&s->config->slo, job, out);
            break;
        case JOB_REJECTED:
            out->rejected++;
            break;
        case JOB_TIMED_OUT:
            out->timed_out++;
            break;
        case JOB_FAILED:
            out->failed++;
            break;
        default:
            out->in_flight++;
            break;
        }
        if (state != JOB_COMPLETED) {
            histogram_record_infinite(latency);
            for (int32_t i = 0; job->peak && i < out->bounds; i++)
                out->bound_missed_peak[i]++;
        }
        if (good)
            out->good++;
        else
            s->minute_bad[(job->intended - w->warmup) / SIM_MINUTE]++;
    }
    if (state == JOB_COMPLETED) {
        scaling_saw_latency(s, job->finished - job->intended);
        if (w->options->keep && !w->measuring_over)
            histogram_record(&s->bucket_latency, job->finished - job->intended);
    } else if (w->options->keep && !w->measuring_over) {
        histogram_record_infinite(&s->bucket_latency);
    }
    if (w->options->request) {
        uint8_t was = job->state;

        job->state = (uint8_t)state;
        w->options->request(w->options->request_to, job);
        job->state = was;
    }
}

/* Brings gauges, timeline and balancer up to date with a server that was just called. */
static void server_sync(struct world *w, struct service_run *s, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct server *server = r->server;
    int32_t waiting = server->waiting - r->seen_waiting, running = server->running - r->seen_running;

    if (waiting) {
        gauge_add(&s->waiting, w->now, waiting);
        r->seen_waiting = server->waiting;
    }
    if (running) {
        gauge_add(&s->running, w->now, running);
        r->seen_running = server->running;
        if (r->use == GPU_BUSY && !server->running)
            measure_use(w, r, GPU_IDLE);
        else if (r->use == GPU_IDLE && server->running)
            measure_use(w, r, GPU_BUSY);
    }
    world_schedule(w, world_slot_server(w, index), server->next_time, server->next_rank);
    if (s->config->routing.central) { /* room may change while the number inside does not */
        bool room = server->type->room(server) > 0 && r->state == REPLICA_READY;

        if (room != r->routed) {
            r->routed = room;
            if (!room)
                s->balancer->type->remove(s->balancer, index);
            else if (s->balancer->type->add(s->balancer, index, server->running + server->waiting, w->err) <
                     0)
                world_fail(w);
            return;
        }
    }
    if (r->routed && waiting + running != 0)
        s->balancer->type->changed(s->balancer, index, server->running + server->waiting);
}

static void reject(struct world *w, struct service_run *s, struct job *job)
{
    request_over(w, s, job, JOB_REJECTED);
    job_leave(w, s, job);
}

static void submit(struct world *w, struct service_run *s, struct job *job, uint32_t index)
{
    struct replica *r = &w->replicas[index];

    job->replica = index;
    job->state = JOB_SERVER;
    if (!r->server->type->submit(r->server, w->now, job)) {
        reject(w, s, job);
        return;
    }
    server_sync(w, s, index);
}

static void central_append(struct world *w, struct service_run *s, struct job *job)
{
    job->state = JOB_CENTRAL;
    job->replica = UINT32_MAX;
    job->next = NULL;
    job->previous = s->central_last;
    if (s->central_last)
        s->central_last->next = job;
    else
        s->central_first = job;
    s->central_last = job;
    s->central_waiting++;
    gauge_add(&s->waiting, w->now, 1);
}

static void central_unlink(struct world *w, struct service_run *s, struct job *job)
{
    if (job->previous)
        job->previous->next = job->next;
    else
        s->central_first = job->next;
    if (job->next)
        job->next->previous = job->previous;
    else
        s->central_last = job->previous;
    job->next = job->previous = NULL;
    s->central_waiting--;
    gauge_add(&s->waiting, w->now, -1);
}

/* The head of the central queue to whoever has room, as long as somebody has. */
static void central_serve(struct world *w, struct service_run *s)
{
    while (s->central_first && !w->failed) {
        struct job *job = s->central_first;
        uint32_t index = s->balancer->type->pick(s->balancer, job);

        if (index == UINT32_MAX)
            return;
        central_unlink(w, s, job);
        submit(w, s, job, index);
    }
}

static void route(struct world *w, struct service_run *s, struct job *job)
{
    const struct routing_config *routing = &s->config->routing;
    struct balancer *balancer = s->balancer;

    if (routing->central) {
        uint32_t index = s->central_first ? UINT32_MAX : balancer->type->pick(balancer, job);

        if (index != UINT32_MAX)
            submit(w, s, job, index);
        else if (s->central_waiting >= routing->queue_max)
            reject(w, s, job);
        else
            central_append(w, s, job);
    } else {
        uint32_t index = balancer->type->pick(balancer, job);
        struct server *server;

        if (index == UINT32_MAX) { /* no endpoint: the connection is refused */
            reject(w, s, job);
            return;
        }
        server = w->replicas[index].server;
        if (server->waiting >= routing->queue_max && server->type->room(server) <= 0)
            reject(w, s, job);
        else
            submit(w, s, job, index);
    }
}

static void arrival_read(struct world *w, struct service_run *s)
{
    int got = traffic_next(s->arrivals, &s->next, w->err);

    s->more = got > 0 && s->next.at < w->duration;
    if (got < 0)
        world_fail(w);
}

static bool in_peak(const struct world *w, struct service_run *s, sim_time at)
{
    const struct scenario *scenario = w->scenario;

    while (s->peak_cursor < scenario->peak_count && scenario->peaks[s->peak_cursor].to <= at)
        s->peak_cursor++;
    return s->peak_cursor < scenario->peak_count && scenario->peaks[s->peak_cursor].from <= at;
}

void request_arrive(struct world *w, struct service_run *s)
{
    const struct arrival *a = &s->next;
    struct job *job = job_take(w);

    if (!job)
        return;
    job->intended = job->submitted = a->at;
    job->request = s->requests++;
    job->luck = a->luck;
    job->work_ns = a->work_ns;
    job->prefix_group = a->prefix_group;
    job->prefix_tokens = a->prefix_tokens;
    job->tokens_in = a->tokens_in;
    job->tokens_out = a->tokens_out;
    job->started = job->first_output = job->finished = SIM_NEVER;
    job->largest_gap = 0;
    job->preemptions = job->cached_tokens = 0;
    job->attempt = 0;
    job->deadline = SIM_NEVER;
    job->measured = a->at >= w->warmup;
    job->peak = in_peak(w, s, a->at);
    s->config->serve.type->draw(s->config->serve.config, s->draw_stream.rng, job);

    s->arrivals_total++;
    s->bucket_arrivals++;
    if (job->measured) {
        s->out->offered++;
        s->minute_offered[(a->at - w->warmup) / SIM_MINUTE]++;
    }
    gauge_add(&s->little, w->now, 1);
    s->entered_jobs++;
    w->open_jobs++;
    if (s->config->routing.timeout != SIM_NEVER)
        deadline_add(w, s, job);
    route(w, s, job);
    arrival_read(w, s);
}

static void finish_jobs(struct world *w, struct service_run *s, struct replica *r, struct job *job)
{
    while (job) {
        struct job *next = job->next;

        r->served++;
        if (job->state != JOB_ABANDONED)
            request_over(w, s, job, JOB_COMPLETED);
        job_leave(w, s, job);
        job = next;
    }
}

void server_advance(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];
    struct job *done = r->server->type->advance(r->server, w->now);

    finish_jobs(w, s, r, done);
    server_sync(w, s, index);
    if (s->central_first && done)
        central_serve(w, s);
    if (r->state == REPLICA_DRAINING && r->server->running + r->server->waiting == 0)
        replica_end(w, index);
}

void timeouts_run(struct world *w, struct service_run *s)
{
    while (s->oldest && s->oldest->deadline <= w->now && !w->failed) {
        struct job *job = s->oldest;
        enum cancel_rule rule = s->config->routing.cancel;

        request_over(w, s, job, JOB_TIMED_OUT);
        if (job->state == JOB_CENTRAL) {
            if (rule != CANCEL_NONE) {
                central_unlink(w, s, job);
                job_leave(w, s, job);
            } else {
                job->state = JOB_ABANDONED;
            }
        } else {
            uint32_t index = job->replica;
            struct server *server = w->replicas[index].server;

            if (rule != CANCEL_NONE && server->type->cancel(server, w->now, job, rule == CANCEL_ALL)) {
                job_leave(w, s, job);
                server_sync(w, s, index);
                central_serve(w, s);
                if (w->replicas[index].state == REPLICA_DRAINING && server->running + server->waiting == 0)
                    replica_end(w, index);
            } else {
                job->state = JOB_ABANDONED; /* nobody waits for it, but it is worked on */
            }
        }
    }
    world_schedule(w, world_slot_timeout(w, s->index), s->oldest ? s->oldest->deadline : SIM_NEVER,
                   RANK_TIMEOUT);
}

void replica_route(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    assert(!r->routed);
    r->routed = true;
    if (s->balancer->type->add(s->balancer, index, r->server->running + r->server->waiting, w->err) < 0) {
        world_fail(w);
        return;
    }
    central_serve(w, s);
}

void replica_unroute(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];

    if (!r->routed)
        return;
    r->routed = false;
    s->balancer->type->remove(s->balancer, index);
}

void replica_drop_requests(struct world *w, uint32_t index)
{
    struct replica *r = &w->replicas[index];
    struct service_run *s = &w->services[r->service];
    struct job *job = r->server->type->evict(r->server, w->now);

    while (job) {
        struct job *next = job->next;

        if (job->state != JOB_ABANDONED)
            request_over(w, s, job, JOB_FAILED);
        job_leave(w, s, job);
        job = next;
    }
    server_sync(w, s, index);
}

int requests_open(struct world *w, struct service_run *s)
{
    const struct traffic *traffic = s->index == 0 && w->options->traffic ? w->options->traffic
                                                                         : s->config->traffic;
    uint64_t seed = w->scenario->seed, replication = (uint64_t)w->replication;
    sim_time measured = w->duration - w->warmup;
    size_t minutes = (size_t)(measured / SIM_MINUTE) + 1;

    s->minute_offered = calloc(minutes, sizeof *s->minute_offered);
    s->minute_bad = calloc(minutes, sizeof *s->minute_bad);
    if (!s->minute_offered || !s->minute_bad)
        return error_memory(w->err, "world");
    s->balancer = s->config->routing.balancer->create(w->err);
    if (!s->balancer)
        return -1;
    if (stream_open(&s->draw_stream, random_key(seed, s->config->name, "service", replication), w->err) < 0)
        return -1;
    if (traffic_open(traffic, seed, s->config->name, replication, &s->arrivals, w->err) < 0)
        return -1;
    arrival_read(w, s);
    return w->failed ? -1 : 0;
}

void requests_close(struct world *w, struct service_run *s)
{
    (void)w;
    if (s->arrivals)
        traffic_close(s->arrivals);
    if (s->balancer)
        s->balancer->type->destroy(s->balancer);
    stream_close(&s->draw_stream);
    free(s->minute_offered);
    free(s->minute_bad);
}

void requests_finish(struct world *w, struct service_run *s)
{
    for (struct job *job = s->central_first, *next; job; job = next) {
        next = job->next;
        if (job->state != JOB_ABANDONED)
            request_over(w, s, job, JOB_OPEN);
        central_unlink(w, s, job);
        job_leave(w, s, job);
    }
    for (int32_t i = 0; i < s->fleet_count; i++) {
        struct replica *r = &w->replicas[s->fleet[i]];
        struct job *job = r->server ? r->server->type->evict(r->server, w->now) : NULL;

        while (job) {
            struct job *next = job->next;

            if (job->state != JOB_ABANDONED)
                request_over(w, s, job, JOB_OPEN);
            job_leave(w, s, job);
            job = next;
        }
    }
    for (size_t i = 0, minutes = (size_t)((w->duration - w->warmup) / SIM_MINUTE) + 1; i < minutes; i++) {
        if (!s->minute_offered[i])
            continue;
        s->out->windows++;
        if ((double)s->minute_bad[i] > 0.01 * (double)s->minute_offered[i])
            s->out->violation_windows++;
    }
}
