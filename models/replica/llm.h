#ifndef MODELS_REPLICA_LLM_H
#define MODELS_REPLICA_LLM_H

#include "models/replica/service.h"

/*
 * `llm`: an engine with continuous batching, step by step as the scheduler of vLLM V1 takes them, at the
 * price of a few operations a request. docs/models-llm.md has the rules, the formulas and their sources.
 *
 *   {"model": "llama-3.1-8b", "gpu": "h100", "tensor_parallel": 1}
 *   {"step": {"base": "17.23ms", "prefill_token": "88.69us", "decode": "53.31us", "context_token":
 * "126.7ns"}, "kv_blocks": 2587, "max_num_batched_tokens": 2048, "max_num_seqs": 256}
 *
 * One step lasts
 *   base + prefill_token * prefill tokens + decode * decode requests + context_token * sum of computed tokens
 * kept in 1/65536 ns, so that sums are exact; a step ends at the first whole nanosecond that is not before
 * it.
 *
 * Key                            default
 *   model, gpu, tensor_parallel  -, -, 1     a preset fills step and kv_blocks; see llm_presets.h, memory.h
 *   weights, kv_dtype            published, bf16
 *   gpu_memory_utilization       0.9
 *   activation_memory            computed    size per GPU; of the memory calculation
 *   step                         preset      times; fractions of a nanosecond count. "resolution" rounds a
 * step down to a multiple of it, for comparisons with simulators that count in whole microseconds kv_blocks
 * computed    usable blocks block_size                   16          tokens; a power of two
 *   max_num_batched_tokens       by GPU      token budget of a step
 *   max_num_seqs                 by GPU      running at once
 *   long_prefill_token_threshold 0           most prompt tokens of one request in a step; 0: no such cap
 *   max_model_len                the model's prompt + output of one request; 32768 without a model
 *   prefix_caching               true
 *   reserve_full_isl             true        admit only if the whole prompt's blocks are free
 *   watermark                    0           share of the blocks kept free when admitting beside others
 *   exact_stepping               false       take every step on its own: for tests of the skipping
 *
 * A request is refused if its prompt or output is too long for max_model_len, or for the pool: it could never
 * end. A request without output tokens is served as one with a single token.
 */
extern const struct service_type service_llm;

/* Counters beyond the gauges, since reset; for tests and for `run`. */
struct llm_counters {
    int64_t steps;
    int64_t preemptions;
    int64_t blocks, blocks_used, blocks_peak; /* pool; held now; most ever held */
    int64_t blocks_listed;                    /* free ones, counted along the list (slow) */
    int64_t cache_asked, cache_hit;           /* tokens, first admissions only */
    int64_t events;                           /* calls of advance */
};
void llm_server_counters(const struct server *server, struct llm_counters *counters);

/* Where the coefficients and the block count of a config came from: one or more sentences. Lives as long as
 * the config. */
const char *llm_config_note(const void *config);
/* Are the coefficients a roofline estimate, not a fit to measurements? */
bool llm_config_estimated(const void *config);

#endif
