#include <assert.h>
#include <string.h>

#include "models/routing/routing.h"

enum { BALANCERS = 32 };

static const char *const where_names[] = {"replica", "central", NULL};
static const char *const cancel_names[] = {"none", "queue", "all", NULL};

static int queue_parse(struct map *routing, struct routing_config *config)
{
    struct map map;
    int where = 0;

    map_open_child(&map, routing, "queue");
    if (map_choice(&map, "where",
                   MAP_DEFAULT("replica", "inference servers keep their own queue (vLLM, TGI, Triton)"),
                   where_names, &where))
        config->central = where == 1;
    if (map_has(&map, "max"))
        map_integer(&map, "max", MAP_REQUIRED, 0, INT64_MAX, &config->queue_max);
    return map_close(&map);
}

static int client_parse(const struct node *node, struct routing_config *config, struct error *err)
{
    struct map map;
    int cancel = CANCEL_QUEUE;

    map_open(&map, node, err);
    if (map_has(&map, "timeout") && map_time(&map, "timeout", MAP_REQUIRED, &config->timeout) &&
        config->timeout <= 0)
        node_error(map_node(&map, "timeout"), err, "a timeout must be longer than 0; leave it out for none");
    if (map_choice(
            &map, "cancel_on_timeout",
            MAP_DEFAULT("queue", "a closed connection is noticed before service begins, seldom within it"),
            cancel_names, &cancel))
        config->cancel = (enum cancel_rule)cancel;
    return map_close(&map);
}

int routing_config_parse(const struct node *routing, const struct node *client, struct routing_config *config,
                         struct error *err)
{
    const struct balancer_type *const *types = balancer_types();
    const char *names[BALANCERS + 1] = {NULL};
    struct map map;
    int balancer = 0;

    *config = (struct routing_config){
        .balancer = types[0], .queue_max = INT64_MAX, .timeout = SIM_NEVER, .cancel = CANCEL_QUEUE};
    for (int i = 0; types[i]; i++) {
        assert(i < BALANCERS);
        names[i] = types[i]->name;
    }
    map_open(&map, routing, err);
    if (map_choice(
            &map, "balancer",
            MAP_DEFAULT("least-outstanding",
                        "usual before inference servers, whose requests differ widely in length: nginx "
                        "least_conn, AWS ALB least_outstanding_requests"),
            names, &balancer))
        config->balancer = types[balancer];
    if (queue_parse(&map, config) || map_close(&map))
        return -1;
    return client_parse(client, config, err);
}
