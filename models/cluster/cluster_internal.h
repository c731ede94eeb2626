#ifndef MODELS_CLUSTER_CLUSTER_INTERNAL_H
#define MODELS_CLUSTER_CLUSTER_INTERNAL_H

#include "models/cluster/cluster.h"

/*
 * The inside of the cluster, shared by its own files:
 *
 *   cluster.c             pods: who pends, who is bound where; facts and figures
 *   cluster_initial.c     creation, the nodes at t = 0 and where the initial replicas go
 *   cluster_autoscaler.c  nodes: launch, arrival, scans, termination; what is due next
 *
 * Invariant between calls: no pod pends that fits on an allocatable node. What is freed on one node or comes
 * with it can therefore only help on that node.
 */
enum node_state { NODE_LAUNCHING, NODE_UP, NODE_GONE };

struct cluster_node {
    enum node_state state;
    bool initial;
    int32_t pool;
    int32_t gpus, bound;
    int32_t planned; /* GPUs that a scan has not yet given to a pending pod; of launching nodes */
    sim_time launched, ready, allocatable, terminated;
    sim_time empty_since; /* SIM_NEVER while something is bound, or launching */
    sim_time since;       /* bound_ns is as of then */
    int64_t bound_ns;     /* GPUs x nanoseconds */
    int64_t marked_ns;    /* bound_ns at the mark */
    uint64_t images, weights;
    int link;
};

enum pod_state { POD_NONE, POD_PENDING, POD_BOUND };

#define POD_NOBODY UINT32_MAX

struct pod {
    enum pod_state state;
    bool limited; /* pends, and no scan can help it */
    bool untold;  /* bound, and in the list of those that cluster_bound has yet to report */
    int32_t gpus, priority, node;
    uint32_t before, next; /* in the list of the pending or of the untold */
};

struct pod_list {
    uint32_t first, last;
};

struct cluster {
    const struct cluster_config *config;
    struct stream stream; /* provision times, by node number */
    sim_time phase;       /* of the scans */

    struct cluster_node *nodes; /* by number */
    int32_t node_count, node_size;
    int32_t *living; /* numbers of those not gone, ascending; node_size of them */
    int32_t living_count;
    int32_t *held; /* nodes of a pool that are not gone */

    struct pod *pods; /* by owner */
    uint32_t pod_count;
    struct pod_list pending; /* by priority descending, then order of asking */
    struct pod_list untold;  /* in the order of binding */
    int32_t pending_count, limited_count;

    struct {
        int32_t *node, *gpus;
        int32_t count, at;
    } plan; /* where the initial replicas go, in the order in which they will ask */

    bool scan_wanted;   /* a pod pends that the last scan did not see, or might now be helped */
    sim_time last_scan; /* -1: none yet */
    sim_time next_scan, next_arrival;

    int32_t launching;
    int32_t gpus_total, gpus_allocatable, gpus_bound;
};

/* The node for so many GPUs, by the cluster's placement; -1: none has room. */
int32_t cluster_pick(const struct cluster *cluster, int32_t gpus);
/* Brings bound_ns up to now. */
void cluster_account(struct cluster_node *node, sim_time now);
/* Binds what pends and fits on the node, in order. */
void cluster_fill(struct cluster *cluster, sim_time now, int32_t node);

/* First pool that can hold so many GPUs on a node and has room for another; -1: none. */
int32_t cluster_pool_for(const struct cluster *cluster, int32_t gpus);
/* A new node of the pool; its number, -1 on memory. initial: it is up at once. */
int32_t cluster_launch(struct cluster *cluster, sim_time now, int32_t pool, bool initial, struct error *err);
/* Finds out what is due next; after every change. */
void cluster_reschedule(struct cluster *cluster, sim_time now);

#endif
