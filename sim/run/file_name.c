#include "sim/run/file_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

void file_name_part(char part[FILE_NAME_PART], const char *name)
{
    size_t length = 0;

    while (name[length] && length < FILE_NAME_PART - 1) {
        part[length] = plain(name[length]) ? name[length] : '_';
        length++;
    }
    if (length == 0)
        part[length++] = '_';
    if (part[0] == '.')
        part[0] = '_';
    part[length] = '\0';
}

static bool taken(const char *names, size_t size, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names + i * size, name) == 0)
            return true;
    return false;
}

void file_name_unique(char *names, size_t size, size_t count)
{
    char *last = names + (count - 1) * size;
    size_t length = strlen(last);

    /* count names cannot all be taken by fewer others */
    for (size_t number = 2; taken(names, size, count - 1, last) && number <= count + 1; number++) {
        char suffix[24];
        size_t room = (size_t)snprintf(suffix, sizeof suffix, "-%zu", number);
        size_t cut = length + room < size ? length : size - 1 - room;

        memcpy(last + cut, suffix, room + 1);
    }
}
