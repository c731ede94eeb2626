#include "tests/unit/io/io_support.h"

/* Where every figure came from: measured, preset or guessed. */

static const struct input *input_of(const struct document *doc, const char *path)
{
    for (size_t i = 0; i < document_input_count(doc); i++)
        if (!strcmp(document_input(doc, i)->path, path))
            return document_input(doc, i);
    fail_msg("%s is not in the ledger", path);
    return NULL;
}

static void is(const struct document *doc, const char *path, const char *value, enum provenance provenance,
               const char *source, bool given)
{
    const struct input *input = input_of(doc, path);

    assert_text(input->value, value);
    if (input->provenance != provenance)
        fail_msg("%s: provenance %d", path, (int)input->provenance);
    assert_text(input->source, source);
    assert_int_equal(input->given, given);
}

/* Reads a.t, a.d (a distribution), a.sub.x, list[0], and absent.z. */
static void read_all(struct document *doc, struct error *err)
{
    struct map map, a, sub, absent, sources;
    struct distribution distribution;
    sim_time time;
    int64_t whole;
    const struct node *list;

    map_open(&map, document_root(doc), err);
    map_open_child(&a, &map, "a");
    map_time(&a, "t", MAP_DEFAULT("9s", "a book"), &time);
    if (map_distribution(&a, "d", MAP_DEFAULT("45s", "a paper"), UNIT_SECONDS, &distribution))
        distribution_free(&distribution);
    map_open_child(&sub, &a, "sub");
    map_integer(&sub, "x", MAP_DEFAULT("3", ""), 0, 99, &whole);
    map_close(&sub);
    map_close(&a);
    map_open_child(&absent, &map, "absent");
    map_time(&absent, "z", MAP_DEFAULT("1s", "a page"), &time);
    map_close(&absent);
    list = map_node(&map, "list");
    if (list && node_count(list)) {
        struct map element;

        map_open(&element, node_at(list, 0), err);
        map_time(&element, "t", MAP_REQUIRED, &time);
        map_close(&element);
    }
    map_node(&map, "sources");
    map_close(&map);
    (void)sources;
}

static void defaults_and_guesses(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc = document_of(
        "{\"a\": {\"t\": \"5s\", \"d\": {\"lognormal\": {\"median\": \"40s\", \"p99\": \"2m\"}}},"
        "\"list\": [{\"t\": \"7s\"}]}",
        "s.json");

    (void)state;
    read_all(doc, &err);
    assert_int_equal(err.code, ERROR_NONE);
    assert_int_equal(document_check_sources(doc, &err), 0);
    assert_int_equal(document_input_count(doc), 5);
    is(doc, "a.t", "5s", PROVENANCE_GUESSED, "", true);
    is(doc, "a.d", "{\"lognormal\": {\"median\": \"40s\", \"p99\": \"2m\"}}", PROVENANCE_GUESSED, "", true);
    is(doc, "a.sub.x", "3", PROVENANCE_GUESSED, "", false); /* a default without a source is no preset */
    is(doc, "absent.z", "1s", PROVENANCE_PRESET, "a page", false);
    is(doc, "list[0].t", "7s", PROVENANCE_GUESSED, "", true);
    /* In the order of asking; asked for again, it is not entered again. */
    assert_text(document_input(doc, 0)->path, "a.t");
    assert_text(document_input(doc, 4)->path, "list[0].t");
    read_all(doc, &err);
    assert_int_equal(document_input_count(doc), 5);
    document_free(doc);
}

static void longest_prefix_wins(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc = document_of(
        "{\"sources\": {\"a.sub\": \"preset: the manual\", \"a\": \"measured: load test of 2026-10-12\","
        "\"list[0].t\": \"guessed\", \"a.d\": \"measured:  twice\"},"
        "\"a\": {\"t\": \"5s\", \"d\": \"4s\", \"sub\": {\"x\": 7}}, \"list\": [{\"t\": \"7s\"}]}",
        "s.json");

    (void)state;
    read_all(doc, &err);
    assert_int_equal(document_check_sources(doc, &err), 0);
    is(doc, "a.t", "5s", PROVENANCE_MEASURED, "load test of 2026-10-12", true);
    is(doc, "a.d", "4s", PROVENANCE_MEASURED, "twice", true);
    is(doc, "a.sub.x", "7", PROVENANCE_PRESET, "the manual", true);
    is(doc, "absent.z", "1s", PROVENANCE_PRESET, "a page", false);
    is(doc, "list[0].t", "7s", PROVENANCE_GUESSED, "", true);
    document_free(doc);
}

/* A source speaks of what stands in the file, not of what --set put there, and not of defaults. */
static void set_values_are_guesses(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc = document_of(
        "{\"sources\": {\"a\": \"measured: yesterday\"}, \"a\": {\"t\": \"5s\", \"sub\": {\"x\": 1}}}",
        "s.json");

    (void)state;
    assert_int_equal(document_set(doc, "a.t=6s", &err), 0);
    read_all(doc, &err);
    assert_int_equal(document_check_sources(doc, &err), 0);
    is(doc, "a.t", "6s", PROVENANCE_GUESSED, "--set", true);
    is(doc, "a.sub.x", "1", PROVENANCE_MEASURED, "yesterday", true);
    is(doc, "a.d", "45s", PROVENANCE_PRESET, "a paper", false);
    document_free(doc);
}

static void sources_refused(const char *sources, const char *place, const char *words)
{
    struct error err = {.code = ERROR_NONE};
    char text[600];
    struct document *doc;

    snprintf(text, sizeof text, "{\"sources\": %s,\n\"a\": {\"t\": \"5s\", \"unread\": {}}, \"list\": []}",
             sources);
    doc = document_of(text, "s.json");
    {
        struct map map, a;
        sim_time time;

        map_open(&map, document_root(doc), &err);
        map_open_child(&a, &map, "a");
        map_time(&a, "t", MAP_REQUIRED, &time);
    }
    assert_int_equal(document_check_sources(doc, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_text(err.place, place);
    assert_has(err.message, words);
    document_free(doc);
}

static void wrong_sources(void **state)
{
    (void)state;
    sources_refused("5", "s.json:1:13: sources", "expected a map of paths to sources; found the number 5");
    sources_refused("{\"a.t\": \"somebody said\"}", "s.json:1:21: sources[\"a.t\"]",
                    "begins with \"measured:\", \"preset:\" or \"guessed\"; found \"somebody said\"");
    sources_refused("{\"a.t\": 7}", "s.json:1:21: sources[\"a.t\"]", "found the number 7");
    sources_refused("{\"a.t\": \"measured: \"}", "s.json:1:21: sources[\"a.t\"]", "without saying by what");
    sources_refused("{\"a.tt\": \"guessed\"}", "s.json:1:14: sources", "did you mean a.t?");
    sources_refused("{\"list\": \"guessed\"}", "s.json:1:14: sources.list", "covers no value that was read");
    sources_refused("{\"a.unread\": \"guessed\"}", "s.json:1:14: sources[\"a.unread\"]", "covers no value");
    sources_refused("{\"a..t\": \"guessed\"}", "s.json:1:14: sources", "is not a path");
}

/* Enough entries for the table of paths to grow several times; long values are shortened at a character. */
static void many_and_long(void **state)
{
    struct error err = {.code = ERROR_NONE};
    char *text = calloc(1, 100000), key[32];
    struct document *doc;
    struct map map, element;
    int64_t whole;
    const char *word;

    (void)state;
    assert_non_null(text);
    strcpy(text, "[");
    for (int i = 0; i < 1000; i++)
        snprintf(text + strlen(text), 100, "%s{\"v\": %d}", i ? "," : "", i);
    strcat(text, "]");
    doc = document_of(text, "s.json");
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 1000; i++) {
            map_open(&element, node_at(document_root(doc), i), &err);
            assert_true(map_integer(&element, "v", MAP_REQUIRED, 0, 1000, &whole));
        }
    }
    assert_int_equal(document_input_count(doc), 1000);
    snprintf(key, sizeof key, "[%d].v", 777);
    is(doc, key, "777", PROVENANCE_GUESSED, "", true);
    document_free(doc);

    strcpy(text, "{\"k\": \"");
    for (int i = 0; i < 300; i++)
        strcat(text, "\xc3\xa9");
    strcat(text, "\"}");
    doc = document_of(text, "s.json");
    map_open(&map, document_root(doc), &err);
    assert_true(map_string(&map, "k", MAP_REQUIRED, &word));
    assert_true(strlen(document_input(doc, 0)->value) < 300);
    assert_has(document_input(doc, 0)->value, "\xc3\xa9...");
    document_free(doc);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_and_guesses),   cmocka_unit_test(longest_prefix_wins),
        cmocka_unit_test(set_values_are_guesses), cmocka_unit_test(wrong_sources),
        cmocka_unit_test(many_and_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
