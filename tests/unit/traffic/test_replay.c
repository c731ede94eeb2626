#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/traffic/trace_info.h"
#include "models/traffic/traffic.h"

/* Traffic out of texts and files; the figures of recorded traces are those of their own ground truth. */

static struct document *document;

static struct traffic *traffic_of(const char *text, sim_time duration)
{
    struct error err = {.code = ERROR_NONE};
    struct traffic *traffic;

    if (document_read_text(text, strlen(text), "test", &document, &err) < 0 ||
        traffic_parse(document_root(document), duration, &traffic, &err) < 0)
        fail_msg("%s: %s", err.place, err.message);
    return traffic;
}

static void traffic_done(struct traffic *traffic)
{
    traffic_free(traffic);
    document_free(document);
}

/* Requests, and those of the fullest second. */
static int64_t count_of(const struct traffic *traffic, uint64_t seed, uint64_t replication, int64_t *peak)
{
    struct error err = {.code = ERROR_NONE};
    struct traffic_stream *stream;
    struct arrival arrival;
    int64_t count = 0, in_second = 0;
    sim_time second = -1, last = 0;

    *peak = 0;
    assert_int_equal(traffic_open(traffic, seed, "s", replication, &stream, &err), 0);
    while (traffic_next(stream, &arrival, &err) > 0) {
        assert_true(arrival.at >= last);
        last = arrival.at;
        in_second = arrival.at / SIM_SECOND == second ? in_second + 1 : 1;
        second = arrival.at / SIM_SECOND;
        *peak = in_second > *peak ? in_second : *peak;
        count++;
    }
    assert_int_equal(err.code, ERROR_NONE);
    traffic_close(stream);
    return count;
}

static void integral_of_a_day(void **state)
{
    /* a triangle of 12 h and height 2 over a base of 1: mean 1.5 */
    struct traffic *traffic = traffic_of(
        "{\"synth\": {\"rate\": \"2/s\", \"day\": {\"points\": [[\"00:00\", 1], [\"12:00\", 2]]}}}", SIM_DAY);

    (void)state;
    assert_true(fabs(traffic_expected(traffic, 0, SIM_DAY) - 2 * 1.5 * 86400) < 1e-6);
    assert_true(fabs(traffic_rate(traffic, 6 * SIM_HOUR) - 3) < 1e-12);
    traffic_done(traffic);
}

static void poisson_counts(void **state)
{
    struct traffic *traffic = traffic_of("{\"synth\": {\"rate\": \"100/s\", \"events\": [{\"at\": \"10m\", "
                                         "\"ramp\": \"5m\", \"hold\": \"5m\", "
                                         "\"decay\": \"10m\", \"add\": \"50/s\"}]}}",
                                         SIM_HOUR);
    double expected = 100 * 3600 + 50 * (150 + 300 + 300);
    int64_t peak, first;

    (void)state;
    assert_true(fabs(traffic_expected(traffic, 0, SIM_HOUR) - expected) < 1e-6);
    first = count_of(traffic, 1, 0, &peak);
    assert_true(fabs((double)first - expected) < 5 * sqrt(expected));
    assert_int_equal(count_of(traffic, 1, 0, &peak), first); /* the same again */
    assert_int_not_equal(count_of(traffic, 1, 1, &peak), first);
    traffic_done(traffic);
}

static bool shared_has(const char *name)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/data/traces/%s", PEAKSIM_SHARED_DIR, name);
    if (access(path, R_OK) == 0)
        return true;
    printf("SKIPPED: test_replay: checks of %s, no ../shared\n", name);
    return false;
}

/* Copies of the Azure code trace x 20: 1,340 requests in one second unshifted, 266 to 431 at +-30 s. */
static void copies_of_a_bursty_trace(void **state)
{
    const char *name = "azure-llm-2023/AzureLLMInferenceTrace_code.csv";
    char text[1400];
    struct traffic *traffic;
    int64_t peak;

    (void)state;
    if (!shared_has(name))
        return;
    snprintf(text, sizeof text,
             "{\"replay\": {\"file\": \"%s/data/traces/%s\", \"rate_scale\": 20, \"jitter\": \"0s\"}}",
             PEAKSIM_SHARED_DIR, name);
    traffic = traffic_of(text, 2 * SIM_HOUR);
    assert_int_equal(count_of(traffic, 1, 0, &peak), 20 * 8819);
    assert_int_equal(peak, 1340);
    traffic_done(traffic);
    snprintf(text, sizeof text, "{\"replay\": {\"file\": \"%s/data/traces/%s\", \"rate_scale\": 20}}",
             PEAKSIM_SHARED_DIR, name);
    traffic = traffic_of(text, 2 * SIM_HOUR);
    for (uint64_t r = 0; r < 8; r++) {
        int64_t count = count_of(traffic, 1, r, &peak);

        assert_true(count > 19 * 8819 && count <= 20 * 8819);
        assert_in_range(peak, 266, 431);
    }
    traffic_done(traffic);
}

static void ground_truth(void **state)
{
    static const struct {
        const char *name;
        int64_t rows, peak_second, peak_minute, in, out;
        double span_s;
    } cases[] = {
        {"azure-llm-2023/AzureLLMInferenceTrace_code.csv", 8819, 67, 632, 18059974, 245896, 3435.948056},
        {"azure-llm-2023/AzureLLMInferenceTrace_conv.csv", 19366, 16, 507, 22361870, 4088665, 3501.721937},
        {"vidur-splitwise/splitwise_conv.csv", 19366, 16, 507, 22361870, 4088665, 3501.721937},
        {"mooncake/conversation_trace.jsonl.gz", 12031, 28, 247, 144793823, 4122048, 3536.999},
        {"ragpulse/0_trace.jsonl", 7106, 3, 10, 20917099, 2012676, 604603},
        {"azure-functions/Azure2021_200.csv", 199, 22, 42, 0, 0, 1200.013307},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {.code = ERROR_NONE};
        struct trace_spec *spec;
        struct trace_info info;
        char path[1024];

        if (!shared_has(cases[i].name))
            continue;
        snprintf(path, sizeof path, "%s/data/traces/%s", PEAKSIM_SHARED_DIR, cases[i].name);
        if (trace_spec_from_path(path, NULL, &spec, &err) < 0 || trace_info_make(spec, &info, &err) < 0)
            fail_msg("%s: %s", err.place, err.message);
        assert_int_equal(info.rows, cases[i].rows);
        assert_int_equal(info.second.peak, cases[i].peak_second);
        assert_int_equal(info.minute.peak, cases[i].peak_minute);
        assert_int_equal(info.in.sum, cases[i].in);
        assert_int_equal(info.out.sum, cases[i].out);
        assert_true(fabs(info.span_s - cases[i].span_s) < 1e-6);
        trace_spec_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integral_of_a_day),
        cmocka_unit_test(poisson_counts),
        cmocka_unit_test(copies_of_a_bursty_trace),
        cmocka_unit_test(ground_truth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
