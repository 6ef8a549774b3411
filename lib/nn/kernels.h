/* The inner loops of the CPU backend, compiled once for each instruction set (kernels_generic.c,
 * kernels_avx2.c) from the same text (kernels_matrix.h, kernels_normact.h, kernels_vector.h). */
#ifndef SC_NN_KERNELS_H
#define SC_NN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/backend.h"

/* The right side (depth x columns) of a product is kept in strips of columns that one tile of
 * registers covers: 4, 2 or 1 vectors wide, the last filled up with zeros.  Up to two odd columns
 * at the end are kept as columns and multiplied as dot products, because a vector for them would be
 * mostly wasted (the gradient of a one-channel series). */
struct panel_strip {
    size_t first;   /* column */
    size_t vectors; /* width; 0: a single column */
};

/* The strip that begins at that column, for vectors of `width` floats. */
static inline struct panel_strip panel_strip(size_t columns, size_t first, size_t lanes)
{
    size_t left = columns - first, odd = left % lanes;
    size_t vectors = left / lanes + (odd > 2 ? 1 : 0);

    return (struct panel_strip){first, vectors >= 4 ? 4 : vectors >= 2 ? 2 : vectors};
}

/* Columns that the strip covers. */
static inline size_t panel_strip_columns(struct panel_strip strip, size_t columns, size_t lanes)
{
    size_t width = strip.vectors ? strip.vectors * lanes : 1;

    return width < columns - strip.first ? width : columns - strip.first;
}

/* Rows of memory that one call of a normact kernel works on: one sample. */
struct normact_call {
    const struct normact_shape *shape;
    const float *rows;  /* (NORMACT_ROWS, stride) of the sample's group */
    const float *gamma; /* norm=layer: (steps, stride) */
    const float *beta;
    const float *tangent_gamma; /* norm=layer */
    const float *tangent_beta;
    const float *z, *rz;   /* (steps, stride) */
    const float *dp, *rdp; /* (pooled, stride) */
    float *p;              /* output of the pass: p or Rp */
    float *dz, *rdz;
    float *sum_a, *sum_b;  /* (stride) sums of this call, written */
    float *dgamma, *dbeta; /* norm=layer: (steps, stride), added to */
};

/* A mask of dropout for one sample (struct dropout_mask). */
struct dropout_row {
    uint32_t key[2];
    uint32_t counter[3]; /* purpose and layer, sample, step */
    uint32_t threshold;
    float scale;
};

struct kernels {
    size_t lanes; /* floats in a vector */

    /* out[rows][columns] = a panel (+ bias), row i of a starting at a + i * lda and being `depth`
     * long.  With add, it is added to out and bias is left out. */
    void (*multiply)(size_t rows, size_t depth, const float *a, size_t lda, const float *panel,
                     size_t columns, const float *bias, bool add, float *out, size_t ldo);

    /* out[depth][columns] += sum over samples and rows of a[row][0..depth)^T g[row][0..columns).
     * Reads g up to the end of a vector, but uses only the columns. */
    void (*multiply_transposed)(size_t samples, size_t rows, const float *a, size_t a_sample,
                                size_t lda, size_t depth, const float *g, size_t g_sample,
                                size_t ldg, size_t columns, float *out, size_t ldo);

    /* sum[c] += x[row][c] over rows, stride floats wide. */
    void (*add_columns)(size_t rows, size_t stride, const float *x, float *sum);

    /* Sums of d = x - pivot and of d * d over the rows, written. */
    void (*moments)(size_t rows, size_t stride, const float *x, const float *pivot, float *sum,
                    float *squares);
    /* Sums of y and of (x - mean) * y over the rows, written. */
    void (*products)(size_t rows, size_t stride, const float *x, const float *mean, const float *y,
                     float *sum, float *sum_product);

    /* Mean over all steps; maximum, and the step where it is. */
    void (*pool_mean)(size_t steps, size_t stride, const float *x, float *out);
    void (*pool_max)(size_t steps, size_t stride, const float *x, int32_t *index, float *out);

    /* Maxima of three steps of one sample, their gradient and tangent. */
    void (*max3)(size_t steps, size_t stride, const float *x, float *out);
    void (*max3_backward)(size_t steps, size_t stride, const float *x, const float *dout,
                          float *dx);
    void (*max3_tangent)(size_t steps, size_t stride, const float *x, const float *rx, float *rout);

    /* One row of columns whose first group has that number. */
    void (*dropout_row)(const struct dropout_row *row, uint32_t group, size_t columns,
                        const float *in, float *out);

    /* See kernels_rownorm.h, kernels_attention.h, kernels_gru.h. */
    void (*rownorm_forward)(const struct rownorm *norm, const float *z, float *y);
    void (*rownorm_backward)(const struct rownorm *norm, const float *z, const float *dy, float *dz,
                             float *dgamma, float *dbeta);
    void (*rownorm_tangent_forward)(const struct rownorm *norm, const float *z, const float *rz,
                                    float *ry);
    void (*rownorm_tangent_backward)(const struct rownorm *norm, const float *z, const float *rz,
                                     const float *dy, const float *rdy, float *rdz, float *rdgamma,
                                     float *rdbeta);
    void (*softmax_rows)(size_t rows, size_t columns, size_t stride, float scale, float *x);
    void (*softmax_gradient)(size_t rows, size_t stride, float scale, const float *p, float *d);
    void (*softmax_gradient_tangent)(size_t rows, size_t stride, float scale, const float *p,
                                     const float *rp, float *d, float *rd);
    void (*gru_step)(size_t hidden, const float *gi, const float *gh, const float *before,
                     float *gates, float *h);
    void (*gru_step_backward)(size_t hidden, const float *gates, const float *before, float *dh,
                              float *dgi, float *dgh);
    void (*gru_step_tangent)(size_t hidden, const float *rgi, const float *rgh, const float *gates,
                             const float *before, const float *rbefore, float *rgates, float *rh);
    void (*gru_step_tangent_backward)(size_t hidden, const float *gates, const float *rgates,
                                      const float *before, const float *rbefore, float *dh,
                                      float *rdh, float *rdgi, float *dgh, float *rdgh);

    void (*normact_forward)(const struct normact_call *call);
    void (*normact_backward_sums)(const struct normact_call *call);
    void (*normact_backward)(const struct normact_call *call);
    void (*normact_tangent_forward)(const struct normact_call *call);
    void (*normact_tangent_backward_sums)(const struct normact_call *call);
    void (*normact_tangent_backward)(const struct normact_call *call);
};

extern const struct kernels kernels_generic;
#if defined(__x86_64__)
extern const struct kernels kernels_avx2;
#endif

#endif
