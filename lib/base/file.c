#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether that much of a file is too much for what it is: devices such as /dev/zero do not end. */
static bool is_endless(FILE *stream)
{
    struct stat status;

    return fstat(fileno(stream), &status) == 0 && S_ISCHR(status.st_mode) &&
           !isatty(fileno(stream));
}

static struct error *read_stream(FILE *stream, unsigned char **bytes, size_t *size)
{
    size_t room = 1 << 16;

    *size = 0;
    *bytes = malloc(room);
    while (*bytes) {
        unsigned char *larger;

        *size += fread(*bytes + *size, 1, room - *size, stream);
        if (*size < room)
            return ferror(stream) ? error_make("%s", strerror(errno)) : NULL;
        if (is_endless(stream))
            return error_make("a device that does not end");
        room *= 2;
        larger = realloc(*bytes, room);
        if (!larger)
            free(*bytes);
        *bytes = larger;
    }
    return error_memory("the file");
}

struct error *file_read(const char *path, unsigned char **bytes, size_t *size)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *stream = standard ? stdin : fopen(path, "rbe");
    struct error *error;

    *bytes = NULL;
    if (!stream)
        return error_make("%s", strerror(errno));
    error = read_stream(stream, bytes, size);
    if (!standard)
        fclose(stream);
    if (error) {
        free(*bytes);
        *bytes = NULL;
    }
    return error;
}

enum file_kind file_kind(const unsigned char *bytes, size_t size)
{
    if (size && bytes[0] == 0x93)
        return FILE_NPY;
    return size && bytes[0] == 0x89 ? FILE_POOL : FILE_TEXT;
}

const char *file_shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}
