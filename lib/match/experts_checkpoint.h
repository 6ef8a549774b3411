/* Finished experts of a run that may be interrupted (internal to experts.c): a line that names the
 * run, then the points of one expert after another.  What a killed run left half written is cut
 * off. */
#ifndef SC_MATCH_EXPERTS_CHECKPOINT_H
#define SC_MATCH_EXPERTS_CHECKPOINT_H

#include <stddef.h>
#include <stdio.h>

#include "error.h"

struct experts_checkpoint {
    const char *path;
    FILE *stream;    /* NULL: nothing is kept */
    size_t floats;   /* of one expert */
    size_t finished; /* experts that the file had */
};

/* Opens or makes the file; path NULL keeps nothing.  name: what the run depends on. */
struct error *experts_checkpoint_open(const char *path, const char *name, size_t floats,
                                      struct experts_checkpoint *checkpoint) MUST_CHECK;

/* The points of the next expert, while there are any. */
struct error *experts_checkpoint_next(struct experts_checkpoint *checkpoint,
                                      float *points) MUST_CHECK;

/* Adds one, when all that were there have been read. */
struct error *experts_checkpoint_add(struct experts_checkpoint *checkpoint,
                                     const float *points) MUST_CHECK;

void experts_checkpoint_close(struct experts_checkpoint *checkpoint);

#endif
