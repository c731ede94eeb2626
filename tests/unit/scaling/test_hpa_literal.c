/*
 * hpa_propose adds up groups of pods in one pass. Here the same rules are carried out the long way, as they
 * are written: a list of samples from which some are dropped and to which others are put back, over which the
 * ratio is taken twice. Random pods, with values up to the edge of int64, strays, missing requests and ratios
 * of exactly 1, must give the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <math.h>

#include "models/scaling/hpa.h"

enum { PODS = 12, STRAYS = 3, ENTRIES = PODS + STRAYS, CASES = 40000 };

#define S SIM_SECOND

/* A fixed stream: the test must fail for the same case everywhere (Knuth's MMIX constants). */
struct stream {
    uint64_t state;
};

static int below(struct stream *stream, int n)
{
    stream->state = stream->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((stream->state >> 33) % (uint64_t)n);
}

struct entry {
    int64_t value;
    int64_t request;
    bool known; /* of a pod that exists */
};

struct literal {
    struct entry entries[ENTRIES];
    size_t count;
    const struct hpa_metric *metric;
};

static void put(struct literal *map, int64_t value, int64_t request, bool known)
{
    map->entries[map->count++] = (struct entry){value, request, known};
}

/* False: no sample of a known pod with a request. */
static bool ratio_of(const struct literal *map, double *ratio, int32_t *utilization, int64_t *average)
{
    uint64_t usage = 0, request = 0;
    int64_t entries = 0;

    for (size_t i = 0; i < map->count; i++) {
        const struct entry *e = &map->entries[i];

        if (map->metric->target_kind == HPA_TARGET_UTILIZATION && !e->known)
            continue;
        usage += (uint64_t)e->value;
        request += (uint64_t)e->request;
        entries++;
    }
    if (map->metric->target_kind == HPA_TARGET_UTILIZATION) {
        if (request == 0 || entries == 0)
            return false;
        *utilization = (int32_t)(uint32_t)((int64_t)(usage * 100) / (int64_t)request);
        *average = (int64_t)usage / entries;
        *ratio = (double)*utilization / (double)map->metric->target;
    } else {
        *average = (int64_t)usage / entries;
        *ratio = (double)*average / (double)map->metric->target;
    }
    return true;
}

static int32_t ceil_replicas(double x)
{
    double up = ceil(x);

    return up >= INT32_MAX ? INT32_MAX : up <= INT32_MIN ? INT32_MIN : (int32_t)up;
}

struct problem {
    struct hpa_controller controller;
    struct hpa_metric metric;
    struct hpa_pod pods[PODS];
    struct hpa_sample samples[PODS];
    int64_t strays[STRAYS];
    size_t pod_count, stray_count;
    int32_t current;
};

static enum hpa_metric_error solve(const struct problem *p, int32_t *replicas)
{
    bool cpu = p->metric.cpu && p->metric.source != HPA_SOURCE_PODS, any_request_absent = false;
    struct literal map = {.metric = &p->metric};
    enum hpa_group groups[PODS];
    int counted = 0, unready = 0, missing = 0, samples = (int)p->stray_count;
    double r, r2;
    int32_t utilization;
    int64_t average;
    bool up_with_unready;

    for (size_t i = 0; i < p->pod_count; i++) {
        groups[i] = hpa_pod_group(&p->controller, cpu, 0, &p->pods[i], &p->samples[i]);
        counted += groups[i] == HPA_GROUP_COUNTS;
        unready += groups[i] == HPA_GROUP_UNREADY;
        missing += groups[i] == HPA_GROUP_MISSING;
        samples += p->samples[i].present;
        any_request_absent |= p->pods[i].request_milli == HPA_NO_REQUEST;
        if (groups[i] == HPA_GROUP_COUNTS)
            put(&map, p->samples[i].value_milli, p->pods[i].request_milli, true);
    }
    for (size_t i = 0; i < p->stray_count; i++)
        put(&map, p->strays[i], 0, false);
    if (samples == 0)
        return HPA_METRIC_NO_SAMPLES;
    if (p->pod_count == 0)
        return HPA_METRIC_NO_PODS;
    if (map.count == 0)
        return HPA_METRIC_ALL_DISCARDED;
    if (p->metric.target_kind == HPA_TARGET_UTILIZATION && any_request_absent)
        return HPA_METRIC_NO_REQUEST;
    if (!ratio_of(&map, &r, &utilization, &average))
        return HPA_METRIC_NO_MATCH;
    up_with_unready = unready > 0 && r > 1;
    if (!up_with_unready && missing == 0) {
        *replicas = hpa_tolerance_within(&p->controller.tolerance, r) ? p->current
                                                                      : ceil_replicas(r * counted);
        return HPA_METRIC_OK;
    }
    for (size_t i = 0; i < p->pod_count; i++) {
        int64_t request = p->pods[i].request_milli, fill = p->metric.target;

        if (p->metric.target_kind == HPA_TARGET_UTILIZATION)
            fill = (int64_t)((uint64_t)request *
                             (uint64_t)(p->metric.target > 100 ? p->metric.target : 100)) /
                   100;
        if (groups[i] == HPA_GROUP_MISSING && r < 1)
            put(&map, fill, request, true);
        if (groups[i] == HPA_GROUP_MISSING && r > 1)
            put(&map, 0, request, true);
        if (groups[i] == HPA_GROUP_UNREADY && up_with_unready)
            put(&map, 0, request, true);
    }
    if (!ratio_of(&map, &r2, &utilization, &average))
        return HPA_METRIC_NO_MATCH;
    *replicas = ceil_replicas(r2 * (double)map.count);
    if (hpa_tolerance_within(&p->controller.tolerance, r2) || (r < 1 && r2 > 1) || (r > 1 && r2 < 1) ||
        (r2 < 1 && *replicas > p->current) || (r2 > 1 && *replicas < p->current))
        *replicas = p->current;
    return HPA_METRIC_OK;
}

static int64_t random_value(struct stream *stream, int64_t target)
{
    switch (below(stream, 8)) {
    case 0:
        return target; /* ratios of exactly 1 */
    case 1:
        return 0;
    case 2:
        return below(stream, 400) == 0 ? INT64_MAX - below(stream, 5) : target + 1;
    default:
        return below(stream, 3 * (int)target + 1);
    }
}

static void random_problem(struct stream *stream, struct problem *p)
{
    static const int64_t targets[] = {1, 10, 70, 80, 100, 150, 1000};
    static const enum hpa_source sources[] = {HPA_SOURCE_RESOURCE, HPA_SOURCE_CONTAINER_RESOURCE,
                                              HPA_SOURCE_PODS};
    int64_t scale;

    *p = (struct problem){.pod_count = (size_t)below(stream, PODS + 1),
                          .stray_count = (size_t)(below(stream, 5) == 0 ? below(stream, STRAYS + 1) : 0)};
    hpa_controller_defaults(&p->controller);
    p->controller.tolerance.up = below(stream, 4) * 0.1;
    p->controller.tolerance.down = below(stream, 4) * 0.1;
    p->controller.tolerance.form = below(stream, 4) == 0 ? HPA_TOLERANCE_DISTANCE : HPA_TOLERANCE_BAND;
    p->metric.source = sources[below(stream, 3)];
    p->metric.cpu = below(stream, 2) == 0;
    p->metric.target = targets[below(stream, 7)];
    p->metric.target_kind = HPA_TARGET_AVERAGE_VALUE;
    if (p->metric.source != HPA_SOURCE_PODS && below(stream, 2) == 0)
        p->metric.target_kind = HPA_TARGET_UTILIZATION;
    scale = p->metric.target_kind == HPA_TARGET_UTILIZATION ? 10 * p->metric.target : p->metric.target;
    p->current = below(stream, PODS + 3);
    for (size_t i = 0; i < p->pod_count; i++) {
        sim_time age = below(stream, 700) * S;

        p->pods[i] = (struct hpa_pod){
            .start = below(stream, 20) == 0 ? HPA_UNSET : -age,
            .ready_transition = below(stream, 20) == 0 ? HPA_UNSET : -age + below(stream, 60) * S,
            .request_milli = below(stream, 60) == 0   ? HPA_NO_REQUEST
                             : below(stream, 30) == 0 ? 0
                                                      : 1000 + below(stream, 7),
            .phase = below(stream, 4) == 0 ? (enum hpa_phase)below(stream, 4) : HPA_RUNNING,
            .deleted = below(stream, 15) == 0,
            .ready = below(stream, 4) != 0,
        };
        p->samples[i] = (struct hpa_sample){.value_milli = random_value(stream, scale),
                                            .timestamp = -below(stream, 30) * S,
                                            .window = below(stream, 30) * S,
                                            .present = below(stream, 6) != 0};
    }
    for (size_t i = 0; i < p->stray_count; i++)
        p->strays[i] = random_value(stream, scale);
}

static void one_pass_equals_the_long_way(void **cmocka)
{
    struct stream stream = {.state = 20261201};
    int errors[HPA_METRIC_INVALID + 1] = {0}, filled = 0;

    (void)cmocka;
    for (int i = 0; i < CASES; i++) {
        struct hpa_proposal proposal;
        struct hpa_reading reading;
        struct hpa_view view;
        struct problem p;
        enum hpa_metric_error error;
        int32_t replicas = 0;

        random_problem(&stream, &p);
        reading = (struct hpa_reading){
            .samples = p.samples, .stray_milli = p.strays, .stray_count = p.stray_count};
        view = (struct hpa_view){.spec_replicas = p.current,
                                 .status_replicas = p.current,
                                 .pods = p.pods,
                                 .pod_count = p.pod_count,
                                 .readings = &reading};
        hpa_propose(&p.controller, &p.controller.tolerance, &p.metric, &view, &reading, &proposal);
        error = solve(&p, &replicas);
        if (error != proposal.error || (error == HPA_METRIC_OK && replicas != proposal.replicas))
            fail_msg("case %d: the long way gives error %d, %d replicas; hpa_propose %d, %d", i, error,
                     replicas, proposal.error, proposal.replicas);
        errors[proposal.error]++;
        filled += error == HPA_METRIC_OK && proposal.missing > 0;
    }
    /* Every outcome that pods can cause occurred, often enough to mean something. */
    for (int error = HPA_METRIC_OK; error <= HPA_METRIC_NO_MATCH; error++)
        assert_true(error == HPA_METRIC_FETCH_FAILED || errors[error] >= 20);
    assert_true(errors[HPA_METRIC_OK] > CASES / 2 && filled > CASES / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_pass_equals_the_long_way)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
