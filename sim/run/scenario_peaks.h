#ifndef SIM_RUN_SCENARIO_PEAKS_H
#define SIM_RUN_SCENARIO_PEAKS_H

#include "sim/run/scenario.h"

/* Reads "peak": [["8h", "9h"], ...], ascending and apart, inside the duration. Errors: input. */
int scenario_peaks_parse(const struct node *node, struct scenario *scenario, struct error *err);

/*
 * Where the scenario names none: the busiest 5 % of the measured minutes by offered rate over all services,
 * the same for all strategies (design 6); neighbours are joined. Minutes as busy as the last one that is
 * needed count too, so that flat traffic is peak all the time and not only in its first minutes. Errors:
 * memory.
 */
int scenario_peaks_find(struct scenario *scenario, struct error *err);

#endif
