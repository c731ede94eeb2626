#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* The name decides; without a telling one, the first sign of the text. */
static enum document_syntax syntax_of(const char *name, const char *text, size_t length)
{
    size_t i = 0;

    if (ends_with(name, ".json"))
        return DOCUMENT_JSON;
    if (ends_with(name, ".yaml") || ends_with(name, ".yml"))
        return DOCUMENT_YAML;
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        i = 3;
    while (i < length && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i < length && (text[i] == '{' || text[i] == '[') ? DOCUMENT_JSON : DOCUMENT_YAML;
}

static char *folder_of(struct arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (!slash)
        return arena_text(arena, ".", 1);
    if (slash == name)
        return arena_text(arena, "/", 1);
    return arena_text(arena, name, (size_t)(slash - name));
}

int document_read_text(const char *text, size_t length, const char *name, struct document **out,
                       struct error *err)
{
    struct document *doc = calloc(1, sizeof *doc);

    *out = NULL;
    if (!doc)
        return error_memory(err, name);
    doc->name = arena_text(&doc->arena, name, strlen(name));
    doc->folder = folder_of(&doc->arena, name);
    if (!doc->name || !doc->folder) {
        document_free(doc);
        return error_memory(err, name);
    }
    if (document_parse(doc, doc->name, text, length, syntax_of(name, text, length), &doc->root, err)) {
        document_free(doc);
        return -1;
    }
    *out = doc;
    return 0;
}

/* Whole file into *out (caller frees), one byte more than the limit at most, so that the parser can refuse
 * it. */
static int read_all(FILE *file, const char *path, char **out, size_t *length, struct error *err)
{
    const size_t limit = (size_t)DOCUMENT_BYTES_LIMIT + 1;
    size_t room = 64 * 1024, used = 0;
    char *text = malloc(room);

    while (text) {
        size_t want = room < limit ? room : limit;

        used += fread(text + used, 1, want - used, file);
        if (ferror(file)) {
            int cause = errno;

            free(text);
            return error_set(err, ERROR_INPUT, path, "cannot be read: %s", strerror(cause));
        }
        if (used < want || used == limit) {
            *out = text;
            *length = used;
            return 0;
        }
        char *more = realloc(text, room * 2);

        if (!more)
            break;
        text = more;
        room *= 2;
    }
    free(text);
    return error_memory(err, path);
}

int document_read_file(const char *path, struct document **out, struct error *err)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0;
    int status;

    *out = NULL;
    if (!file)
        return error_set(err, ERROR_INPUT, path, "cannot be opened: %s", strerror(errno));
    status = read_all(file, path, &text, &length, err);
    fclose(file);
    if (!status)
        status = document_read_text(text, length, path, out, err);
    if (text)
        free(text);
    return status;
}

void document_free(struct document *doc)
{
    if (!doc)
        return;
    arena_free(&doc->arena);
    free(doc->inputs);
    free(doc->input_slots);
    free(doc);
}

const struct node *document_root(const struct document *doc)
{
    return doc->root;
}

const char *document_name(const struct document *doc)
{
    return doc->name;
}

const char *document_folder(const struct document *doc)
{
    return doc->folder;
}

void document_resolve_path(const struct node *node, const char *path, char *text, size_t size)
{
    const char *folder = node ? node->doc->folder : ".";

    if (path[0] == '/' || !strcmp(folder, "."))
        snprintf(text, size, "%s", path);
    else
        snprintf(text, size, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", path);
}

/* ---- nodes ---- */

enum node_kind node_kind(const struct node *node)
{
    return node->kind;
}

const char *node_text(const struct node *node)
{
    return node->text;
}

size_t node_count(const struct node *node)
{
    return node->count;
}

const struct node *node_at(const struct node *node, size_t index)
{
    return index < node->count ? node->children[index] : NULL;
}

const char *node_key_at(const struct node *node, size_t index)
{
    return index < node->count ? node->children[index]->key : NULL;
}

const struct node *node_get(const struct node *node, const char *key)
{
    if (!node || node->kind != NODE_MAP)
        return NULL;
    for (size_t i = 0; i < node->count; i++)
        if (!strcmp(node->children[i]->key, key))
            return node->children[i];
    return NULL;
}

static void place_at(const struct node *node, int line, int column, char *text, size_t size)
{
    char path[DOCUMENT_PATH_SIZE];

    node_path(node, path, sizeof path);
    if (node->from_set)
        snprintf(text, size, "--set: %s", path);
    else if (path[0])
        snprintf(text, size, "%s:%d:%d: %s", node->doc->name, line, column, path);
    else
        snprintf(text, size, "%s:%d:%d", node->doc->name, line, column);
}

void node_place(const struct node *node, char *text, size_t size)
{
    place_at(node, node->line, node->column, text, size);
}

static int error_at(struct error *err, const char *place, const char *format, va_list args)
{
    char message[sizeof err->message];

    vsnprintf(message, sizeof message, format, args);
    return error_set(err, ERROR_INPUT, place, "%s", message);
}

int node_error(const struct node *node, struct error *err, const char *format, ...)
{
    char place[sizeof err->place];
    va_list args;

    place_at(node, node->line, node->column, place, sizeof place);
    va_start(args, format);
    error_at(err, place, format, args);
    va_end(args);
    return -1;
}

int node_key_error(const struct node *node, struct error *err, const char *format, ...)
{
    char place[sizeof err->place];
    va_list args;

    if (node->key_line)
        place_at(node, node->key_line, node->key_column, place, sizeof place);
    else
        place_at(node, node->line, node->column, place, sizeof place);
    va_start(args, format);
    error_at(err, place, format, args);
    va_end(args);
    return -1;
}

/* ---- words of messages ---- */

const char *quote_text(const char *value, char *text, size_t size)
{
    enum { SHOWN = 60 };
    size_t used = 0, shown = 0;

    if (used + 1 < size)
        text[used++] = '"';
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        bool inside = (c & 0xc0) == 0x80; /* of a character that began before */

        if (!inside && shown++ == SHOWN) {
            if (used + 5 < size) {
                memcpy(text + used, "...", 3);
                used += 3;
            }
            break;
        }
        if (used + 8 >= size)
            break;
        if (c < 0x20 || c == 0x7f)
            used += (size_t)snprintf(text + used, size - used, "\\x%02x", c);
        else
            text[used++] = (char)c;
    }
    if (used + 1 < size)
        text[used++] = '"';
    text[used] = 0;
    return text;
}

void list_names(const char *const *names, size_t count, char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < count; i++) {
        char quoted[QUOTE_SIZE];
        size_t length = strlen(quote_text(names[i], quoted, sizeof quoted));

        if (used + length + 8 >= size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", quoted);
    }
}

const char *node_found(const struct node *node, char *text, size_t size)
{
    char quoted[QUOTE_SIZE];

    switch (node->kind) {
    case NODE_NULL:
        snprintf(text, size, "nothing (null)");
        break;
    case NODE_BOOL:
        snprintf(text, size, "%s", node->text);
        break;
    case NODE_NUMBER:
        snprintf(text, size, "the number %.60s", node->text);
        break;
    case NODE_STRING:
        snprintf(text, size, "%s", quote_text(node->text, quoted, sizeof quoted));
        break;
    case NODE_SEQUENCE:
        snprintf(text, size, "a list");
        break;
    case NODE_MAP:
        snprintf(text, size, "a map");
        break;
    }
    return text;
}
