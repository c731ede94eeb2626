#ifndef SIM_IO_DOCUMENT_H
#define SIM_IO_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/distribution.h"
#include "sim/engine/error.h"
#include "sim/engine/sim_time.h"

/*
 * One document model for scenarios, whether they were written in JSON or YAML, with the line and column of
 * every value.
 *
 *   struct document *doc;
 *   struct map map;
 *   document_read_file("launch-day.json", &doc, err)
 *   map_open(&map, document_root(doc), err);
 *   map_time(&map, "provision", MAP_DEFAULT("4m", "GKE, A100 pool, 2024"), &config->provision_ns);
 *   map_distribution(&map, "init", MAP_REQUIRED, UNIT_SECONDS, &config->init);
 *   return map_close(&map);
 *
 * A parser opens a mapping, asks for each key it knows, and closes it: what is left over is an unknown key,
 * and the error names the nearest one that was asked for. The error is sticky: after the first failure every
 * further map_ call on any map of the same err does nothing and returns false, so a parser reads straight
 * down and checks once, at map_close.
 *
 * Every value asked for goes into the document's ledger of inputs with its provenance (measured, preset,
 * guessed), so that the results can say what they rest on.
 */
struct document;
struct node; /* one value of a document; owned by it, immutable */

enum node_kind { NODE_NULL, NODE_BOOL, NODE_NUMBER, NODE_STRING, NODE_SEQUENCE, NODE_MAP };

/* Reads a file. JSON if it begins with '{' or '[' after space, else YAML. Refuses: more than 4 MiB, nesting
 * beyond 100, duplicate keys, NUL bytes, invalid UTF-8, a second document, more than 1000 spaces or blank
 * lines in a row, aliases/anchors that expand without end. A BOM is skipped. Errors: ERROR_INPUT with
 * file:line:column. Free with document_free. */
int document_read_file(const char *path, struct document **out, struct error *err);
/* The same from memory; name stands for the file in messages. The text need not be NUL-terminated. */
int document_read_text(const char *text, size_t length, const char *name, struct document **out,
                       struct error *err);
void document_free(struct document *doc); /* NULL is fine */

const struct node *document_root(const struct document *doc);
const char *document_name(const struct document *doc);
/* Folder of the file, "." when there is none: relative paths in a scenario start here. */
const char *document_folder(const struct document *doc);

/* `--set services[0].traffic.rate_scale=4`: replaces an existing value (or a key that is absent but whose
 * parent map exists only if `path` was declared settable by the schema: not supported; then an error that
 * names the nearest existing path). The value is read as JSON, or as plain text where it is not JSON.
 * Sequence elements by [index], or by name where elements have a "name": services[chat]. Provenance: measured
 * stays false, source "--set". */
int document_set(struct document *doc, const char *assignment, struct error *err);

/* Gives a key of the root a value (as --set reads it), whether the document has that key or not: for options
 * such as --seed that stand for one. key is a plain name. Errors: memory, a value that is not well-formed. */
int document_put(struct document *doc, const char *key, const char *value, struct error *err);

/* The whole document after --set, as JSON with 2-space indent and keys in their order; caller frees. NULL:
 * out of memory. */
char *document_to_json(const struct document *doc);

/* ---- nodes ---- */
enum node_kind node_kind(const struct node *node);
/* Text of a scalar as written (numbers keep all their digits), NULL for maps and sequences. */
const char *node_text(const struct node *node);
size_t node_count(const struct node *node);                        /* elements of a sequence or map, else 0 */
const struct node *node_at(const struct node *node, size_t index); /* element's value */
const char *node_key_at(const struct node *node, size_t index);    /* map only */
const struct node *node_get(const struct node *node,
                            const char *key); /* NULL if absent; does not count as asked for */
/* "file:line:column: services[0].replica" into text. */
void node_place(const struct node *node, char *text, size_t size);
/* Fills err with the node's place and returns -1. */
int node_error(const struct node *node, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- maps ---- */
enum { MAP_KEYS = 64 };
struct map {
    const struct node *node; /* NULL: an absent optional map; every getter then gives its default */
    struct error *err;
    const char *asked[MAP_KEYS]; /* keys asked for so far (borrowed: literals, or texts of the document) */
    size_t asked_count;
    /* Of the reader's own: */
    struct document *doc; /* whose ledger takes the values; NULL: nobody's */
    const char *path;     /* of an absent map that was opened by map_open_child */
    bool unrecorded;      /* its values are part of one that is recorded as a whole */
};

/* What an absent key means. A default is written as the user would write it, with the source of the number.
 */
struct map_default {
    const char *text;   /* NULL: the key is required */
    const char *source; /* of a preset */
};
#define MAP_REQUIRED              ((struct map_default){NULL, NULL})
#define MAP_DEFAULT(text, source) ((struct map_default){(text), (source)})

/* Opens a map node for reading. Errors: not a map. Returns true when open. node may be NULL (all defaults).
 */
bool map_open(struct map *map, const struct node *node, struct error *err);
/*
 * Opens the map under a key of another one; an absent key gives a map of defaults. Prefer this to
 * map_open(child, map_node(parent, key), err): an absent map knows its path this way, so that its defaults
 * are in the ledger too.
 */
bool map_open_child(struct map *child, struct map *parent, const char *key);
/* Unknown keys left over are an error that names the nearest known one. 0 / -1. */
int map_close(struct map *map);
bool map_failed(const struct map *map);
/* Does the key stand in the document? Marks it as asked for. */
bool map_has(struct map *map, const char *key);
/* The raw value; NULL if absent. Marks it as asked for. */
const struct node *map_node(struct map *map, const char *key);
/* Same, but its absence is an error. */
const struct node *map_required(struct map *map, const char *key);

/*
 * Getters: true when *out was set (from the document or the default). Units:
 *   time       "90s" "2m30s" "250ms" "1h" "3d" "7us" "0" ; a bare number other than 0 is an error that shows
 * the unit size       Kubernetes quantity in bytes: "18Gi" "500M" 1073741824 ; bytes as int64 rate "120/s"
 * "7200/min" "5/h" "2/d", per second bandwidth  "1.2GiB/s" "10Gbit/s" "800MB/s" , bytes per second number
 * finite double in [low, high]; integer int64 in [low, high]; "80%" is accepted where a share is meant
 * (map_share)
 */
bool map_time(struct map *map, const char *key, struct map_default def, sim_time *out);
bool map_size(struct map *map, const char *key, struct map_default def, int64_t *out);
bool map_rate(struct map *map, const char *key, struct map_default def, double *out);
bool map_bandwidth(struct map *map, const char *key, struct map_default def, double *out);
bool map_number(struct map *map, const char *key, struct map_default def, double low, double high,
                double *out);
bool map_integer(struct map *map, const char *key, struct map_default def, int64_t low, int64_t high,
                 int64_t *out);
bool map_share(struct map *map, const char *key, struct map_default def, double *out); /* 0..1 */
bool map_bool(struct map *map, const char *key, struct map_default def, bool *out);
/* Borrowed from the document. */
bool map_string(struct map *map, const char *key, struct map_default def, const char **out);
/* One of `names` (NULL-terminated); *out is its index. The error lists them and the nearest. */
bool map_choice(struct map *map, const char *key, struct map_default def, const char *const *names, int *out);

/* What a distribution's numbers are in: how each is written and what base unit it becomes. */
enum unit { UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT, UNIT_TOKENS };
/*
 * A plain value is a constant. Else a map with one key:
 *   {"uniform": {"low","high"}} {"exponential": {"mean"}} {"normal": {"mean","sd","low"(0),"high"(none)}}
 * {"lognormal": {"median","p99"} or {"mean","cv"}}
 *   {"gamma": {"mean","cv"}} {"weibull": {"scale","shape"}} {"pareto": {"least","exponent"}} {"empirical":
 * "file.csv" or [values]} (CSV: one value a line, an optional header, an optional "file.csv:column"; path
 * relative to the document) The caller frees *out with distribution_free.
 */
bool map_distribution(struct map *map, const char *key, struct map_default def, enum unit unit,
                      struct distribution *out);

/* A path in the document made relative to its folder; into text. */
void document_resolve_path(const struct node *node, const char *path, char *text, size_t size);

/* ---- provenance ---- */
enum provenance { PROVENANCE_MEASURED, PROVENANCE_PRESET, PROVENANCE_GUESSED };
struct input {
    const char *path;  /* services[0].replica.start.init */
    const char *value; /* as written, or the default's text; maps shortened to one line */
    enum provenance provenance;
    const char *source; /* of a preset or a measurement; "" for a guess */
    bool given;         /* stood in the document */
};
/*
 * The ledger: every scalar or distribution that was asked for, in the order of asking. Presets are defaults.
 * A given value is a guess unless the scenario's top-level map "sources" covers its path:
 * {"services[0].replica.start": "measured: load test of 2026-10-12", "cluster.nodes[0].provision": "preset:
 * cloud documentation"}; the longest matching prefix wins; text must begin with "measured:", "preset:" or
 * "guessed". A source that covers nothing that was read is an error (document_check_sources, called once by
 * the scenario's reader after all parsing).
 */
size_t document_input_count(const struct document *doc);
const struct input *document_input(const struct document *doc, size_t index);
int document_check_sources(struct document *doc, struct error *err);

/* Nearest of `names` to `word` by edit distance, NULL if none is close (distance > max(2, length/3)). For
 * error messages of commands too. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
