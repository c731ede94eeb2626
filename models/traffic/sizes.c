#include "models/traffic/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/traffic/trace.h"

void sizes_free(struct sizes *sizes)
{
    distribution_free(&sizes->tokens_in);
    distribution_free(&sizes->tokens_out);
    distribution_free(&sizes->work);
    free(sizes->rows);
    *sizes = (struct sizes){.form = SIZES_NONE};
}

int sizes_copy(struct sizes *to, const struct sizes *from, struct error *err)
{
    *to = (struct sizes){.form = from->form, .count = from->count, .seen = from->seen};
    if (from->form == SIZES_TOKENS && (distribution_copy(&to->tokens_in, &from->tokens_in, err) < 0 ||
                                       distribution_copy(&to->tokens_out, &from->tokens_out, err) < 0))
        return -1;
    if (from->form == SIZES_WORK && distribution_copy(&to->work, &from->work, err) < 0)
        return -1;
    if (from->form == SIZES_ROWS) {
        to->rows = malloc((from->count ? from->count : 1) * sizeof *to->rows);
        if (!to->rows)
            return error_memory(err, "traffic");
        memcpy(to->rows, from->rows, from->count * sizeof *to->rows);
    }
    return 0;
}

int sizes_offer(struct sizes *sizes, const struct size_row *row, struct error *err)
{
    uint64_t number = sizes->seen++;

    if (number < SIZES_ROWS_LIMIT) {
        if ((number & (number - 1)) == 0) { /* room doubles at each power of two */
            size_t room = number ? 2 * (size_t)number : 1;
            struct size_row *rows = realloc(sizes->rows, room * sizeof *rows);

            if (!rows)
                return error_memory(err, "traffic");
            sizes->rows = rows;
        }
        sizes->rows[sizes->count++] = *row;
        return 0;
    }
    {
        uint64_t slot = (uint64_t)(((unsigned __int128)random_hash(number) * (number + 1)) >> 64);

        if (slot < SIZES_ROWS_LIMIT)
            sizes->rows[slot] = *row;
    }
    return 0;
}

static int rows_read(struct map *map, struct sizes *sizes)
{
    struct trace_spec *spec = NULL;
    struct trace_reader *reader = NULL;
    struct trace_record record;
    struct map trace;
    int got = -1;

    sizes->form = SIZES_ROWS;
    if (!map_open_child(&trace, map, "trace") || trace_spec_parse(&trace, &spec, map->err) < 0 ||
        map_close(&trace) < 0)
        goto out;
    if (trace_spec_type(spec)->kind != TRACE_REQUESTS) {
        node_error(map_node(map, "trace"), map->err, "a trace of counts has no sizes of requests");
        goto out;
    }
    if (trace_open(spec, &reader, map->err) < 0)
        goto out;
    while ((got = trace_next(reader, &record, map->err)) > 0)
        if (sizes_offer(sizes, &(struct size_row){record.work_ns, record.tokens_in, record.tokens_out},
                        map->err) < 0) {
            got = -1;
            break;
        }
    if (got == 0 && sizes->count == 0)
        got = node_error(map_node(map, "trace"), map->err, "the trace has no requests");
out:
    trace_close(reader);
    trace_spec_free(spec);
    return got < 0 ? -1 : 0;
}

int sizes_parse(struct map *map, struct sizes *sizes)
{
    struct map own;

    *sizes = (struct sizes){.form = SIZES_NONE};
    if (!map_has(map, "sizes"))
        return map_failed(map) ? -1 : 0;
    map_open_child(&own, map, "sizes");
    if (map_has(&own, "trace")) {
        if (rows_read(&own, sizes) < 0)
            return -1;
    } else if (map_has(&own, "work")) {
        sizes->form = SIZES_WORK;
        map_distribution(&own, "work", MAP_REQUIRED, UNIT_SECONDS, &sizes->work);
    } else {
        sizes->form = SIZES_TOKENS;
        map_distribution(&own, "tokens_in", MAP_DEFAULT("0", "no tokens given"), UNIT_TOKENS,
                         &sizes->tokens_in);
        map_distribution(&own, "tokens_out", MAP_DEFAULT("0", "no tokens given"), UNIT_TOKENS,
                         &sizes->tokens_out);
    }
    return map_close(&own);
}

void sizes_mean(const struct sizes *sizes, struct traffic_sizes *mean)
{
    *mean = (struct traffic_sizes){.work_seconds = NAN};
    switch (sizes->form) {
    case SIZES_NONE:
        break;
    case SIZES_TOKENS:
        mean->tokens_in = sizes->tokens_in.mean;
        mean->tokens_out = sizes->tokens_out.mean;
        break;
    case SIZES_WORK:
        mean->work_seconds = sizes->work.mean;
        break;
    case SIZES_ROWS: {
        double work = 0;
        size_t worked = 0;

        for (size_t i = 0; i < sizes->count; i++) {
            mean->tokens_in += sizes->rows[i].tokens_in;
            mean->tokens_out += sizes->rows[i].tokens_out;
            if (sizes->rows[i].work_ns >= 0) {
                work += sim_time_seconds(sizes->rows[i].work_ns);
                worked++;
            }
        }
        mean->tokens_in /= (double)sizes->count;
        mean->tokens_out /= (double)sizes->count;
        if (worked == sizes->count)
            mean->work_seconds = work / (double)worked;
        break;
    }
    }
}

bool sizes_is_random(const struct sizes *sizes)
{
    switch (sizes->form) {
    case SIZES_NONE:
        return false;
    case SIZES_TOKENS:
        return !distribution_is_constant(&sizes->tokens_in) || !distribution_is_constant(&sizes->tokens_out);
    case SIZES_WORK:
        return !distribution_is_constant(&sizes->work);
    case SIZES_ROWS:
        return sizes->count > 1;
    }
    return true;
}

/* A whole number of tokens; none only where the distribution is a constant 0. */
static int32_t tokens_of(const struct distribution *d, gsl_rng *rng)
{
    double value = distribution_draw(d, rng);

    if (distribution_is_zero(d))
        return 0;
    if (value >= INT32_MAX)
        return INT32_MAX;
    return value < 1 ? 1 : (int32_t)lround(value);
}

void sizes_draw(const struct sizes *sizes, struct stream *stream, uint64_t number, struct arrival *arrival)
{
    switch (sizes->form) {
    case SIZES_NONE:
        break;
    case SIZES_TOKENS:
        stream_rekey(stream, number);
        arrival->tokens_in = tokens_of(&sizes->tokens_in, stream->rng);
        arrival->tokens_out = tokens_of(&sizes->tokens_out, stream->rng);
        break;
    case SIZES_WORK:
        stream_rekey(stream, number);
        arrival->work_ns = distribution_draw_time(&sizes->work, stream->rng);
        break;
    case SIZES_ROWS: {
        uint64_t bits = random_key_ordinal(stream->key, number);
        const struct size_row *row = &sizes->rows[(size_t)(((unsigned __int128)bits * sizes->count) >> 64)];

        arrival->work_ns = row->work_ns;
        arrival->tokens_in = row->tokens_in;
        arrival->tokens_out = row->tokens_out;
        break;
    }
    }
}
