#include "sim/io/line_stream.h"
#include "tests/unit/io/stream_support.h"

/* All lines as "number:text" lines, and the error at the end as "!place message". */
static char *lines_of(struct line_stream *lines)
{
    struct error err = {.code = ERROR_NONE};
    struct line line;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int got;

    while ((got = line_stream_next(lines, &line, &err)) > 0) {
        assert_int_equal(strlen(line.text), line.length);
        fprintf(out, "%llu:%s\n", (unsigned long long)line.number, line.text);
    }
    if (got < 0)
        fprintf(out, "!%s %s\n", err.place, err.message);
    fclose(out);
    return text;
}

static void lines_with(const char *text, size_t length, uint64_t blank, const char *wanted)
{
    struct error err = {.code = ERROR_NONE};
    struct line_stream *lines;
    char *found;

    assert_int_equal(line_stream_open_memory(&lines, text, length, "t.jsonl", &err), 0);
    assert_text(line_stream_name(lines), "t.jsonl");
    found = lines_of(lines);
    assert_text(found, wanted);
    assert_int_equal(line_stream_blank_lines(lines), blank);
    free(found);
    line_stream_close(lines);
}

static void lines_are(const char *text, uint64_t blank, const char *wanted)
{
    lines_with(text, strlen(text), blank, wanted);
}

static void plain_lines(void **state)
{
    (void)state;
    lines_are("a\nb\n", 0, "1:a\n2:b\n");
    lines_are("a\nb", 0, "1:a\n2:b\n");
    lines_are("a\r\nb\r\n", 0, "1:a\n2:b\n");
    lines_are("a\r\nb\r", 0, "1:a\n2:b\n");
    lines_are("a\rb\n", 0, "1:a\rb\n"); /* a lone CR is no line end here */
    lines_are("", 0, "");
    lines_are("\n\na\n \t\n\r\nb\n\n", 5, "3:a\n6:b\n");
    lines_are("\xef\xbb\xbf"
              "a\nb\n",
              0, "1:a\n2:b\n");
    lines_are("\xef\xbb\xbf", 0, "");
    lines_are("\xef\xbb", 0, "1:\xef\xbb\n");
    lines_are("a\n\xef\xbb\xbf\n", 0, "1:a\n2:\xef\xbb\xbf\n");
    lines_are("  a  \n", 0, "1:  a  \n");
}

static void hostile(void **state)
{
    size_t length = (size_t)LINE_STREAM_LIMIT + 2;
    char *text = malloc(length);
    struct line_stream *lines;
    struct line line;
    struct error err = {.code = ERROR_NONE}, again = {.code = ERROR_NONE};

    (void)state;
    lines_with("a\nb\0c\n", 6, 0, "1:a\n!t.jsonl:2 a NUL byte; is this a text file?\n");
    lines_with("\0", 1, 0, "!t.jsonl:1 a NUL byte; is this a text file?\n");
    assert_non_null(text);
    memset(text, 'x', length);
    lines_with(text, length, 0, "!t.jsonl:1 a line longer than 16 MiB\n");
    text[0] = '\n';
    assert_int_equal(line_stream_open_memory(&lines, text, length - 1, "t", &err), 0);
    assert_int_equal(line_stream_next(lines, &line, &err), 1); /* exactly the limit */
    assert_int_equal(line.length, LINE_STREAM_LIMIT);
    assert_int_equal(line.number, 2);
    assert_int_equal(line_stream_next(lines, &line, &err), 0);
    assert_int_equal(line_stream_next(lines, &line, &err), 0);
    line_stream_close(lines);
    free(text);

    assert_int_equal(line_stream_open_memory(&lines, "\0\nb\n", 4, "t", &err), 0);
    assert_int_equal(line_stream_next(lines, &line, &err), -1);
    assert_int_equal(line_stream_next(lines, &line, &again), -1); /* an error stays */
    assert_text(again.place, "t:1");
    line_stream_close(lines);
    line_stream_close(NULL);
}

/* Lines longer than the first buffer and across its end; plain, and gzip of two members. */
static void across_buffers(void **state)
{
    enum { LINES = 3000 };
    struct error err = {.code = ERROR_NONE};
    char *text, folder[200], path[300];
    size_t length, packed, second;
    FILE *out = open_memstream(&text, &length);
    unsigned char *one, *two;

    (void)state;
    for (int i = 0; i < LINES; i++)
        fprintf(out, "%d:%0*d\n", i, i == 1500 ? 200000 : i % 97 + 1, 0);
    fclose(out);
    make_folder_of(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t", folder);
    one = gzip_of(text, 100001, &packed);
    two = gzip_of(text + 100001, length - 100001, &second);
    for (int way = 0; way < 2; way++) {
        struct line_stream *lines;
        struct line line;
        int n = 0;

        if (way) {
            unsigned char *both = malloc(packed + second);

            memcpy(both, one, packed);
            memcpy(both + packed, two, second);
            write_file(path, both, packed + second);
            free(both);
        } else {
            write_file(path, text, length);
        }
        assert_int_equal(line_stream_open(&lines, path, &err), 0);
        while (line_stream_next(lines, &line, &err) > 0) {
            char head[32];
            size_t digits = (size_t)snprintf(head, sizeof head, "%d:", n);

            assert_memory_equal(line.text, head, digits);
            assert_int_equal(line.length, digits + (n == 1500 ? 200000 : (size_t)(n % 97 + 1)));
            n++;
        }
        assert_int_equal(err.code, ERROR_NONE);
        assert_int_equal(n, LINES);
        line_stream_close(lines);
    }
    free(one);
    free(two);
    free(text);
    remove_folder_of(folder);
}

static void damaged_gzip(void **state)
{
    static const char text[] = "{\"a\": 1}\n{\"a\": 2}\n";
    struct error err = {.code = ERROR_NONE};
    char folder[200], path[300];
    struct line_stream *lines;
    size_t packed;
    unsigned char *gzip = gzip_of(text, sizeof text - 1, &packed);
    char *found;

    (void)state;
    make_folder_of(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/t.gz", folder);
    for (size_t cut = 2; cut < packed; cut++) {
        write_file(path, gzip, cut);
        assert_int_equal(line_stream_open(&lines, path, &err), 0);
        found = lines_of(lines);
        assert_has(found, "!");
        assert_has(found, "gzip file");
        free(found);
        line_stream_close(lines);
    }
    free(gzip);
    snprintf(path, sizeof path, "%s/none", folder);
    assert_int_equal(line_stream_open(&lines, path, &err), -1);
    assert_null(lines);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_has(err.message, "No such file");
    remove_folder_of(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines),
        cmocka_unit_test(hostile),
        cmocka_unit_test(across_buffers),
        cmocka_unit_test(damaged_gzip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
