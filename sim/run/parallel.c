#include "sim/run/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct crew {
    int (*task)(void *self, int32_t number, struct error *err);
    void *self;
    int32_t count;
    _Atomic int32_t next;
    _Atomic bool stop;
    pthread_mutex_t lock; /* over failed and err */
    int32_t failed;       /* lowest number of a failed task, -1: none */
    struct error *err;
};

static void *work(void *of)
{
    struct crew *crew = of;
    int32_t number;

    while (!crew->stop && (number = crew->next++) < crew->count) {
        struct error err = {.code = ERROR_NONE};

        if (crew->task(crew->self, number, &err) == 0)
            continue;
        pthread_mutex_lock(&crew->lock);
        if (crew->failed < 0 || number < crew->failed) {
            crew->failed = number;
            if (crew->err)
                *crew->err = err;
        }
        crew->stop = true;
        pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

int parallel_run(int jobs, int32_t count, int (*task)(void *self, int32_t number, struct error *err),
                 void *self, struct error *err)
{
    struct crew crew = {.task = task, .self = self, .count = count, .failed = -1, .err = err};
    int threads = jobs < count ? jobs : count, made = 0;
    pthread_t *handles;

    if (count <= 0)
        return 0;
    pthread_mutex_init(&crew.lock, NULL);
    handles = calloc(threads > 1 ? (size_t)threads : 1, sizeof *handles);
    /* This thread is one of the crew: should no other be had, it does all of the work. */
    while (handles && made < threads - 1 && pthread_create(&handles[made], NULL, work, &crew) == 0)
        made++;
    work(&crew);
    while (made > 0)
        pthread_join(handles[--made], NULL);
    free(handles);
    pthread_mutex_destroy(&crew.lock);
    return crew.failed < 0 ? 0 : -1;
}

int parallel_processors(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
}
