#ifndef TESTS_CONFORMANCE_HPA_VECTORS_H
#define TESTS_CONFORMANCE_HPA_VECTORS_H

#include "models/scaling/hpa.h"
#include "tests/conformance/vectors.h"

/* What the vectors of the HPA have in common: pods, samples, rules. */

/* Pods and, per metric, their samples; arrays are the scene's own. */
struct scene {
    struct hpa_pod *pods;
    const char **names; /* of the pods, or NULL entries */
    struct hpa_sample *samples;
    size_t count;
    int64_t *strays;
    size_t stray_count;
};
/* pods: a sequence of mappings, or of rows that follow the names in `columns`. Samples in the rows are read,
 * absent ones marked so. */
void scene_init(struct scene *scene, struct fy_node *pods, struct fy_node *columns);
/* metrics: a mapping of pod name to sample; those of other names become strays. Replaces the samples. */
void scene_samples(struct scene *scene, struct fy_node *metrics);
void scene_free(struct scene *scene);

/* The controller's constants as a vector gives them, in itself or under "constants"; `product` ones where it
 * says nothing. */
void read_controller(struct fy_node *vector, struct hpa_controller *controller);
/* One direction's rules; NULL leaves all unset. */
void read_rules(struct fy_node *node, struct hpa_rules *rules);
/* [{"age_s", "change"}] and [{"age_s", "replicas"}], ages relative to time 0, appended. */
void read_events(struct fy_node *list, struct hpa_events *events);
void read_recommendations(struct fy_node *list, struct hpa_recommendations *recommendations);
/* "behavior" of a vector into spec. */
void read_behavior(struct fy_node *vector, struct hpa_spec *spec);

/* One function's vectors each, by the vector's "func". False if there is no such function here. */
bool run_metric_function(struct fy_node *root, struct fy_node *vector, const char *function, bool *passed,
                         struct outcome *outcome);
bool run_behavior_function(struct fy_node *vector, const char *function, bool *passed,
                           struct outcome *outcome);
/* Vectors without "func", told apart by their fields: one reconcile, a sequence with one metric, a sequence
 * with pods. */
bool run_reconcile(struct fy_node *vector, struct outcome *outcome);
bool run_proposal_sequence(struct fy_node *root, struct fy_node *vector, struct outcome *outcome);
bool run_reconcile_sequence(struct fy_node *root, struct fy_node *vector, struct outcome *outcome);

#endif
