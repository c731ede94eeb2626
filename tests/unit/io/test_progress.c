#include <pty.h>

#include "sim/io/progress.h"
#include "tests/unit/io/io_support.h"

static void text_is(uint64_t done, uint64_t total, double elapsed, const char *wanted)
{
    char text[200];

    progress_text("replications", done, total, elapsed, text, sizeof text);
    assert_text(text, wanted);
}

static void texts(void **state)
{
    (void)state;
    text_is(0, 50, 3, "replications  0 % (0/50)");
    text_is(21, 50, 21, "replications  42 % (21/50), 29.0 s left");
    text_is(1, 3, 100, "replications  33 % (1/3), 3 m 20 s left");
    text_is(50, 50, 10, "replications  100 % (50/50), 0 s left");
    text_is(60, 50, 10, "replications  100 % (50/50), 0 s left");
    text_is(7, 0, 10, "replications  7");
}

/* What a run writes to standard error when that is a terminal, or a pipe. */
static size_t drawn(bool terminal, bool quiet, const char *no_color, char *text, size_t size)
{
    int ends[2], kept = dup(STDERR_FILENO);
    struct progress progress;
    ssize_t n;

    if (terminal)
        assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
    else
        assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    if (no_color)
        setenv("NO_COLOR", no_color, 1);
    else
        unsetenv("NO_COLOR");
    progress_begin(&progress, "runs", 4, quiet);
    progress_add(&progress, 1); /* too early to draw */
    usleep(250000);
    progress_add(&progress, 1);
    progress_add(&progress, 1); /* too soon after */
    progress_end(&progress);
    fputc('.', stderr);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    n = read(ends[0], text, size - 1);
    close(ends[0]);
    close(ends[1]);
    assert_true(n > 0);
    text[n] = 0;
    return (size_t)n;
}

static void only_on_a_terminal(void **state)
{
    char text[500];

    (void)state;
    drawn(false, false, NULL, text, sizeof text);
    assert_text(text, ".");
    drawn(true, true, NULL, text, sizeof text);
    assert_text(text, ".");
    drawn(true, false, NULL, text, sizeof text);
    assert_int_equal(strncmp(text, "\r\033[2mruns  50 % (2/4), ", 22), 0);
    assert_has(text, " left\033[0m\033[K\r\033[K.");
    assert_null(strstr(text, "75 %"));
}

static void no_color(void **state)
{
    char text[500];

    (void)state;
    drawn(true, false, "1", text, sizeof text);
    assert_int_equal(strncmp(text, "\rruns  50 % (2/4), ", 18), 0);
    assert_null(strstr(text, "\033[2m"));
    drawn(true, false, "", text, sizeof text); /* empty means unset: no-color.org */
    assert_has(text, "\033[2m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(only_on_a_terminal),
        cmocka_unit_test(no_color),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
