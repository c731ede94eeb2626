#include <math.h>

#include "sim/io/text_table.h"
#include "tests/unit/io/io_support.h"

static char *printed(const struct text_table *table, bool bold)
{
    struct error err = {.code = ERROR_NONE};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_int_equal(text_table_print(table, file, bold, &err), 0);
    fclose(file);
    return text;
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("\xc3\xa4\xe2\x82\xac"), 2);     /* ä€ */
    assert_int_equal(text_width("\xe2\x96\x81\xe2\x96\x88"), 2); /* ▁█ */
    assert_int_equal(text_width("a\xcc\x88"), 1);                /* a with a combining diaeresis */
    assert_int_equal(text_width("a\xe2\x80\x8b"), 1);            /* zero-width space */
    assert_int_equal(text_width("\xf0\x9f\x98\x80"), 1);         /* as documented: one a code point */
    assert_int_equal(text_width("\xff\xfe"), 2);                 /* ill-formed: one a byte */
    assert_int_equal(text_width("\xe2\x82"), 2);
}

static void columns(void **state)
{
    struct text_table table;
    char *text;

    (void)state;
    text_table_init(&table);
    text_table_column(&table, "strategy", TEXT_LEFT);
    text_table_column(&table, "P99", TEXT_RIGHT);
    text_table_column(&table, "note", TEXT_LEFT);
    text_table_cell(&table, "hpa");
    text_table_cell(&table, "%.1f s", 12.5);
    text_table_cell(&table, "\xe2\x88\x9e");
    text_table_cell(&table, "w\xc3\xa4rm-pool-4");
    text_table_cell(&table, "2 s");
    text_table_cell(&table, "ok");
    text_table_cell(&table, "%s", "");
    text_table_cell(&table, "%s", "");
    text_table_cell(&table, "%s", "");
    text_table_cell(&table, "half");
    text = printed(&table, false);
    assert_text(text, "strategy        P99  note\n"
                      "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80"
                      "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80"
                      "  \xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80"
                      "  \xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\n"
                      "hpa          12.5 s  \xe2\x88\x9e\n"
                      "w\xc3\xa4rm-pool-4     2 s  ok\n"
                      "\n"
                      "half\n");
    free(text);
    text = printed(&table, true);
    assert_int_equal(strncmp(text, "\033[1mstrategy        P99  note\033[0m\n", 34), 0);
    free(text);
    text_table_free(&table);
}

/* Names come out of scenarios: they must not move the cursor. */
static void control_characters(void **state)
{
    struct text_table table;
    char *text;

    (void)state;
    text_table_init(&table);
    text_table_column(&table, "n", TEXT_LEFT);
    text_table_cell(&table, "%s",
                    "a\x1b[2Jb\r\n\tc\x7f\xc2\x9b"
                    "d");
    text = printed(&table, false);
    assert_has(text, "\na?[2Jb???c???d\n");
    free(text);
    text_table_free(&table);
}

static void unwritable(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct text_table table;
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    text_table_init(&table);
    text_table_column(&table, "n", TEXT_LEFT);
    text_table_cell(&table, "x");
    assert_int_equal(text_table_print(&table, full, false, &err), -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_has(err.message, "No space left");
    fclose(full);
    text_table_free(&table);
}

static void sparklines(void **state)
{
    static const double ramp[] = {0, 1, 2, 3, 4, 5, 6, 7}, steps[] = {0, 0, 7, 7},
                        holes[] = {7, NAN, 0, INFINITY};
    static const double flat[] = {0, 0}, below[] = {-7, 0};
    char text[64];

    (void)state;
    assert_text(
        sparkline(ramp, 8, text, sizeof text),
        "\xe2\x96\x81\xe2\x96\x82\xe2\x96\x83\xe2\x96\x84\xe2\x96\x85\xe2\x96\x86\xe2\x96\x87\xe2\x96\x88");
    assert_text(sparkline(steps, 4, text, 7), "\xe2\x96\x81\xe2\x96\x88"); /* room for two: averaged */
    assert_text(sparkline(holes, 4, text, sizeof text), "\xe2\x96\x88 \xe2\x96\x81 ");
    assert_text(sparkline(flat, 2, text, sizeof text), "\xe2\x96\x81\xe2\x96\x81");
    assert_text(sparkline(below, 2, text, sizeof text), "\xe2\x96\x81\xe2\x96\x88");
    assert_text(sparkline(ramp, 0, text, sizeof text), "");
    assert_text(sparkline(ramp, 8, text, 3), "");
}

static void figures(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } durations[] = {{0, "0 s"},
                     {0.812, "812 ms"},
                     {1.24, "1.24 s"},
                     {0.9996, "1.00 s"},
                     {12.34, "12.3 s"},
                     {59.94, "59.9 s"},
                     {59.96, "1 m"},
                     {250, "4 m 10 s"},
                     {3599.6, "1 h"},
                     {7500, "2 h 5 m"},
                     {86399, "1 d"},
                     {273600, "3 d 4 h"},
                     {2e-6, "2.00 \xc2\xb5s"},
                     {3e-9, "3.00 ns"},
                     {-250, "-4 m 10 s"},
                     {NAN, "\xe2\x80\x93"},
                     {INFINITY, "\xe2\x88\x9e"}};
    static const struct {
        double value;
        const char *count, *bytes;
    } counts[] = {{0, "0", "0 B"},
                  {812, "812", "812 B"},
                  {41300, "41.3 k", "40.3 KiB"},
                  {999.6, "1.00 k", "1000 B"},
                  {41.3e6, "41.3 M", "39.4 MiB"},
                  {1.2e9, "1.20 G", "1.12 GiB"},
                  {1610612736, "1.61 G", "1.50 GiB"},
                  {2.5, "2.5", "2 B"}};
    char text[64];

    (void)state;
    for (size_t i = 0; i < COUNT(durations); i++)
        assert_text(human_duration(durations[i].seconds, text, sizeof text), durations[i].text);
    for (size_t i = 0; i < COUNT(counts); i++) {
        assert_text(human_count(counts[i].value, text, sizeof text), counts[i].count);
        assert_text(human_bytes(counts[i].value, text, sizeof text), counts[i].bytes);
    }
    assert_text(human_count(-41300, text, sizeof text), "-41.3 k");
    assert_text(human_money(1234.5, text, sizeof text), "1,234.50");
    assert_text(human_money(0, text, sizeof text), "0.00");
    assert_text(human_money(999.999, text, sizeof text), "1,000.00");
    assert_text(human_money(-1234567.891, text, sizeof text), "-1,234,567.89");
    assert_text(human_money(-0.001, text, sizeof text), "0.00");
    assert_text(human_money(NAN, text, sizeof text), "\xe2\x80\x93");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),     cmocka_unit_test(columns),    cmocka_unit_test(control_characters),
        cmocka_unit_test(unwritable), cmocka_unit_test(sparklines), cmocka_unit_test(figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
