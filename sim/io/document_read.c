#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document_reader.h"
#include "sim/io/scalar.h"
#include "sim/io/utf8.h"

/*
 * Text to nodes, by libfyaml's events: its document API would build a second tree, check duplicate keys
 * without our places, and recurse. Events carry no copies, and depth and count are checked while they arrive,
 * before anything grows.
 */
int reader_error(struct reader *reader, int line, int column, const char *format, ...)
{
    char place[sizeof reader->err->place], message[sizeof reader->err->message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(place, sizeof place, "%s:%d:%d", reader->name, line, column);
    return error_set(reader->err, ERROR_INPUT, place, "%s", message);
}

int reader_memory(struct reader *reader)
{
    return error_memory(reader->err, reader->name);
}

/* ---- what must hold of the bytes ---- */

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Line and column of a byte. Counted here, because libfyaml takes CRLF for two lines in JSON, while editors,
 * and we, count line feeds.
 */
static void position_of(struct reader *reader, size_t offset, int *line, int *column)
{
    struct position *at = &reader->position;
    bool line_changed = false;

    if (offset > reader->length)
        offset = reader->length;
    for (; at->offset < offset; at->offset++) {
        if (reader->text[at->offset] == '\n') {
            at->line++;
            at->column = 1;
        } else {
            at->column += !continues(reader->text[at->offset]);
        }
    }
    while (at->offset > offset) {
        at->offset--;
        if (reader->text[at->offset] == '\n') {
            at->line--;
            line_changed = true;
        } else {
            at->column -= !continues(reader->text[at->offset]);
        }
    }
    if (line_changed) {
        at->column = 1;
        for (size_t i = offset; i > 0 && reader->text[i - 1] != '\n'; i--)
            at->column += !continues(reader->text[i - 1]);
    }
    *line = at->line;
    *column = at->column;
}

static int check_bytes(struct reader *reader)
{
    const size_t length = reader->length;
    static const char space[] = " \t\r\n";
    const char *text = reader->text;
    size_t bad = utf8_check(text, length);
    const char *nul = memchr(text, 0, length);
    int line, column;

    if (nul && (size_t)(nul - text) < bad) {
        position_of(reader, (size_t)(nul - text), &line, &column);
        return reader_error(reader, line, column, "a NUL byte; is this a text file?");
    }
    if (bad < length) {
        position_of(reader, bad, &line, &column);
        return reader_error(reader, line, column, "not valid UTF-8 (byte 0x%02x); save the file as UTF-8",
                            (unsigned char)text[bad]);
    }
    if (strspn(text, space) == length)
        return reader_error(reader, 1, 1, "the file is empty");
    for (size_t at = 0, run; at < length; at += run + 1) {
        run = strspn(text + at, space);
        if (run > DOCUMENT_SPACE_LIMIT) {
            position_of(reader, at, &line, &column);
            return reader_error(reader, line, column, "more than %d spaces or blank lines in a row",
                                DOCUMENT_SPACE_LIMIT);
        }
    }
    return 0;
}

/* ---- libfyaml's complaints ---- */

static int syntax_error(struct reader *reader, struct fy_diag *diag)
{
    static const struct {
        const char *theirs, *ours;
    } words[] = {
        {"Invalid JSON plain scalar",
         "this is no JSON value: names and texts stand in double quotes; a number looks like 12, "
         "-0.5 or 1e6; else true, false, null. Elements are separated by commas; comments "
         "are not allowed (YAML files may have them)"},
        {"JSON disallows trailing comma before closing brace", "a comma before the closing bracket"},
        {"JSON does not allow empty values in a mapping", "a key without \": value\""},
        {"missing document start", "more text after the end of the document"},
        {"flow sequence without a closing bracket", "the file ends inside a list: a ] is missing"},
        {"Invalid JSON unescaped character",
         "a control character in a text: write it as \\n, \\t or \\u00.."},
        {"double-quoted scalar without closing quote", "a closing quote is missing"},
        {"Multi line double quoted scalars not supported in JSON mode",
         "a line break inside a text: write it as \\n"},
        {"single quoted scalars not supported in JSON mode", "JSON wants double quotes"},
    };
    struct fy_diag_error *first;
    const struct fy_mark *mark;
    void *cursor = NULL;
    const char *message;
    int line, column;

    first = diag ? fy_diag_errors_iterate(diag, &cursor) : NULL;
    if (!first || !first->msg)
        return reader_error(reader, 1, 1, "not valid %s", reader->syntax == DOCUMENT_JSON ? "JSON" : "YAML");
    message = first->msg;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(message, words[i].theirs))
            message = words[i].ours;
    mark = first->fyt ? fy_token_start_mark(first->fyt) : NULL;
    if (mark) {
        position_of(reader, mark->input_pos, &line, &column);
    } else {
        line = first->line > 0 ? first->line : 1;
        column = first->column > 0 ? first->column : 1;
    }
    return reader_error(reader, line, column, "not valid %s: %s",
                        reader->syntax == DOCUMENT_JSON ? "JSON" : "YAML", message);
}

/* ---- nodes ---- */

struct node *reader_node(struct reader *reader, enum node_kind kind, int line, int column)
{
    struct node *node;

    if (reader->doc->nodes >= DOCUMENT_NODES_LIMIT) {
        reader_error(reader, line, column, "more than %d values%s", DOCUMENT_NODES_LIMIT,
                     reader->anchor_count ? " once its aliases are expanded" : "");
        return NULL;
    }
    node = arena_alloc(&reader->doc->arena, sizeof *node);
    if (!node) {
        reader_memory(reader);
        return NULL;
    }
    reader->doc->nodes++;
    node->kind = kind;
    node->line = line;
    node->column = column;
    node->doc = reader->doc;
    return node;
}

static struct frame *reader_top(struct reader *reader)
{
    return reader->depth ? &reader->frames[reader->depth - 1] : NULL;
}

void reader_place(struct reader *reader, struct fy_token *token, int *line, int *column)
{
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    struct frame *top = reader_top(reader);

    if (mark) {
        position_of(reader, mark->input_pos, line, column);
    } else if (top && top->key) {
        *line = top->key_line;
        *column = top->key_column;
    } else {
        *line = top ? top->node->line : 1;
        *column = top ? top->node->column : 1;
    }
}

int reader_attach(struct reader *reader, struct node *node)
{
    struct frame *top = reader_top(reader);

    if (!top) {
        reader->root = node;
        return 0;
    }
    if (reader->pending_count == reader->pending_room) {
        size_t room = reader->pending_room ? reader->pending_room * 2 : 64;
        struct node **more = realloc(reader->pending, room * sizeof(struct node *));

        if (!more)
            return reader_memory(reader);
        reader->pending = more;
        reader->pending_room = room;
    }
    reader->pending[reader->pending_count++] = node;
    node->parent = top->node;
    if (top->node->kind == NODE_MAP) {
        node->key = top->key;
        node->key_line = top->key_line;
        node->key_column = top->key_column;
        top->key = NULL;
    }
    return 0;
}

/* ---- events ---- */

/*
 * The text that a scalar means, into reader->scalar. By chunks, because fy_token_get_text of libfyaml 0.7.12
 * counts some block scalars and quoted texts wrongly and gives memory that was never written
 * (github.com/pantoniou/libfyaml, issues 371, 385, 387).
 */
static int scalar_text(struct reader *reader, struct fy_token *token, size_t *length)
{
    const struct fy_iter_chunk *chunk = NULL;
    int failed = 0, status = 0;

    *length = 0;
    if (token)
        fy_token_iter_start(token, reader->chunks);
    do {
        size_t more = 0;

        if (token)
            chunk = fy_token_iter_chunk_next(reader->chunks, chunk, &failed);
        if (chunk)
            more = chunk->len;
        if (*length + more + 1 > reader->scalar_room) {
            size_t room = 2 * (*length + more + 1);
            char *larger = realloc(reader->scalar, room);

            if (!larger) {
                status = reader_memory(reader);
                break;
            }
            reader->scalar = larger;
            reader->scalar_room = room;
        }
        if (more)
            memcpy(reader->scalar + *length, chunk->str, more);
        *length += more;
        reader->scalar[*length] = 0;
    } while (chunk);
    if (token)
        fy_token_iter_finish(reader->chunks);
    return failed ? reader_memory(reader) : status;
}

/* Kind of a scalar by the tag, if it has one, else by its text. -1: a tag that means nothing here. */
static int scalar_kind_of(struct fy_event *event, const char *text, size_t length)
{
    bool plain = fy_token_scalar_style(event->scalar.value) == FYSS_PLAIN;
    size_t tag_length = 0;
    const char *tag = event->scalar.tag ? fy_token_get_text(event->scalar.tag, &tag_length) : NULL;
    enum node_kind by_text = scalar_kind(text, length);
    static const char core[] = "tag:yaml.org,2002:";

    if (!tag)
        return plain ? (int)by_text : NODE_STRING;
    if (tag_length == 1 && *tag == '!')
        return NODE_STRING;
    if (tag_length >= sizeof core && !memcmp(tag, core, sizeof core - 1)) {
        const char *suffix = tag + sizeof core - 1;
        int suffix_length = (int)(tag_length - (sizeof core - 1));

        if (suffix_length == 3 && !memcmp(suffix, "str", 3))
            return NODE_STRING;
        if ((suffix_length == 3 && !memcmp(suffix, "int", 3)) ||
            (suffix_length == 5 && !memcmp(suffix, "float", 5)))
            return by_text == NODE_NUMBER ? NODE_NUMBER : -1;
        if (suffix_length == 4 && !memcmp(suffix, "bool", 4))
            return by_text == NODE_BOOL ? NODE_BOOL : -1;
        if (suffix_length == 4 && !memcmp(suffix, "null", 4))
            return by_text == NODE_NULL ? NODE_NULL : -1;
    }
    return -1;
}

static int take_key(struct reader *reader, struct frame *top, struct fy_event *event, const char *text,
                    size_t length, int line, int column)
{
    size_t anchor;

    top->key = arena_text(&reader->doc->arena, text, length);
    if (!top->key)
        return reader_memory(reader);
    top->key_line = line;
    top->key_column = column;
    top->merge |= reader->syntax == DOCUMENT_YAML &&
                  fy_token_scalar_style(event->scalar.value) == FYSS_PLAIN && !strcmp(top->key, "<<");
    /* An anchor at a key stays without a value: nobody needs it, and an alias to it is refused. */
    return anchor_open(reader, event->scalar.anchor, &anchor);
}

static int take_scalar(struct reader *reader, struct fy_event *event)
{
    struct fy_token *token = event->scalar.value;
    enum fy_scalar_style style = fy_token_scalar_style(token);
    struct frame *top = reader_top(reader);
    size_t length, anchor;
    const char *text;
    struct node *node;
    int line, column, kind;

    if (scalar_text(reader, token, &length))
        return -1;
    text = reader->scalar;
    reader_place(reader, token, &line, &column);
    if ((style == FYSS_DOUBLE_QUOTED || style == FYSS_SINGLE_QUOTED) && column > 1)
        column--; /* their mark is behind the quote */
    if (memchr(text, 0, length))
        return reader_error(reader, line, column, "a NUL character (\\0) in a text");
    if (utf8_check(text, length) < length)
        return reader_error(reader, line, column,
                            "an escape in this text is no character (half a surrogate pair?)");
    if (top && top->node->kind == NODE_MAP && !top->key)
        return take_key(reader, top, event, text, length, line, column);
    kind = scalar_kind_of(event, text, length);
    if (kind < 0)
        return reader_error(reader, line, column, "a tag that is not supported here; plain values need none");
    if (kind == NODE_STRING && style == FYSS_PLAIN && scalar_is_not_finite(text, length))
        return reader_error(reader, line, column, "%.*s is not a finite number", (int)length, text);
    if (anchor_open(reader, event->scalar.anchor, &anchor))
        return -1;
    node = reader_node(reader, (enum node_kind)kind, line, column);
    if (!node)
        return -1;
    node->text = arena_text(&reader->doc->arena, text, length);
    if (!node->text)
        return reader_memory(reader);
    anchor_complete(reader, anchor, node);
    return reader_attach(reader, node);
}

static int open_collection(struct reader *reader, enum node_kind kind, struct fy_token *start,
                           struct fy_token *anchor_token)
{
    struct frame *top = reader_top(reader);
    const struct fy_mark *mark = start ? fy_token_start_mark(start) : NULL;
    struct node *node;
    size_t anchor;
    int line, column;

    reader_place(reader, start, &line, &column);
    if (top && top->node->kind == NODE_MAP && !top->key)
        return reader_error(reader, line, column, "a map or a list cannot be a key");
    if (reader->depth == DOCUMENT_DEPTH_LIMIT)
        return reader_error(reader, line, column, "nested more than %d deep", DOCUMENT_DEPTH_LIMIT);
    /* The mark of a block map is its first key's; its own key says better where it is. */
    if (top && top->key && !(mark && strchr("{[", reader->text[mark->input_pos]))) {
        line = top->key_line;
        column = top->key_column;
    }
    if (anchor_open(reader, anchor_token, &anchor))
        return -1;
    node = reader_node(reader, kind, line, column);
    if (!node || reader_attach(reader, node))
        return -1;
    reader->frames[reader->depth++] = (struct frame){
        .node = node, .first = reader->pending_count, .anchor = anchor};
    return 0;
}

struct key_order {
    const char *key;
    size_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key_order *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    if (order)
        return order;
    return (x->index > y->index) - (x->index < y->index);
}

static int duplicate_error(struct reader *reader, const struct node *again, const struct node *before)
{
    char quoted[QUOTE_SIZE];

    /* The path would be that of both: it says nothing that line and column do not. */
    return reader_error(reader, again->key_line, again->key_column,
                        "duplicate key %s; the first is on line %d",
                        quote_text(again->key, quoted, sizeof quoted), before->key_line);
}

/* Refuses the first key, in the order of the text, that stood before. */
static int check_duplicates(struct reader *reader, struct node **children, size_t count)
{
    enum { FEW = 16 };
    struct key_order *order;
    size_t again = count, before = 0;

    if (count <= FEW) {
        for (size_t i = 1; i < count; i++)
            for (size_t j = 0; j < i; j++)
                if (!strcmp(children[i]->key, children[j]->key))
                    return duplicate_error(reader, children[i], children[j]);
        return 0;
    }
    order = malloc(count * sizeof *order);
    if (!order)
        return reader_memory(reader);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct key_order){children[i]->key, i};
    qsort(order, count, sizeof *order, compare_keys);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(order[i].key, order[i - 1].key) && order[i].index < again) {
            again = order[i].index;
            before = order[i - 1].index;
        }
    free(order);
    return again < count ? duplicate_error(reader, children[again], children[before]) : 0;
}

static int close_collection(struct reader *reader)
{
    struct frame frame = reader->frames[--reader->depth];
    struct node *node = frame.node;

    node->count = reader->pending_count - frame.first;
    if (node->count) {
        node->children = arena_alloc(&reader->doc->arena, node->count * sizeof(struct node *));
        if (!node->children)
            return reader_memory(reader);
        memcpy(node->children, reader->pending + frame.first, node->count * sizeof(struct node *));
    }
    reader->pending_count = frame.first;
    if (node->kind == NODE_MAP) {
        if (check_duplicates(reader, node->children, node->count))
            return -1;
        if (frame.merge && merge_keys(reader, node))
            return -1;
    }
    for (size_t i = 0; i < node->count; i++)
        node->children[i]->index = i;
    anchor_complete(reader, frame.anchor, node);
    return 0;
}

static int take_event(struct reader *reader, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (reader->root) {
            int line, column;

            reader_place(reader, event->document_start.document_start, &line, &column);
            return reader_error(reader, line, column, "a second document; one file holds one");
        }
        return 0;
    case FYET_SCALAR:
        return take_scalar(reader, event);
    case FYET_ALIAS:
        return alias_take(reader, event->alias.anchor);
    case FYET_MAPPING_START:
        return open_collection(reader, NODE_MAP, event->mapping_start.mapping_start,
                               event->mapping_start.anchor);
    case FYET_SEQUENCE_START:
        return open_collection(reader, NODE_SEQUENCE, event->sequence_start.sequence_start,
                               event->sequence_start.anchor);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        return close_collection(reader);
    default:
        return 0;
    }
}

static int take_events(struct reader *reader)
{
    struct fy_diag_cfg diag_cfg;
    struct fy_diag *diag;
    struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DISABLE_DEPTH_LIMIT};
    struct fy_event *event;
    int status = 0;

    /* FYPCF_QUIET alone still prints: a diag of our own collects. */
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.level = FYET_ERROR;
    diag = fy_diag_create(&diag_cfg);
    if (!diag)
        return reader_memory(reader);
    fy_diag_set_collect_errors(diag, true);
    cfg.diag = diag;
    cfg.flags |= reader->syntax == DOCUMENT_JSON ? FYPCF_JSON_FORCE : FYPCF_JSON_NONE;
    reader->parser = fy_parser_create(&cfg);
    reader->chunks = fy_token_iter_create(NULL);
    if (!reader->parser || !reader->chunks ||
        fy_parser_set_string(reader->parser, reader->text, reader->length))
        status = reader_memory(reader);
    while (!status && (event = fy_parser_parse(reader->parser))) {
        status = take_event(reader, event);
        fy_parser_event_free(reader->parser, event);
    }
    if (!status && fy_parser_get_stream_error(reader->parser))
        status = syntax_error(reader, diag);
    if (!status && (!reader->root || reader->depth))
        status = reader_error(reader, 1, 1, "the file holds no value");
    if (reader->chunks)
        fy_token_iter_destroy(reader->chunks);
    if (reader->parser)
        fy_parser_destroy(reader->parser);
    fy_diag_destroy(diag);
    return status;
}

int document_parse(struct document *doc, const char *name, const char *text, size_t length,
                   enum document_syntax syntax, struct node **out, struct error *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    char *copy;
    int status;

    *out = NULL;
    if (!reader)
        return error_memory(err, name);
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        length -= 3;
    }
    reader->doc = doc;
    reader->name = name;
    reader->syntax = syntax;
    reader->err = err;
    if (length > DOCUMENT_BYTES_LIMIT) {
        status = reader_error(reader, 1, 1, "larger than %d MiB", DOCUMENT_BYTES_LIMIT >> 20);
        free(reader);
        return status;
    }
    /* The parser looks ahead of its end, and our checks want a NUL there. */
    copy = malloc(length + 1);
    if (!copy) {
        free(reader);
        return error_memory(err, name);
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    reader->text = copy;
    reader->length = length;
    reader->position = (struct position){.line = 1, .column = 1};
    status = check_bytes(reader);
    if (!status)
        status = take_events(reader);
    if (!status)
        *out = reader->root;
    free(reader->pending);
    free(reader->anchors);
    free(reader->scalar);
    free(reader);
    free(copy);
    return status;
}
