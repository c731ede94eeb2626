/* One tick of the HPA over 1,000 pods: what a reconcile costs the simulator. Prints; never judges. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/scaling/hpa.h"

enum { PODS = 1000, TICKS = 2000 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct load {
    struct hpa_pod pods[PODS];
    struct hpa_sample samples[PODS];
};

/* A fleet in which some start, some have no sample, and usage swings around the target, so that every branch
 * is taken. */
static void load_fill(struct load *load)
{
    for (int i = 0; i < PODS; i++) {
        load->pods[i] = (struct hpa_pod){.start = (sim_time)i * 30 * SIM_SECOND,
                                         .ready_transition = (sim_time)i * 30 * SIM_SECOND + 20 * SIM_SECOND,
                                         .request_milli = 4000,
                                         .phase = i % 17 == 0 ? HPA_PENDING : HPA_RUNNING,
                                         .ready = i % 13 != 0};
        load->samples[i] = (struct hpa_sample){.value_milli = 1500 + i % 700,
                                               .timestamp = -5 * SIM_SECOND,
                                               .window = 15 * SIM_SECOND,
                                               .present = i % 29 != 0};
    }
}

static void bench(const char *name, enum hpa_source source, enum hpa_target kind, int64_t target,
                  struct load *load)
{
    struct hpa_controller controller;
    struct hpa_spec spec;
    struct hpa_state state;
    struct hpa_reading reading = {.samples = load->samples};
    struct hpa_view view = {.pods = load->pods,
                            .pod_count = PODS,
                            .readings = &reading,
                            .spec_replicas = PODS,
                            .status_replicas = PODS};
    struct hpa_proposal proposal;
    struct hpa_decision decision = {.replicas = PODS};
    int64_t check = 0;
    double start;

    hpa_controller_defaults(&controller);
    hpa_spec_init(&spec);
    spec.max = 4 * PODS;
    spec.behavior = true;
    spec.metrics[spec.metric_count++] = (struct hpa_metric){
        .source = source, .target_kind = kind, .cpu = source == HPA_SOURCE_RESOURCE, .target = target};
    hpa_spec_default(&spec);
    hpa_state_init(&state);
    start = now_ns();
    for (int tick = 0; tick < TICKS; tick++) {
        view.now = tick * 15 * SIM_SECOND;
        view.spec_replicas = PODS + tick % 7;
        if (hpa_reconcile(&controller, &spec, &state, &view, &proposal, &decision, NULL) != 0)
            exit(1);
        check += decision.replicas;
    }
    printf("%-24s %8.0f ns a tick of %d pods, %zu recommendations kept (check %lld)\n", name,
           (now_ns() - start) / TICKS, PODS, state.recommendations.count, (long long)check);
    hpa_state_free(&state);
}

int main(void)
{
    struct load *load = calloc(1, sizeof *load);

    if (load == NULL)
        return 1;
    load_fill(load);
    bench("cpu utilization", HPA_SOURCE_RESOURCE, HPA_TARGET_UTILIZATION, 50, load);
    bench("pods average", HPA_SOURCE_PODS, HPA_TARGET_AVERAGE_VALUE, 1700, load);
    free(load);
    return 0;
}
