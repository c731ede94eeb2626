#ifndef TESTS_UNIT_REPLICA_SERVE_SUPPORT_H
#define TESTS_UNIT_REPLICA_SERVE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/replica/service.h"

/* Helpers of the service models' tests: a model out of a text, and jobs driven through one server. */

static inline void model_read(const char *text, struct service_model *model, struct document **doc)
{
    struct error err = {0};

    if (document_read_text(text, strlen(text), "test", doc, &err) ||
        service_model_parse(document_root(*doc), model, &err))
        fail_msg("%s: %s", err.place, err.message);
}

/* The text must be refused with ERROR_INPUT and a message that holds `expected`. */
static inline void model_refused(const char *text, const char *expected)
{
    struct service_model model;
    struct document *doc = NULL;
    struct error err = {0};
    int failed = document_read_text(text, strlen(text), "test", &doc, &err);

    assert_int_equal(failed, 0);
    failed = service_model_parse(document_root(doc), &model, &err);
    if (!failed)
        fail_msg("accepted: %s", text);
    assert_int_equal(err.code, ERROR_INPUT);
    if (!strstr(err.message, expected))
        fail_msg("%s\n  gives    %s\n  expected %s", text, err.message, expected);
    service_model_free(&model);
    document_free(doc);
}

static inline void job_prepare(struct job *job, uint64_t number, sim_time at, int64_t work_ns)
{
    *job = (struct job){.intended = at,
                        .request = number,
                        .work_ns = work_ns,
                        .submitted = at,
                        .started = SIM_NEVER,
                        .first_output = SIM_NEVER,
                        .finished = SIM_NEVER,
                        .deadline = SIM_NEVER};
}

/* Advances through everything that is due until `until`, included; order receives the numbers of what
 * finished. */
static inline size_t serve_until(struct server *server, sim_time until, uint64_t *order, size_t done)
{
    while (server->next_time <= until) {
        sim_time now = server->next_time;
        struct job *next;

        for (struct job *job = server->type->advance(server, now); job; job = next) {
            next = job->next;
            assert_int_equal(job->finished, now);
            if (order)
                order[done] = job->request;
            done++;
        }
        assert_true(server->next_time >= now);
    }
    return done;
}

/* Submits jobs[0 .. count) at their intended times and serves all; ends before arrivals at equal times. */
static inline void serve_all(struct server *server, struct job *jobs, size_t count, uint64_t *order)
{
    size_t done = 0;

    for (size_t i = 0; i < count; i++) {
        done = serve_until(server, jobs[i].intended, order, done);
        assert_true(server->type->submit(server, jobs[i].intended, &jobs[i]));
    }
    done = serve_until(server, SIM_NEVER - 1, order, done);
    assert_int_equal(done, count);
    assert_int_equal(server->running, 0);
    assert_int_equal(server->waiting, 0);
    assert_int_equal(server->next_time, SIM_NEVER);
}

#endif
