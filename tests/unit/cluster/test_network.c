#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/cluster/network.h"
#include "sim/engine/random.h"

/* Schedules worked out by hand, the definition of max-min fairness, and processor sharing as an oracle. */

#define MB  ((int64_t)1000000)
#define GIB ((int64_t)1 << 30)

static struct network *make(void)
{
    struct error err = {.code = ERROR_NONE};
    struct network *network = network_create(&err);

    assert_non_null(network);
    return network;
}

static int link_of(struct network *network, double rate)
{
    struct error err = {.code = ERROR_NONE};
    int link = network_add_link(network, rate, &err);

    assert_true(link >= 0);
    return link;
}

static int32_t go(struct network *network, sim_time now, int64_t bytes, int first, int second, double ceiling,
                  uint64_t owner)
{
    struct error err = {.code = ERROR_NONE};
    int links[2] = {first, second};
    int32_t transfer = network_start(network, now, bytes, links, second < 0 ? 1 : 2, ceiling, owner, &err);

    assert_true(transfer >= 0);
    return transfer;
}

/* The next end is this one's, then. */
static void ends(struct network *network, sim_time at, uint64_t expected)
{
    uint64_t owner = UINT64_MAX;

    assert_int_equal(network_next(network), at);
    assert_int_equal(network_advance(network, at, &owner), 1);
    assert_int_equal(owner, expected);
}

static void nothing_left(struct network *network)
{
    uint64_t owner;

    assert_int_equal(network_next(network), SIM_NEVER);
    assert_int_equal(network_advance(network, 1000 * SIM_DAY, &owner), 0);
    network_free(network);
}

static void test_alone(void **state)
{
    struct network *network = make();
    int link = link_of(network, 2.0 * (double)GIB);

    (void)state;
    go(network, 7, 10 * GIB, link, -1, INFINITY, 1);
    assert_int_equal(network_busy(network, link), 1);
    ends(network, 7 + 5 * SIM_SECOND, 1);
    assert_int_equal(network_busy(network, link), 0);
    nothing_left(network);
}

/* A hundred pull 20 GiB through one registry link: a hundred times the time of one, to the nanosecond, in
 * order. */
static void test_hundred_pulls(void **state)
{
    struct network *network = make();
    int registry = link_of(network, 2.0 * (double)GIB);

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        go(network, 0, 20 * GIB, registry, link_of(network, INFINITY), INFINITY, i);
    }
    for (uint64_t i = 0; i < 100; i++)
        ends(network, 100 * 10 * SIM_SECOND, i);
    nothing_left(network);
}

/* As Bertsekas and Gallager's example: three cross the narrow link and share it, the fourth has the rest of
 * the wide one. */
static void test_two_links(void **state)
{
    struct network *network = make();
    int wide = link_of(network, 1000e6), narrow = link_of(network, 300e6);
    int32_t a = go(network, 0, 900 * MB, wide, -1, INFINITY, 1);
    int32_t b = go(network, 0, 50 * MB, wide, narrow, INFINITY, 2);
    int32_t c = go(network, 0, 200 * MB, narrow, -1, INFINITY, 3);
    int32_t d = go(network, 0, 500 * MB, narrow, -1, INFINITY, 4);

    (void)state;
    assert_true(network_rate(network, a) == 900e6);
    assert_true(network_rate(network, b) == 100e6);
    assert_true(network_rate(network, c) == 100e6);
    assert_true(network_rate(network, d) == 100e6);
    ends(network, 500 * SIM_MILLISECOND,
         2); /* then a has 450 MB to go at 1000, c 150 MB and d 450 MB at 150 */
    assert_true(network_rate(network, a) == 1000e6);
    assert_true(network_rate(network, c) == 150e6);
    assert_true(network_left(network, 500 * SIM_MILLISECOND, d) == 450e6);
    ends(network, 950 * SIM_MILLISECOND, 1);
    ends(network, 1500 * SIM_MILLISECOND, 3); /* d: 300 MB to go at 300 */
    ends(network, 2500 * SIM_MILLISECOND, 4);
    nothing_left(network);
}

/* Three nodes with slow NICs leave the rest of the registry link to the fourth; a ceiling does the same as a
 * NIC. */
static void test_nic_ceilings(void **state)
{
    (void)state;
    for (int by_ceiling = 0; by_ceiling < 2; by_ceiling++) {
        struct network *network = make();
        int registry = link_of(network, 1000e6);
        int32_t transfers[4];

        for (int i = 0; i < 4; i++) {
            double slow = i < 3 ? 100e6 * (i + 1) : INFINITY; /* 100, 200, 300 */

            if (by_ceiling)
                transfers[i] = go(network, 0, 400 * MB, registry, -1, slow, (uint64_t)i);
            else
                transfers[i] = go(network, 0, 400 * MB, registry, link_of(network, slow), INFINITY,
                                  (uint64_t)i);
        }
        /* 250 each is more than the first two can take: they keep 100 and 200, the others share 700 */
        assert_true(network_rate(network, transfers[0]) == 100e6);
        assert_true(network_rate(network, transfers[1]) == 200e6);
        assert_true(network_rate(network, transfers[2]) == 300e6);
        assert_true(network_rate(network, transfers[3]) == 400e6);
        ends(network, SIM_SECOND, 3);
        ends(network, 1333333334, 2); /* 400 MB at 300 MB/s: 4/3 s, rounded up */
        ends(network, 2 * SIM_SECOND, 1);
        ends(network, 4 * SIM_SECOND, 0);
        nothing_left(network);
    }
}

static void test_cancelled_midway(void **state)
{
    struct network *network = make();
    int link = link_of(network, 100e6);
    int32_t first;

    (void)state;
    first = go(network, 0, 100 * MB, link, -1, INFINITY, 1);
    go(network, 0, 100 * MB, link, -1, INFINITY, 2);
    assert_int_equal(network_next(network), 2 * SIM_SECOND);
    assert_true(network_left(network, SIM_SECOND, first) == 50e6);
    network_cancel(network, SIM_SECOND, first); /* 50 MB each left; the other goes on at the full rate */
    assert_int_equal(network_busy(network, link), 1);
    ends(network, 1500 * SIM_MILLISECOND, 2);
    nothing_left(network);
}

/* One that has ended and has not been fetched yet can be cancelled, too. */
static void test_cancelled_at_its_end(void **state)
{
    struct network *network = make();
    int link = link_of(network, 100e6);
    int32_t first;

    (void)state;
    first = go(network, 0, 100 * MB, link, -1, INFINITY, 1);
    go(network, 0, 100 * MB, link, -1, INFINITY, 2);
    network_cancel(network, 2 * SIM_SECOND, first);
    ends(network, 2 * SIM_SECOND, 2);
    nothing_left(network);
}

/* 100 MB/s. A: 100 MB from 0. B: 100 MB from 0.5 s, when A has 50 MB left: A ends at 1.5 s, when B has 50 MB
 * left: 2 s. C: at 1.75 s, B has 25 MB left and ends at 2.25 s; C has 75 MB left then: 3 s. */
static void test_staggered(void **state)
{
    struct network *network = make();
    int link = link_of(network, 100e6);

    (void)state;
    go(network, 0, 100 * MB, link, -1, INFINITY, 1);
    go(network, 500 * SIM_MILLISECOND, 100 * MB, link, -1, INFINITY, 2);
    ends(network, 1500 * SIM_MILLISECOND, 1);
    go(network, 1750 * SIM_MILLISECOND, 100 * MB, link, -1, INFINITY, 3);
    ends(network, 2250 * SIM_MILLISECOND, 2);
    ends(network, 3 * SIM_SECOND, 3);
    nothing_left(network);
}

/* The same, fetched long after: by the time of their ends, as if somebody had been there. */
static void test_fetched_late(void **state)
{
    struct network *network = make();
    int link = link_of(network, 100e6);
    uint64_t owner;

    (void)state;
    go(network, 0, 300 * MB, link, -1, INFINITY, 1); /* all three together: 350 MB, 3.5 s */
    go(network, 0, 25 * MB, link, -1, INFINITY, 2);  /* a third each: 0.75 s */
    go(network, 0, 25 * MB, link, -1, INFINITY, 3);
    for (uint64_t expected = 2; expected < 4; expected++) {
        assert_int_equal(network_advance(network, 3 * SIM_SECOND, &owner), 1);
        assert_int_equal(owner, expected);
    }
    assert_int_equal(network_advance(network, 3 * SIM_SECOND, &owner), 0);
    ends(network, 3500 * SIM_MILLISECOND, 1);
    nothing_left(network);
}

static void test_rounds_up(void **state)
{
    struct network *network = make();
    int link = link_of(network, 3);

    (void)state;
    go(network, 0, 7, link, -1, INFINITY, 1); /* 7/3 s */
    ends(network, 2333333334, 1);
    go(network, 3 * SIM_SECOND, 3, link, -1, INFINITY, 2); /* 1 s sharp */
    ends(network, 4 * SIM_SECOND, 2);
    nothing_left(network);
}

static void test_nothing_to_send(void **state)
{
    struct network *network = make();
    int link = link_of(network, 100), endless = link_of(network, INFINITY);

    (void)state;
    go(network, 0, 100, link, -1, INFINITY, 1);
    go(network, 500 * SIM_MILLISECOND, 0, link, -1, INFINITY, 2); /* takes nothing from the other */
    ends(network, 500 * SIM_MILLISECOND, 2);
    go(network, 600 * SIM_MILLISECOND, 1000 * GIB, endless, -1, INFINITY, 3);
    ends(network, 600 * SIM_MILLISECOND, 3);
    go(network, 700 * SIM_MILLISECOND, 10, endless, -1, 20, 4); /* nothing but its ceiling */
    ends(network, SIM_SECOND, 1);
    ends(network, 1200 * SIM_MILLISECOND, 4);
    nothing_left(network);
}

/* Zero bytes asked for at the very time at which another ends come after it. */
static void test_order_at_one_time(void **state)
{
    struct network *network = make();
    int a = link_of(network, 100), b = link_of(network, 50);

    (void)state;
    go(network, 0, 50, b, -1, INFINITY, 1);
    go(network, 0, 100, a, -1, INFINITY, 2);
    go(network, SIM_SECOND, 0, a, -1, INFINITY, 3);
    for (uint64_t i = 1; i <= 3; i++)
        ends(network, SIM_SECOND, i);
    nothing_left(network);
}

/* Numbers come back, so that memory does not grow with the number of transfers. */
static void test_numbers_are_recycled(void **state)
{
    struct network *network = make();
    int link = link_of(network, 1e6);
    sim_time now = 0;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        int32_t transfer = go(network, now, 1000, link, -1, INFINITY, i);

        assert_true(transfer < 2);
        now += SIM_MILLISECOND;
        ends(network, now, i);
    }
    nothing_left(network);
}

/* ---- against independent references ---- */

struct job {
    long double finish_level; /* received bytes at which it ends */
    long double end;          /* s */
    bool ended;
};

/* at is the end, in s, rounded up to the nanosecond; the oracle itself is good to a thousandth of one. */
static bool rounded_up(sim_time at, long double end)
{
    long double over = (long double)at - end * 1e9L;

    return over > -1e-3L && over < 1 + 1e-3L;
}

/* One link is processor sharing: everybody inside has received the same number of bytes since any common
 * time. Worked out in long doubles over the sorted ends; the network must agree to 1 ns over 2,000 rate
 * changes. */
static void test_processor_sharing(void **state)
{
    enum { JOBS = 1000 };
    static struct job jobs[JOBS];
    static int64_t bytes[JOBS];
    static sim_time arrivals[JOBS];
    struct error err = {.code = ERROR_NONE};
    struct stream stream;
    struct network *network = make();
    const double rate = 123456789.0;
    int link = link_of(network, rate);
    long double level = 0, now = 0;
    sim_time clock = 0;
    int inside = 0, next = 0, ended = 0;

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261204, "network", "test", 0), &err), 0);
    for (int i = 0; i < JOBS; i++) {
        clock += (sim_time)(stream_uniform(&stream) * 2e9);
        arrivals[i] = clock;
        bytes[i] = 1 + (int64_t)(stream_uniform(&stream) * 2.4e8);
    }
    while (ended < JOBS) { /* the oracle */
        int first = -1;
        long double end = INFINITY;

        for (int i = 0; i < next; i++)
            if (!jobs[i].ended && (first < 0 || jobs[i].finish_level < jobs[first].finish_level))
                first = i;
        if (first >= 0)
            end = now + (jobs[first].finish_level - level) * inside / rate;
        if (next < JOBS && (long double)arrivals[next] / 1e9L <= end) {
            if (inside)
                level += ((long double)arrivals[next] / 1e9L - now) * rate / inside;
            now = (long double)arrivals[next] / 1e9L;
            jobs[next] = (struct job){.finish_level = level + bytes[next]};
            next++;
            inside++;
        } else {
            level = jobs[first].finish_level;
            now = end;
            jobs[first].end = end;
            jobs[first].ended = true;
            inside--;
            ended++;
        }
    }
    for (int i = 0; i < JOBS; i++) { /* the network */
        uint64_t owner;

        while (network_next(network) <= arrivals[i]) {
            sim_time at = network_next(network);

            assert_int_equal(network_advance(network, at, &owner), 1);
            assert_true(rounded_up(at, jobs[owner].end));
        }
        go(network, arrivals[i], bytes[i], link, -1, INFINITY, (uint64_t)i);
    }
    for (uint64_t owner; network_next(network) != SIM_NEVER;) {
        sim_time at = network_next(network);

        assert_int_equal(network_advance(network, at, &owner), 1);
        assert_true(rounded_up(at, jobs[owner].end));
    }
    stream_close(&stream);
    nothing_left(network);
}

/* Rates are max-min fair exactly if everybody is at its ceiling, or crosses a link that is full and on which
 * nobody is faster (Bertsekas and Gallager, proposition 6.2). Random networks of 12 links and 60 transfers
 * over 1 to 3 of them. */
static void test_everybody_has_a_bottleneck(void **state)
{
    enum { LINKS = 12, TRANSFERS = 60 };
    struct error err = {.code = ERROR_NONE};
    struct stream stream;

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(20261204, "network", "bottleneck", 0), &err), 0);
    for (int round = 0; round < 50; round++) {
        struct network *network = make();
        double capacity[LINKS], load[LINKS] = {0}, fastest[LINKS] = {0}, ceiling[TRANSFERS];
        int32_t transfers[TRANSFERS];
        int links[TRANSFERS][3], counts[TRANSFERS];

        for (int i = 0; i < LINKS; i++) {
            capacity[i] = 1e6 * (1 + floor(stream_uniform(&stream) * 1000));
            assert_int_equal(link_of(network, capacity[i]), i);
        }
        for (int i = 0; i < TRANSFERS; i++) {
            int start = (int)(stream_uniform(&stream) * LINKS);

            counts[i] = 1 + (int)(stream_uniform(&stream) * 3);
            ceiling[i] = stream_uniform(&stream) < 0.3 ? 1e6 * (1 + stream_uniform(&stream) * 50) : INFINITY;
            for (int k = 0; k < counts[i]; k++)
                links[i][k] = (start + k * 5) % LINKS;
            transfers[i] = network_start(network, 0, 1000 * GIB, links[i], counts[i], ceiling[i], 0, &err);
            assert_true(transfers[i] >= 0);
        }
        for (int i = 0; i < TRANSFERS; i++)
            for (int k = 0; k < counts[i]; k++) {
                load[links[i][k]] += network_rate(network, transfers[i]);
                fastest[links[i][k]] = fmax(fastest[links[i][k]], network_rate(network, transfers[i]));
            }
        for (int i = 0; i < LINKS; i++)
            assert_true(load[i] <= capacity[i] * (1 + 1e-12));
        for (int i = 0; i < TRANSFERS; i++) {
            double rate = network_rate(network, transfers[i]);
            bool held = fabs(rate - ceiling[i]) <= 1e-12 * ceiling[i];

            for (int k = 0; k < counts[i]; k++) {
                int link = links[i][k];

                held = held ||
                       (load[link] >= capacity[link] * (1 - 1e-12) && rate >= fastest[link] * (1 - 1e-12));
            }
            assert_true(rate > 0);
            assert_true(held);
        }
        network_free(network);
    }
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_hundred_pulls),
        cmocka_unit_test(test_two_links),
        cmocka_unit_test(test_nic_ceilings),
        cmocka_unit_test(test_cancelled_midway),
        cmocka_unit_test(test_cancelled_at_its_end),
        cmocka_unit_test(test_staggered),
        cmocka_unit_test(test_fetched_late),
        cmocka_unit_test(test_rounds_up),
        cmocka_unit_test(test_nothing_to_send),
        cmocka_unit_test(test_order_at_one_time),
        cmocka_unit_test(test_numbers_are_recycled),
        cmocka_unit_test(test_processor_sharing),
        cmocka_unit_test(test_everybody_has_a_bottleneck),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
