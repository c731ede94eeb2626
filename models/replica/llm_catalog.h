#ifndef MODELS_REPLICA_LLM_CATALOG_H
#define MODELS_REPLICA_LLM_CATALOG_H

#include <stddef.h>
#include <stdint.h>

/* Shapes of language models and figures of GPUs, each row with its source: what presets and the memory
 * calculation stand on. */

enum llm_weights { LLM_WEIGHTS_BF16, LLM_WEIGHTS_FP8, LLM_WEIGHTS_INT8, LLM_WEIGHTS_INT4, LLM_WEIGHTS_MXFP4 };

struct llm_model {
    const char *name;
    int32_t layers, hidden, kv_heads, head_dim, intermediate, vocabulary;
    int32_t longest;          /* context, tokens */
    int64_t parameters;       /* all */
    int64_t active;           /* per token; less than all in a mixture of experts */
    int64_t embedding;        /* parameters of embedding and head, which stay at 16 bits */
    enum llm_weights shipped; /* the format it is published in */
    double shipped_gib; /* what an engine reports for it, where its format's rule does not say it; else 0 */
    const char *source;
};

struct llm_gpu {
    const char *name;
    double memory_gib; /* the total that a framework sees */
    double bandwidth;  /* of its memory, bytes/s */
    double flops;      /* dense, 16 bits, per s */
    double flops_fp8;  /* dense, 8 bits; 0: none, computes at 16 bits */
    const char *source;
};

/* NULL: no such name. */
const struct llm_model *llm_model_find(const char *name);
const struct llm_gpu *llm_gpu_find(const char *name);
/* Rows in order, NULL behind the last. */
const struct llm_model *llm_model_at(size_t index);
const struct llm_gpu *llm_gpu_at(size_t index);

/* Names of the formats as a scenario writes them, NULL-terminated, in the order of the enum. */
extern const char *const llm_weights_names[];

/* Bytes of all weights: parameters x bytes of the format, embedding and head at 16 bits. */
double llm_weight_bytes(const struct llm_model *model, enum llm_weights weights);
/* KV bytes of one token on one GPU of `tensor_parallel`; heads are replicated where there are fewer than
 * GPUs. */
double llm_kv_token_bytes(const struct llm_model *model, int bytes_per_value, int tensor_parallel);

#endif
