#include <math.h>

#include "tests/unit/io/io_support.h"

/* Getters: values, defaults, ranges, and the sentence a user reads when something is wrong. */

struct reading {
    struct document *doc;
    struct error err;
    struct map map;
};

static struct reading *open_text(const char *text)
{
    struct reading *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->doc = document_of(text, "s.json");
    map_open(&r->map, document_root(r->doc), &r->err);
    return r;
}

static void done(struct reading *r)
{
    document_free(r->doc);
    free(r);
}

/* The error must be this one; then the reading ends. */
static void failed_with(struct reading *r, const char *place, const char *words)
{
    assert_true(map_failed(&r->map));
    assert_int_equal(r->err.code, ERROR_INPUT);
    assert_text(r->err.place, place);
    assert_has(r->err.message, words);
    assert_int_equal(map_close(&r->map), -1);
    done(r);
}

static void values(void **state)
{
    static const char *const names[] = {"hpa", "fixed", NULL};
    struct reading *r = open_text(
        "{\"t\": \"2m30s\", \"s\": \"18Gi\", \"s2\": 5, \"r\": \"7200/min\", \"b\": \"10Gbit/s\",\n"
        " \"n\": -1.5, \"i\": 9007199254740993, \"p\": \"80%\", \"p2\": 0.25, \"f\": false,\n"
        " \"x\": \"text\", \"c\": \"fixed\"}");
    sim_time time;
    int64_t whole;
    double real;
    bool flag;
    const char *text;
    int choice;

    (void)state;
    assert_true(map_time(&r->map, "t", MAP_REQUIRED, &time));
    assert_int_equal(time, 150 * SIM_SECOND);
    assert_true(map_size(&r->map, "s", MAP_REQUIRED, &whole));
    assert_int_equal(whole, INT64_C(18) << 30);
    assert_true(map_size(&r->map, "s2", MAP_REQUIRED, &whole));
    assert_int_equal(whole, 5);
    assert_true(map_rate(&r->map, "r", MAP_REQUIRED, &real));
    assert_true(real == 120);
    assert_true(map_bandwidth(&r->map, "b", MAP_REQUIRED, &real));
    assert_true(real == 1.25e9);
    assert_true(map_number(&r->map, "n", MAP_REQUIRED, -2, 2, &real));
    assert_true(real == -1.5);
    assert_true(map_integer(&r->map, "i", MAP_REQUIRED, 0, INT64_MAX, &whole));
    assert_true(whole == INT64_C(9007199254740993));
    assert_true(map_share(&r->map, "p", MAP_REQUIRED, &real));
    assert_true(real == 0.8);
    assert_true(map_share(&r->map, "p2", MAP_REQUIRED, &real));
    assert_true(real == 0.25);
    assert_true(map_bool(&r->map, "f", MAP_REQUIRED, &flag));
    assert_false(flag);
    assert_true(map_string(&r->map, "x", MAP_REQUIRED, &text));
    assert_text(text, "text");
    assert_true(map_choice(&r->map, "c", MAP_REQUIRED, names, &choice));
    assert_int_equal(choice, 1);
    assert_int_equal(map_close(&r->map), 0);
    done(r);
}

static void defaults(void **state)
{
    static const char *const names[] = {"hpa", "fixed", NULL};
    struct reading *r = open_text("{}");
    sim_time time;
    int64_t whole;
    double real;
    bool flag;
    const char *text;
    int choice;

    (void)state;
    assert_true(map_time(&r->map, "t", MAP_DEFAULT("4m", "GKE"), &time));
    assert_int_equal(time, 240 * SIM_SECOND);
    assert_true(map_size(&r->map, "s", MAP_DEFAULT("1Ki", "x"), &whole));
    assert_int_equal(whole, 1024);
    assert_true(map_integer(&r->map, "i", MAP_DEFAULT("7", "x"), 0, 9, &whole));
    assert_int_equal(whole, 7);
    assert_true(map_number(&r->map, "n", MAP_DEFAULT("0.5", "x"), 0, 9, &real));
    assert_true(real == 0.5);
    assert_true(map_bool(&r->map, "f", MAP_DEFAULT("true", "x"), &flag));
    assert_true(flag);
    assert_true(map_string(&r->map, "x", MAP_DEFAULT("abc", "x"), &text));
    assert_text(text, "abc");
    assert_true(map_choice(&r->map, "c", MAP_DEFAULT("hpa", "x"), names, &choice));
    assert_int_equal(choice, 0);
    assert_int_equal(map_close(&r->map), 0);
    done(r);
    /* A wrong default is our own mistake, not the user's. */
    r = open_text("{}");
    assert_false(map_time(&r->map, "t", MAP_DEFAULT("4", "x"), &time));
    assert_int_equal(r->err.code, ERROR_INTERNAL);
    done(r);
}

static void unknown_keys(void **state)
{
    struct reading *r = open_text("{\"name\": \"x\",\n \"warmpu\": 1}");
    const char *text;
    sim_time time;

    (void)state;
    map_string(&r->map, "name", MAP_REQUIRED, &text);
    map_time(&r->map, "warmup", MAP_DEFAULT("0", "x"), &time);
    assert_int_equal(map_close(&r->map), -1);
    failed_with(r, "s.json:2:2: warmpu",
                "unknown key \"warmpu\"; did you mean \"warmup\"? Allowed here: \"name\", \"warmup\"");
    r = open_text("{\"zzzzzz\": 1}");
    map_has(&r->map, "name");
    map_close(&r->map);
    failed_with(r, "s.json:1:2: zzzzzz", "unknown key \"zzzzzz\". Allowed here: \"name\"");
    r = open_text("{\"a\": 1}");
    map_close(&r->map);
    failed_with(r, "s.json:1:2: a", "this map takes no keys");
    /* Text of the file cannot move a terminal's cursor or break a log line. */
    r = open_text("{\"\\u001b[2J\\n\": 1}");
    map_has(&r->map, "name");
    map_close(&r->map);
    assert_has(r->err.message, "unknown key \"\\x1b[2J\\x0a\"");
    assert_null(strchr(r->err.message, 0x1b));
    assert_null(strchr(r->err.place, 0x1b));
    assert_null(strchr(r->err.place, '\n'));
    done(r);
}

static void missing_keys(void **state)
{
    struct reading *r = open_text("{\"a\": {}}");
    struct map child, absent;
    sim_time time;

    (void)state;
    map_open_child(&child, &r->map, "a");
    assert_false(map_time(&child, "t", MAP_REQUIRED, &time));
    failed_with(r, "s.json:1:7: a", "the key \"t\" is missing");
    r = open_text("{}");
    assert_true(map_open_child(&absent, &r->map, "b"));
    assert_true(map_time(&absent, "t", MAP_DEFAULT("5s", "x"), &time));
    assert_int_equal(time, 5 * SIM_SECOND);
    assert_false(map_time(&absent, "u", MAP_REQUIRED, &time));
    assert_text(r->err.place, "b");
    assert_has(r->err.message, "the key \"u\" is missing");
    done(r);
}

static void wrong_kinds_and_ranges(void **state)
{
    static const char *const names[] = {"hpa", "fixed", "warm-pool", NULL};
    sim_time time;
    int64_t whole;
    double real;
    bool flag;
    const char *text;
    int choice;
    struct reading *r;

    (void)state;
#define CASE(json, call, words)                                                                              \
    r = open_text("{\"k\": " json "}");                                                                      \
    assert_false(call);                                                                                      \
    failed_with(r, "s.json:1:7: k", words)
    CASE("90", map_time(&r->map, "k", MAP_REQUIRED, &time), "has no unit");
    CASE("true", map_time(&r->map, "k", MAP_REQUIRED, &time),
         "expected a duration such as \"90s\"; found true");
    CASE("null", map_time(&r->map, "k", MAP_REQUIRED, &time), "found nothing (null)");
    CASE("[]", map_size(&r->map, "k", MAP_REQUIRED, &whole),
         "expected a size such as \"18Gi\"; found a list");
    CASE("{}", map_rate(&r->map, "k", MAP_REQUIRED, &real), "expected a rate such as \"120/s\"; found a map");
    CASE("5", map_rate(&r->map, "k", MAP_REQUIRED, &real), "has no unit");
    CASE("5", map_bandwidth(&r->map, "k", MAP_REQUIRED, &real), "has no unit");
    CASE("\"5\"", map_number(&r->map, "k", MAP_REQUIRED, 0, 9, &real),
         "expected a number from 0 to 9; found \"5\"");
    CASE("10", map_number(&r->map, "k", MAP_REQUIRED, 0, 9, &real),
         "expected a number from 0 to 9; found 10");
    CASE("-1", map_number(&r->map, "k", MAP_REQUIRED, 0, HUGE_VAL, &real),
         "expected a number of at least 0; found -1");
    CASE("1e999", map_number(&r->map, "k", MAP_REQUIRED, 0, HUGE_VAL, &real), "out of range");
    CASE("1.5", map_integer(&r->map, "k", MAP_REQUIRED, 0, 9, &whole),
         "expected a whole number from 0 to 9; found 1.5");
    CASE("10", map_integer(&r->map, "k", MAP_REQUIRED, 0, 9, &whole), "found 10");
    CASE("9223372036854775808", map_integer(&r->map, "k", MAP_REQUIRED, 0, INT64_MAX, &whole), "at least 0");
    CASE("\"7\"", map_integer(&r->map, "k", MAP_REQUIRED, 0, 9, &whole), "found \"7\"");
    CASE("1.01", map_share(&r->map, "k", MAP_REQUIRED, &real), "between 0 and 1");
    CASE("\"101%\"", map_share(&r->map, "k", MAP_REQUIRED, &real), "between 0 and 1");
    CASE("\"true\"", map_bool(&r->map, "k", MAP_REQUIRED, &flag), "expected true or false; found \"true\"");
    CASE("7", map_string(&r->map, "k", MAP_REQUIRED, &text), "expected a text; found the number 7");
    CASE(
        "\"warm-pol\"", map_choice(&r->map, "k", MAP_REQUIRED, names, &choice),
        "expected one of \"hpa\", \"fixed\", \"warm-pool\"; found \"warm-pol\"; did you mean \"warm-pool\"?");
    CASE("7", map_choice(&r->map, "k", MAP_REQUIRED, names, &choice), "found the number 7");
    CASE("{}", map_choice(&r->map, "k", MAP_REQUIRED, names, &choice), "found a map");
#undef CASE
    r = open_text("{\"k\": 5}");
    {
        struct map child;

        assert_false(map_open_child(&child, &r->map, "k"));
    }
    failed_with(r, "s.json:1:7: k", "expected a map; found the number 5");
}

/* The first error stays; nothing after it has an effect. */
static void sticky_error(void **state)
{
    struct reading *r = open_text("{\"a\": 5, \"b\": \"7s\"}");
    sim_time time = -1;
    struct map child;

    (void)state;
    assert_false(map_time(&r->map, "a", MAP_REQUIRED, &time));
    assert_false(map_time(&r->map, "b", MAP_REQUIRED, &time));
    assert_int_equal(time, -1);
    assert_null(map_node(&r->map, "b"));
    assert_false(map_has(&r->map, "b"));
    assert_false(map_open_child(&child, &r->map, "c"));
    assert_false(map_time(&child, "x", MAP_DEFAULT("1s", ""), &time));
    assert_int_equal(map_close(&child), -1);
    failed_with(r, "s.json:1:7: a", "has no unit");
}

static void raw_nodes(void **state)
{
    struct reading *r = open_text("{\"a\": [1], \"b\": 2}");
    char place[100];

    (void)state;
    assert_int_equal(node_count(map_node(&r->map, "a")), 1);
    assert_non_null(map_required(&r->map, "b"));
    assert_null(map_node(&r->map, "c"));
    assert_false(map_failed(&r->map));
    assert_int_equal(node_error(map_node(&r->map, "b"), &r->err, "is %d too many", 2), -1);
    assert_text(r->err.message, "is 2 too many");
    node_place(node_get(document_root(r->doc), "b"), place, sizeof place);
    failed_with(r, place, "too many");
    r = open_text("{}");
    assert_null(map_required(&r->map, "c"));
    failed_with(r, "s.json:1:1", "the key \"c\" is missing");
}

/* --set name=7: no quotes say that a text is meant. */
static void set_numbers_are_texts_where_texts_are_wanted(void **state)
{
    struct reading *r = open_text("{\"name\": \"x\"}");
    const char *text;

    (void)state;
    assert_int_equal(document_set(r->doc, "name=7", &r->err), 0);
    assert_true(map_string(&r->map, "name", MAP_REQUIRED, &text));
    assert_text(text, "7");
    done(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(defaults),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(missing_keys),
        cmocka_unit_test(wrong_kinds_and_ranges),
        cmocka_unit_test(sticky_error),
        cmocka_unit_test(raw_nodes),
        cmocka_unit_test(set_numbers_are_texts_where_texts_are_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
