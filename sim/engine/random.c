#include "sim/engine/random.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The odd integer nearest 2^64 / golden ratio: the step of SplitMix64. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Keeps the keys of ordinals apart from the words that seed a generator, which are hashes of the key as well.
 */
#define ORDINAL_SALT UINT64_C(0xd1b54a32d192ed03)

struct xoshiro {
    uint64_t s[4];
};

static inline uint64_t rotate_left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with Stafford's
 * constants. */
static inline uint64_t finalize(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline double unit_interval(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

static inline uint64_t xoshiro_next(struct xoshiro *x)
{
    uint64_t *s = x->s;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

static void xoshiro_set(void *state, unsigned long seed)
{
    struct xoshiro *x = state;
    uint64_t counter = seed;

    /* Finalize is a bijection and the four counters differ, so the state cannot be all zero. */
    for (int i = 0; i < 4; i++)
        x->s[i] = finalize(counter += GOLDEN);
}

static unsigned long xoshiro_get(void *state)
{
    return xoshiro_next(state);
}

static double xoshiro_get_double(void *state)
{
    return unit_interval(xoshiro_next(state));
}

_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "gsl_rng_get must carry 64 bits");

static const gsl_rng_type xoshiro256pp = {.name = "xoshiro256++",
                                          .max = UINT64_MAX,
                                          .min = 0,
                                          .size = sizeof(struct xoshiro),
                                          .set = xoshiro_set,
                                          .get = xoshiro_get,
                                          .get_double = xoshiro_get_double};

const gsl_rng_type *const random_xoshiro256pp = &xoshiro256pp;

uint64_t random_hash(uint64_t value)
{
    return finalize(value + GOLDEN);
}

double random_uniform_of(uint64_t value)
{
    return unit_interval(random_hash(value));
}

uint64_t random_key_ordinal(uint64_t key, uint64_t ordinal)
{
    return random_hash(random_hash(key ^ ORDINAL_SALT) + ordinal);
}

/* Eight bytes at a time, least significant first, whatever the machine; the length last, so that "ab","c" and
 * "a","bc" differ. */
static uint64_t absorb_text(uint64_t key, const char *text)
{
    size_t length = strlen(text);

    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;

        for (size_t i = at; i < length && i < at + 8; i++)
            word |= (uint64_t)(unsigned char)text[i] << 8 * (i - at);
        key = random_key_ordinal(key, word);
    }
    return random_key_ordinal(key, length);
}

uint64_t random_key(uint64_t seed, const char *service, const char *purpose, uint64_t replication)
{
    return random_key_ordinal(absorb_text(absorb_text(random_hash(seed), service), purpose), replication);
}

/* What gsl_rng_alloc does, but out of memory is an error and not an abort by GSL's handler, which is global
 * to all threads. */
static gsl_rng *generator_new(const gsl_rng_type *type)
{
    gsl_rng *rng = malloc(sizeof *rng);
    void *state = calloc(1, type->size);

    if (!rng || !state) {
        free(rng);
        free(state);
        return NULL;
    }
    *rng = (gsl_rng){.type = type, .state = state};
    return rng;
}

int stream_open(struct stream *stream, uint64_t key, struct error *err)
{
    *stream = (struct stream){.rng = generator_new(random_xoshiro256pp), .key = key};
    if (!stream->rng)
        return error_memory(err, "random stream");
    xoshiro_set(stream->rng->state, key);
    return 0;
}

void stream_close(struct stream *stream)
{
    gsl_rng_free(stream->rng);
    stream->rng = NULL;
}

void stream_rekey(struct stream *stream, uint64_t ordinal)
{
    xoshiro_set(stream->rng->state, random_key_ordinal(stream->key, ordinal));
}

uint64_t stream_bits(struct stream *stream)
{
    return xoshiro_next(stream->rng->state);
}

double stream_uniform(struct stream *stream)
{
    return unit_interval(xoshiro_next(stream->rng->state));
}
