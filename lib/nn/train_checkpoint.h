/* The state of an interrupted training in a file (internal to lib/nn). */
#ifndef SC_NN_TRAIN_CHECKPOINT_H
#define SC_NN_TRAIN_CHECKPOINT_H

#include "base/digest.h"
#include "cluster/cluster.h"
#include "nn/network.h"
#include "nn/optimiser.h"
#include "nn/train.h"

struct train_checkpoint {
    const struct network *network;
    struct cluster *cluster;       /* rank 0 reads and writes */
    char fingerprint[DIGEST_TEXT]; /* of everything that the result depends on */
    size_t epoch;                  /* finished */
    struct train_result best;      /* so far */
    /* Memory of the backend: */
    float *parameters, *buffers;
    float *best_parameters, *best_buffers;
    struct optimiser *optimiser;
};

struct error *train_checkpoint_write(const char *path,
                                     const struct train_checkpoint *state) MUST_CHECK;

/* Fills the state if there is such a file (*found).  One of another run is an error. */
struct error *train_checkpoint_read(const char *path, struct train_checkpoint *state,
                                    bool *found) MUST_CHECK;

#endif
