/* Runs the decisions of models/scaling/hpa against vectors recorded from the real controller. */
#include "tests/conformance/hpa_vectors.h"

static bool run(struct fy_node *root, struct fy_node *vector, struct outcome *outcome)
{
    struct fy_node *function = vector_get(vector, "func");
    const char *name = vector_text(function, "");
    bool passed = false;

    if (function != NULL) {
        if (run_metric_function(root, vector, name, &passed, outcome) ||
            run_behavior_function(vector, name, &passed, outcome))
            return passed;
        return outcome_fail(outcome, "unknown function %s", name);
    }
    if (vector_has(vector, "spec_replicas"))
        return run_reconcile(vector, outcome);
    if (vector_has(vector, "steps") && vector_has(vector, "metrics"))
        return run_reconcile_sequence(root, vector, outcome);
    if (vector_has(vector, "steps"))
        return run_proposal_sequence(root, vector, outcome);
    return outcome_fail(outcome, "unknown kind of vector");
}

int main(int argc, char **argv)
{
    return vectors_main(argc, argv, run);
}
