/* The memory fit against what engines reported, and the presets against the physics that they must obey. */
#include <math.h>
#include <stdio.h>

#include "models/replica/llm_presets.h"
#include "models/replica/memory.h"
#include "tests/unit/replica/serve_support.h"

#define GIB 1073741824.0

static struct memory_setup setup_of(const char *model, const char *gpu, enum llm_weights weights)
{
    struct memory_setup setup = {.model = llm_model_find(model),
                                 .gpu = llm_gpu_find(gpu),
                                 .weights = weights,
                                 .kv_bytes = 2,
                                 .tensor_parallel = 1,
                                 .utilization = 0.9,
                                 .batched_tokens = 8192,
                                 .sequences = 1024,
                                 .block_size = 16,
                                 .activation = -1};

    assert_non_null(setup.model);
    assert_non_null(setup.gpu);
    return setup;
}

/* KV cache in GiB as printed by vLLM (llm-d-planner docs/empirical-vllm-memory-results.md, vLLM 0.11.0; a log
 * of an A100). */
static void test_reported_caches(void **state)
{
    static const struct {
        const char *model, *gpu;
        enum llm_weights weights;
        double utilization, kv_gib;
        int batched, sequences;
    } reported[] = {
        {"llama-3.1-8b", "h100", LLM_WEIGHTS_BF16, 0.9, 51.38, 8192, 1024},
        {"qwen3-32b", "h100", LLM_WEIGHTS_BF16, 0.9, 4.45, 8192, 1024},
        {"gpt-oss-20b", "h100", LLM_WEIGHTS_MXFP4, 0.9, 50.28, 8192, 1024},
        {"gpt-oss-120b", "h100", LLM_WEIGHTS_MXFP4, 0.95, 3.33, 8192, 1024},
        {"llama-3.3-70b", "h100", LLM_WEIGHTS_FP8, 0.9, -1.44, 8192, 1024},
        {"phi-4-mini", "a100-40gb", LLM_WEIGHTS_BF16, 0.9, 26.6, 2048, 256},
    };

    (void)state;
    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++) {
        struct memory_setup setup = setup_of(reported[i].model, reported[i].gpu, reported[i].weights);
        struct memory_fit fit;

        setup.utilization = reported[i].utilization;
        setup.batched_tokens = reported[i].batched;
        setup.sequences = reported[i].sequences;
        memory_fit(&setup, &fit);
        print_message("%s on %s: KV %.2f GiB, reported %.2f\n", reported[i].model, reported[i].gpu,
                      (double)fit.kv / GIB, reported[i].kv_gib);
        assert_true(fabs((double)fit.kv / GIB - reported[i].kv_gib) <= 0.5);
        assert_int_equal(fit.fits, reported[i].kv_gib > 0);
        assert_int_equal(fit.limit, fit.weights + fit.non_torch + fit.activation + fit.kv);
        assert_int_equal(fit.total, fit.limit + fit.margin);
    }
}

/* The engine of the RTX 4090 run reported 2,587 usable blocks. */
static void test_blocks_of_a_real_run(void **state)
{
    struct memory_setup setup = setup_of("llama-3.1-8b", "rtx-4090", LLM_WEIGHTS_BF16);
    struct memory_fit fit;

    (void)state;
    setup.batched_tokens = 2048;
    setup.sequences = 256;
    memory_fit(&setup, &fit);
    assert_int_equal(fit.block, 16 * 131072);
    assert_true(llabs(fit.blocks - 2587) < 2587 / 20);
}

static void test_terms_by_hand(void **state)
{
    struct memory_setup setup = setup_of("llama-3.1-8b", "h100", LLM_WEIGHTS_BF16);
    struct memory_fit fit;
    char text[512];

    (void)state;
    memory_fit(&setup, &fit);
    /* vLLM: 118,784 bytes a token of budget */
    assert_int_equal(fit.activation_tokens, 118784 * 8192);
    assert_int_equal(fit.activation_sampler, INT64_C(5056364544) /* 38.5 x 1024 x 128256 */);
    assert_int_equal(fit.activation, fit.activation_sampler);
    assert_int_equal(fit.weights, INT64_C(16060522496));
    setup.tensor_parallel = 4;
    setup.batched_tokens = 1 << 18;
    memory_fit(&setup, &fit);
    assert_int_equal(fit.weights, INT64_C(16060522496) / 4);
    assert_int_equal(fit.block, 16 * 131072 / 4);
    assert_int_equal(fit.activation, (3 * 14336 / 4 + 4 * 4096) * INT64_C(2) * (1 << 18));
    setup.tensor_parallel = 16; /* 8 KV heads: replicated beyond 8 */
    setup.kv_bytes = 1;
    memory_fit(&setup, &fit);
    assert_int_equal(fit.block, 16 * 131072 / 8 / 2);
    setup.activation = 0;
    setup.utilization = 0.999; /* no room for the graphs */
    memory_fit(&setup, &fit);
    assert_int_equal(fit.activation, 0);
    assert_true(fit.blocks > 0);
    assert_false(fit.fits);
    memory_fit_text(&setup, &fit, text, sizeof text);
    assert_non_null(strstr(text, "static: weights 0.93"));
    assert_non_null(strstr(text, "margin 0.08, of which CUDA graphs 0.50"));
}

/* Formats: 2 bytes; 1 byte but for embedding and head (figures of the models' published GiB). */
static void test_weight_formats(void **state)
{
    (void)state;
    assert_true(fabs(llm_weight_bytes(llm_model_find("llama-3.1-70b"), LLM_WEIGHTS_BF16) / GIB - 131.42) <
                0.01);
    assert_true(fabs(llm_weight_bytes(llm_model_find("llama-3.1-70b"), LLM_WEIGHTS_FP8) / GIB - 67.67) <
                0.01);
    assert_true(fabs(llm_weight_bytes(llm_model_find("llama-2-7b"), LLM_WEIGHTS_INT4) / GIB - 3.62) < 0.01);
    assert_null(llm_model_find("llama-9"));
    assert_null(llm_gpu_find("h1000"));
}

/* Every fit: names of the catalog, a source, no faster than the hardware; at least 12 pairs of a model and a
 * GPU. */
static void test_fits_obey_physics(void **state)
{
    size_t pairs = 0;
    const struct llm_step_fit *fit;

    (void)state;
    for (size_t i = 0; (fit = llm_step_fit_at(i)) != NULL; i++) {
        const struct llm_model *model = llm_model_find(fit->model);
        const struct llm_gpu *gpu = llm_gpu_find(fit->gpu);
        struct llm_step_fit roofline;
        bool again = false;

        assert_non_null(model);
        assert_non_null(gpu);
        assert_true(strlen(fit->source) > 20);
        llm_step_estimate(model, gpu, fit->tensor_parallel, fit->weights, 2, &roofline);
        /* the estimate reads weights at 0.8 of the bandwidth and computes at 0.45 of the peak */
        assert_true(fit->base > 0.8 * 0.8 * roofline.base);
        if (strncmp(fit->source, "inference-sim", 13) == 0)
            assert_true(fit->base < 2.6 * 0.8 * roofline.base); /* how they were chosen */
        if (strcmp(fit->gpu, "rtx-4090") != 0) /* its run beats the data sheet: half-precision accumulation */
            assert_true(fit->prefill > 0.45 * roofline.prefill);
        for (size_t j = 0; j < i; j++)
            again |= strcmp(llm_step_fit_at(j)->model, fit->model) == 0 &&
                     strcmp(llm_step_fit_at(j)->gpu, fit->gpu) == 0;
        pairs += !again;
        assert_ptr_equal(llm_step_fit_find(model, gpu, fit->tensor_parallel, fit->weights), fit);
    }
    print_message("%zu pairs of model and GPU have a published fit\n", pairs);
    assert_true(pairs >= 12);
}

/* The roofline against the two fits to real runs: what its header says of its error. */
static void test_roofline_near_real_runs(void **state)
{
    static const char *const gpus[] = {"rtx-4090", "rtx-pro-6000"};
    const struct llm_model *model = llm_model_find("llama-3.1-8b");

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct llm_gpu *gpu = llm_gpu_find(gpus[i]);
        const struct llm_step_fit *fit = llm_step_fit_find(model, gpu, 1, LLM_WEIGHTS_BF16);
        struct llm_step_fit estimate;

        llm_step_estimate(model, gpu, 1, LLM_WEIGHTS_BF16, 2, &estimate);
        assert_non_null(strstr(estimate.source, "ESTIMATE"));
        assert_true(estimate.base / fit->base > 0.92 && estimate.base / fit->base < 1.17);
        assert_true(estimate.context / fit->context > 1.2 && estimate.context / fit->context < 1.3);
    }
    /* by hand: 16.06 GB over 0.8 x 3.35 TB/s */
    {
        struct llm_step_fit estimate;

        llm_step_estimate(model, llm_gpu_find("h100"), 1, LLM_WEIGHTS_BF16, 2, &estimate);
        assert_true(fabs(estimate.base - 5992.7) < 0.1);
        assert_true(fabs(estimate.prefill - 36.087) < 0.01);
    }
}

static void test_names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; llm_model_at(i); i++) {
        assert_ptr_equal(llm_model_find(llm_model_at(i)->name), llm_model_at(i));
        assert_true(llm_model_at(i)->active <= llm_model_at(i)->parameters);
        assert_non_null(llm_model_at(i)->source);
    }
    for (size_t i = 0; llm_gpu_at(i); i++) {
        assert_ptr_equal(llm_gpu_find(llm_gpu_at(i)->name), llm_gpu_at(i));
        assert_non_null(llm_gpu_at(i)->source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reported_caches),   cmocka_unit_test(test_blocks_of_a_real_run),
        cmocka_unit_test(test_terms_by_hand),     cmocka_unit_test(test_weight_formats),
        cmocka_unit_test(test_fits_obey_physics), cmocka_unit_test(test_roofline_near_real_runs),
        cmocka_unit_test(test_names_are_unique),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
