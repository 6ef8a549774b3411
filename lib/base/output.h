/* Output files that are either whole or not there.
 *
 * The data goes to a file without a name in the target's folder (or to a hidden temporary one where
 * the file system has no such files) and takes the target's name only when everything is on the
 * disk.  A process that is killed, or a disk that fills up, leaves the old file or none.
 * "-" is standard output; a path that is a pipe or a device is written directly.
 *
 * Several files can be put in place together.  No file system renames two files at once, so a kill
 * in that moment must leave something that shows: when all new files are on the disk, all old ones
 * are removed, and only then the new ones get their names, the first one last.  At any moment the
 * files are all old, all new, or some are missing, never new beside old. */
#ifndef SC_OUTPUT_H
#define SC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct output {
    FILE *stream;
    char *path;      /* the target, symbolic links followed; NULL when written directly */
    char *temporary; /* name to remove on abort; NULL while the file has no name */
    char *special;   /* the pipe or device that is written directly, else NULL */
    int descriptor;  /* of the whole file while it gets its name, else -1 */
};

/* Opens the target for writing.  The caller ends with exactly one output_commit or output_abort. */
struct error *output_open(const char *path, struct output *output) MUST_CHECK;

/* An error if standard output cannot be written to. */
struct error *output_check_standard(void) MUST_CHECK;

/* Flushes, syncs and puts the file in place.  After an error the target is as it was before. */
struct error *output_commit(struct output *output) MUST_CHECK;

/* Puts several in place, none before all are whole; the first is the one that the others are found
 * by.  After an error the targets are unchanged or, if it came while they were put in place,
 * missing. */
struct error *output_commit_all(struct output *outputs, size_t count) MUST_CHECK;

/* Throws away what was written. */
void output_abort(struct output *output);

/* Removes temporary files of all outputs that are still open, before the process ends.  Safe in a
 * signal handler. */
void output_abort_all_from_signal(void);

/* The i-th temporary file that could not be removed, NULL after the last: to be named to the user.
 */
const char *output_leftover(size_t i);

/* Whether output_commit_all is putting several files in place: a signal should end the process only
 * when that is over.  Safe in a signal handler. */
bool output_is_committing(void);

#endif
