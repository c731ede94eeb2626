#include "models/cluster/network.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * Bytes and rates are whole numbers, so that a schedule does not depend on how often it was recomputed: a
 * unit is 2^-40 of a byte per second times a nanosecond. A rate of 1 byte/s is 2^40 units per nanosecond,
 * exactly, and bytes up to 2^55 stay within 128 bits. Rates are rounded down to whole units, which delays a
 * transfer of a day at 1 MB/s by 8e-5 ns. SLACK makes that good: a transfer has ended when less than 2^-13 ns
 * of it is left.
 *
 * The world sees whole nanoseconds. Inside, a link is free for the others at the very moment at which a
 * transfer ends, known to 2^-32 ns: roundings of earlier ends do not pile up in later ones.
 */
typedef __int128 units;

enum { RATE_BITS = 40, SLACK_BITS = 13, BYTES_BITS = 55, MOMENT_BITS = 32 };
#define UNITS_PER_BYTE ((units)1000000000 << RATE_BITS)

/* No link and no ceiling holds it back. Faster than this, 2^54 bytes/s, is as good as infinite. */
#define FREE ((units)1 << 94)

struct moment {
    sim_time ns;
    uint32_t fraction; /* 2^-32 ns */
};

struct link {
    units capacity;
    int busy; /* transfers under way */
    /* while rates are made: */
    units left;
    int open; /* transfers without a rate yet */
};

enum transfer_state { TRANSFER_UNUSED, TRANSFER_MOVING, TRANSFER_DONE };

struct transfer {
    enum transfer_state state;
    bool open; /* no rate yet, while rates are made */
    int count;
    int links[NETWORK_PATH];
    units left, rate, ceiling;
    uint64_t owner;
    int32_t before, next; /* in its list; next also chains the unused */
};

/* Transfers in the order in which they started (moving) or ended (done). */
struct list {
    int32_t first, last;
};

struct network {
    struct link *links;
    int link_count, link_size;
    struct transfer *transfers;
    int32_t *active; /* links with transfers under way, while rates are made; link_size of them */
    int32_t transfer_count, transfer_size;
    int32_t unused;
    struct list moving, done;
    struct moment at;   /* what is left is as of then */
    struct moment next; /* end of the first moving transfer; ns SIM_NEVER: none ever ends */
};

/* ---- lists ---- */

static void list_append(struct network *network, struct list *list, int32_t index)
{
    struct transfer *transfer = &network->transfers[index];

    transfer->before = list->last;
    transfer->next = -1;
    if (list->last >= 0)
        network->transfers[list->last].next = index;
    else
        list->first = index;
    list->last = index;
}

static void list_remove(struct network *network, struct list *list, int32_t index)
{
    const struct transfer *transfer = &network->transfers[index];

    if (transfer->before >= 0)
        network->transfers[transfer->before].next = transfer->next;
    else
        list->first = transfer->next;
    if (transfer->next >= 0)
        network->transfers[transfer->next].before = transfer->before;
    else
        list->last = transfer->before;
}

static void transfer_release(struct network *network, int32_t index)
{
    network->transfers[index].state = TRANSFER_UNUSED;
    network->transfers[index].next = network->unused;
    network->unused = index;
}

/* ---- rates ---- */

static units rate_units(double bytes_per_s)
{
    units rate;

    if (!(bytes_per_s < 0x1p54))
        return FREE;
    rate = (units)ldexp(bytes_per_s, RATE_BITS);
    return rate > 0 ? rate : 1;
}

/* What a transfer may have left at its end. */
static units slack(units rate)
{
    return (rate >> SLACK_BITS) + 1;
}

/* The level at which the next link fills up or the next ceiling is reached. */
static units next_level(const struct network *network, int32_t active)
{
    units level = FREE;

    for (int32_t i = 0; i < active; i++) {
        const struct link *link = &network->links[network->active[i]];

        if (link->open > 0 && link->capacity < FREE && link->left / link->open < level)
            level = link->left / link->open;
    }
    for (int32_t i = network->moving.first; i >= 0; i = network->transfers[i].next)
        if (network->transfers[i].open && network->transfers[i].ceiling < level)
            level = network->transfers[i].ceiling;
    return level;
}

/* Is the transfer held back at this level? */
static bool fills(const struct network *network, const struct transfer *transfer, units level)
{
    if (transfer->ceiling <= level)
        return true;
    for (int i = 0; i < transfer->count; i++) {
        const struct link *link = &network->links[transfer->links[i]];

        if (link->capacity < FREE && link->left < (level + 1) * link->open)
            return true;
    }
    return level >= FREE;
}

/* Links in use, each once, made ready for filling. */
static int32_t links_open(struct network *network)
{
    int32_t active = 0;

    for (int32_t i = network->moving.first; i >= 0; i = network->transfers[i].next)
        for (int k = 0; k < network->transfers[i].count; k++) {
            struct link *link = &network->links[network->transfers[i].links[k]];

            if (link->open == 0) {
                link->left = link->capacity;
                network->active[active++] = network->transfers[i].links[k];
            }
            link->open++;
        }
    return active;
}

/*
 * Progressive filling (Bertsekas and Gallager, 6.5.2): all rates rise together; those that cross a link that
 * is full, or reach their ceiling, stay where they are, and the others rise on. Which ones stay is found
 * before any of them is taken from its links.
 */
static void rates_make(struct network *network)
{
    int32_t active = links_open(network);
    int32_t open = 0;

    for (int32_t i = network->moving.first; i >= 0; i = network->transfers[i].next) {
        network->transfers[i].open = true;
        open++;
    }
    while (open > 0) {
        units level = next_level(network, active);

        for (int32_t i = network->moving.first; i >= 0; i = network->transfers[i].next) {
            struct transfer *transfer = &network->transfers[i];

            if (transfer->open && fills(network, transfer, level))
                transfer->rate = -1; /* its rate is this level */
        }
        for (int32_t i = network->moving.first; i >= 0; i = network->transfers[i].next) {
            struct transfer *transfer = &network->transfers[i];

            if (transfer->rate >= 0)
                continue;
            transfer->rate = level;
            transfer->open = false;
            open--;
            for (int k = 0; k < transfer->count; k++) {
                struct link *link = &network->links[transfer->links[k]];

                if (link->capacity < FREE)
                    link->left -= level;
                link->open--;
            }
        }
    }
}

/* ---- time ---- */

static bool moment_precedes(struct moment a, struct moment b)
{
    return a.ns < b.ns || (a.ns == b.ns && a.fraction < b.fraction);
}

/* Units that a rate moves between two moments. */
static units moved(units rate, struct moment from, struct moment to)
{
    int64_t fraction = (int64_t)to.fraction - (int64_t)from.fraction;

    return rate * (to.ns - from.ns) + ((rate * fraction) >> MOMENT_BITS);
}

/* When the transfer has ended: rounded up to 2^-32 ns, but within the slack of a whole nanosecond at that. */
static struct moment end_of(const struct transfer *transfer, struct moment at)
{
    units ns = 0, fraction = at.fraction;

    if (transfer->rate < FREE) {
        ns = transfer->left / transfer->rate;
        fraction += (((transfer->left % transfer->rate) << MOMENT_BITS) + transfer->rate - 1) /
                    transfer->rate;
    }
    ns += at.ns + (fraction >> MOMENT_BITS);
    fraction &= ((units)1 << MOMENT_BITS) - 1;
    if (ns >= SIM_NEVER)
        return (struct moment){SIM_NEVER, 0};
    if (fraction >> (MOMENT_BITS - SLACK_BITS) == 0)
        fraction = 0;
    return (struct moment){(sim_time)ns, (uint32_t)fraction};
}

static void next_find(struct network *network)
{
    struct moment next = {SIM_NEVER, 0};
    double soonest = INFINITY;

    for (int32_t i = network->moving.first; i >= 0; i = network->transfers[i].next) {
        const struct transfer *transfer = &network->transfers[i];
        double estimate = (double)transfer->left / (double)transfer->rate;
        struct moment end;

        /* 128-bit divisions only for those that may be the first: the estimate is good to 2^-51. */
        if (estimate > soonest * (1 + 1e-14) + 1)
            continue;
        if (estimate < soonest)
            soonest = estimate;
        end = end_of(transfer, network->at);
        if (moment_precedes(end, next))
            next = end;
    }
    if (moment_precedes(next, network->at)) /* the slack does not turn time back */
        next = network->at;
    network->next = next;
}

static void refresh(struct network *network)
{
    rates_make(network);
    next_find(network);
}

/* Moves all bytes up to a moment that is not past the next end; what ends there goes to the list of the done.
 */
static void settle(struct network *network, struct moment now)
{
    struct moment from = network->at;
    int32_t next;

    network->at = now;
    for (int32_t i = network->moving.first; i >= 0; i = next) {
        struct transfer *transfer = &network->transfers[i];

        next = transfer->next;
        if (transfer->rate >= FREE)
            transfer->left = 0;
        else
            transfer->left -= moved(transfer->rate, from, now);
        if (transfer->left > slack(transfer->rate))
            continue;
        transfer->state = TRANSFER_DONE;
        for (int k = 0; k < transfer->count; k++)
            network->links[transfer->links[k]].busy--;
        list_remove(network, &network->moving, i);
        list_append(network, &network->done, i);
    }
}

static void run_until(struct network *network, sim_time time)
{
    struct moment now = {time, 0};

    while (network->next.ns != SIM_NEVER && !moment_precedes(now, network->next)) {
        settle(network, network->next);
        refresh(network);
    }
    if (moment_precedes(network->at, now))
        settle(network, now);
}

/* ---- the interface ---- */

struct network *network_create(struct error *err)
{
    struct network *network = calloc(1, sizeof *network);

    if (!network) {
        error_memory(err, "network");
        return NULL;
    }
    network->unused = -1;
    network->moving = network->done = (struct list){-1, -1};
    network->next = (struct moment){SIM_NEVER, 0};
    return network;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    free(network->links);
    free(network->active);
    free(network->transfers);
    free(network);
}

int network_add_link(struct network *network, double bytes_per_s, struct error *err)
{
    assert(bytes_per_s > 0);
    if (network->link_count == network->link_size) {
        int size = network->link_size ? 2 * network->link_size : 16;
        struct link *links = realloc(network->links, (size_t)size * sizeof *links);
        int32_t *active;

        if (!links)
            return error_memory(err, "network");
        network->links = links;
        active = realloc(network->active, (size_t)size * sizeof *active);
        if (!active)
            return error_memory(err, "network");
        network->active = active;
        network->link_size = size;
    }
    network->links[network->link_count] = (struct link){.capacity = rate_units(bytes_per_s)};
    return network->link_count++;
}

static int32_t transfer_new(struct network *network, struct error *err)
{
    int32_t index = network->unused;

    if (index >= 0) {
        network->unused = network->transfers[index].next;
        return index;
    }
    if (network->transfer_count == network->transfer_size) {
        int32_t size = network->transfer_size ? 2 * network->transfer_size : 64;
        struct transfer *transfers = realloc(network->transfers, (size_t)size * sizeof *transfers);

        if (!transfers)
            return error_memory(err, "network");
        network->transfers = transfers;
        network->transfer_size = size;
    }
    return network->transfer_count++;
}

int32_t network_start(struct network *network, sim_time now, int64_t bytes, const int *links, int count,
                      double ceiling, uint64_t owner, struct error *err)
{
    int32_t index = transfer_new(network, err);
    struct transfer *transfer;

    if (index < 0)
        return -1;
    assert(bytes >= 0 && count >= 0 && count <= NETWORK_PATH);
    run_until(network, now);
    if (bytes > (int64_t)1 << BYTES_BITS)
        bytes = (int64_t)1 << BYTES_BITS;
    transfer = &network->transfers[index];
    *transfer = (struct transfer){.count = count, .owner = owner, .left = bytes * UNITS_PER_BYTE};
    transfer->ceiling = rate_units(ceiling);
    if (bytes == 0) {
        transfer->state = TRANSFER_DONE;
        list_append(network, &network->done, index);
        return index;
    }
    transfer->state = TRANSFER_MOVING;
    for (int i = 0; i < count; i++) {
        assert(links[i] >= 0 && links[i] < network->link_count);
        transfer->links[i] = links[i];
        network->links[links[i]].busy++;
    }
    list_append(network, &network->moving, index);
    refresh(network);
    return index;
}

void network_cancel(struct network *network, sim_time now, int32_t index)
{
    struct transfer *transfer = &network->transfers[index];

    run_until(network, now);
    assert(transfer->state != TRANSFER_UNUSED);
    if (transfer->state == TRANSFER_DONE) {
        list_remove(network, &network->done, index);
        transfer_release(network, index);
        return;
    }
    for (int k = 0; k < transfer->count; k++)
        network->links[transfer->links[k]].busy--;
    list_remove(network, &network->moving, index);
    transfer_release(network, index);
    refresh(network);
}

sim_time network_next(const struct network *network)
{
    if (network->done.first >= 0)
        return network->at.ns;
    return network->next.ns + (network->next.fraction > 0); /* rounded up */
}

int network_advance(struct network *network, sim_time now, uint64_t *owner)
{
    int32_t index;

    run_until(network, now);
    index = network->done.first;
    if (index < 0)
        return 0;
    *owner = network->transfers[index].owner;
    list_remove(network, &network->done, index);
    transfer_release(network, index);
    return 1;
}

static double rate_bytes(units rate)
{
    return rate >= FREE ? INFINITY : ldexp((double)rate, -RATE_BITS);
}

double network_rate(const struct network *network, int32_t index)
{
    const struct transfer *transfer = &network->transfers[index];

    return transfer->state == TRANSFER_MOVING ? rate_bytes(transfer->rate) : 0;
}

double network_left(const struct network *network, sim_time now, int32_t index)
{
    const struct transfer *transfer = &network->transfers[index];
    units left = transfer->left;

    if (transfer->state != TRANSFER_MOVING || (transfer->rate >= FREE && now > network->at.ns))
        return 0;
    left -= moved(transfer->rate, network->at, (struct moment){now, 0});
    return left > 0 ? (double)left / (double)UNITS_PER_BYTE : 0;
}

int network_busy(const struct network *network, int link)
{
    return network->links[link].busy;
}
