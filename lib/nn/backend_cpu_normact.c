/* Normalisation, activation and pooling on the processor: sums over samples and blocks, and
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

/* Rows that are summed in single precision before they go into a double. */
enum { ROWS_TOGETHER = 128, MOST_CHANNELS = BACKEND_MOST_CHANNELS };

static bool per_sample(const struct normact *normact)
{
    return normact->shape.norm == NORM_INSTANCE || normact->shape.norm == NORM_LAYER;
}

/* The rows of the group that a sample belongs to. */
static float *group_rows(const struct normact *normact, size_t sample)
{
    return normact->rows +
           (per_sample(normact) ? sample * NORMACT_ROWS * normact->shape.stride : 0);
}

static float *row_of(const struct normact *normact, float *rows, enum normact_row row)
{
    return rows + row * normact->shape.stride;
}

static void fill_row(const struct normact *normact, float *rows, enum normact_row row, double value)
{
    for (size_t c = 0; c < normact->shape.stride; c++)
        row_of(normact, rows, row)[c] = (float)value;
}

/* Rounding can leave a variance just below 0; NaN stays NaN. */
static double not_negative(double variance)
{
    return variance < 0 ? 0 : variance;
}

static double *block_sums(const struct normact *normact, size_t block)
{
    return normact->sums + block * NORMACT_SUMS * normact->shape.stride;
}

/* ---- Moments ---- */

/* Sums of d = z - pivot and d * d over rows, each channel in double precision. */
static void sum_moments(const struct normact *normact, size_t rows, const float *z,
                        const float *pivot, double *sum, double *squares)
{
    size_t stride = normact->shape.stride;
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
static void block_moments(const struct normact *normact, size_t block, size_t count, const float *z)
{
    size_t stride = normact->shape.stride, rows = count * normact->shape.steps;
    double *moments = normact->moments + block * NORMACT_MOMENTS * stride;
    double *seen = moments + NORMACT_COUNT * stride;
    double *mean = moments + NORMACT_BLOCK_MEAN * stride;
    double *deviation = moments + NORMACT_BLOCK_SQUARES * stride;
    double sum[MOST_CHANNELS], squares[MOST_CHANNELS];
    double n = (double)rows, before = seen[0], all = before + n;

    sum_moments(normact, rows, z, z, sum, squares);
    for (size_t c = 0; c < stride; c++) {
        double here = (double)z[c] + sum[c] / n, delta = here - mean[c];

        deviation[c] += squares[c] - sum[c] * sum[c] / n + delta * delta * before * n / all;
        mean[c] += delta * n / all;
        seen[c] = all;
    }
}

/* mean, rstd, scale and shift of a group with a mean for each channel. */
static void set_channel_rows(const struct normact *normact, float *rows, size_t c, double mean,
                             double rstd)
{
    double gamma = normact->gamma ? normact->gamma[c] : 1.0,
           beta = normact->beta ? normact->beta[c] : 0.0;

    row_of(normact, rows, NORMACT_MEAN)[c] = (float)mean;
    row_of(normact, rows, NORMACT_RSTD)[c] = (float)rstd;
    row_of(normact, rows, NORMACT_SCALE)[c] = (float)(gamma * rstd);
    row_of(normact, rows, NORMACT_SHIFT)[c] = (float)(beta - mean * gamma * rstd);
}

static void instance_moments(const struct normact *normact, size_t sample, const float *z)
{
    double sum[MOST_CHANNELS], squares[MOST_CHANNELS], n = (double)normact->shape.steps;

    sum_moments(normact, normact->shape.steps, z, z, sum, squares);
    for (size_t c = 0; c < normact->shape.stride; c++) {
        double variance = not_negative((squares[c] - sum[c] * sum[c] / n) / n);

        set_channel_rows(normact, group_rows(normact, sample), c, (double)z[c] + sum[c] / n,
                         1.0 / sqrt(variance + BACKEND_EPSILON));
    }
}

static void layer_moments(const struct normact *normact, size_t sample, const float *z)
{
    double sum[MOST_CHANNELS], squares[MOST_CHANNELS], total = 0, total_squares = 0;
    double n = (double)(normact->shape.steps * normact->shape.channels), mean, variance, rstd;
    float pivot[MOST_CHANNELS], *rows = group_rows(normact, sample);

    for (size_t c = 0; c < normact->shape.stride; c++)
        pivot[c] = z[0];
    sum_moments(normact, normact->shape.steps, z, pivot, sum, squares);
    for (size_t c = 0; c < normact->shape.channels; c++) {
        total += sum[c];
        total_squares += squares[c];
    }
    mean = (double)z[0] + total / n;
    variance = not_negative((total_squares - total * total / n) / n);
    rstd = 1.0 / sqrt(variance + BACKEND_EPSILON);
    fill_row(normact, rows, NORMACT_MEAN, mean);
    fill_row(normact, rows, NORMACT_RSTD, rstd);
    fill_row(normact, rows, NORMACT_SCALE, rstd);
    fill_row(normact, rows, NORMACT_SHIFT, -mean * rstd);
}

void cpu_normact_moments(const struct normact *normact, size_t block, size_t first, size_t count,
                         const float *z)
{
    size_t dense = normact->shape.steps * normact->shape.stride;

    if (!per_sample(normact) && normact->shape.input_sample == dense) {
        block_moments(normact, block, count, z);
        return;
    }
    for (size_t n = 0; n < count; n++) {
        const float *sample = z + n * normact->shape.input_sample;

        if (normact->shape.norm == NORM_INSTANCE)
            instance_moments(normact, first + n, sample);
        else if (normact->shape.norm == NORM_BATCH) /* not one after another: there is a halo */
            block_moments(normact, block, 1, sample);
        else
            layer_moments(normact, first + n, sample);
    }
}

/* All blocks joined, in order, into the rows of the batch. */
static void join_blocks(const struct normact *normact)
{
    size_t stride = normact->shape.stride;

    for (size_t c = 0; c < stride; c++) {
        double count = 0, mean = 0, deviation = 0;

        for (size_t block = 0; block < normact->blocks; block++) {
            const double *seen = normact->moments + block * NORMACT_MOMENTS * stride + c;
            double n = seen[NORMACT_COUNT * stride];
            double delta = seen[NORMACT_BLOCK_MEAN * stride] - mean;

            if (n == 0)
                continue;
            deviation +=
                seen[NORMACT_BLOCK_SQUARES * stride] + delta * delta * count * n / (count + n);
            mean += delta * n / (count + n);
            count += n;
        }
        row_of(normact, normact->rows, NORMACT_BATCH_MEAN)[c] = (float)mean;
        row_of(normact, normact->rows, NORMACT_BATCH_VARIANCE)[c] =
            (float)(count > 0 ? not_negative(deviation / count) : 0.0);
    }
}

void cpu_normact_reduce(const struct normact *normact, const float *running_mean,
                        const float *running_variance)
{
    if (per_sample(normact))
        return;
    fill_row(normact, normact->rows, NORMACT_MATCH_OFFSET, 0.0);
    fill_row(normact, normact->rows, NORMACT_MATCH_SLOPE, 0.0);
    if (normact->measured)
        join_blocks(normact);
    for (size_t c = 0; c < normact->shape.stride; c++) {
        double mean = 0, variance = 1.0 - BACKEND_EPSILON;

        if (normact->batch) {
            mean = row_of(normact, normact->rows, NORMACT_BATCH_MEAN)[c];
            variance = row_of(normact, normact->rows, NORMACT_BATCH_VARIANCE)[c];
        } else if (normact->shape.norm == NORM_BATCH && c < normact->shape.channels) {
            mean = running_mean[c];
            variance = running_variance[c];
        }
        set_channel_rows(normact, normact->rows, c, mean, 1.0 / sqrt(variance + BACKEND_EPSILON));
    }
}

void cpu_normact_update_running(const struct normact *normact, float momentum, float *running_mean,
                                float *running_variance)
{
    double n = (double)(normact->samples * normact->shape.steps),
           unbiased = n > 1 ? n / (n - 1) : 1.0;

    for (size_t c = 0; c < normact->shape.channels; c++) {
        double mean = row_of(normact, normact->rows, NORMACT_BATCH_MEAN)[c];
        double variance = row_of(normact, normact->rows, NORMACT_BATCH_VARIANCE)[c] * unbiased;

        running_mean[c] = (float)(running_mean[c] + momentum * (mean - running_mean[c]));
        running_variance[c] =
            (float)(running_variance[c] + momentum * (variance - running_variance[c]));
    }
}

/* What gradients of the mean and the biased variance of n values add to the gradient of each,
 *     dz += dmean / n + dvariance 2 (z - mean) / n
 * as the rows that normact_backward_reduce adds to its own; z is taken from the mean in use. */
static void set_match_rows(const struct normact *normact, size_t c, double dmean, double dvariance)
{
    double n = (double)(normact->samples * normact->shape.steps), slope = dvariance * 2 / n;
    double centre = row_of(normact, normact->rows, NORMACT_MEAN)[c];
    double mean = row_of(normact, normact->rows, NORMACT_BATCH_MEAN)[c];

    row_of(normact, normact->rows, NORMACT_MATCH_SLOPE)[c] = (float)slope;
    row_of(normact, normact->rows, NORMACT_MATCH_OFFSET)[c] =
        (float)(dmean / n + slope * (centre - mean));
}

void cpu_normact_statistics_gradient(const struct normact *normact, const float *dmean,
                                     const float *dvariance)
{
    for (size_t c = 0; c < normact->shape.channels; c++)
        set_match_rows(normact, c, dmean[c], dvariance[c]);
}

void cpu_normact_match(const struct normact *normact, double weight, bool squared,
                       const float *running_mean, const float *running_variance, double *sum)
{
    const float *mean = row_of(normact, normact->rows, NORMACT_BATCH_MEAN);
    const float *variance = row_of(normact, normact->rows, NORMACT_BATCH_VARIANCE);
    double of_mean = 0, of_variance = 0;

    for (size_t c = 0; c < normact->shape.channels; c++) {
        double m = (double)mean[c] - running_mean[c], v = (double)variance[c] - running_variance[c];

        of_mean += m * m;
        of_variance += v * v;
    }
    for (size_t c = 0; c < normact->shape.channels; c++) {
        double m = (double)mean[c] - running_mean[c], v = (double)variance[c] - running_variance[c];
        double dmean = 2 * m, dvariance = 2 * v; /* of the squared norms */

        if (!squared) { /* the norm has no slope at 0 */
            dmean = of_mean > 0 ? m / sqrt(of_mean) : 0;
            dvariance = of_variance > 0 ? v / sqrt(of_variance) : 0;
        }
        set_match_rows(normact, c, weight * dmean, weight * dvariance);
    }
    *sum += weight * (squared ? of_mean + of_variance : sqrt(of_mean) + sqrt(of_variance));
}

/* ---- Samples ---- */

/* A call of a kernel for sample `first + n`. */
static struct normact_call normact_call(const struct normact *normact, size_t sample)
{
    return (struct normact_call){.shape = &normact->shape,
                                 .rows = group_rows(normact, sample),
                                 .gamma = normact->gamma,
                                 .beta = normact->beta,
                                 .tangent_gamma = normact->tangent_gamma,
                                 .tangent_beta = normact->tangent_beta};
}

void cpu_normact_forward(const struct normact *normact, size_t first, size_t count, const float *z,
                         float *p)
{
    for (size_t n = 0; n < count; n++) {
        struct normact_call call = normact_call(normact, first + n);

        call.z = z + n * normact->shape.input_sample;
        call.p = p + n * normact->shape.output_sample;
        cpu_kernels()->normact_forward(&call);
    }
}

static void add_to_block(const struct normact *normact, size_t block, const float *sum_a,
                         const float *sum_b)
{
    size_t stride = normact->shape.stride;
    double *sums = block_sums(normact, block);

    for (size_t c = 0; c < stride; c++) {
        sums[NORMACT_SUM_A * stride + c] += sum_a[c];
        sums[NORMACT_SUM_B * stride + c] += sum_b[c];
    }
}

/* Sum of a row over the real channels. */
static double over_channels(const struct normact *normact, const float *row)
{
    double sum = 0;

    for (size_t c = 0; c < normact->shape.channels; c++)
        sum += row[c];
    return sum;
}

/* The total of a sum over all blocks, in order. */
static double over_blocks(const struct normact *normact, enum normact_sum which, size_t c)
{
    double total = 0;

    for (size_t block = 0; block < normact->blocks; block++)
        total += block_sums(normact, block)[which * normact->shape.stride + c];
    return total;
}

/* The rows for dz of a channel, when z takes part in its own mean. */
static void set_gradient_rows(const struct normact *normact, float *rows, size_t c, double mean_da,
                              double mean_dax, double gamma)
{
    double rstd = row_of(normact, rows, NORMACT_RSTD)[c];

    row_of(normact, rows, NORMACT_MEAN_DA)[c] = (float)mean_da;
    row_of(normact, rows, NORMACT_MEAN_DAX)[c] = (float)mean_dax;
    row_of(normact, rows, NORMACT_MEAN_GX)[c] = (float)(gamma * mean_dax);
    row_of(normact, rows, NORMACT_OFFSET)[c] = (float)(-rstd * gamma * mean_da);
    row_of(normact, rows, NORMACT_SLOPE)[c] = (float)(-rstd * rstd * gamma * mean_dax);
}

static void sample_gradient_rows(const struct normact *normact, size_t sample, const float *sum_a,
                                 const float *sum_b)
{
    float *rows = group_rows(normact, sample);
    double n = (double)normact->shape.steps;

    if (normact->shape.norm == NORM_INSTANCE) {
        for (size_t c = 0; c < normact->shape.stride; c++)
            set_gradient_rows(normact, rows, c, sum_a[c] / n, sum_b[c] / n, normact->gamma[c]);
    } else if (normact->shape.norm == NORM_LAYER) {
        double a = over_channels(normact, sum_a) / (n * (double)normact->shape.channels);
        double b = over_channels(normact, sum_b) / (n * (double)normact->shape.channels);

        for (size_t c = 0; c < normact->shape.stride; c++)
            set_gradient_rows(normact, rows, c, a, b, 1.0);
    }
}

void cpu_normact_backward_sums(const struct normact *normact, size_t block, size_t first,
                               size_t count, const float *z, const float *dp, float *dgamma,
                               float *dbeta)
{
    float sum_a[MOST_CHANNELS], sum_b[MOST_CHANNELS];

    for (size_t n = 0; n < count; n++) {
        struct normact_call call = normact_call(normact, first + n);

        call.z = z + n * normact->shape.input_sample;
        call.dp = dp + n * normact->shape.output_gradient_sample;
        call.sum_a = sum_a;
        call.sum_b = sum_b;
        call.dgamma = dgamma;
        call.dbeta = dbeta;
        cpu_kernels()->normact_backward_sums(&call);
        add_to_block(normact, block, sum_a, sum_b);
        sample_gradient_rows(normact, first + n, sum_a, sum_b);
    }
}

/* The gradients of gamma and beta of a channel, where they are needed. */
static void store_gradients(const struct normact *normact, size_t c, double sum_a, double sum_b,
                            float *dgamma, float *dbeta)
{
    if (dgamma && c < normact->shape.channels) {
        dgamma[c] = (float)sum_b;
        dbeta[c] = (float)sum_a;
    }
}

void cpu_normact_backward_reduce(const struct normact *normact, float *dgamma, float *dbeta)
{
    double n = (double)(normact->samples * normact->shape.steps);

    if (normact->shape.norm == NORM_LAYER)
        return;
    for (size_t c = 0; c < normact->shape.stride; c++) {
        double a = normact->summed ? over_blocks(normact, NORMACT_SUM_A, c) : 0.0;
        double b = normact->summed ? over_blocks(normact, NORMACT_SUM_B, c) : 0.0;

        store_gradients(normact, c, a, b, dgamma, dbeta);
        if (normact->shape.norm == NORM_INSTANCE)
            continue;
        set_gradient_rows(normact, normact->rows, c, a / n, b / n,
                          normact->batch ? (double)normact->gamma[c] : 0.0);
        row_of(normact, normact->rows, NORMACT_OFFSET)[c] +=
            row_of(normact, normact->rows, NORMACT_MATCH_OFFSET)[c];
        row_of(normact, normact->rows, NORMACT_SLOPE)[c] +=
            row_of(normact, normact->rows, NORMACT_MATCH_SLOPE)[c];
    }
}

void cpu_normact_backward(const struct normact *normact, size_t first, size_t count, const float *z,
                          const float *dp, float *dz)
{
    for (size_t n = 0; n < count; n++) {
        struct normact_call call = normact_call(normact, first + n);

        call.z = z + n * normact->shape.input_sample;
        call.dp = dp + n * normact->shape.output_gradient_sample;
        call.dz = dz + n * normact->shape.input_gradient_sample;
        cpu_kernels()->normact_backward(&call);
    }
}

/* ---- Tangents ---- */

/* The rows for Ra of a channel. */
static void set_tangent_rows(const struct normact *normact, float *rows, size_t c, double mean_rz,
                             double mean_xrz)
{
    double rstd = row_of(normact, rows, NORMACT_RSTD)[c],
           scale = row_of(normact, rows, NORMACT_SCALE)[c];
    double rgamma = 0, rbeta = 0;

    if (normact->tangent_gamma && normact->shape.norm != NORM_LAYER) {
        rgamma = normact->tangent_gamma[c];
        rbeta = normact->tangent_beta[c];
    }
    row_of(normact, rows, NORMACT_TANGENT_MEAN)[c] = (float)mean_rz;
    row_of(normact, rows, NORMACT_TANGENT_MEAN_X)[c] = (float)mean_xrz;
    row_of(normact, rows, NORMACT_TANGENT_OFFSET)[c] = (float)(rbeta - scale * mean_rz);
    row_of(normact, rows, NORMACT_TANGENT_SLOPE)[c] = (float)(rstd * (rgamma - scale * mean_xrz));
    row_of(normact, rows, NORMACT_TANGENT_GAMMA_RSTD)[c] = (float)(rgamma * rstd);
}

static void sample_tangent_rows(const struct normact *normact, size_t sample, const float *sum,
                                const float *product)
{
    float *rows = group_rows(normact, sample);
    const float *rstd = row_of(normact, rows, NORMACT_RSTD);
    double n = (double)normact->shape.steps;

    if (normact->shape.norm == NORM_INSTANCE) {
        for (size_t c = 0; c < normact->shape.stride; c++)
            set_tangent_rows(normact, rows, c, sum[c] / n, rstd[c] * product[c] / n);
    } else if (normact->shape.norm == NORM_LAYER) {
        double mean = over_channels(normact, sum) / (n * (double)normact->shape.channels);
        double mean_x =
            rstd[0] * over_channels(normact, product) / (n * (double)normact->shape.channels);

        for (size_t c = 0; c < normact->shape.stride; c++)
            set_tangent_rows(normact, rows, c, mean, mean_x);
    }
}

void cpu_normact_tangent_sums(const struct normact *normact, size_t block, size_t first,
                              size_t count, const float *z, const float *rz)
{
    float sum[MOST_CHANNELS], product[MOST_CHANNELS];

    for (size_t n = 0; n < count; n++) {
        const float *rows = group_rows(normact, first + n);
        size_t at = n * normact->shape.input_sample;

        cpu_kernels()->products(normact->shape.steps, normact->shape.stride, z + at,
                                rows + NORMACT_MEAN * normact->shape.stride, rz + at, sum, product);
        add_to_block(normact, block, sum, product);
        sample_tangent_rows(normact, first + n, sum, product);
    }
}

void cpu_normact_tangent_reduce(const struct normact *normact)
{
    double n = (double)(normact->samples * normact->shape.steps);

    if (per_sample(normact))
        return;
    for (size_t c = 0; c < normact->shape.stride; c++) {
        double a = 0, b = 0;

        if (normact->batch) {
            a = over_blocks(normact, NORMACT_SUM_A, c) / n;
            b = row_of(normact, normact->rows, NORMACT_RSTD)[c] *
                over_blocks(normact, NORMACT_SUM_B, c) / n;
        }
        set_tangent_rows(normact, normact->rows, c, a, b);
    }
}

void cpu_normact_tangent_forward(const struct normact *normact, size_t first, size_t count,
                                 const float *z, const float *rz, float *rp)
{
    for (size_t n = 0; n < count; n++) {
        struct normact_call call = normact_call(normact, first + n);

        call.z = z + n * normact->shape.input_sample;
        call.rz = rz + n * normact->shape.input_sample;
        call.p = rp + n * normact->shape.output_sample;
        cpu_kernels()->normact_tangent_forward(&call);
    }
}

/* mean(Rg) and mean(R(g xh)) of a channel from the sums of Rda and R(da xh):
 * R(gamma da) = Rgamma da + gamma Rda. */
static void set_tangent_gradient_rows(const struct normact *normact, float *rows, size_t c,
                                      double mean_rda, double mean_rdax)
{
    double gamma = normact->gamma[c];
    double rgamma = normact->tangent_gamma ? (double)normact->tangent_gamma[c] : 0.0;

    row_of(normact, rows, NORMACT_TANGENT_MEAN_G)[c] =
        (float)(rgamma * row_of(normact, rows, NORMACT_MEAN_DA)[c] + gamma * mean_rda);
    row_of(normact, rows, NORMACT_TANGENT_MEAN_GX)[c] =
        (float)(rgamma * row_of(normact, rows, NORMACT_MEAN_DAX)[c] + gamma * mean_rdax);
}

static void sample_tangent_gradient_rows(const struct normact *normact, size_t sample,
                                         const float *sum_a, const float *sum_b)
{
    float *rows = group_rows(normact, sample);
    double n = (double)normact->shape.steps;

    if (normact->shape.norm == NORM_INSTANCE) {
        for (size_t c = 0; c < normact->shape.stride; c++)
            set_tangent_gradient_rows(normact, rows, c, sum_a[c] / n, sum_b[c] / n);
    } else if (normact->shape.norm == NORM_LAYER) {
        n *= (double)normact->shape.channels;
        fill_row(normact, rows, NORMACT_TANGENT_MEAN_G, over_channels(normact, sum_a) / n);
        fill_row(normact, rows, NORMACT_TANGENT_MEAN_GX, over_channels(normact, sum_b) / n);
    }
}

void cpu_normact_tangent_backward_sums(const struct normact *normact, size_t block, size_t first,
                                       size_t count, const float *z, const float *rz,
                                       const float *dp, const float *rdp, float *rdgamma,
                                       float *rdbeta)
{
    float sum_a[MOST_CHANNELS], sum_b[MOST_CHANNELS];

    for (size_t n = 0; n < count; n++) {
        struct normact_call call = normact_call(normact, first + n);

        call.z = z + n * normact->shape.input_sample;
        call.rz = rz + n * normact->shape.input_sample;
        call.dp = dp + n * normact->shape.output_gradient_sample;
        call.rdp = rdp + n * normact->shape.output_gradient_sample;
        call.sum_a = sum_a;
        call.sum_b = sum_b;
        call.dgamma = rdgamma;
        call.dbeta = rdbeta;
        cpu_kernels()->normact_tangent_backward_sums(&call);
        add_to_block(normact, block, sum_a, sum_b);
        sample_tangent_gradient_rows(normact, first + n, sum_a, sum_b);
    }
}

void cpu_normact_tangent_backward_reduce(const struct normact *normact, float *rdgamma,
                                         float *rdbeta)
{
    double n = (double)(normact->samples * normact->shape.steps);

    if (normact->shape.norm == NORM_LAYER)
        return;
    for (size_t c = 0; c < normact->shape.stride; c++) {
        double a = over_blocks(normact, NORMACT_SUM_A, c),
               b = over_blocks(normact, NORMACT_SUM_B, c);

        store_gradients(normact, c, a, b, rdgamma, rdbeta);
        if (normact->batch) {
            set_tangent_gradient_rows(normact, normact->rows, c, a / n, b / n);
        } else if (normact->shape.norm != NORM_INSTANCE) {
            row_of(normact, normact->rows, NORMACT_TANGENT_MEAN_G)[c] = 0;
            row_of(normact, normact->rows, NORMACT_TANGENT_MEAN_GX)[c] = 0;
        }
    }
}

void cpu_normact_tangent_backward(const struct normact *normact, size_t first, size_t count,
                                  const float *z, const float *rz, const float *dp,
                                  const float *rdp, float *dz, float *rdz)
{
    for (size_t n = 0; n < count; n++) {
        struct normact_call call = normact_call(normact, first + n);

        call.z = z + n * normact->shape.input_sample;
        call.rz = rz + n * normact->shape.input_sample;
        call.dp = dp + n * normact->shape.output_gradient_sample;
        call.rdp = rdp + n * normact->shape.output_gradient_sample;
        call.dz = dz + n * normact->shape.input_gradient_sample;
        call.rdz = rdz + n * normact->shape.input_gradient_sample;
        cpu_kernels()->normact_tangent_backward(&call);
    }
}
