#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "plots/plot.h"
#include "plots/plot_data.h"
#include "plots/plot_figures.h"
#include "plots/plot_script.h"
#include "sim/io/utf8.h"
#include "sim/run/results.h"
#include "tests/unit/run/made_outcomes.h"
#include "tests/unit/run/made_series.h"

static const char *const pictures[] = {"latency", "capacity", "replicas", "waterfall", "cost-p99"};

static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text;

    if (!file)
        return NULL;
    text = calloc(1, 1 << 23);
    *size = fread(text, 1, (1 << 23) - 1, file);
    fclose(file);
    return text;
}

static void remove_tree(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[2048];

    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0)
            remove_tree(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* The experiment's result folder under base. */
static void write_results(struct made *made, const char *target)
{
    struct summary summary;
    struct output_dir *out;
    struct error err = {0};

    if (summary_make(&made->results, &summary, &err) != 0 || output_dir_begin(&out, target, &err) != 0 ||
        results_write(&made->results, &summary, out, &err) != 0 || output_dir_commit(out, &err) != 0)
        fail_msg("%s: %s", err.place, err.message);
    summary_free(&summary);
}

/*
 * Well-formed as far as it matters here: one root, tags that nest, attributes in quotes, no stray '<' or '&',
 * valid UTF-8 without control characters. Returns the offset of the first trouble, -1 if there is none.
 */
static long xml_trouble(const char *text, size_t size)
{
    char stack[64][32];
    int depth = 0, roots = 0;
    size_t i = 0;

    if (utf8_check(text, size) != size)
        return (long)utf8_check(text, size);
    while (i < size) {
        if ((unsigned char)text[i] < 0x20 && !strchr("\n\t\r", text[i]))
            return (long)i;
        if (text[i] == '&') {
            size_t end = i + 1 + strspn(text + i + 1, "#abcdefghijklmnopqrstuvwxyzABCDEF0123456789");

            if (text[end] != ';' || end == i + 1)
                return (long)i;
            i = end + 1;
            continue;
        }
        if (text[i] != '<') {
            if (strncmp(text + i, "]]>", 3) == 0)
                return (long)i;
            i++;
            continue;
        }
        if (strncmp(text + i, "<?", 2) == 0 || strncmp(text + i, "<!", 2) == 0) {
            const char *close = text[i + 1] == '?'                       ? "?>"
                                : strncmp(text + i, "<!--", 4) == 0      ? "-->"
                                : strncmp(text + i, "<![CDATA[", 9) == 0 ? "]]>"
                                                                         : ">";
            const char *end = strstr(text + i, close);

            if (!end)
                return (long)i;
            i = (size_t)(end - text) + strlen(close);
            continue;
        }
        {
            bool closing = text[i + 1] == '/';
            size_t at = i + 1 + closing, length = strcspn(text + at, " \t\r\n/>");
            char name[32] = "", quote = 0;

            if (length == 0 || length >= sizeof name)
                return (long)i;
            memcpy(name, text + at, length);
            for (at += length; at < size && (quote || text[at] != '>'); at++) {
                if (!quote && (text[at] == '"' || text[at] == '\''))
                    quote = text[at];
                else if (quote && text[at] == quote)
                    quote = 0;
                else if (text[at] == '<')
                    return (long)at;
            }
            if (at >= size)
                return (long)i;
            if (closing) {
                if (depth == 0 || strcmp(stack[--depth], name) != 0)
                    return (long)i;
            } else if (text[at - 1] != '/') {
                if (depth == 64)
                    return (long)i;
                roots += depth == 0;
                memcpy(stack[depth++], name, sizeof name);
            }
            i = at + 1;
        }
    }
    return depth == 0 && roots == 1 ? -1 : (long)size;
}

static void test_xml_checker(void **state)
{
    static const char good[] = "<?xml version='1.0'?><!-- <x> --><a b=\"c>\"><d/><e>&lt;&#39;</e></a>";
    static const char *const bad[] = {"<a><b></a></b>", "<a>& </a>",      "<a",
                                      "<a>]]></a>",     "<a>\x01</a>",    "<a>\xff</a>",
                                      "<a></a><b></b>", "<a b=\"<\"></a>"};

    (void)state;
    assert_int_equal(xml_trouble(good, strlen(good)), -1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_true(xml_trouble(bad[i], strlen(bad[i])) >= 0);
}

static void expect_quoted(const char *text, int characters, const char *expected)
{
    char *out = NULL;
    size_t size;
    FILE *file = open_memstream(&out, &size);

    plot_quote(file, text, characters);
    fclose(file);
    assert_string_equal(out, expected);
    free(out);
}

static void test_quote(void **state)
{
    (void)state;
    expect_quoted("plain", 80, "'plain'");
    expect_quoted("it's", 80, "'it''s'");
    expect_quoted("'", 80, "'\xe2\x80\x99'");
    expect_quoted("\n''a''", 80, "'\xe2\x80\x99''a'''''");
    expect_quoted("a\nsystem('x')", 80, "'asystem(''x'')'");
    expect_quoted("a\r\t\x01\x7f z", 80, "'a z'");
    expect_quoted("`id` \"x\" \\", 80, "'`id` \"x\" \\'");
    expect_quoted("bad \xff\xc3 utf", 80, "'bad  utf'");
    expect_quoted("cut \xe2\x82", 80, "'cut '");     /* ends inside a character */
    expect_quoted("\xc0\xaf\xed\xa0\x80", 80, "''"); /* overlong, surrogate */
    expect_quoted("nel\xc2\x85 sep\xe2\x80\xa8 rtl\xe2\x80\xae.", 80, "'nel sep rtl.'");
    expect_quoted("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 80,
                  "'gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80'");
    expect_quoted("\xef\xbf\xbe!", 80, "'!'"); /* U+FFFE */
    expect_quoted("]]>a]\n]>]]]>", 80, "']]a]]]]]'");
    expect_quoted("abcdef", 6, "'abcdef'");
    expect_quoted("abcdefg", 6, "'abcde\xe2\x80\xa6'");
    expect_quoted("", 6, "''");
}

static void test_axis(void **state)
{
    (void)state;
    assert_true(plot_time_axis(3600).unit_s == 60 && plot_time_axis(3600).step == 5);
    assert_true(plot_time_axis(6 * 3600).unit_s == 3600 && plot_time_axis(6 * 3600).step == 0.5);
    assert_true(plot_time_axis(86400).step == 2);
    assert_true(plot_time_axis(7 * 86400).unit_s == 86400 && plot_time_axis(7 * 86400).step == 1);
    assert_true(plot_time_axis(60).step == 0.25);
}

/* What is read back is what was written, thinned. */
static void test_data(void **state)
{
    static struct made made;
    struct plot_data data;
    struct error err = {0};
    char base[] = "/tmp/peaksim-plots-XXXXXX", target[64], path[128];
    double offered = 0;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(target, sizeof target, "%s/out", base);
    made_init(&made, 2, 1, 2);
    made.strategies[1].name = "odd, \"name\"\nof two lines ";
    made_peak_day(&made);
    made_starts(&made, 1, 0, 0, 60);
    write_results(&made, target);
    if (plot_data_read(target, &data, &err) != 0)
        fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(data.bins, PLOT_BINS);
    assert_int_equal(data.strategy_count, 2);
    assert_string_equal(data.strategies[1].name, made.strategies[1].name);
    assert_string_equal(data.services[0].slo_text, "latency P99 \xe2\x89\xa4 2 s, ttft P90 \xe2\x89\xa4 1 s");
    assert_true(data.services[0].slo_s == 2);
    assert_int_equal(data.peak_count, 2);
    /* 18 + 9 and 60 more starts: 36 rows at most, every second or fourth */
    assert_int_equal(data.services[0].lines[1].start_count, 87);
    assert_in_range(data.services[0].lines[1].start_kept, PLOT_STARTS / 2, PLOT_STARTS);
    assert_int_equal(data.services[0].lines[0].start_count, 18);
    assert_true(fabs(data.services[0].lines[0].starts[0].stages_s[2] - 95) < 1e-9);
    /* the mean over the bins is the day's mean: 2160 buckets are 6.75 a bin, so only about */
    for (int k = 0; k < PLOT_BINS; k++)
        offered += data.services[0].lines[1].bins[k].offered / PLOT_BINS;
    assert_in_range((int64_t)offered, 25, 45);
    plot_data_free(&data);

    /* trouble: a truncated summary, a column that is missing, a folder that is none */
    snprintf(path, sizeof path, "%s/timeseries.csv", target);
    file = fopen(path, "w");
    fputs("strategy,service,time_s\n", file);
    fclose(file);
    assert_int_equal(plot_data_read(target, &data, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_non_null(strstr(err.message, "replication"));
    plot_data_free(&data);
    error_clear(&err);
    snprintf(path, sizeof path, "%s/summary.json", target);
    file = fopen(path, "w");
    fputs("{\"schema\": 1, \"horizon_s\": 5, \"strategies\": [", file);
    fclose(file);
    assert_int_equal(plots_draw(target, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    error_clear(&err);
    assert_int_equal(plots_draw("/nonexistent/folder", &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    made_free(&made);
    remove_tree(base);
}

static bool gnuplot_is_here(void)
{
    const char *path = getenv("PATH");
    char folder[1024], program[1100];

    for (const char *at = path; at && *at;) {
        size_t length = strcspn(at, ":");

        snprintf(folder, sizeof folder, "%.*s", (int)length, at);
        snprintf(program, sizeof program, "%s/gnuplot", folder);
        if (access(program, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static void expect_pictures(const char *target, const char *suffix)
{
    char path[512];
    size_t size = 0;

    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        char *text;

        snprintf(path, sizeof path, "%s/plots/%s%s.svg", target, pictures[i], suffix);
        text = slurp(path, &size);
        if (!text)
            fail_msg("no %s", path);
        if (xml_trouble(text, size) >= 0)
            fail_msg("%s is no well-formed XML at byte %ld", path, xml_trouble(text, size));
        assert_non_null(strstr(text, "<svg"));
        free(text);
        snprintf(path, sizeof path, "%s/plots/%s%s.png", target, pictures[i], suffix);
        text = slurp(path, &size);
        if (!text)
            fail_msg("no %s", path);
        assert_true(size > 5000);
        assert_memory_equal(text, "\x89PNG\r\n\x1a\n", 8);
        free(text);
    }
}

/* Only the pictures and the results are left; nothing of ours with a leading dot but the results' marker. */
static void expect_clean(const char *target)
{
    DIR *dir = opendir(target);
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (strncmp(entry->d_name, ".plots", 6) == 0)
            fail_msg("%s was left behind", entry->d_name);
    closedir(dir);
}

static void test_draw(void **state)
{
    static struct made made;
    struct error err = {0};
    char base[] = "/tmp/peaksim-plots-XXXXXX", target[64], path[128], *first, *second;
    const char *keep = getenv("PEAKSIM_KEEP_PLOTS"); /* to look at them */
    size_t size = 0;

    (void)state;
    if (!gnuplot_is_here()) {
        print_message("SKIPPED: test_plots: test_draw not run, no gnuplot\n");
        skip();
    }
    assert_non_null(mkdtemp(base));
    snprintf(target, sizeof target, "%s/out", base);
    made_init(&made, 3, 1, 10);
    made_peak_day(&made);
    write_results(&made, target);
    if (plots_draw(target, &err) != 0)
        fail_msg("%s: %s", err.place, err.message);
    expect_pictures(target, "");
    expect_clean(target);
    /* again: the same bytes */
    snprintf(path, sizeof path, "%s/plots/latency.svg", target);
    first = slurp(path, &size);
    assert_non_null(strstr(first, "slo-backfill"));
    assert_int_equal(plots_draw(target, &err), 0);
    second = slurp(path, &size);
    assert_string_equal(first, second);
    free(first);
    free(second);
    made_free(&made);
    if (keep)
        print_message("kept in %s\n", base);
    else
        remove_tree(base);
}

/* Names that try to run something, in gnuplot and in a shell. If any of it runs, a file named canary appears
 * in the folder that TMPDIR and HOME name, or here. */
static void test_hostile_names(void **state)
{
    static const char *const hostile[MADE_STRATEGIES] = {"`touch canary`",
                                                         "'; system('touch canary'); '",
                                                         "\n!touch canary\nsystem \"touch canary\"\n",
                                                         "\"; system(\"touch canary\") #",
                                                         "<touch canary",
                                                         "| touch canary",
                                                         "$(touch canary) {/Symbol a} @x_y^z \\",
                                                         "]]></text><script>x</script>&amp;&",
                                                         "''\\'\xe2\x80\xa8system('touch canary')"};
    static struct made made;
    struct error err = {0};
    char base[] = "/tmp/peaksim-plots-XXXXXX", target[64], path[128], here[1024], *text;
    const char *keep = getenv("PEAKSIM_KEEP_PLOTS");
    size_t size = 0;

    (void)state;
    if (!gnuplot_is_here()) {
        print_message("SKIPPED: test_plots: test_hostile_names not run, no gnuplot\n");
        skip();
    }
    assert_non_null(mkdtemp(base));
    assert_non_null(getcwd(here, sizeof here));
    snprintf(target, sizeof target, "%s/out", base);
    made_init(&made, MADE_STRATEGIES, 2, 1);
    for (int s = 0; s < MADE_STRATEGIES; s++)
        made.strategies[s].name = hostile[s];
    made.scenario.name = "`touch canary`'\nsystem('touch canary')\n# \"$(touch canary)\"";
    made.services[0].name = "chat'`touch canary`\nset output '/dev/null'";
    made.services[1].name = "<touch canary";
    made.scenario.prices.currency = "'`touch canary`";
    made_peak_day(&made);
    write_results(&made, target);
    assert_int_equal(chdir(base), 0);
    if (plots_draw("out", &err) != 0)
        fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(chdir(here), 0);
    expect_pictures(target, "-chat__touch_canary__set_output___dev_null_");
    expect_pictures(target, "-_touch_canary");
    expect_clean(target);
    /* the drawing itself shows the names as they are */
    snprintf(path, sizeof path, "%s/plots/latency-_touch_canary.svg", target);
    text = slurp(path, &size);
    assert_non_null(strstr(text, "`touch canary`"));
    assert_non_null(strstr(text, "&lt;touch canary"));
    free(text);
    snprintf(path, sizeof path, "%s/canary", base);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/canary", target);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/plots/canary", target);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access("canary", F_OK), 0);
    made_free(&made);
    if (keep)
        print_message("kept in %s\n", base);
    else
        remove_tree(base);
}

/* Without gnuplot: an error that names the package, and the results are as they were. */
static void test_no_gnuplot(void **state)
{
    static struct made made;
    struct error err = {0};
    char base[] = "/tmp/peaksim-plots-XXXXXX", target[64], path[128], before[4096];
    const char *old = getenv("PATH");

    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(target, sizeof target, "%s/out", base);
    made_init(&made, 1, 1, 1);
    made_peak_day(&made);
    write_results(&made, target);
    snprintf(before, sizeof before, "%s", old ? old : "");
    setenv("PATH", base, 1);
    assert_int_equal(plots_draw(target, &err), -1);
    setenv("PATH", before, 1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_non_null(strstr(err.message, "gnuplot-nox"));
    snprintf(path, sizeof path, "%s/summary.json", target);
    assert_int_equal(access(path, R_OK), 0);
    snprintf(path, sizeof path, "%s/plots", target);
    assert_int_not_equal(access(path, F_OK), 0);
    expect_clean(target);
    made_free(&made);
    remove_tree(base);
}

/* A script that fails tells why. */
static void test_gnuplot_fails(void **state)
{
    struct error err = {0};
    char base[] = "/tmp/peaksim-plots-XXXXXX", path[128];
    FILE *file;

    (void)state;
    if (!gnuplot_is_here()) {
        print_message("SKIPPED: test_plots: test_gnuplot_fails not run, no gnuplot\n");
        skip();
    }
    assert_non_null(mkdtemp(base));
    snprintf(path, sizeof path, "%s/bad.gp", base);
    file = fopen(path, "w");
    fputs("plot nonsense(\n", file);
    fclose(file);
    assert_int_equal(plot_run_gnuplot(base, "bad.gp", &err), -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_non_null(strstr(err.message, "bad.gp"));
    remove_tree(base);
}

static void test_scripts_are_built_in(void **state)
{
    (void)state;
    assert_non_null(plot_script_text("common"));
    for (int i = 0; i < PLOT_FIGURES; i++)
        assert_true(plot_script_text(plot_figures[i].name) &&
                    strlen(plot_script_text(plot_figures[i].name)) > 200);
    assert_null(plot_script_text("nonsense"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xml_checker),
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_axis),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_draw),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_no_gnuplot),
        cmocka_unit_test(test_gnuplot_fails),
        cmocka_unit_test(test_scripts_are_built_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
