#ifndef MODELS_ROUTING_REPLICA_SET_H
#define MODELS_ROUTING_REPLICA_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * A dense set of replica indices: member[0 .. count) in an order that depends on the adds and removes alone.
 * The last member fills the gap of a removed one. Everything is O(1); memory grows by doubling with the
 * largest index and the largest count.
 */
struct replica_set {
    uint32_t *member;
    uint32_t *position; /* index -> place in member, UINT32_MAX: not in the set */
    uint32_t count;
    uint32_t capacity; /* of member and of position: indices below it have a position */
};

/* A zeroed set is empty and ready. */
void replica_set_free(struct replica_set *set);

static inline bool replica_set_has(const struct replica_set *set, uint32_t replica)
{
    return replica < set->capacity && set->position[replica] != UINT32_MAX;
}

/* The replica must not be in the set. Errors: memory (the set is then unchanged). */
int replica_set_add(struct replica_set *set, uint32_t replica, struct error *err);

/* Nothing happens if it is not in the set. */
void replica_set_remove(struct replica_set *set, uint32_t replica);

/* Capacity for arrays beside the set that are indexed by replica: the next power of two above, at least 16; 0
 * if there is no such. */
uint32_t replica_capacity(uint32_t replica);

#endif
