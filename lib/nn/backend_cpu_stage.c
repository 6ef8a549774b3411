/* Stages (normalisation, activation, pooling) on the processor: sums over samples and blocks, and
 * the rows of constants that the kernels work with.
 *
 * For one group of n values with mean m, r = 1/sqrt(variance + epsilon), xh = (z - m) r,
 * a = gamma xh + beta, da = dL/da and g = gamma da:
 *
 *     dz   = r (g - mean(g) - xh mean(g xh))
 *     Rxh  = r (Rz - mean(Rz) - xh mean(xh Rz))            Rr = -r^2 mean(xh Rz)
 *     Rdz  = Rr/r dz + r (Rg - mean(Rg) - Rxh mean(g xh) - xh mean(R(g xh)))
 *
 * With running statistics m and r are constants, and all the means drop out; without normalisation
 * m = 0 and r = 1 besides. */
#include "nn/backend_cpu.h"

#include <math.h>
#include <string.h>

static const double epsilon = 1e-5;

/* Rows that are summed in single precision before they go into a double. */
enum { ROWS_TOGETHER = 128, MOST_CHANNELS = BACKEND_MOST_CHANNELS };

static bool per_sample(const struct stage *stage)
{
    return stage->shape.norm == NORM_INSTANCE || stage->shape.norm == NORM_LAYER;
}

/* The rows of the group that a sample belongs to. */
static float *group_rows(const struct stage *stage, size_t sample)
{
    return stage->rows + (per_sample(stage) ? sample * STAGE_ROWS * stage->shape.stride : 0);
}

static float *row_of(const struct stage *stage, float *rows, enum stage_row row)
{
    return rows + row * stage->shape.stride;
}

static void fill_row(const struct stage *stage, float *rows, enum stage_row row, double value)
{
    for (size_t c = 0; c < stage->shape.stride; c++)
        row_of(stage, rows, row)[c] = (float)value;
}

/* Rounding can leave a variance just below 0; what is not a number stays so. */
static double not_negative(double variance)
{
    return variance < 0 ? 0 : variance;
}

static double *block_sums(const struct stage *stage, size_t block)
{
    return stage->sums + block * STAGE_SUMS * stage->shape.stride;
}

/* ---- Moments ---- */

/* Sums of d = z - pivot and d * d over rows, each channel in double precision. */
static void sum_moments(const struct stage *stage, size_t rows, const float *z, const float *pivot,
                        double *sum, double *squares)
{
    size_t stride = stage->shape.stride;
    float part[MOST_CHANNELS], part_squares[MOST_CHANNELS];

    memset(sum, 0, stride * sizeof *sum);
    memset(squares, 0, stride * sizeof *squares);
    for (size_t row = 0; row < rows; row += ROWS_TOGETHER) {
        size_t count = rows - row < ROWS_TOGETHER ? rows - row : ROWS_TOGETHER;

        cpu_kernels()->moments(count, stride, z + row * stride, pivot, part, part_squares);
        for (size_t c = 0; c < stride; c++) {
            sum[c] += part[c];
            squares[c] += part_squares[c];
        }
    }
}

/* Joins the moments of some rows to those of the block (Chan, Golub, LeVeque 1979).  The first row
 * is the pivot, so that nothing is lost when the mean is large. */
static void block_moments(const struct stage *stage, size_t block, size_t count, const float *z)
{
    size_t stride = stage->shape.stride, rows = count * stage->shape.steps;
    double *seen = stage->moments + block * STAGE_MOMENTS * stride;
    double *mean = seen + stride, *deviation = mean + stride;
    double sum[MOST_CHANNELS], squares[MOST_CHANNELS];
    double n = (double)rows, before = seen[0], all = before + n;

    sum_moments(stage, rows, z, z, sum, squares);
    for (size_t c = 0; c < stride; c++) {
        double here = (double)z[c] + sum[c] / n, apart = here - mean[c];

        deviation[c] += squares[c] - sum[c] * sum[c] / n + apart * apart * before * n / all;
        mean[c] += apart * n / all;
        seen[c] = all;
    }
}

/* mean, rstd, scale and shift of a group with a mean for each channel. */
static void set_channel_rows(const struct stage *stage, float *rows, size_t c, double mean,
                             double rstd)
{
    double gamma = stage->gamma ? stage->gamma[c] : 1.0, beta = stage->beta ? stage->beta[c] : 0.0;

    row_of(stage, rows, STAGE_MEAN)[c] = (float)mean;
    row_of(stage, rows, STAGE_RSTD)[c] = (float)rstd;
    row_of(stage, rows, STAGE_SCALE)[c] = (float)(gamma * rstd);
    row_of(stage, rows, STAGE_SHIFT)[c] = (float)(beta - mean * gamma * rstd);
}

static void instance_moments(const struct stage *stage, size_t sample, const float *z)
{
    double sum[MOST_CHANNELS], squares[MOST_CHANNELS], n = (double)stage->shape.steps;

    sum_moments(stage, stage->shape.steps, z, z, sum, squares);
    for (size_t c = 0; c < stage->shape.stride; c++) {
        double variance = not_negative((squares[c] - sum[c] * sum[c] / n) / n);

        set_channel_rows(stage, group_rows(stage, sample), c, (double)z[c] + sum[c] / n,
                         1.0 / sqrt(variance + epsilon));
    }
}

static void layer_moments(const struct stage *stage, size_t sample, const float *z)
{
    double sum[MOST_CHANNELS], squares[MOST_CHANNELS], total = 0, total_squares = 0;
    double n = (double)(stage->shape.steps * stage->shape.channels), mean, variance, rstd;
    float pivot[MOST_CHANNELS], *rows = group_rows(stage, sample);

    for (size_t c = 0; c < stage->shape.stride; c++)
        pivot[c] = z[0];
    sum_moments(stage, stage->shape.steps, z, pivot, sum, squares);
    for (size_t c = 0; c < stage->shape.channels; c++) {
        total += sum[c];
        total_squares += squares[c];
    }
    mean = (double)z[0] + total / n;
    variance = not_negative((total_squares - total * total / n) / n);
    rstd = 1.0 / sqrt(variance + epsilon);
    fill_row(stage, rows, STAGE_MEAN, mean);
    fill_row(stage, rows, STAGE_RSTD, rstd);
    fill_row(stage, rows, STAGE_SCALE, rstd);
    fill_row(stage, rows, STAGE_SHIFT, -mean * rstd);
}

void cpu_stage_moments(const struct stage *stage, size_t block, size_t first, size_t count,
                       const float *z)
{
    size_t dense = stage->shape.steps * stage->shape.stride;

    if (!per_sample(stage) && stage->shape.input_sample == dense) {
        block_moments(stage, block, count, z);
        return;
    }
    for (size_t n = 0; n < count; n++) {
        const float *sample = z + n * stage->shape.input_sample;

        if (stage->shape.norm == NORM_INSTANCE)
            instance_moments(stage, first + n, sample);
        else if (stage->shape.norm == NORM_BATCH) /* not one after another: there is a halo */
            block_moments(stage, block, 1, sample);
        else
            layer_moments(stage, first + n, sample);
    }
}

/* All blocks joined, in order, into the rows of the batch. */
static void join_blocks(const struct stage *stage)
{
    size_t stride = stage->shape.stride;

    for (size_t c = 0; c < stride; c++) {
        double count = 0, mean = 0, deviation = 0;

        for (size_t block = 0; block < stage->blocks; block++) {
            const double *seen = stage->moments + block * STAGE_MOMENTS * stride + c;
            double n = seen[0], apart = seen[stride] - mean;

            if (n == 0)
                continue;
            deviation += seen[2 * stride] + apart * apart * count * n / (count + n);
            mean += apart * n / (count + n);
            count += n;
        }
        row_of(stage, stage->rows, STAGE_BATCH_MEAN)[c] = (float)mean;
        row_of(stage, stage->rows, STAGE_BATCH_VARIANCE)[c] =
            (float)(count > 0 ? not_negative(deviation / count) : 0.0);
    }
}

void cpu_stage_reduce(const struct stage *stage, const float *running_mean,
                      const float *running_variance)
{
    if (per_sample(stage))
        return;
    fill_row(stage, stage->rows, STAGE_MATCH_OFFSET, 0.0);
    fill_row(stage, stage->rows, STAGE_MATCH_SLOPE, 0.0);
    if (stage->measured)
        join_blocks(stage);
    for (size_t c = 0; c < stage->shape.stride; c++) {
        double mean = 0, variance = 1.0 - epsilon;

        if (stage->batch) {
            mean = row_of(stage, stage->rows, STAGE_BATCH_MEAN)[c];
            variance = row_of(stage, stage->rows, STAGE_BATCH_VARIANCE)[c];
        } else if (stage->shape.norm == NORM_BATCH && c < stage->shape.channels) {
            mean = running_mean[c];
            variance = running_variance[c];
        }
        set_channel_rows(stage, stage->rows, c, mean, 1.0 / sqrt(variance + epsilon));
    }
}

void cpu_stage_update_running(const struct stage *stage, float momentum, float *running_mean,
                              float *running_variance)
{
    double n = (double)(stage->samples * stage->shape.steps), unbiased = n > 1 ? n / (n - 1) : 1.0;

    for (size_t c = 0; c < stage->shape.channels; c++) {
        double mean = row_of(stage, stage->rows, STAGE_BATCH_MEAN)[c];
        double variance = row_of(stage, stage->rows, STAGE_BATCH_VARIANCE)[c] * unbiased;

        running_mean[c] = (float)(running_mean[c] + momentum * (mean - running_mean[c]));
        running_variance[c] =
            (float)(running_variance[c] + momentum * (variance - running_variance[c]));
    }
}

/* What gradients of the mean and the biased variance of n values add to the gradient of each,
 *     dz += dmean / n + dvariance 2 (z - mean) / n
 * as the rows that stage_backward_reduce adds to its own; z is taken from the mean in use. */
static void set_match_rows(const struct stage *stage, size_t c, double dmean, double dvariance)
{
    double n = (double)(stage->samples * stage->shape.steps), slope = dvariance * 2 / n;
    double centre = row_of(stage, stage->rows, STAGE_MEAN)[c];
    double mean = row_of(stage, stage->rows, STAGE_BATCH_MEAN)[c];

    row_of(stage, stage->rows, STAGE_MATCH_SLOPE)[c] = (float)slope;
    row_of(stage, stage->rows, STAGE_MATCH_OFFSET)[c] =
        (float)(dmean / n + slope * (centre - mean));
}

void cpu_stage_statistics_gradient(const struct stage *stage, const float *dmean,
                                   const float *dvariance)
{
    for (size_t c = 0; c < stage->shape.channels; c++)
        set_match_rows(stage, c, dmean[c], dvariance[c]);
}

void cpu_stage_match(const struct stage *stage, double weight, bool squared,
                     const float *running_mean, const float *running_variance, double *sum)
{
    const float *mean = row_of(stage, stage->rows, STAGE_BATCH_MEAN);
    const float *variance = row_of(stage, stage->rows, STAGE_BATCH_VARIANCE);
    double of_mean = 0, of_variance = 0;

    for (size_t c = 0; c < stage->shape.channels; c++) {
        double m = (double)mean[c] - running_mean[c], v = (double)variance[c] - running_variance[c];

        of_mean += m * m;
        of_variance += v * v;
    }
    for (size_t c = 0; c < stage->shape.channels; c++) {
        double m = (double)mean[c] - running_mean[c], v = (double)variance[c] - running_variance[c];
        double dmean = 2 * m, dvariance = 2 * v; /* of the squared norms */

        if (!squared) { /* the norm has no slope at 0 */
            dmean = of_mean > 0 ? m / sqrt(of_mean) : 0;
            dvariance = of_variance > 0 ? v / sqrt(of_variance) : 0;
        }
        set_match_rows(stage, c, weight * dmean, weight * dvariance);
    }
    *sum += weight * (squared ? of_mean + of_variance : sqrt(of_mean) + sqrt(of_variance));
}

/* ---- Samples ---- */

/* A call of a kernel for sample `first + n`. */
static struct stage_call stage_call(const struct stage *stage, size_t sample)
{
    return (struct stage_call){.shape = &stage->shape,
                               .rows = group_rows(stage, sample),
                               .gamma = stage->gamma,
                               .beta = stage->beta,
                               .tangent_gamma = stage->tangent_gamma,
                               .tangent_beta = stage->tangent_beta};
}

void cpu_stage_forward(const struct stage *stage, size_t first, size_t count, const float *z,
                       float *p)
{
    for (size_t n = 0; n < count; n++) {
        struct stage_call call = stage_call(stage, first + n);

        call.z = z + n * stage->shape.input_sample;
        call.p = p + n * stage->shape.output_sample;
        cpu_kernels()->stage_forward(&call);
    }
}

static void add_to_block(const struct stage *stage, size_t block, const float *sum_a,
                         const float *sum_b)
{
    size_t stride = stage->shape.stride;
    double *sums = block_sums(stage, block);

    for (size_t c = 0; c < stride; c++) {
        sums[STAGE_SUM_A * stride + c] += sum_a[c];
        sums[STAGE_SUM_B * stride + c] += sum_b[c];
    }
}

/* Sum of a row over the real channels. */
static double over_channels(const struct stage *stage, const float *row)
{
    double sum = 0;

    for (size_t c = 0; c < stage->shape.channels; c++)
        sum += row[c];
    return sum;
}

/* The total of a sum over all blocks, in order. */
static double over_blocks(const struct stage *stage, enum stage_sum which, size_t c)
{
    double total = 0;

    for (size_t block = 0; block < stage->blocks; block++)
        total += block_sums(stage, block)[which * stage->shape.stride + c];
    return total;
}

/* The rows for dz of a channel, when z takes part in its own mean. */
static void set_gradient_rows(const struct stage *stage, float *rows, size_t c, double mean_da,
                              double mean_dax, double gamma)
{
    double rstd = row_of(stage, rows, STAGE_RSTD)[c];

    row_of(stage, rows, STAGE_MEAN_DA)[c] = (float)mean_da;
    row_of(stage, rows, STAGE_MEAN_DAX)[c] = (float)mean_dax;
    row_of(stage, rows, STAGE_MEAN_GX)[c] = (float)(gamma * mean_dax);
    row_of(stage, rows, STAGE_OFFSET)[c] = (float)(-rstd * gamma * mean_da);
    row_of(stage, rows, STAGE_SLOPE)[c] = (float)(-rstd * rstd * gamma * mean_dax);
}

static void sample_gradient_rows(const struct stage *stage, size_t sample, const float *sum_a,
                                 const float *sum_b)
{
    float *rows = group_rows(stage, sample);
    double n = (double)stage->shape.steps;

    if (stage->shape.norm == NORM_INSTANCE) {
        for (size_t c = 0; c < stage->shape.stride; c++)
            set_gradient_rows(stage, rows, c, sum_a[c] / n, sum_b[c] / n, stage->gamma[c]);
    } else if (stage->shape.norm == NORM_LAYER) {
        double a = over_channels(stage, sum_a) / (n * (double)stage->shape.channels);
        double b = over_channels(stage, sum_b) / (n * (double)stage->shape.channels);

        for (size_t c = 0; c < stage->shape.stride; c++)
            set_gradient_rows(stage, rows, c, a, b, 1.0);
    }
}

void cpu_stage_backward_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                             const float *z, const float *dp, float *dgamma, float *dbeta)
{
    float sum_a[MOST_CHANNELS], sum_b[MOST_CHANNELS];

    for (size_t n = 0; n < count; n++) {
        struct stage_call call = stage_call(stage, first + n);

        call.z = z + n * stage->shape.input_sample;
        call.dp = dp + n * stage->shape.output_gradient_sample;
        call.sum_a = sum_a;
        call.sum_b = sum_b;
        call.dgamma = dgamma;
        call.dbeta = dbeta;
        cpu_kernels()->stage_backward_sums(&call);
        add_to_block(stage, block, sum_a, sum_b);
        sample_gradient_rows(stage, first + n, sum_a, sum_b);
    }
}

/* The gradients of gamma and beta of a channel, where somebody wants them. */
static void store_gradients(const struct stage *stage, size_t c, double sum_a, double sum_b,
                            float *dgamma, float *dbeta)
{
    if (dgamma && c < stage->shape.channels) {
        dgamma[c] = (float)sum_b;
        dbeta[c] = (float)sum_a;
    }
}

void cpu_stage_backward_reduce(const struct stage *stage, float *dgamma, float *dbeta)
{
    double n = (double)(stage->samples * stage->shape.steps);

    if (stage->shape.norm == NORM_LAYER)
        return;
    for (size_t c = 0; c < stage->shape.stride; c++) {
        double a = stage->summed ? over_blocks(stage, STAGE_SUM_A, c) : 0.0;
        double b = stage->summed ? over_blocks(stage, STAGE_SUM_B, c) : 0.0;

        store_gradients(stage, c, a, b, dgamma, dbeta);
        if (stage->shape.norm == NORM_INSTANCE)
            continue;
        set_gradient_rows(stage, stage->rows, c, a / n, b / n,
                          stage->batch ? (double)stage->gamma[c] : 0.0);
        row_of(stage, stage->rows, STAGE_OFFSET)[c] +=
            row_of(stage, stage->rows, STAGE_MATCH_OFFSET)[c];
        row_of(stage, stage->rows, STAGE_SLOPE)[c] +=
            row_of(stage, stage->rows, STAGE_MATCH_SLOPE)[c];
    }
}

void cpu_stage_backward(const struct stage *stage, size_t first, size_t count, const float *z,
                        const float *dp, float *dz)
{
    for (size_t n = 0; n < count; n++) {
        struct stage_call call = stage_call(stage, first + n);

        call.z = z + n * stage->shape.input_sample;
        call.dp = dp + n * stage->shape.output_gradient_sample;
        call.dz = dz + n * stage->shape.input_gradient_sample;
        cpu_kernels()->stage_backward(&call);
    }
}

/* ---- Tangents ---- */

/* The rows for Ra of a channel. */
static void set_tangent_rows(const struct stage *stage, float *rows, size_t c, double mean_rz,
                             double mean_xrz)
{
    double rstd = row_of(stage, rows, STAGE_RSTD)[c], scale = row_of(stage, rows, STAGE_SCALE)[c];
    double rgamma = 0, rbeta = 0;

    if (stage->tangent_gamma && stage->shape.norm != NORM_LAYER) {
        rgamma = stage->tangent_gamma[c];
        rbeta = stage->tangent_beta[c];
    }
    row_of(stage, rows, STAGE_TANGENT_MEAN)[c] = (float)mean_rz;
    row_of(stage, rows, STAGE_TANGENT_MEAN_X)[c] = (float)mean_xrz;
    row_of(stage, rows, STAGE_TANGENT_OFFSET)[c] = (float)(rbeta - scale * mean_rz);
    row_of(stage, rows, STAGE_TANGENT_SLOPE)[c] = (float)(rstd * (rgamma - scale * mean_xrz));
    row_of(stage, rows, STAGE_TANGENT_GAMMA_RSTD)[c] = (float)(rgamma * rstd);
}

static void sample_tangent_rows(const struct stage *stage, size_t sample, const float *sum,
                                const float *product)
{
    float *rows = group_rows(stage, sample);
    const float *rstd = row_of(stage, rows, STAGE_RSTD);
    double n = (double)stage->shape.steps;

    if (stage->shape.norm == NORM_INSTANCE) {
        for (size_t c = 0; c < stage->shape.stride; c++)
            set_tangent_rows(stage, rows, c, sum[c] / n, rstd[c] * product[c] / n);
    } else if (stage->shape.norm == NORM_LAYER) {
        double mean = over_channels(stage, sum) / (n * (double)stage->shape.channels);
        double mean_x =
            rstd[0] * over_channels(stage, product) / (n * (double)stage->shape.channels);

        for (size_t c = 0; c < stage->shape.stride; c++)
            set_tangent_rows(stage, rows, c, mean, mean_x);
    }
}

void cpu_stage_tangent_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                            const float *z, const float *rz)
{
    float sum[MOST_CHANNELS], product[MOST_CHANNELS];

    for (size_t n = 0; n < count; n++) {
        const float *rows = group_rows(stage, first + n);
        size_t at = n * stage->shape.input_sample;

        cpu_kernels()->products(stage->shape.steps, stage->shape.stride, z + at,
                                rows + STAGE_MEAN * stage->shape.stride, rz + at, sum, product);
        add_to_block(stage, block, sum, product);
        sample_tangent_rows(stage, first + n, sum, product);
    }
}

void cpu_stage_tangent_reduce(const struct stage *stage)
{
    double n = (double)(stage->samples * stage->shape.steps);

    if (per_sample(stage))
        return;
    for (size_t c = 0; c < stage->shape.stride; c++) {
        double a = 0, b = 0;

        if (stage->batch) {
            a = over_blocks(stage, STAGE_SUM_A, c) / n;
            b = row_of(stage, stage->rows, STAGE_RSTD)[c] * over_blocks(stage, STAGE_SUM_B, c) / n;
        }
        set_tangent_rows(stage, stage->rows, c, a, b);
    }
}

void cpu_stage_tangent_forward(const struct stage *stage, size_t first, size_t count,
                               const float *z, const float *rz, float *rp)
{
    for (size_t n = 0; n < count; n++) {
        struct stage_call call = stage_call(stage, first + n);

        call.z = z + n * stage->shape.input_sample;
        call.rz = rz + n * stage->shape.input_sample;
        call.p = rp + n * stage->shape.output_sample;
        cpu_kernels()->stage_tangent_forward(&call);
    }
}

/* mean(Rg) and mean(R(g xh)) of a channel from the sums of Rda and R(da xh):
 * R(gamma da) = Rgamma da + gamma Rda. */
static void set_tangent_gradient_rows(const struct stage *stage, float *rows, size_t c,
                                      double mean_rda, double mean_rdax)
{
    double gamma = stage->gamma[c];
    double rgamma = stage->tangent_gamma ? (double)stage->tangent_gamma[c] : 0.0;

    row_of(stage, rows, STAGE_TANGENT_MEAN_G)[c] =
        (float)(rgamma * row_of(stage, rows, STAGE_MEAN_DA)[c] + gamma * mean_rda);
    row_of(stage, rows, STAGE_TANGENT_MEAN_GX)[c] =
        (float)(rgamma * row_of(stage, rows, STAGE_MEAN_DAX)[c] + gamma * mean_rdax);
}

static void sample_tangent_gradient_rows(const struct stage *stage, size_t sample,
                                         const float *sum_a, const float *sum_b)
{
    float *rows = group_rows(stage, sample);
    double n = (double)stage->shape.steps;

    if (stage->shape.norm == NORM_INSTANCE) {
        for (size_t c = 0; c < stage->shape.stride; c++)
            set_tangent_gradient_rows(stage, rows, c, sum_a[c] / n, sum_b[c] / n);
    } else if (stage->shape.norm == NORM_LAYER) {
        n *= (double)stage->shape.channels;
        fill_row(stage, rows, STAGE_TANGENT_MEAN_G, over_channels(stage, sum_a) / n);
        fill_row(stage, rows, STAGE_TANGENT_MEAN_GX, over_channels(stage, sum_b) / n);
    }
}

void cpu_stage_tangent_backward_sums(const struct stage *stage, size_t block, size_t first,
                                     size_t count, const float *z, const float *rz, const float *dp,
                                     const float *rdp, float *rdgamma, float *rdbeta)
{
    float sum_a[MOST_CHANNELS], sum_b[MOST_CHANNELS];

    for (size_t n = 0; n < count; n++) {
        struct stage_call call = stage_call(stage, first + n);

        call.z = z + n * stage->shape.input_sample;
        call.rz = rz + n * stage->shape.input_sample;
        call.dp = dp + n * stage->shape.output_gradient_sample;
        call.rdp = rdp + n * stage->shape.output_gradient_sample;
        call.sum_a = sum_a;
        call.sum_b = sum_b;
        call.dgamma = rdgamma;
        call.dbeta = rdbeta;
        cpu_kernels()->stage_tangent_backward_sums(&call);
        add_to_block(stage, block, sum_a, sum_b);
        sample_tangent_gradient_rows(stage, first + n, sum_a, sum_b);
    }
}

void cpu_stage_tangent_backward_reduce(const struct stage *stage, float *rdgamma, float *rdbeta)
{
    double n = (double)(stage->samples * stage->shape.steps);

    if (stage->shape.norm == NORM_LAYER)
        return;
    for (size_t c = 0; c < stage->shape.stride; c++) {
        double a = over_blocks(stage, STAGE_SUM_A, c), b = over_blocks(stage, STAGE_SUM_B, c);

        store_gradients(stage, c, a, b, rdgamma, rdbeta);
        if (stage->batch) {
            set_tangent_gradient_rows(stage, stage->rows, c, a / n, b / n);
        } else if (stage->shape.norm != NORM_INSTANCE) {
            row_of(stage, stage->rows, STAGE_TANGENT_MEAN_G)[c] = 0;
            row_of(stage, stage->rows, STAGE_TANGENT_MEAN_GX)[c] = 0;
        }
    }
}

void cpu_stage_tangent_backward(const struct stage *stage, size_t first, size_t count,
                                const float *z, const float *rz, const float *dp, const float *rdp,
                                float *dz, float *rdz)
{
    for (size_t n = 0; n < count; n++) {
        struct stage_call call = stage_call(stage, first + n);

        call.z = z + n * stage->shape.input_sample;
        call.rz = rz + n * stage->shape.input_sample;
        call.dp = dp + n * stage->shape.output_gradient_sample;
        call.rdp = rdp + n * stage->shape.output_gradient_sample;
        call.dz = dz + n * stage->shape.input_gradient_sample;
        call.rdz = rdz + n * stage->shape.input_gradient_sample;
        cpu_kernels()->stage_tangent_backward(&call);
    }
}
