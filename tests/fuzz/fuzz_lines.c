#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/io/line_stream.h"

/*
 * Lines of any bytes: from memory, as a file as it is (a gzip file if the fuzzer made one), and compressed by
 * us.
 *
 * Holds: from memory they are what a plain loop over the bytes finds; the file as it is gives the same unless
 * it begins like gzip; compressed they are the same again; a compressed file that is cut short is refused.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* Reference: each line that is not blank, as "number:text\n"; "!number\n" for a NUL byte, which ends it. */
static void reference(const char *text, size_t size, FILE *out)
{
    size_t at = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

    for (uint64_t number = 1; at < size; number++) {
        size_t end = at, length, space = 0;

        while (end < size && text[end] != '\n')
            end++;
        length = end - at;
        if (length && memchr(text + at, 0, length)) {
            fprintf(out, "!%llu\n", (unsigned long long)number);
            return;
        }
        if (length && text[at + length - 1] == '\r')
            length--;
        while (space < length &&
               (text[at + space] == ' ' || text[at + space] == '\t' || text[at + space] == '\r'))
            space++;
        if (space < length)
            fprintf(out, "%llu:%.*s\n", (unsigned long long)number, (int)length, text + at);
        at = end + 1;
    }
}

static int collect(struct line_stream *lines, FILE *out)
{
    struct error err = {.code = ERROR_NONE};
    struct line line;
    int got;

    while ((got = line_stream_next(lines, &line, &err)) > 0) {
        must(strlen(line.text) == line.length, "a line ends in its NUL");
        fprintf(out, "%llu:%s\n", (unsigned long long)line.number, line.text);
    }
    if (got < 0) {
        const char *colon = strrchr(err.place, ':');

        must(err.message[0] && err.place[0], "an error says what and where");
        if (strstr(err.message, "NUL"))
            fprintf(out, "!%s\n", colon ? colon + 1 : "");
    }
    line_stream_close(lines);
    return got;
}

/* Lines of a file that has no name on disk. */
static int collect_file(const void *bytes, size_t size, FILE *out)
{
    struct error err = {.code = ERROR_NONE};
    struct line_stream *lines = NULL;
    int file = memfd_create("lines", 0), status;
    char path[64];

    must(file >= 0 && write(file, bytes, size) == (ssize_t)size, "a file can be made");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    must(!line_stream_open(&lines, path, &err), "it opens");
    close(file);
    status = collect(lines, out);
    return status;
}

static size_t compress_gzip(const void *bytes, size_t size, unsigned char *out, size_t room)
{
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)bytes,
                  .avail_in = (unsigned)size,
                  .next_out = out,
                  .avail_out = (unsigned)room};

    must(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
    must(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib ends");
    deflateEnd(&z);
    return room - z.avail_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {.code = ERROR_NONE};
    struct line_stream *lines = NULL;
    char *texts[3] = {NULL};
    size_t lengths[3], packed, room = size + size / 100 + 1024;
    unsigned char *gzip = malloc(room);
    FILE *out;

    out = open_memstream(&texts[0], &lengths[0]);
    reference((const char *)data, size, out);
    fclose(out);

    out = open_memstream(&texts[1], &lengths[1]);
    must(!line_stream_open_memory(&lines, (const char *)data, size, "fuzz", &err), "it opens");
    collect(lines, out);
    fclose(out);
    must(lengths[0] == lengths[1] && !memcmp(texts[0], texts[1], lengths[0]), "lines are the lines");

    packed = compress_gzip(data, size, gzip, room);
    out = open_memstream(&texts[2], &lengths[2]);
    collect_file(gzip, packed, out);
    fclose(out);
    must(lengths[0] == lengths[2] && !memcmp(texts[0], texts[2], lengths[0]),
         "compressed lines are the same");
    free(texts[2]);

    out = open_memstream(&texts[2], &lengths[2]);
    must(collect_file(gzip, packed - 1 - size % 8, out) < 0, "a gzip file that is cut short is refused");
    fclose(out);
    free(texts[2]);

    out = open_memstream(&texts[2], &lengths[2]);
    collect_file(data, size, out);
    fclose(out);
    if (size < 2 || data[0] != 0x1f || data[1] != 0x8b)
        must(lengths[0] == lengths[2] && !memcmp(texts[0], texts[2], lengths[0]), "a plain file is the same");
    for (int i = 0; i < 3; i++)
        free(texts[i]);
    free(gzip);
    return 0;
}
