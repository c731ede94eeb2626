#include "models/cost/cost.h"

#include <stdlib.h>

/* Money is rate x time / hour: rates in millionths, times in nanoseconds, rounded once at the end. */

static const int64_t HOUR_NS = SIM_HOUR;

sim_time price_paid_time(const struct node_price *price, sim_time life)
{
    sim_time paid = life > price->minimum ? life : price->minimum;
    sim_time over = price->granularity > 0 ? paid % price->granularity : 0;

    if (over)
        paid += price->granularity - over;
    return paid;
}

/* unit_ns of node-time or GPU-time at a rate. Halves up; the most that int64 holds where it does not fit. */
static int64_t money(__int128 unit_ns, int64_t rate_micro)
{
    __int128 micro = (unit_ns * rate_micro + HOUR_NS / 2) / HOUR_NS;

    return micro > INT64_MAX ? INT64_MAX : (int64_t)micro;
}

static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int by_time(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

/* The part of [launched, launched + paid) that lies in the window; false: none. A node that still runs at the
 * window's end is paid to it. */
static bool paid_part(const struct node_price *price, const struct node_time *node, sim_time from,
                      sim_time to, sim_time *begin, sim_time *end)
{
    *begin = node->launched > from ? node->launched : from;
    *end = to;
    if (node->terminated < to) {
        sim_time stop = node->launched + price_paid_time(price, node->terminated - node->launched);

        *end = stop < to ? stop : to;
    }
    return *begin < *end;
}

/* Node-time beyond `reserved` nodes at a time: the integral of max(0, nodes - reserved). */
static __int128 beyond(const sim_time *begins, const sim_time *ends, int32_t count, int32_t reserved)
{
    __int128 sum = 0;
    int32_t nodes = 0;
    sim_time since = 0;

    for (int32_t b = 0, e = 0; e < count;) {
        bool beginning = b < count && begins[b] <= ends[e];
        sim_time at = beginning ? begins[b] : ends[e];

        if (nodes > reserved)
            sum += (__int128)(nodes - reserved) * (at - since);
        since = at;
        if (beginning) {
            nodes++;
            b++;
        } else {
            nodes--;
            e++;
        }
    }
    return sum;
}

int price_bill(const struct price_list *list, int32_t type, const struct node_time *nodes, int32_t count,
               sim_time from, sim_time to, int32_t gpus, __int128 bound_gpu_ns, struct bill *bill,
               struct error *err)
{
    const struct node_price *price = &list->types[type];
    int32_t factor = price->per_gpu ? gpus : 1, paid = 0;
    __int128 elastic_ns, reserved_ns;
    sim_time *begins, *ends;

    if (to <= from)
        return 0;
    if (price->bound_only) {
        bill->micro = add(bill->micro, money(bound_gpu_ns, price->rate_micro));
        bill->gpu_ns += bound_gpu_ns;
        return 0;
    }
    begins = malloc(2 * (size_t)(count > 0 ? count : 1) * sizeof *begins);
    if (!begins)
        return error_memory(err, "prices");
    ends = begins + count;
    for (int32_t i = 0; i < count; i++)
        if (paid_part(price, &nodes[i], from, to, &begins[paid], &ends[paid]))
            paid++;
    qsort(begins, (size_t)paid, sizeof *begins, by_time);
    qsort(ends, (size_t)paid, sizeof *ends, by_time);
    elastic_ns = beyond(begins, ends, paid, price->reserved);
    free(begins);
    reserved_ns = (__int128)price->reserved * (to - from);
    bill->micro = add(bill->micro, money(elastic_ns * factor, price->rate_micro));
    bill->micro = add(bill->micro, money(reserved_ns * factor, price->reserved_rate_micro));
    bill->gpu_ns += (elastic_ns + reserved_ns) * gpus;
    return 0;
}

double price_rate_per_hour(const struct price_list *list, int32_t type, int32_t nodes, int32_t gpus,
                           int32_t bound_gpus)
{
    const struct node_price *price = &list->types[type];
    double factor = price->per_gpu ? gpus : 1;

    if (price->bound_only)
        return bound_gpus * (double)price->rate_micro / 1e6;
    if (nodes > price->reserved)
        nodes -= price->reserved;
    else
        nodes = 0;
    return factor *
           (nodes * (double)price->rate_micro + price->reserved * (double)price->reserved_rate_micro) / 1e6;
}
