/* The rows of a normact layer (enum normact_row in backend.h; backend_cpu_normact.c has the
 * formulas), and what the files of the normact layers share.  Sums are in normact_sums.cu, forward
 * and backward passes in normact.cu, their directional derivatives in normact_tangent.cu. */
#ifndef SC_CUDA_NORMACT_ROWS_H
#define SC_CUDA_NORMACT_ROWS_H

#include "normact_math.h"

/* ---- Sums ---- */

/* What is summed up, A and B (see enum normact_sum). */
enum sums {
    SUM_MOMENTS, /* z - pivot and its square */
    SUM_TANGENT, /* Rz, (z - mean) Rz */
    SUM_GRADIENT,
    SUM_TANGENT_GRADIENT,
};

struct pair {
    double a, b;
};

/* The sums of all groups, in scratch memory: (groups, NORMACT_SUMS, stride); NULL without memory.
 * For norm=instance and layer the rows of the samples are set from them. */
const double *normact_sum(const struct normact_call *call, enum sums sums, size_t *groups);
/* The same, and adds them up over the groups into those of the block. */
void normact_add_sums(struct normact_call *call, size_t block, enum sums sums);
/* Those of gradients; for norm=layer also the gradients of gamma and beta. */
void normact_add_gradient_sums(struct normact_call *call, size_t block, enum sums sums);

/* Whether a group is a sample. */
static inline bool has_samples(const struct normact *normact)
{
    return normact->shape.norm == NORM_INSTANCE || normact->shape.norm == NORM_LAYER;
}

/* What a backward pass goes through: windows, and then the step that pooling drops, which still
 * shares in the means. */
static inline size_t backward_rows(const struct normact_shape *shape)
{
    return shape->pooled + shape->steps - (shape->pool == POOL_NONE ? 1 : 2) * shape->pooled;
}

/* The total of a sum over all blocks, in order. */
DEVICE double over_blocks(const struct normact *normact, enum normact_sum which, size_t c)
{
    size_t stride = normact->shape.stride;
    double total = 0;

    for (size_t block = 0; block < normact->blocks; block++)
        total += normact->sums[(block * NORMACT_SUMS + which) * stride + c];
    return total;
}

/* ---- Rows ---- */

DEVICE void set_channel_rows(const struct normact_call *call, size_t sample, size_t c, double mean,
                             double rstd)
{
    const struct normact *normact = &call->normact;
    double gamma = normact->gamma ? normact->gamma[c] : 1.0,
           beta = normact->beta ? normact->beta[c] : 0.0;

    row_of(call, sample, NORMACT_MEAN)[c] = (float)mean;
    row_of(call, sample, NORMACT_RSTD)[c] = (float)rstd;
    row_of(call, sample, NORMACT_SCALE)[c] = (float)(gamma * rstd);
    row_of(call, sample, NORMACT_SHIFT)[c] = (float)(beta - mean * gamma * rstd);
}

DEVICE void set_gradient_rows(const struct normact_call *call, size_t sample, size_t c,
                              double mean_da, double mean_dax, double gamma)
{
    double rstd = row_of(call, sample, NORMACT_RSTD)[c];

    row_of(call, sample, NORMACT_MEAN_DA)[c] = (float)mean_da;
    row_of(call, sample, NORMACT_MEAN_DAX)[c] = (float)mean_dax;
    row_of(call, sample, NORMACT_MEAN_GX)[c] = (float)(gamma * mean_dax);
    row_of(call, sample, NORMACT_OFFSET)[c] = (float)(-rstd * gamma * mean_da);
    row_of(call, sample, NORMACT_SLOPE)[c] = (float)(-rstd * rstd * gamma * mean_dax);
}

DEVICE void set_tangent_rows(const struct normact_call *call, size_t sample, size_t c,
                             double mean_rz, double mean_xrz)
{
    const struct normact *normact = &call->normact;
    bool moves = normact->tangent_gamma && normact->shape.norm != NORM_LAYER;
    double rgamma = moves ? normact->tangent_gamma[c] : 0.0;
    double rbeta = moves ? normact->tangent_beta[c] : 0.0;
    double rstd = row_of(call, sample, NORMACT_RSTD)[c];
    double scale = row_of(call, sample, NORMACT_SCALE)[c];

    row_of(call, sample, NORMACT_TANGENT_MEAN)[c] = (float)mean_rz;
    row_of(call, sample, NORMACT_TANGENT_MEAN_X)[c] = (float)mean_xrz;
    row_of(call, sample, NORMACT_TANGENT_OFFSET)[c] = (float)(rbeta - scale * mean_rz);
    row_of(call, sample, NORMACT_TANGENT_SLOPE)[c] = (float)(rstd * (rgamma - scale * mean_xrz));
    row_of(call, sample, NORMACT_TANGENT_GAMMA_RSTD)[c] = (float)(rgamma * rstd);
}

DEVICE void set_tangent_gradient_rows(const struct normact_call *call, size_t sample, size_t c,
                                      double mean_rda, double mean_rdax)
{
    const struct normact *normact = &call->normact;
    double gamma = normact->gamma[c],
           rgamma = normact->tangent_gamma ? normact->tangent_gamma[c] : 0.0;

    row_of(call, sample, NORMACT_TANGENT_MEAN_G)[c] =
        (float)(rgamma * row_of(call, sample, NORMACT_MEAN_DA)[c] + gamma * mean_rda);
    row_of(call, sample, NORMACT_TANGENT_MEAN_GX)[c] =
        (float)(rgamma * row_of(call, sample, NORMACT_MEAN_DAX)[c] + gamma * mean_rdax);
}

#endif
