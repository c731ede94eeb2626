#ifndef MODELS_REPLICA_LLM_INTERNAL_H
#define MODELS_REPLICA_LLM_INTERNAL_H

#include "models/replica/llm.h"
#include "models/replica/llm_kv.h"
#include "models/replica/usage.h"

/* Shared by llm.c (the service), llm_step.c (the scheduler), llm_run.c (many steps at once), llm_config.c. */

/* Time inside a step: 1/65536 ns. */
enum { LLM_FINE_BITS = 16, LLM_FINE = 1 << LLM_FINE_BITS };

enum { LLM_NONE = UINT32_MAX };

struct llm_config {
    int64_t base, prefill, decode, context; /* of a step, in fine units */
    int64_t grid;                           /* a step is rounded down to a multiple of it; 1: not at all */
    int64_t kv_blocks;
    int64_t watermark; /* blocks */
    int32_t block_size, block_shift;
    int32_t budget, most_running, threshold, longest;
    bool caching, reserve, stepping;
    bool estimated;
    char note[1536];
};

enum llm_state { LLM_WAITING, LLM_PARTIAL, LLM_DECODER };

/*
 * A request inside, in a slab; job.scratch[0] is its index.
 *
 * A *decoder* has emitted a token and misses the KV of exactly that one. It gets one token a step, so nothing
 * of it is written down: computed = step - base, out = computed + 1 - prompt, and its last token comes at the
 * end of step number base + prompt + target - 1. All others that run are *partial*: they catch up on known
 * tokens.
 */
struct llm_sequence {
    struct job *job;         /* NULL: it left while a step was under way, which frees its blocks at its end */
    uint32_t next, previous; /* running or waiting list */
    uint32_t wheel_next, wheel_previous; /* decoders */
    int32_t prompt, target;              /* tokens */
    int32_t computed, out;               /* not of decoders */
    int64_t base;                        /* decoders only */
    int64_t regular_since; /* decoders: it emitted at the end of this step and of every one since */
    uint64_t last_token;   /* fine time of its last token, if irregular or partial after a preemption */
    uint64_t order;        /* of admission, for the order in which requests end together */
    struct llm_kv_hold hold;
    int32_t scheduled; /* partial: tokens in the step under way */
    uint8_t state;
    bool irregular; /* decoder that a step has passed over since its last token */
};

enum { LLM_WHEEL = 1024, LLM_WHEEL_WORDS = LLM_WHEEL / 64 };

struct llm_list {
    uint32_t first, last;
    int32_t count;
};

struct llm_array {
    uint32_t *ids;
    uint32_t count, capacity;
};

/* One entry of the stack that answers "the longest step since": steps up to `step`, none longer than `fine`
 * after the entry before. */
struct llm_gap {
    int64_t step, fine;
};

enum llm_phase {
    LLM_IDLE,
    LLM_READY, /* a step begins at next_time */
    LLM_STEPS  /* under way: the steps of `run`, from the clock on */
};

struct llm_server {
    struct server server;
    const struct llm_config *config;
    struct llm_sequence *sequences;
    uint32_t capacity, spare;
    struct llm_list running, waiting; /* running: with those that left while a step was under way */
    uint64_t admissions;
    struct llm_kv kv;

    int64_t step; /* steps done, those of no request left out */
    enum llm_phase phase;
    sim_time clock_ns;   /* the last boundary between steps, rounded up ... */
    int64_t clock_under; /* ... by this many fine units, less than a nanosecond */

    /* decoders as one */
    int32_t decoders;
    int32_t irregular; /* of them */
    int64_t base_sum;
    int32_t *residues; /* decoders by base mod block_size */
    uint32_t *wheel;   /* decoders by end mod LLM_WHEEL */
    uint64_t wheel_bits[LLM_WHEEL_WORDS], wheel_summary;

    struct llm_array partial; /* running, not decoders, in running order */
    struct llm_array late;    /* irregular decoders that get a token in the step under way */
    struct llm_array left;    /* see llm_sequence.job */

    struct {
        int64_t steps;        /* how many are under way */
        int64_t taken;        /* of them have their blocks already: 0 or 1 */
        int64_t first, slope; /* the first lasts `first`, each further one `slope` more */
        int64_t decoding;     /* decoders that get a token in each */
        bool only_decoders;   /* nobody partial: more than one step is possible, and blocks are counted by
                                 residue */
    } run;

    struct llm_gap *gaps;
    uint32_t gap_count, gap_capacity;

    struct usage usage;
    int64_t preemptions, steps, events, blocks_peak;
    int64_t cache_asked, cache_hit;
};

static inline struct llm_server *llm_of(struct server *server)
{
    return (struct llm_server *)server;
}

static inline int64_t llm_blocks(const struct llm_config *config, int64_t tokens)
{
    return (tokens + config->block_size - 1) >> config->block_shift;
}

/* ---- llm_sequences.c: lists, slab, decoders ---- */
uint32_t llm_sequence_new(struct llm_server *llm);
void llm_sequence_recycle(struct llm_server *llm, uint32_t id);
void llm_list_append(struct llm_server *llm, struct llm_list *list, uint32_t id);
void llm_list_prepend(struct llm_server *llm, struct llm_list *list, uint32_t id);
void llm_list_remove(struct llm_server *llm, struct llm_list *list, uint32_t id);
void llm_array_append(struct llm_array *array, uint32_t id);
void llm_array_remove(struct llm_array *array, uint32_t id);
void llm_decoder_add(struct llm_server *llm, uint32_t id);
void llm_decoder_remove(struct llm_server *llm, uint32_t id); /* computed and out are its own again */
/* Steps until the wheel must be looked at: the next at which a decoder may end, at most LLM_WHEEL. */
int64_t llm_wheel_distance(const struct llm_server *llm);
/* Frees its blocks and takes a running sequence out of everything; keep: see llm_kv_release. */
void llm_sequence_stop(struct llm_server *llm, uint32_t id, bool keep);

/* ---- llm_gaps.c: the largest gap between tokens ---- */
void llm_gap_push(struct llm_server *llm, int64_t fine); /* the steps that end now, the longest of them */
/* The gap of a regular decoder until now goes into its job. */
void llm_gap_close(struct llm_server *llm, struct llm_sequence *sequence);
/* A token now, after a pause. */
void llm_gap_after(struct llm_server *llm, struct llm_sequence *sequence);
static inline uint64_t llm_clock(const struct llm_server *llm)
{
    return ((uint64_t)llm->clock_ns << LLM_FINE_BITS) - (uint64_t)llm->clock_under;
}

/* ---- llm_step.c ---- */
/* Begins the next step at the clock; false if nothing runs and nothing waits. */
bool llm_step_begin(struct llm_server *llm);

/* ---- llm_run.c ---- */
/* Can the next steps be of decoders only, with nobody waiting, whatever happens but an arrival or a cancel?
 */
bool llm_run_possible(const struct llm_server *llm);
/* Sets run to as many steps of only decoders as are sure to be alike; taken: steps whose blocks are taken. */
void llm_run_plan(struct llm_server *llm, int64_t taken);
/* Fine time from the clock to the end of that many steps of the run. */
int64_t llm_run_length(const struct llm_server *llm, int64_t steps);
/* When that is, rounded up to a nanosecond. */
sim_time llm_run_end(const struct llm_server *llm, int64_t steps);
/* The first boundary at or after `now`, as a number of steps; run.steps + 1 if the run ends before. */
int64_t llm_run_boundary(const struct llm_server *llm, sim_time now);
/* Blocks that the decoders need for the next `steps` steps. */
int64_t llm_run_blocks(const struct llm_server *llm, int64_t steps);

#endif
