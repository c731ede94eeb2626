#include <math.h>
#include <string.h>

#include "models/replica/start.h"

/* The "start" of a replica. Defaults are those of an LLM server on Kubernetes, each with its source. */

static const char *const from_names[] = {"store", "host-cache", NULL};

static void image_read(struct map *start, struct start_config *config)
{
    const struct node *extract;
    struct map map;

    map_open_child(&map, start, "image");
    map_distribution(&map, "size",
                     MAP_DEFAULT("8.9G", "vllm/vllm-openai v0.19 image, compressed, Docker Hub"), UNIT_BYTES,
                     &config->image_bytes);
    map_number(&map, "ratio", MAP_DEFAULT("2", "a CUDA and PyTorch image of 8.9 GB unpacks to about 18 GB"),
               1, 100, &config->extract_ratio);
    extract = map_node(&map, "extract");
    if (extract && node_text(extract) && strcmp(node_text(extract), "none") == 0)
        config->extract_bytes_per_s = INFINITY;
    else
        map_bandwidth(
            &map, "extract",
            MAP_DEFAULT("270MB/s", "measured: 156 GB of a DeepSeek image unpacked in 577 s by containerd"),
            &config->extract_bytes_per_s);
    map_close(&map);
}

static void load_read(struct map *start, struct start_config *config)
{
    struct map map;
    int from = 0;

    map_open_child(&map, start, "load");
    map_distribution(&map, "size", MAP_DEFAULT("15G", "Llama-3-8B in bf16, Run:ai model streamer benchmarks"),
                     UNIT_BYTES, &config->weight_bytes);
    if (map_choice(&map, "from",
                   MAP_DEFAULT("store", "servers read weights from a volume or an object store"), from_names,
                   &from))
        config->weights_from_host = from == 1;
    map_bandwidth(
        &map, "host_bandwidth",
        MAP_DEFAULT("23GB/s", "measured: llm-d fast model actuation brings 64 GiB back onto a GPU in 3 s"),
        &config->host_bytes_per_s);
    map_close(&map);
}

/* Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes". */
static void probe_read(struct map *start, struct start_config *config)
{
    const char *source = "Kubernetes default of a probe";
    int64_t successes = 1, failures = 3;
    struct map map;

    map_open_child(&map, start, "probe");
    map_time(&map, "initial_delay", MAP_DEFAULT("0", source), &config->probe_initial_delay);
    map_time(&map, "period", MAP_DEFAULT("10s", source), &config->probe_period);
    map_time(&map, "timeout", MAP_DEFAULT("1s", source), &config->probe_timeout);
    if (map_integer(&map, "success_threshold", MAP_DEFAULT("1", source), 1, 1000, &successes))
        config->probe_success_threshold = (int32_t)successes;
    /* Part of every manifest; how many failures count as one matters only once the container has been ready.
     */
    map_integer(&map, "failure_threshold", MAP_DEFAULT("3", source), 1, 1000000, &failures);
    if (!map_failed(&map) && config->probe_period <= 0)
        node_error(map_has(&map, "period") ? map_node(&map, "period") : map.node, map.err,
                   "a probe's \"period\" must be longer than 0");
    map_close(&map);
}

int start_config_parse(const struct node *node, struct start_config *config, struct error *err)
{
    struct map map;

    *config = (struct start_config){.gpus = 1};
    map_open(&map, node, err);
    map_distribution(
        &map, "schedule",
        MAP_DEFAULT("150ms",
                    "measured: median 112 ms on GKE, 144 ms on EKS, 190 ms on AKS 1.32, pod seen to bound"),
        UNIT_SECONDS, &config->schedule);
    image_read(&map, config);
    load_read(&map, config);
    map_distribution(
        &map, "init",
        MAP_DEFAULT("{\"lognormal\": {\"median\": \"110s\", \"p99\": \"10m\"}}",
                    "vLLM logs: process start 10 to 61 s, engine init median 80 s and most 539 s of 12"),
        UNIT_SECONDS, &config->init);
    probe_read(&map, config);
    map_distribution(&map, "endpoint", MAP_DEFAULT("1s", "kube-proxy syncs its rules at most once a second"),
                     UNIT_SECONDS, &config->endpoint);
    map_time(&map, "grace", MAP_DEFAULT("30s", "Kubernetes default of terminationGracePeriodSeconds"),
             &config->grace);
    if (map_close(&map) == 0)
        return 0;
    start_config_free(config);
    return -1;
}

void start_config_free(struct start_config *config)
{
    distribution_free(&config->schedule);
    distribution_free(&config->image_bytes);
    distribution_free(&config->weight_bytes);
    distribution_free(&config->init);
    distribution_free(&config->endpoint);
    *config = (struct start_config){0};
}
