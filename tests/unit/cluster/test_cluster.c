#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/cluster/cluster.h"

/* Small clusters whose every step is worked out by hand. Provisioning takes 180 s and GPUs another 20 s
 * unless a test says otherwise; scans are 10 s apart at a phase that the key decides. */

enum { KEY = 99 };

static struct node_pool_config pool(const char *name, int32_t gpus, int32_t min, int32_t max)
{
    struct node_pool_config config = {.name = name, .gpus = gpus, .min = min, .max = max};
    struct error err = {.code = ERROR_NONE};

    assert_int_equal(distribution_constant(&config.provision, 180, &err), 0);
    assert_int_equal(distribution_constant(&config.gpu_ready, 20, &err), 0);
    return config;
}

static struct cluster_config of(struct node_pool_config *pools, int32_t count)
{
    return (struct cluster_config){.pools = pools,
                                   .pool_count = count,
                                   .registry_bytes_per_s = INFINITY,
                                   .store_bytes_per_s = INFINITY,
                                   .scan_interval = 10 * SIM_SECOND,
                                   .scale_down_delay = 600 * SIM_SECOND};
}

static struct cluster *make(const struct cluster_config *config, const int32_t *initial, int32_t count)
{
    struct error err = {.code = ERROR_NONE};
    struct cluster *cluster;

    if (cluster_create(config, KEY, initial, count, &cluster, &err) < 0)
        fail_msg("%s", err.message);
    return cluster;
}

static void ask(struct cluster *cluster, sim_time now, uint32_t owner, int32_t gpus, int32_t priority)
{
    struct error err = {.code = ERROR_NONE};

    assert_int_equal(cluster_request(cluster, now, owner, gpus, priority, &err), 0);
}

static void advance(struct cluster *cluster, sim_time now)
{
    struct error err = {.code = ERROR_NONE};

    assert_int_equal(cluster_advance(cluster, now, &err), 0);
}

static void bound_next(struct cluster *cluster, uint32_t owner, int32_t node)
{
    uint32_t got = UINT32_MAX;
    int32_t where = -1;

    assert_true(cluster_bound(cluster, &got, &where));
    assert_int_equal(got, owner);
    assert_int_equal(where, node);
}

static void none_bound(struct cluster *cluster)
{
    uint32_t owner;
    int32_t node;

    assert_false(cluster_bound(cluster, &owner, &node));
}

static struct node_record record(const struct cluster *cluster, int32_t node, sim_time now)
{
    struct node_record got;

    cluster_node_record(cluster, node, now, &got);
    return got;
}

/* ---- placement ---- */

static void test_pack_and_spread(void **state)
{
    struct node_pool_config pools[] = {pool("a", 4, 3, 3)};
    struct cluster_config config = of(pools, 1);

    (void)state;
    for (int spread = 0; spread < 2; spread++) {
        static const int32_t packed[] = {0, 0, 0, 1, 0, 1}, spreading[] = {0, 1, 2, 0, 1, 2};
        struct cluster *cluster;

        config.spread = spread;
        cluster = make(&config, NULL, 0);
        /* packed: 1 1 1 fill node 0 but for one GPU, 2 goes to node 1, 1 to the last GPU of node 0, 2 fills
         * node 1 */
        for (uint32_t i = 0; i < 6; i++) {
            ask(cluster, 0, i, i == 3 || i == 5 ? 2 : 1, 0);
            bound_next(cluster, i, spread ? spreading[i] : packed[i]);
        }
        none_bound(cluster);
        cluster_free(cluster);
    }
}

/* Spread over two nodes, 2 + 2 GPUs are free, and 3 do not fit: fragmentation. */
static void test_fragmentation(void **state)
{
    struct node_pool_config pools[] = {pool("a", 4, 2, 2)};
    struct cluster_config config = of(pools, 1);
    struct cluster_gauges gauges;
    struct cluster *cluster;

    (void)state;
    config.spread = true;
    cluster = make(&config, NULL, 0);
    ask(cluster, 0, 0, 2, 0);
    ask(cluster, 0, 1, 2, 0);
    ask(cluster, 0, 2, 3, 0);
    bound_next(cluster, 0, 0);
    bound_next(cluster, 1, 1);
    none_bound(cluster);
    cluster_gauges(cluster, &gauges);
    assert_int_equal(gauges.gpus_allocatable - gauges.gpus_bound, 4);
    assert_int_equal(gauges.pods_pending, 1);
    assert_true(cluster_is_pending(cluster, 2));
    assert_true(cluster_limited(cluster, 2)); /* the pool is at max and nothing is on its way */
    cluster_release(cluster, SIM_SECOND, 1);
    bound_next(cluster, 2, 1);
    assert_false(cluster_is_pending(cluster, 2));
    assert_false(cluster_limited(cluster, 2));
    cluster_free(cluster);
}

/* ---- who is bound first ---- */

static void test_order_and_priority(void **state)
{
    struct node_pool_config pools[] = {pool("a", 4, 1, 1)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);

    (void)state;
    ask(cluster, 0, 10, 4, 0);
    bound_next(cluster, 10, 0);
    ask(cluster, 1, 11, 1, 0);
    ask(cluster, 2, 12, 1, 5);
    ask(cluster, 3, 13, 1, 0);
    ask(cluster, 4, 14, 1, 5);
    ask(cluster, 5, 15, 1, -1);
    cluster_release(cluster, 6, 10); /* four GPUs: both of priority 5, then both of 0 */
    bound_next(cluster, 12, 0);
    bound_next(cluster, 14, 0);
    bound_next(cluster, 11, 0);
    bound_next(cluster, 13, 0);
    none_bound(cluster);
    assert_true(cluster_is_pending(cluster, 15));
    cluster_free(cluster);
}

static void test_large_pod_blocks_nobody(void **state)
{
    struct node_pool_config pools[] = {pool("a", 4, 1, 1)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);

    (void)state;
    ask(cluster, 0, 0, 3, 0);
    bound_next(cluster, 0, 0);
    ask(cluster, 1, 1, 4, 9); /* first in line, and does not fit */
    ask(cluster, 2, 2, 1, 0); /* fits at once */
    bound_next(cluster, 2, 0);
    ask(cluster, 3, 3, 2, 0);
    cluster_release(cluster, 4, 0); /* three free: too few for 1, enough for 3 */
    bound_next(cluster, 3, 0);
    cluster_release(cluster, 5, 2);
    none_bound(cluster);
    cluster_release(cluster, 6, 3); /* all four */
    bound_next(cluster, 1, 0);
    cluster_free(cluster);
}

static void test_withdrawn_and_untold(void **state)
{
    struct node_pool_config pools[] = {pool("a", 1, 1, 1)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);

    (void)state;
    ask(cluster, 0, 0, 1, 0);
    ask(cluster, 0, 1, 1, 0);
    ask(cluster, 0, 2, 1, 0);
    cluster_release(cluster, 1, 1);  /* withdrawn */
    cluster_release(cluster, 1, 0);  /* bound, but given back before anybody heard */
    cluster_release(cluster, 1, 77); /* nobody */
    bound_next(cluster, 2, 0);
    none_bound(cluster);
    ask(cluster, 2, 1, 1, 0); /* may ask again */
    cluster_release(cluster, 3, 2);
    bound_next(cluster, 1, 0);
    cluster_free(cluster);
}

/* ---- nodes come and go ---- */

/* The first scan of a cluster made with KEY: what cluster_next says once a pod pends at 0. */
static sim_time first_scan(void)
{
    struct node_pool_config pools[] = {pool("a", 1, 0, 1)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);
    sim_time phase;

    assert_int_equal(cluster_next(cluster), SIM_NEVER);
    ask(cluster, 0, 0, 1, 0);
    phase = cluster_next(cluster);
    assert_true(phase >= 0 && phase < 10 * SIM_SECOND);
    cluster_free(cluster);
    return phase;
}

static void test_life_of_a_node(void **state)
{
    struct node_pool_config pools[] = {pool("a", 2, 0, 5)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);
    sim_time phase = first_scan();
    sim_time asked = 50 * SIM_SECOND;
    sim_time scan = phase + 50 * SIM_SECOND; /* the first at or after */
    sim_time there = scan + 200 * SIM_SECOND;
    sim_time gave_back = there + 1000 * SIM_SECOND;
    sim_time gone = gave_back + 600 * SIM_SECOND;
    struct cluster_gauges gauges;
    struct node_record life;

    (void)state;
    ask(cluster, asked, 3, 2, 0);
    none_bound(cluster);
    assert_false(cluster_limited(cluster, 3));
    assert_int_equal(cluster_next(cluster), scan);
    advance(cluster, scan);
    assert_int_equal(cluster_next(cluster), there); /* no scan until then: nothing to do */
    cluster_gauges(cluster, &gauges);
    assert_int_equal(gauges.nodes_launching, 1);
    assert_int_equal(gauges.nodes_ready, 0);
    assert_int_equal(gauges.gpus_total, 2);
    assert_int_equal(gauges.gpus_allocatable, 0);
    advance(cluster, there);
    bound_next(cluster, 3, 0);
    assert_int_equal(cluster_next(cluster), SIM_NEVER);
    cluster_gauges(cluster, &gauges);
    assert_int_equal(gauges.nodes_ready, 1);
    assert_int_equal(gauges.gpus_bound, 2);
    cluster_release(cluster, gave_back, 3);
    /* empty for 600 s, seen by the next scan on the grid: gave_back lies on it (phase + 1250 s), so does the
     * end of the delay */
    assert_int_equal(cluster_next(cluster), gone);
    advance(cluster, gone);
    assert_int_equal(cluster_next(cluster), SIM_NEVER);
    life = record(cluster, 0, gone + SIM_HOUR);
    assert_false(life.initial);
    assert_int_equal(life.launched, scan);
    assert_int_equal(life.ready, scan + 180 * SIM_SECOND);
    assert_int_equal(life.allocatable, there);
    assert_int_equal(life.terminated, gone);
    assert_int_equal(life.bound_gpu_ns, 2 * 1000 * SIM_SECOND);
    cluster_gauges(cluster, &gauges);
    assert_int_equal(gauges.gpus_total, 0);
    cluster_free(cluster);
}

/* A delay that ends between two scans waits for the next one; use in between starts it anew. */
static void test_scale_down_waits_for_a_scan(void **state)
{
    struct node_pool_config pools[] = {pool("a", 1, 0, 5)};
    struct cluster_config config = of(pools, 1);
    const int32_t one[] = {1};
    struct cluster *cluster = make(&config, one, 1);
    sim_time phase = first_scan();

    (void)state;
    ask(cluster, 0, 0, 1, 0);
    bound_next(cluster, 0, 0);
    cluster_release(cluster, phase + 100 * SIM_SECOND + 1, 0);
    assert_int_equal(cluster_next(cluster),
                     phase + 710 * SIM_SECOND); /* 700 s + 1 ns, rounded up to the grid */
    ask(cluster, phase + 300 * SIM_SECOND, 0, 1, 0);
    bound_next(cluster, 0, 0);
    assert_int_equal(cluster_next(cluster), SIM_NEVER);
    cluster_release(cluster, phase + 400 * SIM_SECOND, 0);
    assert_int_equal(cluster_next(cluster), phase + 1000 * SIM_SECOND);
    advance(cluster, phase + 1000 * SIM_SECOND);
    assert_int_equal(record(cluster, 0, SIM_HOUR).terminated, phase + 1000 * SIM_SECOND);
    cluster_free(cluster);
}

/* min 1, max 3, five pods of one GPU on nodes of one: two nodes are launched, two pods are at the limit. When
 * all is over, one node stays: of those empty for as long, the ones launched first go. */
static void test_min_and_max(void **state)
{
    struct node_pool_config pools[] = {pool("a", 1, 1, 3)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);
    struct cluster_gauges gauges;
    sim_time scan, there;

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        ask(cluster, 0, i, 1, 0);
    bound_next(cluster, 0, 0);
    none_bound(cluster);
    scan = cluster_next(cluster);
    advance(cluster, scan);
    cluster_gauges(cluster, &gauges);
    assert_int_equal(gauges.nodes_launching, 2);
    assert_int_equal(gauges.pods_pending, 4);
    for (uint32_t i = 1; i < 5; i++)
        assert_int_equal(cluster_limited(cluster, i), i >= 3);
    there = scan + 200 * SIM_SECOND;
    assert_int_equal(cluster_next(cluster), there);
    advance(cluster, there);
    bound_next(cluster, 1, 1);
    bound_next(cluster, 2, 2);
    none_bound(cluster);
    cluster_release(cluster, there + SIM_SECOND, 3);
    cluster_release(cluster, there + SIM_SECOND, 4);
    for (uint32_t i = 0; i < 3; i++)
        cluster_release(cluster, there + 10 * SIM_SECOND, i);
    assert_int_equal(cluster_next(cluster), there + 610 * SIM_SECOND);
    advance(cluster, there + 610 * SIM_SECOND);
    assert_int_equal(record(cluster, 0, SIM_HOUR).terminated, there + 610 * SIM_SECOND);
    assert_int_equal(record(cluster, 1, SIM_HOUR).terminated, there + 610 * SIM_SECOND);
    assert_int_equal(record(cluster, 2, SIM_HOUR).terminated, SIM_NEVER);
    assert_int_equal(cluster_next(cluster), SIM_NEVER);
    cluster_free(cluster);
}

/* Pods of 2 GPUs, nodes of 4: the scan counts what is on its way before it launches more. */
static void test_scan_counts_what_is_on_its_way(void **state)
{
    struct node_pool_config pools[] = {pool("a", 4, 0, 10)};
    struct cluster_config config = of(pools, 1);
    struct cluster *cluster = make(&config, NULL, 0);
    sim_time phase = first_scan();

    (void)state;
    ask(cluster, 0, 0, 2, 0);
    advance(cluster, phase);
    assert_int_equal(cluster_node_count(cluster), 1);
    ask(cluster, phase + 1, 1, 2, 0); /* fits beside the first */
    assert_int_equal(cluster_next(cluster), phase + 10 * SIM_SECOND);
    advance(cluster, phase + 10 * SIM_SECOND);
    assert_int_equal(cluster_node_count(cluster), 1);
    assert_int_equal(cluster_next(cluster), phase + 200 * SIM_SECOND);
    ask(cluster, phase + 15 * SIM_SECOND, 2, 3, 0);
    ask(cluster, phase + 16 * SIM_SECOND, 3, 2, 0);
    ask(cluster, phase + 16 * SIM_SECOND, 4, 1, 0); /* the fourth GPU of 2's node */
    advance(cluster, phase + 20 * SIM_SECOND);
    assert_int_equal(cluster_node_count(cluster), 3);
    advance(cluster, phase + 200 * SIM_SECOND);
    bound_next(cluster, 0, 0);
    bound_next(cluster, 1, 0);
    none_bound(cluster);
    advance(cluster, phase + 220 * SIM_SECOND);
    bound_next(cluster, 2, 1);
    bound_next(cluster, 4, 1); /* 3 wants two: node 1 has one left, 4 takes it */
    bound_next(cluster, 3, 2);
    none_bound(cluster);
    cluster_free(cluster);
}

/* The first pool that can hold a pod and has room: 2 GPUs never go to the pool of single ones, 1 does until
 * it is full. */
static void test_pools_in_order(void **state)
{
    struct node_pool_config pools[] = {pool("single", 1, 0, 2), pool("big", 8, 0, 1)};
    struct cluster_config config = of(pools, 2);
    struct cluster *cluster = make(&config, NULL, 0);
    struct error err = {.code = ERROR_NONE};
    int32_t nodes, bound;

    (void)state;
    ask(cluster, 0, 0, 2, 0); /* the big node, and six of the others with it */
    for (uint32_t i = 1; i < 10; i++)
        ask(cluster, 0, i, 1, 0);
    advance(cluster, cluster_next(cluster));
    assert_int_equal(cluster_node_count(cluster), 3);
    assert_int_equal(cluster_node_pool(cluster, 0), 1);
    assert_int_equal(cluster_node_pool(cluster, 1), 0);
    assert_int_equal(cluster_node_pool(cluster, 2), 0);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(cluster_limited(cluster, i), i == 9);
    cluster_pool_gauges(cluster, 0, &nodes, &bound);
    assert_int_equal(nodes, 2);
    assert_int_equal(bound, 0);
    cluster_free(cluster);

    cluster = make(&config, NULL, 0);
    assert_int_equal(cluster_request(cluster, 0, 0, 9, 0, &err), -1);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_non_null(strstr(err.message, "9 GPUs"));
    cluster_free(cluster);
}

/* Provisioning is drawn by node number: the k-th node takes as long under every strategy, whatever came
 * before. */
static void test_provisioning_by_number(void **state)
{
    struct node_pool_config pools[] = {pool("a", 1, 0, 10)};
    struct cluster_config config = of(pools, 1);
    struct error err = {.code = ERROR_NONE};
    sim_time takes[2][3];

    (void)state;
    assert_int_equal(distribution_lognormal_quantiles(&pools[0].provision, 180, 480, &err), 0);
    for (int late = 0; late < 2; late++) {
        struct cluster *cluster = make(&config, NULL, 0);
        sim_time now = 0;

        for (uint32_t i = 0; i < 3; i++) {
            ask(cluster, now, i, 1, 0);
            if (late)
                advance(cluster, cluster_next(cluster)); /* each in a scan of its own */
            now += late ? 100 * SIM_SECOND : 0;
        }
        advance(cluster, cluster_next(cluster));
        for (int32_t i = 0; i < 3; i++) {
            struct node_record life = record(cluster, i, 0);

            takes[late][i] = life.ready - life.launched;
            assert_int_equal(life.allocatable - life.ready, 20 * SIM_SECOND);
        }
        cluster_free(cluster);
    }
    assert_memory_equal(takes[0], takes[1], sizeof takes[0]);
    assert_int_not_equal(takes[0][0], takes[0][1]);
}

/* ---- t = 0 ---- */

static void test_initial_nodes(void **state)
{
    struct node_pool_config pools[] = {pool("small", 2, 1, 2), pool("big", 8, 0, 2)};
    struct cluster_config config = of(pools, 2);
    const int32_t gpus[] = {1, 1, 2, 4, 1};
    static const int32_t nodes[] = {0, 0, 1, 2,
                                    2}; /* the fifth: both small ones are full, the big one has four left */
    struct cluster *cluster = make(&config, gpus, 5);

    (void)state;
    assert_int_equal(cluster_node_count(cluster), 3);
    assert_int_equal(cluster_node_pool(cluster, 1), 0);
    assert_int_equal(cluster_node_pool(cluster, 2), 1);
    for (uint32_t i = 0; i < 5; i++) {
        ask(cluster, 0, i, gpus[i], 0);
        bound_next(cluster, i, nodes[i]);
    }
    for (int32_t i = 0; i < 3; i++) {
        struct node_record life = record(cluster, i, 0);

        assert_true(life.initial);
        assert_int_equal(life.allocatable, 0);
    }
    cluster_free(cluster);
}

/* Spreading 1, 1 and 8 over two nodes of 8 would leave no room for the 8 if each of the first two took a node
 * of its own: they stay together. 4 pods of 1 spread over the two nodes of min. */
static void test_initial_spread(void **state)
{
    struct node_pool_config pools[] = {pool("a", 8, 1, 2)};
    struct cluster_config config = of(pools, 1);
    const int32_t gpus[] = {1, 1, 8}, ones[] = {1, 1, 1, 1};
    struct cluster *cluster;

    (void)state;
    config.spread = true;
    cluster = make(&config, gpus, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ask(cluster, 0, i, gpus[i], 0);
        bound_next(cluster, i, i < 2 ? 0 : 1);
    }
    cluster_free(cluster);
    pools[0].min = 2;
    cluster = make(&config, ones, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ask(cluster, 0, i, 1, 0);
        bound_next(cluster, i, (int32_t)i % 2);
    }
    cluster_free(cluster);
}

static void test_initial_does_not_fit(void **state)
{
    struct node_pool_config pools[] = {pool("a", 4, 0, 2)};
    struct cluster_config config = of(pools, 1);
    const int32_t gpus[] = {3, 3, 3};
    struct error err = {.code = ERROR_NONE};
    struct cluster *cluster;

    (void)state;
    assert_int_equal(cluster_create(&config, KEY, gpus, 3, &cluster, &err), -1);
    assert_null(cluster);
    assert_int_equal(err.code, ERROR_INPUT);
    assert_non_null(strstr(err.message, "number 3 of 3"));
    assert_non_null(strstr(err.message, "\"max\""));
}

/* ---- accounts ---- */

/* 500 pods come and go over an hour on a cluster that follows; GPU-time by node adds up to GPU-time by pod,
 * and no node holds more than it has. */
static void test_accounts_add_up(void **state)
{
    enum { PODS = 40, STEPS = 5000 };
    struct node_pool_config pools[] = {pool("a", 4, 1, 5), pool("b", 8, 0, 3)};
    struct cluster_config config = of(pools, 2);
    struct cluster *cluster = make(&config, NULL, 0);
    struct error err = {.code = ERROR_NONE};
    sim_time since[PODS], now = 0, marked = 0;
    int32_t gpus[PODS] = {0}, asked = 0; /* gpus[i] != 0: asked */
    int64_t by_pod = 0, by_node = 0, by_mark = 0, bound_at_mark = 0;
    bool is_bound[PODS] = {false};
    struct stream stream;

    (void)state;
    config.scale_down_delay = 60 * SIM_SECOND;
    assert_int_equal(stream_open(&stream, random_key(20261204, "cluster", "test", 0), &err), 0);
    for (int step = 0; step < STEPS; step++) {
        uint32_t owner = (uint32_t)(stream_uniform(&stream) * PODS), told;
        sim_time next = now + (sim_time)(stream_uniform(&stream) * 10e9);
        struct cluster_gauges gauges;
        int32_t node;

        while (cluster_next(cluster) <= next) {
            now = cluster_next(cluster);
            advance(cluster, now);
            while (cluster_bound(cluster, &told, &node)) {
                is_bound[told] = true;
                since[told] = now;
            }
        }
        now = next;
        if (step == STEPS / 2) {
            cluster_mark(cluster, now);
            marked = now;
            for (int i = 0; i < PODS; i++)
                bound_at_mark += is_bound[i] ? gpus[i] * (now - since[i]) : 0;
            bound_at_mark += by_pod;
        }
        if (gpus[owner]) {
            by_pod += is_bound[owner] ? gpus[owner] * (now - since[owner]) : 0;
            cluster_release(cluster, now, owner);
            gpus[owner] = 0;
            is_bound[owner] = false;
        } else {
            gpus[owner] = 1 + (int32_t)(stream_uniform(&stream) * 8);
            ask(cluster, now, owner, gpus[owner], (int32_t)(stream_uniform(&stream) * 3));
            asked++;
        }
        while (cluster_bound(cluster, &told, &node)) {
            is_bound[told] = true;
            since[told] = now;
        }
        cluster_gauges(cluster, &gauges);
        assert_true(gauges.gpus_bound <= gauges.gpus_allocatable);
        assert_true(gauges.gpus_total <= 5 * 4 + 3 * 8);
        for (int i = 0; i < PODS; i++)
            gauges.gpus_bound -= is_bound[i] ? gpus[i] : 0;
        assert_int_equal(gauges.gpus_bound, 0);
    }
    for (int i = 0; i < PODS; i++)
        by_pod += is_bound[i] ? gpus[i] * (now - since[i]) : 0;
    for (int32_t i = 0; i < cluster_node_count(cluster); i++) {
        struct node_record life = record(cluster, i, now);
        sim_time end = life.terminated < now ? life.terminated : now;

        by_node += life.bound_gpu_ns;
        by_mark += life.marked_gpu_ns;
        assert_true(life.bound_gpu_ns >= 0);
        if (life.allocatable < end)
            assert_true(life.bound_gpu_ns <= pools[life.pool].gpus * (end - life.allocatable));
    }
    assert_true(asked > 2000);
    assert_true(marked > 0);
    assert_true(cluster_node_count(cluster) > 10); /* nodes came and went */
    assert_int_equal(by_node, by_pod);
    assert_int_equal(by_mark, by_pod - bound_at_mark);
    stream_close(&stream);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pack_and_spread),
        cmocka_unit_test(test_fragmentation),
        cmocka_unit_test(test_order_and_priority),
        cmocka_unit_test(test_large_pod_blocks_nobody),
        cmocka_unit_test(test_withdrawn_and_untold),
        cmocka_unit_test(test_life_of_a_node),
        cmocka_unit_test(test_scale_down_waits_for_a_scan),
        cmocka_unit_test(test_min_and_max),
        cmocka_unit_test(test_scan_counts_what_is_on_its_way),
        cmocka_unit_test(test_pools_in_order),
        cmocka_unit_test(test_provisioning_by_number),
        cmocka_unit_test(test_initial_nodes),
        cmocka_unit_test(test_initial_spread),
        cmocka_unit_test(test_initial_does_not_fit),
        cmocka_unit_test(test_accounts_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
