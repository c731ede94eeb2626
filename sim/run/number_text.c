#include "sim/run/number_text.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the locale puts between units and tenths becomes a point. */
static void use_point(char text[NUMBER_TEXT])
{
    const char *point = localeconv()->decimal_point;
    size_t length = point ? strlen(point) : 0;
    char *found;

    if (length == 0 || strcmp(point, ".") == 0)
        return;
    found = strstr(text, point);
    if (!found)
        return;
    *found = '.';
    memmove(found + 1, found + length, strlen(found + length) + 1);
}

static bool special(char text[NUMBER_TEXT], double value)
{
    if (isfinite(value))
        return false;
    strcpy(text, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return true;
}

const char *number_text(char text[NUMBER_TEXT], double value)
{
    if (special(text, value))
        return text;
    if (value == 0)
        return strcpy(text, "0"); /* no "-0" */
    /* 15 digits survive any round trip from text, so a shorter text is found by the first try */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    use_point(text);
    return text;
}

const char *number_text_float(char text[NUMBER_TEXT], float value)
{
    if (special(text, (double)value))
        return text;
    if (value == 0)
        return strcpy(text, "0");
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    use_point(text);
    return text;
}

const char *number_text_digits(char text[NUMBER_TEXT], double value, int digits)
{
    int decimals;

    if (special(text, value))
        return text;
    if (value == 0)
        return strcpy(text, "0");
    /* rounded first: 9.996 with 3 digits is 10.0 */
    snprintf(text, NUMBER_TEXT, "%.*e", digits - 1, value);
    decimals = digits - 1 - atoi(strchr(text, 'e') + 1);
    if (decimals < -15 || decimals > 15)
        snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
    else
        snprintf(text, NUMBER_TEXT, "%.*f", decimals > 0 ? decimals : 0, value);
    use_point(text);
    return text;
}
