#include "sim/run/outcome.h"

#include <stdlib.h>

#include "sim/run/scenario.h"

_Static_assert((int)OUTCOME_BOUNDS == (int)SLO_BOUNDS, "an outcome has room for every bound of an SLO");

const char *shortage_cause_name(enum shortage_cause cause)
{
    switch (cause) {
    case SHORTAGE_SCHEDULE:
        return "schedule";
    case SHORTAGE_NODE:
        return "node";
    case SHORTAGE_PULL:
        return "pull";
    case SHORTAGE_LOAD:
        return "load";
    case SHORTAGE_INIT:
        return "init";
    case SHORTAGE_PROBE:
        return "probe";
    case SHORTAGE_ENDPOINT:
        return "endpoint";
    case SHORTAGE_POLICY:
        return "policy";
    case SHORTAGE_METRICS:
        return "metrics";
    case SHORTAGE_LIMIT:
        return "limit";
    case SHORTAGE_RECLAIM:
        return "reclaim";
    case SHORTAGE_FAILURE:
        return "failure";
    case SHORTAGE_CAUSES:
        break;
    }
    return "unknown";
}

const char *gpu_use_name(enum gpu_use use)
{
    static const char *const names[GPU_USES] = {"busy",     "idle",     "starting", "warm",
                                                "backfill", "draining", "stranded"};

    return (unsigned)use < GPU_USES ? names[use] : "unknown";
}

const char *replica_state_name(enum replica_state state)
{
    /* the start stages' own names, spelled again so that a series needs no model */
    static const char *const names[REPLICA_STATES] = {"schedule", "node",     "pull",     "load",
                                                      "init",     "probe",    "endpoint", "ready",
                                                      "draining", "prepared", "ended"};

    return (unsigned)state < REPLICA_STATES ? names[state] : "unknown";
}

int outcome_init(struct outcome *outcome, int32_t services, struct error *err)
{
    *outcome = (struct outcome){0};
    if (services <= 0)
        return 0;
    outcome->services = calloc((size_t)services, sizeof *outcome->services);
    if (!outcome->services)
        return error_memory(err, "outcome");
    outcome->service_count = services;
    for (int32_t i = 0; i < services; i++) {
        struct outcome_service *service = &outcome->services[i];

        histogram_init(&service->latency_peak);
        histogram_init(&service->latency_off);
        histogram_init(&service->ttft);
        histogram_init(&service->tpot);
        histogram_init(&service->wait);
        histogram_init(&service->scale_out);
    }
    return 0;
}

static void free_spool(struct spool *spool)
{
    if (!spool)
        return;
    spool_free(spool);
    free(spool);
}

void outcome_free(struct outcome *outcome)
{
    for (int32_t i = 0; i < outcome->service_count; i++) {
        struct outcome_service *service = &outcome->services[i];

        histogram_free(&service->latency_peak);
        histogram_free(&service->latency_off);
        histogram_free(&service->ttft);
        histogram_free(&service->tpot);
        histogram_free(&service->wait);
        histogram_free(&service->scale_out);
        if (outcome->series)
            free_spool(outcome->series[i]);
    }
    free_spool(outcome->decisions);
    free_spool(outcome->replicas);
    free(outcome->series);
    free(outcome->services);
    *outcome = (struct outcome){0};
}
