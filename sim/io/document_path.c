#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"

/* Signs that need no quotes in a path. */
static bool plain_key(const char *key)
{
    if (!*key)
        return false;
    for (; *key; key++) {
        unsigned char c = (unsigned char)*key;

        if (c <= ' ' || c == 0x7f || strchr(".[]\"\\=", c))
            return false;
    }
    return true;
}

void path_append_key(char *text, size_t size, const char *key)
{
    size_t used = strlen(text);

    if (plain_key(key)) {
        snprintf(text + used, size - used, "%s%s", used ? "." : "", key);
        return;
    }
    if (used + 2 >= size)
        return;
    text[used++] = '[';
    text[used++] = '"';
    for (; *key && used + 8 < size; key++) {
        unsigned char c = (unsigned char)*key;

        if (c < 0x20 || c == 0x7f) {
            used += (size_t)snprintf(text + used, size - used, "\\x%02x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            text[used++] = '\\';
        text[used++] = (char)c;
    }
    snprintf(text + used, size - used, "\"]");
}

void node_path(const struct node *node, char *text, size_t size)
{
    const struct node *chain[2 * DOCUMENT_DEPTH_LIMIT];
    size_t depth = 0;

    text[0] = 0;
    for (; node && node->parent && depth < 2 * DOCUMENT_DEPTH_LIMIT; node = node->parent)
        chain[depth++] = node;
    while (depth--) {
        size_t used = strlen(text);

        if (chain[depth]->key)
            path_append_key(text, size, chain[depth]->key);
        else
            snprintf(text + used, size - used, "[%zu]", chain[depth]->index);
    }
}

/* One step of a path: a key, or an index / a name in brackets. */
struct step {
    char word[256];
    bool bracket; /* [index] or [name] */
    bool quoted;  /* ["key"] */
};

/* Reads one step at *path and moves it behind. 0, or -1: malformed. */
static int step_read(const char **path, bool first, struct step *step)
{
    const char *at = *path;
    size_t used = 0;

    *step = (struct step){.bracket = false};
    if (*at == '[') {
        at++;
        step->bracket = true;
        step->quoted = *at == '"';
        if (step->quoted)
            at++;
        while (*at && (step->quoted ? *at != '"' : *at != ']')) {
            unsigned high;

            if (used + 1 >= sizeof step->word)
                return -1;
            if (step->quoted && *at == '\\' && sscanf(at, "\\x%2x", &high) == 1 && at[3]) {
                step->word[used++] = (char)high;
                at += 4;
                continue;
            }
            if (step->quoted && *at == '\\' && at[1])
                at++;
            step->word[used++] = *at++;
        }
        if (step->quoted && *at++ != '"')
            return -1;
        if (*at++ != ']')
            return -1;
        *path = at;
        return used || step->quoted ? 0 : -1;
    }
    if (!first && *at++ != '.')
        return -1;
    while (*at && !strchr(".[]", *at)) {
        if (used + 1 >= sizeof step->word)
            return -1;
        step->word[used++] = *at++;
    }
    *path = at;
    return used ? 0 : -1;
}

static struct node *child_by_key(const struct node *node, const char *key)
{
    for (size_t i = 0; i < node->count; i++)
        if (!strcmp(node->children[i]->key, key))
            return node->children[i];
    return NULL;
}

/* An element by its number or by the value of its "name". */
static struct node *element(const struct node *node, const char *word)
{
    if (strspn(word, "0123456789") == strlen(word)) {
        unsigned long long index = strtoull(word, NULL, 10);

        return index < node->count ? node->children[index] : NULL;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct node *name = node_get(node->children[i], "name");

        if (name && name->text && !strcmp(name->text, word))
            return node->children[i];
    }
    return NULL;
}

/* Fills err: what stands under `node`, and which of that is nearest to the word that does not. */
static void unknown_step(const struct node *node, const struct step *step, const char *place,
                         struct error *err)
{
    enum { SHOWN = 64 };
    const char *names[SHOWN];
    size_t count = 0;
    char quoted[QUOTE_SIZE], list[512], path[DOCUMENT_PATH_SIZE], suggestion[DOCUMENT_PATH_SIZE + 32] = "";
    const char *nearest;

    node_path(node, path, sizeof path);
    quote_text(step->word, quoted, sizeof quoted);
    if (node->kind == NODE_SEQUENCE) {
        for (size_t i = 0; i < node->count && count < SHOWN; i++) {
            const struct node *name = node_get(node->children[i], "name");

            if (name && name->text)
                names[count++] = name->text;
        }
        list_names(names, count, list, sizeof list);
        error_set(err, ERROR_INPUT, place, "no element %s in %s, which has %zu%s%s", quoted,
                  path[0] ? path : "the list", node->count, count ? ": " : "", list);
        return;
    }
    if (node->kind != NODE_MAP) {
        error_set(err, ERROR_INPUT, place, "%s is a single value and holds no %s",
                  path[0] ? path : "the document", quoted);
        return;
    }
    for (size_t i = 0; i < node->count && count < SHOWN; i++)
        names[count++] = node->children[i]->key;
    nearest = nearest_name(step->word, names, count);
    if (nearest) {
        char near[DOCUMENT_PATH_SIZE];

        snprintf(near, sizeof near, "%s", path);
        path_append_key(near, sizeof near, nearest);
        snprintf(suggestion, sizeof suggestion, "; did you mean %s?", near);
    }
    list_names(names, count, list, sizeof list);
    error_set(err, ERROR_INPUT, place, "no %s in %s%s Existing here: %s", quoted,
              path[0] ? path : "the document", suggestion[0] ? suggestion : ".", list);
}

struct node *document_find(const struct document *doc, const char *path, const char *place, struct error *err)
{
    struct node *node = doc->root;
    const char *at = path;

    while (*at || at == path) {
        struct step step;
        struct node *next = NULL;

        if (step_read(&at, at == path, &step)) {
            char quoted[QUOTE_SIZE];

            error_set(err, ERROR_INPUT, place,
                      "%s is not a path; write it like services[0].traffic.rate_scale",
                      quote_text(path, quoted, sizeof quoted));
            return NULL;
        }
        if (node->kind == NODE_SEQUENCE && step.bracket)
            next = element(node, step.word);
        else if (node->kind == NODE_MAP && (!step.bracket || step.quoted))
            next = child_by_key(node, step.word);
        if (!next) {
            unknown_step(node, &step, place, err);
            return NULL;
        }
        node = next;
    }
    return node;
}
