#include "base/memory_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { FIRST_ROOM = 1024 };

/* Makes room for `more` bytes and the zero byte. */
static bool grow(struct memory_stream *memory, size_t more)
{
    size_t room = memory->room ? memory->room : FIRST_ROOM;
    char *larger;

    if (more >= SIZE_MAX / 2 - memory->size)
        return false;
    while (room < memory->size + more + 1)
        room *= 2;
    if (room == memory->room)
        return true;
    larger = realloc(memory->bytes, room);
    if (!larger)
        return false;
    memory->bytes = larger;
    memory->room = room;
    return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t size)
{
    struct memory_stream *memory = cookie;

    if (!grow(memory, size)) {
        errno = ENOMEM;
        return 0; /* the stream remembers the error */
    }
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    memory->bytes[memory->size] = '\0';
    return (ssize_t)size;
}

struct error *memory_stream_open(const char *what, struct memory_stream *memory)
{
    *memory = (struct memory_stream){.what = what};
    if (grow(memory, 0))
        memory->stream = fopencookie(memory, "w", (cookie_io_functions_t){.write = take});
    if (!memory->stream) {
        memory_stream_free(memory);
        return error_memory(what);
    }
    memory->bytes[0] = '\0';
    return NULL;
}

struct error *memory_stream_flush(struct memory_stream *memory)
{
    if (fflush(memory->stream) || ferror(memory->stream))
        return error_memory(memory->what);
    return NULL;
}

void memory_stream_restart(struct memory_stream *memory)
{
    __fpurge(memory->stream); /* what is not stored yet */
    clearerr(memory->stream);
    memory->size = 0;
    memory->bytes[0] = '\0';
}

struct error *memory_stream_close(struct memory_stream *memory)
{
    struct error *error = memory_stream_flush(memory);

    fclose(memory->stream);
    memory->stream = NULL;
    if (error)
        memory_stream_free(memory);
    return error;
}

void memory_stream_free(struct memory_stream *memory)
{
    if (memory->stream)
        fclose(memory->stream);
    free(memory->bytes);
    *memory = (struct memory_stream){0};
}
