/*
 * Synthesized traffic: rate(t) = base x day(t) x week(t) x times(t) + additions(t), a sum of events that ramp
 * up, hold and decay in straight lines. The curve is kept as straight pieces: cut at every corner of a shape,
 * and once a minute where it bends.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/traffic/traffic_internal.h"
#include "sim/io/quantity.h"

enum { POINTS = 256, HARMONICS = 8, EVENTS = 64 };

struct synth {
    double base;
    sim_time start; /* clock time of t = 0, since Monday 00:00 */
    int points;     /* day shape by points: time of day, factor */
    sim_time point_at[POINTS];
    double point_factor[POINTS];
    int harmonics;
    double amplitude[HARMONICS];
    sim_time peak[HARMONICS], period[HARMONICS];
    bool weekly;
    double week[7]; /* Monday first */
    int events;
    struct event {
        sim_time at, ramp, hold, decay;
        double add, times; /* requests/s; factor - 1 at the top */
    } event[EVENTS];
};

/* "08:30" or "08:30:15", up to "24:00". */
static int clock_of(const struct node *node, sim_time *out, struct error *err)
{
    const char *text = node_text(node);
    int hours, minutes, seconds = 0, used = 0;

    if (text && (sscanf(text, "%2d:%2d%n:%2d%n", &hours, &minutes, &used, &seconds, &used) >= 2) &&
        text[used] == '\0' && hours >= 0 && minutes >= 0 && minutes < 60 && seconds >= 0 && seconds < 60 &&
        hours * 3600 + minutes * 60 + seconds <= 86400) {
        *out = (sim_time)(hours * 3600 + minutes * 60 + seconds) * SIM_SECOND;
        return 0;
    }
    return node_error(node, err, "a time of day is needed here, such as \"08:30\"");
}

static int number_of(const struct node *node, double low, double high, double *out, struct error *err)
{
    struct error detail = {.code = ERROR_NONE};
    const char *text = node_text(node);

    if (!text || node_kind(node) != NODE_NUMBER || quantity_number(text, out, &detail) < 0 || *out < low ||
        *out > high)
        return node_error(node, err, "a number from %g to %g is needed here", low, high);
    return 0;
}

/* ---- reading ---- */

static void points_parse(struct map *day, struct synth *synth)
{
    const struct node *list = map_node(day, "points");
    size_t count = list ? node_count(list) : 0;

    if (node_kind(list) != NODE_SEQUENCE || count == 0 || count > POINTS) {
        node_error(list, day->err, "\"points\" is a list of 1 to %d pairs [\"08:30\", factor]", (int)POINTS);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct node *pair = node_at(list, i);

        if (node_kind(pair) != NODE_SEQUENCE || node_count(pair) != 2) {
            node_error(pair, day->err, "a point is a pair [\"08:30\", factor]");
            return;
        }
        if (clock_of(node_at(pair, 0), &synth->point_at[i], day->err) < 0 ||
            number_of(node_at(pair, 1), 0, 1e6, &synth->point_factor[i], day->err) < 0)
            return;
        if (synth->point_at[i] >= SIM_DAY || (i > 0 && synth->point_at[i] <= synth->point_at[i - 1])) {
            node_error(pair, day->err,
                       "points are ascending in time, before \"24:00\" (the shape goes on to the first point "
                       "of the next day)");
            return;
        }
    }
    synth->points = (int)count;
}

static void harmonics_parse(struct map *day, struct synth *synth)
{
    const struct node *list = map_node(day, "harmonics");
    double sum = 0;

    if (node_kind(list) != NODE_SEQUENCE || node_count(list) == 0 || node_count(list) > HARMONICS) {
        node_error(list, day->err,
                   "\"harmonics\" is a list of 1 to %d of {\"amplitude\": 0.4, \"peak\": \"15:00\"}",
                   (int)HARMONICS);
        return;
    }
    for (size_t i = 0; i < node_count(list); i++) {
        struct map one;

        map_open(&one, node_at(list, i), day->err);
        map_number(&one, "amplitude", MAP_REQUIRED, 0, 1, &synth->amplitude[i]);
        if (!map_required(&one, "peak") || clock_of(map_node(&one, "peak"), &synth->peak[i], day->err) < 0)
            return;
        map_time(&one, "period", MAP_DEFAULT("24h", "a day"), &synth->period[i]);
        if (map_close(&one) < 0)
            return;
        if (synth->period[i] < SIM_MINUTE || SIM_DAY % synth->period[i] != 0) {
            node_error(node_at(list, i), day->err,
                       "a \"period\" is a whole part of a day, such as 24h, 12h, 8h");
            return;
        }
        sum += synth->amplitude[i];
    }
    if (sum > 1) {
        node_error(list, day->err, "amplitudes add up to %g: the rate could fall below 0; at most 1", sum);
        return;
    }
    synth->harmonics = (int)node_count(list);
}

static void shapes_parse(struct map *map, struct synth *synth)
{
    struct map day;
    const struct node *week;

    if (map_has(map, "day") && map_open_child(&day, map, "day")) {
        if (map_has(&day, "points"))
            points_parse(&day, synth);
        else if (map_has(&day, "harmonics"))
            harmonics_parse(&day, synth);
        else
            node_error(map_node(map, "day"), map->err, "a day's shape has \"points\" or \"harmonics\"");
        map_close(&day);
    }
    week = map_node(map, "week");
    if (!week || map_failed(map))
        return;
    if (node_kind(week) != NODE_SEQUENCE || node_count(week) != 7) {
        node_error(week, map->err, "\"week\" is a list of seven factors, Monday first");
        return;
    }
    synth->weekly = true;
    for (size_t i = 0; i < 7; i++)
        if (number_of(node_at(week, i), 0, 1e6, &synth->week[i], map->err) < 0)
            return;
}

static void event_parse(const struct node *node, struct event *event, struct error *err)
{
    struct map map;
    const char *name;
    bool announced;

    map_open(&map, node, err);
    map_string(&map, "name", MAP_DEFAULT("", "no name"), &name);
    map_time(&map, "at", MAP_REQUIRED, &event->at);
    map_time(&map, "ramp", MAP_DEFAULT("0s", "a step"), &event->ramp);
    map_time(&map, "hold", MAP_DEFAULT("0s", "no plateau"), &event->hold);
    map_time(&map, "decay", MAP_DEFAULT("0s", "a step"), &event->decay);
    map_bool(&map, "announced", MAP_DEFAULT("false", "policies learn of it as it happens"), &announced);
    if (map_has(&map, "add") == map_has(&map, "times") && !map_failed(&map)) {
        node_error(node, err,
                   "an event either adds a rate (\"add\": \"50/s\") or multiplies it (\"times\": 3)");
        return;
    }
    if (map_has(&map, "add")) {
        map_rate(&map, "add", MAP_REQUIRED, &event->add);
    } else if (map_number(&map, "times", MAP_REQUIRED, 0, 1e6, &event->times)) {
        event->times -= 1;
    }
    map_close(&map);
}

static int synth_read(struct map *map, struct synth *synth)
{
    static const char *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};
    const struct node *events;
    int weekday = 0;
    sim_time clock = 0;

    map_rate(map, "rate", MAP_REQUIRED, &synth->base);
    if (map_has(map, "start") && !map_failed(map) && clock_of(map_node(map, "start"), &clock, map->err) < 0)
        return -1;
    map_choice(map, "weekday", MAP_DEFAULT("mon", "the week begins on Monday (ISO 8601)"), days, &weekday);
    synth->start = weekday * SIM_DAY + clock;
    shapes_parse(map, synth);
    events = map_node(map, "events");
    if (events && !map_failed(map)) {
        if (node_kind(events) != NODE_SEQUENCE || node_count(events) > EVENTS)
            return node_error(events, map->err, "\"events\" is a list of at most %d", (int)EVENTS);
        for (size_t i = 0; i < node_count(events) && !map_failed(map); i++)
            event_parse(node_at(events, i), &synth->event[synth->events++], map->err);
    }
    return map_failed(map) ? -1 : 0;
}

/* ---- the curve ---- */

static double day_factor(const struct synth *synth, sim_time clock)
{
    double factor = 1;

    if (synth->points > 0) {
        int next = 0;
        sim_time before, after;
        double low, high;

        while (next < synth->points && synth->point_at[next] <= clock)
            next++;
        before = synth->point_at[(next + synth->points - 1) % synth->points] - (next == 0 ? SIM_DAY : 0);
        after = synth->point_at[next % synth->points] + (next == synth->points ? SIM_DAY : 0);
        low = synth->point_factor[(next + synth->points - 1) % synth->points];
        high = synth->point_factor[next % synth->points];
        return low + (high - low) * ((double)(clock - before) / (double)(after - before));
    }
    for (int i = 0; i < synth->harmonics; i++)
        factor += synth->amplitude[i] *
                  cos(2 * M_PI * (double)(clock - synth->peak[i]) / (double)synth->period[i]);
    return factor > 0 ? factor : 0;
}

/* Height of an event, 0..1, at t seen from inside [.., before the corner) or after it. */
static double height(const struct event *e, sim_time t, bool after)
{
    sim_time top = e->at + e->ramp, fall = top + e->hold, end = fall + e->decay;

    if (t < e->at || (t == e->at && !after))
        return 0;
    if (t > end || (t == end && after))
        return 0;
    if (t < top)
        return (double)(t - e->at) / (double)e->ramp;
    if (t < fall || (t == fall && (!after || e->decay > 0)))
        return 1;
    return e->decay > 0 ? (double)(end - t) / (double)e->decay : 0;
}

/* after: the limit from the right; else from the left. They differ where the curve jumps. */
static double rate_at(const struct synth *synth, sim_time t, bool after)
{
    sim_time clock = synth->start + t;
    double rate = synth->base * day_factor(synth, clock % SIM_DAY), add = 0;

    if (synth->weekly)
        rate *= synth->week[(after ? clock : clock - 1) / SIM_DAY % 7];
    for (int i = 0; i < synth->events; i++) {
        double h = height(&synth->event[i], t, after);

        rate *= 1 + synth->event[i].times * h;
        add += synth->event[i].add * h;
    }
    return rate + add;
}

struct cuts {
    sim_time *at;
    size_t count, room;
};

static int cut(struct cuts *cuts, sim_time t, sim_time duration, struct error *err)
{
    if (t <= 0 || t >= duration)
        return 0;
    if (cuts->count == cuts->room) {
        size_t room = cuts->room ? 2 * cuts->room : 256;
        sim_time *at = realloc(cuts->at, room * sizeof *at);

        if (!at)
            return error_memory(err, "traffic");
        cuts->at = at;
        cuts->room = room;
    }
    cuts->at[cuts->count++] = t;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

static int cuts_make(const struct synth *synth, sim_time duration, struct cuts *cuts, struct error *err)
{
    bool bends = synth->harmonics > 0;

    for (sim_time day = -(synth->start % SIM_DAY); day < duration; day += SIM_DAY) {
        if (cut(cuts, day, duration, err) < 0)
            return -1;
        for (int i = 0; i < synth->points; i++)
            if (cut(cuts, day + synth->point_at[i], duration, err) < 0)
                return -1;
    }
    for (int i = 0; i < synth->events; i++) {
        const struct event *e = &synth->event[i];
        sim_time corners[] = {e->at, e->at + e->ramp, e->at + e->ramp + e->hold,
                              e->at + e->ramp + e->hold + e->decay};

        bends = bends || e->times != 0; /* a product of straight lines is no straight line */
        for (int k = 0; k < 4; k++)
            if (cut(cuts, corners[k], duration, err) < 0)
                return -1;
    }
    for (sim_time t = SIM_MINUTE; bends && t < duration; t += SIM_MINUTE)
        if (cut(cuts, t, duration, err) < 0)
            return -1;
    if (cuts->count > 1)
        qsort(cuts->at, cuts->count, sizeof *cuts->at, ascending);
    return 0;
}

static int curve_make(const struct synth *synth, struct traffic *traffic, struct error *err)
{
    struct cuts cuts = {0};
    sim_time from = 0;
    int result = cuts_make(synth, traffic->duration, &cuts, err);

    for (size_t i = 0; result == 0 && i <= cuts.count; i++) {
        sim_time to = i < cuts.count ? cuts.at[i] : traffic->duration;

        if (to == from)
            continue;
        result = rate_curve_add(&traffic->curve, from, to, rate_at(synth, from, true),
                                rate_at(synth, to, false), err);
        from = to;
    }
    free(cuts.at);
    return result;
}

int synth_parse(const struct node *node, struct traffic *traffic, struct error *err)
{
    struct synth *synth = calloc(1, sizeof *synth);
    struct map map;
    int result = -1;

    if (!synth)
        return error_memory(err, "traffic");
    traffic->source = TRAFFIC_PROCESS;
    map_open(&map, node, err);
    if (synth_read(&map, synth) == 0 && arrivals_config_parse(&map, &traffic->process) &&
        sizes_parse(&map, &traffic->sizes) == 0 && map_close(&map) == 0)
        result = curve_make(synth, traffic, err);
    if (result == 0)
        sizes_mean(&traffic->sizes, &traffic->mean);
    free(synth);
    return result;
}
