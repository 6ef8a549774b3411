/* Passes of batches through a network.
 *
 * A pass owns the memory that batches of up to a given size need: nothing is allocated after
 * pass_new.  It is used as
 *
 *     pass_forward           values of all layers, logits
 *     pass_match             optionally: the loss on batch statistics, see below
 *     pass_backward          from dL/dlogits: gradients of parameters, series and features
 *     pass_tangent_forward   along a direction v of parameters, series and features: R{logits}
 *     pass_tangent_backward  R{gradients}: with R{dL/dlogits} from the loss (loss.h) it is
 *                            R{dL/dtheta} = H v and R{dL/dx} = (d2L / dx dtheta) v, exactly
 *
 * each of which needs the ones before it to have run on the same batch.  All pointers are to memory
 * of the network's backend (plain memory for the CPU).  Results do not depend on the number of
 * threads.  One pass is for one caller at a time; different passes may share a network. */
#ifndef SC_NN_PASS_H
#define SC_NN_PASS_H

#include "cluster/cluster.h"
#include "nn/network.h"

enum pass_flags {
    PASS_BACKWARD = 1, /* pass_backward will be called */
    PASS_TANGENT = 2,  /* and the tangents as well */
};

/* Memory for batches of 1..most_samples. */
struct error *pass_new(const struct network *network, size_t most_samples, unsigned flags,
                       struct pass **pass) MUST_CHECK;
void pass_free(struct pass *pass);

/* From now on the ranks of the cluster share the blocks of every batch: each runs the layers on its
 * blocks, and they exchange the sums of batch normalisation, the logits and the gradients, which
 * all ranks then have with the bytes of one process.  All must call the same functions of the same
 * passes.  Callers ask for errors of messages now and then (cluster_check).  No effect on devices
 * that take a batch as a whole and on networks with layers that do (mlp): each rank computes
 * all. */
void pass_share(struct pass *pass, struct cluster *cluster);

/* The network, the largest batch, and the bytes that it holds. */
const struct network *pass_network(const struct pass *pass);
size_t pass_most(const struct pass *pass);
size_t pass_bytes(const struct pass *pass);

/* Memory of the backend for PASS_VALUES results of the caller, such as losses. */
enum { PASS_VALUES = 16 };
double *pass_values(const struct pass *pass);

struct forward {
    size_t count;            /* samples N */
    const float *x;          /* (N, C, L) */
    const float *features;   /* (N, K), where the network has features */
    const float *parameters; /* must stay until the last function of this pass */
    float *buffers;          /* may be NULL without batch normalisation */
    bool same_parameters;    /* as in the last pass_forward: saves bringing them into order again */
    /* Batch normalisation: with the statistics of the batch (training) or the running ones. */
    bool training;
    float momentum;  /* training: the running statistics move by this share (PyTorch: 0.1) */
    bool statistics; /* measure those of the batch though they are not used, for pass_match */
    /* Which values dropout drops; all zeros: none. */
    struct dropout dropout;
};

/* Dropout of the training (seed, index), at its first step. */
struct dropout dropout_of(uint64_t seed, uint64_t index);

/* Logits (N, V), valid until the next pass_forward.  Training with one value per channel is refused
 * by PyTorch; here its variance is 0. */
const float *pass_forward(struct pass *pass, const struct forward *forward);

/* What the last layer gets, (N, network->embedding): the features, then the encoder's output. */
const float *pass_embedding(struct pass *pass);

/* How far the batch statistics of every batch normalisation's input are from the running ones:
 *     R = sum over layers of weight_l (|mean - running mean| + |variance - running variance|)
 * with Euclidean norms or their squares, weight_l = weight (times `first` for the first layer).
 * R is written to *sum; the next pass_backward includes its gradient (for series and parameters
 * before each layer).  Needs forward.statistics and running statistics in use; not part of the
 * tangents. */
struct matching {
    double weight; /* 0.01 */
    double first;  /* 10 */
    bool squared;
};
void pass_match(struct pass *pass, const struct matching *matching, double *sum);

/* Outputs that are NULL are not computed.  Gradients are written, not added. */
struct backward {
    const float *logits;    /* dL/dlogits (N, V) */
    const float *embedding; /* more, dL/dembedding (N, embedding), or NULL */
    /* More: of the mean and the biased variance of this batch that each batch normalisation
     * measured, placed as the running ones are in the buffers, or NULL.  Instead of pass_match; not
     * part of the tangents. */
    const float *statistics;
    float *parameters; /* dL/dparameters */
    float *x;          /* dL/dx (N, C, L) */
    float *features;   /* dL/dfeatures (N, K) */
};
void pass_backward(struct pass *pass, const struct backward *backward);

/* Directions; NULL is zero. */
struct tangent {
    const float *parameters;
    const float *x;
    const float *features;
};

/* R{logits} (N, V), valid until the next pass_tangent_forward. */
const float *pass_tangent_forward(struct pass *pass, const struct tangent *tangent);

/* As pass_backward, all of it tangents: logits is R{dL/dlogits}, and so on.  Needs a pass_backward
 * of the same batch before. */
void pass_tangent_backward(struct pass *pass, const struct backward *backward);

#endif
