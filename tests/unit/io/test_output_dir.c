#include <dirent.h>
#include <fcntl.h>

#include "sim/io/output_dir.h"
#include "tests/unit/io/io_support.h"

/* Results appear whole or not at all, replace only results, and leave nothing else behind. */

static char base[200];

static const char *in_base(const char *name)
{
    static char paths[4][400];
    static int next;
    char *path = paths[next++ & 3];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static int setup(void **state)
{
    (void)state;
    make_folder_of(base, sizeof base);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder_of(base);
    return 0;
}

static bool exists(const char *name)
{
    struct stat st;

    return !lstat(in_base(name), &st);
}

/* Entries of the base folder: what a run leaves. */
static int entries(void)
{
    DIR *dir = opendir(base);
    int count = 0;

    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void holds(const char *name, const char *wanted)
{
    char text[200] = "";
    FILE *file = fopen(in_base(name), "rb");

    if (!file)
        fail_msg("%s is missing", name);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_text(text, wanted);
}

static struct output_dir *begin(const char *name)
{
    struct error err = {.code = ERROR_NONE};
    struct output_dir *out;

    if (output_dir_begin(&out, in_base(name), &err))
        fail_msg("%s: %s", err.place, err.message);
    return out;
}

static void put(struct output_dir *out, const char *name, const char *text)
{
    struct error err = {.code = ERROR_NONE};
    FILE *file;

    if (output_dir_open(out, name, &file, &err))
        fail_msg("%s: %s", err.place, err.message);
    fputs(text, file);
}

static void commit(struct output_dir *out)
{
    struct error err = {.code = ERROR_NONE};

    if (output_dir_commit(out, &err))
        fail_msg("%s: %s", err.place, err.message);
}

static void begin_refused(const char *path, enum error_code code, const char *words)
{
    struct error err = {.code = ERROR_NONE};
    struct output_dir *out;

    if (!output_dir_begin(&out, path, &err)) {
        output_dir_abort(out);
        fail_msg("%s was accepted", path);
    }
    assert_null(out);
    assert_int_equal(err.code, code);
    assert_has(err.message, words);
}

static void whole_or_not_at_all(void **state)
{
    struct output_dir *out = begin("results");

    (void)state;
    put(out, "summary.json", "{}\n");
    put(out, "plots/cost.svg", "<svg/>");
    assert_false(exists("results"));
    assert_int_equal(entries(), 1); /* the partial folder, beside the target: the same file system */
    commit(out);
    holds("results/summary.json", "{}\n");
    holds("results/plots/cost.svg", "<svg/>");
    assert_true(exists("results/.peaksim"));
    assert_int_equal(entries(), 1);

    out = begin("results");
    put(out, "half", "x");
    output_dir_abort(out);
    holds("results/summary.json", "{}\n");
    assert_int_equal(entries(), 1);
    output_dir_abort(NULL);
}

static void replaces_earlier_results(void **state)
{
    struct output_dir *out = begin("results");

    (void)state;
    put(out, "old.csv", "old");
    put(out, "both.csv", "old");
    commit(out);
    out = begin("results/"); /* slashes at the end mean the same folder */
    put(out, "both.csv", "new");
    holds("results/both.csv", "old");
    commit(out);
    holds("results/both.csv", "new");
    assert_false(exists("results/old.csv"));
    assert_int_equal(entries(), 1);

    /* An empty folder, and one with a summary of ours whose marker was lost, are ours too. */
    assert_int_equal(mkdir(in_base("empty"), 0777), 0);
    out = begin("empty");
    put(out, "a", "1");
    commit(out);
    holds("empty/a", "1");
    assert_int_equal(mkdir(in_base("unmarked"), 0777), 0);
    write_file(in_base("unmarked/summary.json"), "{\"schema\": 1, \"scenario\": \"x\"}", 30);
    out = begin("unmarked");
    put(out, "a", "1");
    commit(out);
    assert_false(exists("unmarked/summary.json"));
}

static void leaves_foreign_folders_alone(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct output_dir *out;

    (void)state;
    assert_int_equal(mkdir(in_base("home"), 0777), 0);
    write_file(in_base("home/thesis.tex"), "years", 5);
    begin_refused(in_base("home"), ERROR_USAGE, "holds something else than a result of peaksim");
    write_file(in_base("file"), "x", 1);
    begin_refused(in_base("file"), ERROR_USAGE, "is not a folder");
    assert_int_equal(symlink(in_base("home"), in_base("link")), 0);
    begin_refused(in_base("link"), ERROR_USAGE, "is not a folder");
    /* A summary of somebody else's, or a marker that is a link, are no sign. */
    assert_int_equal(mkdir(in_base("other"), 0777), 0);
    write_file(in_base("other/summary.json"), "{\"total\": 1}", 12);
    begin_refused(in_base("other"), ERROR_USAGE, "something else");
    assert_int_equal(symlink("/dev/null", in_base("home/.peaksim")), 0);
    begin_refused(in_base("home"), ERROR_USAGE, "something else");
    begin_refused("", ERROR_USAGE, "empty");
    begin_refused("/", ERROR_USAGE, "names no new folder");
    begin_refused(".", ERROR_USAGE, "names no new folder");
    begin_refused(in_base(".."), ERROR_USAGE, "names no new folder");
    begin_refused(in_base("none/results"), ERROR_SYSTEM, "cannot be made");
    holds("home/thesis.tex", "years");

    /* What came while the run went on is not replaced either. */
    out = begin("late");
    put(out, "a", "1");
    assert_int_equal(mkdir(in_base("late"), 0777), 0);
    write_file(in_base("late/mine"), "x", 1);
    assert_int_equal(output_dir_commit(out, &err), -1);
    assert_int_equal(err.code, ERROR_USAGE);
    holds("late/mine", "x");
    assert_int_equal(entries(), 5); /* home, file, link, other, late: no partial folder */
}

static void names_stay_inside(void **state)
{
    static const char *const bad[] = {"",        "..",   "../x", "a/../b", "/etc/x", "a//b", "a/",
                                      ".hidden", "a/.b", "a b",  "a\n",    "a`b",    "<a",   "\xc3\xa4"};
    struct output_dir *out = begin("results");
    char path[600], longer[400];
    FILE *file;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct error err = {.code = ERROR_NONE};

        assert_int_equal(output_dir_open(out, bad[i], &file, &err), -1);
        assert_int_equal(err.code, ERROR_INTERNAL);
        assert_null(file);
        err = (struct error){.code = ERROR_NONE};
        assert_int_equal(output_dir_path(out, bad[i], path, sizeof path, &err), -1);
    }
    memset(longer, 'a', sizeof longer);
    longer[399] = 0;
    {
        struct error err = {.code = ERROR_NONE};

        assert_int_equal(output_dir_open(out, longer, &file, &err), -1);
        put(out, "once", "1");
        err = (struct error){.code = ERROR_NONE};
        assert_int_equal(output_dir_open(out, "once", &file, &err), -1);
        assert_int_equal(err.code, ERROR_INTERNAL);
        err = (struct error){.code = ERROR_NONE};
        assert_int_equal(output_dir_path(out, "plots/x.png", path, sizeof path, &err), 0);
        write_file(path, "png", 3); /* as gnuplot would */
        assert_int_equal(output_dir_path(out, "plots/x.png", path, 10, &err), -1);
    }
    commit(out);
    holds("results/plots/x.png", "png");
    holds("results/once", "1");
}

static void full_disk(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct output_dir *out = begin("results");
    FILE *file;

    (void)state;
    put(out, "earlier", "1");
    commit(out);
    out = begin("results");
    assert_int_equal(output_dir_open(out, "a", &file, &err), 0);
    fputs("lost", file);
    /* /dev/full stands for a disk that is full when the buffer goes out. */
    {
        int full = open("/dev/full", O_WRONLY);

        assert_true(full >= 0 && dup2(full, fileno(file)) >= 0);
        close(full);
    }
    assert_int_equal(output_dir_commit(out, &err), -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_has(err.message, "a cannot be written: No space left");
    holds("results/earlier", "1");
    assert_int_equal(entries(), 1);
}

static void files_closed_early(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct output_dir *out = begin("results");
    FILE *file;

    (void)state;
    assert_int_equal(output_dir_open(out, "a", &file, &err), 0);
    fputs("1", file);
    assert_int_equal(output_dir_close_file(out, file, &err), 0);
    assert_int_equal(output_dir_close_file(out, stderr, &err), -1);
    assert_int_equal(err.code, ERROR_INTERNAL);
    commit(out);
    holds("results/a", "1");
}

/* Links inside a result are removed, not followed. */
static void old_results_with_links(void **state)
{
    struct output_dir *out = begin("results");

    (void)state;
    put(out, "a", "1");
    commit(out);
    assert_int_equal(mkdir(in_base("precious"), 0777), 0);
    write_file(in_base("precious/x"), "x", 1);
    assert_int_equal(symlink(in_base("precious"), in_base("results/link")), 0);
    assert_int_equal(mkdir(in_base("results/deep"), 0777), 0);
    write_file(in_base("results/deep/y"), "y", 1);
    out = begin("results");
    put(out, "b", "2");
    commit(out);
    holds("precious/x", "x");
    assert_false(exists("results/link"));
    assert_false(exists("results/deep"));
    assert_int_equal(entries(), 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(whole_or_not_at_all),
        TEST(replaces_earlier_results),
        TEST(leaves_foreign_folders_alone),
        TEST(names_stay_inside),
        TEST(full_disk),
        TEST(files_closed_early),
        TEST(old_results_with_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
