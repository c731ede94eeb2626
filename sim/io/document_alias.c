#include <stdlib.h>
#include <string.h>

#include "sim/io/document_reader.h"

/*
 * What YAML says once and means several times: anchors, aliases and the merge key. An alias becomes a copy of
 * what it names, so that every value has one parent and one path; the limit on the number of values keeps
 * copies of copies from growing without end.
 */

int anchor_open(struct reader *reader, struct fy_token *token, size_t *index)
{
    size_t length;
    const char *name;
    struct anchor *more;

    *index = 0;
    if (!token)
        return 0;
    name = fy_token_get_text(token, &length);
    if (reader->anchor_count == DOCUMENT_ANCHORS_LIMIT) {
        int line, column;

        reader_place(reader, token, &line, &column);
        return reader_error(reader, line, column, "more than %d anchors", DOCUMENT_ANCHORS_LIMIT);
    }
    more = realloc(reader->anchors, (reader->anchor_count + 1) * sizeof *more);
    if (!more)
        return reader_memory(reader);
    reader->anchors = more;
    more[reader->anchor_count].name = arena_text(&reader->doc->arena, name ? name : "", name ? length : 0);
    more[reader->anchor_count].node = NULL;
    if (!more[reader->anchor_count].name)
        return reader_memory(reader);
    *index = ++reader->anchor_count;
    return 0;
}

void anchor_complete(struct reader *reader, size_t index, struct node *node)
{
    if (index)
        reader->anchors[index - 1].node = node;
}

/* Copy of a subtree; the places stay those of the original. Depth is the number of maps and lists around it;
 * line and column are the alias's, for errors. */
static struct node *copy_tree(struct reader *reader, const struct node *from, struct node *parent,
                              size_t depth, int line, int column)
{
    struct node *node;

    if (depth >= DOCUMENT_DEPTH_LIMIT && !from->text) {
        reader_error(reader, line, column, "nested more than %d deep once its aliases are expanded",
                     DOCUMENT_DEPTH_LIMIT);
        return NULL;
    }
    node = reader_node(reader, from->kind, line, column);
    if (!node)
        return NULL;
    node->line = from->line;
    node->column = from->column;
    node->key = from->key;
    node->key_line = from->key_line;
    node->key_column = from->key_column;
    node->index = from->index;
    node->text = from->text;
    node->parent = parent;
    node->count = from->count;
    if (!from->count)
        return node;
    node->children = arena_alloc(&reader->doc->arena, from->count * sizeof(struct node *));
    if (!node->children) {
        reader_memory(reader);
        return NULL;
    }
    for (size_t i = 0; i < from->count; i++) {
        node->children[i] = copy_tree(reader, from->children[i], node, depth + 1, line, column);
        if (!node->children[i])
            return NULL;
    }
    return node;
}

int alias_take(struct reader *reader, struct fy_token *token)
{
    size_t length = 0;
    const char *name = fy_token_get_text(token, &length);
    const struct anchor *found = NULL;
    struct node *copy;
    int line, column;

    reader_place(reader, token, &line, &column);
    if (reader->depth) {
        const struct frame *top = &reader->frames[reader->depth - 1];

        if (top->node->kind == NODE_MAP && !top->key)
            return reader_error(reader, line, column, "an alias cannot be a key");
    }
    /* The latest of a name counts, as YAML says; marks of anchors and aliases stand behind their sign. */
    for (size_t i = reader->anchor_count; i > 0 && !found; i--) {
        const struct anchor *anchor = &reader->anchors[i - 1];

        if (name && strlen(anchor->name) == length && !memcmp(anchor->name, name, length))
            found = anchor;
    }
    if (!found)
        return reader_error(reader, line, column, "alias *%.*s has no anchor &%.*s before it",
                            (int)(length > 60 ? 60 : length), name ? name : "",
                            (int)(length > 60 ? 60 : length), name ? name : "");
    if (!found->node)
        return reader_error(reader, line, column, "alias *%.60s stands inside its own anchor", found->name);
    copy = copy_tree(reader, found->node, NULL, reader->depth, line, column);
    if (!copy)
        return -1;
    copy->key = NULL;
    return reader_attach(reader, copy);
}

static bool has_key(struct node *const *children, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(children[i]->key, key))
            return true;
    return false;
}

/*
 * The YAML merge key: "<<: *defaults" gives a map the keys that it does not set itself; of several maps the
 * earlier wins. They come behind the map's own keys. (Not part of YAML 1.2's core schema, but what everybody
 * writes.)
 */
int merge_keys(struct reader *reader, struct node *map)
{
    struct node *merge = NULL, *single[1], **sources = single;
    struct node **children;
    size_t count = 0, own, source_count = 1, room;

    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->children[i]->key, "<<"))
            merge = map->children[i];
    if (!merge)
        return 0;
    single[0] = merge;
    if (merge->kind == NODE_SEQUENCE) {
        sources = merge->children;
        source_count = merge->count;
    }
    room = map->count;
    for (size_t i = 0; i < source_count; i++) {
        if (sources[i]->kind != NODE_MAP)
            return reader_error(reader, merge->key_line, merge->key_column,
                                "<< takes a map, or a list of maps");
        room += sources[i]->count;
    }
    children = arena_alloc(&reader->doc->arena, room * sizeof(struct node *));
    if (!children)
        return reader_memory(reader);
    for (size_t i = 0; i < map->count; i++)
        if (map->children[i] != merge)
            children[count++] = map->children[i];
    own = count;
    for (size_t i = 0; i < source_count; i++) {
        for (size_t j = 0; j < sources[i]->count; j++) {
            struct node *child = sources[i]->children[j];

            /* Quadratic, so bounded: a merge of thousands of keys is no scenario. */
            if (count - own > 1000)
                return reader_error(reader, merge->key_line, merge->key_column,
                                    "<< merges more than 1000 keys");
            if (has_key(children, count, child->key))
                continue;
            child->parent = map;
            children[count++] = child;
        }
    }
    map->children = children;
    map->count = count;
    return 0;
}
