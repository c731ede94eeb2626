#include "tests/unit/io/io_support.h"

/* --set: which value it finds, what it makes of the text, and what it says when there is none. */

static const char scenario[] = "{\"name\": \"day\", \"odd.key\": {\"a=b\": 1},\n"
                               " \"services\": [{\"name\": \"chat\", \"traffic\": {\"rate_scale\": 1}},\n"
                               "              {\"name\": \"code\", \"traffic\": {\"rate_scale\": 2}}],\n"
                               " \"list\": [10, 20, 30]}";

static const struct node *value(const struct document *doc, const char *service)
{
    const struct node *services = node_get(document_root(doc), "services");
    size_t index = !strcmp(service, "code");

    return node_get(node_get(node_at(services, index), "traffic"), "rate_scale");
}

static void set(struct document *doc, const char *assignment)
{
    struct error err = {.code = ERROR_NONE};

    if (document_set(doc, assignment, &err))
        fail_msg("%s: %s: %s", assignment, err.place, err.message);
}

static void set_refused(struct document *doc, const char *assignment, const char *words)
{
    struct error err = {.code = ERROR_NONE};
    char *before = document_to_json(doc), *after;

    assert_int_equal(document_set(doc, assignment, &err), -1);
    assert_int_equal(err.code, ERROR_USAGE);
    assert_text(err.place, "--set");
    assert_has(err.message, words);
    after = document_to_json(doc);
    assert_text(after, before);
    free(before);
    free(after);
}

static void by_index_and_by_name(void **state)
{
    struct document *doc = document_of(scenario, "s.json");
    char place[100];

    (void)state;
    set(doc, "services[0].traffic.rate_scale=4");
    assert_text(node_text(value(doc, "chat")), "4");
    assert_int_equal(node_kind(value(doc, "chat")), NODE_NUMBER);
    set(doc, "services[code].traffic.rate_scale=8");
    assert_text(node_text(value(doc, "code")), "8");
    set(doc, "list[2]=33");
    assert_text(node_text(node_at(node_get(document_root(doc), "list"), 2)), "33");
    set(doc, "[\"odd.key\"][\"a=b\"]=5");
    assert_text(node_text(node_get(node_get(document_root(doc), "odd.key"), "a=b")), "5");
    node_place(value(doc, "code"), place, sizeof place);
    assert_text(place, "--set: services[1].traffic.rate_scale");
    document_free(doc);
}

static void kinds_of_values(void **state)
{
    struct document *doc = document_of(scenario, "s.json");
    const struct node *node;

    (void)state;
#define NOW (node = value(doc, "chat"))
    set(doc, "services[0].traffic.rate_scale=90s");
    assert_int_equal(node_kind(NOW), NODE_STRING);
    assert_text(node_text(node), "90s");
    set(doc, "services[0].traffic.rate_scale=\"7\"");
    assert_int_equal(node_kind(NOW), NODE_STRING);
    assert_text(node_text(node), "7");
    set(doc, "services[0].traffic.rate_scale=true");
    assert_int_equal(node_kind(NOW), NODE_BOOL);
    set(doc, "services[0].traffic.rate_scale=null");
    assert_int_equal(node_kind(NOW), NODE_NULL);
    set(doc, "services[0].traffic.rate_scale=");
    assert_int_equal(node_kind(NOW), NODE_STRING);
    assert_text(node_text(node), "");
    set(doc, "services[0].traffic.rate_scale=a=b, c: d");
    assert_text(node_text(NOW), "a=b, c: d");
    set(doc, "services[0].traffic.rate_scale={\"lognormal\": {\"median\": \"40s\", \"p99\": \"2m\"}}");
    assert_text(node_text(node_get(node_get(NOW, "lognormal"), "p99")), "2m");
    /* What was set can be set into. */
    set(doc, "services[0].traffic.rate_scale.lognormal.p99=3m");
    assert_text(node_text(node_get(node_get(NOW, "lognormal"), "p99")), "3m");
    set(doc, "services[0].traffic.rate_scale=9007199254740993");
    assert_text(node_text(NOW), "9007199254740993");
#undef NOW
    document_free(doc);
}

static void refusals(void **state)
{
    struct document *doc = document_of(scenario, "s.json");

    (void)state;
    set_refused(doc, "services[0].traffic.rate_scle=4", "did you mean services[0].traffic.rate_scale?");
    set_refused(doc, "servces[0].name=x", "did you mean services?");
    set_refused(doc, "services[2].name=x", "no element \"2\" in services, which has 2: \"chat\", \"code\"");
    set_refused(doc, "services[chta].name=x", "no element \"chta\"");
    set_refused(doc, "services[99999999999999999999].name=x", "no element");
    set_refused(doc, "name.x=1", "name is a single value and holds no \"x\"");
    set_refused(doc, "zzzzzzzz=1", "Existing here: \"name\"");
    set_refused(doc, "name", "is not path=value");
    set_refused(doc, "=1", "is not path=value");
    set_refused(doc, "", "is not path=value");
    set_refused(doc, "services[=1", "is not path=value");
    set_refused(doc, "services[]=1", "is not a path");
    set_refused(doc, "services..name=1", "is not a path");
    set_refused(doc, ".name=1", "is not a path");
    set_refused(doc, "list[0]x=1", "is not a path");
    set_refused(doc, "name={\"a\": ", "not valid JSON");
    set_refused(doc, "name=[1,]", "not valid JSON");
    set_refused(doc, "name=\xff", "not valid UTF-8");
    document_free(doc);
}

/* What --set brings must leave a document that can be read again. */
static void depth(void **state)
{
    struct document *doc = document_of("{\"a\": {\"b\": 1}}", "s.json");
    char text[300] = "a.b=";

    (void)state;
    memset(text + 4, '[', 98);
    memset(text + 4 + 98, ']', 98);
    set(doc, text);
    memset(text + 4, '[', 99);
    memset(text + 4 + 99, ']', 99);
    set_refused(doc, text, "nested more than 100 deep");
    document_free(doc);
}

/* Written, what was set is there; and the copy of an alias can be set without its original. */
static void resolved(void **state)
{
    struct document *doc = document_of("a: &a {n: 1}\nb: *a\n", "s.yaml");
    char *json;

    (void)state;
    set(doc, "b.n=2");
    json = document_to_json(doc);
    assert_text(json, "{\n  \"a\": {\n    \"n\": 1\n  },\n  \"b\": {\n    \"n\": 2\n  }\n}\n");
    free(json);
    document_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_index_and_by_name),
        cmocka_unit_test(kinds_of_values),
        cmocka_unit_test(refusals),
        cmocka_unit_test(depth),
        cmocka_unit_test(resolved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
