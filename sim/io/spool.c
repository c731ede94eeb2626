#include "sim/io/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024 };

/* Records that fit the buffer, in bytes. */
static size_t buffer_size(const struct spool *spool)
{
    return BUFFER / spool->record_size * spool->record_size;
}

int spool_init(struct spool *spool, size_t record_size, struct error *err)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];

    assert(record_size > 0 && record_size <= SPOOL_RECORD_LIMIT);
    *spool = (struct spool){.file = -1, .record_size = record_size};
    if (!folder || !*folder)
        folder = "/tmp";
    if ((size_t)snprintf(name, sizeof name, "%s/peaksim-spool-XXXXXX", folder) >= sizeof name)
        return error_set(err, ERROR_SYSTEM, "TMPDIR", "is too long");
    spool->buffer = malloc(buffer_size(spool));
    if (!spool->buffer)
        return error_memory(err, "spool");
    spool->file = mkostemp(name, O_CLOEXEC);
    if (spool->file < 0)
        return error_set(err, ERROR_SYSTEM, folder,
                         "no temporary file can be made here: %s (set TMPDIR to another folder)",
                         strerror(errno));
    unlink(name);
    return 0;
}

static int flush(struct spool *spool, struct error *err)
{
    size_t done = 0;

    while (done < spool->used) {
        ssize_t n = pwrite(spool->file, spool->buffer + done, spool->used - done, (off_t)spool->offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(err, ERROR_SYSTEM, "temporary file", "cannot be written: %s",
                             strerror(n ? errno : ENOSPC));
        done += (size_t)n;
        spool->offset += (size_t)n;
    }
    spool->used = 0;
    return 0;
}

int spool_append(struct spool *spool, const void *record, struct error *err)
{
    assert(!spool->reading);
    if (spool->used == buffer_size(spool) && flush(spool, err))
        return -1;
    memcpy(spool->buffer + spool->used, record, spool->record_size);
    spool->used += spool->record_size;
    spool->count++;
    return 0;
}

int spool_rewind(struct spool *spool, struct error *err)
{
    if (!spool->reading && flush(spool, err))
        return -1;
    spool->reading = 1;
    spool->used = spool->at = 0;
    spool->offset = 0;
    spool->position = 0;
    return 0;
}

/* Reads the next records; whole ones, since the file holds only such. */
static int read_ahead(struct spool *spool, struct error *err)
{
    uint64_t left = (spool->count - spool->position) * spool->record_size;
    size_t want = left < buffer_size(spool) ? (size_t)left : buffer_size(spool);

    spool->used = spool->at = 0;
    while (spool->used < want) {
        ssize_t n = pread(spool->file, spool->buffer + spool->used, want - spool->used, (off_t)spool->offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(err, ERROR_SYSTEM, "temporary file", "cannot be read: %s",
                             strerror(n ? errno : EIO));
        spool->used += (size_t)n;
        spool->offset += (size_t)n;
    }
    return 0;
}

int spool_next(struct spool *spool, void *record, struct error *err)
{
    assert(spool->reading);
    if (spool->position == spool->count)
        return 0;
    if (spool->at == spool->used && read_ahead(spool, err))
        return -1;
    memcpy(record, spool->buffer + spool->at, spool->record_size);
    spool->at += spool->record_size;
    spool->position++;
    return 1;
}

uint64_t spool_count(const struct spool *spool)
{
    return spool->count;
}

void spool_free(struct spool *spool)
{
    if (spool->file >= 0)
        close(spool->file);
    free(spool->buffer);
    *spool = (struct spool){.file = -1};
}
