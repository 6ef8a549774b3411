/* The state of an interrupted run of networks in a checkpoint (formats/ckpt.h).  Its record is
 * readable text, then the arrays one after another:
 *
 *     epoch=20 steps=160 ...                 how far the run was
 *     network cnn depth=3 ...
 *     array parameters 51203                 one line for each array
 *     end
 */
#ifndef SC_NN_CHECKPOINT_H
#define SC_NN_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cluster/cluster.h"
#include "nn/backend.h"

enum { CHECKPOINT_ARRAYS = 10, CHECKPOINT_PROGRESS = 256, CHECKPOINT_BY = 768 };

struct checkpoint_array {
    const char *name;
    float *values;
    size_t count;
};

struct checkpoint {
    const char *kind;              /* of the run: "training" */
    const char *network;           /* its text */
    const char *fingerprint;       /* of all data and options that the result depends on */
    const struct backend *backend; /* whose memory the arrays are in */
    const struct backend *worker;  /* where the networks run; NULL: the same */
    struct cluster *cluster;       /* rank 0 reads the file, for all, and writes it */
    size_t count;                  /* of arrays that were added, also where there was no room */
    struct checkpoint_array arrays[CHECKPOINT_ARRAYS];
};

/* Adds an array; one of no length is left out.  More than there is room for is an error of
 * checkpoint_write and checkpoint_read. */
void checkpoint_add(struct checkpoint *checkpoint, const char *name, float *values, size_t count);

/* progress: one line of text. */
struct error *checkpoint_write(const char *path, const struct checkpoint *checkpoint,
                               const char *progress) MUST_CHECK;

/* Fills the arrays and the progress of the run, if the file exists (*found).  A checkpoint of
 * another run, or computed by something else, is an error. */
struct error *checkpoint_read(const char *path, const struct checkpoint *checkpoint,
                              char progress[CHECKPOINT_PROGRESS], bool *found) MUST_CHECK;

/* The error to return when the progress that was read is invalid. */
struct error *checkpoint_strange(const char *path, const struct checkpoint *checkpoint) MUST_CHECK;

/* What computes networks on that backend: our version, computed_by(), and the device. */
void checkpoint_computed_by(const struct backend *backend, char text[CHECKPOINT_BY]);

#endif
