#ifndef MODELS_SCALING_POLICIES_H
#define MODELS_SCALING_POLICIES_H

#include "models/scaling/policy.h"

/* The rows of policy_registry.c; each is defined at the foot of its own file. */
extern const struct policy_type policy_fixed;
extern const struct policy_type policy_schedule;
extern const struct policy_type policy_hpa;
extern const struct policy_type policy_warm_pool;
extern const struct policy_type policy_slo_backfill;

#endif
