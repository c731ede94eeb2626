/* From pods and metric values to one metric's replica proposal. */
#include "models/scaling/hpa.h"

#include <math.h>
#include <string.h>

bool hpa_tolerance_within(const struct hpa_tolerance *tolerance, double ratio)
{
    if (tolerance->form == HPA_TOLERANCE_DISTANCE)
        return fabs(1.0 - ratio) <= tolerance->up;
    return 1.0 - tolerance->down <= ratio && ratio <= 1.0 + tolerance->up;
}

const char *hpa_metric_error_text(enum hpa_metric_error error)
{
    static const char *const texts[] = {
        [HPA_METRIC_OK] = "ok",
        [HPA_METRIC_FETCH_FAILED] = "the metrics source failed",
        [HPA_METRIC_NO_SAMPLES] = "no metrics returned",
        [HPA_METRIC_NO_PODS] = "no pods match the selector",
        [HPA_METRIC_ALL_DISCARDED] = "no metrics of pods that count (they might be unready)",
        [HPA_METRIC_NO_REQUEST] = "a pod has no request for the resource",
        [HPA_METRIC_NO_MATCH] = "no metrics returned match known pods",
        [HPA_METRIC_INVALID] = "invalid metric source or target",
    };

    return (size_t)error < sizeof texts / sizeof *texts ? texts[error] : "unknown error";
}

/* Go's integers wrap; C's may not be relied on to. */
static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t wrap_divide(int64_t a, int64_t b)
{
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int32_t wrap_int32(int64_t a)
{
    return (int32_t)(uint32_t)(uint64_t)a;
}

/* ceil, as a replica count. */
static int32_t replicas_of(double x)
{
    double up = ceil(x);

    if (isnan(up))
        return 0;
    if (up <= (double)INT32_MIN)
        return INT32_MIN;
    return up >= (double)INT32_MAX ? INT32_MAX : (int32_t)up;
}

enum hpa_group hpa_pod_group(const struct hpa_controller *controller, bool cpu, sim_time now,
                             const struct hpa_pod *pod, const struct hpa_sample *sample)
{
    bool unready;

    if (pod->deleted || pod->phase == HPA_FAILED)
        return HPA_GROUP_IGNORED;
    if (pod->phase == HPA_SUCCEEDED && controller->succeeded_pods_count_as_gone)
        return HPA_GROUP_IGNORED;
    if (pod->phase == HPA_PENDING)
        return HPA_GROUP_UNREADY;
    if (sample == NULL || !sample->present)
        return HPA_GROUP_MISSING;
    if (!cpu)
        return HPA_GROUP_COUNTS;
    if (pod->ready_transition == HPA_UNSET || pod->start == HPA_UNSET)
        unready = true;
    else if (pod->start + controller->cpu_initialization > now)
        unready = !pod->ready || sample->timestamp < pod->ready_transition + sample->window;
    else
        unready = !pod->ready && pod->start + controller->initial_readiness_delay > pod->ready_transition;
    return unready ? HPA_GROUP_UNREADY : HPA_GROUP_COUNTS;
}

int64_t hpa_pod_request(const struct hpa_container *containers, size_t count, int64_t pod_level_milli,
                        const char *container)
{
    bool named = container != NULL && container[0] != '\0';
    int64_t sum = 0;

    if (!named && pod_level_milli != HPA_NO_REQUEST)
        return pod_level_milli;
    for (size_t i = 0; i < count; i++) {
        const struct hpa_container *c = &containers[i];

        if (c->init && !c->restart_always)
            continue;
        if (named && strcmp(c->name, container) != 0)
            continue;
        if (c->request_milli == HPA_NO_REQUEST)
            return HPA_NO_REQUEST;
        if (named)
            return c->request_milli;
        sum = wrap_add(sum, c->request_milli);
    }
    return named ? HPA_NO_REQUEST : sum;
}

/*
 * The controller builds a map of samples, drops the pods that do not count, and may put some back with
 * made-up values. Only sums and numbers of these maps are ever used, so one pass that adds up each group is
 * enough.
 */
struct sums {
    size_t samples;          /* of any pod, before dropping */
    int64_t usage, request;  /* over the pods that count */
    int64_t missing_request; /* over the missing pods, whose usage may be filled in */
    int64_t missing_fill;    /* their requests, scaled to max(100, target) percent each */
    int64_t unready_request;
    bool request_absent; /* some pod, of whatever group, has none */
    int32_t groups[HPA_GROUP_IGNORED + 1];
};

static void sum_pods(const struct hpa_controller *controller, const struct hpa_metric *metric, sim_time now,
                     const struct hpa_pod *pods, size_t count, const struct hpa_reading *reading,
                     struct sums *sums)
{
    int64_t percent = metric->target > 100 ? metric->target : 100;
    bool cpu = metric->cpu && metric->source != HPA_SOURCE_PODS;

    *sums = (struct sums){.samples = reading->stray_count};
    for (size_t i = 0; i < count; i++) {
        const struct hpa_pod *pod = &pods[i];
        const struct hpa_sample *sample = reading->samples != NULL ? &reading->samples[i] : NULL;
        enum hpa_group group = hpa_pod_group(controller, cpu, now, pod, sample);

        sums->groups[group]++;
        if (sample != NULL && sample->present)
            sums->samples++;
        if (pod->request_milli == HPA_NO_REQUEST) {
            sums->request_absent = true;
            if (group == HPA_GROUP_COUNTS)
                sums->usage = wrap_add(sums->usage, sample->value_milli);
            continue;
        }
        switch (group) {
        case HPA_GROUP_COUNTS:
            sums->usage = wrap_add(sums->usage, sample->value_milli);
            sums->request = wrap_add(sums->request, pod->request_milli);
            break;
        case HPA_GROUP_MISSING:
            sums->missing_request = wrap_add(sums->missing_request, pod->request_milli);
            sums->missing_fill = wrap_add(sums->missing_fill,
                                          wrap_multiply(pod->request_milli, percent) / 100);
            break;
        case HPA_GROUP_UNREADY:
            sums->unready_request = wrap_add(sums->unready_request, pod->request_milli);
            break;
        case HPA_GROUP_IGNORED:
            break;
        }
    }
}

/* Sum and number of samples that a ratio is taken over. */
struct pool {
    int64_t usage;
    int64_t request; /* utilization only */
    int64_t matched; /* samples of known pods: the divisor of the shown average of a utilization */
    int64_t samples; /* all, strays included */
};

/* usage / target. Average: of the truncated mean. Utilization: of the truncated percentage. False if no
 * sample is of a known pod. */
static bool pool_ratio(const struct pool *pool, const struct hpa_metric *metric, double *ratio,
                       int32_t *utilization, int64_t *average)
{
    if (metric->target_kind == HPA_TARGET_UTILIZATION) {
        if (pool->request == 0)
            return false;
        *utilization = wrap_int32(wrap_divide(wrap_multiply(pool->usage, 100), pool->request));
        *average = pool->usage / pool->matched;
        *ratio = (double)*utilization / (double)metric->target;
        return true;
    }
    *average = pool->usage / pool->samples;
    *ratio = (double)*average / (double)metric->target;
    return true;
}

static int64_t sum_strays(const struct hpa_reading *reading)
{
    int64_t sum = 0;

    for (size_t i = 0; i < reading->stray_count; i++)
        sum = wrap_add(sum, reading->stray_milli[i]);
    return sum;
}

/* Metrics of pods: resource, container resource and pods. */
static void propose_from_pods(const struct hpa_controller *controller, const struct hpa_tolerance *tolerance,
                              const struct hpa_metric *metric, const struct hpa_view *view,
                              const struct hpa_pod *pods, size_t pod_count, const struct hpa_reading *reading,
                              struct hpa_proposal *proposal)
{
    bool utilization = metric->target_kind == HPA_TARGET_UTILIZATION;
    int32_t current = view->spec_replicas;
    struct sums sums;
    struct pool pool;
    double ratio, again;
    int32_t ignored_utilization = 0;
    int64_t ignored_average = 0;
    bool fill_unready;
    int32_t replicas;

    sum_pods(controller, metric, view->now, pods, pod_count, reading, &sums);
    proposal->counted = sums.groups[HPA_GROUP_COUNTS];
    proposal->unready = sums.groups[HPA_GROUP_UNREADY];
    proposal->missing = sums.groups[HPA_GROUP_MISSING];
    proposal->ignored = sums.groups[HPA_GROUP_IGNORED];
    if (sums.samples == 0) {
        proposal->error = HPA_METRIC_NO_SAMPLES;
        return;
    }
    if (pod_count == 0) {
        proposal->error = HPA_METRIC_NO_PODS;
        return;
    }
    if (proposal->counted == 0 && reading->stray_count == 0) {
        proposal->error = HPA_METRIC_ALL_DISCARDED;
        return;
    }
    if (utilization && sums.request_absent) {
        proposal->error = HPA_METRIC_NO_REQUEST;
        return;
    }
    pool = (struct pool){.usage = sums.usage,
                         .request = sums.request,
                         .matched = proposal->counted,
                         .samples = proposal->counted + (int64_t)reading->stray_count};
    if (!utilization)
        pool.usage = wrap_add(pool.usage, sum_strays(reading));
    if (utilization && pool.matched == 0) {
        proposal->error = HPA_METRIC_NO_MATCH;
        return;
    }
    if (!pool_ratio(&pool, metric, &ratio, &proposal->utilization, &proposal->usage_milli)) {
        proposal->error = HPA_METRIC_NO_MATCH;
        return;
    }
    proposal->ratio = ratio;

    fill_unready = proposal->unready > 0 && ratio > 1.0;
    if (!fill_unready && proposal->missing == 0) {
        proposal->replicas = hpa_tolerance_within(tolerance, ratio)
                                 ? current
                                 : replicas_of(ratio * (double)proposal->counted);
        return;
    }
    if (proposal->missing > 0 && (ratio < 1.0 || ratio > 1.0)) {
        if (ratio < 1.0 && utilization)
            pool.usage = wrap_add(pool.usage, sums.missing_fill);
        else if (ratio < 1.0)
            pool.usage = wrap_add(pool.usage, wrap_multiply(metric->target, proposal->missing));
        pool.request = wrap_add(pool.request, sums.missing_request);
        pool.matched += proposal->missing;
        pool.samples += proposal->missing;
    }
    if (fill_unready) {
        pool.request = wrap_add(pool.request, sums.unready_request);
        pool.matched += proposal->unready;
        pool.samples += proposal->unready;
    }
    if (!pool_ratio(&pool, metric, &again, &ignored_utilization, &ignored_average)) {
        proposal->error = HPA_METRIC_NO_MATCH;
        return;
    }
    replicas = replicas_of(again * (double)pool.samples);
    if (hpa_tolerance_within(tolerance, again) || (ratio < 1.0 && again > 1.0) ||
        (ratio > 1.0 && again < 1.0) || (again < 1.0 && replicas > current) ||
        (again > 1.0 && replicas < current))
        replicas = current;
    proposal->replicas = replicas;
}

/* Object: the one value. External: the sum; a Value target caps positive overflow, an average target takes
 * any negative sum for one. */
static int64_t sum_values(const struct hpa_metric *metric, const struct hpa_reading *reading)
{
    int64_t sum = 0;

    for (size_t i = 0; i < reading->value_count; i++) {
        int64_t value = reading->values_milli[i];

        if (value > 0 && sum > INT64_MAX - value)
            return INT64_MAX;
        sum = wrap_add(sum, value);
        if (metric->source == HPA_SOURCE_EXTERNAL && metric->target_kind == HPA_TARGET_AVERAGE_VALUE &&
            sum < 0)
            return INT64_MAX;
    }
    return sum;
}

static void propose_from_value(const struct hpa_tolerance *tolerance, const struct hpa_metric *metric,
                               const struct hpa_view *view, const struct hpa_pod *pods, size_t pod_count,
                               int64_t value, struct hpa_proposal *proposal)
{
    double ratio = (double)value / (double)metric->target;
    int32_t ready = 0;

    proposal->ratio = ratio;
    proposal->usage_milli = value;
    if (view->spec_replicas == 0) {
        proposal->replicas = replicas_of(ratio);
        return;
    }
    if (hpa_tolerance_within(tolerance, ratio)) {
        proposal->replicas = view->spec_replicas;
        return;
    }
    if (pod_count == 0) {
        proposal->error = HPA_METRIC_NO_PODS;
        return;
    }
    for (size_t i = 0; i < pod_count; i++)
        ready += pods[i].phase == HPA_RUNNING && pods[i].ready; /* those being deleted included */
    proposal->counted = ready;
    proposal->replicas = replicas_of(ratio * (double)ready);
}

/* ceil(value / status), capped; 0 without replicas. */
static int64_t usage_per_pod(int64_t value, int32_t status)
{
    if ((double)value >= (double)INT64_MAX)
        return INT64_MAX;
    if (status == 0)
        return 0;
    return (int64_t)ceil((double)value / (double)status);
}

static void propose_from_value_per_pod(const struct hpa_tolerance *tolerance, const struct hpa_metric *metric,
                                       const struct hpa_view *view, int64_t value,
                                       struct hpa_proposal *proposal)
{
    /* With no replicas the ratio is infinite or NaN, neither of which is within. */
    double ratio = (double)value / ((double)metric->target * (double)view->status_replicas);

    proposal->ratio = ratio;
    proposal->usage_milli = usage_per_pod(value, view->status_replicas);
    proposal->replicas = hpa_tolerance_within(tolerance, ratio)
                             ? view->status_replicas
                             : replicas_of((double)value / (double)metric->target);
}

static bool target_fits(const struct hpa_metric *metric)
{
    switch (metric->source) {
    case HPA_SOURCE_RESOURCE:
    case HPA_SOURCE_CONTAINER_RESOURCE:
        return metric->target_kind == HPA_TARGET_UTILIZATION ||
               metric->target_kind == HPA_TARGET_AVERAGE_VALUE;
    case HPA_SOURCE_PODS:
        return metric->target_kind == HPA_TARGET_AVERAGE_VALUE;
    case HPA_SOURCE_OBJECT:
    case HPA_SOURCE_EXTERNAL:
        return metric->target_kind == HPA_TARGET_VALUE || metric->target_kind == HPA_TARGET_AVERAGE_VALUE;
    case HPA_SOURCE_INVALID:
        break;
    }
    return false;
}

void hpa_propose(const struct hpa_controller *controller, const struct hpa_tolerance *tolerance,
                 const struct hpa_metric *metric, const struct hpa_view *view,
                 const struct hpa_reading *reading, struct hpa_proposal *proposal)
{
    const struct hpa_pod *pods = reading->pods != NULL ? reading->pods : view->pods;
    size_t pod_count = reading->pods != NULL ? reading->pod_count : view->pod_count;

    *proposal = (struct hpa_proposal){.error = reading->error};
    if (!target_fits(metric))
        proposal->error = HPA_METRIC_INVALID;
    if (proposal->error == HPA_METRIC_OK) {
        if (metric->source != HPA_SOURCE_OBJECT && metric->source != HPA_SOURCE_EXTERNAL)
            propose_from_pods(controller, tolerance, metric, view, pods, pod_count, reading, proposal);
        else if (reading->value_count == 0)
            proposal->error = HPA_METRIC_NO_SAMPLES;
        else if (metric->target_kind == HPA_TARGET_VALUE)
            propose_from_value(tolerance, metric, view, pods, pod_count, sum_values(metric, reading),
                               proposal);
        else
            propose_from_value_per_pod(tolerance, metric, view, sum_values(metric, reading), proposal);
    }
    if (proposal->error != HPA_METRIC_OK)
        proposal->replicas = 0;
}
