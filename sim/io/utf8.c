#include "sim/io/utf8.h"

/* Bytes of the well-formed sequence at p (Unicode 15, table 3-7), 0 if it is none. */
static size_t sequence(const unsigned char *p, size_t left)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length;

    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        length = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        length = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (length > left || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return length;
}

size_t utf8_check(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;

    while (at < length) {
        size_t n = sequence(bytes + at, length - at);

        if (!n)
            return at;
        at += n;
    }
    return at;
}
