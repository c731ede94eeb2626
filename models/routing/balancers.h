#ifndef MODELS_ROUTING_BALANCERS_H
#define MODELS_ROUTING_BALANCERS_H

#include <stdint.h>

#include "models/routing/routing.h"
#include "sim/engine/random.h"

/*
 * The balancers, one file each. None of them draws: what is random hangs on the job's luck, so a request
 * meets the same fortune under every strategy, and every order is that of adds, removes and picks.
 */

/* The replica with the fewest outstanding requests; among equals the least recently picked, those never
 * picked first, then the lowest index. O(log n) a pick and a change. */
extern const struct balancer_type balancer_least_outstanding;

/* One after the other in the order in which they were added, round and round; a new one goes to the end of
 * the round. O(1). */
extern const struct balancer_type balancer_round_robin;

/* Each equally likely. O(1). */
extern const struct balancer_type balancer_random;

/* Of two different replicas at random, the one with fewer outstanding requests; equal: the first of the two.
 * O(1). Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001. */
extern const struct balancer_type balancer_power_of_two;

/* 64 bits for one choice of one attempt: a retry of the same request chooses anew. */
static inline uint64_t balancer_bits(const struct job *job)
{
    /* the constant keeps these bits apart from other uses of the same luck ("balancer" in ASCII) */
    return random_hash(job->luck ^ 0x62616c616e636572ULL ^ random_hash(job->attempt));
}

/* A whole number below count out of 32 random bits. Lemire, "Fast Random Integer Generation in an Interval",
 * ACM TOMACS 29(1), 2019, without the rejection: off by less than count / 2^32. */
static inline uint32_t balancer_below(uint32_t bits, uint32_t count)
{
    return (uint32_t)((uint64_t)bits * count >> 32);
}

#endif
