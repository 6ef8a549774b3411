/* The rows of a stage (enum stage_row in backend.h; backend_cpu_stage.c has the formulas), and what
 * the files of the stages share.  Sums are in stage_sums.cu, forward and backward passes in
 * stage.cu, their directional derivatives in stage_tangent.cu. */
#ifndef SC_CUDA_STAGE_ROWS_H
#define SC_CUDA_STAGE_ROWS_H

#include "stage_math.h"

#define STAGE_EPSILON 1e-5

/* ---- Sums ---- */

/* What is summed up, A and B (see enum stage_sum). */
enum sums {
    SUM_MOMENTS, /* z - pivot and its square */
    SUM_TANGENT, /* Rz, (z - mean) Rz */
    SUM_GRADIENT,
    SUM_TANGENT_GRADIENT,
};

struct pair {
    double a, b;
};

/* The sums of all groups, in scratch memory: (groups, STAGE_SUMS, stride); NULL without memory. For
 * norm=instance and layer the rows of the samples are set from them. */
const double *stage_sum(const struct stage_call *call, enum sums sums, size_t *groups);
/* The same, and adds them up over the groups into those of the block. */
void stage_add_sums(struct stage_call *call, size_t block, enum sums sums);
/* Those of gradients; for norm=layer also the gradients of gamma and beta. */
void stage_add_gradient_sums(struct stage_call *call, size_t block, enum sums sums);

/* Whether a group is a sample. */
static inline bool has_samples(const struct stage *stage)
{
    return stage->shape.norm == NORM_INSTANCE || stage->shape.norm == NORM_LAYER;
}

/* What a backward pass goes through: windows, and then the step that pooling drops, which still
 * shares in the means. */
static inline size_t backward_rows(const struct stage_shape *shape)
{
    return shape->pooled + shape->steps - (shape->pool == POOL_NONE ? 1 : 2) * shape->pooled;
}

/* The total of a sum over all blocks, in order. */
DEVICE double over_blocks(const struct stage *stage, enum stage_sum which, size_t c)
{
    size_t stride = stage->shape.stride;
    double total = 0;

    for (size_t block = 0; block < stage->blocks; block++)
        total += stage->sums[(block * STAGE_SUMS + which) * stride + c];
    return total;
}

/* ---- Rows ---- */

DEVICE void set_channel_rows(const struct stage_call *call, size_t sample, size_t c, double mean,
                             double rstd)
{
    const struct stage *stage = &call->stage;
    double gamma = stage->gamma ? stage->gamma[c] : 1.0, beta = stage->beta ? stage->beta[c] : 0.0;

    row_of(call, sample, STAGE_MEAN)[c] = (float)mean;
    row_of(call, sample, STAGE_RSTD)[c] = (float)rstd;
    row_of(call, sample, STAGE_SCALE)[c] = (float)(gamma * rstd);
    row_of(call, sample, STAGE_SHIFT)[c] = (float)(beta - mean * gamma * rstd);
}

DEVICE void set_gradient_rows(const struct stage_call *call, size_t sample, size_t c,
                              double mean_da, double mean_dax, double gamma)
{
    double rstd = row_of(call, sample, STAGE_RSTD)[c];

    row_of(call, sample, STAGE_MEAN_DA)[c] = (float)mean_da;
    row_of(call, sample, STAGE_MEAN_DAX)[c] = (float)mean_dax;
    row_of(call, sample, STAGE_MEAN_GX)[c] = (float)(gamma * mean_dax);
    row_of(call, sample, STAGE_OFFSET)[c] = (float)(-rstd * gamma * mean_da);
    row_of(call, sample, STAGE_SLOPE)[c] = (float)(-rstd * rstd * gamma * mean_dax);
}

DEVICE void set_tangent_rows(const struct stage_call *call, size_t sample, size_t c, double mean_rz,
                             double mean_xrz)
{
    const struct stage *stage = &call->stage;
    bool moves = stage->tangent_gamma && stage->shape.norm != NORM_LAYER;
    double rgamma = moves ? stage->tangent_gamma[c] : 0.0;
    double rbeta = moves ? stage->tangent_beta[c] : 0.0;
    double rstd = row_of(call, sample, STAGE_RSTD)[c];
    double scale = row_of(call, sample, STAGE_SCALE)[c];

    row_of(call, sample, STAGE_TANGENT_MEAN)[c] = (float)mean_rz;
    row_of(call, sample, STAGE_TANGENT_MEAN_X)[c] = (float)mean_xrz;
    row_of(call, sample, STAGE_TANGENT_OFFSET)[c] = (float)(rbeta - scale * mean_rz);
    row_of(call, sample, STAGE_TANGENT_SLOPE)[c] = (float)(rstd * (rgamma - scale * mean_xrz));
    row_of(call, sample, STAGE_TANGENT_GAMMA_RSTD)[c] = (float)(rgamma * rstd);
}

DEVICE void set_tangent_gradient_rows(const struct stage_call *call, size_t sample, size_t c,
                                      double mean_rda, double mean_rdax)
{
    const struct stage *stage = &call->stage;
    double gamma = stage->gamma[c], rgamma = stage->tangent_gamma ? stage->tangent_gamma[c] : 0.0;

    row_of(call, sample, STAGE_TANGENT_MEAN_G)[c] =
        (float)(rgamma * row_of(call, sample, STAGE_MEAN_DA)[c] + gamma * mean_rda);
    row_of(call, sample, STAGE_TANGENT_MEAN_GX)[c] =
        (float)(rgamma * row_of(call, sample, STAGE_MEAN_DAX)[c] + gamma * mean_rdax);
}

#endif
