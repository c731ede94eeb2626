#ifndef SIM_RUN_REPORT_TABLE_H
#define SIM_RUN_REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/engine/error.h"
#include "sim/run/summary.h"

/*
 * What `peaksim compare` prints: what users get, what it takes, which differences between strategies are
 * real, and what the figures rest on. At most REPORT_WIDTH columns wide as long as names are of ordinary
 * length (longer ones are cut). Names of a scenario are shown without the control characters that would move
 * the cursor.
 */
enum { REPORT_WIDTH = 120 };

/* bold: headers in bold (a terminal without NO_COLOR). Reads the first replication's series for the
 * sparkline, where there are any. Errors: memory, a spool, the file. */
int report_print_table(const struct experiment_results *results, const struct summary *summary, FILE *file,
                       bool bold, struct error *err);

/* The text of summary.json. Errors: memory, the file. */
int report_print_json(const struct summary *summary, FILE *file, struct error *err);

#endif
