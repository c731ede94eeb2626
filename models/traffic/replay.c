/*
 * Replayed traffic.
 *
 *   {"file": "trace.csv", "format": "azure-llm", "window": ["10m", "40m"], "time_scale": 1, "rate_scale": 20,
 * "jitter": "30s", "spread": "3s", "loop": false, "resample": false, "sizes": {...}}
 *
 * window      what is replayed, on the trace's clock from its earliest record; all of it if not given. It
 * begins at t = 0 of the run. time_scale  times are multiplied by it: 2 is half as fast rate_scale  r is
 * floor(r) copies and one thinned copy that keeps each record with probability r - floor(r). Copy 0 is
 * unshifted, copy k is moved as a whole by one offset, drawn per replication from +-jitter; what that moves
 * out of the run is not offered. Each copy has its own prefix groups and sessions. spread      moves each
 * record forward by a uniform part of it: for traces whose clock is a coarse grid loop        begins again at
 * the end (a window ends where it says, a whole trace one mean gap after its last record) resample    not the
 * trace's own requests but new ones: Poisson (or "arrivals"; default: Gamma gaps with the trace's own
 * coefficient of variation on the rescaled clock) at its rate curve of 60 s bins, with its rows' sizes drawn
 * jointly
 *
 * Traces of counts, and "resample", go through the same machinery as synthesized traffic; rate_scale then
 * multiplies the rate.
 */
#include "models/traffic/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/quantity.h"

enum { BIN_S = 60, SECONDS_LIMIT = 20000000, COPIES_LIMIT = 100000 };

/* What a scan of the trace finds. */
struct scan {
    int64_t least, most; /* trace clock */
    int64_t records;     /* in the window */
    int64_t all;
    sim_time disorder;
    int64_t out_of_order;
    uint64_t first_out_of_order; /* line */
    int64_t sessions;
    sim_time length; /* of the window, scaled */
    double tokens_in, tokens_out, work_s;
    int64_t worked;
    double *bins; /* requests of each BIN_S, scaled; the last takes what is left */
    size_t bin_count;
    uint32_t *seconds; /* requests a second, scaled; NULL: too long a trace */
    size_t second_count;
    struct trace_repairs repairs;
};

static void scan_free(struct scan *scan)
{
    free(scan->bins);
    free(scan->seconds);
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    trace_spec_free(replay->spec);
    free(replay);
}

bool replay_is_random(const struct replay *replay)
{
    return replay->rate_scale != 1 || replay->spread > 0;
}

/* ---- reading ---- */

static int window_parse(struct map *map, struct replay *replay)
{
    const struct node *node = map_node(map, "window");
    struct error detail = {.code = ERROR_NONE};

    replay->to = SIM_NEVER;
    if (!node || map_failed(map))
        return map_failed(map) ? -1 : 0;
    if (node_kind(node) != NODE_SEQUENCE || node_count(node) != 2 || !node_text(node_at(node, 0)) ||
        !node_text(node_at(node, 1)))
        return node_error(
            node, map->err,
            "\"window\" is a pair of times since the trace's first record, such as [\"10m\", \"40m\"]");
    if (quantity_time(node_text(node_at(node, 0)), &replay->from, &detail) < 0 ||
        quantity_time(node_text(node_at(node, 1)), &replay->to, &detail) < 0)
        return node_error(node, map->err, "%s", detail.message);
    if (replay->from >= replay->to)
        return node_error(node, map->err, "the window ends before it begins");
    return 0;
}

static int options_parse(struct map *map, struct replay *replay, bool *resample)
{
    if (window_parse(map, replay) < 0)
        return -1;
    map_number(map, "time_scale", MAP_DEFAULT("1", "the trace's own pace"), 1e-3, 1e3, &replay->time_scale);
    map_number(map, "rate_scale", MAP_DEFAULT("1", "the trace's own requests"), 1e-6, COPIES_LIMIT,
               &replay->rate_scale);
    map_time(map, "jitter", MAP_DEFAULT("30s", "copies of one trace must not hit the same second"),
             &replay->jitter);
    map_time(map, "spread", MAP_DEFAULT("0s", "the trace's own times"), &replay->spread);
    map_bool(map, "loop", MAP_DEFAULT("false", "a trace ends"), &replay->loop);
    map_bool(map, "resample", MAP_DEFAULT("false", "the trace's own requests"), resample);
    return map_failed(map) ? -1 : 0;
}

/* ---- scanning ---- */

static int scan_extent(const struct replay *replay, struct scan *scan, struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    int64_t latest = INT64_MIN;
    int got;

    scan->least = INT64_MAX;
    scan->most = INT64_MIN;
    if (trace_open(replay->spec, &reader, err) < 0)
        return -1;
    while ((got = trace_next(reader, &record, err)) > 0) {
        int64_t end = record.at + record.width;

        scan->all++;
        if (record.at < scan->least)
            scan->least = record.at;
        if (end > scan->most)
            scan->most = end;
        if (record.at < latest) {
            if (scan->out_of_order++ == 0)
                scan->first_out_of_order = record.line;
            if (latest - record.at > scan->disorder)
                scan->disorder = latest - record.at;
        } else {
            latest = record.at;
        }
    }
    scan->repairs = *trace_repairs(reader);
    trace_close(reader);
    if (got == 0 && scan->all == 0)
        return error_set(err, ERROR_INPUT, trace_spec_path(replay->spec), "the trace has no records");
    if (got == 0 && scan->most - scan->least > SIM_TIME_LIMIT)
        return error_set(err, ERROR_INPUT, trace_spec_path(replay->spec),
                         "the trace spans more than 100 years: is the time unit right?");
    return got;
}

static int scan_requests(const struct replay *replay, struct scan *scan, struct sizes *rows,
                         struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    int got;

    scan->bin_count = (size_t)(scan->length / (BIN_S * SIM_SECOND));
    scan->bin_count += scan->bin_count == 0;
    scan->second_count = (size_t)(scan->length / SIM_SECOND) + 1;
    scan->bins = calloc(scan->bin_count, sizeof *scan->bins);
    if (scan->second_count <= SECONDS_LIMIT)
        scan->seconds = calloc(scan->second_count, sizeof *scan->seconds);
    if (!scan->bins || (scan->second_count <= SECONDS_LIMIT && !scan->seconds))
        return error_memory(err, "replay");
    rows->form = SIZES_ROWS;
    if (trace_open(replay->spec, &reader, err) < 0)
        return -1;
    while ((got = trace_next(reader, &record, err)) > 0) {
        sim_time since = record.at - replay->zero, at;
        size_t bin;

        if (since < replay->from || since >= replay->to)
            continue;
        at = replay_scaled(replay, since - replay->from);
        scan->records++;
        scan->tokens_in += record.tokens_in;
        scan->tokens_out += record.tokens_out;
        if (record.work_ns >= 0) {
            scan->work_s += sim_time_seconds(record.work_ns);
            scan->worked++;
        }
        scan->sessions += record.session != 0;
        bin = (size_t)(at / (BIN_S * SIM_SECOND));
        scan->bins[bin < scan->bin_count ? bin : scan->bin_count - 1]++;
        if (scan->seconds && (size_t)(at / SIM_SECOND) < scan->second_count)
            scan->seconds[at / SIM_SECOND]++;
        if (sizes_offer(rows, &(struct size_row){record.work_ns, record.tokens_in, record.tokens_out}, err) <
            0) {
            got = -1;
            break;
        }
    }
    trace_close(reader);
    if (got == 0 && scan->records == 0)
        return error_set(err, ERROR_INPUT, trace_spec_path(replay->spec), "the window has no requests");
    return got;
}

/* ---- rates ---- */

/* One pass of the bins from `base` on. */
static int curve_of_bins(const struct replay *replay, const struct scan *scan, sim_time base,
                         struct traffic *traffic, struct error *err)
{
    for (size_t i = 0; i < scan->bin_count; i++) {
        sim_time from = (sim_time)i * BIN_S * SIM_SECOND,
                 to = i + 1 < scan->bin_count ? from + BIN_S * SIM_SECOND : scan->length;
        double rate = scan->bins[i] / sim_time_seconds(to - from) * replay->rate_scale;

        from += base;
        to += base;
        if (from >= traffic->duration)
            return 0;
        if (rate_curve_add(&traffic->curve, from, to < traffic->duration ? to : traffic->duration, rate, rate,
                           err) < 0)
            return -1;
    }
    return 0;
}

static int curve_of_requests(const struct replay *replay, const struct scan *scan, struct traffic *traffic,
                             struct error *err)
{
    sim_time base = 0;

    do {
        if (curve_of_bins(replay, scan, base, traffic, err) < 0)
            return -1;
        base += replay->period;
    } while (replay->loop && base < traffic->duration);
    return 0;
}

/* Counts become a rate that is constant over each interval, one pass of the file from `base` on. */
static int curve_of_counts(const struct replay *replay, sim_time base, struct traffic *traffic, double *total,
                           struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    sim_time reached = base;
    int got;

    if (trace_open(replay->spec, &reader, err) < 0)
        return -1;
    while ((got = trace_next(reader, &record, err)) > 0) {
        sim_time from = record.at - replay->zero, to = from + record.width;
        double per_ns = record.width > 0 ? record.count / (double)record.width : 0;
        double rate = per_ns * 1e9 * replay->rate_scale / replay->time_scale;

        from = from < replay->from ? replay->from : from;
        to = to > replay->to ? replay->to : to;
        if (from >= to)
            continue;
        *total += per_ns * (double)(to - from) * replay->rate_scale;
        from = base + replay_scaled(replay, from - replay->from);
        to = base + replay_scaled(replay, to - replay->from);
        if (from < reached)
            from = reached;
        if (from >= traffic->duration)
            break;
        to = to < traffic->duration ? to : traffic->duration;
        reached = to > reached ? to : reached;
        if (rate_curve_add(&traffic->curve, from, to, rate, rate, err) < 0) {
            got = -1;
            break;
        }
    }
    trace_close(reader);
    return got < 0 ? -1 : 0;
}

static int counts_replay(const struct replay *replay, const struct scan *scan, struct traffic *traffic,
                         struct error *err)
{
    sim_time base = 0;
    double total = 0;

    if (scan->disorder > 0)
        return error_set(err, ERROR_INPUT, trace_spec_path(replay->spec),
                         "line %llu goes back in time; counts must be in the order of time",
                         (unsigned long long)scan->first_out_of_order);
    do {
        if (curve_of_counts(replay, base, traffic, &total, err) < 0)
            return -1;
        base += replay->period;
    } while (replay->loop && base < traffic->duration);
    if (traffic->curve.count == 0)
        return error_set(err, ERROR_INPUT, trace_spec_path(replay->spec), "the window has no counts");
    traffic->source = TRAFFIC_PROCESS;
    sizes_mean(&traffic->sizes, &traffic->mean);
    return 0;
}

/* ---- burstiness ---- */

/* Coefficient of variation of the gaps on the rescaled clock, in which the rate is 1: what burstiness the
 * rate curve leaves unexplained. */
static int rescaled_cv(struct traffic *traffic, double *cv, struct error *err)
{
    struct replay_stream *stream;
    struct arrival arrival;
    double last = -1, sum = 0, squares = 0, mean;
    int64_t n = 0;
    int got;

    if (replay_open(traffic, 1, "", 0, &stream, err) < 0)
        return -1;
    while ((got = replay_next(stream, &arrival, err)) > 0) {
        double clock = rate_curve_integral(&traffic->curve, 0, arrival.at);

        if (last >= 0) {
            sum += clock - last;
            squares += (clock - last) * (clock - last);
            n++;
        }
        last = clock;
    }
    replay_close(stream);
    mean = n ? sum / (double)n : 0;
    *cv = n > 1 && mean > 0 ? sqrt(fmax(squares / (double)n - mean * mean, 0)) / mean : 1;
    *cv = fmin(fmax(*cv, 0.05), 20);
    return got;
}

static double dispersion(const double *counts, size_t n)
{
    double mean = 0, variance = 0;

    for (size_t i = 0; i < n; i++)
        mean += counts[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (counts[i] - mean) * (counts[i] - mean) / (double)n;
    return mean > 0 ? variance / mean : 0;
}

/* Variance / mean of the counts of bins of 1 s and 60 s (the last of which may be short), and the busiest
 * second. */
struct bursts {
    double second, minute;
    double peak;
};

static int bursts_of(const double *seconds, size_t n, struct bursts *bursts, struct error *err)
{
    size_t minutes = (n + 59) / 60;
    double *sums = calloc(minutes ? minutes : 1, sizeof *sums);

    if (!sums)
        return error_memory(err, "replay");
    bursts->peak = 0;
    for (size_t i = 0; i < n; i++) {
        sums[i / 60] += seconds[i];
        bursts->peak = fmax(bursts->peak, seconds[i]);
    }
    bursts->second = dispersion(seconds, n);
    bursts->minute = dispersion(sums, minutes);
    free(sums);
    return 0;
}

static int burst_notes(const struct replay *replay, const struct scan *scan, struct traffic *traffic,
                       struct error *err)
{
    size_t n = scan->second_count;
    double *seconds;
    struct bursts before, after;
    struct replay_stream *stream;
    struct arrival arrival;
    int got;

    if (!scan->seconds)
        return 0;
    seconds = calloc(n, sizeof *seconds);
    if (!seconds)
        return error_memory(err, "replay");
    for (size_t i = 0; i < n; i++)
        seconds[i] = scan->seconds[i];
    got = bursts_of(seconds, n, &before, err);
    memset(seconds, 0, n * sizeof *seconds);
    if (got == 0 && (got = replay_open(traffic, 1, "", 0, &stream, err)) == 0) {
        while ((got = replay_next(stream, &arrival, err)) > 0 && (size_t)(arrival.at / SIM_SECOND) < n)
            seconds[arrival.at / SIM_SECOND]++;
        replay_close(stream);
        if (got >= 0)
            got = bursts_of(seconds, n, &after, err);
    }
    free(seconds);
    if (got < 0)
        return -1;
    return traffic_add_note(traffic, err,
                            "rate_scale %g: copies of the trace, all but the first moved as a whole by an "
                            "offset within ±%gs. Dispersion (variance / "
                            "mean of counts) at 1 s and 60 s: %.2f and %.2f in the trace, %.2f and %.2f "
                            "after; busiest second %.0f requests (%.0f "
                            "if no copy were moved). After: for one draw of the offsets.",
                            replay->rate_scale, sim_time_seconds(replay->jitter), before.second,
                            before.minute, after.second, after.minute, after.peak,
                            before.peak * replay->rate_scale);
}

/* ---- notes ---- */

static int repair_notes(const struct replay *replay, const struct scan *scan, struct traffic *traffic,
                        struct error *err)
{
    for (int i = 0; i < TRACE_REPAIRS; i++)
        if (scan->repairs.count[i] > 0 && i != TRACE_OUT_OF_ORDER && i != TRACE_DUPLICATE_TIMES &&
            traffic_add_note(traffic, err, "%s: %lld %s, first at line %llu.", trace_spec_path(replay->spec),
                             (long long)scan->repairs.count[i], trace_repair_text((enum trace_repair)i),
                             (unsigned long long)scan->repairs.first_line[i]) < 0)
            return -1;
    if (scan->out_of_order > 0 &&
        traffic_add_note(
            traffic, err,
            "%s: %lld records go back in time, by up to %gs, first at line %llu; they were put in order.",
            trace_spec_path(replay->spec), (long long)scan->out_of_order, sim_time_seconds(scan->disorder),
            (unsigned long long)scan->first_out_of_order) < 0)
        return -1;
    if (scan->sessions > 0 && traffic_add_note(traffic, err,
                                               "Sessions were recorded closed-loop and are replayed "
                                               "open-loop: users would have waited for answers, so queues "
                                               "are overstated.") < 0)
        return -1;
    return 0;
}

static int requests_replay(struct replay *replay, struct scan *scan, bool resample,
                           const struct arrivals_config *process, bool process_given, struct traffic *traffic,
                           struct error *err)
{
    double n;

    if (scan_requests(replay, scan, &traffic->rows, err) < 0 ||
        curve_of_requests(replay, scan, traffic, err) < 0)
        return -1;
    n = (double)scan->records;
    traffic->mean = (struct traffic_sizes){scan->tokens_in / n, scan->tokens_out / n,
                                           scan->worked == scan->records ? scan->work_s / n : (double)NAN};
    if (traffic->sizes.form != SIZES_NONE)
        sizes_mean(&traffic->sizes, &traffic->mean);
    traffic->source = TRAFFIC_TRACE;
    if (resample) {
        double scale = replay->rate_scale, cv = 1;
        int got;

        replay->rate_scale = 1; /* the trace's own gaps */
        for (size_t i = 0; i < traffic->curve.count; i++) {
            traffic->curve.pieces[i].first /= scale;
            traffic->curve.pieces[i].last /= scale;
            traffic->curve.pieces[i].before /= scale;
        }
        got = rescaled_cv(traffic, &cv, err);
        replay->rate_scale = scale;
        rate_curve_free(&traffic->curve);
        if (got < 0 || curve_of_requests(replay, scan, traffic, err) < 0)
            return -1;
        traffic->source = TRAFFIC_PROCESS;
        traffic->process = *process;
        if (!process_given) {
            traffic->process.kind = ARRIVALS_GAMMA;
            traffic->process.cv = cv;
        }
        if (traffic->sizes.form == SIZES_NONE) {
            traffic->sizes = traffic->rows;
            traffic->rows = (struct sizes){.form = SIZES_NONE};
        }
        return traffic_add_note(traffic, err,
                                "Resampled: new arrivals at the trace's rate curve (60 s bins), gaps with a "
                                "coefficient of variation of "
                                "%.2f on the rescaled clock, sizes drawn from its rows.",
                                process_given ? (process->kind == ARRIVALS_GAMMA ? process->cv : 1) : cv);
    }
    if (replay->rate_scale != 1)
        return burst_notes(replay, scan, traffic, err);
    if (replay->spread == 0)
        return traffic_add_note(traffic, err,
                                "Given this trace: its arrivals are the same in every replication, so "
                                "intervals say nothing about "
                                "other days.");
    return 0;
}

int replay_parse(const struct node *node, struct traffic *traffic, struct error *err)
{
    struct replay *replay = calloc(1, sizeof *replay);
    struct scan scan = {0};
    struct arrivals_config process;
    struct map map;
    bool resample = false, process_given = false, windowed;
    int result = -1;

    if (!replay)
        return error_memory(err, "replay");
    traffic->replay = replay; /* owns it from here on, on errors too */
    map_open(&map, node, err);
    if (trace_spec_parse(&map, &replay->spec, err) < 0 || options_parse(&map, replay, &resample) < 0 ||
        sizes_parse(&map, &traffic->sizes) < 0)
        return -1;
    process_given = map_has(&map, "arrivals");
    if (!arrivals_config_parse(&map, &process) || map_close(&map) < 0)
        return -1;
    if (trace_spec_type(replay->spec)->kind == TRACE_REQUESTS && !resample &&
        (process_given || process.noise_cv > 0))
        return node_error(node, err,
                          "\"arrivals\" and \"noise\" need \"resample\": true, or a trace of counts; a "
                          "replay keeps the trace's own times");
    if (scan_extent(replay, &scan, err) < 0)
        return -1;
    windowed = replay->to != SIM_NEVER;
    replay->zero = scan.least;
    replay->disorder = scan.disorder;
    if (!windowed)
        replay->to = scan.most - scan.least + (trace_spec_type(replay->spec)->kind == TRACE_REQUESTS);
    scan.length = replay_scaled(replay, replay->to - replay->from);
    replay->period = scan.length;
    if (!windowed && scan.all > 1 && trace_spec_type(replay->spec)->kind == TRACE_REQUESTS)
        replay->period = replay_scaled(replay,
                                       (scan.most - scan.least) + (scan.most - scan.least) / (scan.all - 1));
    if (replay->period < 1)
        replay->period = 1;
    if (replay->loop && replay->period < SIM_SECOND) {
        node_error(node, err, "a loop of less than a second");
    } else if (trace_spec_type(replay->spec)->kind == TRACE_COUNTS) {
        traffic->process = process;
        result = counts_replay(replay, &scan, traffic, err);
    } else {
        result = requests_replay(replay, &scan, resample, &process, process_given, traffic, err);
    }
    if (result == 0)
        result = repair_notes(replay, &scan, traffic, err);
    if (result == 0 && replay->loop)
        result = traffic_add_note(traffic, err,
                                  "The trace is looped: its repetitions are no independent evidence.");
    scan_free(&scan);
    return result;
}
