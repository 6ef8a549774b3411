/* Training a network on a dataset.
 *
 * An epoch visits every series once, in an order that depends only on (seed, index, epoch), in
 * batches of which the last may be smaller.  With a validation set the parameters of the best epoch
 * are kept.  With a checkpoint file, an interrupted run resumes where it was and ends with the same
 * bytes as an uninterrupted one.  No memory is allocated and no thread is started inside an
 * epoch. */
#ifndef SC_NN_TRAIN_H
#define SC_NN_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "nn/loss.h"
#include "nn/predict.h"
#include "nn/optimiser.h"

/* Result of an epoch. */
struct train_epoch {
    size_t epoch, epochs; /* from 1 */
    double rate;
    double loss;                       /* mean over the batches' series */
    double validation_loss;            /* NaN without a validation set, or when it was not run */
    double validation_accuracy;        /* share; NaN without labels */
    size_t best_epoch;                 /* so far */
    const float *parameters, *buffers; /* as they are now, memory of the backend: trajectories */
};

/* Which epoch is the best. */
enum train_choice {
    TRAIN_CHOOSE_LOSS,     /* the lowest held-out loss */
    TRAIN_CHOOSE_ACCURACY, /* the highest held-out accuracy; of equals, the lowest loss */
    TRAIN_CHOOSE_LAST,     /* always the last: validation only watches */
};

struct train_options {
    size_t epochs;
    size_t batch;
    struct optimiser_options optimiser;
    bool cosine;      /* the rate falls to 0 over the epochs by a cosine, epoch by epoch */
    struct loss loss; /* of training; also of validation, but by labels where it has no targets */
    uint64_t seed;
    uint64_t index; /* which of several networks of this seed */
    enum train_choice choose;
    size_t
        validate_every; /* epochs between two validations; 0: 1.  The last epoch is always validated. */
    size_t patience; /* stop after `patience` epochs without a better one; 0: never */

    /* The network of the last epoch goes there as well (memory of the backend), or NULL. */
    float *last_parameters, *last_buffers;

    struct cluster *cluster; /* ranks that share each batch; rank 0 has the checkpoint */
    const char *checkpoint;  /* file, or NULL */
    size_t checkpoint_every; /* epochs between two checkpoints; 0: 10 */

    /* Called after each epoch.  Returning false stops there, with a checkpoint where there is one.
     */
    bool (*progress)(void *context, const struct train_epoch *epoch);
    void *context;
};

/* 100 epochs of AdamW (rate 1e-3, decay 1e-4) with cosine and batches of 256, on labels. */
struct train_options train_defaults(void);

/* A batch size of at most `batch` that cuts `count` series into batches of nearly the same size: a
 * last batch of one or two would spoil the statistics of batch normalisation. */
size_t train_even_batch(size_t count, size_t batch);

/* Epochs that make about `steps` steps, but at least one. */
size_t train_epochs_for_steps(size_t steps, size_t count, size_t batch);

struct train_result {
    size_t epochs;                               /* finished */
    size_t best_epoch;                           /* that the parameters are from */
    double loss;                                 /* of the last epoch */
    double validation_loss, validation_accuracy; /* of the best epoch; NaN without */
    bool interrupted;                            /* `progress` returned false */
};

/* Trains from the given parameters and buffers (memory of the backend) and leaves the best there.
 * validation may be NULL: then the last epoch is the best.  If a loss or a value of the network
 * stops being a number the error says when, and the parameters are the best until then. */
struct error *train_network(const struct network *network, const struct train_options *options,
                            const struct tensor_dataset *data,
                            const struct tensor_dataset *validation, float *parameters,
                            float *buffers, struct train_result *result) MUST_CHECK;

#endif
