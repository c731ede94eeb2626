#include "sim/io/scalar.h"
#include "sim/io/utf8.h"
#include "tests/unit/io/io_support.h"

/* Small things about words: the nearest name, what a scalar is, where UTF-8 ends being UTF-8. */

static const char *near(const char *word)
{
    static const char *const names[] = {"warmup", "duration", "seed", "services", "cpu", "hpa", "kpa"};
    const char *found = nearest_name(word, names, COUNT(names));

    return found ? found : "";
}

static void nearest(void **state)
{
    char longer[100];

    (void)state;
    assert_text(near("warmpu"), "warmup"); /* a swap is one step */
    assert_text(near("warmup"), "warmup");
    assert_text(near("duratoin"), "duration");
    assert_text(near("durations"), "duration");
    assert_text(near("service"), "services");
    assert_text(near("sed"), "seed");
    assert_text(near("hpaa"), "hpa");
    assert_text(near("khpa"), "hpa"); /* hpa and kpa are one step away each: the first stays */
    assert_text(near("xyz"), "");     /* three steps from cpu, but nothing in common */
    assert_text(near("completely"), "");
    assert_text(near(""), "");
    memset(longer, 'x', sizeof longer);
    longer[99] = 0;
    assert_text(near(longer), "");
    assert_null(nearest_name("x", NULL, 0));
}

static void scalars(void **state)
{
    static const struct {
        const char *text;
        enum node_kind kind;
    } cases[] = {{"", NODE_NULL},      {"~", NODE_NULL},      {"null", NODE_NULL},    {"nULL", NODE_STRING},
                 {"true", NODE_BOOL},  {"FALSE", NODE_BOOL},  {"tRue", NODE_STRING},  {"0", NODE_NUMBER},
                 {"-12", NODE_NUMBER}, {"+.5", NODE_NUMBER},  {"1.", NODE_NUMBER},    {".", NODE_STRING},
                 {"-", NODE_STRING},   {"1e5", NODE_NUMBER},  {"1e", NODE_STRING},    {"1e+", NODE_STRING},
                 {"0x", NODE_STRING},  {"0xg", NODE_STRING},  {"0xaF", NODE_NUMBER},  {"0o8", NODE_STRING},
                 {"0o7", NODE_NUMBER}, {"-0x1", NODE_STRING}, {"1.2.3", NODE_STRING}, {"1 ", NODE_STRING},
                 {"yes", NODE_STRING}};
    static const struct {
        const char *text, *json;
    } numbers[] = {{"+5", "5"},     {"007", "7"},
                   {"-007", "-7"},  {".5", "0.5"},
                   {"-.5", "-0.5"}, {"1.", "1"},
                   {"1.e5", "1e5"}, {"0x1F", "31"},
                   {"0o17", "15"},  {"0xffffffffffffffff", "18446744073709551615"},
                   {"000", "0"},    {"0.10", "0.10"}};
    char json[64];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (scalar_kind(cases[i].text, strlen(cases[i].text)) != cases[i].kind)
            fail_msg("\"%s\" is of the wrong kind", cases[i].text);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        assert_int_equal(scalar_number_to_json(numbers[i].text, json, sizeof json), strlen(numbers[i].json));
        assert_text(json, numbers[i].json);
    }
    assert_int_equal(scalar_number_to_json("0x10000000000000000", json, sizeof json), 0);
    assert_int_equal(scalar_number_to_json("12345", json, 5), 0);
}

/* Unicode 15, table 3-7, row by row at its ends. */
static void utf8(void **state)
{
    static const char *const good[] = {"a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2z",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xf0\x90\x80"};

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(utf8_check(good[i], strlen(good[i])), strlen(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[16];

        snprintf(text, sizeof text, "ab%s", bad[i]);
        assert_int_equal(utf8_check(text, strlen(text)), 2);
    }
    assert_int_equal(utf8_check("a\0b", 3), 3);
    assert_int_equal(utf8_check("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest),
        cmocka_unit_test(scalars),
        cmocka_unit_test(utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
