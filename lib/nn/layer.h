/* Layers: what a network is made of and a pass runs (internal to lib/nn).
 *
 * A layer takes one tensor to another.  Its type is a small table: for each of the four phases
 * (forward, backward, and the tangents of both) up to five functions,
 *
 *     prepare   once, before the phase
 *     sums      on some samples: what the whole batch must know before `apply` can run
 *     reduce    once, when all samples have been through `sums`
 *     apply     on some samples
 *     finish    once, after the phase, when the gradients of all blocks have been added up
 *
 * most of which are missing in most layers.  A pass runs as many layers as it can on a few samples
 * while they are in the cache, and waits for the whole batch only where `waits` says so. */
#ifndef SC_NN_LAYER_H
#define SC_NN_LAYER_H

#include "nn/network.h"

enum phase { FORWARD, BACKWARD, TANGENT_FORWARD, TANGENT_BACKWARD, PHASES };

/* Consecutive samples of one block, run by one worker. */
struct span {
    size_t block;
    size_t first, count;
    unsigned worker;
};

struct layer_phase {
    void (*prepare)(struct pass *pass, const struct layer *layer);
    void (*sums)(struct pass *pass, const struct layer *layer, const struct span *span);
    void (*reduce)(struct pass *pass, const struct layer *layer);
    void (*apply)(struct pass *pass, const struct layer *layer, const struct span *span);
    void (*finish)(struct pass *pass, const struct layer *layer);
};

struct layer_type {
    const char *name;
    struct layer_phase phase[PHASES];
    /* Whether `sums` is to run at all, and whether `apply` must wait for `reduce`. */
    bool (*wants_sums)(const struct pass *pass, const struct layer *layer, enum phase phase);
    bool (*waits)(const struct pass *pass, const struct layer *layer, enum phase phase);
};

extern const struct layer_type layer_import;  /* series (N, C, L) into the inner layout */
extern const struct layer_type layer_conv1d;  /* also the linear layer */
extern const struct layer_type layer_stage;   /* normalisation, activation, pooling */
extern const struct layer_type layer_flatten; /* features, then the encoder's output */

/* Activations between layers: (N, steps, stride). */
struct tensor {
    size_t steps, channels, stride;
    size_t halo;          /* steps of zeros on either side of the values */
    size_t gradient_halo; /* and of the gradients */
    bool series;          /* holds series: has a gradient or tangent only if asked for */
    bool local;           /* gradients are needed only while the samples are in the cache */
};

static inline size_t tensor_sample(const struct tensor *tensor)
{
    return (tensor->steps + 2 * tensor->halo) * tensor->stride;
}

static inline size_t tensor_gradient_sample(const struct tensor *tensor)
{
    return (tensor->steps + 2 * tensor->gradient_halo) * tensor->stride;
}

struct layer {
    const struct layer_type *type;
    size_t input, output;  /* tensors */
    size_t weight, bias;   /* offsets of the parameters (gamma and beta of a stage) */
    size_t mean, variance; /* offsets of the buffers */
    size_t gradient;       /* offset in a block's partial gradients */
    size_t state;          /* number among the layers of its type, for what a pass keeps */
    struct conv1d_shape conv;
    struct stage_shape stage;
};

/* Places of one tensor in a pass, at the first real step of the first sample. */
struct tensor_memory {
    float *value, *gradient;
    float *tangent, *tangent_gradient;
};

struct conv_memory {
    float *forward, *backward; /* weights in the backend's order */
    float *tangent_forward, *tangent_backward;
};

/* gamma and beta, padded, and their directions. */
struct stage_memory {
    struct stage stage;
    float *gamma, *beta, *tangent_gamma, *tangent_beta;
};

struct pass {
    const struct network *network;
    const struct backend *backend;
    unsigned flags;
    size_t most_samples;
    size_t blocks, block_samples; /* for this batch */
    size_t chunk;                 /* samples that stay in the cache together */

    float *arena;
    size_t arena_floats;
    float *local; /* (workers, local_floats): gradients of local tensors */
    size_t local_floats;
    unsigned workers;
    size_t most_blocks;
    double *sums; /* of all stages */
    size_t sums_count;
    float *partial; /* (blocks, gradient_floats): gradients of parameters */
    struct tensor_memory *tensors;
    struct conv_memory *convs;
    struct stage_memory *stages;
    struct step *steps; /* two for each layer, sums and apply: as many as a phase can have */

    /* What the current functions were asked for. */
    struct forward forward;
    struct backward backward;
    struct tangent tangent;
};

/* Where samples of a tensor are. */
float *tensor_value(const struct pass *pass, size_t tensor, size_t sample);
float *tensor_tangent(const struct pass *pass, size_t tensor, size_t sample);
float *tensor_gradient(const struct pass *pass, size_t tensor, const struct span *span);
float *tensor_tangent_gradient(const struct pass *pass, size_t tensor, const struct span *span);

/* The partial gradients that a layer adds to for this span. */
float *partial_gradient(const struct pass *pass, const struct layer *layer,
                        const struct span *span);

#endif
