#include "models/replica/llm_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/replica/llm_internal.h"
#include "models/replica/llm_presets.h"
#include "models/replica/memory.h"
#include "sim/io/quantity.h"

/* Largest coefficients; what a whole step may take is checked when all is known. */
static const double most_ns[] = {1e10, 1e9, 1e9, 1e6};
/* An hour: 2^58 fine units, so that a run of steps stays inside int64. */
static const double longest_step_ns = 3600e9;

/* "17.23ms", "126.7ns": like a duration, but with fractions of a nanosecond. */
static bool step_time(struct map *map, const char *key, struct map_default def, double most, int64_t *fine)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *text;
    char number[64];
    size_t digits;
    double value = 0, ns = 0;

    if (!map_string(map, key, def, &text))
        return false;
    digits = strspn(text, "+-.0123456789eE");
    if (digits > 0 && digits < sizeof number) {
        memcpy(number, text, digits);
        number[digits] = '\0';
        if (quantity_number(number, &value, NULL) == 0)
            for (size_t i = 0; i < sizeof units / sizeof *units; i++)
                if (strcmp(text + digits, units[i].unit) == 0)
                    ns = units[i].ns;
    }
    if (strcmp(text, "0") == 0)
        ns = 1;
    if (ns <= 0 || !(value >= 0) || value * ns > most) {
        const struct node *node = map_node(map, key);
        const char *form = "expected a time such as \"17.23ms\" or \"126.7ns\" up to %g s; found \"%.40s\"";

        if (node)
            node_error(node, map->err, form, most / 1e9, text);
        else
            error_set(map->err, ERROR_INPUT, key, form, most / 1e9, text);
        return false;
    }
    *fine = llround(value * ns * LLM_FINE);
    return true;
}

/* ---- presets ---- */

/* What "model" and "gpu" say; texts are defaults of the keys that they fill, NULL without them. */
struct preset {
    struct memory_setup memory;
    struct llm_step_fit step;
    struct memory_fit fit;
    bool given, estimated;
    char step_text[4][32], blocks[24], longest[24], memory_text[768], source[512];
};

static bool unknown_name(struct map *map, const char *key, const char *name, const char *const *names,
                         size_t count)
{
    const char *near = nearest_name(name, names, count);
    char list[1024];
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    node_error(map_node(map, key), map->err, "no preset for \"%.60s\"%s%s%s; there are: %s", name,
               near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", list);
    return false;
}

static bool find_model(struct map *map, struct preset *preset)
{
    const char *name, *names[64];
    size_t count = 0;

    if (!map_string(map, "model", MAP_REQUIRED, &name))
        return false;
    preset->memory.model = llm_model_find(name);
    for (const struct llm_model *model; count < 64 && (model = llm_model_at(count)) != NULL; count++)
        names[count] = model->name;
    return preset->memory.model || unknown_name(map, "model", name, names, count);
}

static bool find_gpu(struct map *map, struct preset *preset)
{
    const char *name, *names[64];
    size_t count = 0;

    if (!map_string(map, "gpu", MAP_REQUIRED, &name))
        return false;
    preset->memory.gpu = llm_gpu_find(name);
    for (const struct llm_gpu *gpu; count < 64 && (gpu = llm_gpu_at(count)) != NULL; count++)
        names[count] = gpu->name;
    return preset->memory.gpu || unknown_name(map, "gpu", name, names, count);
}

static bool preset_names(struct map *map, struct preset *preset)
{
    static const char *const kv_names[] = {"bf16", "fp8", NULL};
    struct memory_setup *memory = &preset->memory;
    const struct llm_step_fit *step;
    const char *shipped;
    int64_t tp;
    int weights, kv;

    if (!find_model(map, preset) || !find_gpu(map, preset))
        return false;
    shipped = llm_weights_names[memory->model->shipped];
    if (!map_integer(map, "tensor_parallel", MAP_DEFAULT("1", "one GPU a replica"), 1, 64, &tp) ||
        !map_choice(map, "weights", MAP_DEFAULT(shipped, memory->model->source), llm_weights_names,
                    &weights) ||
        !map_choice(map, "kv_dtype", MAP_DEFAULT("bf16", "default of vLLM: the model's type"), kv_names,
                    &kv) ||
        !map_share(map, "gpu_memory_utilization", MAP_DEFAULT("0.9", "default of vLLM"),
                   &memory->utilization))
        return false;
    memory->tensor_parallel = (int)tp;
    memory->weights = (enum llm_weights)weights;
    memory->kv_bytes = kv == 0 ? 2 : 1;
    memory->activation = -1;
    if (map_has(map, "activation_memory") &&
        !map_size(map, "activation_memory", MAP_REQUIRED, &memory->activation))
        return false;
    step = llm_step_fit_find(memory->model, memory->gpu, memory->tensor_parallel, memory->weights);
    if (step)
        preset->step = *step;
    else
        llm_step_estimate(memory->model, memory->gpu, memory->tensor_parallel, memory->weights,
                          memory->kv_bytes, &preset->step);
    preset->estimated = !step;
    preset->given = true;
    snprintf(preset->source, sizeof preset->source, "%s, %s, TP %d: %s", preset->step.model, preset->step.gpu,
             preset->step.tensor_parallel, preset->step.source);
    snprintf(preset->step_text[0], sizeof *preset->step_text, "%.6gus", preset->step.base);
    snprintf(preset->step_text[1], sizeof *preset->step_text, "%.6gus", preset->step.prefill);
    snprintf(preset->step_text[2], sizeof *preset->step_text, "%.6gus", preset->step.decode);
    snprintf(preset->step_text[3], sizeof *preset->step_text, "%.6gns", preset->step.context * 1e3);
    return true;
}

/* Once the limits are known. */
static void preset_memory(struct preset *preset, const struct llm_config *config)
{
    preset->memory.batched_tokens = config->budget;
    preset->memory.sequences = config->most_running;
    preset->memory.block_size = config->block_size;
    memory_fit(&preset->memory, &preset->fit);
    memory_fit_text(&preset->memory, &preset->fit, preset->memory_text, sizeof preset->memory_text);
    snprintf(preset->blocks, sizeof preset->blocks, "%lld", (long long)preset->fit.blocks);
}

/* ---- keys ---- */

static void parse_step(struct map *map, const struct preset *preset, struct llm_config *config)
{
    static const char *const keys[] = {"base", "prefill_token", "decode", "context_token"};
    int64_t *values[] = {&config->base, &config->prefill, &config->decode, &config->context};
    struct map step;
    bool given = false;

    map_open_child(&step, map, "step");
    for (int i = 0; i < 4; i++) {
        given |= map_has(&step, keys[i]);
        step_time(&step, keys[i],
                  preset->given ? MAP_DEFAULT(preset->step_text[i], preset->source) : MAP_REQUIRED,
                  most_ns[i], values[i]);
    }
    if (step_time(&step, "resolution", MAP_DEFAULT("0", "steps are not rounded"), 1e9, &config->grid) &&
        config->grid == 0)
        config->grid = 1;
    map_close(&step);
    config->estimated = preset->given && preset->estimated && !given;
}

static void parse_limits(struct map *map, const struct preset *preset, struct llm_config *config)
{
    /* the engine asks for the card's size and, for the A100, its name */
    const struct llm_gpu *gpu = preset->memory.gpu;
    bool large = gpu && gpu->memory_gib >= 70 && strncmp(gpu->name, "a100", 4) != 0;
    const char *source =
        "default of vLLM by GPU: 8192 and 1024 from 70 GiB on but for the A100, else 2048 and 256";
    int64_t value;

    if (map_integer(map, "block_size", MAP_DEFAULT("16", "default of vLLM on CUDA"), 1, 1024, &value)) {
        config->block_size = (int32_t)value;
        if (value & (value - 1))
            node_error(map_node(map, "block_size"), map->err, "expected a power of two; found %lld",
                       (long long)value);
        config->block_shift = __builtin_ctz((unsigned)value);
    }
    if (map_integer(map, "max_num_batched_tokens", MAP_DEFAULT(large ? "8192" : "2048", source), 1, 1 << 20,
                    &value))
        config->budget = (int32_t)value;
    if (map_integer(map, "max_num_seqs", MAP_DEFAULT(large ? "1024" : "256", source), 1, 1 << 20, &value))
        config->most_running = (int32_t)value;
    if (map_integer(map, "long_prefill_token_threshold", MAP_DEFAULT("0", "default of vLLM: no cap"), 0,
                    1 << 20, &value))
        config->threshold = (int32_t)value;
}

static void parse_blocks(struct map *map, struct preset *preset, struct llm_config *config)
{
    struct map_default blocks = MAP_REQUIRED, longest = MAP_DEFAULT("32768", "usual limit of a deployment");
    int64_t value;
    double share;

    if (preset->given && !map_failed(map)) {
        preset_memory(preset, config);
        blocks = MAP_DEFAULT(preset->blocks, preset->memory_text);
        if (!preset->fit.fits && !map_has(map, "kv_blocks")) {
            node_error(map_node(map, "model"), map->err, "does not fit: %s", preset->memory_text);
            return;
        }
    }
    if (map_integer(map, "kv_blocks", blocks, 1, INT64_C(1) << 30, &value))
        config->kv_blocks = value;
    if (preset->given) {
        int64_t pool = config->kv_blocks << config->block_shift;

        snprintf(preset->longest, sizeof preset->longest, "%lld",
                 (long long)(pool < preset->memory.model->longest ? pool : preset->memory.model->longest));
        longest = MAP_DEFAULT(preset->longest, "the model's context, as far as the KV cache holds it");
    }
    if (map_integer(map, "max_model_len", longest, 1, 1 << 24, &value))
        config->longest = (int32_t)value;
    map_bool(map, "prefix_caching", MAP_DEFAULT("true", "default of vLLM V1"), &config->caching);
    map_bool(map, "reserve_full_isl", MAP_DEFAULT("true", "default of vLLM since 0.19"), &config->reserve);
    if (map_share(map, "watermark", MAP_DEFAULT("0", "default of vLLM"), &share))
        config->watermark = (int64_t)(share * (double)config->kv_blocks);
    map_bool(map, "exact_stepping", MAP_DEFAULT("false", "the same times, only slower"), &config->stepping);
}

/* The longest step that the limits allow must stay far inside int64, and the shortest must take time. */
static int check_steps(const struct llm_config *config, const struct node *node, struct error *err)
{
    double scheduled = config->budget < config->most_running ? config->budget : config->most_running;
    double most = (double)config->base + (double)config->prefill * config->budget +
                  (double)config->decode * scheduled + (double)config->context * scheduled * config->longest;

    if (config->base < LLM_FINE || config->base < config->grid)
        return node_error(node, err, "step.base must be at least 1ns, and at least step.resolution");
    if (most / LLM_FINE > longest_step_ns)
        return node_error(node, err, "with these limits one step could last %.3g s; the most is %g s",
                          most / LLM_FINE / 1e9, longest_step_ns / 1e9);
    return 0;
}

int llm_config_parse(const struct node *node, void **out, struct error *err)
{
    struct llm_config *config = calloc(1, sizeof *config);
    struct preset *preset = calloc(1, sizeof *preset);
    struct map map;
    bool failed = true;

    *out = NULL;
    if (!config || !preset) {
        error_memory(err, "llm");
        goto out;
    }
    map_open(&map, node, err);
    if (map_has(&map, "model") || map_has(&map, "gpu"))
        preset_names(&map, preset);
    parse_step(&map, preset, config);
    parse_limits(&map, preset, config);
    parse_blocks(&map, preset, config);
    if (map_close(&map) || check_steps(config, node, err))
        goto out;
    if (preset->given)
        snprintf(config->note, sizeof config->note, "Step time: %s. Memory: %s.",
                 config->estimated || !preset->estimated ? preset->source : "given", preset->memory_text);
    failed = false;
    *out = config;
out:
    free(preset);
    if (failed)
        free(config);
    return failed ? -1 : 0;
}

void llm_config_free(void *config)
{
    free(config);
}

const char *llm_config_note(const void *config)
{
    return ((const struct llm_config *)config)->note;
}

bool llm_config_estimated(const void *config)
{
    return ((const struct llm_config *)config)->estimated;
}

/* ---- demand ---- */

void llm_config_draw(const void *config, gsl_rng *rng, struct job *job)
{
    double seconds = llm_config_nominal_seconds(config, job->tokens_in, job->tokens_out);

    (void)rng;
    job->work_ns = isnan(seconds) ? 0 : sim_time_from_seconds(seconds);
}

double llm_config_nominal_seconds(const void *config, int32_t tokens_in, int32_t tokens_out)
{
    const struct llm_config *llm = config;
    double chunk = llm->threshold > 0 && llm->threshold < llm->budget ? llm->threshold : llm->budget;
    double chunks, decodes, fine;

    if (tokens_in <= 0)
        return (double)NAN;
    chunks = ceil(tokens_in / chunk);
    decodes = tokens_out > 1 ? tokens_out - 1 : 0;
    /* alone: its prompt in chunks, then one token a step */
    fine = (double)llm->base * (chunks + decodes) + (double)llm->prefill * tokens_in +
           (double)llm->decode * decodes +
           (double)llm->context *
               (chunk * chunks * (chunks - 1) / 2 + decodes * tokens_in + decodes * (decodes - 1) / 2);
    return fine / LLM_FINE / 1e9;
}

/*
 * No less than this of the engine's time goes to a request of mean sizes, however large the batch: its
 * tokens' own cost, the context terms of its own output (convex in the length, so that the mean length bounds
 * the mean), and its share of each step's base. What the prompt adds to the context depends on how the two
 * lengths go together and is left out; with prefix caching all but the last token of a prompt may be spared.
 */
double llm_config_max_rate(const void *config, double mean_demand_seconds, double mean_tokens_in,
                           double mean_tokens_out)
{
    const struct llm_config *llm = config;
    double outputs = mean_tokens_out > 1 ? mean_tokens_out : 1, decodes = outputs - 1;
    double computed = llm->caching ? 1 : mean_tokens_in, fine;
    double batch = llm->budget < llm->most_running ? llm->budget : llm->most_running;

    (void)mean_demand_seconds;
    if (!(mean_tokens_in > 0))
        return (double)INFINITY;
    fine = (double)llm->prefill * computed + (double)llm->decode * decodes +
           (decodes > 1 ? (double)llm->context * decodes * (decodes - 1) / 2 : 0) +
           (double)llm->base * outputs / batch;
    return 1e9 * LLM_FINE / fine;
}
