/* The state of an interrupted training in a file (internal to lib/nn): a .tch whose tensors are
 * flat arrays and whose first note holds the numbers. */
#ifndef SC_NN_CHECKPOINT_H
#define SC_NN_CHECKPOINT_H

#include "digest.h"
#include "nn/network.h"
#include "nn/optimiser.h"
#include "nn/train.h"

struct checkpoint {
    const struct network *network;
    char fingerprint[DIGEST_TEXT]; /* of everything that the result depends on */
    size_t epoch;                  /* gone through */
    struct train_result best;      /* so far */
    /* Memory of the backend: */
    float *parameters, *buffers;
    float *best_parameters, *best_buffers;
    struct optimiser *optimiser;
};

struct error *checkpoint_write(const char *path, const struct checkpoint *checkpoint) MUST_CHECK;

/* Fills the state if there is such a file (*found).  One of another run is an error. */
struct error *checkpoint_read(const char *path, struct checkpoint *checkpoint,
                              bool *found) MUST_CHECK;

#endif
