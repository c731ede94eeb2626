#include "sim/io/byte_source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP_BUFFER = 128 * 1024 };

int byte_source_open(struct byte_source *source, const char *path, struct error *err)
{
    *source = (struct byte_source){.name = strdup(path)};
    if (!source->name)
        return error_memory(err, path);
    errno = 0;
    source->gzip = gzopen(path, "rb");
    if (!source->gzip) {
        int cause = errno;

        byte_source_close(source);
        return cause ? error_set(err, ERROR_INPUT, path, "cannot be opened: %s", strerror(cause))
                     : error_memory(err, path);
    }
    gzbuffer(source->gzip, GZIP_BUFFER);
    return 0;
}

int byte_source_open_memory(struct byte_source *source, const char *text, size_t length, const char *name,
                            struct error *err)
{
    *source = (struct byte_source){.text = text, .left = length, .name = strdup(name)};
    return source->name ? 0 : error_memory(err, name);
}

static int gzip_error(struct byte_source *source, struct error *err)
{
    int code = Z_OK;
    const char *message;

    errno = errno ? errno : EIO;
    message = gzerror(source->gzip, &code);
    switch (code) {
    case Z_OK:
    case Z_STREAM_END:
        return 0;
    case Z_BUF_ERROR:
        return error_set(err, ERROR_INPUT, source->name,
                         "the gzip file is truncated: it ends inside its data");
    case Z_ERRNO:
        return error_set(err, ERROR_INPUT, source->name, "cannot be read: %s", strerror(errno));
    case Z_MEM_ERROR:
        return error_memory(err, source->name);
    default:
        return error_set(err, ERROR_INPUT, source->name, "the gzip file is damaged: %s",
                         message ? message : "bad data");
    }
}

long byte_source_read(struct byte_source *source, char *buffer, size_t size, struct error *err)
{
    int got;

    if (!source->gzip) {
        size_t n = size < source->left ? size : source->left;

        if (n)
            memcpy(buffer, source->text, n);
        source->text += n;
        source->left -= n;
        return (long)n;
    }
    errno = 0;
    got = gzread(source->gzip, buffer, size > INT_MAX ? INT_MAX : (unsigned)size);
    /* A truncated file gives what it holds first and tells only then. */
    if ((got < 0 || (size_t)got < size) && gzip_error(source, err))
        return -1;
    return got;
}

void byte_source_close(struct byte_source *source)
{
    if (source->gzip)
        gzclose_r(source->gzip);
    free(source->name);
    *source = (struct byte_source){.gzip = NULL};
}
