#ifndef MODELS_TRAFFIC_SIZES_H
#define MODELS_TRAFFIC_SIZES_H

#include "models/traffic/traffic.h"
#include "sim/engine/distribution.h"
#include "sim/engine/random.h"

/*
 * How large requests are: tokens in and out, or work in seconds, from distributions; or rows of a trace,
 * drawn jointly (each row is as likely as any other), so that long answers stay with the prompts that they
 * belong to.
 */
enum sizes_form { SIZES_NONE, SIZES_TOKENS, SIZES_WORK, SIZES_ROWS };

struct size_row {
    int64_t work_ns; /* -1: none */
    int32_t tokens_in, tokens_out;
};

enum { SIZES_ROWS_LIMIT = 1 << 16 }; /* rows of a trace that are kept: a uniform sample where it has more */

struct sizes {
    enum sizes_form form;
    struct distribution tokens_in, tokens_out, work;
    struct size_row *rows; /* owned */
    size_t count;
    uint64_t seen; /* rows offered to the sample */
};

/* Reads "sizes": {"tokens_in", "tokens_out"}, {"work"} or {"trace": {"file", ...}}; absent: SIZES_NONE. */
int sizes_parse(struct map *map, struct sizes *sizes);
void sizes_free(struct sizes *sizes);
int sizes_copy(struct sizes *to, const struct sizes *from, struct error *err);

/* Offers a row to the sample (Vitter's algorithm R, with a fixed key: the same sample on every machine).
 * Errors: memory. */
int sizes_offer(struct sizes *sizes, const struct size_row *row, struct error *err);

void sizes_mean(const struct sizes *sizes, struct traffic_sizes *mean);
bool sizes_is_random(const struct sizes *sizes);

/* Fills work and tokens of the arrival from the stream re-keyed by the request's number. */
void sizes_draw(const struct sizes *sizes, struct stream *stream, uint64_t number, struct arrival *arrival);

#endif
