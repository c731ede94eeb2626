#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "sim/run/number_text.h"
#include "sim/run/summary.h"
#include "tests/unit/run/made_outcomes.h"

/* To a histogram bucket: 1 part in 1,000. */
static bool near(double a, double b)
{
    return fabs(a - b) <= 1.001e-3 * fabs(b);
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

enum { REPLICATIONS = 10 };

/*
 * Three strategies. Peak of strategy 0: latencies 1, 2, ..., 1000 ms in every replication; off peak 1000 x
 * 100 ms. So the peak's P99 is 990 ms, and the whole's the 1980th of 2000 values: 1000 + v of them are <= v
 * ms (v >= 100), hence 980 ms. Mean: (500.5 + 100) / 2 = 300.25 ms. Strategy 1: the same, and 21 rejected in
 * the peak: of 1021 the 1011th is infinite (1000 are finite). Unserved 21 / 1021. Strategy 2: 2 ms for all in
 * the even replications, 4 ms in the odd ones.
 */
static void fill(struct made *made)
{
    made_init(made, 3, 1, REPLICATIONS);
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < REPLICATIONS; r++) {
            struct outcome *run = made_run(made, s, r);
            struct outcome_service *x = run->services;

            if (s < 2) {
                for (int v = 1; v <= 1000; v++)
                    made_requests(x, true, v * SIM_MILLISECOND, 1);
                made_requests(x, false, 100 * SIM_MILLISECOND, 1000);
            } else {
                made_requests(x, true, (r % 2 ? 4 : 2) * SIM_MILLISECOND, 1000);
            }
            if (s == 1)
                made_rejects(x, true, 21);
            x->good = x->completed - 5;
            x->violation_windows = s;
            x->windows = 350;
            /* allowed: 10 in 1000 for the latency, 100 for the ttft */
            x->bound_missed_peak[0] = s == 0 ? 5 : s == 1 ? 21 : r % 2 ? 5 : 15;
            x->bound_missed_peak[1] = s == 1 ? 21 : 100;
            x->replicas_mean = 4 + s;
            x->replicas_min = 2;
            x->replicas_max = 8 + r % 2;
            x->cold_starts = 6;
            x->tokens_in = 600000;
            x->tokens_out = 400000;
            x->shortage_replica_s[SHORTAGE_PULL] = 120;
            x->shortage_replica_s[SHORTAGE_POLICY] = 30;
            x->shortage_total_replica_s = s == 2 ? (double)NAN : 150;
            run->priced = true;
            run->gross_micro = 10000000 * (s + 1) + 1000 * r;
            run->credit_micro = s == 2 ? 4000000 : 0;
            run->gpu_seconds_billed = 7200;
            run->gpu_seconds[GPU_BUSY] = 3600;
            run->gpu_seconds[GPU_IDLE] = 3600;
        }
}

static void test_figures(void **state)
{
    static struct made made;
    struct summary summary;
    struct error err = {0};
    const struct summary_service *a, *b, *c;

    (void)state;
    fill(&made);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.replications, REPLICATIONS);
    a = &summary.strategies[0].services[0];
    b = &summary.strategies[1].services[0];
    c = &summary.strategies[2].services[0];
    assert_int_equal(a->offered, 20000);
    assert_int_equal(b->rejected, 210);
    assert_int_equal(a->peak_offered, 10000);
    assert_true(near(a->peak_p99_s.mean, 0.990) && near(a->peak_p99_s.each[7], 0.990));
    /* all replications alike: leaving one out moves the smooth quantile by rounding of ranks only */
    assert_true(a->peak_p99_s.ci95 < 1e-3);
    assert_true(near(a->whole_p99_s.mean, 0.980));
    assert_true(same(a->latency[FIGURE_MEAN].mean, 0.30025) && near(a->latency[FIGURE_MAX].mean, 1));
    assert_true(near(a->latency[FIGURE_P50].mean, 0.1));
    assert_true(isnan(a->ttft[FIGURE_P99].mean)); /* there is none */
    assert_true(isinf(b->peak_p99_s.mean) && isnan(b->peak_p99_s.ci95));
    assert_true(same(b->peak_unserved_share.mean, 21.0 / 1021));
    assert_true(near(b->latency[FIGURE_P99].mean, 0.980)); /* of completed ones alone: nothing is infinite */
    assert_true(near(c->peak_p99_s.mean, 0.004));
    assert_true(same(a->violation_s.mean, 0) && same(c->violation_s.mean, 120));
    assert_true(same(a->attainment.mean, 1995.0 / 2000));
    assert_true(same(a->replicas_max.mean, 8.5) && a->replicas_max.low == 8 && a->replicas_max.high == 9);
    /* 8 and 9 in turn: s^2 = 10 * 0.25 / 9, half = 2.262157 * sqrt(s^2 / 10) = 0.377026 */
    assert_true(fabs(a->replicas_max.ci95 - 0.377026) < 1e-6);
    assert_true(same(a->shortage[SHORTAGE_PULL].mean, 120) && same(a->shortage_total.mean, 150));
    assert_true(isnan(c->shortage_total.mean) && isnan(c->shortage[SHORTAGE_PULL].mean));
    /* money: 10 + r / 1000, mean 10.0045; per million of 2000 requests; per million of a million tokens */
    assert_true(same(summary.strategies[0].gross.mean, 10.0045));
    assert_true(same(summary.strategies[0].per_million_requests.mean, 10.0045 / 2000 * 1e6));
    assert_true(same(summary.strategies[0].per_million_tokens.mean, 10.0045));
    assert_true(same(summary.strategies[2].net.mean, 26.0045));
    assert_true(same(summary.strategies[0].gpu_total_h.mean, 2) &&
                same(summary.strategies[0].gpu_h[GPU_BUSY].mean, 1));
    summary_free(&summary);
    made_free(&made);
}

static void test_verdicts(void **state)
{
    static struct made made;
    struct summary summary;
    struct error err = {0};

    (void)state;
    fill(&made);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    /* 5 of 1000 <= 1 % and 100 of 1000 <= 10 % exactly: yes. */
    assert_int_equal(summary.strategies[0].met, VERDICT_YES);
    assert_true(summary.strategies[0].services[0].p_met == 1);
    /* 21 of 1021 in every replication */
    assert_int_equal(summary.strategies[1].met, VERDICT_NO);
    assert_true(summary.strategies[1].services[0].p_met == 0);
    /* 5 and 15 in turn: half of them, and the interval of the share 1 % +- 0.38 % does not decide */
    assert_int_equal(summary.strategies[2].met, VERDICT_UNDECIDED);
    assert_true(summary.strategies[2].services[0].p_met == 0.5);
    assert_int_equal(summary_cheapest(&summary), 0);
    summary_free(&summary);

    /* success: 100 of 2100 lost are 4.76 % <= 5 %; 110 of 2110 are 5.21 % */
    for (int r = 0; r < REPLICATIONS; r++)
        made_rejects(made_run(&made, 0, r)->services, false, 100);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.strategies[0].met, VERDICT_YES);
    summary_free(&summary);
    for (int r = 0; r < REPLICATIONS; r++)
        made_rejects(made_run(&made, 0, r)->services, false, 10);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.strategies[0].met, VERDICT_NO);
    assert_int_equal(summary_cheapest(&summary), -1);
    summary_free(&summary);

    /* no SLO: no verdict */
    made.services[0].slo = (struct slo){.count = 0};
    for (int i = 0; i < 3 * REPLICATIONS; i++)
        made.runs[i].services[0].bounds = 0;
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.strategies[0].met, VERDICT_NONE);
    assert_null(verdict_name(summary.strategies[0].met));
    summary_free(&summary);
    made_free(&made);
}

static void test_comparisons(void **state)
{
    static struct made made;
    struct summary summary;
    struct error err = {0};
    const struct comparison *c;

    (void)state;
    fill(&made);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.comparison_count, 6);
    c = &summary.comparisons[0]; /* 0 and 1, P99: one is infinite in all ten: sign test, p = 2 / 1024, three
                                    tests of this metric */
    assert_true(c->a == 0 && c->b == 1 && c->metric == COMPARE_PEAK_P99 && c->service == 0);
    assert_true(c->paired.test == COMPARISON_SIGN && same(c->paired.p, 2.0 / 1024));
    assert_true(c->significant && isinf(c->paired.difference) && c->paired.difference < 0);
    c = &summary.comparisons[1]; /* cost: always 10 apart */
    assert_true(c->metric == COMPARE_COST_GROSS && c->service == -1);
    assert_true(same(c->paired.difference, -10) && c->significant && c->paired.half < 1e-9);
    c = &summary.comparisons[2]; /* 0 and 2: 0.99 - 0.004 */
    assert_true(c->b == 2 && c->paired.test == COMPARISON_T && near(c->paired.difference, 0.986) &&
                c->significant);
    summary_free(&summary);
    made_free(&made);
}

static void test_partial_and_few(void **state)
{
    static struct made made;
    struct summary summary;
    struct error err = {0};

    (void)state;
    fill(&made);
    made.results.partial = true;
    made.outcomes[1 * REPLICATIONS + 0] = NULL;
    assert_int_equal(experiment_first(&made.results), 1);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.replications, 9);
    assert_int_equal(summary.strategies[0].services[0].offered, 18000);
    assert_true(isnan(summary.strategies[0].services[0].peak_p99_s.ci95)); /* 9 < 10 */
    assert_true(summary.caution_count >= 2 && strstr(summary.cautions[0], "9 of 10"));
    summary_free(&summary);
    for (int r = 0; r < REPLICATIONS; r++)
        made.outcomes[1 * REPLICATIONS + r] = NULL;
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.replications, 0);
    assert_true(isnan(summary.strategies[0].gross.mean));
    summary_free(&summary);
    made_free(&made);

    /* one replication: values without intervals, the SLO's own answer, nothing significant */
    made_init(&made, 2, 1, 1);
    for (int s = 0; s < 2; s++) {
        made_requests(made_run(&made, s, 0)->services, true, SIM_SECOND * (s + 1), 50);
        made_run(&made, s, 0)->services[0].bound_missed_peak[1] = s ? 50 : 0;
    }
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    assert_int_equal(summary.strategies[0].met, VERDICT_YES);
    assert_int_equal(summary.strategies[1].met, VERDICT_NO);
    assert_true(isnan(summary.strategies[0].services[0].attainment.ci95));
    for (int i = 0; i < summary.comparison_count; i++)
        assert_false(summary.comparisons[i].significant);
    summary_free(&summary);
    /* a run that did not count its bounds would pass for one that met them all */
    made_run(&made, 0, 0)->services[0].bounds = 0;
    assert_int_equal(summary_make(&made.results, &summary, &err), -1);
    assert_int_equal(err.code, ERROR_INTERNAL);
    summary_free(&summary);
    made_free(&made);
}

static const cJSON *at(const cJSON *json, const char *path)
{
    char copy[256], *rest = copy, *key;

    snprintf(copy, sizeof copy, "%s", path);
    while (json && (key = strsep(&rest, "/")))
        json = key[0] >= '0' && key[0] <= '9' ? cJSON_GetArrayItem(json, atoi(key))
                                              : cJSON_GetObjectItemCaseSensitive(json, key);
    return json;
}

static void test_json(void **state)
{
    static const char *const keys[] = {"scenario",
                                       "seed",
                                       "replications",
                                       "horizon_s",
                                       "warmup_s",
                                       "strategies/0/policy",
                                       "strategies/0/services/0/requests/in_flight",
                                       "strategies/0/services/0/requests/fallback",
                                       "strategies/0/services/0/latency_s/p999/ci95",
                                       "strategies/0/services/0/ttft_s/p50/mean",
                                       "strategies/0/services/0/tpot_s/max",
                                       "strategies/0/services/0/wait_s/mean",
                                       "strategies/0/services/0/peak/windows",
                                       "strategies/0/services/0/whole/unserved_share/mean",
                                       "strategies/0/services/0/slo/violation_s",
                                       "strategies/0/services/0/slo/p_met",
                                       "strategies/0/services/0/replicas/cold_starts",
                                       "strategies/0/services/0/scale_out_s/p99",
                                       "strategies/0/services/0/shortage_replica_s/endpoint",
                                       "strategies/0/services/0/shortage_replica_s/failure",
                                       "strategies/0/gpu_hours/stranded",
                                       "strategies/0/cost/currency",
                                       "strategies/0/cost/break_even_batch_value",
                                       "strategies/0/cost/per_million_tokens",
                                       "strategies/0/cost/regret",
                                       "comparisons/0/significant"};
    static struct made made;
    struct summary summary;
    struct error err = {0};
    char *text, *again;
    cJSON *json;

    (void)state;
    fill(&made);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    text = summary_to_json(&summary, &err);
    assert_non_null(text);
    json = cJSON_ParseWithOpts(text, NULL, true);
    assert_non_null(json);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!at(json, keys[i]))
            fail_msg("no %s", keys[i]);
    assert_non_null(strstr(text, "18446744073709551615")); /* the seed, all digits */
    assert_true(at(json, "schema")->valuedouble == 1);
    assert_true(near(at(json, "strategies/0/services/0/peak/p99_s/mean")->valuedouble, 0.990));
    assert_int_equal(cJSON_GetArraySize(at(json, "strategies/0/services/0/peak/p99_s/per_replication")),
                     REPLICATIONS);
    assert_true(cJSON_IsNull(at(json, "strategies/1/services/0/peak/p99_s/mean")));
    assert_true(cJSON_IsNull(at(json, "strategies/1/services/0/peak/p99_s/per_replication/3")));
    assert_string_equal(at(json, "strategies/2/services/0/slo/met")->valuestring, "undecided");
    assert_string_equal(at(json, "comparisons/1/metric")->valuestring, "cost_gross");
    assert_true(same(at(json, "comparisons/1/difference")->valuedouble, -10));
    assert_true(cJSON_IsTrue(at(json, "comparisons/1/significant")));
    assert_true(cJSON_IsNull(at(json, "comparisons/0/ci95/0")));
    /* the same bytes again, in a locale with a decimal comma too where this machine has one */
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        print_message("no de_DE.UTF-8 here: same locale again\n");
    again = summary_to_json(&summary, &err);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, again);
    free(text);
    free(again);
    cJSON_Delete(json);
    summary_free(&summary);
    made_free(&made);
}

static void test_number_text(void **state)
{
    char text[NUMBER_TEXT];
    const double values[] = {0.1,     1.0 / 3,  5e-324, 1.7976931348623157e308, 123456789012345678.0,
                             -2.5e-9, 0.1 + 0.2};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_true(strtod(number_text(text, values[i]), NULL) == values[i]);
    assert_string_equal(number_text(text, 0.1), "0.1");
    assert_string_equal(number_text(text, 0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(number_text(text, -0.0), "0");
    assert_string_equal(number_text(text, 1e6), "1000000");
    assert_string_equal(number_text_float(text, 0.1f), "0.1");
    assert_string_equal(number_text_float(text, 16777216.0f), "16777216");
    assert_string_equal(number_text(text, NAN), "nan");
    assert_string_equal(number_text_float(text, -INFINITY), "-inf");
    assert_string_equal(number_text_digits(text, 1.23456, 3), "1.23");
    assert_string_equal(number_text_digits(text, 9.996, 3), "10.0");
    assert_string_equal(number_text_digits(text, 12345, 3), "12345");
    assert_string_equal(number_text_digits(text, 0.00012345, 2), "0.00012");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),     cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_comparisons), cmocka_unit_test(test_partial_and_few),
        cmocka_unit_test(test_json),        cmocka_unit_test(test_number_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
