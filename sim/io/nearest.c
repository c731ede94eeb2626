#include <string.h>

#include "sim/io/document.h"

enum { WORD_LIMIT = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Optimal string alignment distance: insertions, deletions, replacements and
 * swaps of neighbours cost one each; swaps are the commonest typing error.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    memcpy(before, last, (b_length + 1) * sizeof *last);
    for (size_t i = 1; i <= a_length; i++) {
        size_t *free_row = before;

        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;

            now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    size_t length = strlen(word);
    size_t allowed = length / 3 > 2 ? length / 3 : 2;
    size_t best_distance = allowed + 1;
    const char *best = NULL;

    if (length > WORD_LIMIT)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t name_length = strlen(names[i]);
        size_t d;

        if (name_length > WORD_LIMIT)
            continue;
        d = distance(word, length, names[i], name_length);
        /* A short word is near to every other short one: at least one sign must be shared. */
        if (d < best_distance && d < (length > name_length ? length : name_length)) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}
