#ifndef SIM_IO_UTF8_H
#define SIM_IO_UTF8_H

#include <stddef.h>

/* Offset of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates,
 * nothing beyond U+10FFFF); length if all is well. A NUL byte is well-formed. */
size_t utf8_check(const char *text, size_t length);

#endif
