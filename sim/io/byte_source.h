#ifndef SIM_IO_BYTE_SOURCE_H
#define SIM_IO_BYTE_SOURCE_H

#include <stddef.h>

#include "sim/engine/error.h"

/* Bytes of a file, plain or gzip (several members too), or of memory: what the streams of rows and lines read
 * from. */
struct byte_source {
    void *gzip; /* zlib's gzFile; NULL: memory */
    const char *text;
    size_t left;
    char *name; /* for messages; owned */
};

int byte_source_open(struct byte_source *source, const char *path, struct error *err);
/* Borrows text. */
int byte_source_open_memory(struct byte_source *source, const char *text, size_t length, const char *name,
                            struct error *err);
/* Up to size bytes into buffer; 0 at the end; -1 on an error (ERROR_INPUT: unreadable, truncated or damaged
 * gzip). Fewer bytes than asked for are the last ones. */
long byte_source_read(struct byte_source *source, char *buffer, size_t size, struct error *err);
void byte_source_close(struct byte_source *source);

#endif
