#ifndef MODELS_REPLICA_MEMORY_H
#define MODELS_REPLICA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/replica/llm_catalog.h"

/*
 * Does a model fit into a GPU's memory, and how many KV blocks are left? Three layers, each of named terms,
 * all per GPU:
 *
 *   static    weights / tensor parallel; CUDA context, communication buffers and libraries ("non-torch")
 *   dynamic   activations at their peak; the KV cache, which gets what is left of total x utilization
 *   margin    total x (1 - utilization), which must hold the CUDA graphs: engines before 0.21 capture them
 * outside the limit
 *
 * The activations' peak is the larger of two terms of the profiling run (measured by llm-d-planner and in
 * vLLM's logs): the MLP's of a full token budget:  (3 intermediate / TP + 4 hidden) x 2 bytes x
 * max_num_batched_tokens the sampler's, sorting all logits: 38.5 bytes x max_num_seqs x vocabulary The second
 * is an upper bound: a fused sampler needs less, which memory_setup.activation can say.
 */
struct memory_setup {
    const struct llm_model *model;
    const struct llm_gpu *gpu;
    enum llm_weights weights;
    int kv_bytes; /* of one value in the cache: 2, or 1 for fp8 */
    int tensor_parallel;
    double utilization; /* 0..1, of the total */
    int batched_tokens, sequences, block_size;
    int64_t activation; /* bytes; negative: the formulas above */
};

/* Bytes. */
struct memory_fit {
    int64_t total, limit;
    int64_t weights, non_torch;                    /* static */
    int64_t activation_tokens, activation_sampler; /* the two terms; 0 if given */
    int64_t activation, kv;                        /* dynamic; kv is negative by what is missing */
    int64_t margin, graphs;
    int64_t block;  /* one KV block */
    int64_t blocks; /* 0 if it does not fit */
    bool fits;      /* at least one block, and the graphs in the margin */
};

void memory_fit(const struct memory_setup *setup, struct memory_fit *fit);
/* One sentence that names each term. */
void memory_fit_text(const struct memory_setup *setup, const struct memory_fit *fit, char *text, size_t size);

#endif
