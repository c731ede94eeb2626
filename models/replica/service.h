#ifndef MODELS_REPLICA_SERVICE_H
#define MODELS_REPLICA_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/error.h"
#include "sim/engine/random.h"
#include "sim/engine/sim_time.h"
#include "sim/io/document.h"

/*
 * What one replica does with its requests, once it is ready: the service model.
 *
 * A model is one `const struct service_type` at the foot of its own file (slots.c, curve.c, ...) and one row in
 * service_registry.c. The world owns jobs and replicas; a server only links the jobs that it was given into its own
 * lists and says when it next has something to do.
 *
 * Order at equal times (the ranks of sim/run/world.h): ends of service run first, then arrivals, then starts of
 * service that must see those arrivals (the next step of a batch). A server says in next_rank which of the two its
 * next moment is.
 */

/* One attempt of a request inside the system. Allocated and recycled by the world; fixed size. */
struct job {
    /* drawn at arrival, the same under every strategy */
    sim_time intended;      /* when the user sent it: latency counts from here */
    uint64_t request;       /* number of the logical request in its service, from 0 */
    uint64_t luck;          /* 64 random bits of its own: balancers and models hash them, never draw */
    int64_t work_ns;        /* service demand of the plain models at nominal speed; set by service_type.draw */
    uint64_t prefix_group;  /* requests of one group share their first prefix_tokens tokens; 0: shares with none */
    int32_t prefix_tokens;
    int32_t tokens_in;      /* 0 where the traffic has no tokens */
    int32_t tokens_out;
    /* the life of this attempt; SIM_NEVER until it happened */
    sim_time submitted;     /* reached the server's or the central queue */
    sim_time started;       /* service began */
    sim_time first_output;  /* first token; models without tokens leave SIM_NEVER */
    sim_time finished;
    sim_time largest_gap;   /* ns between two consecutive output tokens, 0 where unknown */
    int32_t preemptions;    /* times its work was thrown away and begun again */
    int32_t cached_tokens;  /* input tokens that the prefix cache spared */
    /* the world's */
    uint32_t replica;       /* index, or UINT32_MAX while it waits centrally */
    uint32_t attempt;       /* 0: the first */
    uint8_t state;          /* enum job_state of the world */
    bool peak;              /* intended arrival lies in a peak window */
    bool measured;          /* intended arrival lies in [warmup, duration) */
    struct job *older, *newer; /* the client's list of open deadlines */
    sim_time deadline;
    /* the server's */
    struct job *next, *previous; /* whatever list the job is in: the server's queue, then its result list */
    int64_t scratch[8];     /* the model's own, while the job is inside */
};

/* Instantaneous values and counters of one server, as its metrics endpoint would show them. */
struct server_gauges {
    int64_t running;         /* requests in service */
    int64_t waiting;         /* requests in its own queue */
    int64_t capacity;        /* most that can be in service at once; 0: no such bound */
    sim_time busy_ns;        /* time since reset in which anything was in service: the "GPU utilization" duty cycle */
    int64_t running_ns;      /* integral of running, request x ns since reset */
    int64_t started, finished; /* requests since reset */
    int64_t prompt_tokens, generation_tokens; /* since reset; 0 for models without tokens */
    double kv_usage;         /* 0..1, NaN for models without a KV cache */
    double cache_hit_rate;   /* 0..1, NaN likewise */
};

/* The part of every server that the world reads without a call. Models embed it first in their own struct. */
struct server {
    const struct service_type *type;
    sim_time next_time; /* when advance must be called; SIM_NEVER: nothing to do */
    uint32_t next_rank; /* SERVER_END or SERVER_START */
    int32_t running;    /* requests in service now */
    int32_t waiting;    /* requests in the server's own queue now */
};

/* Ranks at equal times: between them run the arrivals. */
enum { SERVER_END = 0, SERVER_START = 16 };

struct service_type {
    const char *name; /* the key under "serve" */
    const char *help; /* one line */

    /* Reads `serve: {name: node}`. The config is immutable and shared by all replicas and threads. Errors: input. */
    int (*parse)(const struct node *node, void **config, struct error *err);
    void (*config_free)(void *config);

    /* Draws at arrival what this model needs beyond the job's sizes (work_ns). Takes the same number of draws from
     * rng for every request. work_ns given by the traffic is >= 0 on entry, else -1. A model that serves the traffic's own
     * work leaves it as it is (its speed counts when it is served); the others set it to the time that the job would take alone. */
    void (*draw)(const void *config, gsl_rng *rng, struct job *job);

    /* Mean service demand in seconds of a lone request of these sizes; for plan, fluid bounds, search brackets. NaN where such
     * sizes do not say it: the model serves the traffic's own work, or tokens and there are none. A traffic that
     * cannot give what its model needs is the scenario reader's to refuse; submit refuses each such request. */
    double (*nominal_seconds)(const void *config, int32_t tokens_in, int32_t tokens_out);
    /* Upper bound of one replica's throughput in requests/s for that mean demand; INFINITY if there is none. The demand is the mean
     * of nominal_seconds, or, where that is NaN, of the traffic's own work. */
    double (*max_rate)(const void *config, double mean_demand_seconds, double mean_tokens_in, double mean_tokens_out);

    /* A replica's server, idle and empty. All the memory that it will need per job count grows by doubling. */
    struct server *(*create)(const void *config, struct error *err);
    void (*destroy)(struct server *server);
    /* Back to idle and empty with all counters at zero: a recycled replica. Must hold no jobs. */
    void (*reset)(struct server *server, sim_time now);

    /* Takes the job into service or into the server's queue. Sets started if service begins at once, and clears it, first_output
     * and finished otherwise; submitted is the world's. Updates next_time. Returns false if the model refuses it
     * for good (it could never be served: prompt longer than the cache); the job is then not taken. */
    bool (*submit)(struct server *server, sim_time now, struct job *job);
    /* Called at next_time. Returns the jobs that finished now, linked by next in order of their completion, with
     * started, first_output and finished filled; NULL if none. Updates next_time. */
    struct job *(*advance)(struct server *server, sim_time now);
    /* Takes a job out before its end (client gave up, grace period over). If it is in service and only queued ones
     * may go (running_too false), returns false and nothing changes. Updates next_time. */
    bool (*cancel)(struct server *server, sim_time now, struct job *job, bool running_too);
    /* Takes everything out at once (crash, end of the grace period), linked by next, in service first, in order of admission. */
    struct job *(*evict)(struct server *server, sim_time now);
    /* How many more jobs would go into service at once if submitted now; INT32_MAX for no bound. For central queues. */
    int32_t (*room)(const struct server *server);
    void (*gauges)(const struct server *server, sim_time now, struct server_gauges *gauges);

    /* Does draw draw? NULL: never, all that differs between requests comes from the traffic. */
    bool (*is_random)(const void *config);
};

/* All models, NULL-terminated, in the order in which help lists them. */
const struct service_type *const *service_types(void);

/* A parsed "serve" map: exactly one key, a model's name. */
struct service_model {
    const struct service_type *type;
    void *config;
};
int service_model_parse(const struct node *serve, struct service_model *model, struct error *err);
void service_model_free(struct service_model *model);

#endif
