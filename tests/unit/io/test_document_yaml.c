#include "tests/unit/io/io_support.h"

/* What only YAML has: plain scalars, block texts, anchors, aliases, merges, tags, several documents. */

static void text_is(const struct document *doc, const char *key, enum node_kind kind, const char *wanted)
{
    const struct node *node = node_get(document_root(doc), key);

    assert_non_null(node);
    if (node_kind(node) != kind)
        fail_msg("%s is of kind %d, not %d", key, (int)node_kind(node), (int)kind);
    assert_text(node_text(node), wanted);
}

static void json_is(const struct document *doc, const char *wanted)
{
    char *json = document_to_json(doc), *to = json;

    /* Without the indent: no text of these tests holds two spaces or a line break. */
    for (char *from = json; *from; from++)
        if (*from != '\n' && !(from[0] == ' ' && (from[1] == ' ' || to[-1] != ':')))
            *to++ = *from;
    *to = 0;
    assert_text(json, wanted);
    free(json);
}

/* YAML 1.2, section 10.3.2: the core schema. */
static void plain_scalars(void **state)
{
    struct document *doc = document_of(
        "n1: 12\nn2: -0.5\nn3: 1e6\nn4: 0x1F\nn5: 0o17\nn6: .5\nn7: +1.\nn8: 007\n"
        "b1: true\nb2: False\nz1: ~\nz2: null\n"
        "s1: yes\ns2: 12:30\ns3: 1_000\ns4: 2024-01-02\ns5: 90s\ns6: \"12\"\ns7: 'true'\n"
        "s8: 0x\ns9: 1e\n",
        "s.yaml");

    (void)state;
    text_is(doc, "n1", NODE_NUMBER, "12");
    text_is(doc, "n4", NODE_NUMBER, "0x1F");
    text_is(doc, "n5", NODE_NUMBER, "0o17");
    text_is(doc, "n6", NODE_NUMBER, ".5");
    text_is(doc, "n7", NODE_NUMBER, "+1.");
    text_is(doc, "n8", NODE_NUMBER, "007");
    text_is(doc, "b1", NODE_BOOL, "true");
    text_is(doc, "b2", NODE_BOOL, "False");
    text_is(doc, "z1", NODE_NULL, "~");
    text_is(doc, "z2", NODE_NULL, "null");
    text_is(doc, "s1", NODE_STRING, "yes");
    text_is(doc, "s2", NODE_STRING, "12:30");
    text_is(doc, "s3", NODE_STRING, "1_000");
    text_is(doc, "s4", NODE_STRING, "2024-01-02");
    text_is(doc, "s5", NODE_STRING, "90s");
    text_is(doc, "s6", NODE_STRING, "12");
    text_is(doc, "s7", NODE_STRING, "true");
    text_is(doc, "s8", NODE_STRING, "0x");
    text_is(doc, "s9", NODE_STRING, "1e");
    json_is(doc, "{\"n1\": 12,\"n2\": -0.5,\"n3\": 1e6,\"n4\": 31,\"n5\": 15,\"n6\": 0.5,\"n7\": 1,\"n8\": 7,"
                 "\"b1\": true,\"b2\": false,\"z1\": null,\"z2\": null,\"s1\": \"yes\",\"s2\": \"12:30\","
                 "\"s3\": \"1_000\",\"s4\": \"2024-01-02\",\"s5\": \"90s\",\"s6\": \"12\",\"s7\": \"true\","
                 "\"s8\": \"0x\",\"s9\": \"1e\"}");
    document_free(doc);
    refused("a: .inf\n", "s.yaml", "s.yaml:1:4", "not a finite number");
    refused("a:\n  - -.Inf\n", "s.yaml", "s.yaml:2:5", "not a finite number");
    refused("a: .nan\n", "s.yaml", "s.yaml:1:4", "not a finite number");
}

static void block_texts(void **state)
{
    struct document *doc = document_of("literal: |\n  two\n    lines\n"
                                       "folded: >\n  one\n  line\n"
                                       "strip: >-\n  x\n  y\n"
                                       "keep: |+\n  z\n\n"
                                       "quoted: \"a\\x41\\u00e9\\U0001F600\\\n  b\"\n"
                                       "single: 'it''s'\n",
                                       "s.yaml");

    (void)state;
    text_is(doc, "literal", NODE_STRING, "two\n  lines\n");
    text_is(doc, "folded", NODE_STRING, "one line\n");
    text_is(doc, "strip", NODE_STRING, "x y");
    text_is(doc, "keep", NODE_STRING, "z\n\n");
    text_is(doc, "quoted", NODE_STRING,
            "aA\xc3\xa9\xf0\x9f\x98\x80"
            "b");
    text_is(doc, "single", NODE_STRING, "it's");
    document_free(doc);
    refused("a: \"x\\0\"\n", "s.yaml", "s.yaml:1:4", "NUL");
}

/* A text that libfyaml 0.7.12 counts as 38 bytes of which it writes 34: its length is 41. */
static void block_text_that_libfyaml_miscounts(void **state)
{
    static const char text[] = "# a comment\nname: launch-day\nduration: 24h\nservices:\n  - name: chat\n"
                               "    slo: {ttft: {p99: 2s}}\n    traffic:\n      synth:\n        rate: 120/s\n"
                               "  - name: \"code\"\n    note: |\n    6  two\n      lines\n    other: >-\n"
                               "      folded\n      text\n";
    struct document *doc = document_of(text, "s.yaml");
    const struct node *service = node_at(node_get(document_root(doc), "services"), 1);

    (void)state;
    assert_text(node_text(node_get(service, "note")), "6  two\n  lines\nother: >-\n  folded\n  text\n");
    document_free(doc);
}

static void aliases(void **state)
{
    struct document *doc = document_of("base: &b {a: 1, l: [x, y]}\n"
                                       "again: *b\n"
                                       "text: &t hello\n"
                                       "t2: *t\n"
                                       "t: &t changed\n"
                                       "t3: *t\n",
                                       "s.yaml");
    char place[200];

    (void)state;
    json_is(doc, "{\"base\": {\"a\": 1,\"l\": [\"x\",\"y\"]},\"again\": {\"a\": 1,\"l\": [\"x\",\"y\"]},"
                 "\"text\": \"hello\",\"t2\": \"hello\",\"t\": \"changed\",\"t3\": \"changed\"}");
    /* Every value has one path; line and column are where it was written. */
    node_place(node_get(node_get(document_root(doc), "again"), "a"), place, sizeof place);
    assert_text(place, "s.yaml:1:14: again.a");
    document_free(doc);
    refused("a: *b\nb: &b 1\n", "s.yaml", "s.yaml:1:5", "alias *b has no anchor &b before it");
    refused("a: &a [*a]\n", "s.yaml", "s.yaml:1:9", "inside its own anchor");
    refused("a: &a {b: 1, c: {d: *a}}\n", "s.yaml", "s.yaml:1:22", "inside its own anchor");
    refused("k: &k x\n*k : 1\n", "s.yaml", "s.yaml:2:2", "an alias cannot be a key");
}

static void aliases_that_explode(void **state)
{
    char text[4000] = "l0: &l0 [x,x,x,x,x,x,x,x,x,x]\n", deep[4000] = "d0: &d0 x\n";

    (void)state;
    /* 11, 111, ... 111111 values, and the root: 876544 are left, so the eighth alias of l5 is one too many.
     */
    for (int i = 1; i < 12; i++) {
        size_t used = strlen(text);

        used += (size_t)snprintf(text + used, sizeof text - used, "l%d: &l%d [", i, i);
        for (int j = 0; j < 10; j++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s*l%d", j ? "," : "", i - 1);
        snprintf(text + used, sizeof text - used, "]\n");
    }
    refused(text, "s.yaml", "s.yaml:6:39", "more than 1000000 values once its aliases are expanded");
    for (int i = 1; i < 110; i++)
        snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "d%d: &d%d [*d%d]\n", i, i, i - 1);
    refused(deep, "s.yaml", "s.yaml:101:15", "nested more than 100 deep once its aliases are expanded");
}

static void merges(void **state)
{
    struct document *doc = document_of("base: &b {a: 1, b: 2}\n"
                                       "more: &m {b: 3, c: 4}\n"
                                       "one: {<<: *b, b: 9}\n"
                                       "two: {<<: [*b, *m], z: 0}\n"
                                       "none: {\"<<\": x}\n",
                                       "s.yaml");
    char path[200];

    (void)state;
    json_is(doc, "{\"base\": {\"a\": 1,\"b\": 2},\"more\": {\"b\": 3,\"c\": 4},\"one\": {\"b\": 9,\"a\": 1},"
                 "\"two\": {\"z\": 0,\"a\": 1,\"b\": 2,\"c\": 4},\"none\": {\"<<\": \"x\"}}");
    node_place(node_get(node_get(document_root(doc), "two"), "c"), path, sizeof path);
    assert_text(path, "s.yaml:2:20: two.c");
    document_free(doc);
    refused("a: {<<: 1}\n", "s.yaml", "s.yaml:1:5", "<< takes a map, or a list of maps");
    refused("a: {<<: [{b: 1}, 2]}\n", "s.yaml", "s.yaml:1:5", "<< takes a map");
}

static void tags(void **state)
{
    struct document *doc = document_of(
        "a: !!str 12\nb: !!int \"3\"\nc: !!float 1e3\nd: ! 7\ne: !!bool \"true\"\n", "s.yaml");

    (void)state;
    text_is(doc, "a", NODE_STRING, "12");
    text_is(doc, "b", NODE_NUMBER, "3");
    text_is(doc, "c", NODE_NUMBER, "1e3");
    text_is(doc, "d", NODE_STRING, "7");
    text_is(doc, "e", NODE_BOOL, "true");
    document_free(doc);
    refused("a: !mine x\n", "s.yaml", "s.yaml:1:10", "tag that is not supported");
    refused("a: !!int x\n", "s.yaml", "s.yaml:1:10", "tag that is not supported");
}

static void one_document_only(void **state)
{
    struct document *doc = document_of("%YAML 1.2\n---\na: 1\n...\n", "s.yaml");

    (void)state;
    text_is(doc, "a", NODE_NUMBER, "1");
    document_free(doc);
    refused("a: 1\n---\nb: 2\n", "s.yaml", "s.yaml:2:1", "a second document");
    refused("--- {a: 1}\n--- {a: 1}\n", "s.yaml", "s.yaml:2:1", "a second document");
}

static void malformed(void **state)
{
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"a: [1, 2\n", "s.yaml:2:1", "not valid YAML"},
        {"a:\n\t- 1\n", "s.yaml:2:1", "not valid YAML"},
        {"a: 1\n b: 2\n", "s.yaml:1:4", "not valid YAML"},
        {"a: \"x\n", "s.yaml:1:5", "not valid YAML"},
        {"? [x]\n: 1\n", "s.yaml:1:3", "a map or a list cannot be a key"},
        {"a: b: c\n", "s.yaml:1:", "not valid YAML"},
        {"a: @x\n", "s.yaml:1:4", "not valid YAML"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error err = {.code = ERROR_NONE};
        struct document *doc;

        assert_int_equal(document_read_text(cases[i].text, strlen(cases[i].text), "s.yaml", &doc, &err), -1);
        assert_has(err.place, cases[i].place);
        assert_has(err.message, cases[i].words);
    }
}

/* The same scenario in both syntaxes is the same document. */
static void json_and_yaml_agree(void **state)
{
    struct document *a = document_of("{\"name\": \"x\", \"list\": [1, {\"k\": \"90s\"}], \"n\": null}",
                                     "s.json");
    struct document *b = document_of("name: x\nlist:\n- 1\n- k: 90s\nn:\n", "s.yaml");
    char *left = document_to_json(a), *right = document_to_json(b);

    (void)state;
    assert_text(left, right);
    free(left);
    free(right);
    document_free(a);
    document_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_scalars),
        cmocka_unit_test(block_texts),
        cmocka_unit_test(block_text_that_libfyaml_miscounts),
        cmocka_unit_test(aliases),
        cmocka_unit_test(aliases_that_explode),
        cmocka_unit_test(merges),
        cmocka_unit_test(tags),
        cmocka_unit_test(one_document_only),
        cmocka_unit_test(malformed),
        cmocka_unit_test(json_and_yaml_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
