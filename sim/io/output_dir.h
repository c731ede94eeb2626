#ifndef SIM_IO_OUTPUT_DIR_H
#define SIM_IO_OUTPUT_DIR_H

#include <stdio.h>

#include "sim/engine/error.h"

/*
 * A result folder that appears whole or not at all.
 *
 *   struct output_dir *out;
 *   FILE *file;
 *
 *   output_dir_begin(&out, "results", err)
 *   output_dir_open(out, "summary.json", &file, err) ... fprintf(file, ...)
 *   output_dir_commit(out, err)
 *
 * Files are written into "results.partial-PID" beside the target; commit closes and checks every file, moves
 * an earlier result out of the way, renames, and deletes the earlier one. Only a folder that is empty, or
 * that carries the marker ".peaksim" which every result has, or a summary.json of ours, is ever replaced:
 * `--out ~` deletes nothing. Names stay inside the folder: relative, of [A-Za-z0-9._-] and '/', no "." or
 * ".."; nothing is written through a symbolic link.
 */
struct output_dir;

/* Checks the target and makes the partial folder. Errors: ERROR_USAGE for a target that is not ours to
 * replace, ERROR_SYSTEM for all else. */
int output_dir_begin(struct output_dir **out, const char *target, struct error *err);
/* Opens a new file in the folder for writing; "plots/cost.svg" makes the folder "plots". The file belongs to
 * the folder: closed by output_dir_close_file or by commit, never by fclose. Errors: ERROR_INTERNAL for a
 * name that would escape or that is taken. */
int output_dir_open(struct output_dir *out, const char *name, FILE **file, struct error *err);
/* Closes one file early and checks that all of it was written (a full disk is an error here). */
int output_dir_close_file(struct output_dir *out, FILE *file, struct error *err);
/* Path of a name in the partial folder, for programs that write files themselves (gnuplot); into text. */
int output_dir_path(struct output_dir *out, const char *name, char *text, size_t size, struct error *err);
/* Closes, checks, renames. Frees out in any case; on failure the partial folder is gone and an earlier result
 * is in its place again. */
int output_dir_commit(struct output_dir *out, struct error *err);
/* Gives up: removes the partial folder. Frees out. NULL is fine. */
void output_dir_abort(struct output_dir *out);

#endif
