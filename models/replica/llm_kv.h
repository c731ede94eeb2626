#ifndef MODELS_REPLICA_LLM_KV_H
#define MODELS_REPLICA_LLM_KV_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * The KV cache of one replica: a pool of blocks, the LRU list of the free ones, and which of them still hold
 * something that a later request can use (prefix caching).
 *
 * The engine that is modelled keeps one record a block. This keeps one a *run* of blocks that nobody can tell
 * apart, which gives the same hits and the same evictions:
 *
 * - A block of a finished request that lies outside a shared prefix can never be hit again: all other tokens
 *   differ. Such blocks only take their place in the LRU order, so that a run of them is a count (KV_DEAD).
 * - The private blocks of a preempted request can be hit by that request alone. They lie next to each other
 * in the list, the sequence's tail first, and are evicted from there: a count too (KV_PRIVATE).
 * - A full block inside a shared prefix is a record of its own (KV_SHARED) with its reference count. Two
 *   requests can have computed the same one (the last token of a prompt is always computed, and chunked
 * prompts of one group run side by side): such twins are kept in the order in which they were computed, and a
 * hit takes the first.
 *
 * A sequence's blocks are freed from its tail, so for every free block of a chain some block of each earlier
 * position was freed later or is still held. Hence the cached positions of a group have no holes: a lookup
 * walks up until the first miss, and private blocks are only there while the whole shared part is.
 *
 * Without prefix caching only the number of free blocks is kept.
 */
enum { KV_NONE = UINT32_MAX };

enum llm_kv_kind { KV_DEAD, KV_PRIVATE, KV_SHARED };

struct llm_kv_node {
    uint32_t older, newer; /* neighbours in the free list; older goes first */
    int32_t count;         /* blocks of a run; 1 for a shared block */
    int32_t references;    /* shared: sequences that hold it; it is in the free list when there are none */
    uint32_t kind;
    int32_t position;      /* shared: its index in the prefix */
    uint64_t group;        /* shared */
    uint32_t above, below; /* first twins of the next and the last position; valid in first twins only */
    uint32_t twin_newer, twin_older; /* ring of twins in the order in which they were computed */
    uint32_t created_below;          /* the block that the same sequence had computed before this one */
    uint32_t hash_next;              /* bucket chain of position 0's first twins */
    bool first;                      /* the twin that a lookup finds */
    bool linked;                     /* in the free list */
};

struct llm_kv {
    bool caching;
    int64_t total, free; /* blocks */
    /* caching only */
    struct llm_kv_node *nodes;
    uint32_t capacity, spare; /* of nodes; head of the unused ones, linked by newer */
    uint32_t oldest, newest;  /* ends of the free list */
    uint32_t *buckets;        /* power of two */
    uint32_t bucket_mask;
};

/* What a sequence holds beyond a count of blocks. */
struct llm_kv_hold {
    uint32_t hit;     /* top of the shared blocks that it found */
    uint32_t created; /* top of the shared blocks that it computed */
    uint32_t kept;    /* its private run in the free list, while it waits after a preemption */
    int32_t shared;   /* positions of its prefix that are shared: full blocks inside prefix and prompt */
    uint64_t group;
};

/* What a lookup found for a sequence that asks to be admitted. */
struct llm_kv_match {
    int32_t shared; /* shared blocks found */
    int32_t own;    /* blocks of its own found */
    int32_t unheld; /* of both: those that sit in the free list */
};

int llm_kv_init(struct llm_kv *kv, int64_t blocks, bool caching, struct error *err);
void llm_kv_free(struct llm_kv *kv);
/* All blocks free and nothing cached. */
void llm_kv_reset(struct llm_kv *kv);

void llm_kv_hold_init(struct llm_kv_hold *hold, uint64_t group, int32_t shared);

/* Longest cached prefix of at most `limit` blocks. Changes nothing. */
struct llm_kv_match llm_kv_find(const struct llm_kv *kv, const struct llm_kv_hold *hold, int64_t limit);
/* Takes what llm_kv_find found. */
void llm_kv_hit(struct llm_kv *kv, struct llm_kv_hold *hold, struct llm_kv_match match);
/* Takes `blocks` new blocks, the least recently used first; there must be as many. */
void llm_kv_take(struct llm_kv *kv, int64_t blocks);
/* The sequence's tokens now fill `full` blocks, they filled `before` earlier: those of the shared prefix can
 * be hit from now on. */
void llm_kv_publish(struct llm_kv *kv, struct llm_kv_hold *hold, int64_t before, int64_t full);
/*
 * Frees all: `blocks` held, the first `full` of them full. keep: the sequence was preempted and may come back
 * to its private blocks.
 */
void llm_kv_release(struct llm_kv *kv, struct llm_kv_hold *hold, int64_t blocks, int64_t full, bool keep);
/* A preempted sequence will not come back. */
void llm_kv_forget(struct llm_kv *kv, struct llm_kv_hold *hold);

/* Free blocks counted one by one along the list; equals kv->free unless we made a mistake. For tests. */
int64_t llm_kv_count_free(const struct llm_kv *kv);

#endif
