#ifndef SIM_RUN_SCENARIO_H
#define SIM_RUN_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "models/cluster/cluster.h"
#include "models/cost/cost.h"
#include "models/replica/service.h"
#include "models/replica/start.h"
#include "models/routing/routing.h"
#include "models/scaling/policy.h"
#include "models/traffic/traffic.h"
#include "sim/engine/error.h"
#include "sim/io/document.h"

/*
 * All that a run needs, read from one document: parsed once, immutable, shared by all threads.
 */

enum slo_metric { SLO_LATENCY, SLO_TTFT, SLO_TPOT, SLO_WAIT, SLO_METRICS };
const char *slo_metric_name(enum slo_metric metric);

/* "latency": {"p99": "2s"} */
struct slo_bound {
    enum slo_metric metric;
    double quantile; /* 0.99 */
    sim_time bound;
};
enum { SLO_BOUNDS = 16 };
struct slo {
    struct slo_bound bounds[SLO_BOUNDS];
    int32_t count;
    double success; /* least share of offered requests that must complete; 0 if not asked for */
};

struct scenario_service {
    const char *name;
    struct slo slo;
    struct traffic *traffic;
    struct service_model serve;
    struct start_config start;
    struct routing_config routing;
    int32_t initial; /* ready replicas at t = 0, the same under every strategy */
    int32_t priority;
};

struct scenario_strategy {
    const char *name;
    struct policy_setup *policies; /* one a service; where the strategy gives one policy for all, each service
                                      has its own reading of it */
};

struct window {
    sim_time from, to;
};

struct scenario {
    struct document *document; /* owned */
    const char *name;
    const char *comment;
    sim_time duration, warmup, cooldown, bucket;
    uint64_t seed;
    int32_t replications;
    struct scenario_service *services;
    int32_t service_count;
    struct cluster_config cluster;
    struct scenario_strategy *strategies;
    int32_t strategy_count;
    struct price_list prices;
    struct window
        *peaks; /* ascending, apart; given, or the busiest 5 % of minutes by offered rate over all services */
    int32_t peak_count;
    bool peaks_given;
};

/* What the command line changes in a scenario before it is read. */
struct scenario_overrides {
    const char *const *assignments; /* "--set" texts, NULL-terminated; or NULL */
    const char *seed;               /* --seed; NULL: the scenario's */
    const char *replications;       /* --replications; NULL: the scenario's */
};

/* Reads a scenario file; overrides may be NULL. Errors: input. Free with scenario_free. */
int scenario_read(const char *path, const struct scenario_overrides *overrides, struct scenario *scenario,
                  struct error *err);
int scenario_from_document(struct document *document, struct scenario *scenario,
                           struct error *err); /* takes the document, on errors too */
void scenario_free(struct scenario *scenario);

/* Is anything in it random? If not, one replication says all. */
bool scenario_is_random(const struct scenario *scenario);

/* Index of the peak window that holds t, -1 if none. */
int32_t scenario_peak_at(const struct scenario *scenario, sim_time t);

#endif
