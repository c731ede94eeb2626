#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#endif
#include "plots/plot_script.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "sim/io/utf8.h"
#include "sim/run/number_text.h"

const char *plot_strategy_color(int32_t strategy)
{
    static const char *const colors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                         "#E69F00", "#56B4E9", "#000000"};

    return colors[strategy % 7];
}

int plot_strategy_dash(int32_t strategy)
{
    return 1 + strategy / 7;
}

const char *plot_state_color(int32_t state)
{
    /* ready, endpoint, probe, init, load, pull, node, schedule, draining, prepared */
    static const char *const colors[] = {"#009E73", "#CC79A7", "#F0E442", "#E69F00", "#56B4E9",
                                         "#0072B2", "#555555", "#000000", "#BBBBBB", "#D55E00"};

    return colors[state % 10];
}

/* Bytes of the UTF-8 character that begins with byte; the text is well-formed there. */
static size_t character_length(unsigned char byte)
{
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

static uint32_t character_code(const unsigned char *at, size_t length)
{
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = at[0] & mask[length];

    for (size_t i = 1; i < length; i++)
        code = code << 6 | (at[i] & 0x3f);
    return code;
}

static bool character_printable(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return false;
    if (code == 0x2028 || code == 0x2029) /* line and paragraph separator */
        return false;
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e ||
        code == 0x200f)
        return false;
    return (code & 0xfffe) != 0xfffe; /* not a character in any plane */
}

void plot_quote(FILE *to, const char *text, int characters)
{
    size_t length = strlen(text), at = 0;
    int written = 0, brackets = 0;

    fputc('\'', to);
    while (at < length) {
        /* the longest character is 4 bytes: enough to see whether this one is well-formed */
        size_t rest = length - at, size = character_length((unsigned char)text[at]);

        if (size > rest || utf8_check(text + at, size) < size) {
            at++;
            continue;
        }
        if (text[at] == '>' &&
            brackets >= 2) { /* "]]>" may not stand in XML, and gnuplot writes it as it is */
            at++;
            continue;
        }
        if (character_printable(character_code((const unsigned char *)text + at, size))) {
            if (written == characters - 1 && at + size < length) {
                fputs("\xe2\x80\xa6", to); /* ellipsis */
                break;
            }
            if (text[at] == '\'' && written == 0)
                fputs("\xe2\x80\x99", to);
            else if (text[at] == '\'')
                fputs("''", to);
            else
                fwrite(text + at, 1, size, to);
            brackets = text[at] == ']' ? brackets + 1 : 0;
            written++;
        }
        at += size;
    }
    fputc('\'', to);
}

void plot_number(FILE *to, double value, const char *end)
{
    char digits[NUMBER_TEXT];

    fputs(isfinite(value) ? number_text(digits, value) : "NaN", to);
    fputs(end, to);
}

void plot_set_number(FILE *to, const char *name, double value)
{
    fprintf(to, "%s = ", name);
    plot_number(to, value, "\n");
}

void plot_set_text(FILE *to, const char *name, const char *text, int characters)
{
    fprintf(to, "%s = ", name);
    plot_quote(to, text, characters);
    fputc('\n', to);
}

/* First line of what gnuplot said that is no echo of the script, for the error message. */
static void first_complaint(const char *directory, char *line, size_t size)
{
    char path[4096];
    FILE *log;

    line[0] = '\0';
    snprintf(path, sizeof path, "%s/gnuplot.log", directory);
    log = fopen(path, "r");
    if (!log)
        return;
    while (fgets(line, (int)size, log) && (line[0] == '\n' || line[0] == ' ' || line[0] == '^'))
        ;
    line[strcspn(line, "\n")] = '\0';
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    fclose(log);
}

static int wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

static int spawn_gnuplot(const char *directory, const char *script, pid_t *pid)
{
    char path_text[4096 + 8], home_text[4096 + 8], locale_text[] = "LC_ALL=C.UTF-8";
    char name[] = "gnuplot", plain[] = "-d", file[64];
    char *argv[] = {name, plain, file, NULL}, *env[] = {path_text, home_text, locale_text, NULL};
    const char *path = getenv("PATH"), *home = getenv("HOME");
    posix_spawn_file_actions_t actions;
    int failed;

    snprintf(path_text, sizeof path_text, "PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin");
    snprintf(home_text, sizeof home_text, "HOME=%s", home ? home : "/nonexistent");
    snprintf(file, sizeof file, "%s", script);
    failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, 2, "gnuplot.log", O_WRONLY | O_CREAT | O_TRUNC,
                                                  0600);
    if (!failed)
        failed = posix_spawnp(pid, "gnuplot", &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

int plot_run_gnuplot(const char *directory, const char *script, struct error *err)
{
    char complaint[512];
    int failed, status;
    pid_t pid;

    failed = spawn_gnuplot(directory, script, &pid);
    if (failed == ENOENT || failed == EACCES)
        return error_set(
            err, ERROR_SYSTEM, "plots",
            "gnuplot is not installed: no plots were drawn, the results are complete without them. "
            "Install the package gnuplot-nox (Debian, Ubuntu) and run `peaksim plot` on the output "
            "directory.");
    if (failed)
        return error_set(err, ERROR_SYSTEM, "plots", "cannot start gnuplot: %s", strerror(failed));
    if (wait_for(pid, &status) != 0)
        return error_set(err, ERROR_SYSTEM, "plots", "lost gnuplot: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        first_complaint(directory, complaint, sizeof complaint);
        return error_set(err, ERROR_SYSTEM, "plots", "gnuplot failed on %s%s%s", script,
                         complaint[0] ? ": " : "", complaint);
    }
    return 0;
}
