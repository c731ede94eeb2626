#include "models/routing/replica_set.h"

#include <assert.h>
#include <stdlib.h>

uint32_t replica_capacity(uint32_t replica)
{
    uint32_t capacity = 16;

    while (capacity <= replica && capacity)
        capacity *= 2;
    return capacity;
}

void replica_set_free(struct replica_set *set)
{
    free(set->member);
    free(set->position);
    *set = (struct replica_set){0};
}

static int set_grow(struct replica_set *set, uint32_t capacity, struct error *err)
{
    uint32_t *member, *position;

    if (capacity == 0)
        return error_memory(err, "balancer");
    member = realloc(set->member, capacity * sizeof *member);
    if (!member)
        return error_memory(err, "balancer");
    set->member = member;
    position = realloc(set->position, capacity * sizeof *position);
    if (!position)
        return error_memory(err, "balancer");
    set->position = position;
    for (uint32_t i = set->capacity; i < capacity; i++)
        position[i] = UINT32_MAX;
    set->capacity = capacity;
    return 0;
}

int replica_set_add(struct replica_set *set, uint32_t replica, struct error *err)
{
    /* members are distinct indices below capacity, so member never needs more than position */
    if (replica >= set->capacity && set_grow(set, replica_capacity(replica), err))
        return -1;
    assert(set->position[replica] == UINT32_MAX);
    set->position[replica] = set->count;
    set->member[set->count++] = replica;
    return 0;
}

void replica_set_remove(struct replica_set *set, uint32_t replica)
{
    uint32_t at, last;

    if (!replica_set_has(set, replica))
        return;
    at = set->position[replica];
    last = set->member[--set->count];
    set->member[at] = last;
    set->position[last] = at;
    set->position[replica] = UINT32_MAX;
}
