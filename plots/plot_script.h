#ifndef PLOTS_PLOT_SCRIPT_H
#define PLOTS_PLOT_SCRIPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/engine/error.h"

/*
 * The only way from our data to gnuplot.
 *
 * gnuplot runs what stands in backquotes and in double quotes, ends a single-quoted string at a line break,
 * and opens a pipe for a file name that begins with '<'. So: every text is single-quoted by plot_quote; file
 * names are fixed words of ours; data files hold numbers only; gnuplot is started without a shell, in a
 * directory of its own.
 */

/* Okabe and Ito's colours (Color Universal Design, 2008), told apart with any colour vision. */
const char *plot_strategy_color(int32_t strategy); /* repeats after 7 */
int plot_strategy_dash(int32_t strategy);          /* gnuplot dash type: another one for each repetition */
const char *plot_state_color(int32_t state);       /* of plot_state_names */

/* Longest texts in characters; what is longer ends in an ellipsis. */
enum { PLOT_LEGEND_CHARACTERS = 24, PLOT_HEADING_CHARACTERS = 72 };

/*
 * Writes text as a gnuplot string: in single quotes, each ' doubled; but one at the very beginning becomes a
 * typographic one, since gnuplot 5.4 reads ''' at the start of a string as an empty string and the start of
 * another. Left out: control characters (line breaks among them), invalid UTF-8, what XML forbids
 * ("]]>" loses its last character), and marks that change the direction of text. At most `characters`
 * characters.
 */
void plot_quote(FILE *to, const char *text, int characters);

/* "name = 1.5" and "name = 'text'"; NAN is written as NaN, which gnuplot knows. */
void plot_set_number(FILE *to, const char *name, double value);
void plot_set_text(FILE *to, const char *name, const char *text, int characters);
/* A number in a data row, followed by `end`. */
void plot_number(FILE *to, double value, const char *end);

/*
 * Runs gnuplot on directory/script with that directory as its own: no shell, no start-up files, an
 * environment of PATH, HOME and a fixed locale. What it says goes to directory/gnuplot.log. Errors
 * (ERROR_SYSTEM): not installed (names the package), failed (with its first line).
 */
int plot_run_gnuplot(const char *directory, const char *script, struct error *err);

/* The scripts of plots/<name>.gp, built into the program; NULL if there is none of that name. */
const char *plot_script_text(const char *name);

#endif
