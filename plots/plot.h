#ifndef PLOTS_PLOT_H
#define PLOTS_PLOT_H

#include "sim/engine/error.h"

/*
 * Pictures of an output directory, by gnuplot, from its files alone (summary.json, timeseries.csv,
 * replicas.csv), so that they can be drawn again without simulating again. Into <outdir>/plots, each as .svg
 * and .png; with several services one set a service, its name appended:
 *
 *   latency    P99 and P50 of every strategy over time, with the SLO
 *   capacity   offered rate against the rate that ready (and started) replicas carry within the SLO
 *   replicas   replicas by lifecycle state, and how many were needed
 *   waterfall  the stages of each start
 *   cost-p99   cost against peak P99 with intervals
 *
 * Names in those files are other people's text: they reach gnuplot only as single-quoted strings that
 * plot_quote made, never a shell, and never as a file name (plot_script.h).
 *
 * Errors: files that are missing or not ours (ERROR_INPUT); gnuplot not installed (ERROR_SYSTEM; names the
 * package), or it failed. The results themselves are never touched.
 */
int plots_draw(const char *outdir, struct error *err);

#endif
