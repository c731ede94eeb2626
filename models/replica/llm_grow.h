#ifndef MODELS_REPLICA_LLM_GROW_H
#define MODELS_REPLICA_LLM_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Arrays that grow while requests come in, where no caller could carry on without the memory: submit has no
 * way to say so, and refusing a request instead would be a wrong result.
 */
static inline void *llm_resize(void *array, size_t count, size_t size)
{
    void *bigger = size > 0 && count <= SIZE_MAX / size ? realloc(array, count * size) : NULL;

    if (!bigger) {
        fputs("peaksim: out of memory for the requests of a replica\n", stderr);
        abort();
    }
    return bigger;
}

/* Doubles (from 0: to 64). */
static inline void *llm_grow(void *array, uint32_t *capacity, size_t size)
{
    *capacity = *capacity ? 2 * *capacity : 64;
    return llm_resize(array, *capacity, size);
}

#endif
