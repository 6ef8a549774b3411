/* Output files that are either whole or not there.
 *
 * The data goes to a file without a name in the target's folder (or to a hidden temporary one where
 * the file system has no such files) and takes the target's name only when everything is on the
 * disk.  A process that is killed, or a disk that fills up, leaves the old file or none.
 * "-" is standard output; a path that is a pipe or a device is written directly. */
#ifndef SC_OUTPUT_H
#define SC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

struct output {
    FILE *stream;
    char *path;      /* the target, symbolic links followed; NULL when written directly */
    char *temporary; /* name to remove on abort; NULL while the file has no name */
    char *special;   /* the pipe or device that is written directly, else NULL */
};

/* Opens the target for writing.  The caller ends with exactly one output_commit or output_abort. */
struct error *output_open(const char *path, struct output *output) MUST_CHECK;

/* Flushes, syncs and puts the file in place.  After an error the target is as it was before. */
struct error *output_commit(struct output *output) MUST_CHECK;

/* Throws away what was written. */
void output_abort(struct output *output);

/* Removes temporary files of all outputs that are still open.  Safe in a signal handler. */
void output_abort_all_from_signal(void);

#endif
