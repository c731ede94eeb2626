#include <stdlib.h>

#include "models/routing/balancers.h"
#include "models/routing/replica_set.h"

struct two_balancer {
    struct balancer balancer;
    struct replica_set set;
    int32_t *outstanding; /* by replica; set.capacity of them once it was grown */
    uint32_t capacity;
};

static struct two_balancer *two_of(struct balancer *balancer)
{
    return (struct two_balancer *)balancer;
}

static struct balancer *two_create(struct error *err)
{
    struct two_balancer *two = calloc(1, sizeof *two);

    if (!two) {
        error_memory(err, "balancer");
        return NULL;
    }
    two->balancer.type = &balancer_power_of_two;
    return &two->balancer;
}

static void two_destroy(struct balancer *balancer)
{
    if (balancer) {
        replica_set_free(&two_of(balancer)->set);
        free(two_of(balancer)->outstanding);
    }
    free(balancer);
}

static int two_add(struct balancer *balancer, uint32_t replica, int32_t outstanding, struct error *err)
{
    struct two_balancer *two = two_of(balancer);

    if (replica >= two->capacity) {
        uint32_t capacity = replica_capacity(replica);
        int32_t *grown = capacity ? realloc(two->outstanding, capacity * sizeof *grown) : NULL;

        if (!grown)
            return error_memory(err, "balancer");
        two->outstanding = grown;
        two->capacity = capacity;
    }
    if (replica_set_add(&two->set, replica, err))
        return -1;
    two->outstanding[replica] = outstanding;
    return 0;
}

static void two_remove(struct balancer *balancer, uint32_t replica)
{
    replica_set_remove(&two_of(balancer)->set, replica);
}

static void two_changed(struct balancer *balancer, uint32_t replica, int32_t outstanding)
{
    struct two_balancer *two = two_of(balancer);

    if (replica_set_has(&two->set, replica))
        two->outstanding[replica] = outstanding;
}

static uint32_t two_pick(struct balancer *balancer, const struct job *job)
{
    const struct two_balancer *two = two_of(balancer);
    uint32_t count = two->set.count, i, j, first, second;
    uint64_t bits;

    if (count < 2)
        return count ? two->set.member[0] : UINT32_MAX;
    bits = balancer_bits(job);
    i = balancer_below((uint32_t)(bits >> 32), count);
    j = balancer_below((uint32_t)bits, count - 1);
    j += j >= i; /* the others, equally likely */
    first = two->set.member[i];
    second = two->set.member[j];
    return two->outstanding[second] < two->outstanding[first] ? second : first;
}

const struct balancer_type balancer_power_of_two = {
    .name = "power-of-two",
    .help = "of two replicas at random, the one with fewer outstanding requests",
    .create = two_create,
    .destroy = two_destroy,
    .add = two_add,
    .remove = two_remove,
    .changed = two_changed,
    .pick = two_pick,
};
