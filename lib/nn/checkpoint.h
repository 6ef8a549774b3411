/* The state of an interrupted run in a file: a .tch whose tensors are flat arrays and whose note
 * says whose it is and how far it was. */
#ifndef SC_NN_CHECKPOINT_H
#define SC_NN_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "digest.h"
#include "error.h"
#include "nn/backend.h"
#include "tch.h"

enum { CHECKPOINT_ARRAYS = 10, CHECKPOINT_PROGRESS = 256 };

struct checkpoint {
    const char *kind;              /* of the run, one word: "training" */
    const char *network;           /* its text, for whoever looks at the file */
    const char *fingerprint;       /* of everything that the result depends on, one word */
    const struct backend *backend; /* whose memory the arrays are in */
    size_t count;                  /* of arrays that were added, also where there was no room */
    struct tch_tensor arrays[CHECKPOINT_ARRAYS];
};

/* Adds an array; one of no length is left out.  More than there is room for is an error of
 * checkpoint_write and checkpoint_read. */
void checkpoint_add(struct checkpoint *checkpoint, const char *name, float *values, size_t count);

/* progress: one line of text. */
struct error *checkpoint_write(const char *path, const struct checkpoint *checkpoint,
                               const char *progress) MUST_CHECK;

/* Whether the file is there.  Anything but a regular one is an error, standard output ("-") as
 * well: a device or a pipe need not end, and would be removed after the run. */
struct error *checkpoint_look(const char *path, bool *found) MUST_CHECK;

/* Fills the arrays and says how far the run was, if there is such a file (*found).  One of another
 * run is an error. */
struct error *checkpoint_read(const char *path, const struct checkpoint *checkpoint,
                              char progress[CHECKPOINT_PROGRESS], bool *found) MUST_CHECK;

/* What to return when the progress that was read makes no sense. */
struct error *checkpoint_strange(const char *path, const struct checkpoint *checkpoint) MUST_CHECK;

#endif
