#include "models/traffic/arrivals.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

/* ---- reading ---- */

static void mmpp_parse(struct map *mmpp, struct arrivals_config *config)
{
    const struct node *list = map_required(mmpp, "states");
    double stays = 0, mean = 0;

    if (!list)
        return;
    if (node_kind(list) != NODE_SEQUENCE || node_count(list) < 2 || node_count(list) > ARRIVALS_STATES) {
        node_error(list, mmpp->err,
                   "\"states\" is a list of 2 to %d states, each {\"rate\": factor, \"mean\": time}",
                   (int)ARRIVALS_STATES);
        return;
    }
    config->states = (int)node_count(list);
    for (int i = 0; i < config->states; i++) {
        struct map state;
        sim_time stay = 0;

        map_open(&state, node_at(list, (size_t)i), mmpp->err);
        map_number(&state, "rate", MAP_REQUIRED, 0, 1e6, &config->factor[i]);
        map_time(&state, "mean", MAP_REQUIRED, &stay);
        if (map_close(&state) < 0)
            return;
        if (stay < SIM_MILLISECOND) {
            node_error(node_at(list, (size_t)i), mmpp->err, "a state's \"mean\" must be at least 1ms");
            return;
        }
        config->stay_s[i] = sim_time_seconds(stay);
        stays += config->stay_s[i];
        mean += config->stay_s[i] * config->factor[i];
    }
    if (!(mean > 0)) {
        node_error(list, mmpp->err, "at least one state needs a \"rate\" above 0");
        return;
    }
    for (int i = 0; i < config->states; i++)
        config->factor[i] *= stays / mean;
}

static void kind_parse(struct map *map, struct arrivals_config *config)
{
    const struct node *node = map_node(map, "arrivals");
    struct map one, inner;

    if (!node || map_failed(map))
        return;
    if (node_kind(node) == NODE_STRING) {
        if (strcmp(node_text(node), "poisson") != 0)
            node_error(
                node, map->err,
                "\"arrivals\" is \"poisson\", {\"gamma\": {\"cv\": 2}} or {\"mmpp\": {\"states\": [...]}}");
        return;
    }
    if (!map_open_child(&one, map, "arrivals"))
        return;
    if (map_has(&one, "gamma")) {
        config->kind = ARRIVALS_GAMMA;
        map_open_child(&inner, &one, "gamma");
        map_number(&inner, "cv", MAP_REQUIRED, 0.01, 100, &config->cv);
        map_close(&inner);
    } else if (map_has(&one, "mmpp")) {
        config->kind = ARRIVALS_MMPP;
        map_open_child(&inner, &one, "mmpp");
        mmpp_parse(&inner, config);
        map_close(&inner);
    } else if (node_count(node) == 0) {
        node_error(
            node, map->err,
            "\"arrivals\" is \"poisson\", {\"gamma\": {\"cv\": 2}} or {\"mmpp\": {\"states\": [...]}}");
    }
    map_close(&one);
}

bool arrivals_config_parse(struct map *map, struct arrivals_config *config)
{
    struct map noise;

    *config = (struct arrivals_config){.kind = ARRIVALS_POISSON, .noise_every = SIM_MINUTE};
    kind_parse(map, config);
    if (!map_failed(map) && map_has(map, "noise")) {
        map_open_child(&noise, map, "noise");
        map_number(&noise, "cv", MAP_REQUIRED, 0, 10, &config->noise_cv);
        map_time(&noise, "every", MAP_DEFAULT("60s", "a minute: what monitoring shows"),
                 &config->noise_every);
        map_close(&noise);
        if (!map_failed(map) && config->noise_every < SIM_SECOND)
            node_error(map_node(map, "noise"), map->err, "\"every\" must be at least 1s");
    }
    return !map_failed(map);
}

/* ---- running ---- */

int arrivals_open(struct arrivals *a, const struct rate_curve *curve, const struct arrivals_config *config,
                  uint64_t seed, const char *service, uint64_t replication, struct error *err)
{
    *a = (struct arrivals){.curve = curve, .config = config, .first = true, .chain_until = SIM_NEVER};
    if (stream_open(&a->gaps, random_key(seed, service, "arrivals", replication), err) < 0 ||
        stream_open(&a->noise, random_key(seed, service, "rate noise", replication), err) < 0 ||
        stream_open(&a->chain, random_key(seed, service, "rate states", replication), err) < 0) {
        arrivals_close(a);
        return -1;
    }
    if (config->kind == ARRIVALS_MMPP) {
        double stays = 0, point;

        for (int i = 0; i < config->states; i++)
            stays += config->stay_s[i];
        point = stream_uniform(&a->chain) * stays;
        while (a->state + 1 < config->states && point >= config->stay_s[a->state])
            point -= config->stay_s[a->state++];
        a->chain_until = sim_time_from_seconds(gsl_ran_exponential(a->chain.rng, config->stay_s[a->state])) +
                         1;
    }
    return 0;
}

void arrivals_close(struct arrivals *a)
{
    if (a->gaps.rng)
        stream_close(&a->gaps);
    if (a->noise.rng)
        stream_close(&a->noise);
    if (a->chain.rng)
        stream_close(&a->chain);
}

static double noise_at(struct arrivals *a, sim_time t)
{
    double squared = a->config->noise_cv * a->config->noise_cv;

    stream_rekey(&a->noise, (uint64_t)(t / a->config->noise_every));
    return gsl_ran_gamma(a->noise.rng, 1 / squared, squared);
}

/* The next stretch, from a->to on; false at the end of the curve. */
static bool stretch(struct arrivals *a)
{
    const struct arrivals_config *config = a->config;
    const struct rate_piece *p;
    double factor = 1, whole;
    sim_time from = a->to;

    while (a->piece < a->curve->count && a->curve->pieces[a->piece].to <= from)
        a->piece++;
    if (a->piece == a->curve->count)
        return false;
    p = &a->curve->pieces[a->piece];
    if (from < p->from)
        from = p->from;
    while (a->chain_until <= from) {
        a->state = (a->state + 1) % config->states;
        a->chain_until += sim_time_from_seconds(gsl_ran_exponential(a->chain.rng, config->stay_s[a->state])) +
                          1;
    }
    a->to = p->to < a->chain_until ? p->to : a->chain_until;
    if (config->noise_cv > 0) {
        sim_time end = (from / config->noise_every + 1) * config->noise_every;

        factor = noise_at(a, from);
        a->to = a->to < end ? a->to : end;
    }
    if (config->kind == ARRIVALS_MMPP)
        factor *= config->factor[a->state];
    whole = sim_time_seconds(p->to - p->from);
    a->from = from;
    a->length = sim_time_seconds(a->to - from);
    a->slope = factor * (p->last - p->first) / whole;
    a->rate = factor * p->first + a->slope * sim_time_seconds(from - p->from);
    a->at = 0;
    return true;
}

static double gap(struct arrivals *a)
{
    double squared = a->config->cv * a->config->cv;

    if (a->config->kind != ARRIVALS_GAMMA)
        return -log1p(-stream_uniform(&a->gaps));
    if (a->first) {
        /* Time to the next event of a stationary renewal process: a uniform part of a length-biased gap,
         * which for a Gamma is a Gamma with its shape one higher (Cox, "Renewal Theory", 1962, 5.4). */
        a->first = false;
        return stream_uniform(&a->gaps) * gsl_ran_gamma(a->gaps.rng, 1 / squared + 1, squared);
    }
    return gsl_ran_gamma(a->gaps.rng, 1 / squared, squared);
}

sim_time arrivals_next(struct arrivals *a)
{
    double left = gap(a);

    for (;;) {
        double rest = a->length - a->at, rate = a->rate + a->slope * a->at;
        double area = rest > 0 ? (rate + a->slope * rest / 2) * rest : 0;

        if (left < area) {
            /* rate d + slope d^2 / 2 = left, solved without cancellation */
            double root = rate * rate + 2 * a->slope * left;
            double step = 2 * left / (rate + sqrt(root > 0 ? root : 0));

            a->at += step < rest ? step : rest;
            return a->from + llround(a->at * 1e9);
        }
        left -= area;
        if (!stretch(a)) {
            a->length = a->at = 0;
            return SIM_NEVER;
        }
    }
}
