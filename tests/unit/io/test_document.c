#include "tests/unit/io/io_support.h"

/* Reading: what becomes of a text, where every value stands, and what is refused at which place. */

static const struct node *at(const struct document *doc, const char *path)
{
    const struct node *node = document_root(doc);
    char copy[200], *rest = copy;

    snprintf(copy, sizeof copy, "%s", path);
    for (char *word; (word = strsep(&rest, "/"));)
        node = node_kind(node) == NODE_MAP ? node_get(node, word) : node_at(node, strtoul(word, NULL, 10));
    return node;
}

static void place_is(const struct document *doc, const char *path, const char *wanted)
{
    char place[512];

    assert_non_null(at(doc, path));
    node_place(at(doc, path), place, sizeof place);
    assert_text(place, wanted);
}

static void json_values(void **state)
{
    struct document *doc = document_of("{\"a\": [null, true, -1.50e3, \"x\\u00e9\\n\", {}, []],\n"
                                       " \"big\": 9007199254740993}",
                                       "s.json");
    const struct node *list = node_get(document_root(doc), "a");

    (void)state;
    assert_int_equal(node_kind(document_root(doc)), NODE_MAP);
    assert_int_equal(node_count(document_root(doc)), 2);
    assert_text(node_key_at(document_root(doc), 1), "big");
    assert_null(node_key_at(document_root(doc), 2));
    assert_int_equal(node_count(list), 6);
    assert_int_equal(node_kind(node_at(list, 0)), NODE_NULL);
    assert_int_equal(node_kind(node_at(list, 1)), NODE_BOOL);
    assert_int_equal(node_kind(node_at(list, 2)), NODE_NUMBER);
    assert_text(node_text(node_at(list, 2)), "-1.50e3");
    assert_text(node_text(node_at(list, 3)), "x\xc3\xa9\n");
    assert_int_equal(node_kind(node_at(list, 4)), NODE_MAP);
    assert_int_equal(node_kind(node_at(list, 5)), NODE_SEQUENCE);
    assert_null(node_text(node_at(list, 5)));
    assert_null(node_at(list, 6));
    assert_text(node_text(node_get(document_root(doc), "big")), "9007199254740993");
    assert_null(node_get(document_root(doc), "absent"));
    assert_null(node_get(list, "a"));
    document_free(doc);
}

static void json_places(void **state)
{
    struct document *doc = document_of("{\n"
                                       "  \"name\": \"day\",\n"
                                       "  \"services\": [\n"
                                       "    {\"slo\": {\"p99\": \"2s\"}, \"n\": 7},\n"
                                       "    {}\n"
                                       "  ],\n"
                                       "  \"a b\": true\n"
                                       "}\n",
                                       "dir/s.json");

    (void)state;
    place_is(doc, "name", "dir/s.json:2:11: name");
    place_is(doc, "services", "dir/s.json:3:15: services");
    place_is(doc, "services/0", "dir/s.json:4:5: services[0]");
    place_is(doc, "services/0/slo", "dir/s.json:4:13: services[0].slo");
    place_is(doc, "services/0/slo/p99", "dir/s.json:4:21: services[0].slo.p99");
    place_is(doc, "services/0/n", "dir/s.json:4:33: services[0].n");
    place_is(doc, "services/1", "dir/s.json:5:5: services[1]");
    place_is(doc, "a b", "dir/s.json:7:10: [\"a b\"]");
    document_free(doc);
}

static void yaml_places(void **state)
{
    struct document *doc = document_of("# first\n"
                                       "name: day\n"
                                       "services:\n"
                                       "  - name: \"chat\"\n"
                                       "    slo: {p99: 2s}\n"
                                       "    list: [1, 'two']\n"
                                       "empty:\n",
                                       "s.yaml");

    (void)state;
    place_is(doc, "name", "s.yaml:2:7: name");
    place_is(doc, "services/0/name", "s.yaml:4:11: services[0].name");
    place_is(doc, "services/0/slo", "s.yaml:5:10: services[0].slo");
    place_is(doc, "services/0/slo/p99", "s.yaml:5:16: services[0].slo.p99");
    place_is(doc, "services/0/list/1", "s.yaml:6:15: services[0].list[1]");
    /* Block collections and absent values have no sign of their own: the key's place. */
    place_is(doc, "services", "s.yaml:3:1: services");
    place_is(doc, "empty", "s.yaml:7:1: empty");
    document_free(doc);
}

/* Columns count characters, not bytes. */
static void places_behind_wide_characters(void **state)
{
    struct document *doc = document_of("{\"\xc3\xa4\xe2\x82\xac\": 1, \"b\": 2}", "s.json");

    (void)state;
    place_is(doc, "b", "s.json:1:16: b");
    document_free(doc);
}

static void names_and_folders(void **state)
{
    struct document *doc = document_of("{}", "a/b/s.json");
    char path[100];

    (void)state;
    assert_text(document_name(doc), "a/b/s.json");
    assert_text(document_folder(doc), "a/b");
    document_resolve_path(document_root(doc), "t.csv", path, sizeof path);
    assert_text(path, "a/b/t.csv");
    document_resolve_path(document_root(doc), "/t.csv", path, sizeof path);
    assert_text(path, "/t.csv");
    document_free(doc);
    doc = document_of("{}", "s.json");
    assert_text(document_folder(doc), ".");
    document_resolve_path(document_root(doc), "t.csv", path, sizeof path);
    assert_text(path, "t.csv");
    document_free(doc);
    doc = document_of("{}", "/s.json");
    document_resolve_path(document_root(doc), "t.csv", path, sizeof path);
    assert_text(path, "/t.csv");
    document_free(doc);
}

/* The name decides on the syntax, and without a telling one the first sign. */
static void syntax_by_name_or_first_sign(void **state)
{
    struct document *doc = document_of("{a: 1}", "s.yaml");

    (void)state;
    document_free(doc);
    refused("{a: 1}", "s.json", "s.json:1:2", "double quotes");
    refused("  {a: 1}", "s", "s:1:4", "double quotes");
    refused("a: 1", "s.json", "s.json:1:1", "not valid JSON");
    doc = document_of("a: 1", "s");
    document_free(doc);
}

static void json_is_strict(void **state)
{
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"{\"a\": 1,}", "s.json:1:8", "a comma before the closing bracket"},
        {"{\"a\": 1} x", "s.json:1:10", "no JSON value"},
        {"{\"a\": 1} {\"b\": 2}", "s.json:1:10", "more text after the end"},
        {"{\"a\": 'x'}", "s.json:1:7", "double quotes"},
        {"{\"a\": 1 # no\n}", "s.json:1:9", "not valid JSON"},
        {"{\"a\": 01}", "s.json:1:7", "no JSON value"},
        {"{\"a\": 1.}", "s.json:1:7", "no JSON value"},
        {"{\"a\": .5}", "s.json:1:7", "no JSON value"},
        {"{\"a\": +1}", "s.json:1:7", "no JSON value"},
        {"{\"a\": NaN}", "s.json:1:7", "no JSON value"},
        {"{\"a\": Infinity}", "s.json:1:7", "no JSON value"},
        {"{\"a\": 0x10}", "s.json:1:7", "no JSON value"},
        {"{\"a\": True}", "s.json:1:7", "no JSON value"},
        {"{\"a\"}", "s.json:1:3", "a key without"},
        {"[1 2]", "s.json:1:2", "not valid JSON"},
        {"[1, 2", "s.json:1:6", "a ] is missing"},
        {"{\"a\": \"b\tc\"}", "s.json:1:9", "control character"},
        {"{\"a\": \"b\nc\"}", "s.json:1:8", "line break"},
        {"{\"a\": \"b}", "s.json:1:8", "closing quote"},
        {"{\"a\": \"\\ud83d\"}", "s.json:1:8", "not valid JSON"},
        {"{\"a\": \"\\x41\"}", "s.json:1:8", "not valid JSON"},
        {"{\"a\": \"\\u0000\"}", "s.json:1:7", "NUL"},
        {"{[1]: 2}", "s.json:1:2", "not valid JSON"},
        {"*a", "s.json:1:1", "not valid JSON"},
        {"&a 1", "s.json:1:1", "not valid JSON"},
        {"!!str 1", "s.json:1:1", "not valid JSON"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        refused(cases[i].text, "s.json", cases[i].place, cases[i].words);
}

static void duplicate_keys(void **state)
{
    char text[4096] = "{\n";

    (void)state;
    refused("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "s.json", "s.json:3:2",
            "duplicate key \"a\"; the first is on line 1");
    refused("x:\n  a: 1\n  a: 2\n", "s.yaml", "s.yaml:3:3", "duplicate key \"a\"; the first is on line 2");
    /* Many keys go another way. The first repetition in the text is the one that is named. */
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "\"k%d\": 0,\n", i % 37);
    strcat(text, "\"z\": 0}");
    refused(text, "s.json", "s.json:39:1", "duplicate key \"k0\"; the first is on line 2");
}

static void depth_and_size(void **state)
{
    char text[300] = "";
    size_t limit = ((size_t)4 << 20) + 1;
    char *large = malloc(limit + 8);
    struct document *doc;

    (void)state;
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    text[200] = 0;
    doc = document_of(text, "s.json");
    document_free(doc);
    memset(text, '[', 101);
    memset(text + 101, ']', 101);
    text[202] = 0;
    refused(text, "s.json", "s.json:1:101", "nested more than 100 deep");
    refused(text, "s.yaml", "s.yaml:1:101", "nested more than 100 deep");

    assert_non_null(large);
    memset(large, 'x', limit);
    refused_bytes(large, limit, "s.yaml", "s.yaml:1:1", "larger than 4 MiB");
    memcpy(large, "[\"", 2);
    memcpy(large + limit - 3, "\"]", 2);
    assert_int_equal(document_read_text(large, limit - 1, "s.json", &doc, NULL), 0);
    assert_int_equal(strlen(node_text(node_at(document_root(doc), 0))), limit - 5);
    document_free(doc);
    free(large);
}

/* libfyaml takes a quarter of an hour for a megabyte of line breaks inside a text. */
static void long_runs_of_space(void **state)
{
    char text[3000];

    (void)state;
    memset(text, '\n', sizeof text);
    memcpy(text, "a: |\n  x", 8);
    memcpy(text + 1008, "\nb: 1", 6);
    refused(text, "s.yaml", "s.yaml:2:4", "more than 1000 spaces or blank lines");
    memcpy(text + 1007, "\nb: 1", 6);
    document_free(document_of(text, "s.yaml"));
}

static void marks_and_bad_bytes(void **state)
{
    struct document *doc = document_of("\xef\xbb\xbf{\"a\": 1}", "s.json");

    (void)state;
    place_is(doc, "a", "s.json:1:7: a");
    document_free(doc);
    doc = document_of("{\r\n\"a\":\r\n 1}\r\n", "s.json");
    place_is(doc, "a", "s.json:3:2: a");
    document_free(doc);
    refused_bytes("{\"a\":\n \0 1}", 11, "s.json", "s.json:2:2", "a NUL byte");
    refused_bytes("{}\0", 3, "s.json", "s.json:1:3", "a NUL byte");
    refused("{\"a\":\n\"\xc3\xa4\xff\"}", "s.json", "s.json:2:3", "not valid UTF-8 (byte 0xff)");
    refused("a: \xc0\x80\n", "s.yaml", "s.yaml:1:4", "not valid UTF-8 (byte 0xc0)");
    refused("a: \xed\xa0\x80\n", "s.yaml", "s.yaml:1:4", "not valid UTF-8");
    refused("", "s.json", "s.json:1:1", "empty");
    refused(" \n\t\n", "s.yaml", "s.yaml:1:1", "empty");
    refused("# nothing\n", "s.yaml", "s.yaml:1:1", "no value");
}

static void files(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc;
    char folder[200], path[300];

    (void)state;
    make_folder_of(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/none.json", folder);
    assert_int_equal(document_read_file(path, &doc, &err), -1);
    assert_null(doc);
    assert_text(err.place, path);
    assert_has(err.message, "No such file");
    err = (struct error){.code = ERROR_NONE};
    assert_int_equal(document_read_file(folder, &doc, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_has(err.message, "directory");
    err = (struct error){.code = ERROR_NONE};
    write_file(path, "{\"a\": [1]}", 10);
    assert_int_equal(document_read_file(path, &doc, &err), 0);
    assert_text(document_folder(doc), folder);
    assert_int_equal(node_count(node_get(document_root(doc), "a")), 1);
    document_free(doc);
    remove_folder_of(folder);
}

static void written_json(void **state)
{
    static const char text[] = "{\"z\":[1,{\"b\":null}],\"a\":{},\"e\":[],\"s\":"
                               "\"q\\\"\\\\\\n\\u0001\xc3\xa9\",\"n\":1E+5,\"t\":true}";
    static const char wanted[] = "{\n"
                                 "  \"z\": [\n"
                                 "    1,\n"
                                 "    {\n"
                                 "      \"b\": null\n"
                                 "    }\n"
                                 "  ],\n"
                                 "  \"a\": {},\n"
                                 "  \"e\": [],\n"
                                 "  \"s\": \"q\\\"\\\\\\n\\u0001\xc3\xa9\",\n"
                                 "  \"n\": 1E+5,\n"
                                 "  \"t\": true\n"
                                 "}\n";
    struct document *doc = document_of(text, "s.json");
    char *json = document_to_json(doc), *again;

    (void)state;
    assert_text(json, wanted);
    document_free(doc);
    doc = document_of(json, "s.json");
    again = document_to_json(doc);
    assert_text(again, json);
    document_free(doc);
    free(again);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_values),         cmocka_unit_test(json_places),
        cmocka_unit_test(yaml_places),         cmocka_unit_test(places_behind_wide_characters),
        cmocka_unit_test(names_and_folders),   cmocka_unit_test(syntax_by_name_or_first_sign),
        cmocka_unit_test(json_is_strict),      cmocka_unit_test(duplicate_keys),
        cmocka_unit_test(depth_and_size),      cmocka_unit_test(long_runs_of_space),
        cmocka_unit_test(marks_and_bad_bytes), cmocka_unit_test(files),
        cmocka_unit_test(written_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
