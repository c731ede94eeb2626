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

#include "sim/io/csv_stream.h"
#include "sim/run/csv_writer.h"
#include "sim/run/file_name.h"
#include "sim/run/results.h"
#include "tests/unit/run/made_outcomes.h"
#include "tests/unit/run/made_series.h"

static char *written(int (*write)(const struct experiment_results *, FILE *, struct error *),
                     struct made *made)
{
    char *text = NULL;
    size_t size;
    struct error err = {0};
    FILE *file = open_memstream(&text, &size);

    assert_int_equal(write(&made->results, file, &err), 0);
    fclose(file);
    return text;
}

static void test_csv(void **state)
{
    static const char expected[] = "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\" space\",,=1+1\n"
                                   "-3,0.1,,inf,0.1,1.5,0.000000001,,\n";
    char *text = NULL;
    size_t size;
    struct csv_writer csv;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    csv_writer_init(&csv, file);
    csv_text(&csv, "plain");
    csv_text(&csv, "a,b");
    csv_text(&csv, "say \"x\"");
    csv_text(&csv, "two\nlines");
    csv_text(&csv, " space");
    csv_text(&csv, "");
    csv_text(&csv, "=1+1");
    csv_end(&csv);
    csv_integer(&csv, -3);
    csv_number(&csv, 0.1);
    csv_number(&csv, NAN);
    csv_number(&csv, INFINITY);
    csv_number_float(&csv, 0.1f);
    csv_seconds(&csv, 1500 * SIM_MILLISECOND);
    csv_seconds(&csv, 1);
    csv_seconds(&csv, SIM_NEVER);
    csv_seconds(&csv, -1);
    csv_end(&csv);
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

static void test_file_names(void **state)
{
    char names[4][24] = {"latency-a", "latency-a", "latency-a", "abcdefghijklmnopqrstuvw"};
    char part[FILE_NAME_PART], name[200];

    (void)state;
    file_name_part(part, "../../etc/passwd");
    assert_string_equal(part, "_._.._etc_passwd");
    file_name_part(part, "");
    assert_string_equal(part, "_");
    file_name_part(part, "gr\xc3\xbc\xc3\x9f `id`");
    assert_string_equal(part, "gr______id_"); /* four bytes, a space, a backquote */
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    file_name_part(part, name);
    assert_int_equal(strlen(part), FILE_NAME_PART - 1);
    for (size_t i = 1; i <= 4; i++)
        file_name_unique(names[0], sizeof names[0], i);
    assert_string_equal(names[1], "latency-a-2");
    assert_string_equal(names[2], "latency-a-3");
    assert_string_equal(names[3], "abcdefghijklmnopqrstuvw");
}

/* Two replications, two buckets (the second replication's run has a third): what is a mean, what is unknown.
 */
static void test_timeseries(void **state)
{
    static struct made made;
    struct series_record record = {0};
    struct error err = {0};
    char *text, *again;
    struct csv_stream *csv;
    struct csv_row row;
    FILE *file;

    (void)state;
    made_init(&made, 1, 1, 2);
    for (int r = 0; r < 2; r++)
        made_spools(&made, 0, r);
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 2 + r; k++) {
            record = (struct series_record){.start = k * 10 * SIM_SECOND,
                                            .arrivals = 10 + 2 * r,
                                            .completed = 9,
                                            .p50_ns = k == 0 ? 250 * SIM_MILLISECOND : -1,
                                            .p99_ns = k == 0   ? SIM_SECOND * (1 + r)
                                                      : r == 0 ? INT64_MAX
                                                               : -1,
                                            .queue = 0.1f,
                                            .desired = 3,
                                            .need = NAN,
                                            .capacity_per_s = 12.5f,
                                            .offered_per_s = 1};
            record.replicas[REPLICA_READY] = 2.5f;
            assert_int_equal(spool_append(made_run(&made, 0, r)->series[0], &record, &err), 0);
        }
    text = written(results_write_timeseries, &made);
    again = written(results_write_timeseries, &made);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "\nhpa,chat,0,0,10,9,0,0,1,0.25,1,0.1,0,0,0,0,0,0,0,0,2.5,0,0,3,,12.5,0\n"
                                 "hpa,chat,mean,0,11,9,0,0,1,0.25,1.5,0.1,0,0,0,0,0,0,0,0,2.5,0,0,3,,12.5,0\n"
                                 "hpa,chat,0,10,10,9,0,0,1,,inf,0.1,"));
    assert_non_null(strstr(text, "hpa,chat,mean,10,11,9,0,0,1,,inf,"));
    assert_non_null(strstr(text, "hpa,chat,mean,20,12,9,0,0,1,,,")); /* one is over */
    assert_null(strstr(text, "hpa,chat,0,20"));
    assert_int_equal(csv_stream_open_memory(&csv, text, strlen(text), "timeseries.csv", ',', &err), 0);
    assert_int_equal(csv_stream_next(csv, &row, &err), 1);
    assert_int_equal(row.count, 27);
    assert_string_equal(row.fields[19].text, "replicas_endpoint");
    assert_string_equal(row.fields[26].text, "cost_per_hour");
    while (csv_stream_next(csv, &row, &err) > 0)
        assert_int_equal(row.count, 27);
    csv_stream_close(csv);
    free(text);
    free(again);
    made_free(&made);

    /* buckets out of step are our own mistake */
    made_init(&made, 1, 1, 2);
    for (int r = 0; r < 2; r++) {
        made_spools(&made, 0, r);
        record.start = r * SIM_SECOND;
        assert_int_equal(spool_append(made_run(&made, 0, r)->series[0], &record, &err), 0);
    }
    file = fopen("/dev/null", "w");
    assert_int_equal(results_write_timeseries(&made.results, file, &err), -1);
    assert_int_equal(err.code, ERROR_INTERNAL);
    fclose(file);
    made_free(&made);
}

static void test_records(void **state)
{
    static struct made made;
    struct decision_record decision = {.at = 90 * SIM_SECOND,
                                       .from = 2,
                                       .to = 5,
                                       .proposal = 7,
                                       .ready = 2,
                                       .metric = -1,
                                       .seen = 3.5,
                                       .truth = NAN,
                                       .age = 15 * SIM_SECOND,
                                       .reason = "ReadyForNewScale",
                                       .limit = "ScaleUpLimit"};
    struct replica_record replica = {.ordinal = 4,
                                     .node = -1,
                                     .origin = ORIGIN_COLD,
                                     .asked = SIM_SECOND,
                                     .prepared = SIM_NEVER,
                                     .stage = {50 * SIM_MILLISECOND, -1, 0, 1, -1, -1, -1},
                                     .ready = SIM_NEVER,
                                     .draining = SIM_NEVER,
                                     .ended = 20 * SIM_SECOND,
                                     .served = 0};
    struct error err = {0};
    char *text;

    (void)state;
    made_init(&made, 1, 1, 1);
    made.strategies[0].name = "a,\"b\"";
    made_spools(&made, 0, 0);
    memset(decision.reason, 'r', sizeof decision.reason); /* fills its field without a NUL */
    assert_int_equal(spool_append(made_run(&made, 0, 0)->decisions, &decision, &err), 0);
    assert_int_equal(spool_append(made_run(&made, 0, 0)->replicas, &replica, &err), 0);
    text = written(results_write_decisions, &made);
    assert_string_equal(
        text,
        "strategy,service,replication,time_s,desired_before,desired_after,proposal,ready,metric,seen,truth,"
        "sample_age_s,reason,limit\n"
        "\"a,\"\"b\"\"\",chat,0,90,2,5,7,2,,3.5,,15,rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr,ScaleUpLimit\n");
    free(text);
    text = written(results_write_replicas, &made);
    assert_string_equal(
        text,
        "strategy,service,replication,ordinal,node,origin,asked_s,prepared_s,schedule_s,node_s,pull_s,load_s,"
        "init_s,probe_s,endpoint_s,ready_s,draining_s,ended_s,served_requests\n"
        "\"a,\"\"b\"\"\",chat,0,4,,cold,1,,0.05,,0,0.000000001,,,,,,20,0\n");
    free(text);
    made_free(&made);
}

static char *slurp(const char *folder, const char *name)
{
    char path[512], *text = NULL;
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file)
        return NULL;
    text = calloc(1, 1 << 22);
    size = fread(text, 1, (1 << 22) - 1, file);
    fclose(file);
    text[size] = '\0';
    return text;
}

/* Deletes a folder of plain files that this test made. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[1024];

    while (dir && (entry = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' || strcmp(entry->d_name, ".peaksim") == 0)
            unlink(path);
    }
    closedir(dir);
    rmdir(folder);
}

static void test_folder(void **state)
{
    static const char *const files[] = {
        "summary.json", "strategies.csv",        "timeseries.csv",        "decisions.csv",
        "replicas.csv", "latency-hpa-chat.hgrm", "latency-a_b-chat.hgrm", "latency-a_b-chat-2.hgrm"};
    static struct made made;
    struct summary summary;
    struct output_dir *out;
    struct error err = {0};
    char base[] = "/tmp/peaksim-results-XXXXXX", target[2][64];

    (void)state;
    assert_non_null(mkdtemp(base));
    made_init(&made, 3, 1, 3);
    made.strategies[1].name = "a/b"; /* both become a_b */
    made.strategies[2].name = "a:b";
    made_peak_day(&made);
    assert_int_equal(summary_make(&made.results, &summary, &err), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(target[i], sizeof target[i], "%s/%d", base, i);
        assert_int_equal(output_dir_begin(&out, target[i], &err), 0);
        if (results_write(&made.results, &summary, out, &err) != 0)
            fail_msg("%s", err.message);
        assert_int_equal(output_dir_commit(out, &err), 0);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *a = slurp(target[0], files[i]), *b = slurp(target[1], files[i]);

        if (!a || !b || strlen(a) < 40)
            fail_msg("%s is missing", files[i]);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    summary_free(&summary);
    made_free(&made);
    remove_folder(target[0]);
    remove_folder(target[1]);
    rmdir(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),     cmocka_unit_test(test_file_names), cmocka_unit_test(test_timeseries),
        cmocka_unit_test(test_records), cmocka_unit_test(test_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
