#ifndef TESTS_UNIT_IO_STREAM_SUPPORT_H
#define TESTS_UNIT_IO_STREAM_SUPPORT_H

#include <zlib.h>

#include "tests/unit/io/io_support.h"

/* One gzip member of the bytes; caller frees. */
static inline unsigned char *gzip_of(const void *bytes, size_t length, size_t *packed)
{
    size_t room = length + length / 100 + 1024;
    unsigned char *out = malloc(room), *copy = malloc(length + 1);
    z_stream z = {
        .next_in = copy, .avail_in = (unsigned)length, .next_out = out, .avail_out = (unsigned)room};

    assert_true(out && copy);
    memcpy(copy, bytes, length);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    free(copy);
    *packed = room - z.avail_out;
    return out;
}

#endif
