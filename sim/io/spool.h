#ifndef SIM_IO_SPOOL_H
#define SIM_IO_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "sim/engine/error.h"

/*
 * A queue of fixed-size records on disk: written once, then read in order as often as wanted. Keeps the
 * per-bucket series of a long run out of memory. The file has no name (it is unlinked at birth, in $TMPDIR,
 * else in /tmp), so a killed run leaves nothing behind.
 *
 * Records are bytes: they are not portable and not meant to be. One thread at a time.
 */
struct spool {
    int file;           /* -1: not open */
    size_t record_size; /* bytes, 1 to SPOOL_RECORD_LIMIT */
    uint64_t count;     /* records appended */
    uint64_t position;  /* record that the next read gives */
    char *buffer;       /* records not yet written, or read ahead */
    size_t used;        /* bytes in buffer */
    size_t at;          /* bytes of buffer already given to the reader */
    uint64_t offset;    /* of the file, where the buffer's end belongs */
    int reading;
};

enum { SPOOL_RECORD_LIMIT = 1 << 16 };

/* Errors (ERROR_SYSTEM): no temporary file can be made, memory. After a failure spool_free is safe. */
int spool_init(struct spool *spool, size_t record_size, struct error *err);
/* Appends a record (copied). Not after spool_rewind. Errors: the disk is full, ... */
int spool_append(struct spool *spool, const void *record, struct error *err);
/* Ends the writing, or starts the reading again. */
int spool_rewind(struct spool *spool, struct error *err);
/* 1: *record was filled; 0: the end; -1: an error. */
int spool_next(struct spool *spool, void *record, struct error *err);
uint64_t spool_count(const struct spool *spool);
void spool_free(struct spool *spool);

#endif
