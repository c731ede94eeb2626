#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/cost/cost.h"

/* Bills worked out by hand. Money in millionths: 1.00 is 1,000,000. */

#define H SIM_HOUR
#define M SIM_MINUTE
#define S SIM_SECOND

static const char *const a100[] = {"a100-8"};
static const char *const both[] = {"a100-8", "l4"};

static struct document *doc;

/* The list borrows its currency from the document, which lives until the next read. */
static int parse(const char *text, const char *const *types, int32_t count, struct price_list *list,
                 struct error *err)
{
    document_free(doc);
    doc = NULL;
    if (document_read_text(text, strlen(text), "test", &doc, err) < 0)
        fail_msg("%s: %s", err->place, err->message);
    return price_list_parse(document_root(doc), types, count, list, err);
}

static int teardown(void **state)
{
    (void)state;
    document_free(doc);
    doc = NULL;
    return 0;
}

static struct price_list prices(const char *text, const char *const *types, int32_t count)
{
    struct error err = {.code = ERROR_NONE};
    struct price_list list;

    if (parse(text, types, count, &list, &err) < 0)
        fail_msg("%s: %s", err.place, err.message);
    return list;
}

static struct bill billed(const struct price_list *list, int32_t type, const struct node_time *nodes,
                          int32_t count, sim_time from, sim_time to, int32_t gpus)
{
    struct error err = {.code = ERROR_NONE};
    struct bill bill = {0};

    assert_int_equal(price_bill(list, type, nodes, count, from, to, gpus, 0, &bill, &err), 0);
    return bill;
}

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-12 * fabs(expected));
}

/* ---- billing ---- */

static void test_node_hours(void **state)
{
    struct price_list list = prices(
        "{\"currency\": \"EUR\", \"a100-8\": {\"on_demand\": 32.77, \"per\": \"node-hour\"}}", a100, 1);
    const struct node_time nodes[] = {{0, SIM_NEVER}, {2 * H, 5 * H}};
    struct bill bill = billed(&list, 0, nodes, 2, 0, 10 * H, 8);

    (void)state;
    assert_string_equal(list.currency, "EUR");
    assert_true(list.given);
    assert_int_equal(bill.micro, 13 * 32770000); /* 10 h and 3 h */
    assert_true(bill.gpu_ns == (__int128)13 * 8 * H);
    price_list_free(&list);
}

static void test_gpu_hours(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 4.0963, \"per\": \"gpu-hour\"}}", a100, 1);
    const struct node_time node = {0, 90 * M};
    struct bill bill = billed(&list, 0, &node, 1, 0, 10 * H, 8);

    (void)state;
    assert_string_equal(list.currency, "USD");
    assert_int_equal(bill.micro, 49155600); /* 8 x 1.5 x 4.0963 = 49.1556 */
    assert_true(bill.gpu_ns == (__int128)12 * H);
    price_list_free(&list);
}

/* Steps of an hour: 61 minutes are two hours. A minimum of ten minutes: 2 minutes are ten, rounded up to an
 * hour by the steps. */
static void test_granularity_and_minimum(void **state)
{
    struct price_list hourly = prices(
        "{\"a100-8\": {\"on_demand\": 10, \"granularity\": \"1h\", \"minimum\": \"10m\"}}", a100, 1);
    const struct node_price by_second = {.granularity = S, .minimum = 60 * S};
    struct node_time node = {0, 61 * M};

    (void)state;
    assert_int_equal(billed(&hourly, 0, &node, 1, 0, 10 * H, 8).micro, 20000000);
    node.terminated = 60 * M;
    assert_int_equal(billed(&hourly, 0, &node, 1, 0, 10 * H, 8).micro, 10000000);
    node.terminated = 2 * M;
    assert_int_equal(billed(&hourly, 0, &node, 1, 0, 10 * H, 8).micro, 10000000);
    price_list_free(&hourly);

    assert_int_equal(price_paid_time(&by_second, 0), 60 * S);
    assert_int_equal(price_paid_time(&by_second, 59 * S), 60 * S);
    assert_int_equal(price_paid_time(&by_second, 60 * S), 60 * S);
    assert_int_equal(price_paid_time(&by_second, 60 * S + 1), 61 * S);
    assert_int_equal(price_paid_time(&by_second, 61 * S), 61 * S);
}

/* The default is by the second with a minute at least: 90.5 s at 3.60 an hour are 91 s at 0.1 ct. */
static void test_default_steps(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 3.60}}", a100, 1);
    struct node_time node = {100 * S, 100 * S + 90 * S + 500 * SIM_MILLISECOND};

    (void)state;
    assert_int_equal(billed(&list, 0, &node, 1, 0, H, 8).micro, 91000);
    node.terminated = 101 * S;
    assert_int_equal(billed(&list, 0, &node, 1, 0, H, 8).micro, 60000);
    price_list_free(&list);
}

/* From 1 h to 3 h, at 10 an hour, in steps of an hour. */
static void test_window(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 10, \"granularity\": \"1h\"}}", a100, 1);
    static const struct {
        struct node_time node;
        int64_t micro;
    } cases[] = {
        {{0, SIM_NEVER}, 20000000},      /* all of it */
        {{0, 2 * H}, 10000000},          /* half of it */
        {{0, 30 * M}, 0},                /* paid to 1 h: before it */
        {{0, 90 * M}, 10000000},         /* paid to 2 h */
        {{30 * M, 40 * M}, 5000000},     /* paid to 1.5 h: half an hour of that is inside */
        {{150 * M, 160 * M}, 5000000},   /* paid to 3.5 h */
        {{150 * M, SIM_NEVER}, 5000000}, /* runs on */
        {{3 * H, SIM_NEVER}, 0},         /* after it */
        {{0, 20 * H}, 20000000},         /* terminated after it */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(billed(&list, 0, &cases[i].node, 1, H, 3 * H, 8).micro, cases[i].micro);
    price_list_free(&list);
}

/* Adjoining windows add up, whatever the steps and the minimum do. */
static void test_windows_add_up(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 36, \"granularity\": \"7m\", \"minimum\": "
                                    "\"20m\", \"reserved\": 1, \"reserved_price\": 18}}",
                                    a100, 1);
    const struct node_time nodes[] = {
        {0, 100 * S}, {50 * S, 3000 * S}, {4000 * S, 4001 * S}, {900 * S, SIM_NEVER}};
    struct bill whole = billed(&list, 0, nodes, 4, 0, 2 * H, 8), parts = {0};
    struct error err = {.code = ERROR_NONE};

    (void)state;
    for (sim_time from = 0; from < 2 * H; from += 100 * S)
        assert_int_equal(price_bill(&list, 0, nodes, 4, from, from + 100 * S, 8, 0, &parts, &err), 0);
    assert_true(parts.gpu_ns == whole.gpu_ns);
    assert_int_equal(parts.micro, whole.micro); /* 36 an hour is 1 ct a second: nothing is rounded */
    price_list_free(&list);
}

/* Two are reserved at 6 an hour, the others cost 10. Held: 1 for 2 h, 3 for 4 h, 2 for 4 h. Over 10 h: 2 x 10
 * h x 6 + 4 h x 10. */
static void test_reserved(void **state)
{
    struct price_list list = prices(
        "{\"a100-8\": {\"on_demand\": 10, \"minimum\": \"0\", \"reserved\": 2, \"reserved_price\": 6}}", a100,
        1);
    const struct node_time nodes[] = {{0, 6 * H}, {2 * H, SIM_NEVER}, {2 * H, SIM_NEVER}};
    struct bill bill = billed(&list, 0, nodes, 3, 0, 10 * H, 8);

    (void)state;
    assert_int_equal(bill.micro, 160000000);
    assert_true(bill.gpu_ns == (__int128)24 * 8 * H);
    bill = billed(&list, 0, NULL, 0, 0, 10 * H, 8); /* paid though nobody runs */
    assert_int_equal(bill.micro, 120000000);
    assert_true(bill.gpu_ns == (__int128)20 * 8 * H);
    price_list_free(&list);
}

static void test_bound_gpus_only(void **state)
{
    struct price_list list = prices(
        "{\"a100-8\": {\"on_demand\": 10}, \"l4\": {\"on_demand\": 0.8, \"per\": \"gpu-hour\", \"bill\": "
        "\"bound\"}}",
        both, 2);
    const struct node_time node = {0, SIM_NEVER};
    struct error err = {.code = ERROR_NONE};
    struct bill bill = {0};

    (void)state;
    assert_int_equal(price_bill(&list, 1, &node, 1, 0, 10 * H, 4, (__int128)15 * H, &bill, &err), 0);
    assert_int_equal(bill.micro, 12000000);
    assert_true(bill.gpu_ns == (__int128)15 * H);
    assert_int_equal(price_bill(&list, 0, &node, 1, 0, 10 * H, 8, (__int128)15 * H, &bill, &err),
                     0); /* adds to it */
    assert_int_equal(bill.micro, 112000000);
    assert_true(bill.gpu_ns == (__int128)95 * H);
    price_list_free(&list);
}

/* Without prices, cost is GPU-hours. */
static void test_no_prices(void **state)
{
    struct error err = {.code = ERROR_NONE};
    const struct node_time nodes[] = {{0, 90 * M}, {0, 1}};
    struct price_list list;
    struct bill bill;

    (void)state;
    assert_int_equal(price_list_parse(NULL, both, 2, &list, &err), 0);
    assert_string_equal(list.currency, "GPU-h");
    assert_false(list.given);
    bill = billed(&list, 0, nodes, 2, 0, 10 * H, 8);
    assert_int_equal(bill.micro, 12000000); /* 1.5 h of 8 GPUs; a nanosecond is not rounded up to anything */
    assert_true(bill.gpu_ns == (__int128)8 * (90 * M + 1));
    assert_near(price_rate_per_hour(&list, 0, 3, 8, 5), 24);
    price_list_free(&list);
}

/* A millionth is rounded once for all nodes of a type: a thousand nodes for 1 s at 0.001 an hour are
 * 0.000278, not 1,000 x 0. */
static void test_rounded_once(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 0.001, \"minimum\": \"0\"}}", a100, 1);
    static struct node_time nodes[1000];

    (void)state;
    for (int i = 0; i < 1000; i++)
        nodes[i] = (struct node_time){0, S};
    assert_int_equal(billed(&list, 0, nodes, 1000, 0, H, 8).micro, 278);
    price_list_free(&list);
}

/* Ten thousand of the dearest nodes for a hundred years: more than int64 millionths; it stays at the largest.
 */
static void test_too_much_money(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 100000, \"per\": \"gpu-hour\"}}", a100, 1);
    static struct node_time nodes[10000];

    (void)state;
    for (int i = 0; i < 10000; i++)
        nodes[i] = (struct node_time){0, SIM_NEVER};
    assert_int_equal(billed(&list, 0, nodes, 10000, 0, SIM_TIME_LIMIT, 64).micro, INT64_MAX);
    price_list_free(&list);
}

static void test_rate(void **state)
{
    struct price_list list = prices("{\"a100-8\": {\"on_demand\": 10, \"reserved\": 2, \"reserved_price\": "
                                    "6}, \"l4\": {\"on_demand\": 0.5, \"per\": "
                                    "\"gpu-hour\", \"bill\": \"bound\"}}",
                                    both, 2);

    (void)state;
    assert_near(price_rate_per_hour(&list, 0, 0, 8, 0), 12);
    assert_near(price_rate_per_hour(&list, 0, 2, 8, 16), 12);
    assert_near(price_rate_per_hour(&list, 0, 5, 8, 0), 42);
    assert_near(price_rate_per_hour(&list, 1, 5, 4, 3), 1.5);
    price_list_free(&list);
}

/* ---- the parser ---- */

static void test_refused(void **state)
{
    static const char *const texts[][2] = {
        {"{\"currency\": \"USD\", \"a100-8\": {\"on_demand\": 1}}", "node type \"l4\" has no price"},
        {"{\"a100-8\": {\"on_demand\": 1}, \"l4\": {\"on_demand\": 1}, \"l5\": {\"on_demand\": 1}}",
         "did you mean \"l4\""},
        {"{\"a100-8\": {\"on_demand\": 1}, \"l4\": {}}", "on_demand"},
        {"{\"a100-8\": {\"on_demand\": -1}, \"l4\": {\"on_demand\": 1}}", "on_demand"},
        {"{\"a100-8\": {\"on_demand\": 1, \"per\": \"month\"}, \"l4\": {\"on_demand\": 1}}", "gpu-hour"},
        {"{\"a100-8\": {\"on_demand\": 1, \"bill\": \"bound\"}, \"l4\": {\"on_demand\": 1}}",
         "\"per\": \"gpu-hour\""},
        {"{\"a100-8\": {\"on_demand\": 1, \"per\": \"gpu-hour\", \"bill\": \"bound\", \"minimum\": \"1m\"}, "
         "\"l4\": {\"on_demand\": 1}}",
         "minimum"},
        {"{\"a100-8\": {\"on_demand\": 1, \"per\": \"gpu-hour\", \"bill\": \"bound\", \"reserved\": 1, "
         "\"reserved_price\": 1}, \"l4\": "
         "{\"on_demand\": 1}}",
         "give one of the two"},
        {"{\"a100-8\": {\"on_demand\": 1, \"reserved\": 1}, \"l4\": {\"on_demand\": 1}}", "reserved_price"},
        {"{\"a100-8\": {\"on_demand\": 1, \"reserved_price\": 1}, \"l4\": {\"on_demand\": 1}}",
         "needs \"reserved\""},
        {"{\"a100-8\": {\"on_demand\": 1, \"granularity\": \"0\"}, \"l4\": {\"on_demand\": 1}}",
         "granularity"},
        {"{\"currency\": \"\", \"a100-8\": {\"on_demand\": 1}, \"l4\": {\"on_demand\": 1}}", "currency"},
        {"{\"currency\": \"far too long a name\", \"a100-8\": {\"on_demand\": 1}, \"l4\": {\"on_demand\": "
         "1}}",
         "currency"},
        {"[]", "map"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error err = {.code = ERROR_NONE};
        struct price_list list;

        assert_int_equal(parse(texts[i][0], both, 2, &list, &err), -1);
        assert_int_equal(err.code, ERROR_INPUT);
        assert_null(list.types);
        if (!strstr(err.message, texts[i][1]) && !strstr(err.place, texts[i][1]))
            fail_msg("%s: \"%s: %s\" does not say %s", texts[i][0], err.place, err.message, texts[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_hours),
        cmocka_unit_test(test_gpu_hours),
        cmocka_unit_test(test_granularity_and_minimum),
        cmocka_unit_test(test_default_steps),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_windows_add_up),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_bound_gpus_only),
        cmocka_unit_test(test_no_prices),
        cmocka_unit_test(test_rounded_once),
        cmocka_unit_test(test_too_much_money),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, teardown);
}
