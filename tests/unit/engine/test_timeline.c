#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sim/engine/random.h"
#include "sim/engine/timeline.h"

static struct timeline timeline_of(uint32_t slots)
{
    struct timeline t;

    assert_int_equal(timeline_init(&t, slots, NULL), 0);
    return t;
}

static void empty_and_without_slots(void **state)
{
    struct timeline t = timeline_of(0);

    (void)state;
    assert_true(timeline_empty(&t));
    assert_true(timeline_next_time(&t) == SIM_NEVER);
    assert_true(timeline_is_sound(&t));
    timeline_clear(&t);
    assert_int_equal(timeline_grow(&t, 1, NULL), 0);
    assert_true(timeline_time(&t, 0) == SIM_NEVER);
    timeline_cancel(&t, 0); /* was not set: nothing */
    timeline_set(&t, 0, 5, 9);
    assert_int_equal(timeline_next_time(&t), 5);
    assert_int_equal(timeline_next_rank(&t), 9);
    assert_int_equal(timeline_pop(&t), 0);
    assert_true(timeline_empty(&t));
    timeline_free(&t);
}

/* Four siblings must share a 64-byte line: that is what the layout is for. */
static void siblings_share_a_line(void **state)
{
    for (uint32_t slots = 0; slots < 40; slots++) {
        struct timeline t = timeline_of(slots);

        (void)state;
        assert_int_equal((uintptr_t)(t.heap + 1) % 64, 0);
        assert_int_equal(sizeof(struct timeline_entry), 16);
        timeline_free(&t);
    }
}

/* Equal times: rank first, then slot, whatever the order of setting. */
static void ties_by_rank_then_slot(void **state)
{
    static const uint32_t orders[3][6] = {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}};
    static const uint32_t rank_of[6] = {2, 1, 2, 0, 1, 0};
    static const uint32_t expected[6] = {3, 5, 1, 4, 0, 2};

    (void)state;
    for (int o = 0; o < 3; o++) {
        struct timeline t = timeline_of(6);

        for (int i = 0; i < 6; i++)
            timeline_set(&t, orders[o][i], 1000, rank_of[orders[o][i]]);
        for (int i = 0; i < 6; i++)
            assert_int_equal(timeline_pop(&t), expected[i]);
        timeline_free(&t);
    }
}

/* A timer that is armed again at the time it already has, at an earlier or at a later one fires once, at the
 * last. */
static void rearmed_timers_fire_once(void **state)
{
    struct timeline t = timeline_of(3);

    (void)state;
    timeline_set(&t, 0, 10, 0);
    timeline_set(&t, 1, 10, 0);
    timeline_set(&t, 2, 10, 0);
    timeline_set(&t, 0, 10, 0); /* same again: still before 1 */
    assert_int_equal(timeline_next_slot(&t), 0);
    timeline_set(&t, 0, 10, 1); /* same time, later class: behind 1 and 2 */
    assert_int_equal(timeline_next_slot(&t), 1);
    timeline_set(&t, 1, 30, 0);
    timeline_set(&t, 1, 5, 0);
    timeline_set(&t, 2, 20, 0);
    assert_int_equal(t.size, 3);
    assert_int_equal(timeline_next_time(&t), 5);
    assert_int_equal(timeline_pop(&t), 1);
    assert_int_equal(timeline_pop(&t), 0);
    assert_int_equal(timeline_next_time(&t), 20);
    assert_int_equal(timeline_pop(&t), 2);
    assert_true(timeline_empty(&t));
    timeline_free(&t);
}

static void extreme_keys_keep_their_order(void **state)
{
    static const int64_t times[6] = {INT64_MAX, 0, -1, INT64_MIN, 1, INT64_MAX - 1};
    static const uint32_t expected[6] = {3, 2, 1, 4, 5, 0};
    struct timeline t = timeline_of(6);

    (void)state;
    for (uint32_t slot = 0; slot < 6; slot++)
        timeline_set(&t, slot, times[slot], UINT32_MAX);
    assert_true(timeline_is_sound(&t));
    for (int i = 0; i < 6; i++)
        assert_int_equal(timeline_pop(&t), expected[i]);
    timeline_free(&t);
}

static void grow_keeps_what_is_set(void **state)
{
    struct timeline t = timeline_of(1);

    (void)state;
    timeline_set(&t, 0, 1000, 0);
    for (uint32_t slots = 2; slots <= 300; slots++) {
        assert_int_equal(timeline_grow(&t, slots, NULL), 0);
        assert_true(timeline_time(&t, slots - 1) == SIM_NEVER);
        timeline_set(&t, slots - 1, 1000 - (int64_t)slots, 0);
        assert_true(timeline_is_sound(&t));
    }
    assert_int_equal(timeline_grow(&t, 5, NULL), 0); /* never fewer */
    assert_int_equal(t.slots, 300);
    for (uint32_t slot = 299; slot > 0; slot--)
        assert_int_equal(timeline_pop(&t), slot);
    assert_int_equal(timeline_pop(&t), 0);
    timeline_free(&t);
}

static void clear_leaves_the_slots(void **state)
{
    struct timeline t = timeline_of(20);

    (void)state;
    for (uint32_t slot = 0; slot < 20; slot++)
        timeline_set(&t, slot, slot % 3, 0);
    timeline_clear(&t);
    assert_true(timeline_empty(&t));
    assert_true(timeline_is_sound(&t));
    for (uint32_t slot = 0; slot < 20; slot++)
        assert_true(timeline_time(&t, slot) == SIM_NEVER);
    timeline_set(&t, 7, 3, 0);
    assert_int_equal(timeline_next_slot(&t), 7);
    assert_true(timeline_is_sound(&t));
    timeline_free(&t);
}

/* The reference: a plain array by slot, searched whole. */
#define NAIVE_MAX 400
struct naive {
    bool set[NAIVE_MAX];
    int64_t time[NAIVE_MAX];
    uint32_t rank[NAIVE_MAX];
    uint32_t slots;
};

static uint32_t naive_next(const struct naive *n)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t s = 0; s < n->slots; s++) {
        if (!n->set[s])
            continue;
        if (best == UINT32_MAX || n->time[s] < n->time[best] ||
            (n->time[s] == n->time[best] && n->rank[s] < n->rank[best]))
            best = s; /* of equals the lowest slot stays */
    }
    return best;
}

static void check_against_naive(const struct timeline *t, const struct naive *n)
{
    uint32_t next = naive_next(n), set = 0;

    for (uint32_t s = 0; s < n->slots; s++) {
        set += n->set[s];
        assert_true(timeline_time(t, s) == (n->set[s] ? n->time[s] : SIM_NEVER));
    }
    assert_int_equal(t->size, set);
    assert_true(timeline_is_sound(t));
    if (next == UINT32_MAX) {
        assert_true(timeline_empty(t));
        return;
    }
    assert_int_equal(timeline_next_slot(t), next);
    assert_true(timeline_next_time(t) == n->time[next]);
    assert_int_equal(timeline_next_rank(t), n->rank[next]);
}

static void naive_set(struct naive *n, uint32_t slot, int64_t time, uint32_t rank)
{
    n->set[slot] = true;
    n->time[slot] = time;
    n->rank[slot] = rank;
}

/* One random operation on both. `spread` is the number of distinct times: 1 makes everything a tie. */
static void step(struct timeline *t, struct naive *n, uint64_t luck, int64_t spread)
{
    uint32_t slot = (uint32_t)(luck >> 40) % n->slots;
    uint32_t rank = (uint32_t)(luck >> 36) % 3;
    int64_t time = (int64_t)(random_hash(luck) % (uint64_t)spread);

    switch (luck % 16) {
    case 0:
    case 1:
        timeline_cancel(t, slot);
        n->set[slot] = false;
        break;
    case 2:
    case 3:
        if (!timeline_empty(t)) {
            slot = timeline_pop(t);
            assert_int_equal(slot, naive_next(n));
            n->set[slot] = false;
        }
        break;
    case 4:
    case 5:
    case 6:
    case 7: /* the next one moves on, as after an event */
        if (!timeline_empty(t))
            slot = timeline_next_slot(t);
        /* fall through */
    default:
        timeline_set(t, slot, time, rank);
        naive_set(n, slot, time, rank);
        break;
    }
}

static void random_operations_match_a_search(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 6, 16, 21, 22, 64, 100, 341};
    static const int64_t spreads[] = {1, 2, 10, 1000, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t j = 0; j < sizeof spreads / sizeof spreads[0]; j++) {
            struct timeline t = timeline_of(sizes[i]);
            struct naive n;

            memset(&n, 0, sizeof n);
            n.slots = sizes[i];
            for (uint64_t k = 0; k < 1500; k++) {
                step(&t, &n, random_key_ordinal(i * 100 + j, k), spreads[j]);
                check_against_naive(&t, &n);
                if (k % 100 == 99 && n.slots < NAIVE_MAX) {
                    n.slots++;
                    assert_int_equal(timeline_grow(&t, n.slots, NULL), 0);
                }
            }
            timeline_free(&t);
        }
    }
}

/* The soundness check must see faults, or the tests above say nothing. */
static void unsound_heaps_are_seen(void **state)
{
    struct timeline t = timeline_of(8);
    struct timeline_entry swap;

    (void)state;
    for (uint32_t slot = 0; slot < 6; slot++)
        timeline_set(&t, slot, 10 * (int64_t)slot, 0);
    assert_true(timeline_is_sound(&t));

    swap = t.heap[0]; /* a child before its parent */
    t.heap[0] = t.heap[5];
    t.heap[5] = swap;
    t.where[(uint32_t)t.heap[0].order] = 0;
    t.where[(uint32_t)t.heap[5].order] = 5;
    assert_false(timeline_is_sound(&t));
    t.heap[5] = t.heap[0];
    t.heap[0] = swap;
    t.where[(uint32_t)t.heap[0].order] = 0;
    t.where[(uint32_t)t.heap[5].order] = 5;
    assert_true(timeline_is_sound(&t));

    t.where[7] = 3; /* an idle slot that believes it is set */
    assert_false(timeline_is_sound(&t));
    t.where[7] = TIMELINE_IDLE;
    t.heap[6].time = 0; /* rubbish where sink looks */
    assert_false(timeline_is_sound(&t));
    t.heap[6] = TIMELINE_PAST;
    t.where[2] = 4;
    assert_false(timeline_is_sound(&t));
    timeline_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_and_without_slots),       cmocka_unit_test(siblings_share_a_line),
        cmocka_unit_test(ties_by_rank_then_slot),        cmocka_unit_test(rearmed_timers_fire_once),
        cmocka_unit_test(extreme_keys_keep_their_order), cmocka_unit_test(grow_keeps_what_is_set),
        cmocka_unit_test(clear_leaves_the_slots),        cmocka_unit_test(random_operations_match_a_search),
        cmocka_unit_test(unsound_heaps_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
