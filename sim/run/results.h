#ifndef SIM_RUN_RESULTS_H
#define SIM_RUN_RESULTS_H

#include "sim/engine/error.h"
#include "sim/io/output_dir.h"
#include "sim/run/summary.h"

/*
 * The result files, into an open output folder (the caller commits it): documented column by column in docs/.
 *
 *   summary.json            every figure, with intervals (summary_to_json)
 *   scenario.resolved.json  the scenario after --set
 *   strategies.csv          the main figures, one row a strategy and service
 *   timeseries.csv          one row a bucket: of the first replication, and the mean over all ("mean" in its
 * column replication) decisions.csv           what the policies decided and why; first replication
 *   replicas.csv            every replica's life; first replication
 *   latency-<strategy>-<service>.hgrm  latency of all offered requests, all replications, in milliseconds
 *
 * Bytes depend on the outcomes alone: not on threads, time, locale or machine. Series are read from the
 * spools row by row, all replications in step, in constant memory. Where the runs kept no spools, the three
 * files are left out.
 */

/* Errors: the folder's, the spools', memory. */
int results_write(const struct experiment_results *results, const struct summary *summary,
                  struct output_dir *out, struct error *err);

/* The single files, for results.c and tests. */
int results_write_strategies(const struct summary *summary, FILE *file, struct error *err);
int results_write_timeseries(const struct experiment_results *results, FILE *file, struct error *err);
int results_write_decisions(const struct experiment_results *results, FILE *file, struct error *err);
int results_write_replicas(const struct experiment_results *results, FILE *file, struct error *err);

#endif
