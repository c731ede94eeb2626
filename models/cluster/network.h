#ifndef MODELS_CLUSTER_NETWORK_H
#define MODELS_CLUSTER_NETWORK_H

#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * Links shared max-min fairly by the transfers that cross them (Bertsekas and Gallager, Data Networks, 2nd ed., 6.5.2:
 * progressive filling): a registry link, a weight store's link, a node's NIC. A transfer crosses one or more links and may have a
 * ceiling of its own. Rates are recomputed whenever a transfer starts or ends.
 *
 * The network is one actor: it says when the next transfer ends. A transfer's end is exact to the nanosecond (rounded up: no byte
 * arrives early), whatever happened on its links meanwhile; an end less than 2^-13 ns past a nanosecond is that nanosecond. Times
 * given to one network never go back. Nothing is allocated once there have been as many transfers at a time as there will be.
 */
struct network;

enum { NETWORK_PATH = 4 }; /* links that one transfer may cross */

struct network *network_create(struct error *err);
void network_free(struct network *network);

/* A link of so many bytes per second (> 0; INFINITY: never a bottleneck). Returns its number, -1 on memory. */
int network_add_link(struct network *network, double bytes_per_s, struct error *err);

/* Starts a transfer of bytes >= 0 over count links; ceiling in bytes/s (INFINITY: none). `owner` comes back when it ends. Returns the
 * transfer's number (recycled after its end), -1 on memory. A transfer of 0 bytes ends at once (next == now);
 * more than 2^55 bytes count as 2^55. */
int32_t network_start(struct network *network, sim_time now, int64_t bytes, const int *links, int count, double ceiling,
                      uint64_t owner, struct error *err);
/* Ends it without completion. */
void network_cancel(struct network *network, sim_time now, int32_t transfer);

/* Time of the next end, SIM_NEVER if none. */
sim_time network_next(const struct network *network);
/* One transfer that has ended by now: 1 with its owner, 0 if there is no more. Call until 0. Transfers that end together come in the
 * order in which they started. */
int network_advance(struct network *network, sim_time now, uint64_t *owner);

/* Present rate of a transfer in bytes/s; bytes still to come. */
double network_rate(const struct network *network, int32_t transfer);
double network_left(const struct network *network, sim_time now, int32_t transfer);
/* Transfers under way on a link. */
int network_busy(const struct network *network, int link);

#endif
