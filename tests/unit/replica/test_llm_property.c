/*
 * Random configurations and random loads, served three times: event-skipped, step by step, and by a second
 * scheduler that is written as plainly as possible (llm_reference.h). All times must be the same to the
 * nanosecond, under preemption, chunked prefill, prefix caching, cancelled requests and lost replicas.
 * PEAKSIM_LLM_CASES asks for more cases.
 */
#include <math.h>

#include "sim/engine/random.h"
#include "tests/unit/replica/llm_reference.h"
#include "tests/unit/replica/llm_support.h"
#include "tests/unit/replica/serve_support.h"

enum { CASES = 250 };

struct script_event {
    sim_time at;
    int request;
    enum { EVENT_SUBMIT, EVENT_CANCEL, EVENT_CANCEL_QUEUED, EVENT_EVICT, EVENT_LOOK } kind;
};

struct load {
    uint64_t seed, state;
    struct plain_config plain;
    char text[1024];
    struct llm_request requests[PLAIN_REQUESTS];
    int count;
    struct script_event events[4 * PLAIN_REQUESTS];
    int event_count;
};

static uint64_t next(struct load *load)
{
    return load->state = random_hash(load->state);
}

static int64_t between(struct load *load, int64_t low, int64_t high)
{
    return low + (int64_t)(next(load) % (uint64_t)(high - low + 1));
}

static int64_t one_of(struct load *load, const int64_t *values, size_t count)
{
    return values[next(load) % count];
}
#define ONE_OF(load, ...)                                                                                    \
    one_of(load, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void add_event(struct load *load, sim_time at, int kind, int request)
{
    load->events[load->event_count++] = (struct script_event){at, request, kind};
}

static int by_time(const void *a, const void *b)
{
    const struct script_event *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->request - y->request;
}

static void make_config(struct load *load)
{
    struct plain_config *c = &load->plain;
    bool coarse = next(load) % 4 == 0; /* times on a grid: arrivals meet boundaries */
    double ns[4];
    int64_t fine[4];

    ns[0] = coarse ? 10e6 : (double)between(load, 1000000, 40000000);
    ns[1] = coarse ? 1e4 * (double)between(load, 0, 3) : (double)between(load, 0, 100000);
    ns[2] = coarse ? 1e5 * (double)between(load, 0, 3) : (double)between(load, 0, 300000);
    ns[3] = coarse ? 1e3 * (double)between(load, 0, 1) : (double)ONE_OF(load, 0, 1, 113, 190);
    if (!coarse && next(load) % 2)
        for (int i = 0; i < 4; i++)
            ns[i] += (double)between(load, 0, 999) / 1000;
    for (int i = 0; i < 4; i++)
        fine[i] = llround(ns[i] * PLAIN_FINE);
    *c = (struct plain_config){
        .base = fine[0],
        .prefill = fine[1],
        .decode = fine[2],
        .context = fine[3],
        .block_size = (int)ONE_OF(load, 16, 16, 16, 1, 8, 32),
        .budget = (int)ONE_OF(load, 4, 16, 64, 64, 256, 512, 2048),
        .most_running = (int)ONE_OF(load, 1, 2, 4, 16, 64, 256),
        .threshold = (int)ONE_OF(load, 0, 0, 0, 7, 128),
        .caching = next(load) % 2,
        .reserve = next(load) % 2,
    };
    c->blocks = (int)(ONE_OF(load, 300, 600, 1000, 3000, 30000) / c->block_size);
    if (c->blocks > PLAIN_BLOCKS)
        c->blocks = PLAIN_BLOCKS;
    c->watermark = c->blocks / (int)ONE_OF(load, 10000, 10000, 20, 10);
    snprintf(load->text, sizeof load->text,
             "\"step\": {\"base\": \"%.3fns\", \"prefill_token\": \"%.3fns\", \"decode\": \"%.3fns\", "
             "\"context_token\": \"%.3fns\"}, \"kv_blocks\": %d, \"block_size\": %d, "
             "\"max_num_batched_tokens\": %d, "
             "\"max_num_seqs\": %d, \"long_prefill_token_threshold\": %d, \"prefix_caching\": %s, "
             "\"reserve_full_isl\": %s, \"watermark\": %.9f",
             ns[0], ns[1], ns[2], ns[3], c->blocks, c->block_size, c->budget, c->most_running, c->threshold,
             c->caching ? "true" : "false", c->reserve ? "true" : "false",
             (c->watermark + 0.5) / c->blocks < 1 ? (c->watermark + 0.5) / c->blocks : 1);
}

static void make_load(struct load *load, uint64_t seed)
{
    int tokens, longest, cancels, groups, evict;
    int32_t prefixes[8];
    sim_time at = 0, pace, grid;

    *load = (struct load){.seed = seed, .state = random_hash(seed + 77)};
    make_config(load);
    tokens = load->plain.blocks * load->plain.block_size;
    longest = plain_least(tokens / 2, (int)ONE_OF(load, 60, 300, 1200));
    load->count = (int)ONE_OF(load, 3, 12, 60, 200);
    cancels = (int)ONE_OF(load, 0, 0, 3, 10);
    groups = (int)between(load, 0, 3);
    evict = next(load) % 4 == 0;
    pace = ONE_OF(load, 1, 1000000, 30000000, 1000000000);
    grid = next(load) % 3 == 0 ? 5000000 : 1;
    for (int i = 0; i < 8; i++)
        prefixes[i] = (int32_t)between(load, 1, longest);
    for (int i = 0; i < load->count; i++) {
        struct llm_request *r = &load->requests[i];

        if (next(load) % 3)
            at += between(load, 0, 2 * pace);
        *r = (struct llm_request){
            .at = at / grid * grid,
            .prompt = (int32_t)between(load, 1, longest),
            .output = (int32_t)ONE_OF(load, 1, 2, between(load, 1, longest), between(load, 1, 100))};
        if (r->prompt + r->output > tokens)
            r->output = tokens - r->prompt;
        if (r->prompt + r->output > 32768)
            r->output = 1;
        if (groups > 0 && next(load) % 4) {
            r->prefix_group = 1 + next(load) % (uint64_t)groups;
            /* one group may share a long prefix with some and a short one with others */
            r->prefix_tokens = prefixes[2 * r->prefix_group + next(load) % 2];
        }
        add_event(load, r->at, EVENT_SUBMIT, i);
        if (between(load, 0, 29) < cancels)
            add_event(load, (r->at + between(load, 0, 40 * pace + 1000000000)) / grid * grid,
                      next(load) % 3 ? EVENT_CANCEL : EVENT_CANCEL_QUEUED, i);
        if (next(load) % 4 == 0)
            add_event(load, (r->at + between(load, 0, 10 * pace)) / grid * grid, EVENT_LOOK, i);
    }
    if (evict)
        add_event(load, at / 2, EVENT_EVICT, 0);
    qsort(load->events, (size_t)load->event_count, sizeof *load->events, by_time);
}

/* What one run of the model gives. */
struct served {
    struct job jobs[PLAIN_REQUESTS];
    bool inside[PLAIN_REQUESTS];
    struct server_gauges looks[PLAIN_REQUESTS];
    int look_count;
    struct llm_counters counters;
};

static void mark(struct served *served, struct job *done)
{
    for (; done; done = done->next) {
        assert_true(served->inside[done->request]);
        served->inside[done->request] = false;
    }
}

static void serve_script(const struct load *load, bool stepping, struct served *served, bool evicts)
{
    struct service_model model;
    struct error err = {0};
    struct server *server;
    char text[1200];

    memset(served, 0, sizeof *served);
    snprintf(text, sizeof text, "{\"llm\": {%s, \"exact_stepping\": %s}}", load->text,
             stepping ? "true" : "false");
    if (!llm_model(text, &model, &err))
        fail_msg("seed %llu: %s: %s", (unsigned long long)load->seed, err.place, err.message);
    server = model.type->create(model.config, &err);
    assert_non_null(server);
    for (int i = 0; i <= load->event_count; i++) {
        const struct script_event *event = &load->events[i];
        sim_time at = i < load->event_count ? event->at : SIM_NEVER;

        while (llm_due(server, at)) {
            sim_time now = server->next_time;
            struct job *done = model.type->advance(server, now);

            for (struct job *job = done; job; job = job->next)
                assert_int_equal(job->finished, now);
            mark(served, done);
            assert_true(server->next_time >= now);
        }
        if (i == load->event_count)
            break;
        switch (event->kind) {
        case EVENT_SUBMIT:
            llm_job(&served->jobs[event->request], &load->requests[event->request], (uint64_t)event->request);
            assert_true(model.type->submit(server, at, &served->jobs[event->request]));
            served->inside[event->request] = true;
            break;
        case EVENT_CANCEL:
        case EVENT_CANCEL_QUEUED:
            if (!served->inside[event->request])
                break;
            if (model.type->cancel(server, at, &served->jobs[event->request], event->kind == EVENT_CANCEL))
                served->inside[event->request] = false;
            else
                assert_true(event->kind == EVENT_CANCEL_QUEUED &&
                            served->jobs[event->request].started != SIM_NEVER);
            break;
        case EVENT_EVICT:
            if (evicts)
                mark(served, model.type->evict(server, at));
            break;
        case EVENT_LOOK:
            model.type->gauges(server, at, &served->looks[served->look_count++]);
            break;
        }
    }
    assert_int_equal(server->running, 0);
    assert_int_equal(server->waiting, 0);
    llm_server_counters(server, &served->counters);
    assert_int_equal(served->counters.blocks_used, 0);
    assert_int_equal(served->counters.blocks_listed, served->counters.blocks);
    for (int i = 0; i < load->count; i++)
        assert_false(served->inside[i]);
    model.type->destroy(server);
    service_model_free(&model);
}

static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12;
}

static void compare_modes(const struct load *load, const struct served *a, const struct served *b)
{
    for (int i = 0; i < load->count; i++) {
        const struct job *x = &a->jobs[i], *y = &b->jobs[i];

        if (x->started != y->started || x->first_output != y->first_output || x->finished != y->finished ||
            x->largest_gap != y->largest_gap || x->preemptions != y->preemptions ||
            x->cached_tokens != y->cached_tokens)
            fail_msg(
                "seed %llu, request %d: skipped %lld %lld %lld gap %lld, stepped %lld %lld %lld gap %lld",
                (unsigned long long)load->seed, i, (long long)x->started, (long long)x->first_output,
                (long long)x->finished, (long long)x->largest_gap, (long long)y->started,
                (long long)y->first_output, (long long)y->finished, (long long)y->largest_gap);
    }
    assert_int_equal(a->counters.steps, b->counters.steps);
    assert_int_equal(a->counters.preemptions, b->counters.preemptions);
    assert_int_equal(a->counters.blocks_peak, b->counters.blocks_peak);
    assert_int_equal(a->counters.cache_hit, b->counters.cache_hit);
    assert_int_equal(a->look_count, b->look_count);
    for (int i = 0; i < a->look_count; i++) {
        const struct server_gauges *x = &a->looks[i], *y = &b->looks[i];

        if (x->running != y->running || x->waiting != y->waiting || x->busy_ns != y->busy_ns ||
            x->running_ns != y->running_ns || x->started != y->started || x->finished != y->finished ||
            x->prompt_tokens != y->prompt_tokens || x->generation_tokens != y->generation_tokens ||
            !same_number(x->kv_usage, y->kv_usage) || !same_number(x->cache_hit_rate, y->cache_hit_rate))
            fail_msg("seed %llu, look %d: tokens %lld %lld usage %.17g %.17g running %lld %lld",
                     (unsigned long long)load->seed, i, (long long)x->generation_tokens,
                     (long long)y->generation_tokens, x->kv_usage, y->kv_usage, (long long)x->running,
                     (long long)y->running);
    }
}

static void serve_plain(const struct load *load, struct plain *plain)
{
    plain_init(plain, &load->plain);
    for (int i = 0; i < load->event_count; i++) {
        const struct script_event *event = &load->events[i];
        const struct llm_request *r = &load->requests[event->request];
        struct plain_request *p = &plain->requests[event->request];

        plain_until(plain, event->at);
        if (event->kind == EVENT_SUBMIT)
            plain_submit(plain, r->at, event->request, r->prompt, r->output, r->prefix_group,
                         r->prefix_tokens);
        else if (event->kind == EVENT_CANCEL || event->kind == EVENT_CANCEL_QUEUED)
            if (p->finished == SIM_NEVER && !p->gone &&
                (event->kind == EVENT_CANCEL || p->started == SIM_NEVER)) {
                plain_cancel(plain, event->request);
                p->gone = true;
            }
    }
    plain_until(plain, SIM_NEVER);
}

static void compare_plain(const struct load *load, const struct served *served, const struct plain *plain)
{
    for (int i = 0; i < load->count; i++) {
        const struct job *job = &served->jobs[i];
        const struct plain_request *p = &plain->requests[i];

        if (job->started != p->started || job->first_output != p->first || job->finished != p->finished ||
            job->preemptions != p->preemptions ||
            (p->started != SIM_NEVER && job->cached_tokens != p->cached))
            fail_msg(
                "seed %llu, request %d of %s: got %lld %lld %lld cached %d, plain %lld %lld %lld cached %d",
                (unsigned long long)load->seed, i, load->text, (long long)job->started,
                (long long)job->first_output, (long long)job->finished, job->cached_tokens,
                (long long)p->started, (long long)p->first, (long long)p->finished, p->cached);
        /* the model rounds the length of a step, the plain one the times at its ends */
        if (p->finished != SIM_NEVER)
            assert_true(llabs(job->largest_gap - p->largest_gap) <= 1);
    }
    assert_int_equal(served->counters.steps, plain->steps);
    assert_int_equal(served->counters.preemptions, plain->preemptions);
    assert_int_equal(served->counters.blocks_peak, plain->peak);
    assert_int_equal(plain->free, plain->config.blocks);
}

static void test_all_ways_agree(void **state)
{
    const char *asked = getenv("PEAKSIM_LLM_CASES");
    long cases = asked ? strtol(asked, NULL, 10) : CASES;
    struct load *load = malloc(sizeof *load);
    struct served *skipped = malloc(sizeof *skipped), *stepped = malloc(sizeof *stepped);
    struct plain *plain = malloc(sizeof *plain);
    long preempted = 0, hits = 0, evicted = 0, steps = 0, events = 0, cancelled = 0;

    (void)state;
    assert_true(load && skipped && stepped && plain);
    for (long i = 0; i < cases; i++) {
        make_load(load, (uint64_t)i);
        for (int evicts = 0; evicts < 2; evicts++) {
            serve_script(load, false, skipped, evicts);
            serve_script(load, true, stepped, evicts);
            compare_modes(load, skipped, stepped);
            if (evicts)
                continue;
            serve_plain(load, plain);
            compare_plain(load, skipped, plain);
            preempted += skipped->counters.preemptions;
            hits += skipped->counters.cache_hit;
            steps += skipped->counters.steps;
            events += skipped->counters.events;
            for (int j = 0; j < load->count; j++)
                cancelled += skipped->jobs[j].finished == SIM_NEVER;
        }
        for (int j = 0; j < load->event_count; j++)
            evicted += load->events[j].kind == EVENT_EVICT;
    }
    print_message(
        "%ld cases: %ld steps in %ld events, %ld preemptions, %ld cached tokens, %ld cancelled, %ld losses\n",
        cases, steps, events, preempted, hits, cancelled, evicted);
    /* the cases must reach what they are for */
    assert_true(preempted > 1000 && hits > 10000 && evicted > 20 && cancelled > 100 && events < steps / 4 * 3);
    free(load);
    free(skipped);
    free(stepped);
    free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_ways_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
