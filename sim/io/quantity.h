#ifndef SIM_IO_QUANTITY_H
#define SIM_IO_QUANTITY_H

#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * Texts with units to numbers. Pure functions: the whole text must be the quantity, without space around it,
 * and nothing depends on the locale. Errors (ERROR_INPUT, place empty: the caller knows it) say what was
 * found and show what is allowed. *out is set only on success.
 */

/* "90s" "2m30s" "1.5h" "250ms" "7us" "3d" "0": units d h m s ms us (µs) ns, descending, each once. Exact;
 * what is finer than a nanosecond is rounded to the nearest, halves up, except that a duration above zero
 * never becomes zero (an error). At most SIM_TIME_LIMIT. */
int quantity_time(const char *text, sim_time *out, struct error *err);

/* Kubernetes resource quantity (apimachinery, resource.Quantity) of bytes, >= 0: digits with an optional
 * point, then Ki Mi Gi Ti Pi Ei, or n u m k M G T P E, or e/E and an exponent. Fractions of a byte are
 * rounded up, as Quantity.Value() does. Exact. */
int quantity_size(const char *text, int64_t *out, struct error *err);

/* The same grammar with a sign, in thousandths, rounded away from zero as Quantity.MilliValue() does: "500m"
 * is 500, "2" is 2000. */
int quantity_milli(const char *text, int64_t *out, struct error *err);

/* "120/s" "7200/min" "5/h" "2/d" "0", per second. */
int quantity_rate(const char *text, double *out, struct error *err);

/* "1.2GiB/s" "10Gbit/s" "800MB/s", bytes per second: B or bit with k M G T P (powers of 1000; K too) or Ki Mi
 * Gi Ti Pi (of 1024). > 0. */
int quantity_bandwidth(const char *text, double *out, struct error *err);

/* A finite decimal number such as -1.5e3. */
int quantity_number(const char *text, double *out, struct error *err);

/* A whole number, exact over all of int64: also 1e6, 5.0, 0x1f and 0o17. */
int quantity_integer(const char *text, int64_t *out, struct error *err);

/* "80%" or 0.8, between 0 and 1. */
int quantity_share(const char *text, double *out, struct error *err);

#endif
