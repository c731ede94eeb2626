#ifndef SIM_IO_SCALAR_H
#define SIM_IO_SCALAR_H

#include "sim/io/document.h"

/*
 * What an unquoted scalar is by the core schema of YAML 1.2 (section 10.3.2): null ~ Null NULL and nothing;
 * true True TRUE false False FALSE; [-+]?[0-9]+ 0o[0-7]+ 0x[0-9a-fA-F]+ and
 * [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? are numbers; all else is a string. JSON's scalars are a
 * subset. `yes`, `on`, `12:30` and `1_000` are strings, as they should be.
 */
enum node_kind scalar_kind(const char *text, size_t length);

/* .inf, -.Inf, .NAN, ...: numbers to YAML, to us never a value. */
bool scalar_is_not_finite(const char *text, size_t length);

/* A number's text as JSON writes it, all digits kept: +5 -> 5, 007 -> 7, .5 -> 0.5, 1. -> 1, 0x1F -> 31. The
 * text must be of NODE_NUMBER; it may grow by two characters (hexadecimal ones to decimal: by a quarter).
 * Returns the length, or 0 if it does not fit or is a hexadecimal or octal number beyond 64 bits. */
size_t scalar_number_to_json(const char *text, char *out, size_t size);

#endif
