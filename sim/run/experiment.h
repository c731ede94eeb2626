#ifndef SIM_RUN_EXPERIMENT_H
#define SIM_RUN_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/run/summary.h"

/*
 * All runs of a scenario: strategies x replications, on all cores.
 */
struct experiment_options {
    int jobs;  /* threads; < 1: as many as there are processors */
    bool keep; /* series of all runs, and decisions and replicas of replication 0, for result files */
    /* Called when a run has ended, from its thread; NULL: nobody. */
    void (*progressed)(void *to);
    void *progress_to;
    /* Polled now and then by every run; true ends them all. What was finished then counts as partial. NULL:
     * never. */
    bool (*interrupted)(void *to);
    void *interrupted_to;
};

struct experiment {
    struct experiment_results results; /* for summary.h; borrows the scenario */
    struct capacity *capacities;       /* a service */
    struct outcome *outcomes;          /* those that results.outcomes points to */
};

/* Is the capacity function needed by a policy, or wanted for shortage and plots: does any service have an SLO
 * bound? */
bool experiment_wants_capacity(const struct scenario *scenario);

/* Runs that experiment_run will report to progressed. */
int32_t experiment_run_count(const struct scenario *scenario);

/* Capacities first, then the runs. Interrupted: returns 0 with results.partial (if at least one replication
 * was finished by all strategies), else ERROR_INTERRUPTED. Errors: of the runs. Free with experiment_free, on
 * errors too. */
int experiment_run(const struct scenario *scenario, const struct experiment_options *options,
                   struct experiment *experiment, struct error *err);
void experiment_free(struct experiment *experiment);

/* Most replicas that any policy may ask for, or that the cluster holds, whichever is less; for capacity
 * tables. */
int32_t experiment_max_replicas(const struct scenario *scenario);

#endif
