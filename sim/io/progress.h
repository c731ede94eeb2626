#ifndef SIM_IO_PROGRESS_H
#define SIM_IO_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * One line of progress with the time left, on a terminal only: in a pipe, a log or with --quiet it is silent.
 * It is the one place where wall time is read, and nothing of it reaches a result.
 */
struct progress {
    FILE *file; /* NULL: silent */
    const char *label;
    uint64_t total;
    bool color;
    _Atomic uint64_t done;
    _Atomic uint64_t shown_ns; /* monotonic time of the last update */
    uint64_t start_ns;
};

/* label is borrowed. Total 0: unknown, then only the count is shown. Colour where NO_COLOR is unset or empty.
 */
void progress_begin(struct progress *progress, const char *label, uint64_t total, bool quiet);
/* Some more is done. From any thread; draws at most five times a second. */
void progress_add(struct progress *progress, uint64_t amount);
/* Clears the line. */
void progress_end(struct progress *progress);

/* "replications  42 % (21/50), 12 s left" into text: what is drawn, given the seconds that have passed. */
void progress_text(const char *label, uint64_t done, uint64_t total, double elapsed_s, char *text,
                   size_t size);

#endif
