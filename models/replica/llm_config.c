#include "models/replica/llm_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/replica/llm_internal.h"
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
    struct map map, step;
    int64_t value;
    double share;

    if (!config)
        return error_memory(err, "llm");
    map_open(&map, node, err);
    map_open_child(&step, &map, "step");
    step_time(&step, "base", MAP_REQUIRED, most_ns[0], &config->base);
    step_time(&step, "prefill_token", MAP_REQUIRED, most_ns[1], &config->prefill);
    step_time(&step, "decode", MAP_REQUIRED, most_ns[2], &config->decode);
    step_time(&step, "context_token", MAP_REQUIRED, most_ns[3], &config->context);
    if (step_time(&step, "resolution", MAP_DEFAULT("0", "steps are not rounded"), 1e9, &config->grid) &&
        config->grid == 0)
        config->grid = 1;
    map_close(&step);
    if (map_integer(&map, "block_size", MAP_DEFAULT("16", "default of vLLM on CUDA"), 1, 1024, &value))
        config->block_size = (int32_t)value;
    if (map_integer(&map, "kv_blocks", MAP_REQUIRED, 1, INT64_C(1) << 30, &value))
        config->kv_blocks = value;
    if (map_integer(&map, "max_num_batched_tokens", MAP_DEFAULT("2048", ""), 1, 1 << 20, &value))
        config->budget = (int32_t)value;
    if (map_integer(&map, "max_num_seqs", MAP_DEFAULT("256", ""), 1, 1 << 20, &value))
        config->most_running = (int32_t)value;
    if (map_integer(&map, "long_prefill_token_threshold", MAP_DEFAULT("0", ""), 0, 1 << 20, &value))
        config->threshold = (int32_t)value;
    if (map_integer(&map, "max_model_len", MAP_DEFAULT("32768", ""), 1, 1 << 24, &value))
        config->longest = (int32_t)value;
    map_bool(&map, "prefix_caching", MAP_DEFAULT("true", "default of vLLM V1"), &config->caching);
    map_bool(&map, "reserve_full_isl", MAP_DEFAULT("true", "default of vLLM since 0.19"), &config->reserve);
    if (map_share(&map, "watermark", MAP_DEFAULT("0", "default of vLLM"), &share))
        config->watermark = (int64_t)(share * (double)config->kv_blocks);
    map_bool(&map, "exact_stepping", MAP_DEFAULT("false", ""), &config->stepping);
    if (map_close(&map) || check_steps(config, node, err)) {
        free(config);
        return -1;
    }
    config->block_shift = __builtin_ctz((unsigned)config->block_size);
    *out = config;
    return 0;
}

void llm_config_free(void *config)
{
    free(config);
}

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

double llm_config_max_rate(const void *config, double mean_demand_seconds, double mean_tokens_in,
                           double mean_tokens_out)
{
    (void)config;
    (void)mean_demand_seconds;
    (void)mean_tokens_in;
    (void)mean_tokens_out;
    return (double)INFINITY;
}
const char *llm_config_note(const void *config)
{
    return ((const struct llm_config *)config)->note;
}

bool llm_config_estimated(const void *config)
{
    return ((const struct llm_config *)config)->estimated;
}
