#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/io/document_internal.h"
#include "sim/io/quantity.h"

/* ---- opening, closing ---- */

bool map_open(struct map *map, const struct node *node, struct error *err)
{
    char found[QUOTE_SIZE];

    assert(err);
    *map = (struct map){.node = node, .err = err};
    if (err->code != ERROR_NONE)
        return false;
    if (!node)
        return true;
    map->doc = node->doc;
    if (node->kind == NODE_MAP)
        return true;
    node_error(node, err, "expected a map; found %s", node_found(node, found, sizeof found));
    return false;
}

bool map_open_child(struct map *child, struct map *parent, const char *key)
{
    const struct node *node = map_node(parent, key);
    char path[DOCUMENT_PATH_SIZE];
    bool opened = map_open(child, node, parent->err);

    child->unrecorded = parent->unrecorded;
    if (!opened || node)
        return opened;
    child->doc = parent->doc;
    if (!parent->doc)
        return true;
    if (parent->node)
        node_path(parent->node, path, sizeof path);
    else
        snprintf(path, sizeof path, "%s", parent->path ? parent->path : "");
    path_append_key(path, sizeof path, key);
    child->path = arena_text(&parent->doc->arena, path, strlen(path));
    if (!child->path) {
        error_memory(parent->err, parent->doc->name);
        return false;
    }
    return true;
}

bool map_failed(const struct map *map)
{
    return map->err->code != ERROR_NONE;
}

bool map_ask(struct map *map, const char *key)
{
    if (map_failed(map))
        return false;
    for (size_t i = 0; i < map->asked_count; i++)
        if (!strcmp(map->asked[i], key))
            return true;
    assert(map->asked_count < MAP_KEYS);
    map->asked[map->asked_count++] = key;
    return true;
}

int map_close(struct map *map)
{
    if (map_failed(map))
        return -1;
    if (!map->node)
        return 0;
    for (size_t i = 0; i < map->node->count; i++) {
        const struct node *child = map->node->children[i];
        bool known = false;
        char word[QUOTE_SIZE], near[QUOTE_SIZE], list[600];
        const char *nearest;

        for (size_t j = 0; j < map->asked_count && !known; j++)
            known = !strcmp(map->asked[j], child->key);
        if (known)
            continue;
        quote_text(child->key, word, sizeof word);
        if (!map->asked_count)
            return node_key_error(child, map->err, "unknown key %s; this map takes no keys", word);
        list_names(map->asked, map->asked_count, list, sizeof list);
        nearest = nearest_name(child->key, map->asked, map->asked_count);
        if (nearest)
            return node_key_error(child, map->err, "unknown key %s; did you mean %s? Allowed here: %s", word,
                                  quote_text(nearest, near, sizeof near), list);
        return node_key_error(child, map->err, "unknown key %s. Allowed here: %s", word, list);
    }
    return 0;
}

/* ---- raw values ---- */

const struct node *map_node(struct map *map, const char *key)
{
    if (!map_ask(map, key) || !map->node)
        return NULL;
    return node_get(map->node, key);
}

bool map_has(struct map *map, const char *key)
{
    return map_node(map, key) != NULL;
}

static void missing(struct map *map, const char *key)
{
    char quoted[QUOTE_SIZE];

    quote_text(key, quoted, sizeof quoted);
    if (map->node)
        node_error(map->node, map->err, "the key %s is missing", quoted);
    else
        error_set(map->err, ERROR_INPUT, map->path, "the key %s is missing", quoted);
}

const struct node *map_required(struct map *map, const char *key)
{
    const struct node *node = map_node(map, key);

    if (!node && !map_failed(map))
        missing(map, key);
    return node;
}

bool map_value(struct map *map, const char *key, struct map_default def, const struct node **node,
               const char **text)
{
    *node = map_node(map, key);
    *text = *node ? (*node)->text : def.text;
    if (map_failed(map))
        return false;
    if (!*node && !def.text) {
        missing(map, key);
        return false;
    }
    return true;
}

bool map_fail(struct map *map, const char *key, const struct node *node, const char *format, ...)
{
    char message[sizeof map->err->message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (node)
        node_error(node, map->err, "%s", message);
    else
        error_set(map->err, ERROR_INTERNAL, key, "the built-in default is wrong: %s", message);
    return false;
}

/* ---- scalars ---- */

/* A number or a text; else an error that says what was expected. */
static bool scalar_value(struct map *map, const char *key, struct map_default def, const char *expected,
                         const struct node **node, const char **text)
{
    char found[QUOTE_SIZE];

    if (!map_value(map, key, def, node, text))
        return false;
    if (*node && (*node)->kind != NODE_NUMBER && (*node)->kind != NODE_STRING)
        return map_fail(map, key, *node, "expected %s; found %s", expected,
                        node_found(*node, found, sizeof found));
    return true;
}

/* The same where only a number will do: a number in quotes is a mistake that we name. */
static bool number_value(struct map *map, const char *key, struct map_default def, const char *expected,
                         const struct node **node, const char **text)
{
    char found[QUOTE_SIZE];

    if (!map_value(map, key, def, node, text))
        return false;
    if (*node && (*node)->kind != NODE_NUMBER)
        return map_fail(map, key, *node, "expected %s; found %s", expected,
                        node_found(*node, found, sizeof found));
    return true;
}

bool map_time(struct map *map, const char *key, struct map_default def, sim_time *out)
{
    struct error wrong = {.code = ERROR_NONE};
    const struct node *node;
    const char *text;

    if (!scalar_value(map, key, def, "a duration such as \"90s\"", &node, &text))
        return false;
    if (quantity_time(text, out, &wrong))
        return map_fail(map, key, node, "%s", wrong.message);
    return ledger_record(map, key, node, def);
}

bool map_size(struct map *map, const char *key, struct map_default def, int64_t *out)
{
    struct error wrong = {.code = ERROR_NONE};
    const struct node *node;
    const char *text;

    if (!scalar_value(map, key, def, "a size such as \"18Gi\"", &node, &text))
        return false;
    if (quantity_size(text, out, &wrong))
        return map_fail(map, key, node, "%s", wrong.message);
    return ledger_record(map, key, node, def);
}

static bool real_value(struct map *map, const char *key, struct map_default def, const char *expected,
                       int (*read)(const char *, double *, struct error *), double *out)
{
    struct error wrong = {.code = ERROR_NONE};
    const struct node *node;
    const char *text;

    if (!scalar_value(map, key, def, expected, &node, &text))
        return false;
    if (read(text, out, &wrong))
        return map_fail(map, key, node, "%s", wrong.message);
    return ledger_record(map, key, node, def);
}

bool map_rate(struct map *map, const char *key, struct map_default def, double *out)
{
    return real_value(map, key, def, "a rate such as \"120/s\"", quantity_rate, out);
}

bool map_bandwidth(struct map *map, const char *key, struct map_default def, double *out)
{
    return real_value(map, key, def, "a bandwidth such as \"1.2GiB/s\"", quantity_bandwidth, out);
}

bool map_share(struct map *map, const char *key, struct map_default def, double *out)
{
    return real_value(map, key, def, "a share such as 0.8 or \"80%\"", quantity_share, out);
}

/* "from 0 to 1", "at least 0", "at most 9", "" */
static void range_text(double low, double high, char *text, size_t size)
{
    text[0] = 0;
    if (isfinite(low) && low > -1e300 && isfinite(high) && high < 1e300)
        snprintf(text, size, " from %.15g to %.15g", low, high);
    else if (isfinite(low) && low > -1e300)
        snprintf(text, size, " of at least %.15g", low);
    else if (isfinite(high) && high < 1e300)
        snprintf(text, size, " of at most %.15g", high);
}

bool map_number(struct map *map, const char *key, struct map_default def, double low, double high,
                double *out)
{
    struct error wrong = {.code = ERROR_NONE};
    const struct node *node;
    const char *text;
    char range[96], expected[128];
    double value;

    range_text(low, high, range, sizeof range);
    snprintf(expected, sizeof expected, "a number%s", range);
    if (!number_value(map, key, def, expected, &node, &text))
        return false;
    if (quantity_number(text, &value, &wrong))
        return map_fail(map, key, node, "%s", wrong.message);
    if (value < low || value > high)
        return map_fail(map, key, node, "expected %s; found %.60s", expected, text);
    *out = value;
    return ledger_record(map, key, node, def);
}

bool map_integer(struct map *map, const char *key, struct map_default def, int64_t low, int64_t high,
                 int64_t *out)
{
    struct error wrong = {.code = ERROR_NONE};
    const struct node *node;
    const char *text;
    char expected[128] = "a whole number";
    int64_t value;

    if (low != INT64_MIN && high != INT64_MAX)
        snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)low,
                 (long long)high);
    else if (low != INT64_MIN)
        snprintf(expected, sizeof expected, "a whole number of at least %lld", (long long)low);
    else if (high != INT64_MAX)
        snprintf(expected, sizeof expected, "a whole number of at most %lld", (long long)high);
    if (!number_value(map, key, def, expected, &node, &text))
        return false;
    if (quantity_integer(text, &value, &wrong) || value < low || value > high)
        return map_fail(map, key, node, "expected %s; found %.60s", expected, text);
    *out = value;
    return ledger_record(map, key, node, def);
}

bool map_bool(struct map *map, const char *key, struct map_default def, bool *out)
{
    const struct node *node;
    const char *text;
    char found[QUOTE_SIZE];

    if (!map_value(map, key, def, &node, &text))
        return false;
    if (node && node->kind != NODE_BOOL)
        return map_fail(map, key, node, "expected true or false; found %s",
                        node_found(node, found, sizeof found));
    *out = text[0] == 't' || text[0] == 'T';
    return ledger_record(map, key, node, def);
}

bool map_string(struct map *map, const char *key, struct map_default def, const char **out)
{
    const struct node *node;
    const char *text;
    char found[QUOTE_SIZE];

    if (!map_value(map, key, def, &node, &text))
        return false;
    /* --set name=7 has no quotes to say what it means. */
    if (node && node->kind != NODE_STRING && !(node->from_set && node->text && node->kind != NODE_NULL))
        return map_fail(map, key, node, "expected a text; found %s", node_found(node, found, sizeof found));
    *out = text;
    return ledger_record(map, key, node, def);
}

bool map_choice(struct map *map, const char *key, struct map_default def, const char *const *names, int *out)
{
    const struct node *node;
    const char *text, *nearest;
    char found[QUOTE_SIZE], near[QUOTE_SIZE], list[600];
    size_t count = 0;

    if (!map_value(map, key, def, &node, &text))
        return false;
    while (names[count])
        count++;
    for (size_t i = 0; text && i < count; i++) {
        if (!strcmp(names[i], text)) {
            *out = (int)i;
            return ledger_record(map, key, node, def);
        }
    }
    list_names(names, count, list, sizeof list);
    nearest = text ? nearest_name(text, names, count) : NULL;
    if (!node)
        return map_fail(map, key, NULL, "%s is none of %s", text, list);
    if (nearest)
        return map_fail(map, key, node, "expected one of %s; found %s; did you mean %s?", list,
                        node_found(node, found, sizeof found), quote_text(nearest, near, sizeof near));
    return map_fail(map, key, node, "expected one of %s; found %s", list,
                    node_found(node, found, sizeof found));
}
