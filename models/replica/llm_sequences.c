#include <assert.h>

#include "models/replica/llm_grow.h"
#include "models/replica/llm_internal.h"

uint32_t llm_sequence_new(struct llm_server *llm)
{
    uint32_t id = llm->spare;

    if (id == LLM_NONE) {
        uint32_t old = llm->capacity;

        llm->sequences = llm_grow(llm->sequences, &llm->capacity, sizeof *llm->sequences);
        for (uint32_t i = old; i < llm->capacity; i++)
            llm->sequences[i].next = i + 1 < llm->capacity ? i + 1 : LLM_NONE;
        id = old;
    }
    llm->spare = llm->sequences[id].next;
    return id;
}

void llm_sequence_recycle(struct llm_server *llm, uint32_t id)
{
    llm->sequences[id].next = llm->spare;
    llm->spare = id;
}

/* ---- lists and arrays ---- */

void llm_list_append(struct llm_server *llm, struct llm_list *list, uint32_t id)
{
    llm->sequences[id].next = LLM_NONE;
    llm->sequences[id].previous = list->last;
    if (list->last != LLM_NONE)
        llm->sequences[list->last].next = id;
    else
        list->first = id;
    list->last = id;
    list->count++;
}

void llm_list_prepend(struct llm_server *llm, struct llm_list *list, uint32_t id)
{
    llm->sequences[id].previous = LLM_NONE;
    llm->sequences[id].next = list->first;
    if (list->first != LLM_NONE)
        llm->sequences[list->first].previous = id;
    else
        list->last = id;
    list->first = id;
    list->count++;
}

void llm_list_remove(struct llm_server *llm, struct llm_list *list, uint32_t id)
{
    const struct llm_sequence *sequence = &llm->sequences[id];

    if (sequence->previous != LLM_NONE)
        llm->sequences[sequence->previous].next = sequence->next;
    else
        list->first = sequence->next;
    if (sequence->next != LLM_NONE)
        llm->sequences[sequence->next].previous = sequence->previous;
    else
        list->last = sequence->previous;
    list->count--;
}

void llm_array_append(struct llm_array *array, uint32_t id)
{
    if (array->count == array->capacity)
        array->ids = llm_grow(array->ids, &array->capacity, sizeof *array->ids);
    array->ids[array->count++] = id;
}

void llm_array_remove(struct llm_array *array, uint32_t id)
{
    uint32_t at = array->count;

    while (array->ids[--at] != id)
        ;
    for (array->count--; at < array->count; at++)
        array->ids[at] = array->ids[at + 1];
}

/* ---- decoders ---- */

static inline uint32_t wheel_slot(const struct llm_sequence *sequence)
{
    return (uint32_t)(sequence->base + sequence->prompt + sequence->target - 1) & (LLM_WHEEL - 1);
}

void llm_decoder_add(struct llm_server *llm, uint32_t id)
{
    struct llm_sequence *sequence = &llm->sequences[id];
    uint32_t slot = wheel_slot(sequence);

    llm->decoders++;
    llm->base_sum += sequence->base;
    llm->residues[sequence->base & (llm->config->block_size - 1)]++;
    llm->irregular += sequence->irregular;
    sequence->state = LLM_DECODER;
    sequence->wheel_previous = LLM_NONE;
    sequence->wheel_next = llm->wheel[slot];
    if (llm->wheel[slot] != LLM_NONE)
        llm->sequences[llm->wheel[slot]].wheel_previous = id;
    llm->wheel[slot] = id;
    llm->wheel_bits[slot / 64] |= UINT64_C(1) << slot % 64;
    llm->wheel_summary |= UINT64_C(1) << slot / 64;
}

void llm_decoder_remove(struct llm_server *llm, uint32_t id)
{
    struct llm_sequence *sequence = &llm->sequences[id];

    llm->decoders--;
    llm->base_sum -= sequence->base;
    llm->residues[sequence->base & (llm->config->block_size - 1)]--;
    llm->irregular -= sequence->irregular;
    if (sequence->wheel_previous != LLM_NONE) {
        llm->sequences[sequence->wheel_previous].wheel_next = sequence->wheel_next;
    } else {
        uint32_t slot = wheel_slot(sequence);

        llm->wheel[slot] = sequence->wheel_next;
        if (sequence->wheel_next == LLM_NONE) {
            llm->wheel_bits[slot / 64] &= ~(UINT64_C(1) << slot % 64);
            if (!llm->wheel_bits[slot / 64])
                llm->wheel_summary &= ~(UINT64_C(1) << slot / 64);
        }
    }
    if (sequence->wheel_next != LLM_NONE)
        llm->sequences[sequence->wheel_next].wheel_previous = sequence->wheel_previous;
    sequence->computed = (int32_t)(llm->step - sequence->base);
    sequence->out = sequence->computed + 1 - sequence->prompt;
    sequence->state = LLM_PARTIAL;
}

int64_t llm_wheel_distance(const struct llm_server *llm)
{
    uint32_t from = (uint32_t)(llm->step + 1) & (LLM_WHEEL - 1), word = from / 64, slot;
    uint64_t bits = llm->wheel_bits[word] & ~UINT64_C(0) << from % 64;

    if (!bits) {
        uint64_t words = word + 1 < LLM_WHEEL_WORDS ? llm->wheel_summary & ~UINT64_C(0) << (word + 1) : 0;

        if (!words)
            words = llm->wheel_summary; /* round the end, perhaps back to the lower part of this word */
        if (!words)
            return LLM_WHEEL;
        word = (uint32_t)__builtin_ctzll(words);
        bits = llm->wheel_bits[word];
    }
    slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
    return (int64_t)((slot - from) & (LLM_WHEEL - 1)) + 1;
}

void llm_sequence_stop(struct llm_server *llm, uint32_t id, bool keep)
{
    struct llm_sequence *sequence = &llm->sequences[id];

    if (sequence->state == LLM_DECODER)
        llm_decoder_remove(llm, id);
    else
        llm_array_remove(&llm->partial, id);
    llm_kv_release(&llm->kv, &sequence->hold, llm_blocks(llm->config, sequence->computed),
                   sequence->computed >> llm->config->block_shift, keep);
    llm_list_remove(llm, &llm->running, id);
}
