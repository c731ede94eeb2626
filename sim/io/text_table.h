#ifndef SIM_IO_TEXT_TABLE_H
#define SIM_IO_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/engine/error.h"

/*
 * A table for the terminal, columns as wide as their widest cell. Widths count code points (box signs and
 * sparkline blocks are one cell wide, and so is all else we print); combining marks count nothing. Control
 * characters of a cell are shown as '?', since cells may hold names out of a scenario, and those must not
 * move the cursor.
 *
 *   struct text_table table;
 *
 *   text_table_init(&table);
 *   text_table_column(&table, "strategy", TEXT_LEFT);
 *   text_table_column(&table, "P99", TEXT_RIGHT);
 *   text_table_cell(&table, "%s", name);     cells go row by row
 *   text_table_cell(&table, "%.1f s", p99);
 *   text_table_print(&table, stdout, false, err)
 *   text_table_free(&table);
 */
enum text_align { TEXT_LEFT, TEXT_RIGHT };
enum { TEXT_COLUMNS = 32 };

struct text_table {
    struct {
        const char *title; /* borrowed */
        enum text_align align;
    } columns[TEXT_COLUMNS];
    size_t column_count;
    char **cells; /* owned; row by row */
    size_t cell_count, cell_room;
    bool failed; /* out of memory: told by text_table_print */
};

void text_table_init(struct text_table *table);
/* All columns come before the first cell. */
void text_table_column(struct text_table *table, const char *title, enum text_align align);
void text_table_cell(struct text_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Header, a rule, the rows; a last row that is not full is filled with nothing. No space at the ends of
 * lines. bold: the header in bold (a terminal without NO_COLOR). Errors: memory, the stream cannot be
 * written. */
int text_table_print(const struct text_table *table, FILE *file, bool bold, struct error *err);
void text_table_free(struct text_table *table);

/* Cells that a UTF-8 text takes on a terminal, by the rule above; an ill-formed byte counts one. */
size_t text_width(const char *text);

/* One block of ▁▂▃▄▅▆▇█ per value, from the least (0, or a negative least value) to the greatest; NaN and
 * infinite are a space. Values that do not fit into size are averaged into as many blocks as do; out gets 3
 * bytes a block and a NUL. Returns out. */
const char *sparkline(const double *values, size_t count, char *out, size_t size);

/* Human figures; all into text, which they return. */
const char *
human_duration(double seconds, char *text,
               size_t size); /* "812 ms" "1.24 s" "4 m 10 s" "2 h 5 m" "3 d 4 h"; NaN: "–", infinite: "∞" */
const char *human_count(double count, char *text, size_t size);  /* "812" "41.3 k" "41.3 M" "1.20 G" */
const char *human_bytes(double bytes, char *text, size_t size);  /* "812 B" "1.50 GiB" */
const char *human_money(double amount, char *text, size_t size); /* "1,234.50" */

#endif
