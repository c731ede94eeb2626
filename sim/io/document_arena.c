#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"

enum { ARENA_BLOCK = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    struct arena_block *block = arena->blocks;
    void *result;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    if (!block || block->size - block->used < size) {
        size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;

        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    result = block->bytes + block->used;
    block->used += size;
    return result;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);

    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
}
