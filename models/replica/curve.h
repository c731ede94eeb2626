#ifndef MODELS_REPLICA_CURVE_H
#define MODELS_REPLICA_CURVE_H

#include "models/replica/service.h"

/*
 * `curve`: processor sharing with a measured throughput, the flow-equivalent server of Chandy, Herzog and Woo
 * ("Parametric Analysis of Queuing Networks", IBM J. Res. Dev. 19(1), 1975). A load test says how many
 * requests per second leave when n are kept inside; here that X(n) is shared equally by whoever is inside.
 *
 *   {"points": [[1, 1.2], [8, 7.5], [32, 14]], "max_concurrency": 64, "size": "tokens_out", "mean_size": 220}
 *
 * points
 *     [n, X(n)]: n ascending in 1 .. 1,000,000, X > 0. Linear between points, through (0, 0) below the first,
 *     flat after the last. X may fall (thrashing).
 * max_concurrency
 *     most requests inside; the rest wait first come, first served. No bound if not given.
 * size
 *     what makes one request longer than another: "equal" (nothing; the default), "tokens" (in + out),
 *     "tokens_out", or "work" (the traffic's own work, in seconds).
 * mean_size
 *     mean size of the load test's requests, so that a request of that size is one of X's requests. 1 if not
 *     given: X then counts size (tokens, or seconds of work) per second. A request counts one token at least.
 *
 * A request of demand d (size / mean_size) is served at X(n) / n while n are inside. With V(t) = integral of
 * X(n) / n dt, the service that everybody has attained since t = 0, it ends when V has grown by d: ends keep
 * the order of V, so an event costs O(log n). M/M/1-PS is {"points": [[1, mu]], "size": "work"} with
 * exponential work of mean 1 s and Poisson arrivals.
 *
 * V and demands are 128-bit integers in units of 2^-56 x 1e-9 requests, so nothing drifts however long the
 * replica lives; X(n) / n is rounded up to that grid once (relative error below 2e-15 for X(n) / n >= 1 / s).
 * Ends are reported rounded up to whole nanoseconds, but shares change at the very end. Several ends in the
 * same nanosecond come in the order of V, then of admission.
 *
 * The jobs themselves are the nodes of the heap (a pairing heap in job.scratch): no memory beyond the
 * server's struct. A request whose traffic gives no work is refused under "size": "work".
 */
extern const struct service_type service_curve;

#endif
