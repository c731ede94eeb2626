#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/csv_stream.h"

/*
 * Rows of any text, the first byte choosing the delimiter.
 *
 * Holds: lines ascend; fields end in their NUL; the rows, written again with every field in quotes, read back
 * equal; an error stays.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static void put_row(FILE *out, const struct csv_row *row, char delimiter)
{
    for (size_t i = 0; i < row->count; i++) {
        const struct csv_field *field = &row->fields[i];

        must(strlen(field->text) == field->length, "a field ends in its NUL and holds no other");
        if (i)
            fputc(delimiter, out);
        fputc('"', out);
        for (size_t j = 0; j < field->length; j++) {
            if (field->text[j] == '"')
                fputc('"', out);
            fputc(field->text[j], out);
        }
        fputc('"', out);
    }
    fputc('\n', out);
}

/* All rows, quoted; 1 when the end was reached without an error. */
static int requote(const char *text, size_t size, char delimiter, char **out)
{
    struct error err = {.code = ERROR_NONE};
    struct csv_stream *csv = NULL;
    struct csv_row row;
    uint64_t line = 0, rows = 0;
    size_t length;
    FILE *file = open_memstream(out, &length);
    int got;

    must(file && !csv_stream_open_memory(&csv, text, size, "fuzz.csv", delimiter, &err), "it opens");
    while ((got = csv_stream_next(csv, &row, &err)) > 0) {
        must(row.count > 0 && row.line > line, "a row has fields, and lines ascend");
        must(csv_stream_rows(csv) == ++rows, "rows are counted");
        line = row.line;
        put_row(file, &row, delimiter);
    }
    if (got < 0) {
        struct error again = {.code = ERROR_NONE};

        must(err.message[0] && err.place[0], "an error says what and where");
        must(csv_stream_next(csv, &row, &again) < 0 && !strcmp(err.message, again.message), "an error stays");
    } else {
        must(!csv_stream_next(csv, &row, &err), "the end stays");
    }
    csv_stream_close(csv);
    fclose(file);
    return !got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = ",;\t|";
    char *once = NULL, *twice = NULL;
    char delimiter;

    if (!size)
        return 0;
    delimiter = delimiters[data[0] & 3];
    /* Quotes may double the size: past the limit of a row the second reading would rightly refuse it. */
    requote((const char *)data + 1, size - 1, delimiter, &once);
    if (strlen(once) < CSV_STREAM_ROW_LIMIT) {
        must(requote(once, strlen(once), delimiter, &twice), "what was read and quoted can be read again");
        must(!strcmp(once, twice), "and is the same");
    }
    free(once);
    free(twice);
    return 0;
}
