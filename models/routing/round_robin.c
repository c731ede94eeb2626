#include <assert.h>
#include <stdlib.h>

#include "models/routing/balancers.h"
#include "models/routing/replica_set.h"

/* The round is a linked list of indices in the order of adding; `next` is the one whose turn it is. */
struct robin_link {
    uint32_t after, before; /* ROBIN_END at the ends */
    bool present;
};

struct robin_balancer {
    struct balancer balancer;
    struct robin_link *links; /* by replica */
    uint32_t capacity;
    uint32_t first, last;
    uint32_t next; /* ROBIN_END: the round is over, or nobody is there */
};

#define ROBIN_END UINT32_MAX

static struct robin_balancer *robin_of(struct balancer *balancer)
{
    return (struct robin_balancer *)balancer;
}

static struct balancer *robin_create(struct error *err)
{
    struct robin_balancer *robin = calloc(1, sizeof *robin);

    if (!robin) {
        error_memory(err, "balancer");
        return NULL;
    }
    robin->balancer.type = &balancer_round_robin;
    robin->first = robin->last = robin->next = ROBIN_END;
    return &robin->balancer;
}

static void robin_destroy(struct balancer *balancer)
{
    if (balancer)
        free(robin_of(balancer)->links);
    free(balancer);
}

static int robin_add(struct balancer *balancer, uint32_t replica, int32_t outstanding, struct error *err)
{
    struct robin_balancer *robin = robin_of(balancer);

    (void)outstanding;
    if (replica >= robin->capacity) {
        uint32_t capacity = replica_capacity(replica);
        struct robin_link *grown = capacity ? realloc(robin->links, capacity * sizeof *grown) : NULL;

        if (!grown)
            return error_memory(err, "balancer");
        for (uint32_t i = robin->capacity; i < capacity; i++)
            grown[i] = (struct robin_link){ROBIN_END, ROBIN_END, false};
        robin->links = grown;
        robin->capacity = capacity;
    }
    assert(!robin->links[replica].present);
    robin->links[replica] = (struct robin_link){.after = ROBIN_END, .before = robin->last, .present = true};
    if (robin->last != ROBIN_END)
        robin->links[robin->last].after = replica;
    else
        robin->first = replica;
    robin->last = replica;
    if (robin->next == ROBIN_END)
        robin->next = replica; /* the round was at its end, which is now here */
    return 0;
}

static void robin_remove(struct balancer *balancer, uint32_t replica)
{
    struct robin_balancer *robin = robin_of(balancer);
    struct robin_link *link;

    if (replica >= robin->capacity || !robin->links[replica].present)
        return;
    link = &robin->links[replica];
    if (link->before != ROBIN_END)
        robin->links[link->before].after = link->after;
    else
        robin->first = link->after;
    if (link->after != ROBIN_END)
        robin->links[link->after].before = link->before;
    else
        robin->last = link->before;
    if (robin->next == replica)
        robin->next = link->after;
    link->present = false;
}

static void robin_changed(struct balancer *balancer, uint32_t replica, int32_t outstanding)
{
    (void)balancer;
    (void)replica;
    (void)outstanding;
}

static uint32_t robin_pick(struct balancer *balancer, const struct job *job)
{
    struct robin_balancer *robin = robin_of(balancer);
    uint32_t replica = robin->next != ROBIN_END ? robin->next : robin->first;

    (void)job;
    if (replica != ROBIN_END)
        robin->next = robin->links[replica].after;
    return replica;
}

const struct balancer_type balancer_round_robin = {
    .name = "round-robin",
    .help = "one replica after the other",
    .create = robin_create,
    .destroy = robin_destroy,
    .add = robin_add,
    .remove = robin_remove,
    .changed = robin_changed,
    .pick = robin_pick,
};
