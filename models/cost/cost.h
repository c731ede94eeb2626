#ifndef MODELS_COST_COST_H
#define MODELS_COST_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * What nodes cost. The contract belongs to the node type, never to a strategy.
 *
 *   "prices": {
 *     "currency": "USD",
 *     "a100-8": {"on_demand": 32.77, "per": "node-hour", "granularity": "1s", "minimum": "60s",
 *                "reserved": 2, "reserved_price": 19.22},
 *     "l4-pool": {"on_demand": 0.80, "per": "gpu-hour", "bill": "bound"}
 *   }
 *
 * An elastic node is paid from launch to termination: at least `minimum`, then in whole steps of
 * `granularity`. Reserved nodes are paid for the whole cost window whether they run or not; as long as no
 * more nodes of the type are paid for than are reserved, the reservation covers them, and what goes beyond it
 * is on demand (as AWS reserved instances and Google's committed use apply: to any node of the type). With
 * "bill": "bound" only the time in which GPUs are bound to a replica is paid, by the GPU, without steps.
 *
 * The cost window is charged as time passes: what is paid before or after it for the same node does not
 * count, so the bills of adjoining windows add up to the bill of both.
 *
 * Money is int64 millionths of the currency; products are 128 bits wide and rounded once a node type, halves
 * up. Prices finer than a millionth are rounded to it when read.
 */
struct node_price {
    int64_t rate_micro; /* an hour of a node, or of a GPU */
    bool per_gpu;       /* rates are per GPU-hour */
    bool bound_only;    /* "bill": "bound" */
    sim_time granularity, minimum;
    int32_t reserved;            /* nodes */
    int64_t reserved_rate_micro; /* an hour of a reserved node, or of one of its GPUs */
};

struct price_list {
    const char *currency;     /* borrowed from the document; "GPU-h" if there are no prices */
    struct node_price *types; /* by the order of the types given to the parser; owned */
    int32_t count;
    bool given; /* false: no "prices" in the scenario: every GPU of a node costs 1 GPU-h an hour */
};

/* Longest currency name, in bytes: as much as a table shows. */
enum { PRICE_CURRENCY_LIMIT = 8 };

/* Reads "prices" for the node types of the cluster, at most 60 of them. node NULL: costs are GPU-hours.
 * Errors: input (a type without a price, a price for a type that the cluster does not have), memory. On an
 * error *list is empty. Free with price_list_free. */
int price_list_parse(const struct node *node, const char *const *types, int32_t count,
                     struct price_list *list, struct error *err);
void price_list_free(struct price_list *list); /* a zeroed one is fine */

/* One node's life. */
struct node_time {
    sim_time launched, terminated; /* SIM_NEVER: still there */
};

/* What was paid. */
struct bill {
    int64_t micro;   /* money */
    __int128 gpu_ns; /* GPU-time that it paid for */
};

/*
 * Adds the bill of all nodes of one type over [from, to) to *bill. Nodes in any order; gpus: of one node;
 * bound_gpu_ns: GPU-time bound on all of them inside the window (used by "bill": "bound" only). Errors:
 * memory.
 */
int price_bill(const struct price_list *list, int32_t type, const struct node_time *nodes, int32_t count,
               sim_time from, sim_time to, int32_t gpus, __int128 bound_gpu_ns, struct bill *bill,
               struct error *err);

/* What the type costs per hour now: with so many nodes held and so many GPUs bound on them. */
double price_rate_per_hour(const struct price_list *list, int32_t type, int32_t nodes, int32_t gpus,
                           int32_t bound_gpus);

/* How long a node that lived so long is paid for. */
sim_time price_paid_time(const struct node_price *price, sim_time life);

#endif
