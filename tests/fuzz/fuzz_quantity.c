#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/quantity.h"

/*
 * One text to all readers of quantities. What they accept is held against the C library's long double, which
 * is near enough to catch every wrong unit, digit and sign.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s: \"%s\"\n", what, text);
    abort();
}

static int near(long double a, long double b, long double absolute)
{
    return fabsl(a - b) <= absolute + 1e-15L * (fabsl(a) + fabsl(b));
}

/* Nanoseconds of "1h2.5m" by strtold, a unit at a time. The reader has checked the grammar. */
static long double reference_ns(const char *text)
{
    long double total = 0;

    while (*text) {
        char number[4096], *end;
        size_t length = strspn(text, "0123456789.");
        long double value;

        if (length >= sizeof number)
            return NAN;
        memcpy(number, text, length);
        number[length] = 0;
        value = strtold(number, &end);
        text += length;
        if (!strncmp(text, "ms", 2))
            total += value * 1e6L, text += 2;
        else if (!strncmp(text, "us", 2))
            total += value * 1e3L, text += 2;
        else if (!strncmp(text, "ns", 2))
            total += value, text += 2;
        else if (!strncmp(text, "\xc2\xb5s", 3) || !strncmp(text, "\xce\xbcs", 3))
            total += value * 1e3L, text += 3;
        else if (*text == 'd')
            total += value * 86400e9L, text++;
        else if (*text == 'h')
            total += value * 3600e9L, text++;
        else if (*text == 'm')
            total += value * 60e9L, text++;
        else if (*text == 's')
            total += value * 1e9L, text++;
        else
            return total; /* "0" */
    }
    return total;
}

static long double reference_bytes(const char *text)
{
    static const char binary[] = "KMGTPE", large[] = "kMGTPE", small[] = "mun";
    char number[4096];
    size_t length = strspn(text, "+-0123456789.");
    long double value;
    const char *found;

    if (length >= sizeof number)
        return NAN;
    memcpy(number, text, length);
    number[length] = 0;
    value = strtold(number, NULL);
    text += length;
    if (!*text)
        return value;
    if ((*text == 'e' || *text == 'E') && text[1])
        return value * powl(10, strtold(text + 1, NULL));
    if (text[1] == 'i')
        return value * powl(1024, (long double)(strchr(binary, *text) - binary + 1));
    found = strchr(large, *text);
    if (found)
        return value * powl(1000, (long double)(found - large + 1));
    return value * powl(1000, -(long double)(strchr(small, *text) - small + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    struct error err;
    sim_time time = -1;
    int64_t whole = INT64_MIN;
    double real = NAN;
    long double reference;

#define READ(function, out) (err = (struct error){.code = ERROR_NONE}, function(text, out, &err))
    if (!READ(quantity_time, &time)) {
        reference = reference_ns(text);
        must(time >= 0 && time <= SIM_TIME_LIMIT, "a duration is in range", text);
        /* A half each for up to seven units. */
        must(isnan(reference) || near((long double)time, reference, 4), "a duration is what it says", text);
    } else {
        must(time == -1 && err.message[0], "a refused duration leaves its variable alone", text);
    }
    if (!READ(quantity_size, &whole)) {
        reference = reference_bytes(text);
        must(whole >= 0, "a size is not negative", text);
        must(!isfinite(reference) || near((long double)whole, reference, 1), "a size is what it says", text);
    } else {
        must(whole == INT64_MIN && err.message[0], "a refused size leaves its variable alone", text);
    }
    if (!READ(quantity_milli, &whole)) {
        reference = reference_bytes(text) * 1000;
        must(!isfinite(reference) || near((long double)whole, reference, 1), "a quantity is what it says",
             text);
    }
    if (!READ(quantity_number, &real)) {
        must(isfinite(real), "a number is finite", text);
        if (text[0] != '0' || text[1] != 'o')
            must(real == strtod(text, NULL), "a number is the C library's", text);
    }
    if (!READ(quantity_integer, &whole) && (text[0] != '0' || text[1] != 'o')) {
        reference = strtold(text, NULL);
        must(!isfinite(reference) || near((long double)whole, reference, 0), "a whole number is what it says",
             text);
    }
    if (!READ(quantity_share, &real)) {
        must(real >= 0 && real <= 1, "a share is in range", text);
        must(near((long double)real, strtold(text, NULL) / (strchr(text, '%') ? 100 : 1), 1e-300L),
             "a share is what it says", text);
    }
    if (!READ(quantity_rate, &real))
        must(real >= 0 && isfinite(real), "a rate is in range", text);
    if (!READ(quantity_bandwidth, &real))
        must(real > 0 && isfinite(real), "a bandwidth is in range", text);
#undef READ
    free(text);
    return 0;
}
