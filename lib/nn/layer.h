/* Layers: what a network is made of and a pass runs (internal to lib/nn).
 *
 * A layer reads one tensor or several and writes one.  Its type owns its whole life:
 *
 *     build_NAME   (build.h) adds it to a graph: tensors, parameters and buffers
 *     declare      when the graph is complete: fills in its shape, its partial gradients and its
 *                  work
 *     initialise   the first values of its parameters and buffers
 *     lay_out      memory of its own in a pass
 *     phases       forward, backward, and the tangents of both
 *     statistics   of a batch normalisation, for matching them
 *
 * so that a new layer is one file layer_NAME.c and one line in build.h.
 *
 * A phase has up to five functions,
 *
 *     prepare   once, before the phase
 *     sums      on some samples: what the whole batch must know before `apply` can run
 *     reduce    once, when all samples have been through `sums`
 *     apply     on some samples
 *     finish    once, after the phase, when the gradients of all blocks have been added up
 *
 * most of which are missing in most layers.  A pass runs as many layers as it can on a few samples
 * while they are in the cache, and waits for the whole batch only where `waits` says so: then
 * `reduce` runs between `sums` and `apply`, else at the end of the phase. */
#ifndef SC_NN_LAYER_H
#define SC_NN_LAYER_H

#include "base/random.h"
#include "nn/network.h"
#include "nn/pass.h"

enum phase { FORWARD, BACKWARD, TANGENT_FORWARD, TANGENT_BACKWARD, PHASES };

/* Consecutive samples of one block, run by one worker. */
struct span {
    size_t block;
    size_t first, count;
    unsigned worker;
};

typedef void layer_function(struct pass *pass, const struct layer *layer, const struct span *span);

struct layer_phase {
    void (*prepare)(struct pass *pass, const struct layer *layer);
    layer_function *sums;
    void (*reduce)(struct pass *pass, const struct layer *layer);
    layer_function *apply;
    void (*finish)(struct pass *pass, const struct layer *layer);
};

struct filler;
struct layout;

struct layer_type {
    const char *name;
    size_t shape_bytes; /* of layer->shape */
    size_t state_bytes; /* of what a pass keeps for the layer (layer_state) */

    void (*declare)(struct network *network, struct layer *layer);
    void (*initialise)(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers);
    void (*lay_out)(struct pass *pass, const struct layer *layer, struct layout *layout);
    struct layer_phase phase[PHASES];
    /* What `sums` writes and `reduce` reads in a phase: (blocks, *doubles). */
    double *(*block_sums)(const struct pass *pass, const struct layer *layer, enum phase phase,
                          size_t *doubles);
    /* Whether `sums` is to run at all, and whether `apply` must wait for `reduce`. */
    bool (*wants_sums)(const struct pass *pass, const struct layer *layer, enum phase phase);
    bool (*waits)(const struct pass *pass, const struct layer *layer, enum phase phase);

    /* Batch normalisation: where its statistics are (false: it has none), and pass_match. */
    bool (*statistics)(const struct layer *layer, struct network_statistics *statistics);
    void (*match)(struct pass *pass, const struct layer *layer, const struct matching *matching,
                  double weight, double *sum);

    /* TANGENT_BACKWARD: whether it needs the gradient of its output besides its tangent, and
     * whether it computes the gradient of its input a second time on the way. */
    bool needs_gradient, repeats_gradient;
    /* BACKWARD, input_gradient(): it adds where layer->adds says so, instead of writing. */
    bool can_add;
    /* TANGENT_FORWARD: it does without the tangent of series that do not move. */
    bool knows_fixed_series;
    /* It does its work in `reduce`: it reads and writes gradients of the whole batch. */
    bool at_once;
    /* Samples that it processes best together, if the batch has as many; 0: any number. */
    size_t together;
};

/* Activations between layers: (N, steps, stride). */
struct tensor {
    size_t steps, channels, stride;
    size_t halo;          /* steps of zeros on either side of the values */
    size_t gradient_halo; /* and of the gradients */
    bool series;          /* holds series: has a gradient or tangent only if asked for */
    /* Found out when the graph is complete: */
    size_t readers;
    bool local;       /* gradients are needed only while the samples are in the cache */
    bool wants_zeros; /* series whose tangent is read even if they do not move */
};

static inline size_t tensor_sample(const struct tensor *tensor)
{
    return (tensor->steps + 2 * tensor->halo) * tensor->stride;
}

static inline size_t tensor_gradient_sample(const struct tensor *tensor)
{
    return (tensor->steps + 2 * tensor->gradient_halo) * tensor->stride;
}

enum { LAYER_INPUTS = 4 };

struct layer {
    const struct layer_type *type;
    size_t number;
    size_t input_count, inputs[LAYER_INPUTS], output; /* tensors */
    /* Layers that read the same tensor run before this one on the way back: the gradient of that
     * input is added to theirs. */
    bool adds[LAYER_INPUTS];
    size_t gradient, gradient_floats; /* its place in a block's partial gradients */
    void *shape;                      /* type->shape_bytes, its own */
};

/* ---- Building ---- */

/* A layer that writes a new tensor; its shape is zeros.  Pointers to layers and tensors are valid
 * until the next one is added. */
struct error *add_layer(struct network *network, const struct layer_type *type,
                        const struct tensor *output, struct layer **layer) MUST_CHECK;
/* It reads this tensor, with `halo` steps of zeros on either side. */
void add_input(struct network *network, struct layer *layer, size_t tensor, size_t halo);

/* A parameter or buffer "module.name"; its offset. */
struct error *add_parameter(struct network *network, const char *module, const char *name,
                            size_t ndim, const size_t *shape, size_t *offset) MUST_CHECK;
struct error *add_buffer(struct network *network, const char *module, const char *name,
                         size_t channels, size_t *offset) MUST_CHECK;

/* Values on their way into a flat array of the backend: drawn uniformly within +-bound, or all the
 * same. */
void fill_uniform(struct filler *filler, float *values, size_t count, double bound);
void fill_constant(struct filler *filler, float *values, size_t count, float value);

/* ---- Passes ---- */

/* Pieces of a pass's memory; NULL while it is only measured. */
float *layout_floats(struct layout *layout, size_t floats);
double *layout_doubles(struct layout *layout, size_t doubles);

/* Places of one tensor in a pass, at the first real step of the first sample. */
struct tensor_memory {
    float *value, *gradient;
    float *tangent, *tangent_gradient;
};

/* One function of one layer. */
struct pass_step {
    layer_function *run;
    const struct layer *layer;
};

enum {
    PASS_MOST_BLOCKS = 16,
    PASS_LARGE_GRADIENT = 128 * 1024, /* floats that leave the cache */
};

struct pass {
    const struct network *network;
    const struct backend *backend;
    unsigned flags;
    size_t most_samples;
    size_t blocks, block_samples;  /* for this batch */
    size_t first_block, end_block; /* those of this rank */
    struct cluster *cluster;       /* that shares them, or NULL */
    size_t chunk;                  /* samples that stay in the cache together */

    float *arena;
    size_t arena_floats;
    float *local; /* (workers, local_floats): gradients of local tensors */
    size_t local_floats;
    unsigned workers;
    size_t most_blocks;
    double *sums; /* PASS_VALUES, then those of the layers */
    size_t sums_count;
    float *partial; /* (blocks, gradient_floats): gradients of parameters */
    struct tensor_memory *tensors;
    float *scratch, *tangent_scratch; /* of the first worker: gradients to be added */
    void **states;                    /* of the layers */
    struct pass_step *steps; /* two for each layer, sums and apply: as many as a phase can have */

    /* What the current functions were asked for. */
    struct forward forward;
    struct backward backward;
    struct tangent tangent;
};

/* What the pass keeps for a layer. */
static inline void *layer_state(const struct pass *pass, const struct layer *layer)
{
    return pass->states[layer->number];
}

/* Whether the gradient of a layer's first input is needed, and whether that input moves along the
 * direction of the tangents: the series only if the caller asked for theirs. */
static inline bool input_wanted(const struct pass *pass, const struct layer *layer)
{
    return !pass->network->tensors[layer->inputs[0]].series || pass->backward.x;
}

static inline bool input_moves(const struct pass *pass, const struct layer *layer)
{
    return !pass->network->tensors[layer->inputs[0]].series || pass->tangent.x;
}

/* Where samples of a tensor are. */
float *tensor_value(const struct pass *pass, size_t tensor, size_t sample);
float *tensor_tangent(const struct pass *pass, size_t tensor, size_t sample);
float *tensor_gradient(const struct pass *pass, size_t tensor, const struct span *span);
float *tensor_tangent_gradient(const struct pass *pass, size_t tensor, const struct span *span);

/* Gradients of input k, for layers that write them: where to; and then, if other layers have
 * written theirs before, they are added. */
float *input_gradient(const struct pass *pass, const struct layer *layer, size_t k,
                      const struct span *span);
void input_gradient_end(const struct pass *pass, const struct layer *layer, size_t k,
                        const struct span *span);
float *input_tangent_gradient(const struct pass *pass, const struct layer *layer, size_t k,
                              const struct span *span);
void input_tangent_gradient_end(const struct pass *pass, const struct layer *layer, size_t k,
                                const struct span *span);
/* TANGENT_BACKWARD, for layers that compute the gradient a second time: its place, or
 * scratch memory where nobody needs it. */
float *input_gradient_again(const struct pass *pass, const struct layer *layer, size_t k,
                            const struct span *span);

/* The partial gradients that a layer adds to for this span. */
float *partial_gradient(const struct pass *pass, const struct layer *layer,
                        const struct span *span);

#endif
