#include "sim/io/scalar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *text, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && !memcmp(text, *words, length))
            return true;
    return false;
}

static size_t digits(const char *text, size_t length, const char *allowed)
{
    size_t n = 0;

    while (n < length && text[n] && strchr(allowed, text[n]))
        n++;
    return n;
}

static bool is_number(const char *text, size_t length)
{
    static const char decimal[] = "0123456789";
    size_t at = 0, whole, fraction = 0;

    if (length > 2 && text[0] == '0' && text[1] == 'o')
        return digits(text + 2, length - 2, "01234567") == length - 2;
    if (length > 2 && text[0] == '0' && text[1] == 'x')
        return digits(text + 2, length - 2, "0123456789abcdefABCDEF") == length - 2;
    if (at < length && (text[at] == '-' || text[at] == '+'))
        at++;
    whole = digits(text + at, length - at, decimal);
    at += whole;
    if (at < length && text[at] == '.') {
        at++;
        fraction = digits(text + at, length - at, decimal);
        at += fraction;
    }
    if (!whole && !fraction)
        return false;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        size_t exponent;

        at++;
        if (at < length && (text[at] == '-' || text[at] == '+'))
            at++;
        exponent = digits(text + at, length - at, decimal);
        if (!exponent)
            return false;
        at += exponent;
    }
    return at == length;
}

enum node_kind scalar_kind(const char *text, size_t length)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const bools[] = {"true", "True", "TRUE", "false", "False", "FALSE", NULL};

    if (is_one_of(text, length, nulls))
        return NODE_NULL;
    if (is_one_of(text, length, bools))
        return NODE_BOOL;
    return is_number(text, length) ? NODE_NUMBER : NODE_STRING;
}

bool scalar_is_not_finite(const char *text, size_t length)
{
    static const char *const words[] = {".inf",  ".Inf",  ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
                                        "-.Inf", "-.INF", ".nan", ".NaN",  ".NAN",  NULL};

    return is_one_of(text, length, words);
}

size_t scalar_number_to_json(const char *text, char *out, size_t size)
{
    size_t used = 0, whole, fraction;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
        unsigned long long value;
        int n;

        errno = 0;
        value = strtoull(text + 2, NULL, text[1] == 'x' ? 16 : 8);
        n = snprintf(out, size, "%llu", value);
        return errno || n < 0 || (size_t)n >= size ? 0 : (size_t)n;
    }
    if (strlen(text) + 3 > size)
        return 0;
    if (*text == '-')
        out[used++] = '-';
    if (*text == '-' || *text == '+')
        text++;
    whole = strspn(text, "0123456789");
    while (whole > 1 && *text == '0') {
        text++;
        whole--;
    }
    if (whole)
        memcpy(out + used, text, whole);
    else
        out[used] = '0';
    used += whole ? whole : 1;
    text += whole;
    if (*text == '.') {
        fraction = strspn(text + 1, "0123456789");
        if (fraction) {
            memcpy(out + used, text, fraction + 1);
            used += fraction + 1;
        }
        text += fraction + 1;
    }
    memcpy(out + used, text, strlen(text) + 1); /* the exponent, if any */
    return used + strlen(text);
}
