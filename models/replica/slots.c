#include "models/replica/slots.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/replica/job_list.h"
#include "models/replica/usage.h"

enum slots_form { SLOTS_TIME, SLOTS_TOKENS, SLOTS_WORK };

struct slots_config {
    enum slots_form form;
    int32_t count;
    struct distribution time;       /* s: the whole time (SLOTS_TIME) or its base (SLOTS_TOKENS) */
    sim_time per_input, per_output; /* ns per token */
    double speed;                   /* SLOTS_WORK: work done per unit of time */
};

/*
 * The running jobs are a 4-ary heap of 128-bit keys: time of the end in the upper 64 bits, then 44 bits of
 * admission number, then 20 bits of slot. One comparison thus orders by (end, admission) and the key says
 * whose it is.
 */
typedef unsigned __int128 slots_key;

enum { SLOTS_SLOT_BITS = 20, SLOTS_LIMIT = 1 << SLOTS_SLOT_BITS };

struct slots_server {
    struct server server;
    const struct slots_config *config;
    slots_key *heap; /* heap[0] ends next; running entries. Children of i: 4i + 1 .. 4i + 4, one cache line */
    void *heap_memory;
    struct job **jobs;    /* by slot */
    uint32_t *where;      /* slot -> position in heap, for cancel */
    uint32_t *free_slots; /* stack; count - running entries */
    uint64_t sequence;    /* admissions since reset */
    struct job_list queue;
    struct usage usage;
};

/* scratch[0] of a job inside: its slot, or SLOTS_QUEUED. */
enum { SLOTS_QUEUED = -1 };

static struct slots_server *slots_of(struct server *server)
{
    return (struct slots_server *)server;
}

/* ---- the heap ---- */

static inline uint32_t key_slot(slots_key key)
{
    return (uint32_t)key & (SLOTS_LIMIT - 1);
}

static inline sim_time key_time(slots_key key)
{
    return (sim_time)(key >> 64);
}

static inline void heap_put(struct slots_server *slots, uint32_t at, slots_key key)
{
    slots->heap[at] = key;
    slots->where[key_slot(key)] = at;
}

static void heap_up(struct slots_server *slots, uint32_t at, slots_key key)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;

        if (slots->heap[parent] < key)
            break;
        heap_put(slots, at, slots->heap[parent]);
        at = parent;
    }
    heap_put(slots, at, key);
}

static void heap_down(struct slots_server *slots, uint32_t size, uint32_t at, slots_key key)
{
    const slots_key *heap = slots->heap;

    for (;;) {
        uint32_t child = 4 * at + 1, least;

        if (child + 3 < size) {
            uint32_t left = child + (heap[child + 1] < heap[child]);
            uint32_t right = child + 2 + (heap[child + 3] < heap[child + 2]);

            least = heap[right] < heap[left] ? right : left;
        } else if (child < size) {
            least = child;
            for (uint32_t i = child + 1; i < size; i++)
                least = heap[i] < heap[least] ? i : least;
        } else {
            break;
        }
        if (key < heap[least])
            break;
        heap_put(slots, at, heap[least]);
        at = least;
    }
    heap_put(slots, at, key);
}

/* ---- serving ---- */

static sim_time slots_time(const struct slots_config *config, const struct job *job)
{
    double ns;

    if (config->form != SLOTS_WORK || config->speed == 1)
        return job->work_ns;
    ns = (double)job->work_ns / config->speed;
    return ns < (double)SIM_TIME_LIMIT ? (sim_time)llround(ns) : SIM_TIME_LIMIT;
}

/* Key of a job that starts now in that slot; fills the job. */
static inline slots_key slots_start(struct slots_server *slots, sim_time now, struct job *job, uint32_t slot)
{
    sim_time end = now + slots_time(slots->config, job);
    slots_key key = (slots_key)(uint64_t)end << 64 | slots->sequence++ << SLOTS_SLOT_BITS | slot;

    slots->jobs[slot] = job;
    job->scratch[0] = slot;
    job->started = now;
    return key;
}

static inline void slots_set_next(struct slots_server *slots)
{
    slots->server.next_time = slots->server.running > 0 ? key_time(slots->heap[0]) : SIM_NEVER;
}

static bool slots_submit(struct server *server, sim_time now, struct job *job)
{
    struct slots_server *slots = slots_of(server);

    if (job->work_ns < 0)
        return false; /* the traffic was to give it and did not */
    job->first_output = job->finished = SIM_NEVER;
    if (server->running < slots->config->count) {
        uint32_t running = (uint32_t)server->running;
        uint32_t slot = slots->free_slots[(uint32_t)slots->config->count - running - 1];

        usage_begin(&slots->usage, now, server->running);
        server->running++;
        heap_up(slots, running, slots_start(slots, now, job, slot));
        slots_set_next(slots);
    } else {
        job->started = SIM_NEVER;
        job->scratch[0] = SLOTS_QUEUED;
        job_list_append(&slots->queue, job);
        server->waiting++;
    }
    return true;
}

/* The job in the slot at heap position `at` left: the next one in the queue takes the slot, or it becomes
 * free. */
static inline void slots_replace(struct slots_server *slots, sim_time now, uint32_t at, uint32_t slot)
{
    struct server *server = &slots->server;
    slots_key key;

    if (slots->queue.first) {
        key = slots_start(slots, now, job_list_take(&slots->queue), slot);
        server->waiting--;
        slots->usage.started++; /* one ends, one begins: nothing else changes */
    } else {
        server->running--;
        usage_end(&slots->usage, now, server->running);
        slots->free_slots[slots->config->count - server->running - 1] = slot;
        if (at == (uint32_t)server->running)
            return;
        key = slots->heap[server->running];
    }
    if (at > 0 && key < slots->heap[(at - 1) / 4])
        heap_up(slots, at, key);
    else
        heap_down(slots, (uint32_t)server->running, at, key);
}

static void slots_finish(struct slots_server *slots, struct job *job, sim_time end)
{
    const struct slots_config *config = slots->config;

    job->finished = end;
    if (config->form == SLOTS_TOKENS && job->tokens_out > 0) {
        /* counted back from the end: base may be a draw that only the whole time remembers */
        __int128 rest = (__int128)(job->tokens_out - 1) * config->per_output;

        job->first_output = rest < end - job->started ? end - (sim_time)rest : job->started;
        if (job->tokens_out > 1)
            job->largest_gap = config->per_output;
    }
    usage_count_finished(&slots->usage, job);
}

static struct job *slots_advance(struct server *server, sim_time now)
{
    struct slots_server *slots = slots_of(server);
    struct job_list done = {NULL, NULL};

    /* A job that starts here with no work at all ends in the same call. */
    while (server->running > 0 && key_time(slots->heap[0]) <= now) {
        slots_key key = slots->heap[0];
        uint32_t slot = key_slot(key);
        struct job *job = slots->jobs[slot];

        slots_finish(slots, job, key_time(key));
        slots_replace(slots, now, 0, slot);
        job_list_append(&done, job);
    }
    slots_set_next(slots);
    return done.first;
}

static bool slots_cancel(struct server *server, sim_time now, struct job *job, bool running_too)
{
    struct slots_server *slots = slots_of(server);

    if (job->scratch[0] == SLOTS_QUEUED) {
        job_list_remove(&slots->queue, job);
        server->waiting--;
        return true;
    }
    if (!running_too)
        return false;

    uint32_t slot = (uint32_t)job->scratch[0];

    assert(slots->jobs[slot] == job);
    slots_replace(slots, now, slots->where[slot], slot);
    slots_set_next(slots);
    return true;
}

static int by_admission(const void *a, const void *b)
{
    /* without the time: admission numbers differ, so the slot below them never decides */
    uint64_t x = (uint64_t) * (const slots_key *)a, y = (uint64_t) * (const slots_key *)b;

    return (x > y) - (x < y);
}

static void slots_clear(struct slots_server *slots)
{
    slots->server.next_time = SIM_NEVER;
    slots->server.running = slots->server.waiting = 0;
    slots->queue = (struct job_list){NULL, NULL};
    for (int32_t i = 0; i < slots->config->count; i++)
        slots->free_slots[i] = (uint32_t)(slots->config->count - 1 - i);
}

static struct job *slots_evict(struct server *server, sim_time now)
{
    struct slots_server *slots = slots_of(server);
    struct job_list out = {NULL, NULL};

    qsort(slots->heap, (size_t)server->running, sizeof *slots->heap, by_admission);
    for (int32_t i = 0; i < server->running; i++) {
        usage_end(&slots->usage, now, server->running - 1 - i);
        job_list_append(&out, slots->jobs[key_slot(slots->heap[i])]);
    }
    job_list_join(&out, &slots->queue);
    slots_clear(slots);
    return out.first;
}

static int32_t slots_room(const struct server *server)
{
    return ((const struct slots_server *)server)->config->count - server->running;
}

static void slots_gauges(const struct server *server, sim_time now, struct server_gauges *gauges)
{
    const struct slots_server *slots = (const struct slots_server *)server;

    usage_gauges(&slots->usage, server, now, gauges);
    gauges->capacity = slots->config->count;
}

/* ---- life ---- */

static void slots_destroy(struct server *server)
{
    struct slots_server *slots = slots_of(server);

    if (!slots)
        return;
    free(slots->heap_memory);
    free(slots->jobs);
    free(slots->where);
    free(slots->free_slots);
    free(slots);
}

static void slots_reset(struct server *server, sim_time now)
{
    struct slots_server *slots = slots_of(server);

    (void)now;
    assert(server->running == 0 && server->waiting == 0);
    slots_clear(slots);
    slots->sequence = 0;
    slots->usage = (struct usage){0};
}

static struct server *slots_create(const void *config, struct error *err)
{
    struct slots_server *slots = calloc(1, sizeof *slots);
    size_t count = (size_t)((const struct slots_config *)config)->count;
    size_t line = 64;

    if (!slots)
        goto memory;
    slots->server.type = &service_slots;
    slots->server.next_rank = SERVER_END;
    slots->config = config;
    /* heap[1] begins a cache line, so that every four siblings share one; the spare line keeps the size a
     * multiple of 64 */
    slots->heap_memory = aligned_alloc(line, ((count + 3) * sizeof(slots_key) + 2 * line - 1) / line * line);
    slots->jobs = calloc(count, sizeof *slots->jobs);
    slots->where = calloc(count, sizeof *slots->where);
    slots->free_slots = calloc(count, sizeof *slots->free_slots);
    if (!slots->heap_memory || !slots->jobs || !slots->where || !slots->free_slots)
        goto memory;
    slots->heap = (slots_key *)slots->heap_memory + 3;
    slots_clear(slots);
    return &slots->server;
memory:
    if (slots)
        slots_destroy(&slots->server);
    error_memory(err, "slots");
    return NULL;
}

/* ---- configuration ---- */

static void slots_config_free(void *config)
{
    struct slots_config *slots = config;

    if (!slots)
        return;
    distribution_free(&slots->time);
    free(slots);
}

static int slots_parse(const struct node *node, void **out, struct error *err)
{
    struct slots_config *config = calloc(1, sizeof *config);
    struct map map;
    int64_t count = 0;
    bool time, tokens, speed;

    *out = NULL;
    if (!config)
        return error_memory(err, "slots");
    map_open(&map, node, err);
    map_integer(&map, "count", MAP_REQUIRED, 1, SLOTS_LIMIT, &count);
    config->count = (int32_t)count;
    time = map_has(&map, "time");
    /* all three are asked for, so that none is left over as unknown */
    tokens = map_has(&map, "base");
    tokens = map_has(&map, "per_input_token") || tokens;
    tokens = map_has(&map, "per_output_token") || tokens;
    speed = map_has(&map, "speed");
    if (time + tokens + speed > 1 && !map_failed(&map))
        node_error(node, err,
                   "two ways to say how long a request takes: give either \"time\", or \"base\" with "
                   "\"per_input_token\" and \"per_output_token\", or \"speed\" (the traffic's own work)");
    config->speed = 1;
    if (time) {
        config->form = SLOTS_TIME;
        if (map_distribution(&map, "time", MAP_REQUIRED, UNIT_SECONDS, &config->time) &&
            distribution_is_zero(&config->time))
            node_error(map_node(&map, "time"), err, "a request must take longer than 0");
    } else if (tokens) {
        config->form = SLOTS_TOKENS;
        if (map_distribution(&map, "base", MAP_DEFAULT("0", "only tokens cost unless a base is given"),
                             UNIT_SECONDS, &config->time) &&
            map_time(&map, "per_input_token", MAP_DEFAULT("0", "free unless given"), &config->per_input) &&
            map_time(&map, "per_output_token", MAP_DEFAULT("0", "free unless given"), &config->per_output) &&
            distribution_is_zero(&config->time) && config->per_input == 0 && config->per_output == 0)
            node_error(node, err, "base and both costs per token are 0: a request must take longer than 0");
    } else {
        config->form = SLOTS_WORK;
        map_number(&map, "speed", MAP_DEFAULT("1", "the traffic's times as they are"), 1e-6, 1e6,
                   &config->speed);
    }
    if (map_close(&map)) {
        slots_config_free(config);
        return -1;
    }
    *out = config;
    return 0;
}

static void slots_draw(const void *config, gsl_rng *rng, struct job *job)
{
    const struct slots_config *slots = config;
    __int128 ns;

    if (slots->form == SLOTS_WORK)
        return; /* stays in the traffic's own seconds: speed counts when it is served */
    ns = distribution_draw_time(&slots->time, rng);
    if (slots->form == SLOTS_TOKENS)
        ns += (__int128)job->tokens_in * slots->per_input + (__int128)job->tokens_out * slots->per_output;
    job->work_ns = ns < SIM_TIME_LIMIT ? (int64_t)ns : SIM_TIME_LIMIT;
}

static double slots_nominal_seconds(const void *config, int32_t tokens_in, int32_t tokens_out)
{
    const struct slots_config *slots = config;

    if (slots->form == SLOTS_WORK)
        return (double)NAN;
    return slots->time.mean + tokens_in * sim_time_seconds(slots->per_input) +
           tokens_out * sim_time_seconds(slots->per_output);
}

static double slots_max_rate(const void *config, double mean_demand_seconds, double mean_tokens_in,
                             double mean_tokens_out)
{
    const struct slots_config *slots = config;

    (void)mean_tokens_in;
    (void)mean_tokens_out;
    return mean_demand_seconds > 0 ? slots->count * slots->speed / mean_demand_seconds : (double)INFINITY;
}

static bool slots_is_random(const void *config)
{
    const struct slots_config *slots = config;

    return slots->form != SLOTS_WORK && !distribution_is_constant(&slots->time);
}

const struct service_type service_slots = {
    .name = "slots",
    .help = "parallel slots behind a queue, with a service-time distribution or a cost per token",
    .parse = slots_parse,
    .config_free = slots_config_free,
    .draw = slots_draw,
    .nominal_seconds = slots_nominal_seconds,
    .max_rate = slots_max_rate,
    .create = slots_create,
    .destroy = slots_destroy,
    .reset = slots_reset,
    .submit = slots_submit,
    .advance = slots_advance,
    .is_random = slots_is_random,
    .cancel = slots_cancel,
    .evict = slots_evict,
    .room = slots_room,
    .gauges = slots_gauges,
};
