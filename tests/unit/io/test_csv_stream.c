#include "sim/io/csv_stream.h"
#include "tests/unit/io/stream_support.h"

/* Rows: RFC 4180 and what real files do beside it. */

/* All rows as "line:[field][field]" lines, and the error at the end as "!place message". */
static char *rows_of(struct csv_stream *csv)
{
    struct error err = {.code = ERROR_NONE};
    struct csv_row row;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int got;

    while ((got = csv_stream_next(csv, &row, &err)) > 0) {
        fprintf(out, "%llu:", (unsigned long long)row.line);
        for (size_t i = 0; i < row.count; i++) {
            assert_int_equal(strlen(row.fields[i].text), row.fields[i].length);
            fprintf(out, "[%s]", row.fields[i].text);
        }
        fputc('\n', out);
    }
    if (got < 0)
        fprintf(out, "!%s %s\n", err.place, err.message);
    fclose(out);
    return text;
}

static void rows_with(const char *text, size_t length, char delimiter, uint64_t blank, const char *wanted)
{
    struct error err = {.code = ERROR_NONE};
    struct csv_stream *csv;
    char *found;

    assert_int_equal(csv_stream_open_memory(&csv, text, length, "t.csv", delimiter, &err), 0);
    assert_text(csv_stream_name(csv), "t.csv");
    found = rows_of(csv);
    assert_text(found, wanted);
    assert_int_equal(csv_stream_blank_lines(csv), blank);
    free(found);
    csv_stream_close(csv);
}

static void rows_are(const char *text, uint64_t blank, const char *wanted)
{
    rows_with(text, strlen(text), ',', blank, wanted);
}

static void plain_rows(void **state)
{
    (void)state;
    rows_are("a,b\n1,2\n", 0, "1:[a][b]\n2:[1][2]\n");
    rows_are("a,b\n1,2", 0, "1:[a][b]\n2:[1][2]\n");
    rows_are("a,b\r\n1,2\r\n", 0, "1:[a][b]\n2:[1][2]\n");
    rows_are("a,b\r\n1,2", 0, "1:[a][b]\n2:[1][2]\n");
    rows_are("a\rb\rc", 0, "1:[a]\n2:[b]\n3:[c]\n");
    rows_are("", 0, "");
    rows_are(",\n,,\n", 0, "1:[][]\n2:[][][]\n");
    rows_are("a,b,\n1\n", 0, "1:[a][b][]\n2:[1]\n"); /* the count is the format's business */
    rows_are(" a , b c\t\n", 0, "1:[a][b c]\n");
    rows_with("a;b,c\n", 6, ';', 0, "1:[a][b,c]\n");
    rows_with("a\tb c\t\n", 7, '\t', 0, "1:[a][b c][]\n");
}

static void quotes(void **state)
{
    (void)state;
    rows_are("\"a\",\"b\"\n", 0, "1:[a][b]\n");
    rows_are("\"a,b\",c\n", 0, "1:[a,b][c]\n");
    rows_are("\"say \"\"x\"\"\"\n", 0, "1:[say \"x\"]\n");
    rows_are("\" a \", \" b \" \n", 0, "1:[ a ][ b ]\n");
    rows_are("\"\"\n\"\",\"\"\n", 0, "1:[]\n2:[][]\n");
    rows_are("\"two\nlines\",b\nc,d\n", 0, "1:[two\nlines][b]\n3:[c][d]\n");
    rows_are("\"two\r\nlines\",b\r\nc\r\n", 0, "1:[two\r\nlines][b]\n3:[c]\n");
    rows_are("\"a\n\n\nb\"\nc\n", 0, "1:[a\n\n\nb]\n5:[c]\n");
    rows_are("a \"b\" c,d\"\n", 0, "1:[a \"b\" c][d\"]\n"); /* not RFC 4180, but it means one thing only */
    rows_are("x\n\"never\nclosed", 0, "1:[x]\n!t.csv:2 a quote that is never closed\n");
}

static void blank_lines_and_mark(void **state)
{
    (void)state;
    rows_are("\n\na\n  \n\t\nb\n\n", 5, "3:[a]\n6:[b]\n");
    rows_are("a\r\n\r\nb\r\n", 1, "1:[a]\n3:[b]\n");
    rows_are("a\n   ", 0, "1:[a]\n");
    rows_are("\xef\xbb\xbf"
             "a,b\n1,2\n",
             0, "1:[a][b]\n2:[1][2]\n");
    rows_are("\xef\xbb\xbf", 0, "");
    rows_are("\xef\xbb\xbf\"a\",b\n", 0, "1:[a][b]\n");
    rows_are("a\n\xef\xbb\xbf"
             "b\n",
             0,
             "1:[a]\n2:[\xef\xbb\xbf"
             "b]\n");
}

static void hostile(void **state)
{
    size_t length = CSV_STREAM_ROW_LIMIT + 10;
    char *text = malloc(length);
    struct csv_stream *csv;
    struct csv_row row;
    struct error err = {.code = ERROR_NONE}, again = {.code = ERROR_NONE};

    (void)state;
    rows_with("a\nb\0c\n", 6, ',', 0, "1:[a]\n!t.csv:2 a NUL byte; is this a text file?\n");
    rows_with("a\n\0", 3, ',', 0, "1:[a]\n!t.csv:2 a NUL byte; is this a text file?\n");
    assert_non_null(text);
    memset(text, 'x', length);
    rows_with(text, length, ',', 0, "!t.csv:1 a row longer than 1 MiB; is a quote left open?\n");
    memset(text, '\n', length);
    text[0] = '"';
    rows_with(text, length, ',', 0, "!t.csv:1 a row longer than 1 MiB; is a quote left open?\n");
    memset(text, ',', length);
    rows_with(text, length, ',', 0, "!t.csv:1 a row with more than 16384 fields; is the delimiter right?\n");
    text[CSV_STREAM_FIELDS_LIMIT - 1] = '\n'; /* 16383 commas: exactly as many fields as are allowed */
    assert_int_equal(csv_stream_open_memory(&csv, text, CSV_STREAM_FIELDS_LIMIT, "t.csv", ',', &err), 0);
    assert_int_equal(csv_stream_next(csv, &row, &err), 1);
    assert_int_equal(row.count, CSV_STREAM_FIELDS_LIMIT);
    assert_int_equal(csv_stream_next(csv, &row, &err), 0);
    assert_int_equal(csv_stream_next(csv, &row, &err), 0); /* the end stays */
    csv_stream_close(csv);
    free(text);

    assert_int_equal(csv_stream_open_memory(&csv, "\"a", 2, "t.csv", ',', &err), 0);
    assert_int_equal(csv_stream_next(csv, &row, &err), -1);
    assert_int_equal(csv_stream_next(csv, &row, &again), -1); /* and so does an error */
    assert_text(again.message, err.message);
    csv_stream_close(csv);
    csv_stream_close(NULL);
}

/* Rows that lie across the reader's chunks are the same rows, plain and compressed, in two members or one. */
static void across_chunks(void **state)
{
    enum { ROWS = 40000 };
    struct error err = {.code = ERROR_NONE};
    char *text, folder[200], path[300];
    size_t length, packed, second;
    FILE *out = open_memstream(&text, &length);
    unsigned char *gzip, *half;

    (void)state;
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "%d,\"q%d\n%d\",%s\r\n", i, i, i * 7, i % 3 ? "x" : "longer");
    fclose(out);
    assert_true(length > 3 * 256 * 1024);
    make_folder_of(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.csv.gz", folder);
    gzip = gzip_of(text, length, &packed);
    for (int way = 0; way < 3; way++) {
        struct csv_stream *csv;
        struct csv_row row;
        uint64_t n = 0;

        if (way == 0)
            write_file(path, text, length);
        else if (way == 1)
            write_file(path, gzip, packed);
        if (way == 2) {
            FILE *file = fopen(path, "wb");

            free(gzip);
            gzip = gzip_of(text, 300001, &packed);
            half = gzip_of(text + 300001, length - 300001, &second);
            fwrite(gzip, 1, packed, file);
            fwrite(half, 1, second, file);
            fclose(file);
            free(half);
        }
        assert_int_equal(csv_stream_open(&csv, path, ',', &err), 0);
        while (csv_stream_next(csv, &row, &err) > 0) {
            char wanted[64];

            assert_int_equal(row.count, 3);
            assert_int_equal(row.line, 2 * n + 1);
            assert_int_equal(strtoull(row.fields[0].text, NULL, 10), n);
            snprintf(wanted, sizeof wanted, "q%d\n%d", (int)n, (int)n * 7);
            assert_text(row.fields[1].text, wanted);
            n++;
        }
        assert_int_equal(err.code, ERROR_NONE);
        assert_int_equal(n, ROWS);
        assert_int_equal(csv_stream_rows(csv), ROWS);
        csv_stream_close(csv);
    }
    free(gzip);
    free(text);
    remove_folder_of(folder);
}

static void damaged_files(void **state)
{
    static const char text[] = "a,b\n1,2\n3,4\n";
    struct error err = {.code = ERROR_NONE};
    char folder[200], path[300];
    struct csv_stream *csv;
    struct csv_row row;
    size_t packed;
    unsigned char *gzip = gzip_of(text, sizeof text - 1, &packed);
    int got;

    (void)state;
    make_folder_of(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.csv.gz", folder);
    for (size_t cut = 2; cut < packed; cut++) {
        err = (struct error){.code = ERROR_NONE};
        write_file(path, gzip, cut);
        assert_int_equal(csv_stream_open(&csv, path, ',', &err), 0);
        while ((got = csv_stream_next(csv, &row, &err)) > 0)
            assert_true(row.count == 2);
        if (got != -1)
            fail_msg("cut at %zu of %zu bytes: not refused", cut, packed);
        assert_text(err.place, path);
        assert_has(err.message, "gzip file");
        csv_stream_close(csv);
    }
    gzip[packed - 6] ^= 1; /* the checksum */
    write_file(path, gzip, packed);
    err = (struct error){.code = ERROR_NONE};
    assert_int_equal(csv_stream_open(&csv, path, ',', &err), 0);
    while ((got = csv_stream_next(csv, &row, &err)) > 0)
        assert_true(row.count == 2);
    assert_int_equal(got, -1);
    assert_has(err.message, "damaged");
    csv_stream_close(csv);
    free(gzip);

    snprintf(path, sizeof path, "%s/none", folder);
    err = (struct error){.code = ERROR_NONE};
    assert_int_equal(csv_stream_open(&csv, path, ',', &err), -1);
    assert_null(csv);
    assert_text(err.place, path);
    assert_has(err.message, "No such file");
    err = (struct error){.code = ERROR_NONE};
    if (!csv_stream_open(&csv, folder, ',', &err)) {
        assert_int_equal(csv_stream_next(csv, &row, &err), -1);
        csv_stream_close(csv);
    }
    assert_has(err.message, "directory");
    remove_folder_of(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_rows), cmocka_unit_test(quotes),        cmocka_unit_test(blank_lines_and_mark),
        cmocka_unit_test(hostile),    cmocka_unit_test(across_chunks), cmocka_unit_test(damaged_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
