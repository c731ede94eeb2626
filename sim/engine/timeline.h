#ifndef SIM_ENGINE_TIMELINE_H
#define SIM_ENGINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * The event queue: an indexed 4-ary heap with one entry a slot.
 *
 * Every actor of the simulation (a replica, a link, a controller, ...) owns a
 * slot and has one next time in it. Setting, moving and cancelling happen in
 * place, so a timer that was re-armed can never fire stale, and nothing is
 * allocated per event. Entries order by (time, rank, slot): equal times run in
 * the order of the actors' classes, then of their slots, never of insertion or
 * address, so that a run is the same on every machine.
 *
 * The same structure serves wherever the smallest of many changing keys is
 * wanted (a server pool's next completion, the least-loaded replica): "time"
 * is then any int64 key.
 */
struct timeline_entry {
    int64_t time;
    uint64_t order; /* rank in the upper 32 bits, slot in the lower 32 */
};

struct timeline {
    struct timeline_entry *heap; /* heap[0] is the next; 4-ary, siblings of one parent share a cache line */
    void *heap_memory;           /* what was allocated for heap, which is aligned inside it */
    uint32_t *where;             /* slot -> position in heap, TIMELINE_IDLE when not set */
    uint32_t size;               /* slots set now */
    uint32_t slots;              /* slots that exist */
};

#define TIMELINE_IDLE UINT32_MAX

/* An empty queue with `slots` slots (0 is allowed). Free with timeline_free. Errors: memory. */
int timeline_init(struct timeline *timeline, uint32_t slots, struct error *err);

/* More slots, the old ones stay as they are; never fewer. Errors: memory (the timeline is then unchanged). */
int timeline_grow(struct timeline *timeline, uint32_t slots, struct error *err);

void timeline_free(struct timeline *timeline);

/* Removes every entry, keeps the slots. */
void timeline_clear(struct timeline *timeline);

static inline bool timeline_empty(const struct timeline *timeline)
{
    return timeline->size == 0;
}

/* Time of the next entry, SIM_NEVER when there is none. */
static inline int64_t timeline_next_time(const struct timeline *timeline)
{
    return timeline->size ? timeline->heap[0].time : SIM_NEVER;
}

/* Slot of the next entry. The timeline must not be empty. */
static inline uint32_t timeline_next_slot(const struct timeline *timeline)
{
    return (uint32_t)timeline->heap[0].order;
}

static inline uint32_t timeline_next_rank(const struct timeline *timeline)
{
    return (uint32_t)(timeline->heap[0].order >> 32);
}

/* The slot's time, SIM_NEVER when it is not set. */
static inline int64_t timeline_time(const struct timeline *timeline, uint32_t slot)
{
    uint32_t at = timeline->where[slot];

    return at == TIMELINE_IDLE ? SIM_NEVER : timeline->heap[at].time;
}

/*
 * The hot part is inline. Every position from size on that shares a cache line with a set one holds
 * TIMELINE_PAST, which follows all real entries, so that the least of four children needs no count and no
 * branch.
 */
#define TIMELINE_PAST ((struct timeline_entry){.time = INT64_MAX, .order = UINT64_MAX})

static inline bool timeline_entry_precedes(struct timeline_entry a, struct timeline_entry b)
{
    /* One signed 128-bit comparison: two instructions and no branch. */
    __int128 left = (__int128)((unsigned __int128)(uint64_t)a.time << 64 | a.order);
    __int128 right = (__int128)((unsigned __int128)(uint64_t)b.time << 64 | b.order);

    return left < right;
}

static inline void timeline_place(struct timeline *timeline, size_t at, struct timeline_entry entry)
{
    timeline->heap[at] = entry;
    timeline->where[(uint32_t)entry.order] = (uint32_t)at;
}

/* Puts the entry into the hole at `at`, or above it if it precedes what is there. */
static inline void timeline_raise(struct timeline *timeline, size_t at, struct timeline_entry entry)
{
    while (at > 0) {
        size_t parent = (at - 1) / 4;

        if (!timeline_entry_precedes(entry, timeline->heap[parent]))
            break;
        timeline_place(timeline, at, timeline->heap[parent]);
        at = parent;
    }
    timeline_place(timeline, at, entry);
}

/* Lets the hole at `at` sink to a leaf, the least child moving up each time. Returns the leaf. */
static inline size_t timeline_sink(struct timeline *timeline, size_t at)
{
    const struct timeline_entry *heap = timeline->heap;
    size_t child;

    while ((child = 4 * at + 1) < timeline->size) {
        size_t left = child + (size_t)timeline_entry_precedes(heap[child + 1], heap[child]);
        size_t right = child + 2 + (size_t)timeline_entry_precedes(heap[child + 3], heap[child + 2]);
        size_t least = timeline_entry_precedes(heap[right], heap[left]) ? right : left;

        timeline_place(timeline, at, heap[least]);
        at = least;
    }
    return at;
}

/* Sets or moves the slot's entry to (time, rank). O(log n). */
static inline void timeline_set(struct timeline *timeline, uint32_t slot, int64_t time, uint32_t rank)
{
    struct timeline_entry entry = {.time = time, .order = (uint64_t)rank << 32 | slot};
    size_t at = timeline->where[slot];

    if (at == TIMELINE_IDLE)
        at = timeline->size++;
    else if (!timeline_entry_precedes(entry, timeline->heap[at]))
        /* Most entries of a heap are leaves: down to one unseen and back up costs less than to compare at
         * each level. */
        at = timeline_sink(timeline, at);
    timeline_raise(timeline, at, entry);
}

/* Removes the slot's entry; nothing happens if it has none. O(log n). */
static inline void timeline_cancel(struct timeline *timeline, uint32_t slot)
{
    size_t at = timeline->where[slot];
    struct timeline_entry last;

    if (at == TIMELINE_IDLE)
        return;
    timeline->where[slot] = TIMELINE_IDLE;
    last = timeline->heap[--timeline->size];
    timeline->heap[timeline->size] = TIMELINE_PAST;
    if (at != timeline->size)
        timeline_raise(timeline, timeline_sink(timeline, at), last);
}

/* Removes the next entry and returns its slot. The timeline must not be empty. An actor that will set its
 * slot again right away need not pop first: timeline_set on the root costs one sift instead of two. */
static inline uint32_t timeline_pop(struct timeline *timeline)
{
    uint32_t slot = timeline_next_slot(timeline);

    timeline_cancel(timeline, slot);
    return slot;
}

/* True when every parent precedes its children and `where` agrees with `heap`; for tests. */
bool timeline_is_sound(const struct timeline *timeline);

#endif
