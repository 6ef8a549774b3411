/* Running trained networks over whole datasets, a part at a time. */
#ifndef SC_NN_PREDICT_H
#define SC_NN_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "nn/loss.h"
#include "nn/pass.h"

/* Series and what belongs to them, as PyTorch's TensorDataset: arrays in host memory that the
 * caller owns. */
struct tensor_dataset {
    size_t count;
    const float *x;        /* (N, C, L) */
    const float *features; /* (N, K), where the network has features */
    const int32_t *labels; /* (N,), for LOSS_LABELS, and for the accuracy if not NULL */
    const float *targets;  /* (N, V), for the soft losses */

    /* NULL, or to be told which series of x, a mapped file, are in the next batch: they can be read
     * from the disk while the batch before is at work. */
    void (*prefetch)(const void *context, const size_t *indices, size_t count);
    const void *context;
};

/* Logits (N, V) and, if not NULL, embeddings (N, network->embedding) of all series, by the running
 * statistics.  pass says how many at a time.  The dataset and the results are host memory. */
struct error *network_predict(struct pass *pass, const float *parameters, float *buffers,
                              const struct tensor_dataset *data, float *logits,
                              float *embeddings) MUST_CHECK;

/* The loss for a dataset: the given one if the dataset has the targets it needs, else cross-entropy
 * with labels. */
struct loss loss_for(const struct loss *loss, const struct tensor_dataset *data);

/* Mean loss over the dataset, which is memory of the backend, and the accuracy (NaN without
 * labels). */
struct error *network_evaluate(struct pass *pass, const struct loss *loss, const float *parameters,
                               float *buffers, const struct tensor_dataset *data, double *mean,
                               double *accuracy) MUST_CHECK;

#endif
