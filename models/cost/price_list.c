#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cost/cost.h"

/* The "prices" of a scenario. */

static const char *const per_names[] = {"node-hour", "gpu-hour", NULL};
static const char *const bill_names[] = {"node", "bound", NULL};

enum { TYPES_LIMIT = 60 };

/* Above this a year of a thousand nodes would leave int64 millionths. */
static const double RATE_LIMIT = 1e5;

static void rate_read(struct map *map, const char *key, int64_t *micro)
{
    double rate = 0;

    if (map_number(map, key, MAP_REQUIRED, 0, RATE_LIMIT, &rate))
        *micro = llround(rate * 1e6);
}

static void reservation_read(struct map *map, struct node_price *price)
{
    int64_t reserved = 0;

    if (!map_has(map, "reserved")) {
        if (map_has(map, "reserved_price"))
            node_error(map_node(map, "reserved_price"), map->err,
                       "\"reserved_price\" needs \"reserved\": how many nodes of this type are reserved");
        return;
    }
    if (map_integer(map, "reserved", MAP_REQUIRED, 0, 1000000, &reserved))
        price->reserved = (int32_t)reserved;
    rate_read(map, "reserved_price", &price->reserved_rate_micro);
    if (price->bound_only)
        node_error(map_node(map, "reserved"), map->err,
                   "\"reserved\" pays for whole nodes and \"bill\": \"bound\" for the GPUs in use: give one "
                   "of the two");
}

static void steps_read(struct map *map, struct node_price *price)
{
    static const char *const keys[] = {"granularity", "minimum"};

    if (price->bound_only) {
        for (int i = 0; i < 2; i++)
            if (map_has(map, keys[i]))
                node_error(map_node(map, keys[i]), map->err,
                           "\"%s\" belongs to a node that is paid while it runs; with \"bill\": \"bound\" "
                           "GPU-time is paid as it is used",
                           keys[i]);
        return;
    }
    map_time(map, "granularity",
             MAP_DEFAULT("1s", "AWS, Google and Azure bill Linux instances by the second"),
             &price->granularity);
    map_time(map, "minimum", MAP_DEFAULT("60s", "AWS and Google bill at least one minute of an instance"),
             &price->minimum);
    if (!map_failed(map) && price->granularity <= 0)
        node_error(map->node, map->err, "\"granularity\" must be longer than 0");
}

static int price_read(struct map *prices, const char *type, struct node_price *price)
{
    struct map map;
    int per = 0, bill = 0;

    if (!map_has(prices, type)) {
        if (map_failed(prices))
            return -1;
        return node_error(prices->node, prices->err,
                          "node type \"%.100s\" has no price: add \"%.100s\": {\"on_demand\": ..., \"per\": "
                          "\"node-hour\"}, or leave "
                          "out \"prices\" to count GPU-hours",
                          type, type);
    }
    map_open_child(&map, prices, type);
    rate_read(&map, "on_demand", &price->rate_micro);
    if (map_choice(&map, "per", MAP_DEFAULT("node-hour", "clouds list instances by the hour"), per_names,
                   &per))
        price->per_gpu = per == 1;
    if (map_choice(&map, "bill", MAP_DEFAULT("node", "clouds bill instances, used or not"), bill_names,
                   &bill))
        price->bound_only = bill == 1;
    if (price->bound_only && !price->per_gpu)
        return node_error(map.node, map.err,
                          "\"bill\": \"bound\" charges GPU-time: its price is \"per\": \"gpu-hour\"");
    steps_read(&map, price);
    reservation_read(&map, price);
    return map_close(&map);
}

static int currency_read(struct map *map, struct price_list *list)
{
    size_t length;

    if (!map_string(map, "currency", MAP_DEFAULT("USD", "what cloud price lists are in"), &list->currency))
        return -1;
    length = strlen(list->currency);
    for (const char *at = list->currency; *at; at++)
        if (iscntrl((unsigned char)*at))
            length = 0;
    if (length == 0 || length > PRICE_CURRENCY_LIMIT)
        return node_error(map_node(map, "currency"), map->err,
                          "a currency has 1 to %d bytes and no control characters, such as \"USD\"",
                          PRICE_CURRENCY_LIMIT);
    return 0;
}

int price_list_parse(const struct node *node, const char *const *types, int32_t count,
                     struct price_list *list, struct error *err)
{
    struct map map;

    *list = (struct price_list){.currency = "GPU-h", .count = count, .given = node != NULL};
    if (count > TYPES_LIMIT)
        return node ? node_error(node, err, "prices for at most %d node types", TYPES_LIMIT)
                    : error_set(err, ERROR_INPUT, "prices", "at most %d node types", TYPES_LIMIT);
    list->types = calloc((size_t)(count > 0 ? count : 1), sizeof *list->types);
    if (!list->types)
        return error_memory(err, "prices");
    if (!node) {
        for (int32_t i = 0; i < count; i++)
            list->types[i] = (struct node_price){.rate_micro = 1000000, .per_gpu = true, .granularity = 1};
        return 0;
    }
    map_open(&map, node, err);
    if (currency_read(&map, list) < 0)
        goto failed;
    for (int32_t i = 0; i < count; i++)
        if (price_read(&map, types[i], &list->types[i]) < 0)
            goto failed;
    if (map_close(&map) == 0)
        return 0;
failed:
    price_list_free(list);
    return -1;
}

void price_list_free(struct price_list *list)
{
    free(list->types);
    *list = (struct price_list){0};
}
