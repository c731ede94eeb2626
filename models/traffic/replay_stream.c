/*
 * The arrivals of a replay, in constant memory. Records are read once; those of the last 2 x jitter of the
 * trace stay in a ring, over which every copy has its own cursor. What is out of order, or was spread, is put
 * in order by a heap that holds no more than the disorder (or the spread) spans.
 */
#include <math.h>
#include <stdlib.h>

#include "models/traffic/replay.h"
#include "sim/engine/random.h"

struct entry {
    sim_time at;     /* ns since the run's start, of copy 0 */
    uint64_t number; /* of the record, in the order of the file, over all loops */
    int64_t work_ns;
    uint64_t prefix_group, session;
    int32_t prefix_tokens, tokens_in, tokens_out;
};

struct copy {
    sim_time offset;
    uint64_t cursor; /* number of its next entry in the ring's count */
    double keep;     /* share of the records: 1, or that of the thinned copy */
    uint64_t key;
};

struct replay_stream {
    const struct replay *replay;
    sim_time duration;
    struct trace_reader *reader;
    bool over;     /* the file has ended, and does not begin again */
    sim_time base; /* of the present loop */
    uint64_t numbers;
    uint64_t spread_key;

    struct entry *heap; /* records whose order is not settled */
    size_t heap_count, heap_room;
    sim_time newest; /* latest record read of this loop, before spreading */

    struct entry *ring; /* room is a power of two */
    size_t ring_room;
    uint64_t ring_first, ring_end; /* counts of entries ever put in */

    struct copy *copies;
    int32_t copy_count;
    int32_t *order; /* heap of copies by their next arrival */
    sim_time *next; /* by copy */
    int32_t order_count;
};

/* ---- records in order ---- */

static bool before(const struct entry *a, const struct entry *b)
{
    return a->at < b->at || (a->at == b->at && a->number < b->number);
}

static int heap_push(struct replay_stream *s, const struct entry *entry, struct error *err)
{
    size_t i;

    if (s->heap_count == s->heap_room) {
        size_t room = s->heap_room ? 2 * s->heap_room : 64;
        struct entry *heap = realloc(s->heap, room * sizeof *heap);

        if (!heap)
            return error_memory(err, "replay");
        s->heap = heap;
        s->heap_room = room;
    }
    for (i = s->heap_count++; i > 0 && before(entry, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = *entry;
    return 0;
}

static void heap_pop(struct replay_stream *s, struct entry *entry)
{
    struct entry last = s->heap[--s->heap_count];
    size_t i = 0;

    *entry = s->heap[0];
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= s->heap_count)
            break;
        if (child + 1 < s->heap_count && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    if (s->heap_count > 0)
        s->heap[i] = last;
}

/* Reads one record of the window into the heap: 1, 0 at the very end, -1. */
static int record_read(struct replay_stream *s, struct error *err)
{
    const struct replay *replay = s->replay;
    struct trace_record record;

    for (;;) {
        sim_time since;
        struct entry entry;
        int got = trace_next(s->reader, &record, err);

        if (got < 0)
            return -1;
        if (got == 0) {
            if (!replay->loop || s->base + replay->period >= s->duration)
                return 0;
            trace_close(s->reader);
            s->reader = NULL;
            if (trace_open(replay->spec, &s->reader, err) < 0)
                return -1;
            s->base += replay->period;
            continue;
        }
        since = record.at - replay->zero;
        if (since < replay->from || since >= replay->to)
            continue;
        entry = (struct entry){
            .at = s->base + replay_scaled(replay, since - replay->from),
            .number = s->numbers++,
            .work_ns = record.work_ns,
            .prefix_group = record.prefix_group,
            .session = record.session,
            .prefix_tokens = record.prefix_tokens,
            .tokens_in = record.tokens_in,
            .tokens_out = record.tokens_out,
        };
        if (entry.at > s->newest)
            s->newest = entry.at;
        if (replay->spread > 0)
            entry.at += (sim_time)(random_uniform_of(s->spread_key ^ random_hash(entry.number)) *
                                   (double)replay->spread);
        return heap_push(s, &entry, err) < 0 ? -1 : 1;
    }
}

/* The next record in the order of time: 1, 0, -1. */
static int record_next(struct replay_stream *s, struct entry *entry, struct error *err)
{
    sim_time disorder = replay_scaled(s->replay, s->replay->disorder);

    /* A record that is still to be read lies at or after the newest one less the disorder. */
    while (!s->over && (s->heap_count == 0 || s->heap[0].at > s->newest - disorder)) {
        int got = record_read(s, err);

        if (got < 0)
            return -1;
        s->over = got == 0;
    }
    if (s->heap_count == 0)
        return 0;
    heap_pop(s, entry);
    return 1;
}

/* ---- the ring ---- */

static int ring_put(struct replay_stream *s, const struct entry *entry, struct error *err)
{
    if (s->ring_end - s->ring_first == s->ring_room) {
        size_t room = s->ring_room ? 2 * s->ring_room : 64;
        struct entry *ring = malloc(room * sizeof *ring);

        if (!ring)
            return error_memory(err, "replay");
        for (uint64_t i = s->ring_first; i < s->ring_end; i++)
            ring[i & (room - 1)] = s->ring[i & (s->ring_room - 1)];
        free(s->ring);
        s->ring = ring;
        s->ring_room = room;
    }
    s->ring[s->ring_end++ & (s->ring_room - 1)] = *entry;
    return 0;
}

static const struct entry *ring_at(const struct replay_stream *s, uint64_t number)
{
    return &s->ring[number & (s->ring_room - 1)];
}

/* ---- the copies ---- */

/* Moves the copy's cursor to a record that it offers inside [0, duration); its time, SIM_NEVER at the end; -2
 * on an error. */
static sim_time copy_settle(struct replay_stream *s, struct copy *copy, struct error *err)
{
    for (;; copy->cursor++) {
        const struct entry *entry;
        sim_time at;

        if (copy->cursor == s->ring_end) {
            struct entry fresh;
            int got = record_next(s, &fresh, err);

            if (got < 0 || (got > 0 && ring_put(s, &fresh, err) < 0))
                return -2;
            if (got == 0)
                return SIM_NEVER;
        }
        entry = ring_at(s, copy->cursor);
        at = entry->at + copy->offset;
        if (at >= s->duration)
            return SIM_NEVER;
        if (at >= 0 &&
            (copy->keep >= 1 || random_uniform_of(copy->key ^ random_hash(entry->number)) < copy->keep))
            return at;
    }
}

static bool earlier(const struct replay_stream *s, int32_t a, int32_t b)
{
    return s->next[a] < s->next[b] || (s->next[a] == s->next[b] && a < b);
}

static void order_down(struct replay_stream *s, int32_t i)
{
    int32_t moving = s->order[i];

    for (;;) {
        int32_t child = 2 * i + 1;

        if (child >= s->order_count)
            break;
        if (child + 1 < s->order_count && earlier(s, s->order[child + 1], s->order[child]))
            child++;
        if (!earlier(s, s->order[child], moving))
            break;
        s->order[i] = s->order[child];
        i = child;
    }
    s->order[i] = moving;
}

/* Entries that every copy has passed make room. */
static void ring_trim(struct replay_stream *s)
{
    uint64_t least = s->ring_end;

    for (int32_t i = 0; i < s->copy_count; i++)
        if (s->next[i] != SIM_NEVER && s->copies[i].cursor < least)
            least = s->copies[i].cursor;
    s->ring_first = least;
}

/* Copies of a record keep their sharing to themselves: its prefix and session are other ones in every copy.
 */
static uint64_t of_copy(uint64_t id, int32_t copy)
{
    return id == 0 || copy == 0 ? id : random_hash(id ^ random_hash((uint64_t)copy)) | 1;
}

int replay_next(struct replay_stream *s, struct arrival *arrival, struct error *err)
{
    int32_t which;
    struct copy *copy;
    const struct entry *entry;

    if (s->order_count == 0 || s->next[s->order[0]] == SIM_NEVER)
        return 0;
    which = s->order[0];
    copy = &s->copies[which];
    entry = ring_at(s, copy->cursor);
    *arrival = (struct arrival){
        .at = s->next[which],
        .work_ns = entry->work_ns,
        .prefix_group = of_copy(entry->prefix_group, which),
        .session = of_copy(entry->session, which),
        .prefix_tokens = entry->prefix_tokens,
        .tokens_in = entry->tokens_in,
        .tokens_out = entry->tokens_out,
    };
    copy->cursor++;
    if (s->ring_end - s->ring_first == s->ring_room)
        ring_trim(s); /* before it would have to grow */
    s->next[which] = copy_settle(s, copy, err);
    if (s->next[which] == -2)
        return -1;
    order_down(s, 0);
    return 1;
}

static int copies_open(struct replay_stream *s, uint64_t key, struct error *err)
{
    const struct replay *replay = s->replay;
    double whole = floor(replay->rate_scale), part = replay->rate_scale - whole;

    s->copy_count = (int32_t)whole + (part > 0);
    s->copies = calloc((size_t)s->copy_count, sizeof *s->copies);
    s->order = calloc((size_t)s->copy_count, sizeof *s->order);
    s->next = calloc((size_t)s->copy_count, sizeof *s->next);
    if (!s->copies || !s->order || !s->next)
        return error_memory(err, "replay");
    for (int32_t i = 0; i < s->copy_count; i++) {
        struct copy *copy = &s->copies[i];
        double u = random_uniform_of(random_key_ordinal(key, (uint64_t)i));

        copy->key = random_key_ordinal(key, 0x10000 + (uint64_t)i);
        copy->keep = i < (int32_t)whole ? 1 : part;
        copy->offset = i == 0 ? 0 : (sim_time)llround((2 * u - 1) * (double)replay->jitter);
        s->next[i] = -1;
    }
    for (int32_t i = 0; i < s->copy_count; i++) {
        s->next[i] = copy_settle(s, &s->copies[i], err);
        if (s->next[i] == -2)
            return -1;
        s->order[s->order_count++] = i;
    }
    for (int32_t i = s->order_count / 2; i-- > 0;)
        order_down(s, i);
    return 0;
}

int replay_open(const struct traffic *traffic, uint64_t seed, const char *service, uint64_t replication,
                struct replay_stream **out, struct error *err)
{
    struct replay_stream *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return error_memory(err, "replay");
    s->replay = traffic->replay;
    s->duration = traffic->duration;
    s->spread_key = random_key(seed, service, "spread", replication);
    if (trace_open(s->replay->spec, &s->reader, err) < 0 ||
        copies_open(s, random_key(seed, service, "copies", replication), err) < 0) {
        replay_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

void replay_close(struct replay_stream *s)
{
    if (!s)
        return;
    trace_close(s->reader);
    free(s->heap);
    free(s->ring);
    free(s->copies);
    free(s->order);
    free(s->next);
    free(s);
}
