#ifndef TESTS_UNIT_IO_IO_SUPPORT_H
#define TESTS_UNIT_IO_IO_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/io/document.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Compares with the text at hand when it fails. */
#define assert_text(found, wanted)                                                                           \
    do {                                                                                                     \
        if (strcmp((found), (wanted)) != 0)                                                                  \
            fail_msg("found \"%s\", wanted \"%s\"", (found), (wanted));                                      \
    } while (0)
#define assert_has(text, part)                                                                               \
    do {                                                                                                     \
        if (!strstr((text), (part)))                                                                         \
            fail_msg("\"%s\" does not hold \"%s\"", (text), (part));                                         \
    } while (0)

/* A document of a text that must be readable. */
static inline struct document *document_of(const char *text, const char *name)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc;

    if (document_read_text(text, strlen(text), name, &doc, &err))
        fail_msg("%s: %s", err.place, err.message);
    return doc;
}

/* The text must be refused at the place, for a reason that holds the words. */
static inline void refused_bytes(const char *text, size_t length, const char *name, const char *place,
                                 const char *words)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc;

    if (!document_read_text(text, length, name, &doc, &err)) {
        document_free(doc);
        fail_msg("\"%s\" was accepted", text);
    }
    assert_null(doc);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_text(err.place, place);
    assert_has(err.message, words);
}

static inline void refused(const char *text, const char *name, const char *place, const char *words)
{
    refused_bytes(text, strlen(text), name, place, words);
}

/* An empty folder of one's own; remove_folder_of removes it with what is in it. */
static inline void make_folder_of(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");

    snprintf(path, size, "%s/peaksim-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

static inline void remove_folder_of(const char *path)
{
    char command[600];

    assert_true(strlen(path) < 500 && strstr(path, "/peaksim-test-") && !strchr(path, '\''));
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static inline void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

#endif
