#include <assert.h>
#include <stdlib.h>

#include "models/routing/balancers.h"
#include "models/routing/replica_set.h"
#include "sim/engine/timeline.h"

/*
 * The timeline orders by (time, rank, slot); here its time is (outstanding, upper half of the last pick's
 * number) and its rank the lower half, so the whole order is (outstanding, last pick, index) and no pick
 * number ever wraps.
 */
struct least_replica {
    uint64_t picked; /* number of its last pick, 0: never */
    int32_t outstanding;
    bool present;
};

struct least_balancer {
    struct balancer balancer;
    struct timeline order;          /* slot: the replica's index */
    struct least_replica *replicas; /* order.slots of them */
    uint64_t picks;
};

static struct least_balancer *least_of(struct balancer *balancer)
{
    return (struct least_balancer *)balancer;
}

static void least_place(struct least_balancer *least, uint32_t replica)
{
    const struct least_replica *r = &least->replicas[replica];

    assert(r->outstanding >= 0);
    timeline_set(&least->order, replica, (int64_t)r->outstanding << 32 | (int64_t)(r->picked >> 32),
                 (uint32_t)r->picked);
}

static struct balancer *least_create(struct error *err)
{
    struct least_balancer *least = calloc(1, sizeof *least);

    if (!least) {
        error_memory(err, "balancer");
        return NULL;
    }
    if (timeline_init(&least->order, 0, err)) {
        free(least);
        return NULL;
    }
    least->balancer.type = &balancer_least_outstanding;
    return &least->balancer;
}

static void least_destroy(struct balancer *balancer)
{
    if (balancer) {
        timeline_free(&least_of(balancer)->order);
        free(least_of(balancer)->replicas);
    }
    free(balancer);
}

static int least_add(struct balancer *balancer, uint32_t replica, int32_t outstanding, struct error *err)
{
    struct least_balancer *least = least_of(balancer);

    if (replica >= least->order.slots) {
        uint32_t capacity = replica_capacity(replica);
        struct least_replica *grown = capacity ? realloc(least->replicas, capacity * sizeof *grown) : NULL;

        if (!grown)
            return error_memory(err, "balancer");
        for (uint32_t i = least->order.slots; i < capacity; i++)
            grown[i] = (struct least_replica){0};
        least->replicas = grown;
        if (timeline_grow(&least->order, capacity, err))
            return -1;
    }
    assert(!least->replicas[replica].present);
    least->replicas[replica] = (struct least_replica){.outstanding = outstanding, .present = true};
    least_place(least, replica);
    return 0;
}

static void least_remove(struct balancer *balancer, uint32_t replica)
{
    struct least_balancer *least = least_of(balancer);

    if (replica >= least->order.slots)
        return;
    timeline_cancel(&least->order, replica);
    least->replicas[replica].present = false;
}

static void least_changed(struct balancer *balancer, uint32_t replica, int32_t outstanding)
{
    struct least_balancer *least = least_of(balancer);

    if (replica >= least->order.slots || !least->replicas[replica].present)
        return;
    least->replicas[replica].outstanding = outstanding;
    least_place(least, replica);
}

static uint32_t least_pick(struct balancer *balancer, const struct job *job)
{
    struct least_balancer *least = least_of(balancer);
    uint32_t replica;

    (void)job;
    if (timeline_empty(&least->order))
        return UINT32_MAX;
    replica = timeline_next_slot(&least->order);
    least->replicas[replica].picked = ++least->picks;
    least_place(least, replica);
    return replica;
}

const struct balancer_type balancer_least_outstanding = {
    .name = "least-outstanding",
    .help = "the replica with the fewest requests, running and waiting",
    .create = least_create,
    .destroy = least_destroy,
    .add = least_add,
    .remove = least_remove,
    .changed = least_changed,
    .pick = least_pick,
};
