#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/routing/balancers.h"

/* A service's map with "routing" and "client"; either may be absent. Returns what the parser returns. */
static int parse(const char *text, struct routing_config *config, struct error *err)
{
    struct document *doc = NULL;
    struct error trouble = {0};
    int result;

    if (document_read_text(text, strlen(text), "test", &doc, &trouble))
        fail_msg("%s: %s", trouble.place, trouble.message);
    result = routing_config_parse(node_get(document_root(doc), "routing"),
                                  node_get(document_root(doc), "client"), config, err);
    document_free(doc);
    return result;
}

static void test_defaults(void **state)
{
    static const char *const texts[] = {"{}", "{\"routing\": {}}", "{\"client\": {}}",
                                        "{\"routing\": {\"queue\": {}}, \"client\": {}}"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct routing_config config;
        struct error err = {0};

        assert_int_equal(parse(texts[i], &config, &err), 0);
        assert_ptr_equal(config.balancer, &balancer_least_outstanding);
        assert_false(config.central);
        assert_int_equal(config.queue_max, INT64_MAX);
        assert_int_equal(config.timeout, SIM_NEVER);
        assert_int_equal(config.cancel, CANCEL_QUEUE);
    }
}

static void test_all_given(void **state)
{
    struct routing_config config;
    struct error err = {0};

    (void)state;
    assert_int_equal(parse("{\"routing\": {\"balancer\": \"power-of-two\", \"queue\": {\"where\": "
                           "\"central\", \"max\": 100}},"
                           " \"client\": {\"timeout\": \"30s\", \"cancel_on_timeout\": \"all\"}}",
                           &config, &err),
                     0);
    assert_ptr_equal(config.balancer, &balancer_power_of_two);
    assert_true(config.central);
    assert_int_equal(config.queue_max, 100);
    assert_int_equal(config.timeout, 30 * SIM_SECOND);
    assert_int_equal(config.cancel, CANCEL_ALL);

    assert_int_equal(
        parse(
            "{\"routing\": {\"balancer\": \"round-robin\", \"queue\": {\"where\": \"replica\", \"max\": 0}},"
            " \"client\": {\"cancel_on_timeout\": \"none\"}}",
            &config, &err),
        0);
    assert_ptr_equal(config.balancer, &balancer_round_robin);
    assert_false(config.central);
    assert_int_equal(config.queue_max, 0);
    assert_int_equal(config.cancel, CANCEL_NONE);

    /* every registered name is accepted */
    for (const struct balancer_type *const *type = balancer_types(); *type; type++) {
        char text[128];

        snprintf(text, sizeof text, "{\"routing\": {\"balancer\": \"%s\"}}", (*type)->name);
        assert_int_equal(parse(text, &config, &err), 0);
        assert_ptr_equal(config.balancer, *type);
    }
}

/* Each is refused, with its place and with what the message must say. */
static void test_refused(void **state)
{
    static const struct {
        const char *text, *place, *says;
    } rows[] = {
        {"{\"routing\": {\"balancer\": \"least-outstandng\"}}", "routing.balancer", "least-outstanding"},
        {"{\"routing\": {\"balancer\": 3}}", "routing.balancer", "3"},
        {"{\"routing\": {\"balancr\": \"random\"}}", "routing", "balancer"},
        {"{\"routing\": {\"queue\": {\"wher\": \"central\"}}}", "routing.queue", "where"},
        {"{\"routing\": {\"queue\": {\"where\": \"centre\"}}}", "routing.queue.where", "central"},
        {"{\"routing\": {\"queue\": {\"max\": -1}}}", "routing.queue.max", "-1"},
        {"{\"routing\": {\"queue\": {\"max\": 1.5}}}", "routing.queue.max", "1.5"},
        {"{\"routing\": {\"queue\": 100}}", "routing.queue", "map"},
        {"{\"routing\": []}", "routing", "map"},
        {"{\"client\": {\"timeout\": \"0\"}}", "client.timeout", "longer than 0"},
        {"{\"client\": {\"timeout\": 30}}", "client.timeout", "30"},
        {"{\"client\": {\"timeout\": \"-3s\"}}", "client.timeout", "-3s"},
        {"{\"client\": {\"cancel_on_timeout\": \"both\"}}", "client.cancel_on_timeout", "queue"},
        {"{\"client\": {\"cancel\": \"all\"}}", "client", "cancel"},
        {"{\"client\": \"30s\"}", "client", "map"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct routing_config config;
        struct error err = {0};

        if (!parse(rows[i].text, &config, &err))
            fail_msg("accepted: %s", rows[i].text);
        assert_int_equal(err.code, ERROR_INPUT);
        if (!strstr(err.message, rows[i].says) || !strstr(err.place, rows[i].place))
            fail_msg("%s gives %s: %s", rows[i].text, err.place, err.message);
    }
}

/* The defaults stand in the ledger with their sources, also where "queue" is absent. */
static void test_ledger(void **state)
{
    const char *text = "{\"routing\": {}, \"client\": {}}";
    struct document *doc = NULL;
    struct routing_config config;
    struct error err = {0};
    int found = 0;

    (void)state;
    assert_int_equal(document_read_text(text, strlen(text), "test", &doc, &err), 0);
    assert_int_equal(routing_config_parse(node_get(document_root(doc), "routing"),
                                          node_get(document_root(doc), "client"), &config, &err),
                     0);
    for (size_t i = 0; i < document_input_count(doc); i++) {
        const struct input *input = document_input(doc, i);

        if (!strcmp(input->path, "routing.balancer") || !strcmp(input->path, "routing.queue.where") ||
            !strcmp(input->path, "client.cancel_on_timeout")) {
            assert_int_equal(input->provenance, PROVENANCE_PRESET);
            assert_false(input->given);
            assert_true(strlen(input->source) > 0);
            found++;
        }
    }
    assert_int_equal(found, 3);
    document_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_given),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ledger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
