#include "sim/io/text_table.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- widths ---- */

/* The combining marks that names in Latin scripts use, joiners and variation signs. */
static bool takes_no_cell(unsigned code)
{
    return (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0xfe00 && code <= 0xfe0f);
}

/* Code point at *text, which moves on; an ill-formed byte is U+FFFD. */
static unsigned code_point(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    unsigned code;
    size_t more;

    if (p[0] < 0x80)
        code = p[0], more = 0;
    else if (p[0] >= 0xc2 && p[0] < 0xe0)
        code = p[0] & 0x1f, more = 1;
    else if (p[0] >= 0xe0 && p[0] < 0xf0)
        code = p[0] & 0x0f, more = 2;
    else if (p[0] >= 0xf0 && p[0] < 0xf5)
        code = p[0] & 0x07, more = 3;
    else
        code = 0xfffd, more = 0;
    for (size_t i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            ++*text;
            return 0xfffd;
        }
        code = code << 6 | (p[i] & 0x3f);
    }
    *text += more + 1;
    return code;
}

size_t text_width(const char *text)
{
    size_t width = 0;

    while (*text)
        width += !takes_no_cell(code_point(&text));
    return width;
}

/* ---- the table ---- */

void text_table_init(struct text_table *table)
{
    *table = (struct text_table){.cells = NULL};
}

void text_table_column(struct text_table *table, const char *title, enum text_align align)
{
    assert(table->column_count < TEXT_COLUMNS && !table->cell_count);
    table->columns[table->column_count].title = title;
    table->columns[table->column_count].align = align;
    table->column_count++;
}

/* C0, DEL and the C1 controls (U+0080..U+009F), which terminals obey. */
static void replace_controls(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
        else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
            p[0] = p[1] = '?';
    }
}

void text_table_cell(struct text_table *table, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int length;

    assert(table->column_count);
    va_start(args, format);
    length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        table->failed = true;
        return;
    }
    if (table->cell_count == table->cell_room) {
        size_t room = table->cell_room ? table->cell_room * 2 : 64;
        char **more = realloc(table->cells, room * sizeof *more);

        if (!more) {
            free(text);
            table->failed = true;
            return;
        }
        table->cells = more;
        table->cell_room = room;
    }
    replace_controls(text);
    table->cells[table->cell_count++] = text;
}

/* One cell with its gap before. Spaces wait in *pending until a text follows, so that no line ends in them.
 */
static void put_cell(const struct text_table *table, FILE *file, size_t column, const char *text,
                     size_t width, size_t *pending)
{
    size_t space = width - text_width(text);
    bool right = table->columns[column].align == TEXT_RIGHT;

    *pending = column ? *pending + 2 : 0;
    if (right)
        *pending += space;
    if (*text) {
        fprintf(file, "%*s%s", (int)*pending, "", text);
        *pending = 0;
    }
    if (!right)
        *pending += space;
}

int text_table_print(const struct text_table *table, FILE *file, bool bold, struct error *err)
{
    size_t widths[TEXT_COLUMNS] = {0};
    size_t columns = table->column_count, pending = 0;

    if (table->failed)
        return error_memory(err, "table");
    for (size_t i = 0; i < columns; i++)
        widths[i] = text_width(table->columns[i].title);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t width = text_width(table->cells[i]);

        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    if (bold)
        fputs("\033[1m", file);
    for (size_t i = 0; i < columns; i++)
        put_cell(table, file, i, table->columns[i].title, widths[i], &pending);
    fputs(bold ? "\033[0m\n" : "\n", file);
    for (size_t i = 0; i < columns; i++) {
        if (i)
            fputs("  ", file);
        for (size_t j = 0; j < widths[i]; j++)
            fputs("\xe2\x94\x80", file); /* ─ */
    }
    fputc('\n', file);
    for (size_t i = 0; i < table->cell_count; i++) {
        put_cell(table, file, i % columns, table->cells[i], widths[i % columns], &pending);
        if (i % columns + 1 == columns || i + 1 == table->cell_count)
            fputc('\n', file);
    }
    if (ferror(file))
        return error_set(err, ERROR_SYSTEM, "output", "cannot be written: %s", strerror(errno ? errno : EIO));
    return 0;
}

void text_table_free(struct text_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct text_table){.cells = NULL};
}

/* ---- sparkline ---- */

/* Mean of the finite values in [from, to); NaN if there are none. */
static double mean_of(const double *values, size_t from, size_t to)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = from; i < to; i++) {
        if (isfinite(values[i])) {
            sum += values[i];
            count++;
        }
    }
    return count ? sum / (double)count : NAN;
}

const char *sparkline(const double *values, size_t count, char *out, size_t size)
{
    size_t room = size ? (size - 1) / 3 : 0;
    size_t blocks = count < room ? count : room;
    double low = 0, high = 0;
    size_t used = 0;

    if (!size)
        return out;
    for (size_t i = 0; i < blocks; i++) {
        double value = mean_of(values, i * count / blocks, (i + 1) * count / blocks);

        if (value < low)
            low = value;
        if (value > high)
            high = value;
    }
    for (size_t i = 0; i < blocks; i++) {
        double value = mean_of(values, i * count / blocks, (i + 1) * count / blocks);
        int level;

        if (isnan(value)) {
            out[used++] = ' ';
            continue;
        }
        /* ▁ is U+2581, █ U+2588. The halves avoid an overflow of high - low. */
        level = high / 2 > low / 2 ? (int)lround((value / 2 - low / 2) / (high / 2 - low / 2) * 7) : 0;
        out[used++] = '\xe2';
        out[used++] = '\x96';
        out[used++] = (char)(0x81 + level);
    }
    out[used] = 0;
    return out;
}

/* ---- figures ---- */

/* Three digits: "1.24", "41.3", "812". */
static void three_digits(double value, const char *unit, char *text, size_t size)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, size, "%.*f %s", decimals, value, unit);
}

static bool not_finite(double value, char *text, size_t size)
{
    if (isfinite(value))
        return false;
    snprintf(text, size, "%s",
             isnan(value) ? "\xe2\x80\x93"
             : value > 0  ? "\xe2\x88\x9e"
                          : "-\xe2\x88\x9e"); /* – ∞ */
    return true;
}

static void two_parts(double seconds, double large, const char *large_unit, double small,
                      const char *small_unit, char *text, size_t size)
{
    double smalls = round(seconds / small), ratio = large / small;
    double whole = floor(smalls / ratio), rest = smalls - whole * ratio;

    if (rest > 0)
        snprintf(text, size, "%.0f %s %.0f %s", whole, large_unit, rest, small_unit);
    else
        snprintf(text, size, "%.0f %s", whole, large_unit);
}

const char *human_duration(double seconds, char *text, size_t size)
{
    if (not_finite(seconds, text, size))
        return text;
    if (seconds < 0) {
        if (size) {
            text[0] = '-';
            human_duration(-seconds, size > 1 ? text + 1 : text, size - 1);
        }
        return text;
    }
    if (seconds == 0)
        snprintf(text, size, "0 s");
    else if (seconds < 0.9995e-6)
        three_digits(seconds * 1e9, "ns", text, size);
    else if (seconds < 0.9995e-3)
        three_digits(seconds * 1e6, "\xc2\xb5s", text, size);
    else if (seconds < 0.9995)
        three_digits(seconds * 1e3, "ms", text, size);
    else if (seconds < 59.95)
        three_digits(seconds, "s", text, size);
    else if (seconds < 3599.5)
        two_parts(seconds, 60, "m", 1, "s", text, size);
    else if (seconds < 86370)
        two_parts(seconds, 3600, "h", 60, "m", text, size);
    else
        two_parts(seconds, 86400, "d", 3600, "h", text, size);
    return text;
}

const char *human_count(double count, char *text, size_t size)
{
    static const char *const units[] = {"k", "M", "G", "T", "P"};
    double value = fabs(count);
    size_t unit = 0;
    char digits[64];

    if (not_finite(count, text, size))
        return text;
    if (value < 999.5) {
        snprintf(text, size, value == floor(value) ? "%.0f" : "%.3g", count);
        return text;
    }
    for (value /= 1000; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    three_digits(value, units[unit], digits, sizeof digits);
    snprintf(text, size, "%s%s", count < 0 ? "-" : "", digits);
    return text;
}

const char *human_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = bytes;
    size_t unit = 0;

    if (not_finite(bytes, text, size))
        return text;
    if (value < 1023.5) {
        snprintf(text, size, "%.0f B", value);
        return text;
    }
    for (value /= 1024; value >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    three_digits(value, units[unit], text, size);
    return text;
}

const char *human_money(double amount, char *text, size_t size)
{
    char plain[400];
    char grouped[600];
    size_t whole, used = 0, at = 0;

    if (not_finite(amount, text, size))
        return text;
    snprintf(plain, sizeof plain, "%.2f", fabs(amount));
    whole = strcspn(plain, ".");
    if (amount < 0 && strspn(plain, "0.") != strlen(plain))
        grouped[used++] = '-';
    for (; at < whole; at++) {
        if (at && (whole - at) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = plain[at];
    }
    snprintf(grouped + used, sizeof grouped - used, "%s", plain + whole);
    snprintf(text, size, "%s", grouped);
    return text;
}
