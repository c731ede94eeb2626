#ifndef TESTS_UNIT_REPLICA_LLM_REFERENCE_H
#define TESTS_UNIT_REPLICA_LLM_REFERENCE_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/replica/llm.h"

/*
 * The scheduler once more, as plainly as it can be written and with nothing in common with the model: one
 * step at a time, one record a KV block, found by looking at all of them. Times are in 1/65536 ns, as the
 * model's. Fixed sizes; for tests alone.
 */
enum { PLAIN_REQUESTS = 256, PLAIN_BLOCKS = 4096, PLAIN_FINE = 65536 };

struct plain_config {
    int64_t base, prefill, decode, context; /* fine units */
    int blocks, watermark, block_size, budget, most_running, threshold;
    bool caching, reserve;
};

struct plain_request {
    int prompt, target, prefix;
    uint64_t group;
    int computed, out, scheduled;
    int blocks[PLAIN_BLOCKS], held;
    sim_time started, first, finished, largest_gap, last_token;
    int preemptions, cached;
    bool gone; /* cancelled while its step was under way */
};

struct plain_block {
    uint64_t key;  /* of its contents; 0: none */
    uint64_t born; /* which of two blocks of one key was computed first */
    int references;
    int older, newer; /* free list */
};

struct plain {
    struct plain_config config;
    struct plain_request requests[PLAIN_REQUESTS];
    int running[PLAIN_REQUESTS], running_count, waiting[PLAIN_REQUESTS], waiting_count;
    int left[PLAIN_REQUESTS], left_count; /* the gone ones, in their order */
    struct plain_block blocks[PLAIN_BLOCKS];
    int oldest, newest, free;
    uint64_t births;
    sim_time clock; /* whole ns, and */
    int64_t under;  /* so much before it */
    sim_time next_time;
    bool stepping, ready; /* a step is under way; one begins at next_time */
    int64_t length;
    int steps, preemptions, peak, finished;
};

static inline void plain_link(struct plain *plain, int block)
{
    plain->blocks[block].older = plain->newest;
    plain->blocks[block].newer = -1;
    if (plain->newest >= 0)
        plain->blocks[plain->newest].newer = block;
    else
        plain->oldest = block;
    plain->newest = block;
    plain->free++;
}

static inline void plain_unlink(struct plain *plain, int block)
{
    struct plain_block *b = &plain->blocks[block];

    *(b->older >= 0 ? &plain->blocks[b->older].newer : &plain->oldest) = b->newer;
    *(b->newer >= 0 ? &plain->blocks[b->newer].older : &plain->newest) = b->older;
    plain->free--;
}

static inline void plain_init(struct plain *plain, const struct plain_config *config)
{
    memset(plain, 0, sizeof *plain);
    plain->config = *config;
    plain->oldest = plain->newest = -1;
    plain->next_time = SIM_NEVER;
    for (int i = 0; i < config->blocks; i++)
        plain_link(plain, i);
}

/* Everything before the end of the block is known by its key. */
static inline uint64_t plain_key(const struct plain *plain, int id, int position)
{
    const struct plain_request *r = &plain->requests[id];
    int end = (position + 1) * plain->config.block_size;
    bool shared = r->group && end <= r->prefix && end <= r->prompt;

    return (shared ? r->group << 20 : UINT64_C(1) << 60 | (uint64_t)id << 20) | (uint64_t)(position + 1);
}

static inline int plain_lookup(const struct plain *plain, uint64_t key)
{
    int found = -1;

    for (int i = 0; i < plain->config.blocks; i++)
        if (plain->blocks[i].key == key && (found < 0 || plain->blocks[i].born < plain->blocks[found].born))
            found = i;
    return found;
}

static inline void plain_free(struct plain *plain, struct plain_request *r)
{
    while (r->held > 0) {
        int block = r->blocks[--r->held];

        if (--plain->blocks[block].references == 0)
            plain_link(plain, block);
    }
}

static inline void plain_allocate(struct plain *plain, struct plain_request *r, int count)
{
    while (count-- > 0) {
        int block = plain->oldest;

        plain_unlink(plain, block);
        plain->blocks[block].references = 1;
        plain->blocks[block].key = 0;
        r->blocks[r->held++] = block;
    }
}

static inline void plain_remove(int *list, int *count, int id)
{
    int at = 0;

    while (list[at] != id)
        at++;
    memmove(&list[at], &list[at + 1], (size_t)(--*count - at) * sizeof *list);
}

static inline int plain_least(int a, int b)
{
    return a < b ? a : b;
}

/* Books tokens that have their blocks. */
static inline void plain_schedule(struct plain *plain, int id, int tokens, int *budget)
{
    const struct plain_config *c = &plain->config;
    struct plain_request *r = &plain->requests[id];
    bool decode = r->out > 0 && r->prompt + r->out - r->computed == 1;

    plain->length += (decode ? c->decode : c->prefill * tokens) + c->context * r->computed;
    *budget -= tokens;
    r->scheduled = tokens;
    if (c->caching)
        for (int i = r->computed / c->block_size; i < (r->computed + tokens) / c->block_size; i++) {
            plain->blocks[r->blocks[i]].key = plain_key(plain, id, i);
            plain->blocks[r->blocks[i]].born = ++plain->births;
        }
}

static inline bool plain_admit(struct plain *plain, bool others, int *budget)
{
    const struct plain_config *c = &plain->config;
    int id = plain->waiting[0], hit[PLAIN_BLOCKS], hits = 0, unheld = 0, first, whole, tokens, need;
    struct plain_request *r = &plain->requests[id];
    int known = r->prompt + r->out, watermark = others ? c->watermark : 0;

    while (c->caching && (hits + 1) * c->block_size <= known - 1) {
        int block = plain_lookup(plain, plain_key(plain, id, hits));

        if (block < 0)
            break;
        hit[hits++] = block;
        unheld += plain->blocks[block].references == 0;
    }
    tokens = known - hits * c->block_size;
    if (c->threshold > 0)
        tokens = plain_least(tokens, c->threshold);
    tokens = plain_least(tokens, *budget);
    first = (hits * c->block_size + tokens + c->block_size - 1) / c->block_size - hits;
    whole = (known + c->block_size - 1) / c->block_size - hits;
    need = c->reserve ? whole : first;
    if (need + unheld + watermark > plain->free)
        return false;
    for (int i = 0; i < hits; i++) {
        if (plain->blocks[hit[i]].references++ == 0)
            plain_unlink(plain, hit[i]);
        r->blocks[r->held++] = hit[i];
    }
    plain_allocate(plain, r, first);
    plain_remove(plain->waiting, &plain->waiting_count, id);
    plain->running[plain->running_count++] = id;
    r->computed = hits * c->block_size;
    if (r->started == SIM_NEVER) {
        r->started = plain->clock;
        r->cached = r->computed;
    }
    plain_schedule(plain, id, tokens, budget);
    return true;
}

/* True if anybody was scheduled. */
static inline bool plain_once(struct plain *plain)
{
    const struct plain_config *c = &plain->config;
    int budget = c->budget;
    bool preempted = false, others = false;

    plain->length = c->base;
    for (int i = 0; i < plain->running_count; i++)
        plain->requests[plain->running[i]].scheduled = 0;
    for (int i = 0; i < plain->running_count && budget > 0; i++) {
        int id = plain->running[i], tokens, need, last = -1;
        struct plain_request *r = &plain->requests[id];

        tokens = r->prompt + r->out - r->computed;
        if (c->threshold > 0)
            tokens = plain_least(tokens, c->threshold);
        tokens = plain_least(tokens, budget);
        need = (r->computed + tokens + c->block_size - 1) / c->block_size - r->held;
        while (need > plain->free && last != id) {
            struct plain_request *victim;

            last = plain->running[--plain->running_count];
            victim = &plain->requests[last];
            plain_free(plain, victim);
            victim->computed = 0;
            victim->preemptions++;
            plain->preemptions++;
            memmove(&plain->waiting[1], &plain->waiting[0], (size_t)plain->waiting_count++ * sizeof(int));
            plain->waiting[0] = last;
            preempted = true;
        }
        if (last == id)
            break;
        plain_allocate(plain, r, need);
        plain_schedule(plain, id, tokens, &budget);
        others = true;
    }
    while (!preempted && plain->waiting_count > 0 && budget > 0 && plain->running_count < c->most_running &&
           plain_admit(plain, others, &budget))
        others = true;
    return others;
}

static inline void plain_begin(struct plain *plain)
{
    plain->ready = false;
    plain->next_time = SIM_NEVER;
    while (plain->running_count + plain->waiting_count > 0) {
        int64_t length;

        if (!plain_once(plain))
            continue;
        length = plain->length - plain->under;
        plain->next_time = plain->clock + (length + PLAIN_FINE - 1) / PLAIN_FINE;
        plain->under = (plain->next_time - plain->clock) * PLAIN_FINE - length;
        plain->stepping = true;
        if (plain->config.blocks - plain->free > plain->peak)
            plain->peak = plain->config.blocks - plain->free;
        return;
    }
}

static inline void plain_end(struct plain *plain)
{
    int kept = 0;

    plain->clock = plain->next_time;
    plain->stepping = false;
    plain->steps++;
    for (int i = 0; i < plain->left_count; i++)
        plain_free(plain, &plain->requests[plain->left[i]]);
    plain->left_count = 0;
    for (int i = 0; i < plain->running_count; i++) {
        int id = plain->running[i];
        struct plain_request *r = &plain->requests[id];

        r->computed += r->scheduled;
        if (!r->gone && r->scheduled > 0 && r->computed == r->prompt + r->out) {
            if (r->out++ == 0)
                r->first = plain->clock;
            else if (plain->clock - r->last_token > r->largest_gap)
                r->largest_gap = plain->clock - r->last_token;
            r->last_token = plain->clock;
            if (r->out == r->target) {
                r->finished = plain->clock;
                plain->finished++;
                plain_free(plain, r);
            }
        }
        if (!r->gone && r->out < r->target)
            plain->running[kept++] = id;
    }
    plain->running_count = kept;
    plain->ready = plain->running_count + plain->waiting_count > 0;
    plain->next_time = plain->ready ? plain->clock : SIM_NEVER;
}

static inline void plain_until(struct plain *plain, sim_time until)
{
    for (;;) {
        if (plain->ready && plain->next_time < until)
            plain_begin(plain);
        else if (plain->stepping && plain->next_time <= until && plain->next_time != SIM_NEVER)
            plain_end(plain);
        else
            return;
    }
}

static inline void plain_submit(struct plain *plain, sim_time now, int id, int prompt, int output,
                                uint64_t group, int prefix)
{
    plain->requests[id] = (struct plain_request){.prompt = prompt,
                                                 .target = output,
                                                 .group = group,
                                                 .prefix = prefix,
                                                 .started = SIM_NEVER,
                                                 .first = SIM_NEVER,
                                                 .finished = SIM_NEVER};
    plain->waiting[plain->waiting_count++] = id;
    if (!plain->stepping && !plain->ready) {
        plain->clock = now;
        plain->under = 0;
        plain->ready = true;
        plain->next_time = now;
    }
}

/* Must be inside. What is in a step under way leaves at its end, before those that end there free their
 * blocks. */
static inline void plain_cancel(struct plain *plain, int id)
{
    struct plain_request *r = &plain->requests[id];

    for (int i = 0; i < plain->waiting_count; i++)
        if (plain->waiting[i] == id) {
            plain_remove(plain->waiting, &plain->waiting_count, id);
            return;
        }
    r->gone = true;
    if (plain->stepping) {
        plain->left[plain->left_count++] = id;
    } else {
        plain_free(plain, r);
        plain_remove(plain->running, &plain->running_count, id);
    }
}

#endif
