#ifndef SIM_ENGINE_RANDOM_H
#define SIM_ENGINE_RANDOM_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * Named random streams.
 *
 * A stream is known by (seed, service, purpose, replication) and nothing else,
 * so that a request has the same arrival, size and luck under every strategy
 * (common random numbers) and adding a stream never shifts another one.
 * Inside a stream, things that exist in a different number or order under
 * different strategies (replicas, retries) draw from the stream re-keyed by
 * their own ordinal.
 *
 * The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", ACM TOMS 47, 2021) as a gsl_rng_type, seeded through
 * SplitMix64 as its authors advise; every GSL distribution works on it.
 */
extern const gsl_rng_type *const random_xoshiro256pp;

struct stream {
    gsl_rng *rng;
    uint64_t key;
};

/* Key of a named stream: a 64-bit mix of all four parts. Texts are NUL-terminated, neither may be NULL. */
uint64_t random_key(uint64_t seed, const char *service, const char *purpose, uint64_t replication);

/* Mixes an ordinal into a key (SplitMix64 finalizer); for streams of numbered things. */
uint64_t random_key_ordinal(uint64_t key, uint64_t ordinal);

/* Opens a stream at its beginning. Close with stream_close. Errors: memory. */
int stream_open(struct stream *stream, uint64_t key, struct error *err);
void stream_close(struct stream *stream); /* a zeroed stream is fine */

/* Puts the stream at the beginning of its ordinal's own sub-stream. Cheap: no allocation. */
void stream_rekey(struct stream *stream, uint64_t ordinal);

/* 64 random bits; uniform in [0, 1) with 53 bits. */
uint64_t stream_bits(struct stream *stream);
double stream_uniform(struct stream *stream);

/* Stateless: 64 bits, or a uniform in [0, 1), of a number; for draws that hang on a request's `luck`. */
uint64_t random_hash(uint64_t value);
double random_uniform_of(uint64_t value);

#endif
