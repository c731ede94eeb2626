#include <stdlib.h>

#include "models/routing/balancers.h"
#include "models/routing/replica_set.h"

struct random_balancer {
    struct balancer balancer;
    struct replica_set set;
};

static struct random_balancer *random_of(struct balancer *balancer)
{
    return (struct random_balancer *)balancer;
}

static struct balancer *random_create(struct error *err)
{
    struct random_balancer *random = calloc(1, sizeof *random);

    if (!random) {
        error_memory(err, "balancer");
        return NULL;
    }
    random->balancer.type = &balancer_random;
    return &random->balancer;
}

static void random_destroy(struct balancer *balancer)
{
    if (balancer)
        replica_set_free(&random_of(balancer)->set);
    free(balancer);
}

static int random_add(struct balancer *balancer, uint32_t replica, int32_t outstanding, struct error *err)
{
    (void)outstanding;
    return replica_set_add(&random_of(balancer)->set, replica, err);
}

static void random_remove(struct balancer *balancer, uint32_t replica)
{
    replica_set_remove(&random_of(balancer)->set, replica);
}

static void random_changed(struct balancer *balancer, uint32_t replica, int32_t outstanding)
{
    (void)balancer;
    (void)replica;
    (void)outstanding;
}

static uint32_t random_pick(struct balancer *balancer, const struct job *job)
{
    const struct replica_set *set = &random_of(balancer)->set;

    if (set->count == 0)
        return UINT32_MAX;
    return set->member[balancer_below((uint32_t)(balancer_bits(job) >> 32), set->count)];
}

const struct balancer_type balancer_random = {
    .name = "random",
    .help = "each replica equally likely",
    .create = random_create,
    .destroy = random_destroy,
    .add = random_add,
    .remove = random_remove,
    .changed = random_changed,
    .pick = random_pick,
};
