/* Putting networks together (internal to lib/nn): what families call to add layers to a graph.
 *
 * Each function adds one layer that reads some tensors, named by their numbers, and gives the
 * number of the tensor that it writes.  `module` is the name that PyTorch would give the layer's
 * weights.  Layers run in the order in which they are added, so that a tensor is read only by later
 * ones; one that several layers read gets the sum of their gradients. */
#ifndef SC_NN_BUILD_H
#define SC_NN_BUILD_H

#include <stddef.h>

#include "base/error.h"
#include "nn/backend.h"

struct network;

/* The series (C channels, L steps); or one step of C L channels, channel after channel. */
struct error *build_series(struct network *network, size_t *output) MUST_CHECK;
struct error *build_flat_series(struct network *network, size_t *output) MUST_CHECK;

/* Convolution with same padding. */
struct error *build_conv1d(struct network *network, const char *module, size_t kernel, size_t input,
                           size_t channels, size_t *output) MUST_CHECK;

/* The same without a bias. */
struct error *build_conv1d_plain(struct network *network, const char *module, size_t kernel,
                                 size_t input, size_t channels, size_t *output) MUST_CHECK;
/* A causal one: step t sees steps t, t - dilation, t - 2 dilation, ... */
struct error *build_conv1d_causal(struct network *network, const char *module, size_t kernel,
                                  size_t dilation, size_t input, size_t channels,
                                  size_t *output) MUST_CHECK;
/* A linear layer of one step, the whole batch at once, where the backend has functions for it. */
struct error *build_dense(struct network *network, const char *module, size_t input, size_t outputs,
                          size_t *output) MUST_CHECK;
/* A linear layer that is not the last: at each step, to that many channels. */
struct error *build_hidden(struct network *network, const char *module, size_t input,
                           size_t outputs, size_t *output) MUST_CHECK;

/* Normalisation, activation and pooling by 2, any of which may be none. */
struct error *build_normact(struct network *network, const char *module, enum normalisation norm,
                            enum activation act, enum pooling pool, size_t input,
                            size_t *output) MUST_CHECK;

/* The mean or the maximum over all steps. */
struct error *build_pool(struct network *network, enum pooling pool, size_t input,
                         size_t *output) MUST_CHECK;

/* The maximum of each step and its two neighbours: max pooling by 3 with stride 1. */
struct error *build_max3(struct network *network, size_t input, size_t *output) MUST_CHECK;

/* The last step. */
struct error *build_last(struct network *network, size_t input, size_t *output) MUST_CHECK;

/* The channels of several tensors side by side, at most LAYER_INPUTS (layer.h). */
struct error *build_concat(struct network *network, size_t count, const size_t *inputs,
                           size_t *output) MUST_CHECK;

/* A linear layer on the channels of every step.  The names of its weights after the module's, and
 * what their first values are uniform within (0: all 0); NULL: as PyTorch's nn.Linear. */
struct projection {
    const char *weight, *bias;
    double weight_bound, bias_bound;
};
struct error *build_projection(struct network *network, const char *module,
                               const struct projection *projection, size_t input, size_t channels,
                               size_t *output) MUST_CHECK;

/* The same on every `patch` steps of the series together, their channels step after step: a step of
 * the output for each patch.  Steps after the last whole patch are not seen. */
struct error *build_patches(struct network *network, const char *module, size_t patch, size_t input,
                            size_t channels, size_t *output) MUST_CHECK;

/* Learned values that are added to every step. */
struct error *build_positions(struct network *network, const char *module, size_t input,
                              size_t *output) MUST_CHECK;

/* Normalisation of every step over its channels. */
struct error *build_rownorm(struct network *network, const char *module, size_t input,
                            size_t *output) MUST_CHECK;

/* Dropout; with rate 0 the identity. */
struct error *build_dropout(struct network *network, double rate, size_t input,
                            size_t *output) MUST_CHECK;

/* Attention of `heads` heads, with dropout of its weights.  input: Q, K and V side by side, whose
 * channels the heads share equally. */
struct error *build_attention(struct network *network, size_t heads, double rate, size_t input,
                              size_t *output) MUST_CHECK;

/* Layer `number` of gated recurrent units: the states of all steps. */
struct error *build_gru(struct network *network, const char *module, size_t number, size_t input,
                        size_t hidden, size_t *output) MUST_CHECK;

/* The sum of two tensors of the same shape. */
struct error *build_add(struct network *network, size_t a, size_t b, size_t *output) MUST_CHECK;

/* end=flatten|max|mean: what an encoder's output is pooled to (POOL_NONE: all of it), then the
 * classifier. */
struct error *build_end(struct network *network, enum pooling pool, size_t encoder) MUST_CHECK;

/* The end of every network: the embedding (shapelet features, then the encoder's output flattened
 * channel after channel) and the linear layer `classifier` that makes the logits of it. */
struct error *build_classifier(struct network *network, size_t encoder) MUST_CHECK;

/* The two layers of it. */
struct error *build_flatten(struct network *network, size_t input, size_t *output) MUST_CHECK;
struct error *build_linear(struct network *network, const char *module, size_t input,
                           size_t outputs, size_t *output) MUST_CHECK;

#endif
