#ifndef MODELS_REPLICA_START_H
#define MODELS_REPLICA_START_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/distribution.h"
#include "sim/engine/error.h"
#include "sim/engine/random.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * From asked to ready: the stages that a replica passes, what each waits for, and the draws of one replica.
 *
 *   schedule  the scheduler sees the pod and binds it (latency), if a GPU is free
 *   node      no GPU was free: until one is (another pod's, or a new node's)
 *   pull      image bytes over the registry link, shared, unless the node has the image; then extraction at the node's disk rate
 *   load      weight bytes over the store link, shared, or from the node's host memory
 *   init      GPU memory, compilation, graph capture: until the server listens
 *   probe     until the readiness probe has seen it
 *   endpoint  until the router knows
 */
enum start_stage {
    START_SCHEDULE,
    START_NODE,
    START_PULL,
    START_LOAD,
    START_INIT,
    START_PROBE,
    START_ENDPOINT,
    START_STAGES /* = ready */
};
/* "schedule", ..., "endpoint"; "ready" for START_STAGES. */
const char *start_stage_name(enum start_stage stage);

struct start_config {
    struct distribution schedule;      /* s: kube-scheduler and API */
    struct distribution image_bytes;   /* compressed image; 0: no pull */
    double extract_ratio;              /* uncompressed / compressed bytes */
    double extract_bytes_per_s;        /* of uncompressed bytes; INFINITY: free (the node's disk may be slower: the smaller counts) */
    struct distribution weight_bytes;  /* 0: no load */
    bool weights_from_host;            /* load "from": "host-cache": a node that loaded them before copies from host memory */
    double host_bytes_per_s;           /* host memory -> GPU */
    struct distribution init;          /* s */
    sim_time probe_initial_delay, probe_period, probe_timeout;
    int32_t probe_success_threshold;
    struct distribution endpoint;      /* s */
    sim_time grace;                    /* terminationGracePeriod: how long in-flight requests get on scale-in */
    int32_t gpus;                      /* filled by the replica's parser */
};

/* Reads "start" of a replica: {"schedule", "image": {"size","ratio","extract"}, "load": {"size","from","host_bandwidth"}, "init", "probe": {"initial_delay","period","timeout",
 * "success_threshold","failure_threshold"}, "endpoint", "grace"}. "extract" is a bandwidth of uncompressed bytes, or "none": no time at all. node may be NULL: all defaults (sourced presets). Errors: input. */
int start_config_parse(const struct node *node, struct start_config *config, struct error *err);
void start_config_free(struct start_config *config);

/* One replica's luck: fixed draws, keyed by its ordinal, so that the k-th replica is as lucky under every strategy. */
struct start_draws {
    sim_time schedule, init, endpoint;
    int64_t image_bytes, weight_bytes;
};
void start_draw(const struct start_config *config, struct stream *stream, uint64_t ordinal, struct start_draws *draws);

/*
 * When the readiness probe turns a container ready: probes run at container_start + initial_delay + k * period; one that begins
 * at or after `listening` succeeds; ready after success_threshold successes in a row. Kubernetes documentation, "Configure Liveness,
 * Readiness and Startup Probes". All times absolute.
 */
sim_time start_probe_ready(const struct start_config *config, sim_time container_start, sim_time listening);

/* Time to extract an image of so many compressed bytes on a disk of that rate. Rounded up to the nanosecond. */
sim_time start_extract_time(const struct start_config *config, int64_t image_bytes, double disk_bytes_per_s);

/* Sum of the stages' quantiles for a lone replica on an idle cluster with a free GPU and uncached image: the configured median (p = 0.5)
 * scale-out time, used before a policy has seen any. provision_s > 0 adds a node. Seconds. */
double start_alone_seconds(const struct start_config *config, double p, double registry_bytes_per_s, double store_bytes_per_s,
                           double provision_s);

#endif
