#include "models/replica/curve.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/replica/job_list.h"
#include "models/replica/usage.h"

enum curve_size { CURVE_EQUAL, CURVE_TOKENS, CURVE_TOKENS_OUT, CURVE_WORK };
static const char *const size_names[] = {"equal", "tokens", "tokens_out", "work", NULL};

struct curve_point {
    double n, rate; /* requests inside, requests/s */
};

struct curve_config {
    struct curve_point *points;
    int32_t count;
    int32_t max_concurrency; /* INT32_MAX: no bound */
    enum curve_size size;
    double mean_size;    /* tokens or s per mean request */
    double rate_alone;   /* X(1), requests/s */
    double rate_highest; /* greatest X(n), n <= max_concurrency */
    __int128 *share;     /* share[n] = X(n) / n for 0 < n < shares, in units of V per ns */
    int32_t shares;
};

/* One mean request in units of V: 1e9 x 2^56. A rate of 1 / s then is 2^56 units per nanosecond, exactly. */
enum { CURVE_SCALE = 56, CURVE_POINTS = 4096, CURVE_CONCURRENCY = 1000000 };

/* A busy period ends long before V reaches this: 1.8e11 mean requests for one job inside. */
#define CURVE_HORIZON ((__int128)1 << 124)

/* What the model keeps in job.scratch while the job is inside. */
struct __attribute__((may_alias)) curve_node {
    uint64_t end_low; /* V at which it ends, lower and upper half */
    int64_t end_high;
    uint64_t sequence;  /* number of its admission; CURVE_QUEUED before */
    struct job *child;  /* pairing heap: first child, */
    struct job *next;   /* next sibling, */
    struct job *before; /* previous sibling, or the parent of a first child */
};
_Static_assert(sizeof(struct curve_node) <= sizeof(((struct job *)0)->scratch), "a node fits into a job");

#define CURVE_QUEUED UINT64_MAX

struct curve_server {
    struct server server;
    const struct curve_config *config;
    struct job *root;  /* ends next */
    __int128 attained; /* V at `at` */
    sim_time at;
    __int128 share; /* of each of those inside now, units per ns */
    uint64_t sequence;
    struct job_list inside; /* in the order of admission */
    struct job_list queue;
    struct usage usage;
};

static struct curve_server *curve_of(struct server *server)
{
    return (struct curve_server *)server;
}

/* ---- the heap: Fredman, Sedgewick, Sleator, Tarjan, "The pairing heap", Algorithmica 1, 1986 ---- */

static inline struct curve_node *node_of(struct job *job)
{
    /* scratch is the model's own storage: int64 words that nobody reads as such while the job is inside */
    return (struct curve_node *)(void *)job->scratch;
}

static inline __int128 node_end(const struct curve_node *node)
{
    return (__int128)node->end_high << 64 | node->end_low;
}

static inline bool precedes(struct job *a, struct job *b)
{
    const struct curve_node *x = node_of(a), *y = node_of(b);
    __int128 p = node_end(x), q = node_end(y);

    return p < q || (p == q && x->sequence < y->sequence);
}

/* Both are roots. */
static struct job *heap_meld(struct job *a, struct job *b)
{
    struct job *parent, *child;

    if (!a || !b)
        return a ? a : b;
    parent = precedes(a, b) ? a : b;
    child = parent == a ? b : a;
    node_of(child)->before = parent;
    node_of(child)->next = node_of(parent)->child;
    if (node_of(child)->next)
        node_of(node_of(child)->next)->before = child;
    node_of(parent)->child = child;
    return parent;
}

/* Melds a list of siblings into one root: in pairs from the left, then together from the right. */
static struct job *heap_gather(struct job *first)
{
    struct job *pairs = NULL, *root = NULL;

    while (first) {
        struct job *a = first, *b = node_of(a)->next;

        first = b ? node_of(b)->next : NULL;
        node_of(a)->next = node_of(a)->before = NULL;
        if (b)
            node_of(b)->next = node_of(b)->before = NULL;
        a = heap_meld(a, b);
        node_of(a)->next = pairs;
        pairs = a;
    }
    while (pairs) {
        struct job *next = node_of(pairs)->next;

        node_of(pairs)->next = NULL;
        root = heap_meld(root, pairs);
        pairs = next;
    }
    return root;
}

static void heap_remove(struct curve_server *curve, struct job *job)
{
    struct curve_node *node = node_of(job);
    struct job *children = heap_gather(node->child);

    if (job == curve->root) {
        curve->root = children;
        return;
    }
    if (node_of(node->before)->child == job)
        node_of(node->before)->child = node->next;
    else
        node_of(node->before)->next = node->next;
    if (node->next)
        node_of(node->next)->before = node->before;
    curve->root = heap_meld(curve->root, children);
}

/* ---- demand and rate ---- */

/* The compiler's own conversions between double and 128 bits are calls that cost as much as the heap. Both
 * for values >= 0. */
static inline double wide_to_double(__int128 wide)
{
    return (double)(uint64_t)(wide >> 64) * 0x1p64 + (double)(uint64_t)wide; /* relative error below 2^-52 */
}

/* Rounds down; x < 2^126. */
static inline __int128 wide_from_double(double x)
{
    uint64_t bits;

    if (x < 0x1p62)
        return (int64_t)x;
    memcpy(
        &bits, &x,
        sizeof bits); /* IEEE 754: 52 bits below a leading 1, exponent biased by 1023; a whole number here */
    return (__int128)((bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52) << ((bits >> 52) - 1075);
}

/* X(n) for any real n >= 0. */
static double curve_rate(const struct curve_config *config, double n)
{
    const struct curve_point *p = config->points;
    int32_t i = 0;

    if (n >= p[config->count - 1].n)
        return p[config->count - 1].rate;
    if (n <= p[0].n)
        return p[0].rate * n / p[0].n;
    while (p[i + 1].n < n)
        i++;
    return p[i].rate + (p[i + 1].rate - p[i].rate) * (n - p[i].n) / (p[i + 1].n - p[i].n);
}

/*
 * X(n) / n in units of V per nanosecond. Rounded up, with room for the four roundings of X(n) / n itself, so
 * that an end that falls exactly on a nanosecond is not pushed to the next one by the rounding of its end to
 * whole nanoseconds.
 */
static __int128 curve_share(const struct curve_config *config, int32_t n)
{
    double share = ldexp(curve_rate(config, n) / n * (1 + 0x1p-50), CURVE_SCALE);

    return share < 1 ? 1 : (__int128)ceil(share);
}

static inline __int128 curve_share_of(const struct curve_config *config, int32_t n)
{
    return n < config->shares ? config->share[n] : curve_share(config, n);
}

/* In mean requests; negative: unknown. */
static double curve_demand(const struct curve_config *config, int32_t tokens_in, int32_t tokens_out,
                           int64_t work_ns)
{
    double tokens;

    switch (config->size) {
    case CURVE_EQUAL:
        return 1;
    case CURVE_TOKENS:
    case CURVE_TOKENS_OUT:
        tokens = (double)tokens_out + (config->size == CURVE_TOKENS ? (double)tokens_in : 0);
        return fmax(tokens, 1) / config->mean_size;
    case CURVE_WORK:
        break;
    }
    return work_ns < 0 ? -1 : (double)work_ns / 1e9 / config->mean_size;
}

/* The same in units of V. Exact for whole sizes below 2^53 ns or 9e6 tokens when mean_size is 1. */
static __int128 curve_units(const struct curve_config *config, const struct job *job)
{
    double units;

    if (config->size == CURVE_WORK)
        units = (double)job->work_ns / config->mean_size;
    else if (config->size == CURVE_EQUAL)
        units = 1e9;
    else
        units = curve_demand(config, job->tokens_in, job->tokens_out, 0) * 1e9;
    units *= (double)((uint64_t)1 << CURVE_SCALE);
    return units < 0x1p118 ? wide_from_double(units) : (__int128)1 << 118;
}

/* ---- serving ---- */

/* Brings V up to now. */
static inline void curve_catch_up(struct curve_server *curve, sim_time now)
{
    assert(now >= curve->at && (now <= curve->server.next_time));
    curve->attained += curve->share * (now - curve->at);
    curve->at = now;
    assert(curve->attained < CURVE_HORIZON);
}

static void curve_start(struct curve_server *curve, sim_time now, struct job *job)
{
    struct curve_node *node = node_of(job);
    __int128 end = curve->attained + curve_units(curve->config, job);

    *node = (struct curve_node){
        .end_low = (uint64_t)end, .end_high = (int64_t)(end >> 64), .sequence = curve->sequence++};
    job->started = now;
    job_list_append(&curve->inside, job);
    curve->root = heap_meld(curve->root, job);
    usage_begin(&curve->usage, now, curve->server.running);
    curve->server.running++;
}

/* Takes a running job out, finished or not. */
static void curve_stop(struct curve_server *curve, sim_time now, struct job *job)
{
    heap_remove(curve, job);
    job_list_remove(&curve->inside, job);
    curve->server.running--;
    usage_end(&curve->usage, now, curve->server.running);
}

/* Least q with q * share >= rest: nanoseconds until so much is attained. */
static sim_time curve_duration(__int128 rest, __int128 share)
{
    double guess;
    int64_t q;

    if (rest <= 0)
        return 0;
    guess = ceil(wide_to_double(rest) / wide_to_double(share));
    if (guess > (double)SIM_TIME_LIMIT)
        return SIM_NEVER;
    if (guess > 0x1p50) /* the guess may be off by more than a step */
        return (sim_time)((rest + share - 1) / share);
    q = (int64_t)guess;
    while (q > 0 && (q - 1) * share >= rest)
        q--;
    while (q * share < rest)
        q++;
    return q;
}

/* After any change of who is inside. */
static void curve_set_next(struct curve_server *curve)
{
    struct server *server = &curve->server;
    sim_time left;

    if (server->running == 0) {
        curve->attained = 0;
        curve->share = 0;
        server->next_time = SIM_NEVER;
        return;
    }
    curve->share = curve_share_of(curve->config, server->running);
    left = curve_duration(node_end(node_of(curve->root)) - curve->attained, curve->share);
    server->next_time = left == SIM_NEVER ? SIM_NEVER : curve->at + left;
}

static void curve_refill(struct curve_server *curve, sim_time now)
{
    while (curve->queue.first && curve->server.running < curve->config->max_concurrency) {
        curve->server.waiting--;
        curve_start(curve, now, job_list_take(&curve->queue));
    }
}

static bool curve_submit(struct server *server, sim_time now, struct job *job)
{
    struct curve_server *curve = curve_of(server);

    if (curve->config->size == CURVE_WORK && job->work_ns < 0)
        return false; /* the traffic was to give it and did not */
    job->first_output = job->finished = SIM_NEVER;
    if (server->running < curve->config->max_concurrency) {
        curve_catch_up(curve, now);
        curve_start(curve, now, job);
        curve_set_next(curve);
    } else {
        job->started = SIM_NEVER;
        node_of(job)->sequence = CURVE_QUEUED;
        job_list_append(&curve->queue, job);
        server->waiting++;
    }
    return true;
}

static struct job *curve_advance(struct server *server, sim_time now)
{
    struct curve_server *curve = curve_of(server);
    struct job_list done = {NULL, NULL};

    curve_catch_up(curve, now);
    /*
     * Ends lie between nanoseconds and are only reported at the next whole one: V goes back to the very end,
     * and what is left of the nanosecond is served at the share of those who stay (or came in from the
     * queue). So no service is lost at an end, however many there are. Of the rest, less than a nanosecond's
     * worth, a double keeps more than enough.
     */
    while (curve->root && node_end(node_of(curve->root)) <= curve->attained) {
        struct job *job = curve->root;
        __int128 rest = curve->attained - node_end(node_of(job)), share = curve->share;

        curve->attained -= rest;
        curve_stop(curve, now, job);
        job->finished = now;
        usage_count_finished(&curve->usage, job);
        job_list_append(&done, job);
        curve_refill(curve, now);
        if (server->running > 0) {
            curve->share = curve_share_of(curve->config, server->running);
            curve->attained += wide_from_double(wide_to_double(rest) / wide_to_double(share) *
                                                wide_to_double(curve->share));
        }
    }
    curve_set_next(curve);
    return done.first;
}

static bool curve_cancel(struct server *server, sim_time now, struct job *job, bool running_too)
{
    struct curve_server *curve = curve_of(server);

    if (node_of(job)->sequence == CURVE_QUEUED) {
        job_list_remove(&curve->queue, job);
        server->waiting--;
        return true;
    }
    if (!running_too)
        return false;
    curve_catch_up(curve, now);
    curve_stop(curve, now, job);
    curve_refill(curve, now);
    curve_set_next(curve);
    return true;
}

static struct job *curve_evict(struct server *server, sim_time now)
{
    struct curve_server *curve = curve_of(server);
    struct job_list out = curve->inside;

    while (server->running > 0)
        usage_end(&curve->usage, now, --server->running);
    job_list_join(&out, &curve->queue);
    curve->inside = (struct job_list){NULL, NULL};
    curve->root = NULL;
    curve->at = now;
    server->waiting = 0;
    curve_set_next(curve);
    return out.first;
}

static int32_t curve_room(const struct server *server)
{
    const struct curve_config *config = ((const struct curve_server *)server)->config;

    return config->max_concurrency == INT32_MAX ? INT32_MAX : config->max_concurrency - server->running;
}

static void curve_gauges(const struct server *server, sim_time now, struct server_gauges *gauges)
{
    const struct curve_server *curve = (const struct curve_server *)server;

    usage_gauges(&curve->usage, server, now, gauges);
    gauges->capacity = curve->config->max_concurrency == INT32_MAX ? 0 : curve->config->max_concurrency;
}

/* ---- life ---- */

static struct server *curve_create(const void *config, struct error *err)
{
    struct curve_server *curve = calloc(1, sizeof *curve);

    if (!curve) {
        error_memory(err, "curve");
        return NULL;
    }
    curve->server.type = &service_curve;
    curve->server.next_rank = SERVER_END;
    curve->server.next_time = SIM_NEVER;
    curve->config = config;
    return &curve->server;
}

static void curve_destroy(struct server *server)
{
    free(server);
}

static void curve_reset(struct server *server, sim_time now)
{
    struct curve_server *curve = curve_of(server);

    assert(server->running == 0 && server->waiting == 0);
    curve->at = now;
    curve->sequence = 0;
    curve->usage = (struct usage){0};
    curve_set_next(curve);
}

/* ---- configuration ---- */

static void curve_config_free(void *config)
{
    struct curve_config *curve = config;

    if (!curve)
        return;
    free(curve->points);
    free(curve->share);
    free(curve);
}

static int curve_number(const struct node *node, const char *what, double low, double high, double *out,
                        struct error *err)
{
    const char *text = node_kind(node) == NODE_NUMBER ? node_text(node) : NULL;
    char *end;

    if (!text)
        return node_error(node, err, "expected a number: %s", what);
    *out = strtod(text, &end);
    if (*end || !(*out >= low && *out <= high))
        return node_error(node, err, "%s must be in %g .. %g, not %s", what, low, high, text);
    return 0;
}

static int curve_points(struct curve_config *config, const struct node *node, struct error *err)
{
    size_t count = node_count(node);

    if (node_kind(node) != NODE_SEQUENCE || count < 1 || count > CURVE_POINTS)
        return node_error(
            node, err,
            "expected 1 to %d points [requests inside, requests per second], as in [[1, 1.2], [8, 7.5]]",
            CURVE_POINTS);
    config->points = calloc(count, sizeof *config->points);
    if (!config->points)
        return error_memory(err, "curve");
    for (size_t i = 0; i < count; i++) {
        const struct node *pair = node_at(node, i);
        struct curve_point *p = &config->points[i];

        if (node_kind(pair) != NODE_SEQUENCE || node_count(pair) != 2)
            return node_error(pair, err, "expected [requests inside, requests per second]");
        if (curve_number(node_at(pair, 0), "requests inside", 1, CURVE_CONCURRENCY, &p->n, err) ||
            curve_number(node_at(pair, 1), "requests per second", 1e-6, 1e9, &p->rate, err))
            return -1;
        if (i > 0 && !(p->n > p[-1].n))
            return node_error(pair, err, "points must ascend in requests inside: %g comes after %g", p->n,
                              p[-1].n);
    }
    config->count = (int32_t)count;
    return 0;
}

/* What the points mean for whole n. */
static int curve_prepare(struct curve_config *config, struct error *err)
{
    int32_t last = (int32_t)config->points[config->count - 1].n + 1;

    if (last > config->max_concurrency)
        last = config->max_concurrency;
    config->shares = last + 1;
    config->share = calloc((size_t)config->shares, sizeof *config->share);
    if (!config->share)
        return error_memory(err, "curve");
    for (int32_t n = 1; n <= last; n++) {
        config->share[n] = curve_share(config, n);
        config->rate_highest = fmax(config->rate_highest, curve_rate(config, n));
    }
    config->rate_alone = curve_rate(config, 1);
    return 0;
}

static int curve_parse(const struct node *node, void **out, struct error *err)
{
    struct curve_config *config = calloc(1, sizeof *config);
    const struct node *points;
    struct map map;
    int64_t most = INT32_MAX;
    int size = CURVE_EQUAL;

    *out = NULL;
    if (!config)
        return error_memory(err, "curve");
    map_open(&map, node, err);
    points = map_required(&map, "points");
    if (points)
        curve_points(config, points, err);
    if (map_has(&map, "max_concurrency"))
        map_integer(&map, "max_concurrency", MAP_REQUIRED, 1, CURVE_CONCURRENCY, &most);
    config->max_concurrency = (int32_t)most;
    map_choice(&map, "size", MAP_DEFAULT("equal", "a load test with one request size"), size_names, &size);
    config->size = (enum curve_size)size;
    config->mean_size = 1;
    if (size != CURVE_EQUAL)
        map_number(&map, "mean_size", MAP_DEFAULT("1", "points count tokens, or seconds of work, per second"),
                   1e-6, 1e12, &config->mean_size);
    if (map_close(&map) || curve_prepare(config, err)) {
        curve_config_free(config);
        return -1;
    }
    *out = config;
    return 0;
}

static void curve_draw(const void *config, gsl_rng *rng, struct job *job)
{
    const struct curve_config *curve = config;

    (void)rng; /* sizes are the traffic's: nothing is drawn here */
    if (curve->size != CURVE_WORK)
        job->work_ns = sim_time_from_seconds(curve_demand(curve, job->tokens_in, job->tokens_out, -1) /
                                             curve->rate_alone);
}

static double curve_nominal_seconds(const void *config, int32_t tokens_in, int32_t tokens_out)
{
    const struct curve_config *curve = config;

    if (curve->size == CURVE_WORK || (curve->size == CURVE_TOKENS_OUT && tokens_out <= 0) ||
        (curve->size == CURVE_TOKENS && tokens_in <= 0 && tokens_out <= 0))
        return (double)NAN;
    return curve_demand(curve, tokens_in, tokens_out, -1) / curve->rate_alone;
}

static double curve_max_rate(const void *config, double mean_demand_seconds, double mean_tokens_in,
                             double mean_tokens_out)
{
    const struct curve_config *curve = config;
    double demand; /* in mean requests */

    (void)mean_tokens_in;
    (void)mean_tokens_out;
    demand = curve->size == CURVE_WORK ? mean_demand_seconds / curve->mean_size
                                       : mean_demand_seconds * curve->rate_alone;
    return demand > 0 ? curve->rate_highest / demand : (double)INFINITY;
}

const struct service_type service_curve = {
    .name = "curve",
    .help = "processor sharing with a throughput curve measured in a load test",
    .parse = curve_parse,
    .config_free = curve_config_free,
    .draw = curve_draw,
    .nominal_seconds = curve_nominal_seconds,
    .max_rate = curve_max_rate,
    .create = curve_create,
    .destroy = curve_destroy,
    .reset = curve_reset,
    .submit = curve_submit,
    .advance = curve_advance,
    .cancel = curve_cancel,
    .evict = curve_evict,
    .room = curve_room,
    .gauges = curve_gauges,
};
