#include "serve_support.h"

#include <math.h>
#include <stdio.h>

#include "models/replica/slots.h"
#include "sim/engine/random.h"

static struct server *open_slots(int count, struct service_model *model, struct document **doc)
{
    char text[128];
    struct error err = {0};
    struct server *server;

    snprintf(text, sizeof text, "{\"slots\": {\"count\": %d, \"speed\": 1}}", count);
    model_read(text, model, doc);
    server = model->type->create(model->config, &err);
    assert_non_null(server);
    return server;
}

static void close_slots(struct server *server, struct service_model *model, struct document *doc)
{
    model->type->destroy(server);
    service_model_free(model);
    document_free(doc);
}

static int64_t below(struct stream *stream, int64_t limit)
{
    return (int64_t)(stream_bits(stream) % (uint64_t)limit);
}

/*
 * Kiefer and Wolfowitz (1955): with the times at which the c slots become free, the n-th arrival takes the
 * one that is free first; it starts at max(its arrival, that time). No event queue, so an independent oracle
 * for every single request. Small integers make ties of every sort common.
 */
static void test_kiefer_wolfowitz(void **state)
{
    enum { JOBS = 3000 };
    struct job *jobs = calloc(JOBS, sizeof *jobs);
    uint64_t *order = calloc(JOBS, sizeof *order);
    struct stream stream;
    struct error err = {0};

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "slots", 0), &err), 0);
    for (int c = 1; c <= 8; c++) {
        for (int round = 0; round < 3; round++) {
            struct service_model model;
            struct document *doc;
            struct server *server = open_slots(c, &model, &doc);
            int64_t free_at[8] = {0}, now = 0, late = 0;

            for (int i = 0; i < JOBS; i++) {
                /* mean gap 2; mean work c, 2c, 3c: load 0.5, 1, 1.5 */
                int64_t most = round == 0 ? 2 * c : round == 1 ? 4 * c : 6 * c;

                now += below(&stream, 5);
                job_prepare(&jobs[i], (uint64_t)i, now, below(&stream, most + 1));
            }
            serve_all(server, jobs, JOBS, order);
            for (int i = 0; i < JOBS; i++) {
                int least = 0;
                int64_t start;

                for (int k = 1; k < c; k++)
                    least = free_at[k] < free_at[least] ? k : least;
                start = free_at[least] > jobs[i].intended ? free_at[least] : jobs[i].intended;
                free_at[least] = start + jobs[i].work_ns;
                late += start > jobs[i].intended;
                assert_int_equal(jobs[i].started, start);
                assert_int_equal(jobs[i].finished, free_at[least]);
                assert_int_equal(jobs[i].first_output, SIM_NEVER);
            }
            assert_true(round == 0 || late > JOBS / 4); /* the queue was in use */
            for (int i = 1; i < JOBS; i++) {
                const struct job *a = &jobs[order[i - 1]], *b = &jobs[order[i]];

                assert_true(a->finished <= b->finished);
                /* admitted at the same time and ended at the same time: in the order of admission. An
                 * admission later in time comes later, too, except of jobs without work, which end in a call
                 * of their own. */
                if (a->finished == b->finished && a->started < b->finished && b->started < b->finished)
                    assert_true(a->request < b->request);
            }
            close_slots(server, &model, doc);
        }
    }
    stream_close(&stream);
    free(order);
    free(jobs);
}

/* 64 slots and more, all busy: the heap has three levels, so its every branch runs. */
static void test_many_slots(void **state)
{
    enum { JOBS = 20000, SLOTS = 100 };
    struct job *jobs = calloc(JOBS, sizeof *jobs);
    int64_t free_at[SLOTS] = {0}, now = 0;
    struct service_model model;
    struct document *doc;
    struct server *server = open_slots(SLOTS, &model, &doc);
    struct stream stream;
    struct error err = {0};

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "slots", 1), &err), 0);
    for (int i = 0; i < JOBS; i++) {
        now += below(&stream, 1000);
        job_prepare(&jobs[i], (uint64_t)i, now, below(&stream, 100000));
    }
    serve_all(server, jobs, JOBS, NULL);
    for (int i = 0; i < JOBS; i++) {
        int least = 0;

        for (int k = 1; k < SLOTS; k++)
            least = free_at[k] < free_at[least] ? k : least;
        if (free_at[least] < jobs[i].intended)
            free_at[least] = jobs[i].intended;
        assert_int_equal(jobs[i].started, free_at[least]);
        free_at[least] += jobs[i].work_ns;
        assert_int_equal(jobs[i].finished, free_at[least]);
    }
    stream_close(&stream);
    close_slots(server, &model, doc);
    free(jobs);
}

/*
 * Against a naive server that scans everything, under random submits, cancels of queued and of running jobs,
 * and evictions.
 */
enum naive_state { OUTSIDE, QUEUED, INSIDE, DONE };
struct naive {
    enum naive_state state;
    int64_t admitted, started, finished;
};

static int count_state(const struct naive *naive, int jobs, enum naive_state wanted)
{
    int count = 0;

    for (int i = 0; i < jobs; i++)
        count += naive[i].state == wanted;
    return count;
}

/* Everything that ends until `until`: least (end, admission) first; the longest-waiting one takes its place.
 */
static void naive_serve(struct naive *naive, const struct job *jobs, int count, int64_t until,
                        int64_t *admissions)
{
    for (;;) {
        int best = -1, heir = -1;

        for (int i = 0; i < count; i++)
            if (naive[i].state == INSIDE &&
                (best < 0 || naive[i].finished < naive[best].finished ||
                 (naive[i].finished == naive[best].finished && naive[i].admitted < naive[best].admitted)))
                best = i;
        if (best < 0 || naive[best].finished > until)
            return;
        naive[best].state = DONE;
        for (int i = count - 1; i >= 0; i--)
            heir = naive[i].state == QUEUED ? i : heir;
        if (heir >= 0) {
            naive[heir].state = INSIDE;
            naive[heir].started = naive[best].finished;
            naive[heir].finished = naive[heir].started + jobs[heir].work_ns;
            naive[heir].admitted = (*admissions)++;
        }
    }
}

static void test_cancel_and_evict_random(void **state)
{
    enum { JOBS = 600 };
    static struct job jobs[JOBS];
    static struct naive naive[JOBS];
    struct stream stream;
    struct error err = {0};

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "slots", 2), &err), 0);
    for (int c = 1; c <= 8; c++) {
        struct service_model model;
        struct document *doc;
        struct server *server = open_slots(c, &model, &doc);
        int64_t now = 0, admissions = 0;
        int count = 0, cancelled_queued = 0, cancelled_running = 0, evictions = 0;

        memset(naive, 0, sizeof naive);
        while (count < JOBS) {
            int what = (int)below(&stream, 100);

            now += below(&stream, 4);
            serve_until(server, now, NULL, 0);
            naive_serve(naive, jobs, count, now, &admissions);
            if (what < 60) {
                job_prepare(&jobs[count], (uint64_t)count, now, 1 + below(&stream, 10 * c));
                assert_true(model.type->submit(server, now, &jobs[count]));
                if (count_state(naive, count, INSIDE) < c)
                    naive[count] = (struct naive){INSIDE, admissions++, now, now + jobs[count].work_ns};
                else
                    naive[count] = (struct naive){QUEUED, -1, SIM_NEVER, SIM_NEVER};
                count++;
            } else if (what < 99 && count > 0) {
                int victim = (int)below(&stream, count);
                bool too = below(&stream, 2) == 1;
                enum naive_state was = naive[victim].state;

                if (was != QUEUED && was != INSIDE)
                    continue;
                assert_int_equal(model.type->cancel(server, now, &jobs[victim], too), was == QUEUED || too);
                if (was == QUEUED || too) {
                    naive[victim].state = OUTSIDE;
                    cancelled_queued += was == QUEUED;
                    cancelled_running += was == INSIDE;
                }
                if (was == INSIDE && too) {
                    /* its place goes to the longest-waiting one, at once */
                    for (int i = 0; i < count; i++) {
                        if (naive[i].state != QUEUED)
                            continue;
                        naive[i] = (struct naive){INSIDE, admissions++, now, now + jobs[i].work_ns};
                        break;
                    }
                }
            } else if (what == 99) {
                struct job *job = model.type->evict(server, now), *next;
                int64_t last = -1;
                bool queue = false;

                evictions++;
                for (; job; job = next) {
                    struct naive *n = &naive[job->request];

                    next = job->next;
                    if (n->state == INSIDE) {
                        assert_false(queue); /* those in service come first, by admission */
                        assert_true(n->admitted > last);
                        last = n->admitted;
                    } else {
                        assert_int_equal(n->state, QUEUED);
                        if (queue)
                            assert_true((int64_t)job->request > last);
                        queue = true;
                        last = (int64_t)job->request;
                    }
                    n->state = OUTSIDE;
                }
                assert_int_equal(count_state(naive, count, INSIDE) + count_state(naive, count, QUEUED), 0);
            }
            assert_int_equal(server->running, count_state(naive, count, INSIDE));
            assert_int_equal(server->waiting, count_state(naive, count, QUEUED));
            assert_int_equal(model.type->room(server), c - server->running);
        }
        serve_until(server, SIM_NEVER - 1, NULL, 0);
        naive_serve(naive, jobs, count, SIM_NEVER - 1, &admissions);
        for (int i = 0; i < count; i++) {
            if (naive[i].state != DONE)
                continue;
            assert_int_equal(jobs[i].started, naive[i].started);
            assert_int_equal(jobs[i].finished, naive[i].finished);
        }
        assert_true(cancelled_running > 0 && evictions > 0);
        assert_true(cancelled_queued > 0);
        close_slots(server, &model, doc);
    }
    stream_close(&stream);
}

/*
 * Two slots:   job  at  work   start  end
 *               0    0    10      0    10
 *               1    2     4      2     6
 *               2    3     5      6    11     (waits 3 .. 6)
 *               3    4     1     10    11     (waits 4 .. 10)
 *               4   20     3     20    23
 * busy: 0 .. 11 and 20 .. 23. Integral of running = sum of the times in service: 10 + 4 + 5 + 1 + 3.
 */
static void test_gauges(void **state)
{
    static const int64_t at[] = {0, 2, 3, 4, 20}, work[] = {10, 4, 5, 1, 3};
    struct job jobs[5];
    struct service_model model;
    struct document *doc;
    struct server *server = open_slots(2, &model, &doc);
    struct server_gauges g;

    (void)state;
    for (int i = 0; i < 5; i++) {
        job_prepare(&jobs[i], (uint64_t)i, at[i], work[i]);
        jobs[i].tokens_in = 100 + i;
        jobs[i].tokens_out = 10 + i;
    }
    for (int i = 0; i < 4; i++)
        assert_true(model.type->submit(server, at[i], &jobs[i]));
    model.type->gauges(server, 5, &g);
    assert_int_equal(g.running, 2);
    assert_int_equal(g.waiting, 2);
    assert_int_equal(g.capacity, 2);
    assert_int_equal(g.busy_ns, 5);
    assert_int_equal(g.running_ns, 5 + 3); /* job 0 for 5, job 1 for 3 */
    assert_int_equal(g.started, 2);
    assert_int_equal(g.finished, 0);
    assert_true(isnan(g.kv_usage) && isnan(g.cache_hit_rate));
    assert_int_equal(model.type->room(server), 0);

    assert_int_equal(serve_until(server, 10, NULL, 0), 2);
    model.type->gauges(server, 10, &g);
    assert_int_equal(g.running, 2);
    assert_int_equal(g.waiting, 0);
    assert_int_equal(g.running_ns, 10 + 4 + 4);
    assert_int_equal(g.started, 4);
    assert_int_equal(g.finished, 2);
    assert_int_equal(g.prompt_tokens, 100 + 101);
    assert_int_equal(g.generation_tokens, 10 + 11);

    assert_int_equal(serve_until(server, 20, NULL, 0), 2);
    assert_true(model.type->submit(server, 20, &jobs[4]));
    assert_int_equal(serve_until(server, 30, NULL, 0), 1);
    model.type->gauges(server, 30, &g);
    assert_int_equal(g.busy_ns, 11 + 3);
    assert_int_equal(g.running_ns, 10 + 4 + 5 + 1 + 3);
    assert_int_equal(g.finished, 5);
    assert_int_equal(jobs[2].started, 6);
    assert_int_equal(jobs[3].started, 10);

    /* recycled: everything from zero, at a later time */
    model.type->reset(server, 40);
    model.type->gauges(server, 50, &g);
    assert_int_equal(g.busy_ns + g.running_ns + g.started + g.finished + g.prompt_tokens, 0);
    job_prepare(&jobs[0], 0, 50, 7);
    assert_true(model.type->submit(server, 50, &jobs[0]));
    model.type->gauges(server, 52, &g);
    assert_int_equal(g.busy_ns, 2);
    assert_int_equal(g.running_ns, 2);

    /* a crash at 55: what was in service for 5 ns counts, nothing finished */
    assert_ptr_equal(model.type->evict(server, 55), &jobs[0]);
    model.type->gauges(server, 60, &g);
    assert_int_equal(g.busy_ns, 5);
    assert_int_equal(g.running_ns, 5);
    assert_int_equal(g.finished, 0);
    assert_int_equal(server->next_time, SIM_NEVER);
    assert_int_equal(model.type->room(server), 2);
    close_slots(server, &model, doc);
}

/*
 * base 50 ms, 0.1 ms per input token, 20 ms per output token; 300 in, 5 out, started at 1 s:
 * 50 + 30 + 100 = 180 ms in all; the first token after 50 + 30 + 20 = 100 ms; then one each 20 ms.
 */
static void test_tokens(void **state)
{
    struct service_model model;
    struct document *doc;
    struct server *server;
    struct job job;
    struct stream stream;
    struct error err = {0};

    (void)state;
    assert_int_equal(stream_open(&stream, 1, &err), 0);
    model_read("{\"slots\": {\"count\": 1, \"base\": \"50ms\", \"per_input_token\": \"0.1ms\", "
               "\"per_output_token\": \"20ms\"}}",
               &model, &doc);
    server = model.type->create(model.config, &err);
    job_prepare(&job, 0, SIM_SECOND, -1);
    job.tokens_in = 300;
    job.tokens_out = 5;
    model.type->draw(model.config, stream.rng, &job);
    assert_int_equal(job.work_ns, 180 * SIM_MILLISECOND);
    assert_true(fabs(model.type->nominal_seconds(model.config, 300, 5) - 0.18) < 1e-12);
    assert_true(model.type->submit(server, SIM_SECOND, &job));
    assert_int_equal(serve_until(server, SIM_MINUTE, NULL, 0), 1);
    assert_int_equal(job.first_output, 1100 * SIM_MILLISECOND);
    assert_int_equal(job.finished, 1180 * SIM_MILLISECOND);
    assert_int_equal(job.largest_gap, 20 * SIM_MILLISECOND);

    /* no output, no first one */
    job_prepare(&job, 1, 2 * SIM_SECOND, -1);
    job.tokens_in = 10;
    model.type->draw(model.config, stream.rng, &job);
    assert_true(model.type->submit(server, 2 * SIM_SECOND, &job));
    assert_int_equal(serve_until(server, SIM_MINUTE, NULL, 0), 1);
    assert_int_equal(job.finished, 2051 * SIM_MILLISECOND);
    assert_int_equal(job.first_output, SIM_NEVER);
    assert_int_equal(job.largest_gap, 0);

    /* more tokens than time can hold: clamped, not overflowed */
    job_prepare(&job, 2, 3 * SIM_SECOND, -1);
    job.tokens_in = job.tokens_out = INT32_MAX;
    model.type->draw(model.config, stream.rng, &job);
    assert_true(job.work_ns > 0 && job.work_ns <= SIM_TIME_LIMIT);
    close_slots(server, &model, doc);
    stream_close(&stream);
}

static void test_speed_and_rates(void **state)
{
    struct service_model model;
    struct document *doc;
    struct server *server;
    struct job job;
    struct error err = {0};

    (void)state;
    model_read("{\"slots\": {\"count\": 4, \"speed\": 2.5}}", &model, &doc);
    server = model.type->create(model.config, &err);
    job_prepare(&job, 0, 100, 1000);
    model.type->draw(model.config, NULL, &job); /* draws nothing, leaves the traffic's work */
    assert_int_equal(job.work_ns, 1000);
    assert_true(model.type->submit(server, 100, &job));
    assert_int_equal(serve_until(server, SIM_SECOND, NULL, 0), 1);
    assert_int_equal(job.finished, 100 + 400);
    assert_true(isnan(model.type->nominal_seconds(model.config, 5, 5)));
    /* 4 slots x speed 2.5 / 2 s of work = 5 / s */
    assert_true(fabs(model.type->max_rate(model.config, 2, 0, 0) - 5) < 1e-12);
    assert_true(isinf(model.type->max_rate(model.config, 0, 0, 0)));
    /* a traffic that gives no work: refused and not taken */
    job_prepare(&job, 1, 600, -1);
    assert_false(model.type->submit(server, 600, &job));
    assert_int_equal(server->running + server->waiting, 0);
    close_slots(server, &model, doc);

    model_read("{\"slots\": {\"count\": 3, \"time\": {\"exponential\": {\"mean\": \"200ms\"}}}}", &model,
               &doc);
    assert_true(fabs(model.type->nominal_seconds(model.config, 0, 0) - 0.2) < 1e-12);
    assert_true(fabs(model.type->max_rate(model.config, 0.2, 0, 0) - 15) < 1e-9);
    service_model_free(&model);
    document_free(doc);
}

/* "time" replaces what the traffic says; a distribution is drawn from the stream that is given, the same
 * again from its beginning. */
static void test_drawn_time(void **state)
{
    enum { DRAWS = 100000 };
    struct service_model model;
    struct document *doc;
    struct job job;
    struct stream stream;
    struct error err = {0};
    double sum = 0;
    int64_t first = 0;

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "slots", 3), &err), 0);
    model_read("{\"slots\": {\"count\": 1, \"time\": \"250ms\"}}", &model, &doc);
    job_prepare(&job, 0, 0, 77);
    model.type->draw(model.config, stream.rng, &job);
    assert_int_equal(job.work_ns, 250 * SIM_MILLISECOND);
    service_model_free(&model);
    document_free(doc);

    model_read("{\"slots\": {\"count\": 1, \"time\": {\"exponential\": {\"mean\": \"200ms\"}}}}", &model,
               &doc);
    stream_rekey(&stream, 0);
    for (int i = 0; i < DRAWS; i++) {
        job_prepare(&job, 0, 0, -1);
        model.type->draw(model.config, stream.rng, &job);
        sum += sim_time_seconds(job.work_ns);
        first = i == 0 ? job.work_ns : first;
    }
    /* mean 0.2 s, standard error 0.2 / sqrt(100,000) = 0.00063 */
    assert_true(fabs(sum / DRAWS - 0.2) < 4 * 0.00063);
    stream_rekey(&stream, 0);
    model.type->draw(model.config, stream.rng, &job);
    assert_int_equal(job.work_ns, first);
    service_model_free(&model);
    document_free(doc);
    stream_close(&stream);
}

/* Nothing to do at all: ends when it starts, and so does the one that waited for its slot. */
static void test_no_work(void **state)
{
    struct job jobs[3];
    uint64_t order[3];
    struct service_model model;
    struct document *doc;
    struct server *server = open_slots(1, &model, &doc);

    (void)state;
    for (int i = 0; i < 3; i++)
        job_prepare(&jobs[i], (uint64_t)i, 5, 0);
    serve_all(server, jobs, 3, order);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(order[i], i);
        assert_int_equal(jobs[i].finished, 5);
    }
    close_slots(server, &model, doc);
}

static void test_refused(void **state)
{
    (void)state;
    model_refused("{\"slots\": {\"time\": \"1s\"}}", "count");
    model_refused("{\"slots\": {\"count\": 0, \"time\": \"1s\"}}", "0");
    model_refused("{\"slots\": {\"count\": 1048577, \"time\": \"1s\"}}", "1048577");
    model_refused("{\"slots\": {\"count\": 1, \"time\": \"1s\", \"speed\": 1}}", "two ways");
    model_refused("{\"slots\": {\"count\": 1, \"time\": \"1s\", \"base\": \"1s\"}}", "two ways");
    model_refused("{\"slots\": {\"count\": 1, \"speed\": 1, \"per_output_token\": \"1ms\"}}", "two ways");
    model_refused("{\"slots\": {\"count\": 1, \"time\": \"0\"}}", "longer than 0");
    model_refused("{\"slots\": {\"count\": 1, \"base\": \"0\"}}", "longer than 0");
    model_refused("{\"slots\": {\"count\": 1, \"speed\": 0}}", "found 0");
    model_refused("{\"slots\": {\"count\": 1, \"tiem\": \"1s\"}}", "\"time\"");
    model_refused("{\"slots\": 3}", "map");
    model_refused("{\"slot\": {\"count\": 1}}", "did you mean \"slots\"");
    model_refused("{\"unheard-of\": {}}", "curve");
    model_refused("{}", "exactly one");
    model_refused("{\"slots\": {\"count\": 1}, \"curve\": {}}", "exactly one");
    model_refused("[]", "exactly one");
}

static void test_registry(void **state)
{
    struct service_model model;
    struct error err = {0};
    int rows = 0;

    (void)state;
    for (const struct service_type *const *type = service_types(); *type; type++, rows++) {
        assert_non_null((*type)->name);
        assert_true(strlen((*type)->help) > 10);
        assert_null(strchr((*type)->help, '\n'));
        for (int i = 0; i < rows; i++)
            assert_string_not_equal(service_types()[i]->name, (*type)->name);
    }
    assert_true(rows >= 2);
    assert_int_equal(service_model_parse(NULL, &model, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    service_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kiefer_wolfowitz),
        cmocka_unit_test(test_many_slots),
        cmocka_unit_test(test_cancel_and_evict_random),
        cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_speed_and_rates),
        cmocka_unit_test(test_drawn_time),
        cmocka_unit_test(test_no_work),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_registry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
