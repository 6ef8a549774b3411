/* Networks: graphs of layers, with the names and places of their values.
 *
 * A network is only a description.  The values live in flat arrays that the caller owns,
 * `parameters` (what is trained) and `buffers` (running statistics of batch normalisation), so that
 * saving, optimisers, trajectories and averages are one loop each, and the same network can be run
 * with any number of them (pass.h). */
#ifndef SC_NN_NETWORK_H
#define SC_NN_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "nn/architecture.h"
#include "nn/backend.h"

struct layer;
struct tensor;
struct pass;

/* A named part of the flat arrays. */
struct network_view {
    char name[48]; /* as PyTorch names it: "features.0.weight" */
    size_t ndim;
    size_t shape[3];
    size_t offset, count; /* floats, within parameters or buffers */
};

struct network {
    struct architecture architecture;
    const struct backend *backend;

    size_t parameter_count; /* floats */
    size_t buffer_count;
    size_t parameter_views;
    struct network_view *parameters; /* in PyTorch's order */
    size_t buffer_views;
    struct network_view *buffers;
    size_t embedding; /* values that go into the last layer, features first */

    /* The graph (layer.h): layers in the order in which they run, and the tensors between them. */
    size_t layer_count, tensor_count;
    struct layer *layers;
    struct tensor *tensors;
    size_t logits_tensor, embedding_tensor;
    size_t gradient_floats; /* partial gradients of one block */
    bool always_adds;       /* a layer adds to them whether they are wanted or not */
    size_t scratch_floats;  /* of one sample: a gradient on its way into a shared tensor */
    size_t work;            /* multiply-adds of a forward pass of one sample */
};

/* Builds a network; the architecture must have all its numbers. */
struct error *network_new(const struct architecture *architecture, const struct backend *backend,
                          struct network **network) MUST_CHECK;
void network_free(struct network *network);

/* PyTorch's default start, from the stream (seed, RANDOM_INITIALISE, index): weights and biases of
 * convolutions and linear layers uniform within 1/sqrt(fan in), normalisations the identity,
 * running mean 0 and variance 1.  Writes memory of the backend. */
void network_initialise(const struct network *network, uint64_t seed, uint64_t index,
                        float *parameters, float *buffers);

/* Where one batch normalisation has its values, for each of its channels. */
struct network_statistics {
    size_t channels;
    size_t steps;          /* of its input: a batch's mean is over these values of each series */
    size_t gamma, beta;    /* offsets in the parameters */
    size_t mean, variance; /* offsets in the buffers */
};

/* The i-th batch normalisation, in the order in which they run; false when there is none. */
bool network_statistics(const struct network *network, size_t i,
                        struct network_statistics *statistics);

/* The view with that name, or NULL; in_buffers tells which array it is in. */
const struct network_view *network_find(const struct network *network, const char *name,
                                        bool *in_buffers);

#endif
