#ifndef SIM_ENGINE_TIMELINE_H
#define SIM_ENGINE_TIMELINE_H

#include <stdbool.h>
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

/* Sets or moves the slot's entry to (time, rank). O(log n). */
void timeline_set(struct timeline *timeline, uint32_t slot, int64_t time, uint32_t rank);

/* Removes the slot's entry; nothing happens if it has none. O(log n). */
void timeline_cancel(struct timeline *timeline, uint32_t slot);

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

/* Removes the next entry and returns its slot. The timeline must not be empty. An actor that will set its slot
 * again right away need not pop first: timeline_set on the root costs one sift instead of two. */
uint32_t timeline_pop(struct timeline *timeline);

/* True when every parent precedes its children and `where` agrees with `heap`; for tests. */
bool timeline_is_sound(const struct timeline *timeline);

#endif
