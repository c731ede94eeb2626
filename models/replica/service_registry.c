#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/replica/curve.h"
#include "models/replica/llm.h"
#include "models/replica/service.h"
#include "models/replica/slots.h"

/* One row a model. */
static const struct service_type *const types[] = {
    &service_slots,
    &service_curve,
    &service_llm,
    NULL,
};

enum { SERVICE_TYPES = sizeof types / sizeof *types - 1 };

const struct service_type *const *service_types(void)
{
    return types;
}

int service_model_parse(const struct node *serve, struct service_model *model, struct error *err)
{
    const char *names[SERVICE_TYPES];
    const char *key, *near;
    char list[256];

    *model = (struct service_model){NULL, NULL};
    if (!serve)
        return error_set(err, ERROR_INPUT, "",
                         "\"serve\" is missing: it names the service model of a replica");
    if (node_kind(serve) != NODE_MAP || node_count(serve) != 1)
        return node_error(serve, err,
                          "expected a map with exactly one key, the name of a service model, as in "
                          "{\"slots\": {\"count\": 8, \"time\": \"250ms\"}}");
    key = node_key_at(serve, 0);
    for (size_t i = 0; i < SERVICE_TYPES; i++) {
        names[i] = types[i]->name;
        if (strcmp(key, names[i]) == 0) {
            if (types[i]->parse(node_at(serve, 0), &model->config, err))
                return -1;
            model->type = types[i];
            return 0;
        }
    }
    near = nearest_name(key, names, SERVICE_TYPES);
    for (size_t i = 0, used = 0; i < SERVICE_TYPES && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    return node_error(serve, err, "unknown service model \"%s\"%s%s%s; there are: %s", key,
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", list);
}

void service_model_free(struct service_model *model)
{
    if (model->type)
        model->type->config_free(model->config);
    *model = (struct service_model){NULL, NULL};
}
