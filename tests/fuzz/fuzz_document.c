#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/document.h"

/*
 * A scenario document, as JSON and as YAML, then `--set` with what follows the last "\n--set " of the input.
 *
 * Holds: what is accepted can be written, is JSON to cJSON too, reads back equal to the byte; a text that is
 * valid in both syntaxes means the same in both; a failed --set changes nothing; no getter trips over any
 * value.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static char *written(const struct document *doc)
{
    char *text = document_to_json(doc);

    must(text != NULL, "a document can be written");
    return text;
}

static void reads_back(const char *text)
{
    struct error err = {.code = ERROR_NONE};
    struct document *again;
    cJSON *theirs;
    char *twice;

    if (document_read_text(text, strlen(text), "written.json", &again, &err)) {
        fprintf(stderr, "%s: %s\n%s", err.place, err.message, text);
        abort();
    }
    twice = written(again);
    must(!strcmp(text, twice), "written, read and written again is the same");
    theirs = cJSON_ParseWithOpts(text, NULL, 1);
    must(theirs != NULL, "cJSON reads what we write");
    cJSON_Delete(theirs);
    free(twice);
    document_free(again);
}

/* A file name of the fuzzer's choosing is not opened: it could be a device. */
static int names_a_file(const struct node *node)
{
    if (node_kind(node) != NODE_MAP && node_kind(node) != NODE_SEQUENCE)
        return 0;
    for (size_t i = 0; i < node_count(node); i++) {
        const char *key = node_key_at(node, i);

        if ((key && !strcmp(key, "empirical")) || names_a_file(node_at(node, i)))
            return 1;
    }
    return 0;
}

static void ask_everything(const struct document *doc, const struct node *node)
{
    static const char *const names[] = {"hpa", "fixed", "warm-pool", NULL};

    if (node_kind(node) != NODE_MAP)
        return;
    for (size_t i = 0; i < node_count(node) && i < 32; i++) {
        const char *key = node_key_at(node, i);

        for (int kind = 0; kind < 10; kind++) {
            struct error err = {.code = ERROR_NONE};
            struct distribution distribution;
            struct map map;
            sim_time time;
            int64_t whole;
            double real;
            bool flag;
            const char *text;
            int choice;

            map_open(&map, node, &err);
            switch (kind) {
            case 0:
                must(!map_time(&map, key, MAP_REQUIRED, &time) || (time >= 0 && time <= SIM_TIME_LIMIT),
                     "a duration is in range");
                break;
            case 1:
                must(!map_size(&map, key, MAP_REQUIRED, &whole) || whole >= 0, "a size is not negative");
                break;
            case 2:
                must(!map_rate(&map, key, MAP_REQUIRED, &real) || real >= 0, "a rate is not negative");
                break;
            case 3:
                must(!map_bandwidth(&map, key, MAP_REQUIRED, &real) || real > 0, "a bandwidth is positive");
                break;
            case 4:
                must(!map_number(&map, key, MAP_REQUIRED, -1, 1, &real) || (real >= -1 && real <= 1),
                     "a number is in range");
                break;
            case 5:
                must(!map_integer(&map, key, MAP_REQUIRED, -5, 5, &whole) || (whole >= -5 && whole <= 5),
                     "a whole number is in range");
                break;
            case 6:
                must(!map_share(&map, key, MAP_REQUIRED, &real) || (real >= 0 && real <= 1),
                     "a share is one");
                break;
            case 7:
                map_bool(&map, key, MAP_REQUIRED, &flag);
                break;
            case 8:
                if (map_string(&map, key, MAP_REQUIRED, &text))
                    must(text != NULL, "a text is there");
                else
                    must(err.message[0] && err.place[0], "an error says what and where");
                map_choice(&map, key, MAP_REQUIRED, names, &choice);
                break;
            default:
                if (!names_a_file(node) &&
                    map_distribution(&map, key, MAP_REQUIRED, UNIT_SECONDS, &distribution))
                    distribution_free(&distribution);
                break;
            }
            map_close(&map);
        }
    }
    (void)doc;
}

static char *round_trip(const char *text, size_t length, const char *name, const char *assignment)
{
    struct error err = {.code = ERROR_NONE};
    struct document *doc;
    char *before, *after;
    int status;

    if (document_read_text(text, length, name, &doc, &err)) {
        must(err.message[0] && err.place[0] && !doc, "an error says what and where");
        return NULL;
    }
    before = written(doc);
    reads_back(before);
    ask_everything(doc, document_root(doc));
    document_check_sources(doc, &err);
    if (!assignment)
        goto done;
    err = (struct error){.code = ERROR_NONE};
    status = document_set(doc, assignment, &err);
    after = written(doc);
    if (status)
        must(!strcmp(before, after), "a refused --set changes nothing");
    else
        reads_back(after);
    ask_everything(doc, document_root(doc));
    free(after);
done:
    document_free(doc);
    return before;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n--set ";
    const char *text = (const char *)data, *tail = NULL;
    const char *next = size ? memmem(text, size, mark, sizeof mark - 1) : NULL;
    char *assignment = NULL, *json, *yaml;
    size_t length = size;

    while (next) {
        tail = next;
        next = memmem(next + 1, size - (size_t)(next + 1 - text), mark, sizeof mark - 1);
    }
    if (tail) {
        length = (size_t)(tail - text);
        assignment = strndup(tail + sizeof mark - 1, size - length - (sizeof mark - 1));
    }
    json = round_trip(text, length, "fuzz.json", assignment);
    yaml = round_trip(text, length, "fuzz.yaml", assignment);
    if (json && yaml)
        must(!strcmp(json, yaml), "a text that is JSON and YAML means the same in both");
    free(json);
    free(yaml);
    free(assignment);
    return 0;
}
