#include <assert.h>

#include "models/replica/llm_internal.h"

/*
 * One step of the scheduler: the running requests first, then the waiting ones. Begun at the clock; what it
 * gives is found in llm->run, and llm.c ends it.
 */

/* Sums over what the step schedules. */
struct llm_plan {
    int32_t budget;   /* tokens left */
    bool scheduled;   /* anybody */
    bool preempted;   /* anybody: nobody is admitted then */
    int64_t prefill;  /* tokens */
    int64_t decodes;  /* requests */
    int64_t computed; /* tokens, before the step */
    int64_t decoding; /* decoders among the decodes */
};

static inline int32_t capped(const struct llm_config *config, int32_t missing, int32_t budget)
{
    int32_t tokens = missing;

    if (config->threshold > 0 && tokens > config->threshold)
        tokens = config->threshold;
    return tokens < budget ? tokens : budget;
}

static inline int32_t missing_of(const struct llm_sequence *sequence)
{
    return sequence->prompt + sequence->out - sequence->computed;
}

static void note_used(struct llm_server *llm)
{
    if (llm->kv.total - llm->kv.free > llm->blocks_peak)
        llm->blocks_peak = llm->kv.total - llm->kv.free;
}

/* A partial sequence gets `tokens` tokens, its new blocks are taken already. */
static void schedule_partial(struct llm_server *llm, struct llm_plan *plan, struct llm_sequence *sequence,
                             int32_t tokens)
{
    int32_t shift = llm->config->block_shift;

    if (sequence->out > 0 && missing_of(sequence) == 1)
        plan->decodes++;
    else
        plan->prefill += tokens;
    plan->computed += sequence->computed;
    plan->budget -= tokens;
    plan->scheduled = true;
    sequence->scheduled = tokens;
    llm_kv_publish(&llm->kv, &sequence->hold, sequence->computed >> shift,
                   (sequence->computed + tokens) >> shift);
    sequence->computed += tokens;
}

/* ---- running requests ---- */

/* The last of running goes back to the head of the queue. */
static void preempt_last(struct llm_server *llm)
{
    uint32_t id = llm->running.last;
    struct llm_sequence *sequence = &llm->sequences[id];

    if (sequence->state == LLM_DECODER && !sequence->irregular) {
        llm_gap_close(llm, sequence);
        sequence->last_token = llm_clock(llm);
    }
    llm_sequence_stop(llm, id, true);
    sequence->irregular = false;
    sequence->state = LLM_WAITING;
    sequence->computed = 0;
    sequence->job->preemptions++;
    llm->preemptions++;
    llm_list_prepend(llm, &llm->waiting, id);
    llm->server.running--;
    llm->server.waiting++;
    usage_end(&llm->usage, llm->clock_ns, llm->server.running);
}

/* Decoders from this one on get nothing in this step. */
static void pass_over(struct llm_server *llm, uint32_t id)
{
    for (; id != LLM_NONE; id = llm->sequences[id].next) {
        struct llm_sequence *sequence = &llm->sequences[id];

        if (sequence->state != LLM_DECODER)
            continue;
        if (!sequence->irregular) {
            llm_gap_close(llm, sequence);
            sequence->last_token = llm_clock(llm);
        }
        llm_decoder_remove(llm, id);
        sequence->irregular = true;
        sequence->base++; /* step - base stays as it is when the step counts up */
        llm_decoder_add(llm, id);
    }
}

/* In list order, whatever may come. */
static void running_in_order(struct llm_server *llm, struct llm_plan *plan)
{
    const struct llm_config *config = llm->config;
    uint32_t id = llm->running.first;

    for (; id != LLM_NONE && plan->budget > 0; id = llm->sequences[id].next) {
        struct llm_sequence *sequence = &llm->sequences[id];
        bool decoder = sequence->state == LLM_DECODER;
        int64_t computed = decoder ? llm->step - sequence->base : sequence->computed;
        int32_t tokens = decoder ? 1 : capped(config, missing_of(sequence), plan->budget);
        int64_t blocks = llm_blocks(config, computed + tokens) - llm_blocks(config, computed);

        while (blocks > llm->kv.free) {
            bool itself = llm->running.last == id;

            preempt_last(llm);
            plan->preempted = true;
            if (itself)
                return; /* it was the last: nobody is left behind it */
        }
        llm_kv_take(&llm->kv, blocks);
        if (!decoder) {
            schedule_partial(llm, plan, sequence, tokens);
            continue;
        }
        plan->budget--;
        plan->scheduled = true;
        plan->decodes++;
        plan->decoding++;
        plan->computed += computed;
        if (sequence->irregular)
            llm_array_append(&llm->late, id);
    }
    pass_over(llm, id);
}

/*
 * All decoders at once and the partial ones one by one, where the order of the list makes no difference: the
 * budget reaches all decoders whoever stands before them, and blocks suffice for all. False, and nothing
 * done, if not.
 */
static bool running_at_once(struct llm_server *llm, struct llm_plan *plan)
{
    const struct llm_config *config = llm->config;
    int32_t budget = config->budget - llm->decoders;
    int64_t blocks = llm_run_blocks(llm, 1);
    bool short_of_budget = false;

    if (config->stepping || llm->irregular > 0 || budget < 0)
        return false;
    for (uint32_t i = 0; i < llm->partial.count; i++) {
        struct llm_sequence *sequence = &llm->sequences[llm->partial.ids[i]];
        int32_t wanted = capped(config, missing_of(sequence), INT32_MAX);
        int32_t tokens = wanted < budget ? wanted : budget;

        short_of_budget |= tokens < wanted;
        sequence->scheduled = tokens;
        budget -= tokens;
        blocks += llm_blocks(config, sequence->computed + tokens) - llm_blocks(config, sequence->computed);
    }
    if (blocks > llm->kv.free)
        return false;
    if (short_of_budget) {
        /* then no decoder may stand behind a partial one */
        uint32_t id = llm->running.last;

        for (uint32_t i = llm->partial.count; i-- > 0; id = llm->sequences[id].previous)
            if (id != llm->partial.ids[i])
                return false;
    }
    llm_kv_take(&llm->kv, blocks);
    plan->scheduled = llm->decoders > 0;
    plan->decodes = plan->decoding = llm->decoders;
    plan->computed = llm->decoders * llm->step - llm->base_sum;
    plan->budget = config->budget - llm->decoders;
    for (uint32_t i = 0; i < llm->partial.count; i++) {
        struct llm_sequence *sequence = &llm->sequences[llm->partial.ids[i]];

        if (sequence->scheduled > 0)
            schedule_partial(llm, plan, sequence, sequence->scheduled);
    }
    return true;
}

/* ---- waiting requests ---- */

static void enter(struct llm_server *llm, struct llm_sequence *sequence, int32_t hit)
{
    struct job *job = sequence->job;

    usage_begin(&llm->usage, llm->clock_ns, llm->server.running);
    llm->server.running++;
    llm->server.waiting--;
    sequence->order = llm->admissions++;
    if (job->started != SIM_NEVER) {
        llm->usage.started--; /* it comes back */
        return;
    }
    job->started = llm->clock_ns;
    job->cached_tokens = hit;
    if (llm->config->caching) {
        llm->cache_asked += sequence->prompt;
        llm->cache_hit += hit;
    }
}

/* The head of the queue; false if it has to wait. */
static bool admit_head(struct llm_server *llm, struct llm_plan *plan)
{
    const struct llm_config *config = llm->config;
    uint32_t id = llm->waiting.first;
    struct llm_sequence *sequence = &llm->sequences[id];
    int32_t known = sequence->prompt + sequence->out;
    struct llm_kv_match match = llm_kv_find(&llm->kv, &sequence->hold, (known - 1) >> config->block_shift);
    int64_t found = match.shared + match.own, watermark = plan->scheduled ? config->watermark : 0;
    int32_t hit = (int32_t)(found << config->block_shift);
    int32_t tokens = capped(config, known - hit, plan->budget);
    int64_t blocks = llm_blocks(config, hit + tokens) - found;

    if (blocks + match.unheld + watermark > llm->kv.free)
        return false;
    if (config->reserve && llm_blocks(config, known) - found + match.unheld + watermark > llm->kv.free)
        return false;
    llm_list_remove(llm, &llm->waiting, id);
    llm_kv_hit(&llm->kv, &sequence->hold, match);
    llm_kv_take(&llm->kv, blocks);
    llm_list_append(llm, &llm->running, id);
    llm_array_append(&llm->partial, id);
    sequence->state = LLM_PARTIAL;
    sequence->computed = hit;
    enter(llm, sequence, hit);
    schedule_partial(llm, plan, sequence, tokens);
    return true;
}

bool llm_step_begin(struct llm_server *llm)
{
    const struct llm_config *config = llm->config;

    while (llm->running.count > 0 || llm->waiting.count > 0) {
        struct llm_plan plan = {.budget = config->budget};
        bool at_once;

        for (uint32_t i = 0; i < llm->partial.count; i++)
            llm->sequences[llm->partial.ids[i]].scheduled = 0;
        at_once = running_at_once(llm, &plan);
        if (!at_once)
            running_in_order(llm, &plan);
        if (!plan.preempted)
            while (llm->waiting.count > 0 && plan.budget > 0 && llm->running.count < config->most_running &&
                   admit_head(llm, &plan))
                ;
        if (!plan.scheduled) {
            assert(plan.preempted); /* everybody: once more at the same time */
            continue;
        }
        note_used(llm);
        if (at_once && llm->partial.count == 0) {
            llm_run_plan(llm, 1);
            return true;
        }
        llm->run.steps = 1;
        llm->run.taken = 1;
        llm->run.slope = 0;
        llm->run.decoding = plan.decoding;
        llm->run.only_decoders = false;
        llm->run.first = config->base + config->prefill * plan.prefill + config->decode * plan.decodes +
                         config->context * plan.computed;
        return true;
    }
    return false;
}
