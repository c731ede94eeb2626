/* KEDA: between nothing and one, and what stands in for a failing trigger. */
#include "models/scaling/keda.h"

#include <math.h>

struct keda_activity keda_trigger_activity(const struct keda_trigger *trigger,
                                           const struct keda_sample *sample)
{
    struct keda_activity activity = {0};

    switch (trigger->kind) {
    case KEDA_TRIGGER_POD:
        activity.active = true;
        break;
    case KEDA_TRIGGER_CRON:
        activity.active = sample->inside;
        break;
    case KEDA_TRIGGER_VALUE:
        activity.error = sample->failed || (sample->empty && trigger->empty_is_error);
        activity.active = !activity.error &&
                          (sample->empty ? 0 : sample->value) > trigger->activation_threshold;
        break;
    }
    return activity;
}

void keda_spec_defaults(struct keda_spec *spec)
{
    *spec = (struct keda_spec){.min = KEDA_NONE,
                               .max = KEDA_NONE,
                               .idle = KEDA_NONE,
                               .fallback_replicas = KEDA_NONE,
                               .cooldown = KEDA_COOLDOWN};
}

void keda_hpa_bounds(const struct keda_spec *spec, struct hpa_spec *hpa)
{
    hpa->min = spec->min > 1 ? spec->min : 1;
    hpa->max = spec->max == KEDA_NONE ? KEDA_MAX_REPLICAS : spec->max;
    if (!spec->paused_scale_in && !spec->paused_scale_out)
        return;
    hpa->behavior = true;
    if (spec->paused_scale_in)
        hpa->rules[HPA_DOWN].select = HPA_SELECT_DISABLED;
    if (spec->paused_scale_out)
        hpa->rules[HPA_UP].select = HPA_SELECT_DISABLED;
}

static void decide_active(const struct keda_spec *spec, const struct keda_poll *poll, int32_t min,
                          struct keda_decision *decision)
{
    if (poll->replicas == 0 || (spec->idle != KEDA_NONE && poll->replicas < min)) {
        if (spec->paused_scale_out) {
            decision->step = KEDA_STEP_PAUSED;
            return;
        }
        decision->step = KEDA_STEP_ACTIVATE;
        decision->replicas = min > 1 ? min : 1;
        decision->active_noted = true;
        return;
    }
    decision->active_noted = !poll->error;
}

/* Down to idle or zero, once it has been quiet for long enough. */
static void decide_idle(const struct keda_spec *spec, const struct keda_poll *poll,
                        struct keda_decision *decision)
{
    bool never = poll->last_active == KEDA_NEVER;
    sim_time since = never ? poll->created : poll->last_active;
    sim_time wait = never ? spec->initial_cooldown : spec->cooldown;

    if (spec->paused_scale_in) {
        decision->step = KEDA_STEP_PAUSED;
    } else if (since + wait < poll->now) {
        decision->step = KEDA_STEP_IDLE;
        decision->replicas = spec->idle == KEDA_NONE ? 0 : spec->idle;
    } else {
        decision->step = KEDA_STEP_COOLING;
    }
}

void keda_poll_decide(const struct keda_spec *spec, const struct keda_poll *poll,
                      struct keda_decision *decision)
{
    int32_t min = spec->min > 0 ? spec->min : 0;

    *decision = (struct keda_decision){.replicas = poll->replicas, .step = KEDA_STEP_NONE};
    if (spec->paused) {
        decision->step = KEDA_STEP_PAUSED;
    } else if (poll->active || spec->force_activation) {
        decide_active(spec, poll, min, decision);
    } else if (poll->error && (spec->fallback_replicas == KEDA_NONE || spec->fallback_replicas > 0)) {
        decision->step = KEDA_STEP_HELD;
    } else if ((spec->idle != KEDA_NONE && poll->replicas > spec->idle) || (min == 0 && poll->replicas > 0)) {
        decide_idle(spec, poll, decision);
    } else if (spec->idle == KEDA_NONE && poll->replicas < min) {
        decision->step = KEDA_STEP_MINIMUM;
        decision->replicas = min;
    }
}

static int32_t fallback_replicas(const struct keda_fallback *fallback, int32_t current)
{
    switch (fallback->behavior) {
    case KEDA_FALLBACK_CURRENT:
        return current;
    case KEDA_FALLBACK_CURRENT_IF_HIGHER:
        return current > fallback->replicas ? current : fallback->replicas;
    case KEDA_FALLBACK_CURRENT_IF_LOWER:
        return current < fallback->replicas ? current : fallback->replicas;
    case KEDA_FALLBACK_STATIC:
        break;
    }
    return fallback->replicas;
}

struct keda_answer keda_metric_answer(const struct keda_fallback *fallback, const struct keda_metric *metric,
                                      int32_t *failures)
{
    struct keda_answer answer = {.value = metric->value};

    if (!metric->failed) {
        *failures = 0;
        return answer;
    }
    answer = (struct keda_answer){.error = true};
    if (*failures < INT32_MAX)
        ++*failures;
    if (!fallback->enabled || fallback->failure_threshold < 0 || fallback->replicas < 0 ||
        *failures <= fallback->failure_threshold)
        return answer;
    if (!metric->average && metric->ready == 0)
        return answer; /* nothing to share the target out over */
    answer.value = metric->target * (double)fallback_replicas(fallback, metric->replicas);
    if (!metric->average)
        answer.value /= (double)metric->ready;
    answer.value = trunc(answer.value * 1000) / 1000; /* it travels in milli-units */
    answer.error = false;
    answer.fell_back = true;
    return answer;
}
