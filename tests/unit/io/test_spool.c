#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "sim/io/spool.h"
#include "tests/unit/io/io_support.h"

struct record {
    uint64_t number;
    char filler[40];
};

static void written_then_read_twice(void **state)
{
    enum { RECORDS = 20000 }; /* several buffers */
    struct error err = {.code = ERROR_NONE};
    struct spool spool;
    struct record record = {.filler = "x"};

    (void)state;
    assert_int_equal(spool_init(&spool, sizeof record, &err), 0);
    for (uint64_t i = 0; i < RECORDS; i++) {
        record.number = i * i;
        assert_int_equal(spool_append(&spool, &record, &err), 0);
    }
    assert_int_equal(spool_count(&spool), RECORDS);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(spool_rewind(&spool, &err), 0);
        for (uint64_t i = 0; i < RECORDS; i++) {
            record.number = 0;
            assert_int_equal(spool_next(&spool, &record, &err), 1);
            assert_true(record.number == i * i);
            if (round == 0 && i == RECORDS / 3)
                break; /* rewound in the middle */
        }
    }
    assert_int_equal(spool_next(&spool, &record, &err), 0);
    assert_int_equal(spool_next(&spool, &record, &err), 0);
    spool_free(&spool);
}

static void odd_sizes(void **state)
{
    static const size_t sizes[] = {1, 7, 4096, SPOOL_RECORD_LIMIT};
    unsigned char *record = malloc(SPOOL_RECORD_LIMIT);

    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct error err = {.code = ERROR_NONE};
        struct spool spool;

        assert_int_equal(spool_init(&spool, sizes[s], &err), 0);
        for (int i = 0; i < 50; i++) {
            memset(record, i, sizes[s]);
            assert_int_equal(spool_append(&spool, record, &err), 0);
        }
        assert_int_equal(spool_rewind(&spool, &err), 0);
        for (int i = 0; i < 50; i++) {
            assert_int_equal(spool_next(&spool, record, &err), 1);
            assert_int_equal(record[0], i);
            assert_int_equal(record[sizes[s] - 1], i);
        }
        assert_int_equal(spool_next(&spool, record, &err), 0);
        spool_free(&spool);
    }
    free(record);
}

static void empty(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct spool spool;
    int record;

    (void)state;
    assert_int_equal(spool_init(&spool, sizeof record, &err), 0);
    assert_int_equal(spool_rewind(&spool, &err), 0);
    assert_int_equal(spool_next(&spool, &record, &err), 0);
    assert_int_equal(spool_count(&spool), 0);
    spool_free(&spool);
    spool_free(&spool); /* harmless */
}

/* Nothing to be seen in the folder, so nothing stays when the program is killed. */
static void leaves_no_name(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct spool spool;
    char folder[200], missing[300], kept[300] = "";

    (void)state;
    if (getenv("TMPDIR"))
        snprintf(kept, sizeof kept, "%s", getenv("TMPDIR"));
    make_folder_of(folder, sizeof folder);
    setenv("TMPDIR", folder, 1);
    assert_int_equal(spool_init(&spool, 8, &err), 0);
    assert_int_equal(rmdir(folder), 0); /* empty */
    spool_free(&spool);
    snprintf(missing, sizeof missing, "%s/none", folder);
    setenv("TMPDIR", missing, 1);
    assert_int_equal(spool_init(&spool, 8, &err), -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_text(err.place, missing);
    assert_has(err.message, "set TMPDIR");
    spool_free(&spool);
    if (*kept)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
}

/* A limit on the size of files stands for a full disk. */
static void full_disk(void **state)
{
    struct error err = {.code = ERROR_NONE};
    struct rlimit kept, small;
    struct spool spool;
    char record[4096] = "x";
    int status = 0;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    small = kept;
    small.rlim_cur = 300000;
    assert_int_equal(spool_init(&spool, sizeof record, &err), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 1000 && !status; i++)
        status = spool_append(&spool, record, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_int_equal(status, -1);
    assert_int_equal(err.code, ERROR_SYSTEM);
    assert_has(err.message, "cannot be written: File too large");
    spool_free(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_then_read_twice), cmocka_unit_test(odd_sizes), cmocka_unit_test(empty),
        cmocka_unit_test(leaves_no_name),          cmocka_unit_test(full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
