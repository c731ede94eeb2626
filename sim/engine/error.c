#include "sim/engine/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *err, enum error_code code, const char *place, const char *format, ...)
{
    va_list args;

    if (!err || err->code != ERROR_NONE)
        return -1;
    err->code = code;
    snprintf(err->place, sizeof err->place, "%s", place ? place : "");
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return -1;
}

int error_memory(struct error *err, const char *place)
{
    return error_set(err, ERROR_SYSTEM, place, "out of memory");
}

const char *error_code_text(enum error_code code)
{
    switch (code) {
    case ERROR_NONE:
        return "no error";
    case ERROR_INTERNAL:
        return "internal error";
    case ERROR_USAGE:
        return "usage";
    case ERROR_INPUT:
        return "bad input";
    case ERROR_THRESHOLD:
        return "threshold missed";
    case ERROR_SYSTEM:
        return "system error";
    case ERROR_INTERRUPTED:
        return "interrupted";
    }
    return "unknown error";
}

void error_clear(struct error *err)
{
    *err = (struct error){.code = ERROR_NONE};
}
