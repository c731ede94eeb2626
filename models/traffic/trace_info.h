#ifndef MODELS_TRAFFIC_TRACE_INFO_H
#define MODELS_TRAFFIC_TRACE_INFO_H

#include "models/traffic/trace.h"

/*
 * What a trace is like. Definitions:
 *
 *   span       latest time - earliest time (counts: the last interval's end - the first one's begin)
 *   mean       requests / span (counts: / the sum of the intervals that are there, since missing is not zero)
 *   bins       bin k of width w holds floor((t - earliest) / w) = k: they begin at the first request, not at
 * the clock peak/mean  largest bin / (mean x w) dispersion population variance / mean of the counts of all
 * bins, empty ones too gap CV     of the times between neighbours in the order of time: population deviation
 * / mean quantiles  nearest rank: element ceil(p n) of the ascending list, from 1
 */
struct trace_bins {
    int64_t bins, empty, peak;
    double peak_to_mean, dispersion;
    int64_t peak_at; /* ns since the earliest record: where the first of the fullest bins begins */
};

struct trace_values {
    int64_t sum;
    double mean;
    int64_t p50, p90, p99, max;
};

struct trace_info {
    enum trace_kind kind;
    int64_t rows;
    int64_t first, last; /* trace clock, ns; of counts: begin of the first and end of the last interval */
    double span_s, mean_per_s;
    bool sorted;
    int64_t out_of_order;
    struct trace_repairs repairs;
    /* requests */
    struct trace_bins second, minute;
    double gap_cv, gap_max_s; /* NAN: fewer than two records */
    bool has_tokens, has_work;
    struct trace_values in, out;
    struct trace_values work_ns;
    int64_t failed;
    /* counts */
    double covered_s; /* sum of the intervals */
    double total, step_s, peak, peak_to_mean;
    int64_t peak_at; /* trace clock, ns */
    int64_t zero_points, missing;
};

/* Reads the whole trace. Memory: 8 bytes a row for times and each size. Errors: of the trace; memory; an
 * empty one (ERROR_INPUT). */
int trace_info_make(const struct trace_spec *spec, struct trace_info *info, struct error *err);

#endif
