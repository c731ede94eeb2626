#include "models/replica/llm_catalog.h"

#include <string.h>

#define GIB 1073741824.0

/* Shapes: config.json of the published models, as copied in these repositories. */
#define AIC    "ai-dynamo/aiconfigurator model_configs"
#define LITGPT "Lightning-AI/litgpt litgpt/config.py"

/* name, layers, hidden, KV heads, head, intermediate, vocabulary, context, parameters, active, embedding,
 * format, GiB, source */
static const struct llm_model models[] = {
    {"llama-2-7b", 32, 4096, 32, 128, 11008, 32000, 4096, 6738415616, 6738415616, 262144000, 0, 0, LITGPT},
    {"llama-2-13b", 40, 5120, 40, 128, 13824, 32000, 4096, 13015864320, 13015864320, 327680000, 0, 0, LITGPT},
    {"llama-2-70b", 80, 8192, 8, 128, 28672, 32000, 4096, 68976648192, 68976648192, 524288000, 0, 0, LITGPT},
    {"llama-3-8b", 32, 4096, 8, 128, 14336, 128256, 8192, 8030261248, 8030261248, 1050673152, 0, 0, LITGPT},
    {"llama-3-70b", 80, 8192, 8, 128, 28672, 128256, 8192, 70553706496, 70553706496, 2101346304, 0, 0,
     LITGPT},
    {"llama-3.1-8b", 32, 4096, 8, 128, 14336, 128256, 131072, 8030261248, 8030261248, 1050673152, 0, 0, AIC},
    {"llama-3.1-70b", 80, 8192, 8, 128, 28672, 128256, 131072, 70553706496, 70553706496, 2101346304, 0, 0,
     AIC},
    {"llama-3.1-405b", 126, 16384, 8, 128, 53248, 128256, 131072, 405853388800, 405853388800, 4202692608, 0,
     0, AIC},
    {"llama-3.2-1b", 16, 2048, 8, 64, 8192, 128256, 131072, 1235814400, 1235814400, 262668288, 0, 0, LITGPT},
    {"llama-3.2-3b", 28, 3072, 8, 128, 8192, 128256, 131072, 3212749824, 3212749824, 394002432, 0, 0, LITGPT},
    {"llama-3.3-70b", 80, 8192, 8, 128, 28672, 128256, 131072, 70553706496, 70553706496, 2101346304, 0, 0,
     AIC " (the shape of Llama-3.1-70B)"},
    {"qwen2.5-7b", 28, 3584, 4, 128, 18944, 152064, 32768, 7615616512, 7615616512, 1089994752, 0, 0, LITGPT},
    {"qwen2.5-14b", 48, 5120, 8, 128, 13824, 152064, 32768, 14770033664, 14770033664, 1557135360, 0, 0,
     LITGPT},
    {"qwen2.5-32b", 64, 5120, 8, 128, 27648, 152064, 32768, 32763876352, 32763876352, 1557135360, 0, 0,
     LITGPT},
    {"qwen2.5-72b", 80, 8192, 8, 128, 29568, 152064, 32768, 72706203648, 72706203648, 2491416576, 0, 0,
     LITGPT},
    {"qwen3-0.6b", 28, 1024, 8, 128, 3072, 151936, 40960, 596049920, 596049920, 155582464, 0, 0, AIC},
    {"qwen3-4b", 36, 2560, 8, 128, 9728, 151936, 40960, 4022468096, 4022468096, 388956160, 0, 0, LITGPT},
    {"qwen3-8b", 36, 4096, 8, 128, 12288, 151936, 40960, 8190735360, 8190735360, 1244659712, 0, 0, AIC},
    {"qwen3-14b", 40, 5120, 8, 128, 17408, 151936, 40960, 14768307200, 14768307200, 1555824640, 0, 0, LITGPT},
    {"qwen3-32b", 64, 5120, 8, 128, 25600, 151936, 40960, 32762123264, 32762123264, 1555824640, 0, 0, AIC},
    {"qwen3-30b-a3b", 48, 2048, 4, 128, 6144, 151936, 40960, 30532122624, 3353032704, 622329856, 0, 0, AIC},
    {"qwen3-235b-a22b", 94, 4096, 4, 128, 12288, 151936, 40960, 235093634560, 22190763520, 1244659712, 0, 0,
     AIC},
    {"mistral-7b", 32, 4096, 8, 128, 14336, 32768, 32768, 7248023552, 7248023552, 268435456, 0, 0,
     LITGPT " (v0.3)"},
    {"mixtral-8x7b", 32, 4096, 8, 128, 14336, 32000, 32768, 46702792704, 12879925248, 262144000, 0, 0, AIC},
    {"mixtral-8x22b", 56, 6144, 8, 128, 16384, 32000, 65536, 140620634112, 39152031744, 393216000, 0, 0, AIC},
    {"gemma-2-9b", 42, 3584, 8, 256, 14336, 256000, 8192, 9241705984, 9241705984, 917504000, 0, 0, LITGPT},
    {"gemma-2-27b", 46, 4608, 16, 128, 36864, 256000, 8192, 27227128320, 27227128320, 1179648000, 0, 0,
     LITGPT},
    {"phi-4", 40, 5120, 10, 128, 17920, 100352, 16384, 14659507200, 14659507200, 1027604480, 0, 0, LITGPT},
    {"phi-4-mini", 32, 3072, 8, 128, 8192, 200064, 131072, 3836021760, 3836021760, 614596608, 0, 0, LITGPT},
    {"gpt-oss-20b", 24, 2880, 8, 64, 2880, 201088, 131072, 20908050240, 4186539840, 1158266880,
     LLM_WEIGHTS_MXFP4, 13.47,
     AIC "; weights as vLLM 0.11.0 reports them, llm-d-planner docs/empirical-vllm-memory-results.md"},
    {"gpt-oss-120b", 36, 2880, 8, 64, 2880, 201088, 131072, 116789232960, 5710628160, 1158266880,
     LLM_WEIGHTS_MXFP4, 64.38,
     AIC "; weights as vLLM 0.11.0 reports them, llm-d-planner docs/empirical-vllm-memory-results.md"},
};

#define SYSTEMS "ai-dynamo/aiconfigurator systems"
#define TABLE   "cli99/llm-analysis gpu_configs"
/* A framework sees 0.4 to 0.7 GiB less than nvidia-smi's total: 79.18 of 79.65 on an H100, 139.8 of 140.4 on
 * an H200. */
#define LESS "; memory: nvidia-smi's total less 0.5 GiB"

static const struct llm_gpu gpus[] = {
    {"t4", 14.5, 0.32e12, 65e12, 0, "data sheet" LESS},
    {"l4", 22.0, 0.3e12, 121e12, 242e12, SYSTEMS LESS},
    {"a10", 22.0, 0.6e12, 125e12, 0, TABLE LESS},
    {"a10g", 22.0, 0.6e12, 70e12, 0, TABLE LESS},
    {"l40s", 44.5, 0.864e12, 362e12, 733e12, SYSTEMS "; 16 bits: data sheet" LESS},
    {"a30", 23.5, 0.933e12, 165e12, 0, SYSTEMS LESS},
    {"v100-16gb", 15.2, 0.9e12, 125e12, 0, TABLE LESS},
    {"v100-32gb", 31.2, 0.9e12, 125e12, 0, TABLE LESS},
    {"a100-40gb", 39.56, 1.555e12, 312e12, 0, TABLE "; memory: a vLLM log"},
    {"a100-80gb", 79.25, 2.039e12, 312e12, 0, SYSTEMS "; memory: usual in vLLM logs, 79.25 to 79.33"},
    {"h100", 79.18, 3.35e12, 989e12, 1978e12, SYSTEMS "; memory: llm-d-planner gpu_catalog.json"},
    {"h200", 139.8, 4.8e12, 989e12, 1978e12, SYSTEMS "; memory: a vLLM log"},
    {"b200", 178.5, 7.7e12, 2250e12, 4500e12, SYSTEMS LESS},
    {"gb200", 184.5, 8e12, 2500e12, 5000e12, SYSTEMS LESS},
    {"rtx-4090", 23.5, 1.008e12, 165e12, 330e12, "data sheet (24,564 MiB)" LESS},
    {"rtx-pro-6000", 95.01, 1.792e12, 467.8e12, 935.6e12, SYSTEMS "; memory: a vLLM log"},
    {"mi300x", 191.5, 5.3e12, 1307.4e12, 2614.9e12, "alpharomercoma/MI300X-vs-H200 METHODOLOGY.md" LESS},
};

const char *const llm_weights_names[] = {"bf16", "fp8", "int8", "int4", "mxfp4", NULL};

const struct llm_model *llm_model_at(size_t index)
{
    return index < sizeof models / sizeof *models ? &models[index] : NULL;
}

const struct llm_gpu *llm_gpu_at(size_t index)
{
    return index < sizeof gpus / sizeof *gpus ? &gpus[index] : NULL;
}

const struct llm_model *llm_model_find(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

const struct llm_gpu *llm_gpu_find(const char *name)
{
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (strcmp(gpus[i].name, name) == 0)
            return &gpus[i];
    return NULL;
}

double llm_weight_bytes(const struct llm_model *model, enum llm_weights weights)
{
    /* 4 bits in groups of 128 with their scales; MXFP4 in blocks of 32 with an 8-bit scale */
    static const double per_parameter[] = {2, 1, 1, 0.52, 0.53125};

    if (weights == model->shipped && model->shipped_gib > 0)
        return model->shipped_gib * GIB;
    return 2 * (double)model->embedding +
           per_parameter[weights] * (double)(model->parameters - model->embedding);
}

double llm_kv_token_bytes(const struct llm_model *model, int bytes_per_value, int tensor_parallel)
{
    int ways = tensor_parallel < model->kv_heads ? tensor_parallel : model->kv_heads;

    return 2.0 * model->layers * model->kv_heads * model->head_dim * bytes_per_value / ways;
}
