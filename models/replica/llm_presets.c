#include "models/replica/llm_presets.h"

#include <string.h>

/*
 * Published fits. From the 92 fits of inference-sim only those were taken whose base lies between 0.8 and 2.6
 * times the time to read the weights once, and whose cost per prompt token is not below the dense peak's:
 * single coefficients are weakly identified there. They and splitwise-sim's have no context term: its mean is
 * in the others.
 */
#define BLIS      "inference-sim/inference-sim defaults.yaml (fit to a real vLLM, trained end to end)"
#define SPLITWISE "Mutinifni/splitwise-sim data/perf_model.csv (medians of measured iterations, linear fit)"
#define RUN       "least squares on 300 ShareGPT requests of a real vLLM 0.19.0, casys-kaist/LLMServingSim"

static const struct llm_step_fit fits[] = {
    {"llama-3.1-8b", "rtx-pro-6000", 1, LLM_WEIGHTS_BF16, 12140, 40.86, 48.38, 0.07076, RUN},
    {"llama-3.1-8b", "rtx-4090", 1, LLM_WEIGHTS_BF16, 17230, 88.69, 53.31, 0.1267, RUN},
    {"llama-3.1-8b", "h100", 1, LLM_WEIGHTS_BF16, 6973, 19.8, 27, 0,
     "base and decode: two measured points in llm-d-workload-variant-autoscaler "
     "docs/tutorials/parameter-estimation.md; "
     "prefill: " BLIS},
    {"llama-3.1-8b", "a100-80gb", 2, LLM_WEIGHTS_BF16, 8001.63, 26.36, 14.97, 0, BLIS},
    {"llama-3.3-70b", "h100", 4, LLM_WEIGHTS_BF16, 12601.27, 76.42, 66.84, 0, BLIS},
    {"llama-3.3-70b", "h100", 2, LLM_WEIGHTS_INT8, 10876, 63.36, 16.62, 0, BLIS},
    {"llama-2-70b", "h100", 4, LLM_WEIGHTS_BF16, 28316, 106.77, 351.8, 0, SPLITWISE},
    {"llama-2-70b", "h100", 8, LLM_WEIGHTS_BF16, 29815, 90.21, 308.4, 0, SPLITWISE},
    {"llama-2-70b", "a100-80gb", 4, LLM_WEIGHTS_BF16, 42725, 333.95, 434.9, 0, SPLITWISE},
    {"llama-2-70b", "a100-80gb", 8, LLM_WEIGHTS_BF16, 43517, 230.18, 411.8, 0, SPLITWISE},
    {"qwen2.5-7b", "h100", 1, LLM_WEIGHTS_BF16, 7051.8, 19.54, 25.43, 0, BLIS},
    {"qwen2.5-7b", "h100", 2, LLM_WEIGHTS_BF16, 5700.27, 25.09, 13.86, 0, BLIS},
    {"qwen2.5-7b", "h100", 1, LLM_WEIGHTS_FP8, 5174.31, 13.24, 4.9, 0, BLIS},
    {"qwen2.5-7b", "a100-80gb", 1, LLM_WEIGHTS_BF16, 10041.67, 81.12, 59.99, 0, BLIS},
    {"qwen3-14b", "h100", 1, LLM_WEIGHTS_BF16, 13578.19, 39.44, 27.32, 0, BLIS},
    {"phi-4", "h100", 1, LLM_WEIGHTS_FP8, 4766.02, 39.93, 14.11, 0, BLIS},
    {"mixtral-8x7b", "h100", 2, LLM_WEIGHTS_BF16, 12616.33, 29.98, 29.73, 0, BLIS},
    {"gpt-oss-20b", "h100", 1, LLM_WEIGHTS_MXFP4, 7344.86, 60.65, 3.68, 0, BLIS},
    {"gpt-oss-120b", "h100", 4, LLM_WEIGHTS_MXFP4, 5604.31, 21.07, 7.36, 0, BLIS},
};

const struct llm_step_fit *llm_step_fit_at(size_t index)
{
    return index < sizeof fits / sizeof *fits ? &fits[index] : NULL;
}

const struct llm_step_fit *llm_step_fit_find(const struct llm_model *model, const struct llm_gpu *gpu,
                                             int tensor_parallel, enum llm_weights weights)
{
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        if (strcmp(fits[i].model, model->name) == 0 && strcmp(fits[i].gpu, gpu->name) == 0 &&
            fits[i].tensor_parallel == tensor_parallel && fits[i].weights == weights)
            return &fits[i];
    return NULL;
}

void llm_step_estimate(const struct llm_model *model, const struct llm_gpu *gpu, int tensor_parallel,
                       enum llm_weights weights, int kv_bytes, struct llm_step_fit *fit)
{
    double bandwidth = 0.8 * gpu->bandwidth, tp = tensor_parallel;
    bool eight = (weights == LLM_WEIGHTS_FP8 || weights == LLM_WEIGHTS_INT8) && gpu->flops_fp8 > 0;
    double flops = 0.45 * (eight ? gpu->flops_fp8 : gpu->flops);

    *fit = (struct llm_step_fit){
        .model = model->name,
        .gpu = gpu->name,
        .tensor_parallel = tensor_parallel,
        .weights = weights,
        .base = llm_weight_bytes(model, weights) / tp / bandwidth * 1e6,
        .prefill = 2 * (double)model->active / tp / flops * 1e6,
        .decode = 2 * (double)model->active / tp / flops * 1e6,
        .context = llm_kv_token_bytes(model, kv_bytes, tensor_parallel) / bandwidth * 1e6,
        .source = "ESTIMATE by roofline: weight bytes / (0.8 bandwidth), 2 x active parameters / (0.45 peak)",
    };
}
