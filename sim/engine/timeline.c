#include "sim/engine/timeline.h"

#include <stdlib.h>
#include <string.h>

/* Children of position i are 4i+1 to 4i+4. With three entries of padding before the root, position 1 starts a
 * cache line, and so does every other first child. */
#define LINE_BYTES   64
#define LINE_ENTRIES (LINE_BYTES / sizeof(struct timeline_entry))
#define PADDING      (LINE_ENTRIES - 1)

/* Room for `slots` entries and the rest of the last one's line, all TIMELINE_PAST. NULL when out of memory.
 */
static void *heap_new(uint32_t slots)
{
    size_t lines = (PADDING + (size_t)slots) / LINE_ENTRIES + 1;
    struct timeline_entry *memory = aligned_alloc(LINE_BYTES, lines * LINE_BYTES);

    if (!memory)
        return NULL;
    for (size_t i = 0; i < lines * LINE_ENTRIES; i++)
        memory[i] = TIMELINE_PAST;
    return memory;
}

int timeline_init(struct timeline *timeline, uint32_t slots, struct error *err)
{
    *timeline = (struct timeline){.heap = NULL};
    return timeline_grow(timeline, slots, err);
}

int timeline_grow(struct timeline *timeline, uint32_t slots, struct error *err)
{
    struct timeline_entry *memory;
    uint32_t *where;

    if (timeline->heap_memory && slots <= timeline->slots)
        return 0;
    memory = heap_new(slots);
    where = malloc(((size_t)slots + 1) * sizeof *where);
    if (!memory || !where) {
        free(memory);
        free(where);
        return error_memory(err, "timeline");
    }
    if (timeline->size > 0)
        memcpy(memory + PADDING, timeline->heap, timeline->size * sizeof *memory);
    if (timeline->slots > 0)
        memcpy(where, timeline->where, timeline->slots * sizeof *where);
    for (uint32_t slot = timeline->slots; slot < slots; slot++)
        where[slot] = TIMELINE_IDLE;
    free(timeline->heap_memory);
    free(timeline->where);
    timeline->heap_memory = memory;
    timeline->heap = memory + PADDING;
    timeline->where = where;
    timeline->slots = slots;
    return 0;
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->heap_memory);
    free(timeline->where);
    *timeline = (struct timeline){.heap = NULL};
}

void timeline_clear(struct timeline *timeline)
{
    for (uint32_t at = 0; at < timeline->size; at++) {
        timeline->where[(uint32_t)timeline->heap[at].order] = TIMELINE_IDLE;
        timeline->heap[at] = TIMELINE_PAST;
    }
    timeline->size = 0;
}

bool timeline_is_sound(const struct timeline *timeline)
{
    uint32_t set = 0;

    if (timeline->size > timeline->slots)
        return false;
    for (size_t at = 0; at < timeline->size; at++) {
        uint32_t slot = (uint32_t)timeline->heap[at].order;

        if (slot >= timeline->slots || timeline->where[slot] != at)
            return false;
        if (at > 0 && !timeline_entry_precedes(timeline->heap[(at - 1) / 4], timeline->heap[at]))
            return false;
    }
    for (uint32_t slot = 0; slot < timeline->slots; slot++)
        set += timeline->where[slot] != TIMELINE_IDLE;
    /* What sink reads beyond the last entry: the rest of its line. */
    for (size_t at = timeline->size; at % 4 != 1; at++) {
        if (at < timeline->slots && timeline_entry_precedes(timeline->heap[at], TIMELINE_PAST))
            return false;
    }
    return set == timeline->size;
}
