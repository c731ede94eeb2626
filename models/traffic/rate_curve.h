#ifndef MODELS_TRAFFIC_RATE_CURVE_H
#define MODELS_TRAFFIC_RATE_CURVE_H

#include <stddef.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * A rate over time: straight pieces, one after the other, that may jump where they meet. Its integral is
 * exact (a sum of trapezoids).
 */
struct rate_piece {
    sim_time from, to;
    double first, last; /* requests/s at both ends; straight between */
    double before;      /* integral up to `from`, requests */
};

struct rate_curve {
    struct rate_piece *pieces; /* ascending, owned */
    size_t count, room;
};

/* Appends a piece; it begins where the last one ended or later (between them the rate is 0). Pieces without
 * length are left out. Rates below 0 count as 0. Errors: memory. */
int rate_curve_add(struct rate_curve *curve, sim_time from, sim_time to, double first, double last,
                   struct error *err);
void rate_curve_free(struct rate_curve *curve); /* a zeroed one is fine */

/* Rate at t, right-continuous; 0 outside. Requests/s. */
double rate_curve_at(const struct rate_curve *curve, sim_time t);
/* Integral over [from, to), requests. */
double rate_curve_integral(const struct rate_curve *curve, sim_time from, sim_time to);
/* First piece that ends after t; count if there is none. */
size_t rate_curve_find(const struct rate_curve *curve, sim_time t);

#endif
