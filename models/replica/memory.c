#include "models/replica/memory.h"

#include <math.h>
#include <stdio.h>

#define GIB 1073741824.0

/* llm-d-planner docs/empirical-vllm-memory-results.md, vLLM 0.11.0 on H100: what vLLM itself reports. */
#define NON_TORCH_ONE  0.13
#define NON_TORCH_MANY 0.55
/* vLLM's logs say 0.2 to 1.2, most about this. */
#define GRAPHS 0.5
/* Bytes per sequence and entry of the vocabulary; fits seven of eight reported peaks within 3 %, the eighth
 * within 7 %. */
#define SAMPLER 38.5

static int64_t bytes(double value)
{
    return (int64_t)llround(value);
}

void memory_fit(const struct memory_setup *setup, struct memory_fit *fit)
{
    const struct llm_model *model = setup->model;
    double tp = setup->tensor_parallel;
    double total = setup->gpu->memory_gib * GIB;

    *fit = (struct memory_fit){
        .total = bytes(total),
        .limit = bytes(total * setup->utilization),
        .weights = bytes(llm_weight_bytes(model, setup->weights) / tp),
        .non_torch = bytes((setup->tensor_parallel > 1 ? NON_TORCH_MANY : NON_TORCH_ONE) * GIB),
        .graphs = bytes(GRAPHS * GIB),
        .block = bytes(llm_kv_token_bytes(model, setup->kv_bytes, setup->tensor_parallel) *
                       setup->block_size),
    };
    if (setup->activation >= 0) {
        fit->activation = setup->activation;
    } else {
        fit->activation_tokens = bytes((3 * model->intermediate / tp + 4.0 * model->hidden) * 2 *
                                       setup->batched_tokens);
        fit->activation_sampler = bytes(SAMPLER * setup->sequences * model->vocabulary);
        fit->activation = fit->activation_tokens > fit->activation_sampler ? fit->activation_tokens
                                                                           : fit->activation_sampler;
    }
    fit->margin = fit->total - fit->limit;
    fit->kv = fit->limit - fit->weights - fit->non_torch - fit->activation;
    fit->blocks = fit->kv > 0 ? fit->kv / fit->block : 0;
    fit->fits = fit->blocks > 0 && fit->margin >= fit->graphs;
}

void memory_fit_text(const struct memory_setup *setup, const struct memory_fit *fit, char *text, size_t size)
{
    snprintf(text, size,
             "%s (%s) on %d x %s, GiB per GPU: total %.2f x utilization %.2f = %.2f; static: weights %.2f + "
             "context and "
             "libraries %.2f; dynamic: activations %.2f + KV cache %.2f (%lld blocks of %d tokens); margin "
             "%.2f, of which "
             "CUDA graphs %.2f",
             setup->model->name, llm_weights_names[setup->weights], setup->tensor_parallel, setup->gpu->name,
             (double)fit->total / GIB, setup->utilization, (double)fit->limit / GIB,
             (double)fit->weights / GIB, (double)fit->non_torch / GIB, (double)fit->activation / GIB,
             (double)fit->kv / GIB, (long long)fit->blocks, setup->block_size, (double)fit->margin / GIB,
             (double)fit->graphs / GIB);
}
