#ifndef SIM_RUN_FILE_NAME_H
#define SIM_RUN_FILE_NAME_H

#include <stddef.h>

/*
 * A part of a file name out of a name that people chose: [A-Za-z0-9._-] stay, everything else (each byte)
 * becomes '_', a leading '.' too; cut to FILE_NAME_PART - 1 bytes. Never empty. Different names may give the
 * same part: file_name_unique tells them apart.
 */
enum { FILE_NAME_PART = 64 };
void file_name_part(char part[FILE_NAME_PART], const char *name);

/*
 * Makes the last of count names differ from the ones before it, by appending "-2", "-3", ... names: an array
 * of texts of `size` bytes each, one after the other.
 */
void file_name_unique(char *names, size_t size, size_t count);

#endif
