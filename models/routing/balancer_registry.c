#include <stddef.h>

#include "models/routing/balancers.h"

/* One row a balancer. */
static const struct balancer_type *const types[] = {
    &balancer_least_outstanding, &balancer_round_robin, &balancer_random, &balancer_power_of_two, NULL,
};

const struct balancer_type *const *balancer_types(void)
{
    return types;
}
