#ifndef MODELS_ROUTING_ROUTING_H
#define MODELS_ROUTING_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "models/replica/service.h"
#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * Who gets a request: balancers, queues and what clients do when it takes too long.
 */
enum cancel_rule {
    CANCEL_NONE,  /* a timed-out request is still worked on */
    CANCEL_QUEUE, /* it is removed if its service has not begun */
    CANCEL_ALL    /* it is removed wherever it is */
};

struct balancer_type;

/*
 * Two maps of a service:
 *   "routing": {"balancer": "least-outstanding", "queue": {"where": "replica" | "central", "max": 100}}
 *   "client": {"timeout": "30s", "cancel_on_timeout": "none" | "queue" | "all"}
 * Defaults: least-outstanding, a queue without bound at each replica, no timeout, "queue". A max of 0 lets nobody wait.
 */
struct routing_config {
    const struct balancer_type *balancer;
    bool central;        /* requests wait in one FCFS queue and replicas take them as they have room */
    int64_t queue_max;   /* waiting requests allowed: in all for a central queue, per replica otherwise; INT64_MAX: no bound */
    sim_time timeout;    /* from the attempt's start; SIM_NEVER: none */
    enum cancel_rule cancel;
};

/* Reads "routing" and "client" of a service's map; both nodes may be NULL. Errors: input. */
int routing_config_parse(const struct node *routing, const struct node *client, struct routing_config *config, struct error *err);

/*
 * A balancer keeps the replicas that take requests and picks one. It knows a replica by its index in the world (dense, recycled)
 * and by how many requests it has outstanding (running, waiting).
 */
struct balancer {
    const struct balancer_type *type;
};

struct balancer_type {
    const char *name;
    const char *help;
    struct balancer *(*create)(struct error *err);
    void (*destroy)(struct balancer *balancer);
    /* A replica starts or stops taking new requests. Errors: memory. */
    int (*add)(struct balancer *balancer, uint32_t replica, int32_t outstanding, struct error *err);
    void (*remove)(struct balancer *balancer, uint32_t replica);
    /* Its outstanding requests changed. */
    void (*changed)(struct balancer *balancer, uint32_t replica, int32_t outstanding);
    /* A replica for the job, UINT32_MAX if there is none. */
    uint32_t (*pick)(struct balancer *balancer, const struct job *job);
};

/* least-outstanding, round-robin, random, power-of-two; NULL-terminated. */
const struct balancer_type *const *balancer_types(void);

#endif
