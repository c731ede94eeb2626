#include "sim/run/scenario_peaks.h"

#include <math.h>
#include <stdlib.h>

#include "sim/io/quantity.h"

static int time_of(const struct node *node, sim_time *out, struct error *err)
{
    struct error detail = {.code = ERROR_NONE};
    const char *text = node_text(node);

    if (!text)
        return node_error(node, err, "a time since the start is needed here, such as \"8h30m\"");
    if (quantity_time(text, out, &detail) < 0)
        return node_error(node, err, "%s", detail.message);
    return 0;
}

int scenario_peaks_parse(const struct node *node, struct scenario *scenario, struct error *err)
{
    size_t count = node_count(node);

    if (node_kind(node) != NODE_SEQUENCE || count == 0)
        return node_error(node, err, "\"peak\" is a list of windows, such as [[\"8h\", \"9h30m\"]]");
    scenario->peaks = calloc(count, sizeof *scenario->peaks);
    if (!scenario->peaks)
        return error_memory(err, "scenario");
    for (size_t i = 0; i < count; i++) {
        const struct node *pair = node_at(node, i);
        struct window *window = &scenario->peaks[i];

        if (node_kind(pair) != NODE_SEQUENCE || node_count(pair) != 2)
            return node_error(
                pair, err, "a peak window is a pair of times since the start, such as [\"8h\", \"9h30m\"]");
        if (time_of(node_at(pair, 0), &window->from, err) < 0 ||
            time_of(node_at(pair, 1), &window->to, err) < 0)
            return -1;
        if (window->from >= window->to || window->to > scenario->duration)
            return node_error(pair, err,
                              "a peak window ends after it begins, and not after the scenario's duration");
        if (i > 0 && window->from < scenario->peaks[i - 1].to)
            return node_error(pair, err, "peak windows are in the order of time and do not overlap");
    }
    if (scenario->peaks[count - 1].to <= scenario->warmup)
        return node_error(node, err, "all peak windows lie in the warm-up, which is not measured");
    scenario->peak_count = (int32_t)count;
    scenario->peaks_given = true;
    return 0;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

int scenario_peaks_find(struct scenario *scenario, struct error *err)
{
    sim_time from = scenario->warmup, to = scenario->duration;
    int64_t first = from / SIM_MINUTE, minutes = (to + SIM_MINUTE - 1) / SIM_MINUTE - first;
    int64_t wanted = (minutes + 19) / 20;
    double *rates = malloc((size_t)minutes * sizeof *rates),
           *sorted = malloc((size_t)minutes * sizeof *sorted);
    double least;

    scenario->peaks = malloc((size_t)minutes * sizeof *scenario->peaks);
    if (!rates || !sorted || !scenario->peaks) {
        free(rates);
        free(sorted);
        return error_memory(err, "scenario");
    }
    for (int64_t i = 0; i < minutes; i++) {
        sim_time start = (first + i) * SIM_MINUTE, end = start + SIM_MINUTE;
        double expected = 0;

        start = start < from ? from : start;
        end = end > to ? to : end;
        for (int32_t k = 0; k < scenario->service_count; k++)
            expected += traffic_expected(scenario->services[k].traffic, start, end);
        sorted[i] = rates[i] = expected / sim_time_seconds(end - start);
    }
    qsort(sorted, (size_t)minutes, sizeof *sorted, descending);
    least = sorted[wanted - 1];
    least -= 1e-9 * fabs(least); /* equal but for rounding */
    for (int64_t i = 0; i < minutes; i++) {
        struct window window = {(first + i) * SIM_MINUTE, (first + i + 1) * SIM_MINUTE};

        if (rates[i] < least)
            continue;
        window.from = window.from < from ? from : window.from;
        window.to = window.to > to ? to : window.to;
        if (scenario->peak_count > 0 && scenario->peaks[scenario->peak_count - 1].to == window.from)
            scenario->peaks[scenario->peak_count - 1].to = window.to;
        else
            scenario->peaks[scenario->peak_count++] = window;
    }
    free(rates);
    free(sorted);
    return 0;
}
