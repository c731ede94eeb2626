/* The llm service by hand: times, refusals, cancelled requests, gauges, presets. */
#include <math.h>

#include "tests/unit/replica/llm_support.h"
#include "tests/unit/replica/serve_support.h"

/* 5 ms a step, 20 us a prompt token, 100 us a decoding request. */
#define STEP                                                                                                 \
    "\"step\": {\"base\": \"5ms\", \"prefill_token\": \"20us\", \"decode\": \"100us\", \"context_token\": "  \
    "\"0\"}"
#define MS SIM_MILLISECOND
#define US SIM_MICROSECOND

struct fixture {
    struct service_model model;
    struct document *doc;
    struct server *server;
};

static void open_server(struct fixture *f, const char *text)
{
    struct error err = {0};

    model_read(text, &f->model, &f->doc);
    f->server = f->model.type->create(f->model.config, &err);
    assert_non_null(f->server);
}

static void close_server(struct fixture *f)
{
    f->model.type->destroy(f->server);
    service_model_free(&f->model);
    document_free(f->doc);
}

static void test_one_request(void **state)
{
    struct llm_request request = {.at = MS, .prompt = 100, .output = 10};
    struct fixture f;
    struct job job;

    (void)state;
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 1000}}");
    assert_int_equal(llm_serve(f.server, &request, 1, &job, NULL), 1);
    assert_int_equal(job.started, MS);
    assert_int_equal(job.first_output, 8 * MS);
    assert_int_equal(job.finished, 8 * MS + 9 * 5100 * US);
    assert_int_equal(job.largest_gap, 5100 * US);
    /* alone, a request takes its nominal time */
    assert_true(fabs(f.model.type->nominal_seconds(f.model.config, 100, 10) - 0.0529) < 1e-12);
    assert_int_equal(f.server->next_time, SIM_NEVER);
    close_server(&f);
}

/* Longer than the wheel, and with a context term: the sum of an arithmetic series. */
static void test_long_output(void **state)
{
    struct llm_request request = {.at = 0, .prompt = 10, .output = 3001};
    struct llm_counters counters;
    struct fixture f;
    struct job job;

    (void)state;
    open_server(&f, "{\"llm\": {\"step\": {\"base\": \"1ms\", \"prefill_token\": \"0\", \"decode\": \"0\", "
                    "\"context_token\": \"100ns\"}, \"kv_blocks\": 1000}}");
    llm_serve(f.server, &request, 1, &job, NULL);
    assert_int_equal(job.first_output, MS);
    /* 3000 steps that read 10, 11, ... 3009 tokens */
    assert_int_equal(job.finished, MS + 3000 * MS + 100 * (3000 * 10 + 3000 * 2999 / 2));
    llm_server_counters(f.server, &counters);
    assert_int_equal(counters.steps, 3001);
    assert_true(counters.events < 20);
    close_server(&f);
}

/* Fractions of a nanosecond add up: 3 steps of 1000.5 ns end at 1001, 2001 and 3002 (rounded up). */
static void test_fractions(void **state)
{
    struct llm_request requests[] = {{.at = 0, .prompt = 1, .output = 3},
                                     {.at = 10000, .prompt = 1, .output = 2}};
    struct fixture f;
    struct job jobs[2];

    (void)state;
    open_server(&f,
                "{\"llm\": {\"step\": {\"base\": \"1000.5ns\", \"prefill_token\": \"0\", \"decode\": \"0\", "
                "\"context_token\": \"0\"}, \"kv_blocks\": 1000}}");
    llm_serve(f.server, requests, 2, jobs, NULL);
    assert_int_equal(jobs[0].first_output, 1001);
    assert_int_equal(jobs[0].finished, 3002);
    assert_int_equal(jobs[1].finished, 10000 + 2001);
    close_server(&f);
}

/* Another's prompt stalls a decoder: its step is the largest gap. */
static void test_gap(void **state)
{
    struct llm_request requests[] = {{.at = 0, .prompt = 100, .output = 20},
                                     {.at = 20 * MS, .prompt = 1000, .output = 1}};
    struct fixture f;
    struct job jobs[2];

    (void)state;
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 1000}}");
    llm_serve(f.server, requests, 2, jobs, NULL);
    /* steps end at 7, 12.1, 17.2, 22.3; then one of 5 + 20 + 0.1 */
    assert_int_equal(jobs[1].started, 22300 * US);
    assert_int_equal(jobs[1].first_output, 47400 * US);
    assert_int_equal(jobs[1].finished, 47400 * US);
    assert_int_equal(jobs[0].largest_gap, 25100 * US);
    close_server(&f);
}

static void test_refusals(void **state)
{
    static const struct {
        int32_t prompt, output;
        bool taken;
    } sizes[] = {
        {160, 1, true}, /* exactly the pool: the last token needs no block */
        {160, 2, false}, {161, 1, false}, {1, 160, true}, {1, 161, false}, {0, 1, false}, {1, 0, true},
    };
    struct fixture f;
    struct job job;

    (void)state;
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 10, \"max_model_len\": 161}}");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct llm_request request = {.at = f.server->next_time == SIM_NEVER ? (sim_time)i * SIM_HOUR : 0,
                                      .prompt = sizes[i].prompt,
                                      .output = sizes[i].output};
        size_t refused;

        assert_int_equal(llm_serve(f.server, &request, 1, &job, &refused), sizes[i].taken);
        assert_int_equal(refused, !sizes[i].taken);
        if (sizes[i].taken)
            assert_true(job.first_output != SIM_NEVER && job.finished >= job.first_output);
    }
    close_server(&f);
}

static void test_cancel(void **state)
{
    struct llm_request requests[] = {{.at = 0, .prompt = 100, .output = 100},
                                     {.at = 0, .prompt = 100, .output = 100},
                                     {.at = 0, .prompt = 100, .output = 2}};
    const struct service_type *type;
    struct server_gauges gauges;
    struct fixture f;
    struct job jobs[3];

    (void)state;
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 100, \"max_num_seqs\": 1}}");
    type = f.server->type;
    for (int i = 0; i < 3; i++) {
        llm_job(&jobs[i], &requests[i], (uint64_t)i);
        assert_true(type->submit(f.server, 0, &jobs[i]));
    }
    llm_until(f.server, 10 * MS);
    assert_int_equal(f.server->running, 1);
    assert_int_equal(f.server->waiting, 2);
    assert_int_equal(type->room(f.server), 0);
    assert_false(type->cancel(f.server, 10 * MS, &jobs[0], false));
    assert_true(type->cancel(f.server, 10 * MS, &jobs[1], false));
    assert_true(type->cancel(f.server, 10 * MS, &jobs[0], true));
    assert_int_equal(f.server->running, 0);
    /* the step under way ends at 12.1 ms, with the cancelled request's blocks held until then */
    type->gauges(f.server, 11 * MS, &gauges);
    assert_true(fabs(gauges.kv_usage - 0.07) < 1e-12);
    llm_until(f.server, SIM_NEVER);
    assert_int_equal(jobs[2].started, 12100 * US);
    assert_int_equal(jobs[2].finished, 12100 * US + 7 * MS + 5100 * US);
    assert_int_equal(jobs[0].finished, SIM_NEVER);
    type->gauges(f.server, SIM_SECOND, &gauges);
    assert_true(gauges.kv_usage == 0);
    assert_int_equal(gauges.finished, 1);
    assert_int_equal(gauges.started, 2);
    close_server(&f);
}

/* A preempted request has begun: a client that takes back queued ones only must leave it. */
static void test_cancel_preempted(void **state)
{
    struct llm_request requests[] = {{.at = 0, .prompt = 60, .output = 60},
                                     {.at = 0, .prompt = 60, .output = 60}};
    struct fixture f;
    struct job jobs[2];

    (void)state;
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 10, \"prefix_caching\": false}}");
    for (int i = 0; i < 2; i++) {
        llm_job(&jobs[i], &requests[i], (uint64_t)i);
        assert_true(f.server->type->submit(f.server, 0, &jobs[i]));
    }
    while (jobs[1].preemptions == 0)
        assert_null(f.server->type->advance(f.server, f.server->next_time));
    assert_int_equal(f.server->running, 1);
    assert_int_equal(f.server->waiting, 1);
    assert_false(f.server->type->cancel(f.server, f.server->next_time - 1, &jobs[1], false));
    assert_true(f.server->type->cancel(f.server, f.server->next_time - 1, &jobs[1], true));
    assert_int_equal(llm_until(f.server, SIM_NEVER), 1);
    assert_true(jobs[0].finished != SIM_NEVER);
    close_server(&f);
}

static void test_gauges(void **state)
{
    struct llm_request request = {.at = 0, .prompt = 100, .output = 10};
    struct server_gauges gauges;
    struct fixture f;
    struct job job;

    (void)state;
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 100, \"max_num_seqs\": 5}}");
    f.server->type->gauges(f.server, 0, &gauges);
    assert_int_equal(gauges.capacity, 5);
    assert_true(gauges.cache_hit_rate == 0);
    assert_int_equal(f.server->type->room(f.server), 5);
    llm_job(&job, &request, 0);
    assert_true(f.server->type->submit(f.server, 0, &job));
    assert_int_equal(f.server->next_rank, SERVER_START);
    /* 7 ms of prompt, then steps of 5.1 ms: at 30 ms four more tokens are out, 104 computed or under way */
    llm_until(f.server, 30 * MS);
    f.server->type->gauges(f.server, 30 * MS, &gauges);
    assert_int_equal(gauges.running, 1);
    assert_int_equal(gauges.prompt_tokens, 100);
    assert_int_equal(gauges.generation_tokens, 5);
    assert_int_equal(gauges.busy_ns, 30 * MS);
    assert_int_equal(gauges.running_ns, 30 * MS);
    assert_true(fabs(gauges.kv_usage - 0.07) < 1e-12); /* 105 tokens: 7 blocks */
    llm_until(f.server, SIM_NEVER);
    f.server->type->gauges(f.server, SIM_SECOND, &gauges);
    assert_int_equal(gauges.generation_tokens, 10);
    assert_int_equal(gauges.busy_ns, 52900 * US);
    close_server(&f);
}

/* Thousands of preemptions: every request ends once, every block comes back; a second round after a reset is
 * the same. */
static void test_conservation(void **state)
{
    enum { COUNT = 2000 };
    struct llm_request *requests = calloc(COUNT, sizeof *requests);
    struct job *jobs = calloc(COUNT, sizeof *jobs);
    sim_time last = 0;
    struct fixture f;

    (void)state;
    assert_true(requests && jobs);
    for (int i = 0; i < COUNT; i++)
        requests[i] = (struct llm_request){.at = i * MS,
                                           .prompt = 1 + i * 7919 % 200,
                                           .output = 1 + i * 104729 % 300,
                                           .prefix_group = (uint64_t)(i % 3),
                                           .prefix_tokens = 64};
    open_server(&f, "{\"llm\": {" STEP ", \"kv_blocks\": 100, \"reserve_full_isl\": false}}");
    for (int round = 0; round < 2; round++) {
        struct llm_counters counters;
        int64_t preemptions = 0;

        assert_int_equal(llm_serve(f.server, requests, COUNT, jobs, NULL), COUNT);
        llm_server_counters(f.server, &counters);
        for (int i = 0; i < COUNT; i++)
            preemptions += jobs[i].preemptions;
        assert_int_equal(counters.preemptions, preemptions);
        assert_true(preemptions > 2000);
        assert_int_equal(counters.blocks_used, 0);
        assert_int_equal(counters.blocks_listed, 100);
        assert_int_equal(counters.blocks_peak, 100);
        if (round > 0)
            assert_int_equal(last, jobs[COUNT - 1].finished);
        last = jobs[COUNT - 1].finished;
        f.server->type->reset(f.server, 0);
    }
    close_server(&f);
    free(requests);
    free(jobs);
}

/* What a full engine finishes per second stays under max_rate, and not far. */
static void test_max_rate(void **state)
{
    enum { COUNT = 3000 };
    struct llm_request *requests = calloc(COUNT, sizeof *requests);
    struct job *jobs = calloc(COUNT, sizeof *jobs);
    struct fixture f;
    double rate, bound;

    (void)state;
    assert_true(requests && jobs);
    for (int i = 0; i < COUNT; i++)
        requests[i] = (struct llm_request){.at = 0, .prompt = 200, .output = 100};
    open_server(&f, "{\"llm\": {" STEP
                    ", \"kv_blocks\": 100000, \"max_num_seqs\": 64, \"prefix_caching\": false}}");
    llm_serve(f.server, requests, COUNT, jobs, NULL);
    rate = COUNT / sim_time_seconds(jobs[COUNT - 1].finished);
    bound = f.model.type->max_rate(f.model.config, NAN, 200, 100);
    assert_true(rate < bound && rate > 0.9 * bound);
    /* 200 x 20 us + 99 x 0.1 ms + 100 x 5 ms / 64 */
    assert_true(fabs(bound - 1 / 0.0217125) < 1e-9);
    close_server(&f);
    free(requests);
    free(jobs);
}

static void test_presets(void **state)
{
    struct fixture f;
    struct server_gauges gauges;
    struct llm_counters counters;

    (void)state;
    open_server(&f, "{\"llm\": {\"model\": \"llama-3.1-8b\", \"gpu\": \"h100\"}}");
    f.server->type->gauges(f.server, 0, &gauges);
    llm_server_counters(f.server, &counters);
    assert_int_equal(gauges.capacity, 1024);
    assert_true(counters.blocks > 25000 && counters.blocks < 27000); /* 51.4 GiB of 2 MiB */
    assert_false(llm_config_estimated(f.model.config));
    assert_non_null(strstr(llm_config_note(f.model.config), "static: weights 14.96"));
    assert_true(fabs(f.model.type->nominal_seconds(f.model.config, 1000, 1) - 0.026773) < 1e-9);
    close_server(&f);

    open_server(&f, "{\"llm\": {\"model\": \"qwen3-8b\", \"gpu\": \"l40s\", \"max_num_seqs\": 7}}");
    f.server->type->gauges(f.server, 0, &gauges);
    assert_int_equal(gauges.capacity, 7);
    assert_true(llm_config_estimated(f.model.config));
    assert_non_null(strstr(llm_config_note(f.model.config), "ESTIMATE"));
    close_server(&f);

    /* overridden */
    open_server(&f, "{\"llm\": {\"model\": \"llama-3.1-8b\", \"gpu\": \"h100\", \"kv_blocks\": 77, \"step\": "
                    "{\"base\": \"1ms\"}}}");
    llm_server_counters(f.server, &counters);
    assert_int_equal(counters.blocks, 77);
    assert_true(fabs(f.model.type->nominal_seconds(f.model.config, 1000, 1) - 0.0208) < 1e-9);
    close_server(&f);
}

static void test_refused_texts(void **state)
{
    (void)state;
    model_refused("{\"llm\": {\"model\": \"llama-3.1-8B\", \"gpu\": \"h100\"}}",
                  "did you mean \"llama-3.1-8b\"");
    model_refused("{\"llm\": {\"model\": \"llama-3.1-8b\"}}", "gpu");
    model_refused("{\"llm\": {\"model\": \"llama-3.1-70b\", \"gpu\": \"h100\"}}", "does not fit");
    model_refused("{\"llm\": {\"kv_blocks\": 10}}", "base");
    model_refused("{\"llm\": {" STEP "}}", "kv_blocks");
    model_refused("{\"llm\": {" STEP ", \"kv_blocks\": 10, \"block_size\": 24}}", "power of two");
    model_refused("{\"llm\": {" STEP ", \"kv_blocks\": 10, \"speed\": 1}}", "speed");
    model_refused("{\"llm\": {\"kv_blocks\": 10, \"step\": {\"base\": \"0\", \"prefill_token\": \"0\", "
                  "\"decode\": \"0\", "
                  "\"context_token\": \"0\"}}}",
                  "at least 1ns");
    model_refused("{\"llm\": {\"kv_blocks\": 10, \"step\": {\"base\": \"5\", \"prefill_token\": \"0\", "
                  "\"decode\": \"0\", "
                  "\"context_token\": \"0\"}}}",
                  "expected a time");
    model_refused("{\"llm\": {\"kv_blocks\": 10, \"max_model_len\": 16777216, \"step\": {\"base\": \"1ms\", "
                  "\"prefill_token\": \"0\", \"decode\": \"0\", \"context_token\": \"1ms\"}}}",
                  "one step could last");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_request),      cmocka_unit_test(test_long_output),
        cmocka_unit_test(test_fractions),        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_preempted), cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_conservation),     cmocka_unit_test(test_max_rate),
        cmocka_unit_test(test_presets),          cmocka_unit_test(test_refused_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
