#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/engine/gauge.h"

static void assert_exactly(double got, double expected)
{
    assert_true(got >= expected && got <= expected);
}

/* 2 for 3 s, 5 for 2 s, 0 for 4 s, 1 for 1 s: 6 + 10 + 0 + 1 = 17 value-seconds over 10 s. */
static void integral_of_steps(void **state)
{
    struct gauge g;

    (void)state;
    gauge_init(&g, 0, 2);
    gauge_set(&g, 3 * SIM_SECOND, 5);
    gauge_add(&g, 5 * SIM_SECOND, -5);
    gauge_add(&g, 9 * SIM_SECOND, 1);
    assert_true(gauge_integral(&g, 10 * SIM_SECOND) == (__int128)17 * SIM_SECOND);
    assert_exactly(gauge_integral_seconds(&g, 10 * SIM_SECOND), 17.0);
    assert_exactly(gauge_mean(&g, 10 * SIM_SECOND), 1.7);
    assert_int_equal(g.value, 1);
    assert_int_equal(g.low, 0);
    assert_int_equal(g.high, 5);
}

/* Changes at one and the same instant have no width, but count for low and high. */
static void steps_without_width(void **state)
{
    struct gauge g;

    (void)state;
    gauge_init(&g, 7, 1);
    gauge_set(&g, 9, 100);
    gauge_set(&g, 9, -100);
    gauge_set(&g, 9, 1);
    assert_true(gauge_integral(&g, 11) == 4);
    assert_int_equal(g.low, -100);
    assert_int_equal(g.high, 100);
    assert_exactly(gauge_mean(&g, 11), 1.0);
}

static void restart_forgets_the_past_only(void **state)
{
    struct gauge g;

    (void)state;
    gauge_init(&g, 0, 9);
    gauge_set(&g, 10, 3);
    gauge_restart(&g, 20);
    assert_true(gauge_integral(&g, 20) == 0);
    assert_exactly(gauge_mean(&g, 20), 3.0); /* no time has passed: the value */
    assert_int_equal(g.low, 3);
    assert_int_equal(g.high, 3);
    gauge_set(&g, 25, 4); /* 3 x 5 + 4 x 5 = 35 over 10 ns */
    assert_true(gauge_integral(&g, 30) == 35);
    assert_exactly(gauge_mean(&g, 30), 3.5);
}

/* 10^6 replicas for 100 years are 3.2 x 10^24 value x ns: beyond 64 bits, exact all the same. The halves add
 * up. */
static void integral_beyond_64_bits(void **state)
{
    struct gauge g;
    __int128 expected = (__int128)1000000 * SIM_TIME_LIMIT;

    (void)state;
    gauge_init(&g, 0, 1000000);
    assert_true(gauge_integral(&g, SIM_TIME_LIMIT) == expected);
    gauge_set(&g, SIM_TIME_LIMIT / 3, 1000000);
    gauge_add(&g, SIM_TIME_LIMIT / 2 + 1, 0);
    assert_true(gauge_integral(&g, SIM_TIME_LIMIT) == expected);
    assert_true(expected > (__int128)INT64_MAX);
}

static void reading_does_not_change(void **state)
{
    struct gauge g;

    (void)state;
    gauge_init(&g, 5, 2);
    assert_true(gauge_integral(&g, 8) == 6);
    assert_true(gauge_integral(&g, 8) == 6);
    assert_true(gauge_integral(&g, 6) == 2);
    assert_int_equal(g.since, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integral_of_steps),
        cmocka_unit_test(steps_without_width),
        cmocka_unit_test(restart_forgets_the_past_only),
        cmocka_unit_test(integral_beyond_64_bits),
        cmocka_unit_test(reading_does_not_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
