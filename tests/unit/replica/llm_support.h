#ifndef TESTS_UNIT_REPLICA_LLM_SUPPORT_H
#define TESTS_UNIT_REPLICA_LLM_SUPPORT_H

#include <stdio.h>
#include <string.h>

#include "models/replica/llm.h"

/* Requests driven through one llm server as a run would: at equal times the ends first, then arrivals, then
 * starts. */

/* What a request was given; a job is prepared anew for every run. */
struct llm_request {
    sim_time at;
    int32_t prompt, output;
    uint64_t prefix_group;
    int32_t prefix_tokens;
};

static inline void llm_job(struct job *job, const struct llm_request *request, uint64_t number)
{
    *job = (struct job){.intended = request->at,
                        .request = number,
                        .prefix_group = request->prefix_group,
                        .prefix_tokens = request->prefix_tokens,
                        .tokens_in = request->prompt,
                        .tokens_out = request->output,
                        .submitted = request->at,
                        .started = SIM_NEVER,
                        .first_output = SIM_NEVER,
                        .finished = SIM_NEVER,
                        .deadline = SIM_NEVER};
}

/* Is the server due before an arrival at `at`? */
static inline bool llm_due(const struct server *server, sim_time at)
{
    return server->next_time < at ||
           (server->next_time == at && at != SIM_NEVER && server->next_rank == SERVER_END);
}

/* Advances through all that is due before arrivals at `until`; returns how many finished. */
static inline size_t llm_until(struct server *server, sim_time until)
{
    size_t done = 0;

    while (llm_due(server, until))
        for (struct job *job = server->type->advance(server, server->next_time); job; job = job->next)
            done++;
    return done;
}

/* Serves requests in the order of their times, all to their end. refused may be NULL. Returns how many
 * finished. */
static inline size_t llm_serve(struct server *server, const struct llm_request *requests, size_t count,
                               struct job *jobs, size_t *refused)
{
    size_t done = 0, not_taken = 0;

    for (size_t i = 0; i < count; i++) {
        done += llm_until(server, requests[i].at);
        llm_job(&jobs[i], &requests[i], i);
        not_taken += !server->type->submit(server, requests[i].at, &jobs[i]);
    }
    done += llm_until(server, SIM_NEVER);
    if (refused)
        *refused = not_taken;
    return done;
}

/* A model out of a text; false with the reason in err. */
static inline bool llm_model(const char *text, struct service_model *model, struct error *err)
{
    struct document *document = NULL;
    bool done = document_read_text(text, strlen(text), "llm", &document, err) == 0 &&
                service_model_parse(document_root(document), model, err) == 0;

    document_free(document);
    return done;
}

#endif
