#ifndef SIM_IO_DOCUMENT_READER_H
#define SIM_IO_DOCUMENT_READER_H

#include <libfyaml.h>

#include "sim/io/document_internal.h"

/* The state of one reading, shared by document_read.c (events to nodes) and document_alias.c (what YAML says
 * once and means several times). Nothing else includes this. */
/* A byte of the text and its line and column, in characters, from 1. */
struct position {
    size_t offset;
    int line, column;
};

struct frame {
    struct node *node;
    size_t first;    /* of its children, in reader.pending */
    const char *key; /* of the next value; NULL: the next scalar is a key (maps only) */
    int key_line, key_column;
    bool merge;    /* a plain "<<" was among the keys */
    size_t anchor; /* index + 1 in reader.anchors to complete at the end; 0: none */
};

struct anchor {
    char *name;
    struct node *node; /* NULL until its value is complete */
};

struct reader {
    struct document *doc;
    const char *name;
    const char *text; /* without BOM */
    size_t length;
    struct position position; /* the last one asked for: places come nearly in order */
    enum document_syntax syntax;
    struct fy_parser *parser;
    struct fy_token_iter *chunks; /* of a scalar's text */
    char *scalar;                 /* the text of the last one, with a NUL */
    size_t scalar_room;
    struct frame frames[DOCUMENT_DEPTH_LIMIT];
    size_t depth;
    struct node **pending; /* children of the open frames */
    size_t pending_count, pending_room;
    struct anchor *anchors;
    size_t anchor_count;
    struct node *root;
    struct error *err;
};

/* Fills the reader's error with a place in the file. Returns -1. */
int reader_error(struct reader *reader, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int reader_memory(struct reader *reader);
/* A node in the arena; NULL: the error is set. */
struct node *reader_node(struct reader *reader, enum node_kind kind, int line, int column);
/* Where a value without a mark of its own stands: at its key, else at its parent. */
void reader_place(struct reader *reader, struct fy_token *token, int *line, int *column);
/* Hangs a finished or begun value under the innermost open map or sequence. */
int reader_attach(struct reader *reader, struct node *node);

/* Begins an anchor, if there is one: *index is for anchor_complete once its value is. */
int anchor_open(struct reader *reader, struct fy_token *token, size_t *index);
void anchor_complete(struct reader *reader, size_t index, struct node *node);
/* Attaches a copy of what an alias names. */
int alias_take(struct reader *reader, struct fy_token *token);
/* Replaces a map's "<<" by the keys that it brings. */
int merge_keys(struct reader *reader, struct node *map);

#endif
