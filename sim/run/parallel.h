#ifndef SIM_RUN_PARALLEL_H
#define SIM_RUN_PARALLEL_H

#include <stdint.h>

#include "sim/engine/error.h"

/*
 * Runs task(self, 0) .. task(self, count - 1) on up to `jobs` threads (jobs <= 1: on this one). Tasks are
 * taken in their order and write only what is theirs, so that results do not depend on the number of threads.
 * After a failure no new task begins; err is that of the failed task with the lowest number. Errors: a
 * task's, threads that cannot be made.
 */
int parallel_run(int jobs, int32_t count, int (*task)(void *self, int32_t number, struct error *err),
                 void *self, struct error *err);

/* Processors that this process may use, at least 1. */
int parallel_processors(void);

#endif
