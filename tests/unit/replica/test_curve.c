#include "serve_support.h"

#include <math.h>
#include <stdio.h>

#include "models/replica/curve.h"
#include "sim/engine/random.h"

#define MS SIM_MILLISECOND

static struct server *open_curve(const char *inside, struct service_model *model, struct document **doc)
{
    char text[512];
    struct error err = {0};
    struct server *server;

    snprintf(text, sizeof text, "{\"curve\": {%s}}", inside);
    model_read(text, model, doc);
    server = model->type->create(model->config, &err);
    assert_non_null(server);
    return server;
}

static void close_curve(struct server *server, struct service_model *model, struct document *doc)
{
    model->type->destroy(server);
    service_model_free(model);
    document_free(doc);
}

/* A timeline worked out by hand: arrivals, work (ignored by "equal"), expected starts and ends in ns. */
struct expected {
    sim_time at;
    int64_t work;
    sim_time start, end;
};

static void check_timeline(const char *inside, const struct expected *rows, size_t count)
{
    struct job jobs[16];
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve(inside, &model, &doc);

    for (size_t i = 0; i < count; i++)
        job_prepare(&jobs[i], i, rows[i].at, rows[i].work);
    serve_all(server, jobs, count, NULL);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(jobs[i].started, rows[i].start);
        assert_int_equal(jobs[i].finished, rows[i].end);
        assert_int_equal(jobs[i].first_output, SIM_NEVER);
    }
    close_curve(server, &model, doc);
}

/* One unit per second in all, shared. A (3 s) alone 0 .. 1, then both at 1/2: B (1 s) has its second at 3; A
 * has 1 + 1, then alone: 4. */
static void test_two(void **state)
{
    const struct expected rows[] = {{0, 3000 * MS, 0, 4000 * MS},
                                    {1000 * MS, 1000 * MS, 1000 * MS, 3000 * MS}};

    (void)state;
    check_timeline("\"points\": [[1, 1]], \"size\": \"work\"", rows, 2);
}

/* Shares that no binary fraction holds (1/3, 1/7) must still end on the very nanosecond. */
static void test_equal_thirds(void **state)
{
    struct expected rows[7];

    (void)state;
    for (int n = 1; n <= 7; n++) {
        for (int i = 0; i < n; i++)
            rows[i] = (struct expected){5, 0, 5, 5 + n * SIM_SECOND};
        check_timeline("\"points\": [[1, 1]]", rows, (size_t)n);
        for (int i = 0; i < n; i++)
            rows[i] = (struct expected){5, 0, 5, 5 + n * 1250 * MS};
        check_timeline("\"points\": [[1, 0.8]]", rows, (size_t)n);
    }
}

/*
 * X(1) = 1, X(2) = 1.5, X(4) = 2, so X(3) = 1.75, X(9) = 2.
 * Three of equal demand 1 from t = 0: 1.75 / 3 each: end 3 / 1.75 = 1.714285714.3 s -> ...715.
 * Two, at 0 and 0.5 s: A has 0.5 at 0.5; then 0.75 each: A ends 0.5 / 0.75 later, at 1.166666666.67 ->
 * ...667. B then has 0.5, and alone needs 0.5 s from the very end of A: 1.666666666.67 -> ...667 (from the
 * reported end it would be the same here). Nine: 2 / 9 each: 4.5 s exactly.
 */
static void test_kinks(void **state)
{
    const char *text = "\"points\": [[1, 1], [2, 1.5], [4, 2]]";
    const struct expected three[] = {{0, 0, 0, 1714285715}, {0, 0, 0, 1714285715}, {0, 0, 0, 1714285715}};
    const struct expected two[] = {{0, 0, 0, 1166666667}, {500 * MS, 0, 500 * MS, 1666666667}};
    struct expected nine[9];

    (void)state;
    check_timeline(text, three, 3);
    check_timeline(text, two, 2);
    for (int i = 0; i < 9; i++)
        nine[i] = (struct expected){7, 0, 7, 7 + 4500 * MS};
    check_timeline(text, nine, 9);
}

/* Below the first point through (0, 0): X(1) = 0.5, X(2) = 1, X(4) = 2: each gets 0.5 up to four, and five
 * get 0.4. */
static void test_below_first(void **state)
{
    const struct expected one[] = {{3, 0, 3, 3 + 2000 * MS}};
    const struct expected two[] = {{0, 0, 0, 2000 * MS}, {1000 * MS, 0, 1000 * MS, 3000 * MS}};
    struct expected five[5];

    (void)state;
    check_timeline("\"points\": [[4, 2]]", one, 1);
    check_timeline("\"points\": [[4, 2]]", two, 2);
    for (int i = 0; i < 5; i++)
        five[i] = (struct expected){0, 0, 0, 2500 * MS};
    check_timeline("\"points\": [[4, 2]]", five, 5);
}

/*
 * Thrashing, X(2) = 0.5, and a bound of two. A and B from 0 at 0.25 each: both end at 4 s; C, there since 1
 * ms, starts at 4 s alone at rate 1: 5 s. Had it been let in beside them, all would be later.
 */
static void test_thrash_and_bound(void **state)
{
    const struct expected rows[] = {
        {0, 0, 0, 4000 * MS}, {0, 0, 0, 4000 * MS}, {1 * MS, 0, 4000 * MS, 5000 * MS}};

    (void)state;
    check_timeline("\"points\": [[1, 1], [2, 0.5]], \"max_concurrency\": 2", rows, 3);
}

/*
 * From the queue into a fractional end. Rate 3 / s in all, at most one inside, demand 1: ends at 1/3, 2/3, 1
 * s. Reported ...334, ...667, and the third at exactly 1 s: the two thirds of a nanosecond between the first
 * end and its report were not lost.
 */
static void test_nothing_lost_between_nanoseconds(void **state)
{
    const struct expected rows[] = {
        {0, 0, 0, 333333334}, {0, 0, 333333334, 666666667}, {0, 0, 666666667, 1000000000}};

    (void)state;
    check_timeline("\"points\": [[1, 3]], \"max_concurrency\": 1", rows, 3);
}

/*
 * A busy period of 100,000 ends. One job at each whole second k = 0 .. N - 1 with 1 s of work, one more at 0;
 * rate 1 in all. Work is conserved, so the last one leaves at N + 1 s, to the nanosecond, after N + 1 ends
 * that all fell between nanoseconds.
 */
static void test_no_drift(void **state)
{
    enum { N = 100000 };
    struct job *jobs = calloc(N + 1, sizeof *jobs);
    sim_time last = 0;
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve("\"points\": [[1, 1]], \"size\": \"work\"", &model, &doc);
    struct server_gauges g;

    (void)state;
    for (int i = 0; i <= N; i++)
        job_prepare(&jobs[i], (uint64_t)i, i == 0 ? 0 : (i - 1) * SIM_SECOND, SIM_SECOND);
    serve_all(server, jobs, N + 1, NULL);
    for (int i = 0; i <= N; i++)
        last = jobs[i].finished > last ? jobs[i].finished : last;
    assert_int_equal(last, (N + 1) * SIM_SECOND);
    model.type->gauges(server, last, &g);
    assert_int_equal(g.busy_ns, last); /* never idle in between */
    close_curve(server, &model, doc);
    free(jobs);
}

/*
 * Against the same fluid worked out the slow way: what each job still needs, in long double, reduced step by
 * step. Ends must agree within the nanosecond to which they are rounded up.
 */
static double slow_rate(int n)
{
    /* the curve of the test: [1, 2], [3, 5], [6, 4] */
    if (n <= 1)
        return 2.0 * n;
    if (n <= 3)
        return 2 + 1.5 * (n - 1);
    return n <= 6 ? 5 - (n - 3) / 3.0 : 4;
}

static void test_against_slow_fluid(void **state)
{
    enum { JOBS = 3000, BOUND = 8 };
    static struct job jobs[JOBS];
    static long double left[JOBS], slow_end[JOBS];
    int inside[BOUND], running = 0, arrived = 0, entered = 0, done = 0;
    long double now = 0;
    struct stream stream;
    struct error err = {0};
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve("\"points\": [[1, 2], [3, 5], [6, 4]], \"max_concurrency\": 8, "
                                       "\"size\": \"work\", \"mean_size\": 0.7",
                                       &model, &doc);
    sim_time at = 0;

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "curve", 0), &err), 0);
    for (int i = 0; i < JOBS; i++) {
        at += (sim_time)(-log1p(-stream_uniform(&stream)) * 0.24e9); /* mean gap 0.24 s: loaded to about 1 */
        job_prepare(&jobs[i], (uint64_t)i, at, 1 + (int64_t)(-log1p(-stream_uniform(&stream)) * 0.7e9));
        left[i] = (long double)jobs[i].work_ns / 0.7L; /* in 1e-9 mean requests */
    }
    serve_all(server, jobs, JOBS, NULL);

    while (done < JOBS) {
        long double next = arrived < JOBS ? (long double)jobs[arrived].intended : INFINITY, step;
        long double share = running ? (long double)slow_rate(running) / running : 0;
        int first = -1;

        for (int i = 0; i < running; i++)
            first = first < 0 || left[inside[i]] < left[inside[first]] ? i : first;
        step = next - now;
        if (first >= 0 && left[inside[first]] / share <= step)
            step = left[inside[first]] / share;
        else
            first = -1;
        for (int i = 0; i < running; i++)
            left[inside[i]] -= step * share;
        now += step;
        if (first >= 0) {
            slow_end[inside[first]] = now;
            inside[first] = inside[--running];
            done++;
        } else {
            now = next;
            arrived++;
        }
        while (running < BOUND && entered < arrived)
            inside[running++] = entered++;
    }
    for (int i = 0; i < JOBS; i++) {
        long double late = (long double)jobs[i].finished - slow_end[i];

        if (!(late > -1e-3L && late < 1 + 1e-3L))
            fail_msg("job %d ends at %lld, fluid %.6Lf", i, (long long)jobs[i].finished, slow_end[i]);
    }
    stream_close(&stream);
    close_curve(server, &model, doc);
}

/*
 * Cancels. Rate 1 shared; A (4 s) and B (4 s) from 0, bound 2, C (1 s) and D (1 s) wait. D goes at 1 s
 * (queued). At 2 s A has had 1 s and is cancelled: not if only queued ones may go; else C takes its place at
 * once. B (3 left) and C (1 left) at 1/2: C ends at 4 s, B with 2 left alone: 6 s.
 */
static void test_cancel(void **state)
{
    struct job jobs[4];
    const int64_t work[] = {4, 4, 1, 1};
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve("\"points\": [[1, 1]], \"size\": \"work\", \"max_concurrency\": 2",
                                       &model, &doc);
    struct server_gauges g;

    (void)state;
    for (int i = 0; i < 4; i++) {
        job_prepare(&jobs[i], (uint64_t)i, 0, work[i] * SIM_SECOND);
        assert_true(model.type->submit(server, 0, &jobs[i]));
    }
    assert_int_equal(model.type->room(server), 0);
    assert_int_equal(server->waiting, 2);
    assert_true(model.type->cancel(server, 1 * SIM_SECOND, &jobs[3], false));
    assert_int_equal(server->waiting, 1);
    assert_false(model.type->cancel(server, 2 * SIM_SECOND, &jobs[0], false));
    assert_true(model.type->cancel(server, 2 * SIM_SECOND, &jobs[0], true));
    assert_int_equal(server->running, 2);
    assert_int_equal(jobs[2].started, 2 * SIM_SECOND);
    assert_int_equal(serve_until(server, SIM_HOUR, NULL, 0), 2);
    assert_int_equal(jobs[2].finished, 4 * SIM_SECOND);
    assert_int_equal(jobs[1].finished, 6 * SIM_SECOND);
    /* busy 0 .. 6; in service: A 2 s, B 6 s, C 2 s */
    model.type->gauges(server, 10 * SIM_SECOND, &g);
    assert_int_equal(g.busy_ns, 6 * SIM_SECOND);
    assert_int_equal(g.running_ns, 10 * SIM_SECOND);
    assert_int_equal(g.started, 3);
    assert_int_equal(g.finished, 2);
    assert_int_equal(g.capacity, 2);
    assert_int_equal(model.type->room(server), 2);
    close_curve(server, &model, doc);
}

/* Random cancels anywhere in the heap, then an eviction: whoever stays ends in the order of what was left;
 * nobody is lost. */
static void test_cancel_and_evict_random(void **state)
{
    enum { JOBS = 300 };
    static struct job jobs[JOBS];
    static int where[JOBS]; /* 0: outside, 1: in */
    struct stream stream;
    struct error err = {0};
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve(
        "\"points\": [[1, 1], [50, 20]], \"size\": \"work\", \"max_concurrency\": 40", &model, &doc);

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "curve", 1), &err), 0);
    for (int round = 0; round < 20; round++) {
        sim_time now = 0;
        int in = 0, last = -1;
        bool queue = false;
        struct job *job;

        model.type->reset(server, now);
        memset(where, 0, sizeof where);
        for (int i = 0; i < JOBS; i++) {
            now += (sim_time)(stream_bits(&stream) % (60 * 1000 * 1000));
            while (server->next_time <= now) {
                for (job = model.type->advance(server, server->next_time); job; job = job->next) {
                    assert_int_equal(where[job->request], 1);
                    assert_true(job->finished >= job->started && job->started >= job->intended);
                    where[job->request] = 0;
                    in--;
                }
            }
            job_prepare(&jobs[i], (uint64_t)i, now,
                        (int64_t)(stream_bits(&stream) % (4 * (uint64_t)SIM_SECOND)));
            assert_true(model.type->submit(server, now, &jobs[i]));
            where[i] = 1;
            in++;
            if (stream_bits(&stream) % 4 == 0) {
                int victim = (int)(stream_bits(&stream) % (uint64_t)(i + 1));

                if (where[victim] && model.type->cancel(server, now, &jobs[victim], true)) {
                    where[victim] = 0;
                    in--;
                }
            }
            assert_int_equal(server->running + server->waiting, in);
            assert_int_equal(server->running, in < 40 ? in : 40);
        }
        /* no cancel of a job without work comes between its end and its report, so all who are in are evicted
         */
        for (job = model.type->evict(server, now); job; job = job->next) {
            if (!queue && job->started == SIM_NEVER) {
                queue = true;
            }
            assert_true(queue == (job->started == SIM_NEVER));
            assert_int_equal(where[job->request], 1);
            assert_true((int)job->request > last); /* first come, first served: admission is arrival */
            last = (int)job->request;
            where[job->request] = 0;
            in--;
        }
        assert_int_equal(in, 0);
        assert_int_equal(server->running + server->waiting, 0);
        assert_int_equal(server->next_time, SIM_NEVER);
    }
    stream_close(&stream);
    close_curve(server, &model, doc);
}

/*
 * M/M/1-PS and M/D/1-PS: the mean time inside is E[S] / (1 - rho) whatever the distribution of sizes
 * (insensitivity; Kleinrock, "Time-shared Systems: A Theoretical Treatment", JACM 14(2), 1967), and a job's
 * is proportional to its size: E[T | x] = x / (1 - rho). With rho = 0.7, E[S] = 1 s: 3.3333 s. 20 batches of
 * 20,000, seed fixed beforehand; within 4 standard errors of the batch means, which must be below 3 %.
 */
static void check_ps(bool deterministic, uint64_t stream_number)
{
    enum { BATCHES = 20, BATCH = 20000, JOBS = BATCHES * BATCH };
    struct job *jobs = calloc(JOBS, sizeof *jobs);
    struct stream stream;
    struct error err = {0};
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve("\"points\": [[1, 1]], \"size\": \"work\"", &model, &doc);
    const double rho = 0.7, theory = 1 / (1 - rho);
    double at = 0, sum = 0, squares = 0, mean, error, weighted = 0, sizes = 0;

    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "ps", stream_number), &err), 0);
    for (int i = 0; i < JOBS; i++) {
        double size = deterministic ? 1 : -log1p(-stream_uniform(&stream));

        at += -log1p(-stream_uniform(&stream)) / rho;
        job_prepare(&jobs[i], (uint64_t)i, sim_time_from_seconds(at), sim_time_from_seconds(size));
    }
    serve_all(server, jobs, JOBS, NULL);
    for (int b = 0; b < BATCHES; b++) {
        double batch = 0;

        for (int i = b * BATCH; i < (b + 1) * BATCH; i++) {
            double inside = sim_time_seconds(jobs[i].finished - jobs[i].intended);
            double size = sim_time_seconds(jobs[i].work_ns);

            batch += inside / BATCH;
            if (size > 2) { /* the long ones apart: proportional */
                weighted += inside;
                sizes += size;
            }
        }
        sum += batch;
        squares += batch * batch;
    }
    mean = sum / BATCHES;
    error = sqrt((squares / BATCHES - mean * mean) / (BATCHES - 1));
    print_message("%s: mean %.4f s, standard error %.4f, theory %.4f\n",
                  deterministic ? "M/D/1-PS" : "M/M/1-PS", mean, error, theory);
    assert_true(error < 0.03 * theory);
    assert_true(fabs(mean - theory) < 4 * error);
    if (!deterministic)
        assert_true(fabs(weighted / sizes - theory) < 0.05 * theory);
    stream_close(&stream);
    close_curve(server, &model, doc);
    free(jobs);
}

static void test_ps_theory(void **state)
{
    (void)state;
    check_ps(false, 0);
    check_ps(true, 1);
}

/* Sizes in tokens: 440 of a mean of 220 is two mean requests; X(1) = 0.5 / s: 4 s alone. Without a mean, X
 * counts tokens per second. */
static void test_sizes(void **state)
{
    struct service_model model;
    struct document *doc;
    struct server *server = open_curve("\"points\": [[1, 0.5]], \"size\": \"tokens_out\", \"mean_size\": 220",
                                       &model, &doc);
    struct job job;

    (void)state;
    job_prepare(&job, 0, 0, -1);
    job.tokens_in = 1000;
    job.tokens_out = 440;
    model.type->draw(model.config, NULL, &job);
    assert_int_equal(job.work_ns, 4 * SIM_SECOND);
    assert_true(model.type->submit(server, 0, &job));
    assert_int_equal(serve_until(server, SIM_HOUR, NULL, 0), 1);
    assert_int_equal(job.finished, 4 * SIM_SECOND);
    assert_true(fabs(model.type->nominal_seconds(model.config, 1000, 440) - 4) < 1e-12);
    assert_true(isnan(model.type->nominal_seconds(model.config, 1000, 0)));
    /* mean demand 4 s alone = 2 mean requests: half of 0.5 / s */
    assert_true(fabs(model.type->max_rate(model.config, 4, 0, 0) - 0.25) < 1e-12);
    close_curve(server, &model, doc);

    server = open_curve("\"points\": [[1, 60], [4, 100], [8, 80]], \"size\": \"tokens\"", &model, &doc);
    job_prepare(&job, 0, 0, -1);
    job.tokens_in = 100;
    job.tokens_out = 20;
    assert_true(model.type->submit(server, 0, &job));
    assert_int_equal(serve_until(server, SIM_HOUR, NULL, 0), 1);
    assert_int_equal(job.finished, 2 * SIM_SECOND);
    /* 2 s alone = 120 tokens; at best 100 tokens / s */
    assert_true(fabs(model.type->max_rate(model.config, 2, 100, 20) - 100.0 / 120) < 1e-12);
    assert_int_equal(model.type->room(server), INT32_MAX);
    /* none at all counts as one: 1/60 s = 16,666,666.67 ns */
    job_prepare(&job, 1, 2 * SIM_SECOND, -1);
    assert_true(model.type->submit(server, 2 * SIM_SECOND, &job));
    assert_int_equal(serve_until(server, SIM_HOUR, NULL, 0), 1);
    assert_int_equal(job.finished, 2 * SIM_SECOND + 16666667);
    close_curve(server, &model, doc);

    server = open_curve("\"points\": [[1, 2]], \"size\": \"work\"", &model, &doc);
    job_prepare(&job, 0, 0, -1);
    assert_false(model.type->submit(server, 0, &job));
    assert_true(isnan(model.type->nominal_seconds(model.config, 10, 10)));
    /* works without work end at once; one so long that it outlives all time never does */
    job_prepare(&job, 0, 0, 0);
    assert_true(model.type->submit(server, 0, &job));
    assert_int_equal(serve_until(server, 0, NULL, 0), 1);
    assert_int_equal(job.finished, 0);
    close_curve(server, &model, doc);
    server = open_curve("\"points\": [[1, 0.001]], \"size\": \"work\"", &model, &doc);
    job_prepare(&job, 0, 0, SIM_TIME_LIMIT);
    assert_true(model.type->submit(server, 0, &job));
    assert_int_equal(server->next_time, SIM_NEVER);
    assert_ptr_equal(model.type->evict(server, SIM_HOUR), &job);
    close_curve(server, &model, doc);
}

static void test_refused(void **state)
{
    (void)state;
    model_refused("{\"curve\": {}}", "points");
    model_refused("{\"curve\": {\"points\": []}}", "points");
    model_refused("{\"curve\": {\"points\": [1, 2]}}", "requests inside");
    model_refused("{\"curve\": {\"points\": [[1]]}}", "requests inside");
    model_refused("{\"curve\": {\"points\": [[1, 2], [1, 3]]}}", "ascend");
    model_refused("{\"curve\": {\"points\": [[4, 2], [2, 3]]}}", "ascend");
    model_refused("{\"curve\": {\"points\": [[0, 0], [2, 3]]}}", "requests inside");
    model_refused("{\"curve\": {\"points\": [[1, -2]]}}", "requests per second");
    model_refused("{\"curve\": {\"points\": [[1, 0]]}}", "requests per second");
    model_refused("{\"curve\": {\"points\": [[1, \"2\"]]}}", "number");
    model_refused("{\"curve\": {\"points\": [[1, 1]], \"max_concurrency\": 0}}", "0");
    model_refused("{\"curve\": {\"points\": [[1, 1]], \"size\": \"token\"}}", "tokens");
    model_refused("{\"curve\": {\"points\": [[1, 1]], \"mean_size\": 3}}", "mean_size");
    model_refused("{\"curve\": {\"points\": [[1, 1]], \"max_concurency\": 3}}", "max_concurrency");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_equal_thirds),
        cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_below_first),
        cmocka_unit_test(test_thrash_and_bound),
        cmocka_unit_test(test_nothing_lost_between_nanoseconds),
        cmocka_unit_test(test_no_drift),
        cmocka_unit_test(test_against_slow_fluid),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_and_evict_random),
        cmocka_unit_test(test_ps_theory),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
