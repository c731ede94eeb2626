#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/csv_stream.h"
#include "sim/io/document_internal.h"
#include "sim/io/quantity.h"

/*
 * Distributions of the document: which numbers each kind takes, and how they are written in each unit. The
 * mathematics and its checks are the engine's.
 */
static const char *unit_example(enum unit unit)
{
    switch (unit) {
    case UNIT_SECONDS:
        return "a duration such as \"90s\"";
    case UNIT_BYTES:
        return "a size such as \"18Gi\"";
    case UNIT_COUNT:
    case UNIT_TOKENS:
        break;
    }
    return "a number";
}

/* A text in the unit to its base unit. */
static int unit_read(enum unit unit, const char *text, double *out, struct error *err)
{
    sim_time time;
    int64_t bytes;

    switch (unit) {
    case UNIT_SECONDS:
        if (quantity_time(text, &time, err))
            return -1;
        *out = sim_time_seconds(time);
        return 0;
    case UNIT_BYTES:
        if (quantity_size(text, &bytes, err))
            return -1;
        *out = (double)bytes;
        return 0;
    case UNIT_COUNT:
    case UNIT_TOKENS:
        break;
    }
    if (quantity_number(text, out, err))
        return -1;
    if (*out < 0)
        return error_set(err, ERROR_INPUT, "", "expected a number of at least 0; found %.60s", text);
    return 0;
}

static int unit_node(const struct node *node, enum unit unit, double *out, struct error *err)
{
    struct error wrong = {.code = ERROR_NONE};
    char found[QUOTE_SIZE];
    bool number = unit == UNIT_COUNT || unit == UNIT_TOKENS;

    if (node->kind != NODE_NUMBER && !(node->kind == NODE_STRING && !number))
        return node_error(node, err, "expected %s; found %s", unit_example(unit),
                          node_found(node, found, sizeof found));
    if (unit_read(unit, node->text, out, &wrong))
        return node_error(node, err, "%s", wrong.message);
    return 0;
}

/* A parameter in the distribution's unit. */
static bool parameter(struct map *map, const char *key, enum unit unit, bool required, double *out)
{
    const struct node *node = required ? map_required(map, key) : map_node(map, key);

    return node && !map_failed(map) && !unit_node(node, unit, out, map->err);
}

static bool plain(struct map *map, const char *key, double *out)
{
    return map_number(map, key, MAP_REQUIRED, -HUGE_VAL, HUGE_VAL, out);
}

/* ---- empirical ---- */

struct values {
    double *items;
    size_t count, room;
};

static int values_add(struct values *values, double value, struct error *err)
{
    if (values->count == values->room) {
        size_t room = values->room ? values->room * 2 : 256;
        double *more = realloc(values->items, room * sizeof *more);

        if (!more)
            return error_memory(err, "empirical");
        values->items = more;
        values->room = room;
    }
    values->items[values->count++] = value;
    return 0;
}

/* A field of a file: a bare number is in the base unit, since measuring tools write seconds and bytes. */
static int field_read(const char *text, enum unit unit, double *out, struct error *err)
{
    struct error ignored = {.code = ERROR_NONE};

    if (quantity_number(text, out, &ignored))
        return unit_read(unit, text, out, err);
    if (*out < 0)
        return error_set(err, ERROR_INPUT, "", "expected a value of at least 0; found %.60s", text);
    return 0;
}

static int csv_column(const struct csv_row *row, const char *column, size_t *index)
{
    for (size_t i = 0; i < row->count; i++) {
        if (strlen(column) == row->fields[i].length &&
            !memcmp(column, row->fields[i].text, row->fields[i].length)) {
            *index = i;
            return 0;
        }
    }
    return -1;
}

static int file_rows(struct csv_stream *csv, const char *path, const char *column, enum unit unit,
                     struct values *values, struct error *err)
{
    struct csv_row row;
    size_t index = 0;
    bool first = true;
    int status;

    while ((status = csv_stream_next(csv, &row, err)) > 0) {
        struct error wrong = {.code = ERROR_NONE};
        char place[sizeof err->place], quoted[QUOTE_SIZE];
        bool header = first;
        double value;

        first = false;
        snprintf(place, sizeof place, "%.480s:%llu", path, (unsigned long long)row.line);
        if (header && column) {
            if (csv_column(&row, column, &index))
                return error_set(err, ERROR_INPUT, place, "no column %s in the header",
                                 quote_text(column, quoted, sizeof quoted));
            continue;
        }
        if (index >= row.count)
            return error_set(err, ERROR_INPUT, place, "the row has %zu fields; column %zu is wanted",
                             row.count, index + 1);
        if (!column && row.count > 1)
            return error_set(err, ERROR_INPUT, place,
                             "the row has %zu fields; name the column that is meant, as in \"%.100s:column\"",
                             row.count, path);
        if (field_read(row.fields[index].text, unit, &value, &wrong)) {
            /* A first line that does not even begin like a number is a header. */
            if (header && !strchr("0123456789.+-", row.fields[index].text[0]))
                continue;
            return error_set(err, ERROR_INPUT, place, "%s", wrong.message);
        }
        if (values_add(values, value, err))
            return -1;
    }
    if (!status && !values->count)
        return error_set(err, ERROR_INPUT, path, "holds no values");
    return status;
}

static int file_values(const struct node *node, enum unit unit, struct values *values, struct error *err)
{
    char path[4096];
    struct csv_stream *csv;
    struct error missing = {.code = ERROR_NONE};
    char *colon;
    int status;

    if (strlen(node->text) > 2000)
        return node_error(node, err, "the file name is too long");
    document_resolve_path(node, node->text, path, sizeof path);
    status = csv_stream_open(&csv, path, ',', &missing);
    colon = strrchr(path, ':');
    if (status && colon && colon > path && colon[1]) {
        *colon++ = 0;
        missing = (struct error){.code = ERROR_NONE};
        status = csv_stream_open(&csv, path, ',', &missing);
    } else {
        colon = NULL;
    }
    if (status)
        return node_error(node, err, "%.400s: %s", path, missing.message);
    status = file_rows(csv, path, colon, unit, values, err);
    csv_stream_close(csv);
    return status;
}

static int list_values(const struct node *node, enum unit unit, struct values *values, struct error *err)
{
    for (size_t i = 0; i < node->count; i++) {
        double value;

        if (unit_node(node->children[i], unit, &value, err) || values_add(values, value, err))
            return -1;
    }
    if (!node->count)
        return node_error(node, err, "the list of values is empty");
    return 0;
}

static int empirical_read(const struct node *node, enum unit unit, struct distribution *out,
                          struct error *err)
{
    struct values values = {.items = NULL};
    struct error wrong = {.code = ERROR_NONE};
    char found[QUOTE_SIZE];
    int status;

    if (node->kind == NODE_STRING)
        status = file_values(node, unit, &values, err);
    else if (node->kind == NODE_SEQUENCE)
        status = list_values(node, unit, &values, err);
    else
        status = node_error(node, err, "expected a file name or a list of values; found %s",
                            node_found(node, found, sizeof found));
    if (!status && distribution_empirical(out, values.items, values.count, &wrong))
        status = node_error(node, err, "%s", wrong.message);
    free(values.items);
    return status;
}

/* ---- the kinds ---- */

static int uniform_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double low = 0, high = 0;

    parameter(map, "low", unit, true, &low);
    parameter(map, "high", unit, true, &high);
    return map_close(map) ? -1 : distribution_uniform(out, low, high, wrong);
}

static int exponential_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double mean = 0;

    parameter(map, "mean", unit, true, &mean);
    return map_close(map) ? -1 : distribution_exponential(out, mean, wrong);
}

static int normal_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double mean = 0, sd = 0, low = 0, high = HUGE_VAL;

    parameter(map, "mean", unit, true, &mean);
    parameter(map, "sd", unit, true, &sd);
    parameter(map, "low", unit, false, &low);
    parameter(map, "high", unit, false, &high);
    return map_close(map) ? -1 : distribution_normal(out, mean, sd, low, high, wrong);
}

static int lognormal_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double first = 0, second = 0;
    bool by_moments = map_has(map, "mean") || map_has(map, "cv");
    bool by_quantiles = map_has(map, "median") || map_has(map, "p99");

    if (!map_failed(map) && by_moments == by_quantiles) {
        node_error(map->node, map->err,
                   "lognormal takes either \"median\" and \"p99\", or \"mean\" and \"cv\"");
        return -1;
    }
    if (by_moments) {
        parameter(map, "mean", unit, true, &first);
        plain(map, "cv", &second);
        return map_close(map) ? -1 : distribution_lognormal_moments(out, first, second, wrong);
    }
    parameter(map, "median", unit, true, &first);
    parameter(map, "p99", unit, true, &second);
    return map_close(map) ? -1 : distribution_lognormal_quantiles(out, first, second, wrong);
}

static int gamma_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double mean = 0, cv = 0;

    parameter(map, "mean", unit, true, &mean);
    plain(map, "cv", &cv);
    return map_close(map) ? -1 : distribution_gamma(out, mean, cv, wrong);
}

static int weibull_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double scale = 0, shape = 0;

    parameter(map, "scale", unit, true, &scale);
    plain(map, "shape", &shape);
    return map_close(map) ? -1 : distribution_weibull(out, scale, shape, wrong);
}

static int pareto_read(struct map *map, enum unit unit, struct distribution *out, struct error *wrong)
{
    double least = 0, exponent = 0;

    parameter(map, "least", unit, true, &least);
    plain(map, "exponent", &exponent);
    return map_close(map) ? -1 : distribution_pareto(out, least, exponent, wrong);
}

static const struct kind {
    const char *name;
    /* 0; -1 with wrong filled (no place yet), or with map->err. */
    int (*read)(struct map *map, enum unit unit, struct distribution *out, struct error *wrong);
} kinds[] = {
    {"uniform", uniform_read}, {"exponential", exponential_read},
    {"normal", normal_read},   {"lognormal", lognormal_read},
    {"gamma", gamma_read},     {"weibull", weibull_read},
    {"pareto", pareto_read},   {"empirical", NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_error(const struct node *node, const struct node *child, struct error *err)
{
    const char *names[KINDS];
    const char *nearest;
    char list[256], word[QUOTE_SIZE], near[QUOTE_SIZE];

    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    list_names(names, KINDS, list, sizeof list);
    if (!child)
        return node_error(node, err, "a distribution is a map with one key, one of %s", list);
    nearest = nearest_name(child->key, names, KINDS);
    quote_text(child->key, word, sizeof word);
    if (nearest)
        return node_key_error(child, err, "unknown distribution %s; did you mean %s? Allowed here: %s", word,
                              quote_text(nearest, near, sizeof near), list);
    return node_key_error(child, err, "unknown distribution %s. Allowed here: %s", word, list);
}

/* 0 or -1 and err with the place. */
static int distribution_read(const struct node *node, enum unit unit, struct distribution *out,
                             struct error *err)
{
    struct error wrong = {.code = ERROR_NONE};
    const struct node *child;
    struct map map;
    double value;
    int status;

    if (node->kind != NODE_MAP) {
        char found[QUOTE_SIZE];

        if (!node->text || node->kind == NODE_NULL || node->kind == NODE_BOOL)
            return node_error(
                node, err,
                "expected %s, or a distribution such as {\"exponential\": {\"mean\": ...}}; found %s",
                unit_example(unit), node_found(node, found, sizeof found));
        if (unit_node(node, unit, &value, err))
            return -1;
        if (distribution_constant(out, value, &wrong))
            return node_error(node, err, "%s", wrong.message);
        return 0;
    }
    if (node->count != 1)
        return kind_error(node, NULL, err);
    child = node->children[0];
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, child->key) != 0)
            continue;
        if (!kinds[i].read)
            return empirical_read(child, unit, out, err);
        if (!map_open(&map, child, err))
            return -1;
        map.unrecorded = true; /* the distribution is one input, not each of its parameters */
        status = kinds[i].read(&map, unit, out, &wrong);
        if (status && err->code == ERROR_NONE)
            node_error(child, err, "%s", wrong.message);
        return status;
    }
    return kind_error(node, child, err);
}

/* A default such as {"lognormal": ...} is read as a small document of its own. */
static bool default_read(struct map *map, const char *key, const char *text, enum unit unit,
                         struct distribution *out)
{
    struct error wrong = {.code = ERROR_NONE};
    struct document *doc = NULL;
    double value;
    int status;

    if (*text == '{') {
        status = document_read_text(text, strlen(text), "default", &doc, &wrong);
        if (!status)
            status = distribution_read(doc->root, unit, out, &wrong);
        document_free(doc);
    } else {
        status = unit_read(unit, text, &value, &wrong);
        if (!status)
            status = distribution_constant(out, value, &wrong);
    }
    return status ? map_fail(map, key, NULL, "%s", wrong.message) : true;
}

bool map_distribution(struct map *map, const char *key, struct map_default def, enum unit unit,
                      struct distribution *out)
{
    const struct node *node;
    const char *text;

    if (!map_value(map, key, def, &node, &text))
        return false;
    if (!node) {
        if (!default_read(map, key, text, unit, out))
            return false;
    } else if (distribution_read(node, unit, out, map->err)) {
        return false;
    }
    if (ledger_record(map, key, node, def))
        return true;
    distribution_free(out);
    return false;
}
