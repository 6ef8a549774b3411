/* What a device must be able to do to run networks.  The layers (layer.h) call nothing but these
 * functions, so that a new device is one more filled-in struct: backend_cpu() here, CUDA as a
 * plug-in.
 *
 * Layout.  Inside a network, activations are kept step by step with the channels side by side,
 * (N, steps, channels), so that every operation runs along contiguous channels and a convolution is
 * a matrix product whose left rows are overlapping windows of memory.  Two things are added to it:
 *   - the distance from one step to the next is a `stride` of floats, the channels rounded up to a
 *     multiple of BACKEND_CHANNELS (but for the series themselves and for the logits); what fills
 *     it up never reaches a result;
 *   - operands of convolutions carry a halo of at least kernel/2 steps of zeros on either side.
 *     Pointers point to the first real step.
 *
 * Blocks.  A batch is cut into blocks of samples, by the problem alone.  Each function works on
 * some consecutive samples; sums over the batch are kept per block and added up in block order by
 * the `reduce` functions, so that results do not depend on the number of threads.  A device that is
 * parallel inside (whole_batch) gets one block.
 *
 * Memory.  All pointers are to memory of the device, except where a comment says host.  Where
 * host_memory is set that is plain memory, and nothing is copied (backend_memory.h).
 *
 * Order.  Work of one device may be queued: only download() waits for it.  fault() reports what
 * failed in the queue; callers check it after a download (backend_check in backend_memory.h). */
#ifndef SC_NN_BACKEND_H
#define SC_NN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/loss.h"

#define BACKEND_CHANNELS      16
#define BACKEND_MOST_CHANNELS 1024 /* that a convolution inside a network may have */

/* As in PyTorch: what a normalisation adds to the variance, and the slope of leaky ReLU below 0. */
#define BACKEND_EPSILON     1e-5
#define BACKEND_LEAKY_SLOPE 0.01f

/* Channels in memory: filled up to whole vectors. */
static inline size_t backend_stride(size_t channels)
{
    return (channels + BACKEND_CHANNELS - 1) / BACKEND_CHANNELS * BACKEND_CHANNELS;
}

enum normalisation { NORM_NONE, NORM_BATCH, NORM_INSTANCE, NORM_LAYER };
enum activation {
    ACTIVATION_RELU,
    ACTIVATION_LEAKY_RELU,
    ACTIVATION_SIGMOID,
    ACTIVATION_GELU, /* a Phi(a), exact */
    ACTIVATION_NONE
};
enum pooling { POOL_NONE, POOL_MAX, POOL_MEAN };

/* 1-D convolution with same padding (an even kernel has one more step after than before); a linear
 * layer is one with kernel 1.  With a dilation d it is causal: step t sees t, t - d, t - 2d, ...,
 * and if d > 1 nothing is read outside the series.  in (count, steps, inputs), out (count, steps,
 * outputs). */
struct conv1d_shape {
    size_t steps;
    size_t kernel;
    size_t inputs, outputs;             /* channels */
    size_t input_stride, output_stride; /* floats from step to step */
    size_t input_sample;                /* floats from sample to sample: the input */
    size_t output_sample;               /* the output */
    size_t input_gradient_sample;       /* the gradient of the input */
    size_t output_gradient_sample;      /* the gradient of the output, which has the halo */
    size_t dilation;                    /* of a causal one; 0: same padding */
};

/* Normalisation, activation and pooling by 2, fused (`norm` may be none):
 *     xh = (z - mean) rstd;  a = gamma xh + beta;  y = act(a);  p = pool(y)
 * The mean is taken over the batch and time for each channel (batch), time for each channel and
 * sample (instance), or time and channels for each sample (layer; gamma and beta then have a value
 * for each channel and step).  z and p are (count, steps, stride) and (count, pooled, stride). */
struct normact_shape {
    enum normalisation norm;
    enum activation act;
    enum pooling pool;
    size_t steps, pooled; /* before and after pooling */
    size_t channels, stride;
    size_t input_sample;           /* floats from sample to sample: z and its tangent */
    size_t input_gradient_sample;  /* gradient of z, which has the halo */
    size_t output_sample;          /* p, which has the halo, and its tangent */
    size_t output_gradient_sample; /* gradient of p */
};

/* Pooling of all steps to one: in (count, steps, stride), out (count, 1, stride). */
struct pool_shape {
    enum pooling pool; /* max or mean */
    size_t steps, stride;
    size_t input_sample;           /* floats from sample to sample: the input and its tangent */
    size_t input_gradient_sample;  /* its gradient */
    size_t output_sample;          /* the output and its tangent */
    size_t output_gradient_sample; /* its gradient */
};

/* Maxima of three neighbouring steps: out[t] = max(in[t - 1], in[t], in[t + 1]),
 * within the series.  Everything is (count, steps, stride). */
struct max3_shape {
    size_t steps, stride;
    size_t input_sample;           /* floats from sample to sample: the input and its tangent */
    size_t input_gradient_sample;  /* its gradient */
    size_t output_sample;          /* the output and its tangent */
    size_t output_gradient_sample; /* its gradient */
};

/* Which values dropout keeps: a function of this, the layer, the sample and the place in it, so
 * that every pass of one batch, and any number of threads, sees the same mask. */
struct dropout {
    bool on;
    uint64_t key;
    size_t step;        /* of the training, */
    const size_t *more; /* plus this, memory of the device; NULL: 0 */
};

/* Dropout of one layer: a value is 0 with probability `rate`, else it is divided by 1 - rate.
 *
 * The values of a sample are rows of `columns`, each cut into groups of 32.  Value i of group g,
 * counted through all rows (each begins a group of its own), is dropped where word i / 8 of
 * Philox4x32-10 under `key` at the counter (8 g + i % 8, RANDOM_DROPOUT + 256 layer, sample, step)
 * is below rate 2^32. */
struct dropout_mask {
    struct dropout dropout;
    uint32_t layer;
    float rate;
};

/* Normalisation of every step over its channels, as PyTorch's LayerNorm(channels):
 *     xh = (z - mean) rstd;  y = gamma xh + beta
 * z and y are (count, steps, stride). */
struct rownorm_shape {
    size_t steps, channels, stride;
    size_t input_sample, input_gradient_sample; /* floats from sample to sample, as above */
    size_t output_sample, output_gradient_sample;
};

struct rownorm {
    struct rownorm_shape shape;
    const float *gamma, *beta;                 /* (stride), padded with zeros */
    const float *tangent_gamma, *tangent_beta; /* the direction */
};

/* A linear layer of one step: weight (outputs, inputs), rows of in and out that far apart. */
struct dense_shape {
    size_t inputs, outputs;
    size_t input_sample, input_gradient_sample; /* floats from sample to sample, as above */
    size_t output_sample, output_gradient_sample;
};

/* Attention of every step to all steps.  With Q, K, V (steps, width) of one head,
 *     P = softmax(Q K^T / sqrt(width));  A = dropout(P);  O = A V
 * in (count, steps, stride) holds Q of all heads, then K, then V; out their O side by side. */
struct attention_shape {
    size_t steps, heads, width;
    size_t input_stride, output_stride;
    size_t input_sample, input_gradient_sample; /* floats from sample to sample, as above */
    size_t output_sample, output_gradient_sample;
};

struct attention {
    struct attention_shape shape;
    struct dropout_mask mask;
    float *scratch; /* of this call: attention_scratch() floats */
};

/* A layer of gated recurrent units.  in (count, steps, stride) holds gi = W_ih x + b_ih, gates r,
 * z, n after one another, `hidden` of each; with gh = W_hh h' + b_hh of the state h' before, 0 at
 * the start,
 *     r = sigmoid(gi_r + gh_r);  z = sigmoid(gi_z + gh_z);  n = tanh(gi_n + r gh_n)
 *     h = (1 - z) n + z h'
 * out (count, steps, stride) is h. */
struct gru_shape {
    size_t steps, hidden;
    size_t input_stride, output_stride;
    size_t input_sample, input_gradient_sample; /* floats from sample to sample, as above */
    size_t output_sample, output_gradient_sample;
};

enum gru_gate { GRU_R, GRU_Z, GRU_N, GRU_HN, GRU_GATES }; /* r, z, n, gh_n */

struct gru {
    struct gru_shape shape;
    const struct conv1d_shape *product; /* W_hh as a linear layer, packed by conv1d_pack: */
    const float *forward, *backward;
    const float *tangent_forward, *tangent_backward; /* the direction; NULL: none */
    float *scratch;                                  /* of this call: gru_scratch() floats */
};

/* Rows of `stride` floats that a normact layer keeps for each group of values with one mean: one
 * group for the batch, or one for each sample.  With da = dL/da, g = gamma da, and R for tangents:
 *     dL/dz = scale da + offset + slope (z - mean)
 *     Ra = scale Rz + tangent_offset + tangent_slope (z - mean)          (not for norm=layer) */
enum normact_row {
    NORMACT_MEAN,
    NORMACT_RSTD,
    NORMACT_SCALE, /* gamma rstd; layer: rstd */
    NORMACT_SHIFT, /* beta - mean gamma rstd; layer: -mean rstd */
    NORMACT_OFFSET,
    NORMACT_SLOPE,
    NORMACT_MEAN_DA,        /* mean of da; layer: of g */
    NORMACT_MEAN_DAX,       /* mean of da xh; layer: of g xh */
    NORMACT_MEAN_GX,        /* mean of g xh; 0 when the statistics are constants */
    NORMACT_TANGENT_MEAN,   /* mean of Rz */
    NORMACT_TANGENT_MEAN_X, /* mean of xh Rz */
    NORMACT_TANGENT_OFFSET,
    NORMACT_TANGENT_SLOPE,
    NORMACT_TANGENT_GAMMA_RSTD, /* Rgamma rstd */
    NORMACT_TANGENT_MEAN_G,     /* mean of Rg */
    NORMACT_TANGENT_MEAN_GX,    /* mean of R(g xh) */
    NORMACT_BATCH_MEAN,         /* of this batch, where they were measured */
    NORMACT_BATCH_VARIANCE,     /* biased */
    NORMACT_MATCH_OFFSET,       /* what the matching of statistics adds to offset and slope */
    NORMACT_MATCH_SLOPE,
    NORMACT_ROWS,
};

/* Per-channel moments of z over one block, in double precision, `stride` of each. */
enum normact_moment {
    NORMACT_COUNT, /* values seen (the same for all channels) */
    NORMACT_BLOCK_MEAN,
    NORMACT_BLOCK_SQUARES, /* squared deviations from it */
    NORMACT_MOMENTS,
};

/* Per-channel sums over one block. */
enum normact_sum {
    NORMACT_SUM_A, /* of da, Rz or Rda */
    NORMACT_SUM_B, /* of da xh, xh Rz or R(da xh) */
    NORMACT_SUMS,
};

/* Everything that the functions of a normact layer work on.  Sample pointers are moved by the
 * caller to the first sample of the call; `first` is its number in the batch. */
struct normact {
    struct normact_shape shape;
    size_t samples;     /* of the whole batch */
    size_t blocks;      /* that the sums have */
    bool batch;         /* norm=batch: use the statistics of this batch, not the running ones */
    bool measured;      /* norm=batch: normact_moments ran */
    bool summed;        /* normact_backward_sums ran */
    const float *gamma; /* (stride), or (steps, stride) for norm=layer; padded with zeros */
    const float *beta;
    const float *tangent_gamma; /* same shape: the direction of the tangent */
    const float *tangent_beta;
    float *rows;     /* (groups, NORMACT_ROWS, stride) */
    double *moments; /* (blocks, NORMACT_MOMENTS, stride), zero before normact_moments */
    double *sums;    /* (blocks, NORMACT_SUMS, stride), zero before the ..._sums functions */
};

/* One step of an optimiser, as its numbers come out of rate, decay and steps taken (optimiser.c).
 * SGD, as torch.optim.SGD:       v = momentum v + (gradient + decay x);  x -= rate v
 * Adam, as torch.optim.Adam(W):  x = x shrink;  g = gradient + decay x;  m += new1 (g - m);
 *                                v = beta2 v + new2 g^2;  x -= rate m / (sqrt(v) root + epsilon) */
struct optimiser_step {
    float rate, decay;
    float momentum;       /* SGD; 0 in the first step, where v has no value yet */
    float root, shrink;   /* Adam: 1/sqrt(correction of v); AdamW's decay */
    float epsilon, beta2; /* Adam */
    float new1, new2;     /* Adam: 1 - beta */
};

/* Work that is done again and again with the same pointers and numbers: what changes from time to
 * time is read from memory of the device.  captured belongs to the device; NULL at the start. */
struct repeated {
    void (*body)(void *context);
    void *context;
    void *captured;
};

/* What an optimisation keeps of its best step. */
struct best_step {
    const size_t *step;    /* the number of this one among those that are queued */
    const double *value;   /* (2): its loss is their sum */
    double *history;       /* (queue, 2): gets the value at [*step] */
    double *best;          /* (1): lowest loss so far; infinity at the start */
    size_t floats, logits; /* how many there are of: */
    const float *x;        /* what is kept, */
    float *best_x;
    const float *x_logits; /* and what belongs to it */
    float *best_logits;
};

struct backend {
    const char *name;
    bool whole_batch; /* parallel inside: gets the whole batch as one block, from one thread */
    bool host_memory; /* its memory is plain memory */
    size_t queue;     /* steps that may be queued before the host looks at a result */

    /* What went wrong since the start, host memory; NULL: nothing. */
    const char *(*fault)(void);

    /* Memory of the device, zeroed and aligned for it; NULL when there is none left.  upload() is
     * done with the host's memory when it returns.  upload_beside() is the same for memory that no
     * work queued since the last download uses: it does not wait for that work. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    void (*upload)(void *device, const void *host, size_t bytes);
    void (*upload_beside)(void *device, const void *host, size_t bytes);
    void (*download)(void *host, const void *device, size_t bytes);
    void (*zero)(void *device, size_t bytes);

    /* Runs the body again; frees what the device keeps of it. */
    void (*repeat)(struct repeated *repeated);
    void (*repeat_end)(struct repeated *repeated);

    /* Runs tasks on all workers, as parallel_for does; how many workers there can be. */
    void (*parallel_for)(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                         void *context);
    unsigned (*workers)(void);

    /* out[n][column][row] = in[n][row][column] for samples at a distance of `..._sample` floats and
     * rows at a distance of `..._stride`. */
    void (*transpose)(size_t count, size_t rows, size_t columns, const float *in, size_t in_sample,
                      size_t in_stride, float *out, size_t out_sample, size_t out_stride);
    /* out[n][0..columns) = in[n][0..columns). */
    void (*copy_rows)(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                      size_t out_sample);
    /* The same, added. */
    void (*add_rows)(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                     size_t out_sample);

    /* out[n][t][0..columns) = in[n][t][0..columns), or added, for steps at a distance of
     * `..._stride` floats. */
    void (*move_steps)(size_t count, size_t steps, size_t columns, const float *in,
                       size_t in_sample, size_t in_stride, bool add, float *out, size_t out_sample,
                       size_t out_stride);

    /* out[n] = in[order[*batch * size + n]] for n < count and rows of `words` 4-byte words; batch
     * NULL is 0. */
    void (*gather)(size_t count, size_t words, const void *in, const size_t *order,
                   const size_t *batch, size_t size, void *out);
    /* x = a x + b y. */
    void (*axpby)(size_t count, float a, float *x, float b, const float *y);
    /* ++*counter. */
    void (*increment)(size_t *counter);
    /* *found = 1 if a value is infinite or NaN; else it is left as it is. */
    void (*find_infinite)(size_t count, const float *values, double *found);

    /* Weights (outputs, inputs, kernel) and bias (outputs) in the order that the products need;
     * conv1d_panel() floats each.  `backward` may be NULL, and so may the bias, which is then 0. */
    size_t (*conv1d_panel)(const struct conv1d_shape *shape);
    void (*conv1d_pack)(const struct conv1d_shape *shape, const float *weight, const float *bias,
                        float *forward, float *backward);
    /* out = in * weight + bias; with add, out += in * weight. */
    void (*conv1d_forward)(const struct conv1d_shape *shape, size_t count, const float *in,
                           const float *forward, bool add, float *out);
    /* The gradient of the input from that of the output; with add, added. */
    void (*conv1d_backward_input)(const struct conv1d_shape *shape, size_t count, const float *dout,
                                  const float *backward, bool add, float *din);
    /* Adds the gradients of the weights, and of the bias if asked for, to conv1d_gradient() floats
     * in the device's order. */
    size_t (*conv1d_gradient)(const struct conv1d_shape *shape);
    void (*conv1d_backward_weight)(const struct conv1d_shape *shape, size_t count, const float *in,
                                   const float *dout, bool bias, float *gradient);
    /* Brings them into PyTorch's order: dweight (outputs, inputs, kernel), dbias (outputs) or NULL.
     */
    void (*conv1d_unpack)(const struct conv1d_shape *shape, const float *gradient, float *dweight,
                          float *dbias);

    /* Adds the partial gradients of all blocks, in order, into the first. */
    void (*reduce_blocks)(size_t blocks, size_t floats, float *partial);

    /* A normact layer.  Moments of z: of each block for norm=batch, of each sample for instance and
     * layer.
     */
    void (*normact_moments)(const struct normact *normact, size_t block, size_t first, size_t count,
                            const float *z);
    /* The rows, from the moments or from the running statistics (norm=batch; else unused). */
    void (*normact_reduce)(const struct normact *normact, const float *running_mean,
                           const float *running_variance);
    void (*normact_forward)(const struct normact *normact, size_t first, size_t count,
                            const float *z, float *p);
    /* running = (1 - momentum) running + momentum measured, the variance unbiased, as PyTorch. */
    void (*normact_update_running)(const struct normact *normact, float momentum,
                                   float *running_mean, float *running_variance);
    /* Adds to *sum: weight (|mean - running mean| + |variance - running variance|), Euclidean
     * norms, or their squares, of the measured statistics; its gradient becomes part of the next
     * normact_backward. */
    void (*normact_match)(const struct normact *normact, double weight, bool squared,
                          const float *running_mean, const float *running_variance, double *sum);
    /* The same from the gradients of the measured statistics, mean and biased variance (channels).
     */
    void (*normact_statistics_gradient)(const struct normact *normact, const float *dmean,
                                        const float *dvariance);

    /* Sums over da; for norm=layer also the gradients of gamma and beta, added to dgamma and dbeta
     * (steps, stride).  The rows and, for the other norms, the gradients of gamma and beta
     * (channels), written if not NULL.  Then dL/dz. */
    void (*normact_backward_sums)(const struct normact *normact, size_t block, size_t first,
                                  size_t count, const float *z, const float *dp, float *dgamma,
                                  float *dbeta);
    void (*normact_backward_reduce)(const struct normact *normact, float *dgamma, float *dbeta);
    void (*normact_backward)(const struct normact *normact, size_t first, size_t count,
                             const float *z, const float *dp, float *dz);

    /* The same for tangents. */
    void (*normact_tangent_sums)(const struct normact *normact, size_t block, size_t first,
                                 size_t count, const float *z, const float *rz);
    void (*normact_tangent_reduce)(const struct normact *normact);
    void (*normact_tangent_forward)(const struct normact *normact, size_t first, size_t count,
                                    const float *z, const float *rz, float *rp);
    void (*normact_tangent_backward_sums)(const struct normact *normact, size_t block, size_t first,
                                          size_t count, const float *z, const float *rz,
                                          const float *dp, const float *rdp, float *rdgamma,
                                          float *rdbeta);
    void (*normact_tangent_backward_reduce)(const struct normact *normact, float *rdgamma,
                                            float *rdbeta);
    void (*normact_tangent_backward)(const struct normact *normact, size_t first, size_t count,
                                     const float *z, const float *rz, const float *dp,
                                     const float *rdp, float *dz, float *rdz);

    /* Pooling of all steps.  max: index (count, stride) gets the step of each maximum, the first of
     * equals, and the others read it; mean: NULL. */
    void (*pool_steps)(const struct pool_shape *shape, size_t count, const float *in,
                       int32_t *index, float *out);
    void (*pool_steps_backward)(const struct pool_shape *shape, size_t count, const float *dout,
                                const int32_t *index, float *din);
    void (*pool_steps_tangent)(const struct pool_shape *shape, size_t count, const float *rin,
                               const int32_t *index, float *rout);

    /* Maxima of three steps; of equals the first counts. */
    void (*max3)(const struct max3_shape *shape, size_t count, const float *in, float *out);
    void (*max3_backward)(const struct max3_shape *shape, size_t count, const float *in,
                          const float *dout, float *din);
    void (*max3_tangent)(const struct max3_shape *shape, size_t count, const float *in,
                         const float *rin, float *rout);

    /* Linear layers with weights and gradients in PyTorch's order, the whole batch at once; not to
     * be called from inside a task.  NULL: networks use conv1d instead.  With add, the results are
     * added, without the bias and its gradient.  dense_scratch(): floats. */
    size_t (*dense_scratch)(const struct dense_shape *shape, size_t count);
    void (*dense_forward)(const struct dense_shape *shape, size_t count, const float *in,
                          const float *weight, const float *bias, bool add, float *scratch,
                          float *out);
    void (*dense_backward_input)(const struct dense_shape *shape, size_t count, const float *dout,
                                 const float *weight, bool add, float *scratch, float *din);
    void (*dense_backward_weight)(const struct dense_shape *shape, size_t count, const float *in,
                                  const float *dout, bool add, float *dweight, float *dbias);

    /* out = in times the mask, for `count` samples from number `first` of `rows` contiguous rows of
     * `columns`.  in may be out. */
    void (*dropout)(const struct dropout_mask *mask, size_t first, size_t count, size_t rows,
                    size_t columns, const float *in, size_t in_sample, float *out,
                    size_t out_sample);

    /* Gradients of gamma and beta, (2, stride), are added to dparameters unless it is NULL. */
    void (*rownorm_forward)(const struct rownorm *rownorm, size_t count, const float *z, float *y);
    void (*rownorm_backward)(const struct rownorm *rownorm, size_t count, const float *z,
                             const float *dy, float *dz, float *dparameters);
    void (*rownorm_tangent_forward)(const struct rownorm *rownorm, size_t count, const float *z,
                                    const float *rz, float *ry);
    void (*rownorm_tangent_backward)(const struct rownorm *rownorm, size_t count, const float *z,
                                     const float *rz, const float *dy, const float *rdy, float *rdz,
                                     float *rdparameters);

    /* Scratch for `count` samples, in floats; `first` is the number of the first in the batch. */
    size_t (*attention_scratch)(const struct attention_shape *shape, size_t count);
    void (*attention_forward)(const struct attention *attention, size_t first, size_t count,
                              const float *in, float *out);
    void (*attention_backward)(const struct attention *attention, size_t first, size_t count,
                               const float *in, const float *dout, float *din);
    void (*attention_tangent_forward)(const struct attention *attention, size_t first, size_t count,
                                      const float *in, const float *rin, float *rout);
    void (*attention_tangent_backward)(const struct attention *attention, size_t first,
                                       size_t count, const float *in, const float *rin,
                                       const float *dout, const float *rdout, float *rdin);

    /* gates and rgates: (count, steps, GRU_GATES hidden), kept from the forward passes.  Gradients
     * of W_hh and b_hh are added as by conv1d_backward_weight. */
    size_t (*gru_scratch)(const struct gru_shape *shape, size_t count);
    void (*gru_forward)(const struct gru *gru, size_t count, const float *in, float *gates,
                        float *out);
    void (*gru_backward)(const struct gru *gru, size_t count, const float *gates, const float *out,
                         const float *dout, float *din, float *gradient);
    void (*gru_tangent_forward)(const struct gru *gru, size_t count, const float *rin,
                                const float *gates, const float *out, float *rgates, float *rout);
    void (*gru_tangent_backward)(const struct gru *gru, size_t count, const float *gates,
                                 const float *rgates, const float *out, const float *rout,
                                 const float *dout, const float *rdout, float *rdin,
                                 float *gradient);

    /* The functions of loss.h.  loss: value[*index], index NULL being 0; correct: how many. */
    void (*loss)(const struct loss *loss, size_t count, size_t classes, const float *logits,
                 const struct targets *targets, float *dlogits, float *dtargets, double *value,
                 const size_t *index);
    void (*loss_tangent)(const struct loss *loss, size_t count, size_t classes, const float *logits,
                         const struct targets *targets, const float *rlogits, const float *rtargets,
                         float *rdlogits, float *rdtargets);
    void (*count_correct)(size_t count, size_t classes, const float *logits, const int32_t *labels,
                          double *correct);

    /* Steps of the optimisers on flat arrays, by steps[*index] (index NULL: 0). */
    void (*sgd_step)(const struct optimiser_step *steps, const size_t *index, size_t count,
                     const float *gradient, float *velocity, float *values);
    void (*adam_step)(const struct optimiser_step *steps, const size_t *index, size_t count,
                      const float *gradient, float *first, float *second, float *values);
    /* Records the value of a step, and keeps the series if it is the lowest so far. */
    void (*keep_best)(const struct best_step *best);
};

/* The processor: kernels for the instruction set that it has (lib/base/cpu.h). */
const struct backend *backend_cpu(void);

#endif
