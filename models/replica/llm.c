#include "models/replica/llm.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "models/replica/job_list.h"
#include "models/replica/llm_config.h"
#include "models/replica/llm_internal.h"

/* ---- what comes next ---- */

static void set_steps(struct llm_server *llm)
{
    llm->phase = LLM_STEPS;
    llm->server.next_time = llm_run_end(llm, llm->run.steps);
    llm->server.next_rank = SERVER_END;
}

static void set_ready(struct llm_server *llm, sim_time now)
{
    llm->phase = LLM_READY;
    llm->server.next_time = now;
    llm->server.next_rank = SERVER_START;
}

/*
 * The run under way ends after `steps` of its steps, so that the step after it sees what has just come.
 * Nobody ends there, so that end and start can be one event, after the arrivals of that time. A run that was
 * planned at this very time has not begun.
 */
static void cut(struct llm_server *llm, int64_t steps)
{
    if (steps >= llm->run.steps)
        return;
    if (steps == 0) {
        assert(llm->run.taken == 0);
        set_ready(llm, llm->clock_ns);
        return;
    }
    llm->run.steps = steps;
    llm->server.next_time = llm_run_end(llm, steps);
    llm->server.next_rank = SERVER_START;
}

/* Steps of the run under way that are over or cannot be called back at `now`. */
static int64_t next_boundary(const struct llm_server *llm, sim_time now)
{
    int64_t steps = llm_run_boundary(llm, now);

    return steps < llm->run.taken ? llm->run.taken : steps;
}

/* ---- the end of steps ---- */

/* Puts a job that ends now into its place: all are listed, and free their blocks, in the order of the running
 * list, which is that of admission. The wheel gives the youngest first, so that most go to the front. */
static void list_finished(const struct llm_server *llm, struct job_list *done, struct job *job)
{
    uint64_t order = llm->sequences[job->scratch[0]].order;
    struct job *before = done->first;

    while (before && llm->sequences[before->scratch[0]].order < order)
        before = before->next;
    job->next = before;
    job->previous = before ? before->previous : done->last;
    if (job->previous)
        job->previous->next = job;
    else
        done->first = job;
    if (before)
        before->previous = job;
    else
        done->last = job;
}

static void finish(struct llm_server *llm, struct job *job)
{
    uint32_t id = (uint32_t)job->scratch[0];
    struct llm_sequence *sequence = &llm->sequences[id];

    job->finished = llm->clock_ns;
    if (sequence->state == LLM_DECODER)
        llm_gap_close(llm, sequence);
    llm_sequence_stop(llm, id, false);
    llm_sequence_recycle(llm, id);
    llm->server.running--;
    usage_end(&llm->usage, llm->clock_ns, llm->server.running);
    llm->usage.finished++;
}

/* A partial sequence has caught up and emits. Returns false if it stays partial: that was its last token. */
static bool emit(struct llm_server *llm, uint32_t id)
{
    struct llm_sequence *sequence = &llm->sequences[id];

    llm->usage.generation_tokens++;
    if (sequence->out++ == 0) {
        sequence->job->first_output = llm->clock_ns;
        llm->usage.prompt_tokens += sequence->prompt;
    } else {
        llm_gap_after(llm, sequence);
    }
    if (sequence->out == sequence->target)
        return false;
    sequence->irregular = false;
    sequence->regular_since = llm->step;
    sequence->base = llm->step - sequence->computed;
    llm_decoder_add(llm, id);
    return true;
}

static void drop_left(struct llm_server *llm)
{
    for (uint32_t i = 0; i < llm->left.count; i++) {
        uint32_t id = llm->left.ids[i];

        for (uint32_t j = 0; j < llm->late.count; j++)
            if (llm->late.ids[j] == id) {
                llm_array_remove(&llm->late, id);
                break;
            }
        llm_sequence_stop(llm, id, false);
        llm_sequence_recycle(llm, id);
    }
    llm->left.count = 0;
}

/* The steps of the run are over. */
static struct job *end_steps(struct llm_server *llm)
{
    struct job_list done = {NULL, NULL};
    int64_t steps = llm->run.steps, length = llm_run_length(llm, steps) - llm->clock_under;
    sim_time ns = (length + LLM_FINE - 1) >> LLM_FINE_BITS;
    uint32_t partial = 0;

    llm->clock_ns += ns;
    llm->clock_under = (ns << LLM_FINE_BITS) - length;
    if (llm->run.only_decoders) {
        int64_t blocks = llm_run_blocks(llm, steps) - (llm->run.taken ? llm_run_blocks(llm, 1) : 0);

        llm_kv_take(&llm->kv, blocks);
        if (llm->kv.total - llm->kv.free > llm->blocks_peak)
            llm->blocks_peak = llm->kv.total - llm->kv.free;
    }
    llm->step += steps;
    llm->steps += steps;
    llm->usage.generation_tokens += steps * llm->run.decoding;
    llm_gap_push(llm, llm_run_length(llm, steps) - llm_run_length(llm, steps - 1));
    llm->phase = LLM_IDLE;
    if (llm->left.count > 0)
        drop_left(llm);

    for (uint32_t i = 0; i < llm->late.count; i++) {
        struct llm_sequence *sequence = &llm->sequences[llm->late.ids[i]];

        llm_gap_after(llm, sequence);
        sequence->irregular = false;
        llm->irregular--;
        sequence->regular_since = llm->step;
    }
    llm->late.count = 0;

    for (uint32_t id = llm->wheel[llm->step & (LLM_WHEEL - 1)]; id != LLM_NONE;
         id = llm->sequences[id].wheel_next) {
        const struct llm_sequence *sequence = &llm->sequences[id];

        if (sequence->base + sequence->prompt + sequence->target - 1 == llm->step)
            list_finished(llm, &done, sequence->job);
    }
    for (uint32_t i = 0; i < llm->partial.count; i++) {
        uint32_t id = llm->partial.ids[i];
        struct llm_sequence *sequence = &llm->sequences[id];

        if (sequence->computed == sequence->prompt + sequence->out && emit(llm, id))
            continue;
        if (sequence->out == sequence->target)
            list_finished(llm, &done, sequence->job);
        llm->partial.ids[partial++] = id;
    }
    llm->partial.count = partial;
    for (struct job *job = done.first; job; job = job->next)
        finish(llm, job);
    return done.first;
}

/* ---- service ---- */

static bool llm_submit(struct server *server, sim_time now, struct job *job)
{
    struct llm_server *llm = llm_of(server);
    const struct llm_config *config = llm->config;
    int64_t output = job->tokens_out > 0 ? job->tokens_out : 1;
    struct llm_sequence *sequence;
    int32_t shared;
    uint32_t id;

    /* the last token needs no KV */
    if (job->tokens_in <= 0 || job->tokens_in + output > config->longest ||
        llm_blocks(config, job->tokens_in + output - 1) > config->kv_blocks)
        return false;
    job->started = job->first_output = job->finished = SIM_NEVER;
    job->largest_gap = 0;
    job->preemptions = job->cached_tokens = 0;
    id = llm_sequence_new(llm);
    sequence = &llm->sequences[id];
    *sequence = (struct llm_sequence){
        .job = job, .prompt = job->tokens_in, .target = (int32_t)output, .state = LLM_WAITING};
    shared = job->prefix_tokens < job->tokens_in ? job->prefix_tokens : job->tokens_in;
    llm_kv_hold_init(&sequence->hold, job->prefix_group, shared > 0 ? shared >> config->block_shift : 0);
    job->scratch[0] = id;
    llm_list_append(llm, &llm->waiting, id);
    server->waiting++;
    if (llm->phase == LLM_IDLE) {
        llm->clock_ns = now;
        llm->clock_under = 0;
        set_ready(llm, now);
    } else if (llm->phase == LLM_STEPS && llm->waiting.count == 1) {
        /* whoever waits already, in vain, would go first */
        cut(llm, next_boundary(llm, now));
    }
    return true;
}

static struct job *llm_advance(struct server *server, sim_time now)
{
    struct llm_server *llm = llm_of(server);
    struct job *done = NULL;

    assert(now == server->next_time);
    llm->events++;
    if (llm->phase == LLM_STEPS) {
        bool merged = server->next_rank == SERVER_START;

        done = end_steps(llm);
        assert(llm->clock_ns == now);
        assert(!merged || !done);
        if (llm->running.count == 0 && llm->waiting.count == 0) {
            assert(llm->kv.free == llm->kv.total); /* every block came back */
            llm->phase = LLM_IDLE;
            server->next_time = SIM_NEVER;
            return done;
        }
        if (!merged) {
            if (llm->waiting.count == 0 && llm_run_possible(llm)) {
                llm_run_plan(llm, 0);
                set_steps(llm);
            } else {
                set_ready(llm, now);
            }
            return done;
        }
    }
    if (llm_step_begin(llm)) {
        set_steps(llm);
    } else {
        llm->phase = LLM_IDLE;
        server->next_time = SIM_NEVER;
    }
    return done;
}

static bool llm_cancel(struct server *server, sim_time now, struct job *job, bool running_too)
{
    struct llm_server *llm = llm_of(server);
    uint32_t id = (uint32_t)job->scratch[0];
    struct llm_sequence *sequence = &llm->sequences[id];
    int64_t boundary;

    assert(sequence->job == job);
    if (sequence->state == LLM_WAITING) {
        bool head = llm->waiting.first == id;

        if (!running_too && job->started != SIM_NEVER)
            return false; /* preempted: its service has begun */
        llm_kv_forget(&llm->kv, &sequence->hold);
        llm_list_remove(llm, &llm->waiting, id);
        llm_sequence_recycle(llm, id);
        server->waiting--;
        if (llm->phase == LLM_STEPS && head && llm->waiting.count > 0)
            cut(llm, next_boundary(llm, now)); /* the one behind it may fit */
        return true;
    }
    if (!running_too)
        return false;
    sequence->job = NULL;
    server->running--;
    usage_end(&llm->usage, now, server->running);
    boundary = llm->phase == LLM_STEPS ? next_boundary(llm, now) : 0;
    if (boundary > 0) {
        /* the step under way has it in its batch */
        llm_array_append(&llm->left, id);
        cut(llm, boundary);
        return true;
    }
    if (llm->phase == LLM_STEPS)
        cut(llm, 0);
    llm_sequence_stop(llm, id, false);
    llm_sequence_recycle(llm, id);
    return true;
}

static void clear(struct llm_server *llm)
{
    llm->server.next_time = SIM_NEVER;
    llm->server.next_rank = SERVER_END;
    llm->server.running = llm->server.waiting = 0;
    for (uint32_t i = 0; i < llm->capacity; i++)
        llm->sequences[i].next = i + 1 < llm->capacity ? i + 1 : LLM_NONE;
    llm->spare = llm->capacity > 0 ? 0 : LLM_NONE;
    llm->running = llm->waiting = (struct llm_list){LLM_NONE, LLM_NONE, 0};
    llm_kv_reset(&llm->kv);
    llm->phase = LLM_IDLE;
    llm->decoders = llm->irregular = 0;
    llm->base_sum = 0;
    for (int32_t i = 0; i < llm->config->block_size; i++)
        llm->residues[i] = 0;
    for (int32_t i = 0; i < LLM_WHEEL; i++)
        llm->wheel[i] = LLM_NONE;
    for (int32_t i = 0; i < LLM_WHEEL_WORDS; i++)
        llm->wheel_bits[i] = 0;
    llm->wheel_summary = 0;
    llm->partial.count = llm->late.count = llm->left.count = 0;
    llm->gap_count = 0;
    llm->step = 0;
}

/* Steps of the run under way that are over at `now`. */
static int64_t steps_over(const struct llm_server *llm, sim_time now)
{
    return llm->phase == LLM_STEPS ? llm_run_boundary(llm, now + 1) - 1 : 0;
}

static int64_t blocks_used(const struct llm_server *llm, sim_time now)
{
    int64_t used = llm->kv.total - llm->kv.free;

    if (llm->phase == LLM_STEPS && llm->run.only_decoders) {
        /* a step has its blocks from its start on; of one that starts right now they are still to be taken */
        int64_t steps = now > llm->clock_ns ? llm_run_boundary(llm, now) : llm->run.taken;

        if (steps > llm->run.steps)
            steps = llm->run.steps;
        used += llm_run_blocks(llm, steps) - (llm->run.taken ? llm_run_blocks(llm, 1) : 0);
    }
    return used;
}

static struct job *llm_evict(struct server *server, sim_time now)
{
    struct llm_server *llm = llm_of(server);
    struct job_list out = {NULL, NULL};
    const struct llm_list *lists[] = {&llm->running, &llm->waiting};
    int64_t steps = steps_over(llm, now), used = blocks_used(llm, now);

    /* what of the run is over counts */
    llm->steps += steps;
    llm->usage.generation_tokens += steps * llm->run.decoding;
    if (used > llm->blocks_peak)
        llm->blocks_peak = used;
    for (int i = 0; i < 2; i++)
        for (uint32_t id = lists[i]->first; id != LLM_NONE; id = llm->sequences[id].next) {
            if (!llm->sequences[id].job)
                continue;
            job_list_append(&out, llm->sequences[id].job);
            if (i == 0) {
                server->running--;
                usage_end(&llm->usage, now, server->running);
            }
        }
    clear(llm);
    return out.first;
}

static void llm_reset(struct server *server, sim_time now)
{
    struct llm_server *llm = llm_of(server);

    assert(server->running == 0 && server->waiting == 0);
    clear(llm);
    llm->clock_ns = now;
    llm->clock_under = 0;
    llm->admissions = 0;
    llm->usage = (struct usage){0};
    llm->preemptions = llm->steps = llm->events = llm->blocks_peak = 0;
    llm->cache_asked = llm->cache_hit = 0;
}

static void llm_destroy(struct server *server)
{
    struct llm_server *llm = llm_of(server);

    if (!llm)
        return;
    free(llm->sequences);
    free(llm->residues);
    free(llm->wheel);
    free(llm->partial.ids);
    free(llm->late.ids);
    free(llm->left.ids);
    free(llm->gaps);
    llm_kv_free(&llm->kv);
    free(llm);
}

static struct server *llm_create(const void *config, struct error *err)
{
    struct llm_server *llm = calloc(1, sizeof *llm);

    if (!llm) {
        error_memory(err, "llm");
        return NULL;
    }
    llm->config = config;
    llm->server.type = &service_llm;
    llm->residues = calloc((size_t)llm->config->block_size, sizeof *llm->residues);
    llm->wheel = calloc(LLM_WHEEL, sizeof *llm->wheel);
    if (!llm->residues || !llm->wheel) {
        error_memory(err, "llm");
        llm_destroy(&llm->server);
        return NULL;
    }
    if (llm_kv_init(&llm->kv, llm->config->kv_blocks, llm->config->caching, err)) {
        llm_destroy(&llm->server);
        return NULL;
    }
    llm_reset(&llm->server, 0);
    return &llm->server;
}

static int32_t llm_room(const struct server *server)
{
    const struct llm_config *config = ((const struct llm_server *)server)->config;

    if (server->waiting > 0)
        return 0; /* first come, first served */
    return config->most_running - server->running;
}

static void llm_gauges(const struct server *server, sim_time now, struct server_gauges *gauges)
{
    const struct llm_server *llm = (const struct llm_server *)server;

    usage_gauges(&llm->usage, server, now, gauges);
    gauges->capacity = llm->config->most_running;
    gauges->generation_tokens += steps_over(llm, now) * llm->run.decoding;
    gauges->kv_usage = (double)blocks_used(llm, now) / (double)llm->kv.total;
    if (llm->config->caching)
        gauges->cache_hit_rate = llm->cache_asked > 0 ? (double)llm->cache_hit / (double)llm->cache_asked : 0;
}

void llm_server_counters(const struct server *server, struct llm_counters *counters)
{
    const struct llm_server *llm = (const struct llm_server *)server;

    *counters = (struct llm_counters){
        .steps = llm->steps,
        .preemptions = llm->preemptions,
        .blocks = llm->kv.total,
        .blocks_used = llm->kv.total - llm->kv.free,
        .blocks_peak = llm->blocks_peak,
        .blocks_listed = llm_kv_count_free(&llm->kv),
        .cache_asked = llm->cache_asked,
        .cache_hit = llm->cache_hit,
        .events = llm->events,
    };
}

const struct service_type service_llm = {
    .name = "llm",
    .help = "continuous batching of a large language model, step by step: tokens, KV blocks, prefix cache",
    .parse = llm_config_parse,
    .config_free = llm_config_free,
    .draw = llm_config_draw,
    .nominal_seconds = llm_config_nominal_seconds,
    .max_rate = llm_config_max_rate,
    .create = llm_create,
    .destroy = llm_destroy,
    .reset = llm_reset,
    .submit = llm_submit,
    .advance = llm_advance,
    .cancel = llm_cancel,
    .evict = llm_evict,
    .room = llm_room,
    .gauges = llm_gauges,
};
