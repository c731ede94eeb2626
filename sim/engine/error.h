#ifndef SIM_ENGINE_ERROR_H
#define SIM_ENGINE_ERROR_H

/*
 * Errors are values: a code, the place where it went wrong and a sentence that
 * says what was found and what to do. The function that knows fills the error
 * once; everybody above passes it on unchanged; only sim/cli prints it.
 *
 * Convention of the whole house: a function that can fail returns 0 for done
 * and -1 for failed, takes `struct error *err` last, and fills it when it
 * returns -1. `return error_set(...)` does both.
 */
enum error_code {
    ERROR_NONE = 0,
    ERROR_INTERNAL = 1,  /* our own mistake */
    ERROR_USAGE = 2,     /* the command line */
    ERROR_INPUT = 3,     /* a file's contents */
    ERROR_THRESHOLD = 4, /* an SLO or a threshold missed under --gate */
    ERROR_SYSTEM = 5,    /* memory, files, processes: exit status 1 */
    ERROR_INTERRUPTED = 130
};

struct error {
    enum error_code code;
    char place[512];    /* "file:line:column: path", or a module's name; may be empty */
    char message[1024]; /* one or more sentences, no final newline */
};

/* Fills err (which may be NULL) unless it already holds an error: the first one, nearest the cause, stays. Returns -1. */
int error_set(struct error *err, enum error_code code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "out of memory" with a place. Returns -1. */
int error_memory(struct error *err, const char *place);

/* Text of a code, for messages and for the test that every code has one. Never NULL. */
const char *error_code_text(enum error_code code);

void error_clear(struct error *err);

#endif
