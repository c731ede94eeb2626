#include "sim/io/quantity.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"
#include "sim/io/scalar.h"

static int complain(struct error *err, const char *text, const char *allowed)
{
    char quoted[QUOTE_SIZE];

    return error_set(err, ERROR_INPUT, "", "%s is not %s", quote_text(text, quoted, sizeof quoted), allowed);
}

/*
 * A decimal read exactly: value = mantissa * 10^exponent. Digits beyond what 128 bits hold are dropped if
 * they are zeros and else only remembered by `more`, for rounding.
 */
struct decimal {
    bool negative;
    unsigned __int128 mantissa;
    int exponent;
    bool more;
    size_t digits; /* seen at all */
};

static const unsigned __int128 MANTISSA_ROOM = ((unsigned __int128)1 << 126) / 10;

/* Reads [+-]digits[.digits] and returns what follows. */
static const char *decimal_read(const char *text, bool sign, struct decimal *d)
{
    bool point = false;

    *d = (struct decimal){.negative = false};
    if (sign && (*text == '-' || *text == '+'))
        d->negative = *text++ == '-';
    for (;; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9')
            break;
        d->digits++;
        if (d->mantissa < MANTISSA_ROOM && !d->more) {
            d->mantissa = d->mantissa * 10 + (unsigned)(*text - '0');
            d->exponent -= point;
        } else {
            d->more = d->more || *text != '0';
            if (d->exponent < INT_MAX / 4)
                d->exponent += !point;
        }
    }
    return text;
}

/*
 * mantissa * 10^exponent * factor as an integer; *inexact tells whether a fraction was cut off, *half whether
 * it was at least one half. False: more than limit (which is below 2^63).
 */
static bool decimal_scale(const struct decimal *d, unsigned __int128 factor, uint64_t limit, uint64_t *out,
                          bool *inexact, bool *half)
{
    unsigned __int128 whole = d->mantissa, rest, divisor = 1;
    unsigned __int128 value;
    int exponent = d->exponent;

    *inexact = d->more;
    *half = false;
    *out = 0;
    if (!whole)
        return true;
    /* Digits that cannot matter: the value is below 1 by far. */
    for (; exponent < 0 && whole % 10 == 0; exponent++)
        whole /= 10;
    if (exponent < -36) {
        while (exponent < -36 && whole) {
            *inexact = *inexact || whole % 10;
            whole /= 10;
            exponent++;
        }
        if (!whole) {
            *inexact = true;
            return true;
        }
    }
    for (; exponent > 0; exponent--) {
        if (whole > (unsigned __int128)limit)
            return false;
        whole *= 10;
    }
    for (; exponent < 0; exponent++)
        divisor *= 10;
    /* whole * factor / divisor without overflow: the whole part and the rest apart. */
    value = whole / divisor;
    rest = whole % divisor;
    if (value > (unsigned __int128)limit / factor)
        return false;
    value *= factor;
    /* rest < 10^36 < 2^120 and factor up to 2^63 do not fit together: long multiplication by the bits of
     * factor. */
    {
        unsigned __int128 quotient = 0, remainder = 0, bit;

        for (bit = (unsigned __int128)1 << 63; bit; bit >>= 1) {
            quotient *= 2;
            remainder *= 2;
            if (factor & bit)
                remainder += rest;
            while (remainder >= divisor) {
                remainder -= divisor;
                quotient++;
            }
        }
        value += quotient;
        *inexact = *inexact || remainder;
        *half = remainder && remainder >= divisor - remainder;
    }
    if (value > (unsigned __int128)limit)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* ---- durations ---- */

static const struct time_unit {
    const char *name;
    sim_time ns;
} time_units[] = {
    {"d", SIM_DAY},
    {"h", SIM_HOUR},
    {"ms", SIM_MILLISECOND},
    {"m", SIM_MINUTE},
    {"s", SIM_SECOND},
    {"us", SIM_MICROSECOND},
    {"\xc2\xb5s", SIM_MICROSECOND},
    {"\xce\xbcs", SIM_MICROSECOND},
    {"ns", SIM_NANOSECOND},
};

static const struct time_unit *time_unit_read(const char **text)
{
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
        size_t length = strlen(time_units[i].name);

        if (!strncmp(*text, time_units[i].name, length)) {
            *text += length;
            return &time_units[i];
        }
    }
    return NULL;
}

int quantity_time(const char *text, sim_time *out, struct error *err)
{
    static const char allowed[] = "a duration; write it like \"90s\", \"2m30s\", \"250ms\", \"1h\" or \"3d\"";
    const char *at = text;
    sim_time total = 0, last = INT64_MAX;
    bool positive = false;

    if (!strcmp(text, "0")) {
        *out = 0;
        return 0;
    }
    if (*text == '-')
        return complain(err, text, "a duration: it must not be negative");
    if (!*at)
        return complain(err, text, allowed);
    while (*at) {
        struct decimal d;
        const struct time_unit *unit;
        uint64_t ns;
        bool inexact, half;

        at = decimal_read(at, false, &d);
        if (!d.digits)
            return complain(err, text, allowed);
        if (!*at) {
            char quoted[QUOTE_SIZE];

            if (at != text && last != INT64_MAX)
                return complain(err, text, "a duration: its last number has no unit");
            return error_set(
                err, ERROR_INPUT, "",
                "%s has no unit; write a duration like \"%.40ss\", \"2m30s\", \"250ms\", \"1h\" or \"3d\"",
                quote_text(text, quoted, sizeof quoted), text);
        }
        unit = time_unit_read(&at);
        if (!unit)
            return complain(err, text, allowed);
        if (unit->ns >= last)
            return complain(err, text,
                            "a duration: its units must descend (d h m s ms us ns), each at most once");
        last = unit->ns;
        positive = positive || d.mantissa;
        if (!decimal_scale(&d, (unsigned __int128)unit->ns, (uint64_t)SIM_TIME_LIMIT, &ns, &inexact, &half))
            return complain(err, text, "a usable duration: it is longer than 100 years");
        total += (sim_time)ns + half; /* a few hundred years at most: no overflow */
        if (total > SIM_TIME_LIMIT)
            return complain(err, text, "a usable duration: it is longer than 100 years");
    }
    if (positive && !total)
        return complain(err, text, "a usable duration: it is shorter than a nanosecond");
    *out = total;
    return 0;
}

/* ---- Kubernetes quantities ---- */

/* Multiplies d by its suffix: power of ten into its exponent, binary into *factor. False: no such suffix. */
static bool kubernetes_suffix(const char *suffix, struct decimal *d, unsigned __int128 *factor)
{
    static const char binary[] = "KMGTPE", decimal[] = "kMGTPE", small[] = "mun";
    const char *found;

    *factor = 1;
    if (!*suffix)
        return true;
    if ((*suffix == 'e' || *suffix == 'E') && suffix[1] && strchr("+-0123456789", suffix[1])) {
        char *end;
        long exponent;

        if (!strpbrk(suffix + 1, "0123456789"))
            return false;
        exponent = strtol(suffix + 1, &end, 10);
        if (*end)
            return false;
        if (exponent > 10000)
            exponent = 10000;
        if (exponent < -10000)
            exponent = -10000;
        d->exponent += (int)exponent;
        return true;
    }
    if (suffix[1] == 'i' && !suffix[2]) {
        found = strchr(binary, *suffix);
        if (!found)
            return false;
        *factor = (unsigned __int128)1 << (10 * (found - binary + 1));
        return true;
    }
    if (suffix[1])
        return false;
    if ((found = strchr(decimal, *suffix)))
        d->exponent += 3 * (int)(found - decimal + 1);
    else if ((found = strchr(small, *suffix)))
        d->exponent -= 3 * (int)(found - small + 1);
    else
        return false;
    return true;
}

static int size_error(const char *text, const char *suffix, struct error *err)
{
    char quoted[QUOTE_SIZE];
    size_t number = (size_t)(suffix - text);
    bool bytes = number && number < 40 && suffix[0] && strchr("kKMGTP", suffix[0]) &&
                 !strcmp(suffix + 1, "B");
    bool binary_bytes = number && number < 40 && suffix[0] && strchr("KMGTP", suffix[0]) &&
                        !strcmp(suffix + 1, "iB");

    quote_text(text, quoted, sizeof quoted);
    if (bytes)
        return error_set(err, ERROR_INPUT, "",
                         "%s is not a size; write \"%.*s%c\" (powers of 1000) or \"%.*s%ci\" (of 1024)",
                         quoted, (int)number, text, suffix[0] == 'K' ? 'k' : suffix[0], (int)number, text,
                         suffix[0] == 'k' ? 'K' : suffix[0]);
    if (binary_bytes)
        return error_set(err, ERROR_INPUT, "", "%s is not a size; write \"%.*s%ci\"", quoted, (int)number,
                         text, suffix[0]);
    return error_set(err, ERROR_INPUT, "",
                     "%s is not a size; write it like \"18Gi\", \"500M\" or 1073741824 (bytes)", quoted);
}

int quantity_size(const char *text, int64_t *out, struct error *err)
{
    struct decimal d;
    const char *suffix = decimal_read(text, true, &d);
    unsigned __int128 factor;
    uint64_t value;
    bool inexact, half;

    if (!d.digits || !kubernetes_suffix(suffix, &d, &factor))
        return size_error(text, suffix, err);
    if (d.negative && (d.mantissa || d.more))
        return complain(err, text, "a size: it must not be negative");
    if (!decimal_scale(&d, factor, INT64_MAX, &value, &inexact, &half) || (inexact && value == INT64_MAX))
        return complain(err, text, "a usable size: it is more than 2^63 - 1 bytes");
    *out = (int64_t)(value + inexact);
    return 0;
}

int quantity_milli(const char *text, int64_t *out, struct error *err)
{
    struct decimal d;
    const char *suffix = decimal_read(text, true, &d);
    unsigned __int128 factor;
    uint64_t value;
    bool inexact, half;

    if (!d.digits || !kubernetes_suffix(suffix, &d, &factor))
        return complain(err, text,
                        "a Kubernetes quantity; write it like \"500m\", \"2\", \"1500k\" or \"4Gi\"");
    d.exponent += 3;
    if (!decimal_scale(&d, factor, INT64_MAX, &value, &inexact, &half) || (inexact && value == INT64_MAX))
        return complain(err, text, "a usable quantity: it is out of range");
    *out = (int64_t)(value + inexact);
    if (d.negative)
        *out = -*out;
    return 0;
}

/* ---- numbers ---- */

/* strtod after the grammar is checked: no hexadecimal, no "nan", no spaces; the point is a point whatever the
 * locale says. Returns what follows; NULL: no number. */
static const char *number_read(const char *text, double *out)
{
    const char *at = text;
    locale_t plain;
    size_t digits;
    char *end;

    if (*at == '-' || *at == '+')
        at++;
    digits = strspn(at, "0123456789");
    at += digits;
    if (*at == '.') {
        size_t fraction = strspn(at + 1, "0123456789");

        at += 1 + fraction;
        digits += fraction;
    }
    if (!digits)
        return NULL;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        size_t length = strspn(exponent, "0123456789");

        if (length)
            at = exponent + length;
    }
    /* glibc keeps this locale ready: nothing is allocated. */
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return NULL;
    *out = strtod_l(text, &end, plain);
    if (end != at) /* "0x1": strtod would read on */
        *out = 0;
    freelocale(plain);
    return at;
}

int quantity_number(const char *text, double *out, struct error *err)
{
    double value;
    const char *end;
    char decimal[32];

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o') &&
        scalar_kind(text, strlen(text)) == NODE_NUMBER &&
        scalar_number_to_json(text, decimal, sizeof decimal)) {
        *out = strtod(decimal, NULL);
        return 0;
    }
    end = number_read(text, &value);
    if (!end || *end)
        return complain(err, text, "a number");
    if (!isfinite(value))
        return complain(err, text, "a usable number: it is out of range");
    *out = value;
    return 0;
}

int quantity_integer(const char *text, int64_t *out, struct error *err)
{
    struct decimal d;
    char decimal[32];
    const char *rest;
    uint64_t value;
    bool inexact, half;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
        if (scalar_kind(text, strlen(text)) != NODE_NUMBER)
            return complain(err, text, "a whole number");
        if (!scalar_number_to_json(text, decimal, sizeof decimal))
            return complain(err, text, "a usable whole number: it is out of range");
        text = decimal;
    }
    rest = decimal_read(text, true, &d);
    if (!d.digits)
        return complain(err, text, "a whole number");
    if (*rest == 'e' || *rest == 'E') {
        const char *digits = rest + 1 + (rest[1] == '-' || rest[1] == '+');
        char *end;
        long exponent;

        if (*digits < '0' || *digits > '9')
            return complain(err, text, "a whole number");
        exponent = strtol(rest + 1, &end, 10);
        d.exponent += exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : (int)exponent;
        rest = end;
    }
    if (*rest)
        return complain(err, text, "a whole number");
    /* -2^63 alone is beyond the limit of the positive side. */
    if (!decimal_scale(&d, 1, (uint64_t)INT64_MAX + d.negative, &value, &inexact, &half))
        return complain(err, text, "a usable whole number: it is out of range");
    if (inexact)
        return complain(err, text, "a whole number");
    *out = d.negative ? (int64_t)(0 - value) : (int64_t)value;
    return 0;
}

int quantity_share(const char *text, double *out, struct error *err)
{
    double value;
    const char *end = number_read(text, &value);

    if (!end || (*end && strcmp(end, "%")))
        return complain(err, text, "a share; write it like 0.8 or \"80%\"");
    if (*end)
        value /= 100;
    if (!(value >= 0 && value <= 1))
        return complain(err, text, "a share: it must lie between 0 and 1 (0% and 100%)");
    *out = value;
    return 0;
}

/* ---- rates ---- */

int quantity_rate(const char *text, double *out, struct error *err)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"/s", 1}, {"/sec", 1}, {"/min", 60}, {"/m", 60}, {"/h", 3600}, {"/d", 86400}};
    double value;
    const char *end = number_read(text, &value);
    char quoted[QUOTE_SIZE];

    if (!end)
        return complain(err, text, "a rate; write it like \"120/s\", \"7200/min\", \"5/h\" or \"2/d\"");
    if (value < 0)
        return complain(err, text, "a rate: it must not be negative");
    if (!isfinite(value))
        return complain(err, text, "a usable rate: it is out of range");
    if (!*end && value == 0) {
        *out = 0;
        return 0;
    }
    if (!*end)
        return error_set(err, ERROR_INPUT, "",
                         "%s has no unit; write a rate like \"%.40s/s\", \"7200/min\", \"5/h\" or \"2/d\"",
                         quote_text(text, quoted, sizeof quoted), text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(end, units[i].name)) {
            *out = value / units[i].seconds;
            return 0;
        }
    }
    return complain(err, text, "a rate; write it like \"120/s\", \"7200/min\", \"5/h\" or \"2/d\"");
}

int quantity_bandwidth(const char *text, double *out, struct error *err)
{
    static const char allowed[] = "a bandwidth; write it like \"1.2GiB/s\", \"800MB/s\" or \"10Gbit/s\"";
    static const char prefixes[] = "kMGTP";
    double value, factor = 1;
    const char *end = number_read(text, &value);
    char quoted[QUOTE_SIZE];

    if (!end)
        return complain(err, text, allowed);
    if (!*end)
        return error_set(err, ERROR_INPUT, "",
                         "%s has no unit; write a bandwidth like \"1.2GiB/s\", \"800MB/s\" or \"10Gbit/s\"",
                         quote_text(text, quoted, sizeof quoted));
    if (*end != 'B' && *end != 'b') {
        const char *found = strchr(prefixes, *end == 'K' ? 'k' : *end);
        double base = end[1] == 'i' ? 1024 : 1000;

        if (!found)
            return complain(err, text, allowed);
        for (const char *p = prefixes; p <= found; p++)
            factor *= base;
        end += end[1] == 'i' ? 2 : 1;
    }
    if (!strcmp(end, "bit/s"))
        factor /= 8;
    else if (strcmp(end, "B/s") != 0)
        return complain(err, text, allowed);
    value *= factor;
    if (!(value > 0))
        return complain(err, text, "a bandwidth: it must be above 0");
    if (!isfinite(value))
        return complain(err, text, "a usable bandwidth: it is out of range");
    *out = value;
    return 0;
}
