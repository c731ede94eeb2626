#ifndef SIM_RUN_CSV_WRITER_H
#define SIM_RUN_CSV_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/engine/sim_time.h"

/*
 * Rows of comma-separated values as RFC 4180 wants them, but with LF, field by field. Write errors stay in
 * the FILE and are found when it is closed.
 */
struct csv_writer {
    FILE *file;  /* borrowed */
    bool inside; /* a field of this row has been written */
};

void csv_writer_init(struct csv_writer *csv, FILE *file);

/* Quoted where it must be: separators, quotes, line ends, control characters, space at either end. */
void csv_text(struct csv_writer *csv, const char *text);
void csv_integer(struct csv_writer *csv, int64_t value);
/* NAN: an empty field; infinite: inf. */
void csv_number(struct csv_writer *csv, double value);
void csv_number_float(struct csv_writer *csv, float value);
/* Seconds of a time; SIM_NEVER and negative ones: an empty field. Exact: up to nine decimals. */
void csv_seconds(struct csv_writer *csv, sim_time time);
void csv_end(struct csv_writer *csv);

#endif
