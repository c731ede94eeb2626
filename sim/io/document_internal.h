#ifndef SIM_IO_DOCUMENT_INTERNAL_H
#define SIM_IO_DOCUMENT_INTERNAL_H

#include "sim/io/document.h"

/*
 * What the document_*.c files share. Nothing outside sim/io includes this.
 *
 * Everything that a document owns (nodes, texts, keys, ledger texts) comes from one arena and goes at once in
 * document_free.
 */
enum {
    DOCUMENT_BYTES_LIMIT = 4 << 20, /* of a file: libfyaml takes up to 2 us a byte of hostile ones */
    DOCUMENT_SPACE_LIMIT = 1000,    /* white space in a row: libfyaml's time is quadratic in it */
    DOCUMENT_DEPTH_LIMIT = 100,     /* maps and sequences inside each other */
    DOCUMENT_NODES_LIMIT = 1000000, /* after aliases are expanded */
    DOCUMENT_ANCHORS_LIMIT = 1000,
    DOCUMENT_PATH_SIZE = 512
};

/* Bump allocator. */
struct arena_block;
struct arena {
    struct arena_block *blocks; /* newest first */
};
/* Zeroed, aligned for any type; NULL: out of memory. */
void *arena_alloc(struct arena *arena, size_t size);
/* NUL-terminated copy. */
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);

struct node {
    enum node_kind kind;
    bool from_set; /* given by --set: has no line */
    int line,
        column; /* from 1; of the value, or of the key where a block map or sequence has no sign of its own */
    int key_line, key_column; /* 0: no key */
    size_t index;             /* in the parent */
    size_t count;
    const char *key;  /* NULL in a sequence and at the root */
    const char *text; /* scalars */
    struct node *parent;
    struct node **children;
    struct document *doc;
};

struct ledger_entry {
    struct input input;
    const struct node *node; /* NULL: a default */
};

struct document {
    struct arena arena;
    char *name;
    char *folder;
    struct node *root;
    size_t nodes; /* made so far, for the limit */
    struct ledger_entry *inputs;
    size_t input_count, input_room;
    size_t *input_slots; /* hash of paths: index + 1, 0 free; room is a power of two */
    size_t input_slot_count;
};

enum document_syntax { DOCUMENT_JSON, DOCUMENT_YAML };

/* Parses a text into doc's arena; the root of what was read goes to *out. The text is checked for NUL bytes,
 * UTF-8, size. */
int document_parse(struct document *doc, const char *name, const char *text, size_t length,
                   enum document_syntax syntax, struct node **out, struct error *err);

/* ---- paths ---- */
/* "services[0].replica" of a node; "" for the root. Truncates. */
void node_path(const struct node *node, char *text, size_t size);
/* Appends ".key", or "[\"odd key\"]" where the key holds signs that a path gives a meaning to. */
void path_append_key(char *text, size_t size, const char *key);
/* Finds a path; NULL and err (with `place`) that names the nearest existing path. */
struct node *document_find(const struct document *doc, const char *path, const char *place,
                           struct error *err);

/* Text for a message: in quotes, control characters escaped, at most some 60 characters. Returns text. */
const char *quote_text(const char *value, char *text, size_t size);
enum { QUOTE_SIZE = 320 };
/* "a", "b", "c" into text; ends in ", ..." where they do not fit. */
void list_names(const char *const *names, size_t count, char *text, size_t size);
/* "a map", "a number", ... with the value where it is a scalar, for "found ...". */
const char *node_found(const struct node *node, char *text, size_t size);

/* Fills err with the place of the node's key (of the value if it has none). Returns -1. */
int node_key_error(const struct node *node, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- between the map readers ---- */
/* Marks key as asked for. False when the map's error is already set. */
bool map_ask(struct map *map, const char *key);
/*
 * What a key holds: its text from the document, or the default's. False: failed, or missing (then err is
 * set). *node is NULL for a default. *text is NULL when the node is not a scalar.
 */
bool map_value(struct map *map, const char *key, struct map_default def, const struct node **node,
               const char **text);
/* Fills map->err at the node, or as our own mistake when the default is what is wrong. Returns false. */
bool map_fail(struct map *map, const char *key, const struct node *node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Enters a value that was read into the ledger. False: out of memory, err set. */
bool ledger_record(struct map *map, const char *key, const struct node *node, struct map_default def);

/* A document's texts without the indent, at most `size`: maps in the ledger. */
void node_to_line(const struct node *node, char *text, size_t size);

#endif
