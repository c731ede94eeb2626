#include "models/traffic/rate_curve.h"

#include <stdlib.h>

int rate_curve_add(struct rate_curve *curve, sim_time from, sim_time to, double first, double last,
                   struct error *err)
{
    double before = 0;

    if (from >= to)
        return 0;
    if (curve->count == curve->room) {
        size_t room = curve->room ? 2 * curve->room : 64;
        struct rate_piece *pieces = realloc(curve->pieces, room * sizeof *pieces);

        if (!pieces)
            return error_memory(err, "traffic");
        curve->pieces = pieces;
        curve->room = room;
    }
    if (curve->count > 0) {
        const struct rate_piece *p = &curve->pieces[curve->count - 1];

        before = p->before + (p->first + p->last) / 2 * sim_time_seconds(p->to - p->from);
    }
    curve->pieces[curve->count++] = (struct rate_piece){from, to, first > 0 ? first : 0, last > 0 ? last : 0,
                                                        before};
    return 0;
}

void rate_curve_free(struct rate_curve *curve)
{
    free(curve->pieces);
    *curve = (struct rate_curve){0};
}

size_t rate_curve_find(const struct rate_curve *curve, sim_time t)
{
    size_t low = 0, high = curve->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (curve->pieces[middle].to <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double rate_in(const struct rate_piece *p, sim_time t)
{
    return p->first + (p->last - p->first) * ((double)(t - p->from) / (double)(p->to - p->from));
}

double rate_curve_at(const struct rate_curve *curve, sim_time t)
{
    size_t i = rate_curve_find(curve, t);

    return i < curve->count && curve->pieces[i].from <= t ? rate_in(&curve->pieces[i], t) : 0;
}

/* Integral up to t. */
static double up_to(const struct rate_curve *curve, sim_time t)
{
    size_t i = rate_curve_find(curve, t);
    const struct rate_piece *p;

    if (curve->count == 0)
        return 0;
    if (i == curve->count) {
        p = &curve->pieces[i - 1];
        return p->before + (p->first + p->last) / 2 * sim_time_seconds(p->to - p->from);
    }
    p = &curve->pieces[i];
    if (t <= p->from)
        return p->before;
    return p->before + (p->first + rate_in(p, t)) / 2 * sim_time_seconds(t - p->from);
}

double rate_curve_integral(const struct rate_curve *curve, sim_time from, sim_time to)
{
    return from < to ? up_to(curve, to) - up_to(curve, from) : 0;
}
