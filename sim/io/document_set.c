#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"
#include "sim/io/utf8.h"

/* Marks what --set brought, so that its place names the option and not a line that it does not have. */
static void mark_set(struct node *node)
{
    node->from_set = true;
    for (size_t i = 0; i < node->count; i++)
        mark_set(node->children[i]);
}

/* Maps and lists inside each other, this one included. */
static size_t depth_of(const struct node *node)
{
    size_t deepest = 0;

    for (size_t i = 0; i < node->count; i++) {
        size_t depth = depth_of(node->children[i]);

        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + !node->text;
}

/* The value as JSON; where it is none, as plain text. NULL: err. */
static struct node *value_read(struct document *doc, const char *place, const char *value, struct error *err)
{
    struct error ignored = {.code = ERROR_NONE};
    struct node *node = NULL;
    size_t nodes = doc->nodes;

    if (utf8_check(value, strlen(value)) < strlen(value)) {
        error_set(err, ERROR_USAGE, place, "the value is not valid UTF-8");
        return NULL;
    }
    if (*value && !document_parse(doc, place, value, strlen(value), DOCUMENT_JSON, &node, &ignored))
        return node;
    if (ignored.code == ERROR_SYSTEM || *value == '{' || *value == '[') {
        /* Surely meant as JSON: an opening bracket is no plain text that anything here takes. */
        error_set(err, ignored.code == ERROR_INPUT ? ERROR_USAGE : ignored.code, place, "%s",
                  ignored.message);
        return NULL;
    }
    doc->nodes = nodes;
    node = arena_alloc(&doc->arena, sizeof *node);
    if (!node || !(node->text = arena_text(&doc->arena, value, strlen(value)))) {
        error_memory(err, place);
        return NULL;
    }
    node->kind = NODE_STRING;
    node->doc = doc;
    node->line = node->column = 1;
    return node;
}

/* The '=' that ends the path: not one inside brackets. */
static const char *equals_sign(const char *assignment)
{
    bool quoted = false, bracket = false;

    for (const char *at = assignment; *at; at++) {
        if (quoted && *at == '\\' && at[1])
            at++;
        else if (bracket && *at == '"')
            quoted = !quoted;
        else if (!quoted && *at == '[')
            bracket = true;
        else if (!quoted && *at == ']')
            bracket = false;
        else if (!quoted && !bracket && *at == '=')
            return at;
    }
    return NULL;
}

int document_set(struct document *doc, const char *assignment, struct error *err)
{
    const char *equals = equals_sign(assignment);
    char path[DOCUMENT_PATH_SIZE];
    struct node *old, *node;
    char quoted[QUOTE_SIZE];
    size_t depth = 0;

    if (!equals || equals == assignment || (size_t)(equals - assignment) >= sizeof path)
        return error_set(err, ERROR_USAGE, "--set",
                         "%s is not path=value, such as services[0].traffic.rate_scale=4",
                         quote_text(assignment, quoted, sizeof quoted));
    snprintf(path, sizeof path, "%.*s", (int)(equals - assignment), assignment);
    old = document_find(doc, path, "--set", err);
    if (!old) {
        if (err && err->code == ERROR_INPUT)
            err->code = ERROR_USAGE; /* the document is well; the command line is not */
        return -1;
    }
    node = value_read(doc, "--set", equals + 1, err);
    if (!node)
        return -1;
    for (const struct node *above = old->parent; above; above = above->parent)
        depth++;
    if (depth + depth_of(node) > DOCUMENT_DEPTH_LIMIT)
        return error_set(err, ERROR_USAGE, "--set", "nested more than %d deep", DOCUMENT_DEPTH_LIMIT);
    node->key = old->key;
    node->key_line = old->key_line;
    node->key_column = old->key_column;
    node->index = old->index;
    node->parent = old->parent;
    mark_set(node);
    if (old->parent)
        old->parent->children[old->index] = node;
    else
        doc->root = node;
    return 0;
}

int document_put(struct document *doc, const char *key, const char *value, struct error *err)
{
    struct node *root = doc->root, *node;
    struct node **children;
    char assignment[DOCUMENT_PATH_SIZE];

    if (root->kind != NODE_MAP)
        return error_set(err, ERROR_INTERNAL, "document", "the root is no map");
    if (node_get(root, key)) {
        snprintf(assignment, sizeof assignment, "%s=%s", key, value);
        return document_set(doc, assignment, err);
    }
    node = value_read(doc, "command line", value, err);
    if (!node)
        return -1;
    children = arena_alloc(&doc->arena, (root->count + 1) * sizeof(struct node *));
    node->key = arena_text(&doc->arena, key, strlen(key));
    if (!children || !node->key)
        return error_memory(err, "document");
    for (size_t i = 0; i < root->count; i++)
        children[i] = root->children[i];
    node->index = root->count;
    node->parent = root;
    mark_set(node);
    children[root->count++] = node;
    root->children = children;
    return 0;
}
