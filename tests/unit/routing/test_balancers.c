#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/routing/balancers.h"
#include "models/routing/replica_set.h"

static struct job job_of(uint64_t number)
{
    return (struct job){.request = number, .luck = random_hash(number)};
}

static uint32_t pick(struct balancer *balancer, uint64_t number)
{
    struct job job = job_of(number);

    return balancer->type->pick(balancer, &job);
}

static struct balancer *open_balancer(const struct balancer_type *type)
{
    struct error err = {0};
    struct balancer *balancer = type->create(&err);

    assert_non_null(balancer);
    assert_ptr_equal(balancer->type, type);
    return balancer;
}

static void add(struct balancer *balancer, uint32_t replica, int32_t outstanding)
{
    struct error err = {0};

    assert_int_equal(balancer->type->add(balancer, replica, outstanding, &err), 0);
}

static uint64_t below(struct stream *stream, uint64_t limit)
{
    return stream_bits(stream) % limit;
}

/* What all have in common, under random adds, removes and changes: only a present one is picked, nobody from
 * none, and the same calls give the same picks. */
static void test_only_present_ones(void **state)
{
    enum { INDICES = 300, STEPS = 20000 };

    (void)state;
    for (const struct balancer_type *const *type = balancer_types(); *type; type++) {
        struct balancer *one = open_balancer(*type), *two = open_balancer(*type);
        bool present[INDICES] = {false};
        int count = 0, picked = 0;
        struct stream stream;
        struct error err = {0};

        assert_int_equal(pick(one, 1), UINT32_MAX);
        assert_int_equal(stream_open(&stream, random_key(20261201, "test", "balancers", 0), &err), 0);
        for (int step = 0; step < STEPS; step++) {
            uint32_t replica = (uint32_t)below(&stream, INDICES), chosen;
            int32_t outstanding = (int32_t)below(&stream, 5);
            /* phases of growth and of shrinking, down to none at all */
            bool grow = below(&stream, 100) < (step / 2000 % 2 ? 20 : 80);

            switch (below(&stream, 3)) {
            case 0:
                if (grow && !present[replica]) {
                    add(one, replica, outstanding);
                    add(two, replica, outstanding);
                    present[replica] = true;
                    count++;
                } else if (!grow) {
                    (*type)->remove(one, replica); /* of an absent one: nothing happens */
                    (*type)->remove(two, replica);
                    count -= present[replica];
                    present[replica] = false;
                }
                break;
            case 1:
                (*type)->changed(one, replica, outstanding);
                (*type)->changed(two, replica, outstanding);
                break;
            default:
                chosen = pick(one, (uint64_t)step);
                assert_int_equal(pick(two, (uint64_t)step), chosen);
                if (count == 0) {
                    assert_int_equal(chosen, UINT32_MAX);
                } else {
                    assert_in_range(chosen, 0, INDICES - 1);
                    assert_true(present[chosen]);
                    picked++;
                }
            }
        }
        assert_true(picked > STEPS / 10);
        (*type)->changed(one, 100000, 3); /* never heard of */
        (*type)->remove(one, 100000);
        stream_close(&stream);
        (*type)->destroy(one);
        (*type)->destroy(two);
    }
}

/* Against a scan of all: fewest outstanding, then least recently picked (never: first), then the lowest
 * index. */
static void test_least_outstanding(void **state)
{
    enum { INDICES = 100, STEPS = 30000 };
    struct balancer *balancer = open_balancer(&balancer_least_outstanding);
    struct {
        bool present;
        int32_t outstanding;
        int64_t last;
    } naive[INDICES];
    struct stream stream;
    struct error err = {0};

    (void)state;
    memset(naive, 0, sizeof naive);
    assert_int_equal(stream_open(&stream, random_key(20261201, "test", "balancers", 1), &err), 0);
    for (int step = 1; step <= STEPS; step++) {
        uint32_t r = (uint32_t)below(&stream, INDICES), best = UINT32_MAX;

        switch (below(&stream, 8)) {
        case 0:
            if (naive[r].present)
                break;
            naive[r].present = true;
            naive[r].outstanding = (int32_t)below(&stream, 3);
            naive[r].last = 0;
            add(balancer, r, naive[r].outstanding);
            break;
        case 1:
            if (below(&stream, 2))
                break;
            naive[r].present = false;
            balancer->type->remove(balancer, r);
            break;
        case 2:
        case 3:
        case 4: /* one of its requests ended */
            if (naive[r].present && naive[r].outstanding > 0)
                balancer->type->changed(balancer, r, --naive[r].outstanding);
            break;
        default:
            for (uint32_t i = 0; i < INDICES; i++) {
                if (!naive[i].present)
                    continue;
                if (best == UINT32_MAX || naive[i].outstanding < naive[best].outstanding ||
                    (naive[i].outstanding == naive[best].outstanding && naive[i].last < naive[best].last))
                    best = i;
            }
            assert_int_equal(pick(balancer, (uint64_t)step), best);
            if (best == UINT32_MAX)
                break;
            naive[best].last = step;
            /* now and then the request is turned away: the pick counts, outstanding stays */
            if (below(&stream, 10))
                balancer->type->changed(balancer, best, ++naive[best].outstanding);
        }
    }
    stream_close(&stream);
    balancer->type->destroy(balancer);
}

/* Idle replicas take turns: ties are not always won by the lowest index. */
static void test_least_outstanding_ties(void **state)
{
    struct balancer *balancer = open_balancer(&balancer_least_outstanding);
    const uint32_t expected[] = {2, 5, 9, 2, 5, 9};

    (void)state;
    add(balancer, 5, 0);
    add(balancer, 9, 0);
    add(balancer, 2, 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(pick(balancer, i), expected[i]);
    add(balancer, 7, 1); /* never picked, but it has one */
    assert_int_equal(pick(balancer, 6), 2);
    balancer->type->changed(balancer, 7, 0);
    assert_int_equal(pick(balancer, 7), 7);
    assert_int_equal(pick(balancer, 8), 5);
    balancer->type->destroy(balancer);
}

/*
 * The round in the order of adding, with changes in the middle of it; who is to come next is marked by ^.
 */
static void test_round_robin(void **state)
{
    struct balancer *b = open_balancer(&balancer_round_robin);

    (void)state;
    add(b, 4, 0);
    add(b, 1, 0);
    add(b, 30, 0);
    assert_int_equal(pick(b, 0), 4);
    assert_int_equal(pick(b, 0), 1); /* 4 1 ^30 */
    b->type->remove(b, 1);           /* the one that was just picked: 4 ^30 */
    assert_int_equal(pick(b, 0), 30);
    assert_int_equal(pick(b, 0), 4);
    add(b, 2, 0);                    /* 4 ^30 2 */
    b->type->remove(b, 30);          /* whose turn it was: 4 ^2 */
    assert_int_equal(pick(b, 0), 2); /* 4 2 ^ */
    add(b, 3, 0);                    /* at the end of the round, which is where we are: 4 2 ^3 */
    assert_int_equal(pick(b, 0), 3);
    assert_int_equal(pick(b, 0), 4);
    assert_int_equal(pick(b, 0), 2);
    b->type->remove(b, 3); /* the end of the round: 4 2 ^ */
    assert_int_equal(pick(b, 0), 4);
    b->type->remove(b, 4); /* ^2 */
    b->type->remove(b, 2);
    assert_int_equal(pick(b, 0), UINT32_MAX);
    add(b, 4, 0); /* comes back under its old index */
    add(b, 2, 0);
    assert_int_equal(pick(b, 0), 4);
    assert_int_equal(pick(b, 0), 2);
    assert_int_equal(pick(b, 0), 4);
    b->type->destroy(b);
}

/* Without changes everybody gets the same number, whatever is outstanding. */
static void test_round_robin_is_even(void **state)
{
    struct balancer *b = open_balancer(&balancer_round_robin);
    int counts[50] = {0};

    (void)state;
    for (uint32_t i = 0; i < 50; i++)
        add(b, i, (int32_t)i);
    for (int i = 0; i < 50 * 20; i++)
        counts[pick(b, 0)]++;
    for (int i = 0; i < 50; i++)
        assert_int_equal(counts[i], 20);
    b->type->destroy(b);
}

/*
 * 7 replicas, 70,000 requests: each 10,000 with variance 70,000 x 1/7 x 6/7. Pearson's statistic has 6
 * degrees of freedom; its 99.99 % point is 27.86 (the luck is fixed, so this passes always or never). A retry
 * chooses anew: 1 in 7 falls on the same.
 */
static void test_random(void **state)
{
    enum { REPLICAS = 7, REQUESTS = 70000 };
    struct balancer *b = open_balancer(&balancer_random);
    int counts[REPLICAS] = {0}, same = 0;
    double statistic = 0;

    (void)state;
    for (uint32_t i = 0; i < REPLICAS; i++)
        add(b, i, 0);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        struct job job = job_of(i);
        uint32_t first = b->type->pick(b, &job);

        assert_int_equal(b->type->pick(b, &job), first); /* a hash, not a draw */
        job.attempt = 1;
        same += b->type->pick(b, &job) == first;
        counts[first]++;
    }
    for (int i = 0; i < REPLICAS; i++) {
        double off = counts[i] - (double)REQUESTS / REPLICAS;

        statistic += off * off / ((double)REQUESTS / REPLICAS);
    }
    assert_true(statistic < 27.86);
    assert_true(abs(same - REQUESTS / REPLICAS) < 4 * 93); /* sd of a binomial: sqrt(70000 x 6 / 49) = 92.6 */
    b->type->destroy(b);
}

/*
 * All different: of n replicas the one of rank k (0: the least) is picked if it is drawn
 * with any of the n - 1 - k above it: (n - 1 - k) / C(n, 2). The most loaded never is. 21 pairs for n = 7.
 */
static void test_power_of_two(void **state)
{
    enum { REPLICAS = 7, REQUESTS = 63000 };
    struct balancer *b = open_balancer(&balancer_power_of_two);
    int counts[REPLICAS] = {0};

    (void)state;
    add(b, 3, 0);
    assert_int_equal(pick(b, 1), 3); /* alone: no second one to compare */
    b->type->remove(b, 3);
    for (uint32_t i = 0; i < REPLICAS; i++)
        add(b, i, 0);
    for (int order = 0; order < 2; order++) { /* ascending and descending by index */
        memset(counts, 0, sizeof counts);
        for (uint32_t i = 0; i < REPLICAS; i++)
            b->type->changed(b, i, (int32_t)(order ? REPLICAS - 1 - i : i));
        for (uint64_t i = 0; i < REQUESTS; i++) {
            int chosen = (int)pick(b, i);

            counts[order ? REPLICAS - 1 - chosen : chosen]++;
        }
        assert_int_equal(counts[REPLICAS - 1], 0);
        for (int k = 0; k < REPLICAS; k++) /* sd at most sqrt(63000 x 2/7 x 5/7) = 113 */
            assert_true(abs(counts[k] - (REPLICAS - 1 - k) * REQUESTS / 21) < 4 * 113);
    }
    /* with all equal the first of the two: each 1 in 7, sd sqrt(63000 x 6 / 49) = 88 */
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < REPLICAS; i++)
        b->type->changed(b, i, 4);
    for (uint64_t i = 0; i < REQUESTS; i++)
        counts[pick(b, i)]++;
    for (int k = 0; k < REPLICAS; k++)
        assert_true(abs(counts[k] - REQUESTS / REPLICAS) < 4 * 88);
    b->type->destroy(b);
}

/* Swap-removal: the last fills the gap; positions and members agree. */
static void test_replica_set(void **state)
{
    struct replica_set set = {0};
    struct error err = {0};

    (void)state;
    for (uint32_t i = 0; i < 40; i += 10)
        assert_int_equal(replica_set_add(&set, i, &err), 0); /* 0 10 20 30 */
    replica_set_remove(&set, 10);
    assert_int_equal(set.count, 3);
    assert_int_equal(set.member[1], 30);
    assert_false(replica_set_has(&set, 10));
    assert_false(replica_set_has(&set, 1000000));
    replica_set_remove(&set, 10);
    replica_set_remove(&set, 20); /* the last one itself */
    assert_int_equal(set.count, 2);
    assert_int_equal(replica_set_add(&set, 10, &err), 0);
    for (uint32_t i = 0; i < set.count; i++)
        assert_int_equal(set.position[set.member[i]], i);
    assert_int_equal(replica_capacity(0), 16);
    assert_int_equal(replica_capacity(16), 32);
    assert_int_equal(replica_capacity(UINT32_MAX), 0);
    replica_set_free(&set);
}

static void test_registry(void **state)
{
    static const char *const names[] = {"least-outstanding", "round-robin", "random", "power-of-two"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(balancer_types()[i]);
        assert_string_equal(balancer_types()[i]->name, names[i]);
        assert_true(strlen(balancer_types()[i]->help) > 10);
    }
    assert_null(balancer_types()[4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_present_ones),
        cmocka_unit_test(test_least_outstanding),
        cmocka_unit_test(test_least_outstanding_ties),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_round_robin_is_even),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_power_of_two),
        cmocka_unit_test(test_replica_set),
        cmocka_unit_test(test_registry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
