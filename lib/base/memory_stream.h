/* Text and arrays in memory, made by the functions that write to streams.
 *
 *     struct memory_stream memory;
 *
 *     TRY(memory_stream_open("the notes", &memory));
 *     fprintf(memory.stream, "seed %d", 1);
 *     TRY(memory_stream_close(&memory));
 *     ... memory.bytes, memory.size ...
 *     memory_stream_free(&memory);
 *
 * Not open_memstream(): that of glibc reports nothing when it cannot grow.  fprintf() returns -1
 * that once, ferror() and fclose() return 0, and what was written has a hole or no end.  Here every
 * lack of memory is an error of the close. */
#ifndef SC_MEMORY_STREAM_H
#define SC_MEMORY_STREAM_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct memory_stream {
    FILE *stream;
    char *bytes; /* malloc'ed, with a zero byte after the last; valid after a close or flush */
    size_t size;
    size_t room;
    const char *what; /* for the message when memory ends */
};

/* The struct must stay where it is until the stream is closed.  `what` must live as long. */
struct error *memory_stream_open(const char *what, struct memory_stream *memory) MUST_CHECK;

/* All that was written so far is in bytes and size; more can be written to the stream. */
struct error *memory_stream_flush(struct memory_stream *memory) MUST_CHECK;

/* Forgets what was written, and that it failed, but keeps the memory. */
void memory_stream_restart(struct memory_stream *memory);

/* Flushes and closes the stream.  After an error bytes is NULL. */
struct error *memory_stream_close(struct memory_stream *memory) MUST_CHECK;

/* Safe on a struct of zeros, on one that is still open, and more than once. */
void memory_stream_free(struct memory_stream *memory);

#endif
