#ifndef MODELS_REPLICA_LLM_PRESETS_H
#define MODELS_REPLICA_LLM_PRESETS_H

#include <stdbool.h>

#include "models/replica/llm_catalog.h"

/* Coefficients of the step time for a model on a GPU: fitted to measurements where somebody published them,
 * else a roofline. */
struct llm_step_fit {
    const char *model, *gpu;
    int tensor_parallel;
    enum llm_weights weights;
    double base, prefill, decode, context; /* us; per token or request */
    const char *source;
};

/* Rows in order, NULL behind the last. */
const struct llm_step_fit *llm_step_fit_at(size_t index);
/* The published fit; NULL: none. */
const struct llm_step_fit *llm_step_fit_find(const struct llm_model *model, const struct llm_gpu *gpu,
                                             int tensor_parallel, enum llm_weights weights);
/*
 * The estimate in its place: all weights read once a step at 0.8 of the memory's bandwidth (AIConfigurator's
 * scaling), each token's 2 x active parameters at 0.45 of the dense peak (BLIS, H100), the KV of each context
 * token read at 0.8 of the bandwidth. Against the fits to real runs it is 8 % low to 16 % high in the base
 * and 28 % high in the context term.
 */
void llm_step_estimate(const struct llm_model *model, const struct llm_gpu *gpu, int tensor_parallel,
                       enum llm_weights weights, int kv_bytes, struct llm_step_fit *fit);

#endif
