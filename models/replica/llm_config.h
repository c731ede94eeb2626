#ifndef MODELS_REPLICA_LLM_CONFIG_H
#define MODELS_REPLICA_LLM_CONFIG_H

#include "models/replica/service.h"

/* The part of service_llm that needs no server; contracts in service.h, keys in llm.h. */
int llm_config_parse(const struct node *node, void **config, struct error *err);
void llm_config_free(void *config);
void llm_config_draw(const void *config, gsl_rng *rng, struct job *job);
double llm_config_nominal_seconds(const void *config, int32_t tokens_in, int32_t tokens_out);
double llm_config_max_rate(const void *config, double mean_demand_seconds, double mean_tokens_in,
                           double mean_tokens_out);

#endif
