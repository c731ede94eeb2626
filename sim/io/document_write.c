#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"
#include "sim/io/scalar.h"

/*
 * Nodes to JSON. Our own writer, because cJSON would turn numbers into doubles and lose digits.
 */
struct writer {
    char *text;
    size_t used, room;
    size_t limit; /* stop after so many bytes */
    bool failed;  /* out of memory */
    bool indented;
};

static void put(struct writer *w, const char *text, size_t length)
{
    if (w->failed || w->used >= w->limit)
        return;
    if (w->used + length + 1 > w->room) {
        size_t room = (w->used + length + 1) * 2;
        char *more = realloc(w->text, room);

        if (!more) {
            w->failed = true;
            return;
        }
        w->text = more;
        w->room = room;
    }
    memcpy(w->text + w->used, text, length);
    w->used += length;
    w->text[w->used] = 0;
}

static void put_text(struct writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_string(struct writer *w, const char *text)
{
    put(w, "\"", 1);
    while (*text) {
        size_t plain = 0;
        char escaped[8];

        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\' &&
               text[plain] != 0x7f)
            plain++;
        put(w, text, plain);
        text += plain;
        if (!*text)
            break;
        if (*text == '"' || *text == '\\')
            snprintf(escaped, sizeof escaped, "\\%c", *text);
        else if (*text == '\n')
            snprintf(escaped, sizeof escaped, "\\n");
        else if (*text == '\t')
            snprintf(escaped, sizeof escaped, "\\t");
        else
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*text);
        put_text(w, escaped);
        text++;
    }
    put(w, "\"", 1);
}

static void put_line(struct writer *w, size_t depth)
{
    if (!w->indented)
        return;
    put(w, "\n", 1);
    while (depth--)
        put(w, "  ", 2);
}

static void put_number(struct writer *w, const char *text)
{
    char small[64], *buffer = small;
    size_t size = strlen(text) + 32, length;

    if (size > sizeof small) {
        buffer = malloc(size);
        if (!buffer) {
            w->failed = true;
            return;
        }
    } else {
        size = sizeof small;
    }
    length = scalar_number_to_json(text, buffer, size);
    if (length)
        put(w, buffer, length);
    else
        put_string(w, text); /* 0xFFFFFFFFFFFFFFFFFF: no number that JSON readers agree on */
    if (buffer != small)
        free(buffer);
}

/* Recursion is bounded: documents are at most DOCUMENT_DEPTH_LIMIT deep. */
static void put_node(struct writer *w, const struct node *node, size_t depth)
{
    bool map = node->kind == NODE_MAP;

    switch (node->kind) {
    case NODE_NULL:
        put_text(w, "null");
        return;
    case NODE_BOOL:
        put_text(w, node->text[0] == 't' || node->text[0] == 'T' ? "true" : "false");
        return;
    case NODE_NUMBER:
        put_number(w, node->text);
        return;
    case NODE_STRING:
        put_string(w, node->text);
        return;
    case NODE_SEQUENCE:
    case NODE_MAP:
        break;
    }
    put_text(w, map ? "{" : "[");
    for (size_t i = 0; i < node->count && w->used < w->limit; i++) {
        if (i)
            put_text(w, w->indented ? "," : ", ");
        put_line(w, depth + 1);
        if (map) {
            put_string(w, node->children[i]->key);
            put_text(w, ": ");
        }
        put_node(w, node->children[i], depth + 1);
    }
    if (node->count)
        put_line(w, depth);
    put_text(w, map ? "}" : "]");
}

char *document_to_json(const struct document *doc)
{
    struct writer w = {.limit = SIZE_MAX, .indented = true};

    put_node(&w, doc->root, 0);
    put_text(&w, "\n");
    if (w.failed) {
        free(w.text);
        return NULL;
    }
    return w.text;
}

void node_to_line(const struct node *node, char *text, size_t size)
{
    struct writer w = {.limit = size};
    const char *whole = node->text;

    text[0] = 0;
    if (!whole) {
        put_node(&w, node, 0);
        whole = w.text;
    }
    if (whole && (size_t)snprintf(text, size, "%s", whole) >= size && size > 4) {
        size_t end = size - 4;

        /* Not in the middle of a character. */
        while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
        memcpy(text + end, "...", 4);
    }
    free(w.text);
}
