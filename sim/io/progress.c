#include "sim/io/progress.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sim/io/text_table.h"

enum { UPDATE_NS = 200000000 };

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *label, uint64_t total, bool quiet)
{
    const char *no_color = getenv("NO_COLOR");

    progress->file = !quiet && isatty(STDERR_FILENO) ? stderr : NULL;
    progress->label = label;
    progress->total = total;
    progress->color = !no_color || !*no_color;
    progress->start_ns = now_ns();
    atomic_init(&progress->done, 0);
    atomic_init(&progress->shown_ns, progress->start_ns);
}

void progress_text(const char *label, uint64_t done, uint64_t total, double elapsed_s, char *text,
                   size_t size)
{
    char left[64];

    if (!total) {
        snprintf(text, size, "%s  %llu", label, (unsigned long long)done);
        return;
    }
    if (done > total)
        done = total;
    if (!done) {
        snprintf(text, size, "%s  0 %% (0/%llu)", label, (unsigned long long)total);
        return;
    }
    human_duration(elapsed_s * (double)(total - done) / (double)done, left, sizeof left);
    snprintf(text, size, "%s  %.0f %% (%llu/%llu), %s left", label, 100.0 * (double)done / (double)total,
             (unsigned long long)done, (unsigned long long)total, left);
}

static void draw(struct progress *progress, uint64_t done, uint64_t now)
{
    char text[256];

    progress_text(progress->label, done, progress->total, (double)(now - progress->start_ns) / 1e9, text,
                  sizeof text);
    /* One call a line: lines of two threads cannot mix. \r, the text, clear to the end of the line. */
    fprintf(progress->file, progress->color ? "\r\033[2m%s\033[0m\033[K" : "\r%s\033[K", text);
    fflush(progress->file);
}

void progress_add(struct progress *progress, uint64_t amount)
{
    uint64_t done = atomic_fetch_add_explicit(&progress->done, amount, memory_order_relaxed) + amount;
    uint64_t shown, now;

    if (!progress->file)
        return;
    now = now_ns();
    shown = atomic_load_explicit(&progress->shown_ns, memory_order_relaxed);
    /* Whoever moves the time on draws; the others go on working. */
    if (now >= shown + UPDATE_NS && atomic_compare_exchange_strong(&progress->shown_ns, &shown, now))
        draw(progress, done, now);
}

void progress_end(struct progress *progress)
{
    if (progress->file) {
        fputs("\r\033[K", progress->file);
        fflush(progress->file);
    }
    progress->file = NULL;
}
