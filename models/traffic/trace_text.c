#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/traffic/trace_internal.h"

/* Times and tokens out of text, exactly. */

static int64_t unit_ns(enum trace_unit unit)
{
    static const int64_t units[] = {1000000000, 1000000, 1000, 1, 1000000000};

    return units[unit];
}

/* Digits after a point as parts of `unit` nanoseconds, rounded half up; *text moves behind them. */
static __int128 fraction(const char **text, int64_t unit)
{
    __int128 value = 0, scale = 1;

    for (; isdigit((unsigned char)**text); ++*text) {
        if (scale > (__int128)1000000000 * 1000000000)
            continue; /* beyond 18 digits: float noise */
        value = 10 * value + (**text - '0');
        scale *= 10;
    }
    return (2 * value * unit + scale) / (2 * scale);
}

static int decimal(const char *text, int64_t unit, int64_t *out)
{
    bool negative = *text == '-';
    const char *at = text + (*text == '-' || *text == '+');
    __int128 value = 0;

    if (!isdigit((unsigned char)*at) && !(*at == '.' && isdigit((unsigned char)at[1])))
        return -1;
    for (; isdigit((unsigned char)*at); at++) {
        value = 10 * value + (*at - '0');
        if (value > INT64_MAX)
            return -1;
    }
    value *= unit;
    if (*at == '.') {
        at++;
        value += fraction(&at, unit);
    }
    if (*at == 'e' || *at == 'E') { /* as some languages print small numbers */
        char *end;
        long double number = strtold(text, &end) * (long double)unit;

        if (*end || !(fabsl(number) < 9.2e18L))
            return -1;
        *out = (int64_t)llroundl(number);
        return 0;
    }
    if (*at || value > INT64_MAX)
        return -1;
    *out = (int64_t)(negative ? -value : value);
    return 0;
}

static bool digits(const char **text, int count, int *out)
{
    *out = 0;
    for (int i = 0; i < count; i++, ++*text) {
        if (!isdigit((unsigned char)**text))
            return false;
        *out = 10 * *out + (**text - '0');
    }
    return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date
 * Algorithms"). */
static int64_t days_from_civil(int year, int month, int day)
{
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400, doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    return era * 146097 + doe - 719468;
}

static int date(const char *text, int64_t *out)
{
    int year, month, day, hour = 0, minute = 0, second = 0, zone_hours, zone_minutes = 0;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    __int128 ns;

    if (!digits(&text, 4, &year) || *text++ != '-' || !digits(&text, 2, &month) || *text++ != '-' ||
        !digits(&text, 2, &day))
        return -1;
    if (*text) {
        if ((*text != ' ' && *text != 'T') || !(text++, digits(&text, 2, &hour)) || *text++ != ':' ||
            !digits(&text, 2, &minute))
            return -1;
        if (*text == ':' && !(text++, digits(&text, 2, &second)))
            return -1;
    }
    if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60 ||
        day > lengths[month - 1] + (month == 2 && ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0)))
        return -1;
    ns = ((__int128)days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) *
         1000000000;
    if (*text == '.') {
        text++;
        if (!isdigit((unsigned char)*text))
            return -1;
        ns += fraction(&text, 1000000000);
    }
    if (*text == ' ')
        text++;
    if (*text == '+' || *text == '-') {
        int sign = *text++ == '-' ? 1 : -1;

        if (!digits(&text, 2, &zone_hours) || (*text == ':' ? (text++, !digits(&text, 2, &zone_minutes))
                                                            : (*text && !digits(&text, 2, &zone_minutes))))
            return -1;
        if (zone_hours > 18 || zone_minutes > 59)
            return -1;
        ns += (__int128)sign * (zone_hours * 3600 + zone_minutes * 60) * 1000000000;
    } else if (*text == 'Z') {
        text++;
    } else if (strcmp(text, "UTC") == 0 || strcmp(text, "GMT") == 0) {
        text += 3;
    }
    if (*text || ns > INT64_MAX || ns < INT64_MIN)
        return -1;
    *out = (int64_t)ns;
    return 0;
}

int trace_time(const char *text, enum trace_unit unit, int64_t *out)
{
    return unit == TRACE_DATES ? date(text, out) : decimal(text, unit_ns(unit), out);
}

int trace_tokens(const char *text, int32_t *out)
{
    int64_t value;

    /* in units of one, so that "12.0" is 12 and "12.5" is seen */
    if (decimal(text, 10, &value) < 0 || value < 0 || value % 10 != 0 || value / 10 > INT32_MAX)
        return -1;
    *out = (int32_t)(value / 10);
    return 0;
}

int trace_json_time(const struct cJSON *item, enum trace_unit unit, int64_t *out)
{
    long double value;

    if (cJSON_IsString(item))
        return trace_time(item->valuestring, unit, out);
    if (!cJSON_IsNumber(item))
        return -1;
    value = (long double)item->valuedouble * (long double)unit_ns(unit);
    if (!(fabsl(value) < 9.2e18L))
        return -1;
    *out = (int64_t)llroundl(value);
    return 0;
}

int trace_json_tokens(const struct cJSON *item, int32_t *out)
{
    if (cJSON_IsString(item))
        return trace_tokens(item->valuestring, out);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > INT32_MAX ||
        item->valuedouble != floor(item->valuedouble))
        return -1;
    *out = (int32_t)item->valuedouble;
    return 0;
}
