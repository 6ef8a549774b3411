/* The state of an interrupted matching in a file (internal to match.c): a .tch file whose tensors
 * are flat arrays and whose note holds the numbers. */
#ifndef SC_MATCH_CHECKPOINT_H
#define SC_MATCH_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "digest.h"
#include "error.h"

enum { MATCH_CHECKPOINT_ARRAYS = 10, MATCH_CHECKPOINT_NUMBERS = 3 };

struct match_checkpoint {
    char fingerprint[DIGEST_TEXT]; /* of everything that the result depends on */
    size_t step;                   /* steps gone through */
    double *numbers[MATCH_CHECKPOINT_NUMBERS];
    size_t arrays;
    struct {
        const char *name;
        float *values;
        size_t count;
    } array[MATCH_CHECKPOINT_ARRAYS];
};

/* Adds an array; one of no length is left out. */
void match_checkpoint_add(struct match_checkpoint *checkpoint, const char *name, float *values,
                          size_t count);

struct error *match_checkpoint_write(const char *path,
                                     const struct match_checkpoint *checkpoint) MUST_CHECK;

/* Fills everything in if there is such a file, else leaves it alone.  One of another run is an
 * error. */
struct error *match_checkpoint_read(const char *path,
                                    struct match_checkpoint *checkpoint) MUST_CHECK;

#endif
