/*
 * Runs models/replica/llm against reference runs of a continuous-batching scheduler: files with one case or a
 * list "cases". Each case runs twice, event-skipped and step by step.
 *
 * step_ns (whole nanoseconds): all times must be equal to the nanosecond. step_us: the reference floors each
 * step to a microsecond, so a request may be off by 1 us a step; by nothing where the coefficients are whole.
 * A case with "observed" is a run of a real engine: the errors of the prediction against it must be those
 * that the file states for its own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/vectors.h"
#include "tests/unit/replica/llm_support.h"

struct batch_case {
    const char *name;
    struct fy_node *config, *expected, *observed, *error;
    struct llm_request *requests;
    struct job *jobs;
    char (*ids)[24];
    size_t count;
    sim_time unit; /* of the case's times, ns */
};

static sim_time case_time(const struct batch_case *batch, struct fy_node *map, const char *what)
{
    char key[32];

    snprintf(key, sizeof key, "%s_%s", what, batch->unit == 1 ? "ns" : "us");
    return vector_has(map, key) ? vector_int64(vector_get(map, key), 0) * batch->unit : SIM_NEVER;
}

static bool case_requests(struct batch_case *batch, struct fy_node *list)
{
    struct fy_node *node;
    void *position = NULL;

    batch->count = (size_t)vector_count(list);
    batch->requests = calloc(batch->count + 1, sizeof *batch->requests);
    batch->jobs = calloc(batch->count + 1, sizeof *batch->jobs);
    batch->ids = calloc(batch->count + 1, sizeof *batch->ids);
    if (!batch->requests || !batch->jobs || !batch->ids)
        return false;
    for (size_t i = 0; (node = fy_node_sequence_iterate(list, &position)) != NULL; i++) {
        batch->requests[i] = (struct llm_request){
            .at = case_time(batch, node, "arrival"),
            .prompt = vector_int32(vector_get(node, "prompt"), 0),
            .output = vector_int32(vector_get(node, "output"), 0),
            .prefix_group = (uint64_t)vector_int64(vector_get(node, "prefix_group"), 0),
            .prefix_tokens = vector_int32(vector_get(node, "prefix_len"), 0),
        };
        /* groups may be numbered from 0, which means none to us */
        if (vector_has(node, "prefix_group") && vector_get(node, "prefix_group"))
            batch->requests[i].prefix_group++;
        snprintf(batch->ids[i], sizeof *batch->ids, "%" PRId64,
                 vector_int64(vector_get(node, "id"), (int64_t)i));
    }
    return true;
}

static void case_free(struct batch_case *batch)
{
    free(batch->requests);
    free(batch->jobs);
    free(batch->ids);
}

/* The reference's configuration as a scenario writes it. */
static void case_text(const struct batch_case *batch, bool stepping, char *text, size_t size)
{
    struct fy_node *config = batch->config,
                   *steps = vector_get(config, batch->unit == 1 ? "step_ns" : "step_us");
    const char *unit = batch->unit == 1 ? "ns" : "us";

    snprintf(text, size,
             "{\"llm\": {\"step\": {\"base\": \"%s%s\", \"prefill_token\": \"%s%s\", \"decode\": \"%s%s\", "
             "\"context_token\": \"%s%s\", \"resolution\": \"%s\"}, \"kv_blocks\": %s, \"block_size\": %s, "
             "\"max_num_batched_tokens\": %s, "
             "\"max_num_seqs\": %s, \"long_prefill_token_threshold\": %s, \"max_model_len\": %s, "
             "\"prefix_caching\": %s, \"reserve_full_isl\": %s, \"watermark\": %s, \"exact_stepping\": %s}}",
             vector_text(vector_at(steps, 0), ""), unit, vector_text(vector_at(steps, 1), ""), unit,
             vector_text(vector_at(steps, 2), ""), unit, vector_text(vector_at(steps, 3), ""), unit,
             batch->unit == 1 ? "0" : "1us", vector_text(vector_get(config, "num_blocks"), ""),
             vector_text(vector_get(config, "block_size"), ""),
             vector_text(vector_get(config, "max_num_batched_tokens"), ""),
             vector_text(vector_get(config, "max_num_seqs"), ""),
             vector_text(vector_get(config, "long_prefill_token_threshold"), "0"),
             vector_text(vector_get(config, "max_model_len"), ""),
             vector_text(vector_get(config, "prefix_caching"), "false"),
             vector_text(vector_get(config, "reserve_full_isl"), "true"),
             vector_text(vector_get(config, "watermark"), "0"), stepping ? "true" : "false");
}

static bool whole_steps(const struct batch_case *batch)
{
    struct fy_node *steps = vector_get(batch->config, batch->unit == 1 ? "step_ns" : "step_us");

    for (int i = 0; i < 4; i++) {
        double value = vector_double(vector_at(steps, i), NAN);

        if (!(value == floor(value)))
            return false;
    }
    return true;
}

static void check_time(struct outcome *outcome, const char *id, const char *what, sim_time expected,
                       sim_time got, sim_time within)
{
    sim_time off = got > expected ? got - expected : expected - got;

    if (expected != SIM_NEVER && off > within)
        outcome_fail(outcome, "request %s: %s expected %" PRId64 " ns, got %" PRId64 " ns", id, what,
                     expected, got);
}

static void check_exact(const struct batch_case *batch, const struct llm_counters *counters,
                        struct outcome *outcome)
{
    struct fy_node *expected = batch->expected, *list = vector_get(expected, "requests"), *node;
    int64_t steps = vector_int64(vector_get(expected, "steps"), 0);
    sim_time within = whole_steps(batch) ? 0 : steps * batch->unit;
    void *position = NULL;
    size_t checked = 0;

    for (; (node = fy_node_sequence_iterate(list, &position)) != NULL; checked++) {
        int64_t id = vector_int64(vector_get(node, "id"), -1);
        const struct job *job = NULL;
        char text[24];

        snprintf(text, sizeof text, "%" PRId64, id);
        for (size_t i = 0; i < batch->count && !job; i++)
            if (strcmp(batch->ids[i], text) == 0)
                job = &batch->jobs[i];
        if (!job || job->finished == SIM_NEVER) {
            outcome_fail(outcome, "request %s did not end", text);
            return;
        }
        check_time(outcome, text, "TTFT", case_time(batch, node, "ttft"), job->first_output - job->intended,
                   within);
        check_time(outcome, text, "E2E", case_time(batch, node, "e2e"), job->finished - job->intended,
                   within);
        check_time(outcome, text, "start", case_time(batch, node, "first_sched"), job->started, within);
        if (vector_has(node, "preemptions"))
            outcome_equal(outcome, "preemptions of a request",
                          vector_int64(vector_get(node, "preemptions"), -1), job->preemptions);
        if (vector_has(node, "cached_tokens"))
            outcome_equal(outcome, "cached tokens", vector_int64(vector_get(node, "cached_tokens"), -1),
                          job->cached_tokens);
    }
    outcome_equal(outcome, "requests", (int64_t)checked,
                  (int64_t)batch->count - vector_count(vector_get(expected, "dropped")));
    if (within > 0)
        return; /* the reference's own steps are another length: an arrival may meet another step */
    outcome_equal(outcome, "steps", steps, counters->steps);
    outcome_equal(outcome, "preemptions", vector_int64(vector_get(expected, "preemptions"), -1),
                  counters->preemptions);
    outcome_equal(
        outcome, "most blocks used",
        vector_int64(vector_get(expected, vector_has(expected, "peak_used_blocks") ? "peak_used_blocks"
                                                                                   : "peak_nsed_blocks"),
                     -1),
        counters->blocks_peak);
}

/* Mean absolute percentage error over the ids of one half: ours, or of the file's own prediction. */
static double mape(const struct batch_case *batch, bool odd, bool ttft, bool own)
{
    struct fy_node *list = vector_get(batch->expected, "requests");
    const char *what = ttft ? "ttft" : "e2e";
    double sum = 0;
    int count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        double observed = (double)case_time(batch, vector_get(batch->observed, batch->ids[i]), what), got;
        struct job *job = &batch->jobs[i];

        if ((strtol(batch->ids[i], NULL, 10) & 1) != odd)
            continue;
        if (own)
            got = (double)((ttft ? job->first_output : job->finished) - job->intended);
        else
            got = (double)case_time(batch, vector_at(list, (int)i), what);
        sum += fabs(got - observed) / observed;
        count++;
    }
    return 100 * sum / count;
}

static void check_observed(const struct batch_case *batch, bool stepping, struct outcome *outcome)
{
    static const char *const halves[] = {"train_even_ids", "holdout_odd_ids"};
    static const char *const kinds[] = {"e2e", "ttft"};

    for (int odd = 0; odd < 2; odd++)
        for (int ttft = 0; ttft < 2; ttft++) {
            struct fy_node *half = vector_get(batch->error, halves[odd]);
            double stated = vector_double(vector_get(vector_get(half, kinds[ttft]), "mape_pct"), NAN);
            double predicted = mape(batch, odd, ttft, false), got = mape(batch, odd, ttft, true);

            if (!stepping)
                printf("%s: %s MAPE of the %s ids %.3f %% (the reference's prediction %.3f %%, stated as "
                       "%.2f %%)\n",
                       batch->name, ttft ? "TTFT" : "E2E", odd ? "odd" : "even", got, predicted, stated);
            if (!(fabs(got - predicted) <= 0.005) || !(fabs(got - stated) <= 0.03))
                outcome_fail(outcome, "%s MAPE of the %s ids: expected %.4f %%, got %.4f %%", kinds[ttft],
                             odd ? "odd" : "even", predicted, got);
        }
}

static void run_mode(struct batch_case *batch, bool stepping, struct outcome *outcome)
{
    struct service_model model = {NULL, NULL};
    struct llm_counters counters;
    struct server *server;
    struct error err = {0};
    size_t done, refused;
    char text[1024];

    case_text(batch, stepping, text, sizeof text);
    if (!llm_model(text, &model, &err) || !(server = model.type->create(model.config, &err))) {
        outcome_fail(outcome, "%s: %s", err.place, err.message);
        service_model_free(&model);
        return;
    }
    done = llm_serve(server, batch->requests, batch->count, batch->jobs, &refused);
    llm_server_counters(server, &counters);
    outcome_equal(outcome, "requests in and out", (int64_t)batch->count, (int64_t)(done + refused));
    outcome_equal(outcome, "blocks held at the end", 0, counters.blocks_used);
    outcome_equal(outcome, "free blocks at the end", counters.blocks, counters.blocks_listed);
    check_exact(batch, &counters, outcome);
    if (batch->observed)
        check_observed(batch, stepping, outcome);
    model.type->destroy(server);
    service_model_free(&model);
}

static bool run_case(struct fy_node *node, const char *path)
{
    struct batch_case batch = {.name = vector_text(vector_get(node, "name"), path),
                               .config = vector_get(node, "config"),
                               .observed = vector_get(node, "observed"),
                               .error = vector_get(node, "error")};
    struct outcome outcome = {0};

    batch.expected = vector_get(node, batch.observed ? "reference_prediction" : "expected");
    batch.unit = vector_has(batch.config, "step_ns") ? 1 : 1000;
    if (!batch.config || !batch.expected)
        outcome_fail(&outcome, "no \"config\" or nothing expected");
    else if (!case_requests(&batch, vector_get(node, "requests")))
        outcome_fail(&outcome, "out of memory");
    for (int stepping = 0; stepping < 2 && outcome.text[0] == '\0'; stepping++) {
        run_mode(&batch, stepping, &outcome);
        if (outcome.text[0] != '\0')
            printf("FAILED %s, %s: %s\n", batch.name, stepping ? "step by step" : "event-skipped",
                   outcome.text);
    }
    case_free(&batch);
    return outcome.text[0] == '\0';
}

int main(int argc, char **argv)
{
    struct fy_parse_cfg config = {.flags = FYPCF_JSON_FORCE};
    long passed = 0, failed = 0;
    int first = 1, unreadable = 0;

    if (argc > 3 && strcmp(argv[1], "--skip-absent") == 0) {
        first = 3;
        for (int i = first; i < argc; i++)
            if (access(argv[i], R_OK) != 0) {
                printf("SKIPPED: %s: %d files not run, no ../shared\n", argv[2], argc - first);
                return 77;
            }
    }
    if (first >= argc) {
        fprintf(stderr, "usage: %s [--skip-absent NAME] FILE...\n", argv[0]);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        struct fy_document *document = fy_document_build_from_file(&config, argv[i]);
        struct fy_node *root = document != NULL ? fy_document_root(document) : NULL, *cases, *node;
        void *position = NULL;

        if (root == NULL) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            unreadable++;
            continue;
        }
        cases = vector_get(root, "cases");
        if (!cases)
            run_case(root, argv[i]) ? passed++ : failed++;
        else
            while ((node = fy_node_sequence_iterate(cases, &position)) != NULL)
                run_case(node, argv[i]) ? passed++ : failed++;
        fy_document_destroy(document);
    }
    printf("%ld passed, %ld failed\n", passed, failed);
    if (unreadable > 0)
        return 2;
    return failed == 0 && passed > 0 ? 0 : 1;
}
