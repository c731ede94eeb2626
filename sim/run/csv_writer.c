#include "sim/run/csv_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/run/number_text.h"

void csv_writer_init(struct csv_writer *csv, FILE *file)
{
    *csv = (struct csv_writer){file, false};
}

static void next_field(struct csv_writer *csv)
{
    if (csv->inside)
        fputc(',', csv->file);
    csv->inside = true;
}

static bool needs_quotes(const char *text, size_t length)
{
    if (length == 0)
        return false;
    if (text[0] == ' ' || text[length - 1] == ' ')
        return true;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == ',' || text[i] == '"')
            return true;
    return false;
}

void csv_text(struct csv_writer *csv, const char *text)
{
    next_field(csv);
    if (!needs_quotes(text, strlen(text))) {
        fputs(text, csv->file);
        return;
    }
    fputc('"', csv->file);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', csv->file);
        fputc(*c, csv->file);
    }
    fputc('"', csv->file);
}

void csv_integer(struct csv_writer *csv, int64_t value)
{
    next_field(csv);
    fprintf(csv->file, "%" PRId64, value);
}

void csv_number(struct csv_writer *csv, double value)
{
    char text[NUMBER_TEXT];

    next_field(csv);
    if (!isnan(value))
        fputs(number_text(text, value), csv->file);
}

void csv_number_float(struct csv_writer *csv, float value)
{
    char text[NUMBER_TEXT];

    next_field(csv);
    if (!isnan(value))
        fputs(number_text_float(text, value), csv->file);
}

void csv_seconds(struct csv_writer *csv, sim_time time)
{
    char text[NUMBER_TEXT];
    size_t length;

    next_field(csv);
    if (time < 0 || time == SIM_NEVER)
        return;
    length = (size_t)snprintf(text, sizeof text, "%" PRId64 ".%09" PRId64, time / SIM_SECOND,
                              time % SIM_SECOND);
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[--length] = '\0';
    fputs(text, csv->file);
}

void csv_end(struct csv_writer *csv)
{
    fputc('\n', csv->file);
    csv->inside = false;
}
