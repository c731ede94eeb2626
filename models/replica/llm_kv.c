#include "models/replica/llm_kv.h"

#include <assert.h>
#include <stdlib.h>

#include "models/replica/llm_grow.h"
#include "sim/engine/random.h"

enum { KV_FIRST_NODES = 256 };

static uint32_t *bucket_of(const struct llm_kv *kv, uint64_t group)
{
    return &kv->buckets[random_hash(group) & kv->bucket_mask];
}

static void nodes_link_spare(struct llm_kv *kv, uint32_t from)
{
    for (uint32_t i = from; i < kv->capacity; i++)
        kv->nodes[i].newer = i + 1 < kv->capacity ? i + 1 : KV_NONE;
    kv->spare = from;
}

static uint32_t node_new(struct llm_kv *kv, enum llm_kv_kind kind, int32_t count)
{
    uint32_t id = kv->spare;

    if (id == KV_NONE) {
        uint32_t old = kv->capacity;
        uint32_t first_of_bucket;

        kv->nodes = llm_grow(kv->nodes, &kv->capacity, sizeof *kv->nodes);
        nodes_link_spare(kv, old);
        id = kv->spare;
        /* as many buckets as nodes */
        kv->buckets = llm_resize(kv->buckets, kv->capacity, sizeof *kv->buckets);
        kv->bucket_mask = kv->capacity - 1;
        for (uint32_t i = 0; i < kv->capacity; i++)
            kv->buckets[i] = KV_NONE;
        for (uint32_t i = 0; i < old; i++) {
            struct llm_kv_node *node = &kv->nodes[i];

            if (node->kind != KV_SHARED || node->position != 0 || !node->first)
                continue;
            first_of_bucket = *bucket_of(kv, node->group);
            node->hash_next = first_of_bucket;
            *bucket_of(kv, node->group) = i;
        }
    }
    kv->spare = kv->nodes[id].newer;
    kv->nodes[id] = (struct llm_kv_node){.kind = kind,
                                         .count = count,
                                         .older = KV_NONE,
                                         .newer = KV_NONE,
                                         .above = KV_NONE,
                                         .below = KV_NONE,
                                         .twin_newer = id,
                                         .twin_older = id,
                                         .created_below = KV_NONE,
                                         .hash_next = KV_NONE};
    return id;
}

static void node_recycle(struct llm_kv *kv, uint32_t id)
{
    kv->nodes[id].kind = KV_DEAD;
    kv->nodes[id].linked = false;
    kv->nodes[id].newer = kv->spare;
    kv->spare = id;
}

/* ---- the free list ---- */

static void list_append(struct llm_kv *kv, uint32_t id)
{
    struct llm_kv_node *node = &kv->nodes[id];

    node->older = kv->newest;
    node->newer = KV_NONE;
    node->linked = true;
    if (kv->newest != KV_NONE)
        kv->nodes[kv->newest].newer = id;
    else
        kv->oldest = id;
    kv->newest = id;
}

static void list_remove(struct llm_kv *kv, uint32_t id)
{
    struct llm_kv_node *node = &kv->nodes[id];

    if (node->older != KV_NONE)
        kv->nodes[node->older].newer = node->newer;
    else
        kv->oldest = node->newer;
    if (node->newer != KV_NONE)
        kv->nodes[node->newer].older = node->older;
    else
        kv->newest = node->older;
    node->linked = false;
}

static void list_append_dead(struct llm_kv *kv, int64_t blocks)
{
    if (blocks == 0)
        return;
    if (kv->newest != KV_NONE && kv->nodes[kv->newest].kind == KV_DEAD)
        kv->nodes[kv->newest].count += (int32_t)blocks;
    else
        list_append(kv, node_new(kv, KV_DEAD, (int32_t)blocks));
}

/* ---- shared blocks ---- */

static uint32_t shared_bottom(const struct llm_kv *kv, uint64_t group)
{
    uint32_t id = *bucket_of(kv, group);

    while (id != KV_NONE && kv->nodes[id].group != group)
        id = kv->nodes[id].hash_next;
    return id;
}

static uint32_t *bottom_link(struct llm_kv *kv, uint32_t id)
{
    uint32_t *link = bucket_of(kv, kv->nodes[id].group);

    while (*link != id)
        link = &kv->nodes[*link].hash_next;
    return link;
}

static uint32_t shared_first(const struct llm_kv *kv, uint32_t id)
{
    while (!kv->nodes[id].first)
        id = kv->nodes[id].twin_newer;
    return id;
}

/* The block goes to somebody else: what it held is gone. */
static void shared_evict(struct llm_kv *kv, uint32_t id)
{
    struct llm_kv_node *node = &kv->nodes[id];
    uint32_t heir = node->twin_newer;

    kv->nodes[node->twin_older].twin_newer = node->twin_newer;
    kv->nodes[node->twin_newer].twin_older = node->twin_older;
    if (node->first) {
        if (heir != id) {
            struct llm_kv_node *next = &kv->nodes[heir];

            next->first = true;
            next->above = node->above;
            next->below = node->below;
            if (next->above != KV_NONE)
                kv->nodes[next->above].below = heir;
        } else {
            assert(node->above == KV_NONE); /* no holes, see the header */
            heir = KV_NONE;
        }
        if (node->position > 0) {
            kv->nodes[node->below].above = heir;
        } else {
            uint32_t *link = bottom_link(kv, id);

            if (heir != KV_NONE) {
                kv->nodes[heir].hash_next = node->hash_next;
                *link = heir;
            } else {
                *link = node->hash_next;
            }
        }
    }
    node_recycle(kv, id);
}

static void shared_drop(struct llm_kv *kv, uint32_t id)
{
    struct llm_kv_node *node = &kv->nodes[id];

    assert(node->references > 0);
    if (--node->references == 0) {
        list_append(kv, id);
        kv->free++;
    }
}

/* ---- interface ---- */

int llm_kv_init(struct llm_kv *kv, int64_t blocks, bool caching, struct error *err)
{
    *kv = (struct llm_kv){.caching = caching, .total = blocks};
    if (caching) {
        kv->capacity = KV_FIRST_NODES;
        kv->bucket_mask = KV_FIRST_NODES - 1;
        kv->nodes = calloc(KV_FIRST_NODES, sizeof *kv->nodes);
        kv->buckets = calloc(KV_FIRST_NODES, sizeof *kv->buckets);
        if (!kv->nodes || !kv->buckets) {
            llm_kv_free(kv);
            return error_memory(err, "llm");
        }
    }
    llm_kv_reset(kv);
    return 0;
}

void llm_kv_free(struct llm_kv *kv)
{
    free(kv->nodes);
    free(kv->buckets);
    kv->nodes = NULL;
    kv->buckets = NULL;
}

void llm_kv_reset(struct llm_kv *kv)
{
    kv->free = kv->total;
    kv->oldest = kv->newest = KV_NONE;
    if (!kv->caching)
        return;
    for (uint32_t i = 0; i < kv->capacity; i++) {
        kv->nodes[i].kind = KV_DEAD;
        kv->buckets[i] = KV_NONE;
    }
    nodes_link_spare(kv, 0);
    list_append_dead(kv, kv->total);
}

void llm_kv_hold_init(struct llm_kv_hold *hold, uint64_t group, int32_t shared)
{
    *hold = (struct llm_kv_hold){
        .hit = KV_NONE, .created = KV_NONE, .kept = KV_NONE, .shared = group ? shared : 0, .group = group};
}

struct llm_kv_match llm_kv_find(const struct llm_kv *kv, const struct llm_kv_hold *hold, int64_t limit)
{
    struct llm_kv_match match = {0, 0, 0};

    if (!kv->caching)
        return match;
    if (hold->shared > 0 && limit > 0) {
        int64_t most = hold->shared < limit ? hold->shared : limit;
        uint32_t id = shared_bottom(kv, hold->group);

        while (id != KV_NONE && match.shared < most) {
            match.shared++;
            match.unheld += kv->nodes[id].references == 0;
            id = kv->nodes[id].above;
        }
    }
    if (hold->kept != KV_NONE && match.shared == hold->shared) {
        int64_t most = limit - match.shared;

        /* all that is left of it: no full block of it can hold the token that must be computed */
        assert(kv->nodes[hold->kept].count <= most);
        match.own = kv->nodes[hold->kept].count;
        match.unheld += match.own;
    }
    return match;
}

void llm_kv_hit(struct llm_kv *kv, struct llm_kv_hold *hold, struct llm_kv_match match)
{
    if (!kv->caching)
        return;
    if (match.shared > 0) {
        uint32_t id = shared_bottom(kv, hold->group);

        for (int32_t i = 0; i < match.shared; i++) {
            if (kv->nodes[id].references++ == 0)
                list_remove(kv, id);
            hold->hit = id;
            id = kv->nodes[id].above;
        }
    }
    kv->free -= match.unheld;
    if (hold->kept != KV_NONE) {
        if (match.own > 0) {
            list_remove(kv, hold->kept);
            node_recycle(kv, hold->kept);
            hold->kept = KV_NONE;
        } else {
            llm_kv_forget(kv, hold);
        }
    }
}

void llm_kv_take(struct llm_kv *kv, int64_t blocks)
{
    assert(blocks <= kv->free);
    kv->free -= blocks;
    if (!kv->caching)
        return;
    while (blocks > 0) {
        uint32_t id = kv->oldest;
        struct llm_kv_node *node = &kv->nodes[id];

        if (node->kind == KV_SHARED) {
            list_remove(kv, id);
            shared_evict(kv, id);
            blocks--;
        } else if (node->count > blocks) {
            node->count -= (int32_t)blocks;
            blocks = 0;
        } else {
            blocks -= node->count;
            node->count = 0;
            list_remove(kv, id);
            if (node->kind == KV_DEAD) /* a private run's owner still knows it */
                node_recycle(kv, id);
        }
    }
}

void llm_kv_publish(struct llm_kv *kv, struct llm_kv_hold *hold, int64_t before, int64_t full)
{
    uint32_t below;

    if (full > hold->shared)
        full = hold->shared;
    if (!kv->caching || before >= full)
        return;
    below = hold->created != KV_NONE ? hold->created : hold->hit;
    if (below != KV_NONE)
        below = shared_first(kv, below);
    for (int64_t position = before; position < full; position++) {
        uint32_t id = node_new(kv, KV_SHARED, 1);
        struct llm_kv_node *node = &kv->nodes[id];
        uint32_t first = position > 0 ? kv->nodes[below].above : shared_bottom(kv, hold->group);

        node->group = hold->group;
        node->position = (int32_t)position;
        node->references = 1;
        node->created_below = hold->created;
        hold->created = id;
        if (first != KV_NONE) { /* a twin: the last in the ring */
            node->twin_newer = first;
            node->twin_older = kv->nodes[first].twin_older;
            kv->nodes[node->twin_older].twin_newer = id;
            kv->nodes[first].twin_older = id;
            below = first;
            continue;
        }
        node->first = true;
        if (position > 0) {
            node->below = below;
            kv->nodes[below].above = id;
        } else {
            uint32_t *bucket = bucket_of(kv, hold->group);

            node->hash_next = *bucket;
            *bucket = id;
        }
        below = id;
    }
}

void llm_kv_release(struct llm_kv *kv, struct llm_kv_hold *hold, int64_t blocks, int64_t full, bool keep)
{
    int64_t shared = hold->shared < full ? hold->shared : full;

    if (!kv->caching) {
        kv->free += blocks;
        return;
    }
    kv->free += blocks - shared;
    if (keep && full > shared) {
        list_append_dead(kv, blocks - full);
        hold->kept = node_new(kv, KV_PRIVATE, (int32_t)(full - shared));
        list_append(kv, hold->kept);
    } else {
        list_append_dead(kv, blocks - shared);
    }
    for (uint32_t id = hold->created, below; id != KV_NONE; id = below) {
        below = kv->nodes[id].created_below;
        shared_drop(kv, id);
        shared--;
    }
    for (uint32_t id = hold->hit; id != KV_NONE; id = kv->nodes[id].below) {
        shared_drop(kv, id);
        shared--;
    }
    assert(shared == 0);
    hold->created = hold->hit = KV_NONE;
}

void llm_kv_forget(struct llm_kv *kv, struct llm_kv_hold *hold)
{
    if (hold->kept == KV_NONE)
        return;
    if (kv->nodes[hold->kept].linked)
        kv->nodes[hold->kept].kind = KV_DEAD;
    else
        node_recycle(kv, hold->kept);
    hold->kept = KV_NONE;
}

int64_t llm_kv_count_free(const struct llm_kv *kv)
{
    int64_t blocks = 0;

    if (!kv->caching)
        return kv->free;
    for (uint32_t id = kv->oldest; id != KV_NONE; id = kv->nodes[id].newer)
        blocks += kv->nodes[id].count;
    return blocks;
}
