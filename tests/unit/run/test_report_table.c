#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/io/text_table.h"
#include "sim/run/report_table.h"
#include "tests/unit/run/made_outcomes.h"
#include "tests/unit/run/made_series.h"

static char *printed(struct made *made)
{
    struct summary summary;
    struct error err = {0};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_int_equal(summary_make(&made->results, &summary, &err), 0);
    if (report_print_table(&made->results, &summary, file, false, &err) != 0)
        fail_msg("%s: %s", err.place, err.message);
    fclose(file);
    summary_free(&summary);
    if (getenv("PEAKSIM_SHOW_TABLES"))
        fputs(text, stdout);
    return text;
}

static void expect_width(char *text)
{
    char *rest = text, *line;

    while ((line = strsep(&rest, "\n"))) {
        if (text_width(line) > REPORT_WIDTH)
            fail_msg("%zu columns: %s", text_width(line), line);
        for (const char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20)
                fail_msg("a control character in: %s", line);
    }
}

static void test_day(void **state)
{
    static struct made made;
    char *text;

    (void)state;
    made_init(&made, 3, 1, 10);
    made_peak_day(&made);
    text = printed(&made);
    /* as the made day is: hpa loses requests, warm-pool is late, slo-backfill meets the SLO and is the only
     * one */
    assert_non_null(strstr(text, "launch day: 6 h"));
    assert_non_null(
        strstr(text, "3 strategies, 10 replications, seed 18446744073709551615; peak: 2 windows, 2 h"));
    assert_non_null(strstr(text, "\xe2\x86\x92 slo-backfill is the cheapest strategy that meets the SLO."));
    assert_non_null(strstr(text, "SLO of chat: latency P99 \xe2\x89\xa4 2.00 s, ttft P90 \xe2\x89\xa4 1.00 "
                                 "s, success \xe2\x89\xa5 95 %"));
    assert_non_null(strstr(text, "\xe2\x88\x9e")); /* hpa's P99 */
    assert_non_null(
        strstr(text, "the peak P99 of slo-backfill is lower than that of hpa, which is infinite"));
    assert_non_null(strstr(text, "hpa is cheaper than warm-pool by "));
    assert_non_null(strstr(text, "simulation noise only"));
    assert_non_null(strstr(text, "\xe2\x96\x88")); /* the sparkline's full block */
    expect_width(text);
    free(text);
    made_free(&made);
}

static void test_many_and_hostile(void **state)
{
    static struct made made;
    char *text;

    (void)state;
    made_init(&made, 9, 2, 3);
    made.strategies[0].name = "a name that is far too long for any table, by a wide margin";
    made.strategies[1].name = "esc\x1b[2J\x1b[31m\r\n";
    made.strategies[2].name =
        "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3"
        "\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc";
    made.scenario.name = "title\x1b]0;x\x07 with escapes";
    made.services[0].name = "a service with a long name too";
    made_peak_day(&made);
    text = printed(&made);
    assert_non_null(strstr(text, "a name that i\xe2\x80\xa6"));
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strstr(text, "intervals of quantiles need 10"));
    expect_width(text);
    free(text);
    made_free(&made);
}

/* Nothing to show must not look like something good. */
static void test_empty(void **state)
{
    static struct made made;
    char *text;

    (void)state;
    made_init(&made, 2, 1, 1);
    text = printed(&made);
    assert_non_null(strstr(text, "No prices are given"));
    assert_non_null(strstr(text, "undecided"));
    assert_null(strstr(text, "yes"));
    assert_non_null(strstr(text, "No difference between strategies can be tested"));
    assert_non_null(strstr(text, "One replication"));
    expect_width(text);
    free(text);
    made.results.partial = true;
    made.outcomes[1] = NULL;
    text = printed(&made);
    assert_non_null(strstr(text, "0 of 1 replications"));
    free(text);
    made_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_day),
        cmocka_unit_test(test_many_and_hostile),
        cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
