#include "models/replica/llm_grow.h"
#include "models/replica/llm_internal.h"

/*
 * The largest time between two tokens of one request.
 *
 * A regular decoder gets a token at the end of every step, so its gaps are the steps' own lengths, and the
 * largest is a maximum over "all steps since". A stack of (step, length) whose lengths fall from bottom to
 * top answers that by bisection: a new entry removes all that are not longer. Of many steps taken at once the
 * last is the longest.
 */

/* Entries that no running decoder reaches back to are dropped when the stack is full. */
static void gaps_make_room(struct llm_server *llm)
{
    int64_t since = llm->step;
    uint32_t drop = 0;

    for (uint32_t id = llm->running.first; id != LLM_NONE; id = llm->sequences[id].next) {
        const struct llm_sequence *sequence = &llm->sequences[id];

        if (sequence->state == LLM_DECODER && sequence->regular_since < since)
            since = sequence->regular_since;
    }
    while (drop < llm->gap_count && llm->gaps[drop].step <= since)
        drop++;
    llm->gap_count -= drop;
    for (uint32_t i = 0; i < llm->gap_count; i++)
        llm->gaps[i] = llm->gaps[i + drop];
    if (llm->gap_count >= llm->gap_capacity / 2)
        llm->gaps = llm_grow(llm->gaps, &llm->gap_capacity, sizeof *llm->gaps);
}

void llm_gap_push(struct llm_server *llm, int64_t fine)
{
    while (llm->gap_count > 0 && llm->gaps[llm->gap_count - 1].fine <= fine)
        llm->gap_count--;
    if (llm->gap_count == llm->gap_capacity)
        gaps_make_room(llm);
    llm->gaps[llm->gap_count++] = (struct llm_gap){llm->step, fine};
}

static void gap_note(struct job *job, int64_t fine)
{
    sim_time gap = (fine + LLM_FINE - 1) >> LLM_FINE_BITS;

    if (job && gap > job->largest_gap)
        job->largest_gap = gap;
}

void llm_gap_close(struct llm_server *llm, struct llm_sequence *sequence)
{
    uint32_t low = 0, high = llm->gap_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (llm->gaps[middle].step > sequence->regular_since)
            high = middle;
        else
            low = middle + 1;
    }
    if (low < llm->gap_count)
        gap_note(sequence->job, llm->gaps[low].fine);
}

void llm_gap_after(struct llm_server *llm, struct llm_sequence *sequence)
{
    gap_note(sequence->job, (int64_t)(llm_clock(llm) - sequence->last_token));
}
