#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/cluster/cluster.h"

static struct document *doc; /* the names of the pools are borrowed from it */

static int parse(const char *text, struct cluster_config *config, struct error *err)
{
    document_free(doc);
    doc = NULL;
    if (document_read_text(text, strlen(text), "test", &doc, err) < 0)
        fail_msg("%s: %s", err->place, err->message);
    return cluster_config_parse(document_root(doc), config, err);
}

static int teardown(void **state)
{
    (void)state;
    document_free(doc);
    doc = NULL;
    return 0;
}

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-9 * fabs(expected));
}

/* The shortest one. Cluster Autoscaler: --scan-interval 10s, --scale-down-unneeded-time 10m. */
static void test_defaults(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct cluster_config config;

    (void)state;
    assert_int_equal(parse("{\"nodes\": [{\"type\": \"a100-8\", \"gpus\": 8, \"max\": 5}]}", &config, &err),
                     0);
    assert_int_equal(config.pool_count, 1);
    assert_string_equal(config.pools[0].name, "a100-8");
    assert_int_equal(config.pools[0].gpus, 8);
    assert_int_equal(config.pools[0].min, 0);
    assert_int_equal(config.pools[0].max, 5);
    assert_near(distribution_quantile(&config.pools[0].provision, 0.5), 180);
    assert_near(distribution_quantile(&config.pools[0].provision, 0.99), 480);
    assert_near(distribution_quantile(&config.pools[0].gpu_ready, 0.5), 30);
    assert_true(isinf(config.pools[0].nic_bytes_per_s));
    assert_true(isinf(config.pools[0].disk_bytes_per_s));
    assert_near(config.registry_bytes_per_s, 1.35e9);
    assert_near(config.store_bytes_per_s, 3e9);
    assert_int_equal(config.scan_interval, 10 * SIM_SECOND);
    assert_int_equal(config.scale_down_delay, 10 * SIM_MINUTE);
    assert_false(config.spread);
    cluster_config_free(&config);
    assert_null(config.pools);
}

static void test_all_keys(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct cluster_config config;

    (void)state;
    assert_int_equal(parse("{\"nodes\": [{\"type\": \"l4\", \"gpus\": 1, \"max\": 9}, {\"type\": \"h100-8\", "
                           "\"gpus\": 8, \"min\": 2, \"max\": 10, "
                           "\"provision\": \"4m\", \"gpu_ready\": \"15s\", \"nic\": \"10Gbit/s\", \"disk\": "
                           "\"2GB/s\", \"host_memory\": \"2Ti\"}], "
                           "\"links\": {\"registry\": \"2GiB/s\", \"store\": \"5GiB/s\"}, \"autoscaler\": "
                           "{\"scan_interval\": \"30s\", "
                           "\"scale_down_delay\": \"5m\"}, \"placement\": \"spread\"}",
                           &config, &err),
                     0);
    assert_int_equal(config.pool_count, 2);
    assert_int_equal(config.pools[1].min, 2);
    assert_near(distribution_quantile(&config.pools[1].provision, 0.5), 240);
    assert_near(distribution_quantile(&config.pools[1].gpu_ready, 0.5), 15);
    assert_near(config.pools[1].nic_bytes_per_s, 1.25e9);
    assert_near(config.pools[1].disk_bytes_per_s, 2e9);
    assert_int_equal(config.pools[1].host_memory_bytes, (int64_t)2 << 40);
    assert_near(config.registry_bytes_per_s, 2.0 * 1073741824);
    assert_near(config.store_bytes_per_s, 5.0 * 1073741824);
    assert_int_equal(config.scan_interval, 30 * SIM_SECOND);
    assert_int_equal(config.scale_down_delay, 5 * SIM_MINUTE);
    assert_true(config.spread);
    cluster_config_free(&config);
}

static void test_refused(void **state)
{
    static const char *const texts[][2] = {
        {"{}", "nodes"},
        {"{\"nodes\": []}", "list of 1"},
        {"{\"nodes\": {\"type\": \"a\"}}", "list of 1"},
        {"{\"nodes\": [{\"gpus\": 8, \"max\": 5}]}", "type"},
        {"{\"nodes\": [{\"type\": \"\", \"gpus\": 8, \"max\": 5}]}", "1 to 100 bytes"},
        {"{\"nodes\": [{\"type\": \"currency\", \"gpus\": 8, \"max\": 5}]}", "cannot be a node type"},
        {"{\"nodes\": [{\"type\": \"a\", \"max\": 5}]}", "gpus"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 65, \"max\": 5}]}", "64"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8}]}", "max"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8, \"min\": 6, \"max\": 5}]}", "more than \"max\" (5)"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8, \"max\": 5}, {\"type\": \"a\", \"gpus\": 4, \"max\": "
         "5}]}",
         "two node pools"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8, \"max\": 5, \"provison\": \"4m\"}]}",
         "did you mean \"provision\""},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8, \"max\": 5}], \"links\": {\"registry\": \"0B/s\"}}",
         "registry"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8, \"max\": 5}], \"autoscaler\": {\"scan_interval\": "
         "\"0\"}}",
         "at least 1ms"},
        {"{\"nodes\": [{\"type\": \"a\", \"gpus\": 8, \"max\": 5}], \"placement\": \"packed\"}",
         "did you mean \"pack\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error err = {.code = ERROR_NONE};
        struct cluster_config config;

        assert_int_equal(parse(texts[i][0], &config, &err), -1);
        assert_int_equal(err.code, ERROR_INPUT);
        assert_null(config.pools);
        if (!strstr(err.message, texts[i][1]) && !strstr(err.place, texts[i][1]))
            fail_msg("%s: \"%s: %s\" does not say %s", texts[i][0], err.place, err.message, texts[i][1]);
    }
}

static void test_missing(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct cluster_config config;

    (void)state;
    assert_int_equal(cluster_config_parse(NULL, &config, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_non_null(strstr(err.message, "\"nodes\": [{"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_missing),
    };

    return cmocka_run_group_tests(tests, NULL, teardown);
}
