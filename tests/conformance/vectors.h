#ifndef TESTS_CONFORMANCE_VECTORS_H
#define TESTS_CONFORMANCE_VECTORS_H

#include <libfyaml.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/sim_time.h"

/*
 * Reading of conformance vectors (JSON: {"vectors": [{"id": ..., ...}, ...]}) for the runners, and the part
 * of a runner's main that all share. Scalars stay text until asked for, so that int64 values keep all their
 * digits. Every getter takes a NULL or absent node.
 */

/* Member of a mapping; NULL if absent or null. */
struct fy_node *vector_get(struct fy_node *map, const char *key);
/* Is the key there, be it null? */
bool vector_has(struct fy_node *map, const char *key);
/* Element of a sequence; NULL if absent or null. */
struct fy_node *vector_at(struct fy_node *sequence, int index);
/* Elements of a sequence or pairs of a mapping; 0 for anything else. */
int vector_count(struct fy_node *node);

/* Values of scalars, `otherwise` if the node is NULL or is not one of that kind. true counts as 1 in
 * integers. */
int64_t vector_int64(struct fy_node *node, int64_t otherwise);
int32_t vector_int32(struct fy_node *node, int32_t otherwise);
double vector_double(struct fy_node *node, double otherwise);
bool vector_bool(struct fy_node *node, bool otherwise);
/* Written in seconds, with or without a fraction. */
sim_time vector_time(struct fy_node *node, sim_time otherwise);
/* Lives as long as the file. */
const char *vector_text(struct fy_node *node, const char *otherwise);
bool vector_is(struct fy_node *node, const char *text);
bool vector_is_map(struct fy_node *node);
bool vector_is_sequence(struct fy_node *node);

/* What one vector's run gives back: the first difference found, "" when it passed. */
struct outcome {
    char text[512];
};
/* Notes a difference (the first stays) and returns false, for `return outcome_fail(...)`. */
bool outcome_fail(struct outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Equal integers, or a difference that names what. */
bool outcome_equal(struct outcome *outcome, const char *what, int64_t expected, int64_t got);
bool outcome_text(struct outcome *outcome, const char *what, const char *expected, const char *got);
/* Within a relative or absolute difference of `within`. */
bool outcome_close(struct outcome *outcome, const char *what, double expected, double got, double within);

/* Runs one vector; root is the whole file's mapping. */
typedef bool vector_run(struct fy_node *root, struct fy_node *vector, struct outcome *outcome);

/*
 * Runs every vector of every file in argv, prints the first 20 that fail and, last, "N passed, N failed".
 * Returns the exit status: 0 if at least one ran and none failed, 1 otherwise, 2 for a file that cannot be
 * read. With `--skip-absent NAME` before the files, a file that is not there means SKIPPED and 77.
 */
int vectors_main(int argc, char **argv, vector_run *run);

#endif
