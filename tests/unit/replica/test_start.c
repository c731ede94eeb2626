#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/replica/start.h"

#define S   SIM_SECOND
#define GIB ((int64_t)1 << 30)

/* Reads a "start" written in JSON. */
static int parse(const char *text, struct start_config *config, struct error *err)
{
    struct document *doc = NULL;
    int result;

    if (document_read_text(text, strlen(text), "test", &doc, err) < 0)
        fail_msg("%s: %s", err->place, err->message);
    result = start_config_parse(document_root(doc), config, err);
    document_free(doc);
    return result;
}

static struct start_config read_config(const char *text)
{
    struct start_config config;
    struct error err = {.code = ERROR_NONE};

    if (parse(text, &config, &err) < 0)
        fail_msg("%s: %s", err.place, err.message);
    return config;
}

static void assert_near(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-9 * fabs(expected));
}

static void test_names(void **state)
{
    static const char *const names[] = {"schedule", "node",  "pull",     "load",
                                        "init",     "probe", "endpoint", "ready"};

    (void)state;
    for (int i = 0; i <= START_STAGES; i++)
        assert_string_equal(start_stage_name((enum start_stage)i), names[i]);
}

/* ---- probe ---- */

/* Container at 100 s, delay 10 s, period 10 s: probes at 110, 120, 130, ... */
static void test_probe(void **state)
{
    struct start_config config = {
        .probe_initial_delay = 10 * S, .probe_period = 10 * S, .probe_success_threshold = 1};

    (void)state;
    assert_int_equal(start_probe_ready(&config, 100 * S, 127 * S), 130 * S);
    assert_int_equal(start_probe_ready(&config, 100 * S, 130 * S), 130 * S);
    assert_int_equal(start_probe_ready(&config, 100 * S, 130 * S + 1), 140 * S);
    assert_int_equal(start_probe_ready(&config, 100 * S, 110 * S), 110 * S);
    assert_int_equal(start_probe_ready(&config, 100 * S, 105 * S), 110 * S); /* the first probe, not before */
    assert_int_equal(start_probe_ready(&config, 100 * S, 100 * S), 110 * S);
    config.probe_success_threshold = 3; /* 130, 140, 150 */
    assert_int_equal(start_probe_ready(&config, 100 * S, 127 * S), 150 * S);
    config.probe_initial_delay = 0;
    config.probe_success_threshold = 1;
    assert_int_equal(start_probe_ready(&config, 7, 7), 7);
    assert_int_equal(start_probe_ready(&config, 7, 8), 7 + 10 * S);
}

/* On average a replica waits half a period: listening at every millisecond of one. */
static void test_probe_costs_half_a_period(void **state)
{
    struct start_config config = {.probe_period = 10 * S, .probe_success_threshold = 1};
    int64_t sum = 0;

    (void)state;
    for (int ms = 1; ms <= 10000; ms++) {
        sim_time listening = 30 * S + ms * SIM_MILLISECOND;

        sum += start_probe_ready(&config, 0, listening) - listening;
    }
    /* 9999, 9998, ..., 0 ms */
    assert_int_equal(sum, (int64_t)9999 * 10000 / 2 * SIM_MILLISECOND);
}

/* ---- extraction ---- */

static void test_extraction(void **state)
{
    struct start_config config = {.extract_ratio = 2, .extract_bytes_per_s = (double)GIB};

    (void)state;
    assert_int_equal(start_extract_time(&config, 10 * GIB, INFINITY), 20 * S);
    assert_int_equal(start_extract_time(&config, 10 * GIB, 0.5 * (double)GIB),
                     40 * S); /* the disk is slower */
    assert_int_equal(start_extract_time(&config, 10 * GIB, 4.0 * (double)GIB),
                     20 * S); /* the disk is faster */
    assert_int_equal(start_extract_time(&config, 0, INFINITY), 0);
    config.extract_ratio = 1;
    config.extract_bytes_per_s = INFINITY;
    assert_int_equal(start_extract_time(&config, 10 * GIB, INFINITY), 0);
    assert_int_equal(start_extract_time(&config, 1, 3), 333333334); /* rounded up */
    assert_int_equal(start_extract_time(&config, 6, 3), 2 * S);
    assert_int_equal(start_extract_time(&config, 8900000000, 270e6), 32962962963); /* 890/27 s = 32.962... */
    assert_int_equal(start_extract_time(&config, INT64_MAX, 1e-9), SIM_TIME_LIMIT);
}

/* ---- draws ---- */

static const char *const random_start = "{\"schedule\": {\"uniform\": {\"low\": \"50ms\", \"high\": "
                                        "\"250ms\"}}, \"image\": {\"size\": {\"lognormal\": {\"median\": "
                                        "\"9G\", \"p99\": \"20G\"}}}, \"load\": {\"size\": {\"normal\": "
                                        "{\"mean\": \"15G\", \"sd\": \"1G\"}}}, \"init\": %s, "
                                        "\"endpoint\": {\"exponential\": {\"mean\": \"1s\"}}}";

static void draws_of(const char *init, uint64_t ordinal, struct start_draws *draws)
{
    struct error err = {.code = ERROR_NONE};
    struct start_config config;
    struct stream stream;
    char text[1024];

    snprintf(text, sizeof text, random_start, init);
    config = read_config(text);
    assert_int_equal(stream_open(&stream, random_key(1, "chat", "start", 0), &err), 0);
    start_draw(&config, &stream, ordinal, draws);
    stream_close(&stream);
    start_config_free(&config);
}

static void test_draws_belong_to_the_ordinal(void **state)
{
    const char *constant = "\"80s\"", *gamma = "{\"gamma\": {\"mean\": \"80s\", \"cv\": 0.7}}";
    struct start_draws a, b, c;

    (void)state;
    draws_of(gamma, 5, &a);
    draws_of(gamma, 5, &b);
    assert_memory_equal(&a, &b, sizeof a);
    draws_of(gamma, 6, &c);
    assert_int_not_equal(a.schedule, c.schedule);
    assert_int_not_equal(a.init, c.init);
    assert_int_not_equal(a.image_bytes, c.image_bytes);
    /* another distribution of one stage leaves the luck of the others as it was */
    draws_of(constant, 5, &b);
    assert_int_equal(b.init, 80 * S);
    assert_int_equal(a.schedule, b.schedule);
    assert_int_equal(a.image_bytes, b.image_bytes);
    assert_int_equal(a.weight_bytes, b.weight_bytes);
    assert_int_equal(a.endpoint, b.endpoint);
}

/* Independent over ordinals: the mean of 10,000 uniform draws lies within 5 standard errors of 150 ms. */
static void test_draws_follow_the_distribution(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct start_config config = read_config(
        "{\"schedule\": {\"uniform\": {\"low\": \"50ms\", \"high\": \"250ms\"}}}");
    struct stream stream;
    double sum = 0;

    (void)state;
    assert_int_equal(stream_open(&stream, random_key(2, "chat", "start", 0), &err), 0);
    for (uint64_t i = 0; i < 10000; i++) {
        struct start_draws draws;

        start_draw(&config, &stream, i, &draws);
        assert_in_range(draws.schedule, 50 * SIM_MILLISECOND, 250 * SIM_MILLISECOND);
        sum += sim_time_seconds(draws.schedule);
    }
    assert_true(fabs(sum / 10000 - 0.150) <= 5 * 0.2 / sqrt(12.0) / 100);
    stream_close(&stream);
    start_config_free(&config);
}

static void test_huge_draws_stay_in_range(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct start_config config = {0};
    struct start_draws draws;
    struct stream stream;

    (void)state;
    assert_int_equal(distribution_constant(&config.image_bytes, 1e300, &err), 0);
    assert_int_equal(stream_open(&stream, 1, &err), 0);
    start_draw(&config, &stream, 0, &draws);
    assert_int_equal(draws.image_bytes, (int64_t)1 << 55);
    assert_int_equal(draws.weight_bytes, 0);
    stream_close(&stream);
}

/* ---- a lone replica ---- */

/* 1 s + 10 GiB at 2 GiB/s + 20 GiB at 4 GiB/s = 11 s to the container; 15 GiB at 5 GiB/s + 20 s = 23 s until
 * it listens, seen by the probe at 10 + 10 + 10 = 30 s; 2 s to the endpoint: 43 s. With a node of 180 s: 223
 * s. */
static void test_alone(void **state)
{
    struct start_config config = read_config("{\"schedule\": \"1s\", \"image\": {\"size\": \"10Gi\", "
                                             "\"ratio\": 2, \"extract\": \"4GiB/s\"}, \"load\": {\"size\": "
                                             "\"15Gi\"}, \"init\": \"20s\", \"probe\": {\"initial_delay\": "
                                             "\"10s\", \"period\": \"10s\"}, \"endpoint\": \"2s\"}");

    (void)state;
    assert_near(start_alone_seconds(&config, 0.5, 2.0 * (double)GIB, 5.0 * (double)GIB, 0), 43);
    assert_near(start_alone_seconds(&config, 0.5, 2.0 * (double)GIB, 5.0 * (double)GIB, 180), 223);
    start_config_free(&config);
}

/* Each stage counts: without it, the sum is that much shorter. */
static void test_alone_counts_every_stage(void **state)
{
    static const char *const without[] = {"schedule", "image", "load", "init", "endpoint"};
    static const double shorter[] = {1, 10, 3, 20, 2};

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct start_config config;
        char text[512];

        snprintf(text, sizeof text,
                 "{\"schedule\": \"%s\", \"image\": {\"size\": \"%s\", \"ratio\": 2, \"extract\": "
                 "\"4GiB/s\"}, \"load\": {\"size\": "
                 "\"%s\"}, \"init\": \"%s\", \"probe\": {\"period\": \"1s\"}, \"endpoint\": \"%s\"}",
                 strcmp(without[i], "schedule") ? "1s" : "0", strcmp(without[i], "image") ? "10Gi" : "0",
                 strcmp(without[i], "load") ? "15Gi" : "0", strcmp(without[i], "init") ? "20s" : "0",
                 strcmp(without[i], "endpoint") ? "2s" : "0");
        config = read_config(text);
        assert_near(start_alone_seconds(&config, 0.5, 2.0 * (double)GIB, 5.0 * (double)GIB, 0),
                    36 - shorter[i]);
        start_config_free(&config);
    }
}

/* Medians of random stages: lognormal's is given, the uniform one's is its middle. */
static void test_alone_takes_quantiles(void **state)
{
    struct start_config config = read_config(
        "{\"schedule\": {\"uniform\": {\"low\": \"1s\", \"high\": \"3s\"}}, \"image\": {\"size\": 0}, "
        "\"load\": {\"size\": 0}, \"init\": "
        "{\"lognormal\": {\"median\": \"40s\", \"p99\": \"2m\"}}, \"probe\": {\"period\": \"1ns\"}, "
        "\"endpoint\": \"0\"}");

    (void)state;
    assert_near(start_alone_seconds(&config, 0.5, 1, 1, 0), 42);
    assert_true(fabs(start_alone_seconds(&config, 0.99, 1, 1, 0) - (2.98 + 120)) <= 1e-6);
    start_config_free(&config);
}

/* ---- the parser ---- */

static void test_defaults(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct start_config config;

    (void)state;
    assert_int_equal(start_config_parse(NULL, &config, &err), 0);
    assert_near(distribution_quantile(&config.schedule, 0.5), 0.150);
    assert_near(distribution_quantile(&config.image_bytes, 0.5), 8.9e9);
    assert_near(distribution_quantile(&config.weight_bytes, 0.5), 15e9);
    assert_near(distribution_quantile(&config.init, 0.5), 110);
    assert_near(distribution_quantile(&config.init, 0.99), 600);
    assert_near(distribution_quantile(&config.endpoint, 0.5), 1);
    assert_near(config.extract_ratio, 2);
    assert_near(config.extract_bytes_per_s, 270e6);
    assert_near(config.host_bytes_per_s, 23e9);
    assert_false(config.weights_from_host);
    /* Kubernetes: initialDelaySeconds 0, periodSeconds 10, timeoutSeconds 1, successThreshold 1, grace 30 s
     */
    assert_int_equal(config.probe_initial_delay, 0);
    assert_int_equal(config.probe_period, 10 * S);
    assert_int_equal(config.probe_timeout, 1 * S);
    assert_int_equal(config.probe_success_threshold, 1);
    assert_int_equal(config.grace, 30 * S);
    start_config_free(&config);
}

static void test_all_keys(void **state)
{
    struct start_config config = read_config(
        "{\"schedule\": \"2s\", \"image\": {\"size\": \"12Gi\", \"ratio\": 2.5, \"extract\": \"none\"}, "
        "\"load\": {\"size\": \"15Gi\", "
        "\"from\": \"host-cache\", \"host_bandwidth\": \"20GB/s\"}, \"init\": \"45s\", \"probe\": "
        "{\"initial_delay\": \"5s\", \"period\": "
        "\"3s\", \"timeout\": \"2s\", \"success_threshold\": 2, \"failure_threshold\": 3}, \"endpoint\": "
        "\"500ms\", \"grace\": \"2m\"}");

    (void)state;
    assert_near(distribution_quantile(&config.image_bytes, 0.5), 12.0 * (double)GIB);
    assert_near(config.extract_ratio, 2.5);
    assert_true(isinf(config.extract_bytes_per_s));
    assert_true(config.weights_from_host);
    assert_near(config.host_bytes_per_s, 20e9);
    assert_int_equal(config.probe_initial_delay, 5 * S);
    assert_int_equal(config.probe_period, 3 * S);
    assert_int_equal(config.probe_timeout, 2 * S);
    assert_int_equal(config.probe_success_threshold, 2);
    assert_int_equal(config.grace, 120 * S);
    start_config_free(&config);
}

static void test_refused(void **state)
{
    static const char *const texts[][2] = {
        {"{\"image\": {\"sise\": \"9G\"}}", "did you mean \"size\""},
        {"{\"load\": {\"from\": \"s3\"}}", "host-cache"},
        {"{\"probe\": {\"period\": \"0\"}}", "period"},
        {"{\"probe\": {\"success_threshold\": 0}}", "success_threshold"},
        {"{\"image\": {\"extract\": \"free\"}}", "free"},
        {"{\"image\": {\"ratio\": 0.5}}", "ratio"},
        {"{\"init\": 45}", "unit"},
        {"{\"grace\": \"-1s\"}", "-1s"},
        {"[]", "map"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error err = {.code = ERROR_NONE};
        struct start_config config;

        assert_int_equal(parse(texts[i][0], &config, &err), -1);
        assert_int_equal(err.code, ERROR_INPUT);
        if (!strstr(err.message, texts[i][1]) && !strstr(err.place, texts[i][1]))
            fail_msg("%s: \"%s: %s\" does not say %s", texts[i][0], err.place, err.message, texts[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_probe_costs_half_a_period),
        cmocka_unit_test(test_extraction),
        cmocka_unit_test(test_draws_belong_to_the_ordinal),
        cmocka_unit_test(test_draws_follow_the_distribution),
        cmocka_unit_test(test_huge_draws_stay_in_range),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_alone_counts_every_stage),
        cmocka_unit_test(test_alone_takes_quantiles),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
