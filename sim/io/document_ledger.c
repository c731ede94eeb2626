#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_internal.h"

enum { VALUE_SHOWN = 200 };

/* FNV-1a: of the text, so that nothing depends on addresses. */
static size_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

/* Where path stands in the table, or the free slot for it. */
static size_t *slot_of(struct document *doc, const char *path)
{
    size_t mask = doc->input_slot_count - 1;
    size_t at = hash_text(path) & mask;

    while (doc->input_slots[at] && strcmp(doc->inputs[doc->input_slots[at] - 1].input.path, path) != 0)
        at = (at + 1) & mask;
    return &doc->input_slots[at];
}

/* Room for one more entry and its slot. */
static bool make_room(struct document *doc)
{
    if (doc->input_count == doc->input_room) {
        size_t room = doc->input_room ? doc->input_room * 2 : 64;
        struct ledger_entry *more = realloc(doc->inputs, room * sizeof *more);

        if (!more)
            return false;
        doc->inputs = more;
        doc->input_room = room;
    }
    if (doc->input_slot_count < 2 * doc->input_room) {
        size_t *slots = calloc(2 * doc->input_room, sizeof *slots);

        if (!slots)
            return false;
        free(doc->input_slots);
        doc->input_slots = slots;
        doc->input_slot_count = 2 * doc->input_room;
        for (size_t i = 0; i < doc->input_count; i++)
            *slot_of(doc, doc->inputs[i].input.path) = i + 1;
    }
    return true;
}

bool ledger_record(struct map *map, const char *key, const struct node *node, struct map_default def)
{
    struct document *doc = map->doc;
    char path[DOCUMENT_PATH_SIZE], value[VALUE_SHOWN];
    struct ledger_entry entry = {.node = node};
    size_t *slot;

    if (!doc || map->unrecorded)
        return true;
    if (node) {
        node_path(node, path, sizeof path);
        node_to_line(node, value, sizeof value);
    } else {
        if (map->node)
            node_path(map->node, path, sizeof path);
        else
            snprintf(path, sizeof path, "%s", map->path ? map->path : "");
        path_append_key(path, sizeof path, key);
        snprintf(value, sizeof value, "%s", def.text);
    }
    if (!make_room(doc)) {
        error_memory(map->err, doc->name);
        return false;
    }
    slot = slot_of(doc, path);
    if (*slot)
        return true;
    entry.input.given = node != NULL;
    entry.input.source = node ? (node->from_set ? "--set" : "") : (def.source ? def.source : "");
    entry.input.provenance = !node && def.source && *def.source ? PROVENANCE_PRESET : PROVENANCE_GUESSED;
    entry.input.path = arena_text(&doc->arena, path, strlen(path));
    entry.input.value = arena_text(&doc->arena, value, strlen(value));
    entry.input.source = arena_text(&doc->arena, entry.input.source, strlen(entry.input.source));
    if (!entry.input.path || !entry.input.value || !entry.input.source) {
        error_memory(map->err, doc->name);
        return false;
    }
    doc->inputs[doc->input_count++] = entry;
    *slot = doc->input_count;
    return true;
}

size_t document_input_count(const struct document *doc)
{
    return doc->input_count;
}

const struct input *document_input(const struct document *doc, size_t index)
{
    assert(index < doc->input_count);
    return &doc->inputs[index].input;
}

/* ---- sources ---- */

/* "measured: text" into its parts. */
static int source_read(const struct node *node, enum provenance *provenance, const char **source,
                       struct error *err)
{
    static const char *const words[] = {"measured:", "preset:", "guessed"};
    static const enum provenance meanings[] = {PROVENANCE_MEASURED, PROVENANCE_PRESET, PROVENANCE_GUESSED};
    char found[QUOTE_SIZE];

    if (node->kind == NODE_STRING) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t length = strlen(words[i]);
            const char *rest = node->text + length;

            if (strncmp(node->text, words[i], length) != 0)
                continue;
            rest += strspn(rest, ": ");
            if (i < 2 && !*rest)
                return node_error(
                    node, err, "\"%s\" without saying by what; write it like \"%s load test of 2026-10-12\"",
                    words[i], words[i]);
            *provenance = meanings[i];
            *source = i == 2 ? "" : rest;
            return 0;
        }
    }
    return node_error(node, err, "a source begins with \"measured:\", \"preset:\" or \"guessed\"; found %s",
                      node_found(node, found, sizeof found));
}

/* Steps from the node up to `ancestor`; -1 if it is none. */
static int steps_below(const struct node *node, const struct node *ancestor)
{
    for (int steps = 0; node; node = node->parent, steps++)
        if (node == ancestor)
            return steps;
    return -1;
}

/* An entry counts for `covered` if it lies below it, or (a distribution, a list) the other way round is its
 * own node. */
int document_check_sources(struct document *doc, struct error *err)
{
    const struct node *sources = node_get(doc->root, "sources");
    int *nearest;

    if (err->code != ERROR_NONE)
        return -1;
    if (!sources)
        return 0;
    if (sources->kind != NODE_MAP) {
        char found[QUOTE_SIZE];

        return node_error(sources, err, "expected a map of paths to sources; found %s",
                          node_found(sources, found, sizeof found));
    }
    nearest = malloc((doc->input_count + 1) * sizeof *nearest);
    if (!nearest)
        return error_memory(err, doc->name);
    for (size_t i = 0; i < doc->input_count; i++)
        nearest[i] = INT32_MAX;
    for (size_t s = 0; s < sources->count && err->code == ERROR_NONE; s++) {
        const struct node *entry = sources->children[s];
        const struct node *covered;
        enum provenance provenance = PROVENANCE_GUESSED;
        const char *source = "";
        char place[sizeof err->place];
        bool used = false;

        if (source_read(entry, &provenance, &source, err))
            break;
        snprintf(place, sizeof place, "%s:%d:%d: sources", doc->name, entry->key_line, entry->key_column);
        covered = document_find(doc, entry->key, place, err);
        if (!covered)
            break;
        for (size_t i = 0; i < doc->input_count; i++) {
            struct input *input = &doc->inputs[i].input;
            int steps = doc->inputs[i].node ? steps_below(doc->inputs[i].node, covered) : -1;

            if (steps < 0)
                continue;
            used = true;
            if (steps >= nearest[i] || doc->inputs[i].node->from_set)
                continue;
            nearest[i] = steps;
            input->provenance = provenance;
            input->source = source;
        }
        if (!used)
            node_key_error(entry, err, "this source covers no value that was read");
    }
    free(nearest);
    return err->code == ERROR_NONE ? 0 : -1;
}
