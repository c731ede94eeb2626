#ifndef MODELS_REPLICA_JOB_LIST_H
#define MODELS_REPLICA_JOB_LIST_H

#include <stddef.h>

#include "models/replica/service.h"

/*
 * A doubly linked list through job.next and job.previous: a server's queue, the jobs in its service, its
 * result. A job is in at most one such list at a time. All operations are O(1) and allocate nothing.
 */
struct job_list {
    struct job *first, *last;
};

static inline void job_list_append(struct job_list *list, struct job *job)
{
    job->next = NULL;
    job->previous = list->last;
    if (list->last)
        list->last->next = job;
    else
        list->first = job;
    list->last = job;
}

static inline void job_list_remove(struct job_list *list, struct job *job)
{
    if (job->previous)
        job->previous->next = job->next;
    else
        list->first = job->next;
    if (job->next)
        job->next->previous = job->previous;
    else
        list->last = job->previous;
    job->next = job->previous = NULL;
}

/* Takes the first job out; the list must not be empty. */
static inline struct job *job_list_take(struct job_list *list)
{
    struct job *job = list->first;

    list->first = job->next;
    if (list->first)
        list->first->previous = NULL;
    else
        list->last = NULL;
    job->next = NULL;
    return job;
}

/* Moves all of `from` behind the jobs of `list`; `from` is empty afterwards. */
static inline void job_list_join(struct job_list *list, struct job_list *from)
{
    if (!from->first)
        return;
    from->first->previous = list->last;
    if (list->last)
        list->last->next = from->first;
    else
        list->first = from->first;
    list->last = from->last;
    from->first = from->last = NULL;
}

#endif
