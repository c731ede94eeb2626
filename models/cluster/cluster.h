#ifndef MODELS_CLUSTER_CLUSTER_H
#define MODELS_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/distribution.h"
#include "sim/engine/error.h"
#include "sim/engine/random.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * Nodes with GPUs, who is bound to them, and the autoscaler that buys and returns nodes.
 *
 * Life of a node: launched (billing starts) -> Ready after the pool's provision time -> GPUs allocatable after gpu_ready -> holds replicas
 * -> empty for scale_down_delay, seen by a scan -> terminated (billing ends). Pools below `min` are never emptied; a pool never passes `max`.
 * The autoscaler looks every scan_interval (Kubernetes Cluster Autoscaler: 10 s) at the pods that pend and launches as many nodes as they
 * need beyond those already on their way; first pool in the scenario's order that can hold the pod and has room.
 */
struct node_pool_config {
    const char *name; /* the "type": also the key into prices */
    int32_t gpus;     /* GPUs a node, 1..64 */
    int32_t min, max; /* nodes */
    struct distribution provision;  /* s, launch -> Ready */
    struct distribution gpu_ready;  /* s, Ready -> GPUs allocatable (driver, device plugin) */
    double nic_bytes_per_s;         /* INFINITY: not modelled */
    double disk_bytes_per_s;        /* extraction of images; INFINITY: none */
    int64_t host_memory_bytes;      /* for weights kept in host memory; 0: none kept */
};

struct cluster_config {
    struct node_pool_config *pools;
    int32_t pool_count;
    double registry_bytes_per_s, store_bytes_per_s; /* shared links */
    sim_time scan_interval;    /* node autoscaler */
    sim_time scale_down_delay; /* how long a node must have been empty */
    bool spread;               /* placement: false packs the fullest node that fits, true spreads */
};

/* Reads "cluster". Errors: input. Free with cluster_config_free. */
int cluster_config_parse(const struct node *node, struct cluster_config *config, struct error *err);
void cluster_config_free(struct cluster_config *config);

struct cluster;

/* Nodes at t = 0: every pool's min, and in pool order as many more as `gpus_needed` (initial replicas' GPUs, given as a list of
 * per-replica counts) asks for; all Ready with GPUs allocatable. `key` names the random stream of provision times (by node ordinal).
 * The scans' phase is drawn from the key. The first requests at t = 0, as long as they are the initial replicas in their order, get the
 * places that were found for them here. The config is borrowed. Errors: initial replicas that fit in no pool within max. */
int cluster_create(const struct cluster_config *config, uint64_t key, const int32_t *initial_gpus, int32_t initial_count,
                   struct cluster **out, struct error *err);
void cluster_free(struct cluster *cluster);

/* A pod that wants `gpus` GPUs of one node. owner: its number, comes back from cluster_bound. Binding happens at once if there is room
 * (then cluster_bound yields it at the same time), else it pends, first come first served by (priority descending, order of asking);
 * a pod that does not fit does not block smaller ones behind it (as the scheduler does). The owner must not have asked already;
 * memory grows with the largest owner number. Errors: memory; more GPUs than any pool's node has. */
int cluster_request(struct cluster *cluster, sim_time now, uint32_t owner, int32_t gpus, int32_t priority, struct error *err);
/* Gives the GPUs back, or withdraws a pending pod. Nothing happens for an owner that has neither. */
void cluster_release(struct cluster *cluster, sim_time now, uint32_t owner);

/* The next time at which cluster_advance has something to do; SIM_NEVER if never (no scan needed). */
sim_time cluster_next(const struct cluster *cluster);
/* Runs scans, arrivals and departures of nodes due at now. Errors: memory. */
int cluster_advance(struct cluster *cluster, sim_time now, struct error *err);
/* Owners bound since the last call, in order: true with owner and node, false if there is no more. Call after request, release, advance. */
bool cluster_bound(struct cluster *cluster, uint32_t *owner, int32_t *node);

/* Node facts. Node numbers count launches from 0 and are never reused. */
int32_t cluster_node_pool(const struct cluster *cluster, int32_t node);
/* A place for the world to keep which image and weights a node holds: bit i of a 64-bit set for service i. */
uint64_t *cluster_node_images(struct cluster *cluster, int32_t node);
uint64_t *cluster_node_weights(struct cluster *cluster, int32_t node);
/* The world's link number of the node's NIC, -1 until it set one. */
int *cluster_node_link(struct cluster *cluster, int32_t node);

/* Is the pod pending because every pool that could hold it is at max? (blame: limit) */
bool cluster_limited(const struct cluster *cluster, uint32_t owner);
bool cluster_is_pending(const struct cluster *cluster, uint32_t owner);

struct cluster_gauges {
    int32_t nodes_launching, nodes_ready; /* launching: launched, GPUs not yet allocatable */
    int32_t gpus_total;     /* of all nodes being billed */
    int32_t gpus_allocatable;
    int32_t gpus_bound;
    int32_t pods_pending;
};
void cluster_gauges(const struct cluster *cluster, struct cluster_gauges *gauges);
/* Nodes of one pool that are being billed, and the GPUs bound on them. */
void cluster_pool_gauges(const struct cluster *cluster, int32_t pool, int32_t *nodes, int32_t *gpus_bound);

/* One node's bill: launch and termination (SIM_NEVER: still there), GPU-time bound. Index 0..cluster_node_count-1. */
struct node_record {
    int32_t pool;
    bool initial;           /* there at t = 0 */
    sim_time launched, ready, allocatable, terminated;
    int64_t bound_gpu_ns;   /* integral of bound GPUs up to `now` or termination */
    int64_t marked_gpu_ns;  /* the same since cluster_mark; all of it if that was never called */
};
int32_t cluster_node_count(const struct cluster *cluster);
void cluster_node_record(const struct cluster *cluster, int32_t node, sim_time now, struct node_record *record);
/* The measured window begins: from here on marked_gpu_ns counts. */
void cluster_mark(struct cluster *cluster, sim_time now);

#endif
