#include "tests/conformance/vectors.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *scalar(struct fy_node *node)
{
    return node != NULL && fy_node_is_scalar(node) ? fy_node_get_scalar0(node) : NULL;
}

static bool is_null(struct fy_node *node)
{
    const char *text = scalar(node);

    return node != NULL && fy_node_is_scalar(node) &&
           (text == NULL || (strcmp(text, "null") == 0 && fy_node_get_style(node) == FYNS_PLAIN));
}

struct fy_node *vector_get(struct fy_node *map, const char *key)
{
    struct fy_node *node = NULL;

    if (map != NULL && fy_node_is_mapping(map))
        node = fy_node_mapping_lookup_by_string(map, key, (size_t)-1);
    return is_null(node) ? NULL : node;
}

bool vector_has(struct fy_node *map, const char *key)
{
    return map != NULL && fy_node_is_mapping(map) &&
           fy_node_mapping_lookup_by_string(map, key, (size_t)-1) != NULL;
}

struct fy_node *vector_at(struct fy_node *sequence, int index)
{
    struct fy_node *node = NULL;

    if (sequence != NULL && fy_node_is_sequence(sequence) && index >= 0)
        node = fy_node_sequence_get_by_index(sequence, index);
    return is_null(node) ? NULL : node;
}

int vector_count(struct fy_node *node)
{
    if (node != NULL && fy_node_is_sequence(node))
        return fy_node_sequence_item_count(node);
    return node != NULL && fy_node_is_mapping(node) ? fy_node_mapping_item_count(node) : 0;
}

int64_t vector_int64(struct fy_node *node, int64_t otherwise)
{
    const char *text = scalar(node);
    char *end;
    long long value;

    if (text == NULL)
        return otherwise;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return text[0] == 't';
    errno = 0;
    value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0)
        return value;
    return end != text && errno == 0 ? (int64_t)vector_double(node, (double)otherwise)
                                     : otherwise; /* 1e6, 3.0 */
}

int32_t vector_int32(struct fy_node *node, int32_t otherwise)
{
    int64_t value = vector_int64(node, otherwise);

    return value < INT32_MIN || value > INT32_MAX ? otherwise : (int32_t)value;
}

double vector_double(struct fy_node *node, double otherwise)
{
    const char *text = scalar(node);
    char *end;
    double value;

    if (text == NULL)
        return otherwise;
    value = strtod(text, &end);
    return end != text && *end == '\0' ? value : otherwise;
}

bool vector_bool(struct fy_node *node, bool otherwise)
{
    return vector_int64(node, otherwise) != 0;
}

sim_time vector_time(struct fy_node *node, sim_time otherwise)
{
    double seconds = vector_double(node, NAN);

    return isnan(seconds) || fabs(seconds) > 9e9 ? otherwise : (sim_time)llround(seconds * 1e9);
}

const char *vector_text(struct fy_node *node, const char *otherwise)
{
    const char *text = is_null(node) ? NULL : scalar(node);

    return text != NULL ? text : otherwise;
}

bool vector_is(struct fy_node *node, const char *text)
{
    return strcmp(vector_text(node, ""), text) == 0;
}

bool vector_is_map(struct fy_node *node)
{
    return node != NULL && fy_node_is_mapping(node);
}

bool vector_is_sequence(struct fy_node *node)
{
    return node != NULL && fy_node_is_sequence(node);
}

bool outcome_fail(struct outcome *outcome, const char *format, ...)
{
    va_list arguments;

    if (outcome->text[0] != '\0')
        return false;
    va_start(arguments, format);
    vsnprintf(outcome->text, sizeof outcome->text, format, arguments);
    va_end(arguments);
    return false;
}

bool outcome_equal(struct outcome *outcome, const char *what, int64_t expected, int64_t got)
{
    return expected == got ||
           outcome_fail(outcome, "%s: expected %" PRId64 ", got %" PRId64, what, expected, got);
}

bool outcome_text(struct outcome *outcome, const char *what, const char *expected, const char *got)
{
    return strcmp(expected, got) == 0 ||
           outcome_fail(outcome, "%s: expected \"%s\", got \"%s\"", what, expected, got);
}

bool outcome_close(struct outcome *outcome, const char *what, double expected, double got, double within)
{
    double scale = fmax(1, fmax(fabs(expected), fabs(got)));

    return fabs(expected - got) <= within * scale ||
           outcome_fail(outcome, "%s: expected %.17g, got %.17g", what, expected, got);
}

struct tally {
    long passed, failed;
};

static int run_file(const char *path, vector_run *run, struct tally *tally)
{
    struct fy_parse_cfg config = {.flags = FYPCF_JSON_FORCE};
    struct fy_document *document = fy_document_build_from_file(&config, path);
    struct fy_node *root = document != NULL ? fy_document_root(document) : NULL;
    struct fy_node *vectors = vector_get(root, "vectors"), *vector;
    void *position = NULL;

    if (!vector_is_sequence(vectors)) {
        fprintf(stderr, "%s: %s\n", path, document != NULL ? "no list \"vectors\" in it" : "cannot be read");
        fy_document_destroy(document);
        return -1;
    }
    while ((vector = fy_node_sequence_iterate(vectors, &position)) != NULL) {
        struct outcome outcome = {0};

        if (run(root, vector, &outcome) && outcome.text[0] == '\0') {
            tally->passed++;
            continue;
        }
        if (tally->failed++ < 20)
            printf("FAILED %s: %s\n", vector_text(vector_get(vector, "id"), "(no id)"), outcome.text);
    }
    fy_document_destroy(document);
    return 0;
}

int vectors_main(int argc, char **argv, vector_run *run)
{
    struct tally tally = {0};
    const char *name = NULL;
    int first = 1, unreadable = 0;

    if (argc > 2 && strcmp(argv[1], "--skip-absent") == 0) {
        name = argv[2];
        first = 3;
    }
    if (first >= argc) {
        fprintf(stderr, "usage: %s [--skip-absent NAME] FILE...\n", argv[0]);
        return 2;
    }
    for (int i = first; i < argc && name != NULL; i++) {
        if (access(argv[i], R_OK) != 0) {
            printf("SKIPPED: %s: %d files not run, no ../shared\n", name, argc - first);
            return 77;
        }
    }
    for (int i = first; i < argc; i++)
        unreadable += run_file(argv[i], run, &tally) != 0;
    printf("%ld passed, %ld failed\n", tally.passed, tally.failed);
    if (unreadable > 0)
        return 2;
    return tally.failed == 0 && tally.passed > 0 ? 0 : 1;
}
