#include <math.h>

#include "tests/unit/io/io_support.h"

/* Distributions of a document: every kind, units, files of values, and what is refused. Expected means are
 * those of textbooks, worked out here by hand or by the formula. */

static struct distribution read_as(const char *value, enum unit unit)
{
    struct error err = {.code = ERROR_NONE};
    struct distribution distribution;
    char text[800];
    struct document *doc;
    struct map map;

    snprintf(text, sizeof text, "{\"k\": %s}", value);
    doc = document_of(text, "s.json");
    map_open(&map, document_root(doc), &err);
    if (!map_distribution(&map, "k", MAP_REQUIRED, unit, &distribution))
        fail_msg("%s: %s: %s", value, err.place, err.message);
    assert_int_equal(map_close(&map), 0);
    assert_int_equal(document_input_count(doc), 1); /* the whole, not its parameters */
    document_free(doc);
    return distribution;
}

static void mean_is(const char *value, enum unit unit, enum distribution_kind kind, double mean)
{
    struct distribution distribution = read_as(value, unit);

    if (distribution.kind != kind || fabs(distribution.mean - mean) > 1e-9 * mean)
        fail_msg("%s: kind %d, mean %.17g", value, (int)distribution.kind, distribution.mean);
    distribution_free(&distribution);
}

static void all_kinds(void **state)
{
    struct distribution distribution;

    (void)state;
    mean_is("\"90s\"", UNIT_SECONDS, DISTRIBUTION_CONSTANT, 90);
    mean_is("\"1Ki\"", UNIT_BYTES, DISTRIBUTION_CONSTANT, 1024);
    mean_is("512", UNIT_BYTES, DISTRIBUTION_CONSTANT, 512);
    mean_is("12.5", UNIT_TOKENS, DISTRIBUTION_CONSTANT, 12.5);
    mean_is("{\"uniform\": {\"low\": \"1s\", \"high\": \"2m\"}}", UNIT_SECONDS, DISTRIBUTION_UNIFORM, 60.5);
    mean_is("{\"exponential\": {\"mean\": \"250ms\"}}", UNIT_SECONDS, DISTRIBUTION_EXPONENTIAL, 0.25);
    mean_is("{\"gamma\": {\"mean\": 100, \"cv\": 2}}", UNIT_TOKENS, DISTRIBUTION_GAMMA, 100);
    mean_is("{\"weibull\": {\"scale\": \"1s\", \"shape\": 2}}", UNIT_SECONDS, DISTRIBUTION_WEIBULL,
            sqrt(M_PI) / 2);
    mean_is("{\"pareto\": {\"least\": \"1Mi\", \"exponent\": 3}}", UNIT_BYTES, DISTRIBUTION_PARETO,
            1.5 * 1048576);
    mean_is("{\"lognormal\": {\"mean\": \"40s\", \"cv\": 0.5}}", UNIT_SECONDS, DISTRIBUTION_LOGNORMAL, 40);
    mean_is("{\"empirical\": [1, 2, 6]}", UNIT_COUNT, DISTRIBUTION_EMPIRICAL, 3);
    mean_is("{\"empirical\": [\"1s\", \"500ms\"]}", UNIT_SECONDS, DISTRIBUTION_EMPIRICAL, 0.75);
    /* Half of a normal truncated at its mean 0: sd * sqrt(2 / pi). */
    mean_is("{\"normal\": {\"mean\": 0, \"sd\": 3}}", UNIT_COUNT, DISTRIBUTION_NORMAL, 3 * sqrt(2 / M_PI));
    mean_is("{\"normal\": {\"mean\": \"5s\", \"sd\": \"1s\", \"low\": \"4s\", \"high\": \"6s\"}}",
            UNIT_SECONDS, DISTRIBUTION_NORMAL, 5);
    distribution = read_as("{\"lognormal\": {\"median\": \"40s\", \"p99\": \"2m\"}}", UNIT_SECONDS);
    assert_true(fabs(distribution_quantile(&distribution, 0.5) - 40) < 1e-9);
    assert_true(fabs(distribution_quantile(&distribution, 0.99) - 120) < 1e-9);
}

static void refused_as(const char *value, enum unit unit, const char *place, const char *words)
{
    struct error err = {.code = ERROR_NONE};
    struct distribution distribution;
    char text[800];
    struct document *doc;
    struct map map;

    snprintf(text, sizeof text, "{\"k\":\n%s}", value);
    doc = document_of(text, "s.json");
    map_open(&map, document_root(doc), &err);
    if (map_distribution(&map, "k", MAP_REQUIRED, unit, &distribution))
        fail_msg("%s was accepted", value);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_text(err.place, place);
    assert_has(err.message, words);
    document_free(doc);
}

static void refusals(void **state)
{
    (void)state;
    refused_as("90", UNIT_SECONDS, "s.json:2:1: k", "has no unit");
    refused_as("\"12\"", UNIT_TOKENS, "s.json:2:1: k", "expected a number; found \"12\"");
    refused_as("-1", UNIT_COUNT, "s.json:2:1: k", "at least 0");
    refused_as("[1]", UNIT_COUNT, "s.json:2:1: k", "found a list");
    refused_as("null", UNIT_COUNT, "s.json:2:1: k", "found nothing");
    refused_as("{}", UNIT_COUNT, "s.json:2:1: k", "a map with one key, one of \"uniform\"");
    refused_as("{\"uniform\": {}, \"gamma\": {}}", UNIT_COUNT, "s.json:2:1: k", "a map with one key");
    refused_as("{\"lognornal\": {}}", UNIT_COUNT, "s.json:2:2: k.lognornal", "did you mean \"lognormal\"?");
    refused_as("{\"zipf\": {}}", UNIT_COUNT, "s.json:2:2: k.zipf",
               "unknown distribution \"zipf\". Allowed here");
    refused_as("{\"exponential\": 5}", UNIT_COUNT, "s.json:2:17: k.exponential", "expected a map");
    refused_as("{\"exponential\": {}}", UNIT_COUNT, "s.json:2:17: k.exponential",
               "the key \"mean\" is missing");
    refused_as("{\"exponential\": {\"mean\": 5}}", UNIT_SECONDS, "s.json:2:26: k.exponential.mean",
               "has no unit");
    refused_as("{\"exponential\": {\"mean\": 5, \"rate\": 1}}", UNIT_COUNT, "s.json:2:29: k.exponential.rate",
               "unknown key \"rate\"");
    refused_as("{\"uniform\": {\"low\": 5, \"high\": 4}}", UNIT_COUNT, "s.json:2:13: k.uniform", "");
    refused_as("{\"pareto\": {\"least\": 5, \"exponent\": 1}}", UNIT_COUNT, "s.json:2:12: k.pareto", "");
    refused_as("{\"gamma\": {\"mean\": 5, \"cv\": -1}}", UNIT_COUNT, "s.json:2:11: k.gamma", "");
    refused_as("{\"gamma\": {\"mean\": 5, \"cv\": \"1\"}}", UNIT_COUNT, "s.json:2:29: k.gamma.cv",
               "expected a number");
    refused_as("{\"lognormal\": {\"median\": 5}}", UNIT_COUNT, "s.json:2:15: k.lognormal",
               "\"p99\" is missing");
    refused_as("{\"lognormal\": {\"median\": 5, \"cv\": 1}}", UNIT_COUNT, "s.json:2:15: k.lognormal",
               "either \"median\" and \"p99\", or \"mean\" and \"cv\"");
    refused_as("{\"lognormal\": {}}", UNIT_COUNT, "s.json:2:15: k.lognormal", "either");
    refused_as("{\"empirical\": []}", UNIT_COUNT, "s.json:2:15: k.empirical", "empty");
    refused_as("{\"empirical\": [1, -2]}", UNIT_COUNT, "s.json:2:19: k.empirical[1]", "at least 0");
    refused_as("{\"empirical\": [1, \"x\"]}", UNIT_SECONDS, "s.json:2:16: k.empirical[0]", "has no unit");
    refused_as("{\"empirical\": 5}", UNIT_COUNT, "s.json:2:15: k.empirical", "a file name or a list");
    refused_as("{\"empirical\": \"none.csv\"}", UNIT_COUNT, "s.json:2:15: k.empirical",
               "none.csv: cannot be opened");
}

static void defaults(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc = document_of("{}", "s.json");
    struct distribution distribution;
    struct map map;

    (void)state;
    map_open(&map, document_root(doc), &err);
    assert_true(map_distribution(&map, "a", MAP_DEFAULT("45s", "x"), UNIT_SECONDS, &distribution));
    assert_true(distribution.mean == 45);
    assert_true(map_distribution(&map, "b", MAP_DEFAULT("{\"exponential\": {\"mean\": \"2s\"}}", "x"),
                                 UNIT_SECONDS, &distribution));
    assert_int_equal(distribution.kind, DISTRIBUTION_EXPONENTIAL);
    assert_true(distribution.mean == 2);
    assert_int_equal(document_input_count(doc), 2);
    assert_text(document_input(doc, 1)->path, "b");
    assert_text(document_input(doc, 1)->value, "{\"exponential\": {\"mean\": \"2s\"}}");
    assert_false(map_distribution(&map, "c", MAP_DEFAULT("{\"exponential\": {\"mean\": 2}}", "x"),
                                  UNIT_SECONDS, &distribution));
    assert_int_equal(err.code, ERROR_INTERNAL);
    document_free(doc);
}

/* ---- files of values ---- */

static char folder[200];

static void put(const char *name, const char *text)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, text, strlen(text));
}

/* Reads {"empirical": NAME} of a document in the folder. */
static bool file_read(const char *name, enum unit unit, struct distribution *distribution, struct error *err)
{
    char text[400], path[300];
    struct document *doc;
    struct map map;
    bool done;

    *err = (struct error){.code = ERROR_NONE};
    snprintf(text, sizeof text, "{\"k\": {\"empirical\": \"%s\"}}", name);
    snprintf(path, sizeof path, "%s/s.json", folder);
    doc = document_of(text, path);
    map_open(&map, document_root(doc), err);
    done = map_distribution(&map, "k", MAP_REQUIRED, unit, distribution);
    document_free(doc);
    return done;
}

static void file_mean(const char *name, enum unit unit, size_t count, double mean)
{
    struct distribution distribution;
    struct error err;

    if (!file_read(name, unit, &distribution, &err))
        fail_msg("%s: %s: %s", name, err.place, err.message);
    assert_int_equal(distribution.kind, DISTRIBUTION_EMPIRICAL);
    assert_int_equal(distribution.count, count);
    assert_true(fabs(distribution.mean - mean) < 1e-12);
    distribution_free(&distribution);
}

static void file_refused(const char *name, enum unit unit, const char *place, const char *words)
{
    struct distribution distribution;
    struct error err;

    assert_false(file_read(name, unit, &distribution, &err));
    assert_int_equal(err.code, ERROR_INPUT);
    assert_has(err.place, place);
    assert_has(err.message, words);
}

static void files(void **state)
{
    char values[100] = "";

    (void)state;
    make_folder_of(folder, sizeof folder);
    put("plain.csv", "1\n2.5\n\n4.5");
    put("header.csv", "\xef\xbb\xbfpull time\r\n1s\r\n500ms\r\n");
    put("table.csv", "id,pull,\"load, s\"\n1,10,2\n2,20,4\n3,30,9\n");
    put("odd:name.csv", "7\n9\n");
    put("negative.csv", "1\n-2\n");
    put("text.csv", "pull\n1\nx\n");
    put("two.csv", "1,2\n");
    put("short.csv", "a,b\n1,2\n3\n");
    put("empty.csv", "");
    put("only-header.csv", "pull\n");
    put("infinite.csv", "1\ninf\n");
    put("huge.csv", "1e999\n");
    snprintf(values, sizeof values, "%s", "plain.csv");
    file_mean("plain.csv", UNIT_COUNT, 3, 8. / 3);
    file_mean("plain.csv", UNIT_SECONDS, 3, 8. / 3); /* a bare number of a file is in the base unit */
    file_mean("header.csv", UNIT_SECONDS, 2, 0.75);
    file_mean("table.csv:pull", UNIT_SECONDS, 3, 20);
    file_mean("table.csv:load, s", UNIT_SECONDS, 3, 5);
    file_mean("odd:name.csv", UNIT_COUNT, 2, 8);
    file_refused("negative.csv", UNIT_COUNT, "/negative.csv:2", "at least 0");
    file_refused("text.csv", UNIT_SECONDS, "/text.csv:3", "is not a duration");
    file_refused("two.csv", UNIT_COUNT, "/two.csv:1", "name the column that is meant");
    file_refused("short.csv:b", UNIT_COUNT, "/short.csv:3", "the row has 1 fields; column 2 is wanted");
    file_refused("table.csv:pul", UNIT_COUNT, "/table.csv:1", "no column \"pul\" in the header");
    file_refused("empty.csv", UNIT_COUNT, "/empty.csv", "holds no values");
    file_refused("only-header.csv", UNIT_COUNT, "/only-header.csv", "holds no values");
    file_refused("infinite.csv", UNIT_COUNT, "/infinite.csv:2", "is not a number");
    file_refused("huge.csv", UNIT_COUNT, "/huge.csv:1", "out of range");
    file_refused("none.csv:x", UNIT_COUNT, "k.empirical", "cannot be opened");
    file_refused(".", UNIT_COUNT, "", "directory");
    remove_folder_of(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(refusals),
        cmocka_unit_test(defaults),
        cmocka_unit_test(files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
