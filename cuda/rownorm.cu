/* Normalisation of every step over its channels (lib/nn/kernels_rownorm.h has the formulas), a
 * thread for each step; and masks of dropout, a thread for each counter of Philox. */
#include "plugin.h"

extern "C" {
#include "base/random.h"
}

/* ---- Kernels: normalisation ---- */

struct moments {
    double mean, rstd;
};

DEVICE struct moments moments_of(size_t channels, const float *z)
{
    double sum = 0, squares = 0, mean;

    for (size_t c = 0; c < channels; c++)
        sum += z[c];
    mean = sum / (double)channels;
    for (size_t c = 0; c < channels; c++)
        squares += (z[c] - mean) * (z[c] - mean);
    return {mean, 1.0 / sqrt(squares / (double)channels + BACKEND_EPSILON)};
}

/* Means of Rz and xh Rz, for Rxh = rstd (Rz - mean(Rz) - xh mean(xh Rz)). */
struct means {
    double a, b;
};

DEVICE struct means tangent_means(size_t channels, struct moments m, const float *z,
                                  const float *rz)
{
    double sum = 0, sum_x = 0;

    for (size_t c = 0; c < channels; c++) {
        sum += rz[c];
        sum_x += rz[c] * ((z[c] - m.mean) * m.rstd);
    }
    return {sum / (double)channels, sum_x / (double)channels};
}

/* Where step i % steps of sample i / steps is. */
DEVICE size_t place(const struct rownorm_shape *shape, size_t i, size_t sample)
{
    return i / shape->steps * sample + i % shape->steps * shape->stride;
}

KERNEL rownorm_kernel(struct rownorm norm, size_t rows, const float *in, float *out)
{
    THREADS
    {
        for (EACH(i, rows)) {
            const float *z = in + place(&norm.shape, i, norm.shape.input_sample);
            float *y = out + place(&norm.shape, i, norm.shape.output_sample);
            struct moments m = moments_of(norm.shape.channels, z);

            for (size_t c = 0; c < norm.shape.channels; c++)
                y[c] = (float)((z[c] - m.mean) * m.rstd * norm.gamma[c] + norm.beta[c]);
        }
    }
}

/* The gradients of gamma and beta of each row go to dgamma and dbeta (rows, stride), if not
 * NULL. */
KERNEL rownorm_backward_kernel(struct rownorm norm, size_t rows, const float *in, const float *dout,
                               float *din, float *dgamma, float *dbeta)
{
    THREADS
    {
        for (EACH(i, rows)) {
            size_t channels = norm.shape.channels, stride = norm.shape.stride;
            const float *z = in + place(&norm.shape, i, norm.shape.input_sample);
            const float *dy = dout + place(&norm.shape, i, norm.shape.output_gradient_sample);
            float *dz = din + place(&norm.shape, i, norm.shape.input_gradient_sample);
            struct moments m = moments_of(channels, z);
            double sum = 0, sum_x = 0;

            for (size_t c = 0; c < channels; c++) {
                double xh = (z[c] - m.mean) * m.rstd, g = (double)norm.gamma[c] * dy[c];

                sum += g;
                sum_x += g * xh;
            }
            for (size_t c = 0; c < stride; c++) {
                double xh = (z[c] - m.mean) * m.rstd, g = (double)norm.gamma[c] * dy[c];
                bool real = c < channels;

                if (dgamma) {
                    dgamma[i * stride + c] = real ? (float)(dy[c] * xh) : 0.0f;
                    dbeta[i * stride + c] = real ? dy[c] : 0.0f;
                }
                dz[c] = real ? (float)(m.rstd * (g - (sum + xh * sum_x) / (double)channels)) : 0.0f;
            }
        }
    }
}

KERNEL rownorm_tangent_kernel(struct rownorm norm, size_t rows, const float *in, const float *rin,
                              float *rout)
{
    THREADS
    {
        for (EACH(i, rows)) {
            size_t at = place(&norm.shape, i, norm.shape.input_sample);
            const float *z = in + at, *rz = rin + at;
            float *ry = rout + place(&norm.shape, i, norm.shape.output_sample);
            struct moments m = moments_of(norm.shape.channels, z);
            struct means t = tangent_means(norm.shape.channels, m, z, rz);

            for (size_t c = 0; c < norm.shape.channels; c++) {
                double xh = (z[c] - m.mean) * m.rstd, rxh = m.rstd * (rz[c] - t.a - xh * t.b);

                ry[c] = (float)(norm.gamma[c] * rxh + norm.tangent_gamma[c] * xh +
                                norm.tangent_beta[c]);
            }
        }
    }
}

KERNEL rownorm_tangent_backward_kernel(struct rownorm norm, size_t rows, const float *in,
                                       const float *rin, const float *dout, const float *rdout,
                                       float *rdin, float *rdgamma, float *rdbeta)
{
    THREADS
    {
        for (EACH(i, rows)) {
            size_t channels = norm.shape.channels, stride = norm.shape.stride;
            size_t at = place(&norm.shape, i, norm.shape.input_sample);
            size_t to = place(&norm.shape, i, norm.shape.output_gradient_sample);
            const float *z = in + at, *rz = rin + at, *dy = dout + to, *rdy = rdout + to;
            float *rdz = rdin + place(&norm.shape, i, norm.shape.input_gradient_sample);
            struct moments m = moments_of(channels, z);
            struct means t = tangent_means(channels, m, z, rz);
            double share = 1.0 / (double)channels, g_sum = 0, gx_sum = 0, rg_sum = 0, rgx_sum = 0;

            for (size_t c = 0; c < channels; c++) {
                double xh = (z[c] - m.mean) * m.rstd, rxh = m.rstd * (rz[c] - t.a - xh * t.b);
                double g = (double)norm.gamma[c] * dy[c];
                double rg = (double)norm.gamma[c] * rdy[c] + (double)norm.tangent_gamma[c] * dy[c];

                g_sum += g;
                gx_sum += g * xh;
                rg_sum += rg;
                rgx_sum += rg * xh + g * rxh;
            }
            for (size_t c = 0; c < stride; c++) {
                double xh = (z[c] - m.mean) * m.rstd, rxh = m.rstd * (rz[c] - t.a - xh * t.b);
                double dz =
                    m.rstd * (norm.gamma[c] * dy[c] - g_sum * share - xh * (gx_sum * share));
                double rg = (double)norm.gamma[c] * rdy[c] + (double)norm.tangent_gamma[c] * dy[c];
                bool real = c < channels;

                if (rdgamma) {
                    rdgamma[i * stride + c] = real ? (float)(rdy[c] * xh + dy[c] * rxh) : 0.0f;
                    rdbeta[i * stride + c] = real ? rdy[c] : 0.0f;
                }
                rdz[c] = real ? (float)(m.rstd * (rg - rg_sum * share - rxh * (gx_sum * share) -
                                                  xh * (rgx_sum * share) - t.b * dz))
                              : 0.0f;
            }
        }
    }
}

/* ---- Kernels: dropout ---- */

enum { GROUP = 32, COUNTERS = 8 };

struct philox {
    uint32_t key[2], counter[4];
};

/* Ten rounds, in place. */
DEVICE void philox_rounds(struct philox *p)
{
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)p->counter[0] * 0xD2511F53u;
        uint64_t b = (uint64_t)p->counter[2] * 0xCD9E8D57u;

        p->counter[0] = (uint32_t)(b >> 32) ^ p->counter[1] ^ p->key[0];
        p->counter[1] = (uint32_t)b;
        p->counter[2] = (uint32_t)(a >> 32) ^ p->counter[3] ^ p->key[1];
        p->counter[3] = (uint32_t)a;
        p->key[0] += 0x9E3779B9u;
        p->key[1] += 0xBB67AE85u;
    }
}

/* Rows from number `first_row` of samples from number `first`; a row has counters for whole
 * groups, each of which decides about four columns. */
KERNEL dropout_kernel(struct dropout_mask mask, uint32_t threshold, size_t first, size_t count,
                      size_t first_row, size_t rows, size_t columns, const float *in,
                      size_t in_sample, float *out, size_t out_sample)
{
    THREADS
    {
        size_t groups = (columns + GROUP - 1) / GROUP;
        size_t step = mask.dropout.step + (mask.dropout.more ? *mask.dropout.more : 0);
        float scale = 1.0f / (1.0f - mask.rate);

        for (EACH_PLANE(n, count))
            for (EACH_ROW(row, rows))
                for (EACH(i, groups * COUNTERS)) {
                    struct philox p = {
                        {(uint32_t)mask.dropout.key, (uint32_t)(mask.dropout.key >> 32)},
                        {(uint32_t)((first_row + row) * groups * COUNTERS + i),
                         RANDOM_DROPOUT + 256 * mask.layer, (uint32_t)(first + n), (uint32_t)step}};

                    philox_rounds(&p);
                    for (int word = 0; word < 4; word++) {
                        size_t c = i / COUNTERS * GROUP + (size_t)word * COUNTERS + i % COUNTERS;
                        size_t at = row * columns + c;

                        if (c < columns)
                            out[n * out_sample + at] =
                                in[n * in_sample + at] *
                                (p.counter[word] >= threshold ? scale : 0.0f);
                    }
                }
    }
}

/* ---- Functions ---- */

static void forward(const struct rownorm *rownorm, size_t count, const float *z, float *y)
{
    size_t rows = count * rownorm->shape.steps;

    LAUNCH(rownorm_kernel, along(rows), LINE, *rownorm, rows, z, y);
}

/* Scratch memory for the gradients of gamma and beta of each row; NULL if there is none, or if
 * nobody wants them. */
struct row_gradients {
    float *gamma, *beta;
};

static struct row_gradients row_gradients(const struct rownorm *rownorm, size_t rows,
                                          const float *wanted)
{
    size_t bytes = rows * rownorm->shape.stride * sizeof(float);
    struct row_gradients rows_of = {};

    if (wanted) {
        rows_of.gamma = (float *)cuda_scratch(SCRATCH_INPUT, bytes);
        rows_of.beta = (float *)cuda_scratch(SCRATCH_OUTPUT, bytes);
    }
    return rows_of;
}

static void add_up(const struct rownorm *rownorm, size_t rows, struct row_gradients from, float *to)
{
    size_t stride = rownorm->shape.stride;

    if (!to || !from.gamma || !from.beta)
        return;
    cuda_add_columns(rows, stride, from.gamma, to);
    cuda_add_columns(rows, stride, from.beta, to + stride);
}

static void backward(const struct rownorm *rownorm, size_t count, const float *z, const float *dy,
                     float *dz, float *dparameters)
{
    size_t rows = count * rownorm->shape.steps;
    struct row_gradients d = row_gradients(rownorm, rows, dparameters);

    if (dparameters && (!d.gamma || !d.beta))
        return;
    LAUNCH(rownorm_backward_kernel, along(rows), LINE, *rownorm, rows, z, dy, dz, d.gamma, d.beta);
    add_up(rownorm, rows, d, dparameters);
}

static void tangent_forward(const struct rownorm *rownorm, size_t count, const float *z,
                            const float *rz, float *ry)
{
    size_t rows = count * rownorm->shape.steps;

    LAUNCH(rownorm_tangent_kernel, along(rows), LINE, *rownorm, rows, z, rz, ry);
}

static void tangent_backward(const struct rownorm *rownorm, size_t count, const float *z,
                             const float *rz, const float *dy, const float *rdy, float *rdz,
                             float *rdparameters)
{
    size_t rows = count * rownorm->shape.steps;
    struct row_gradients d = row_gradients(rownorm, rows, rdparameters);

    if (rdparameters && (!d.gamma || !d.beta))
        return;
    LAUNCH(rownorm_tangent_backward_kernel, along(rows), LINE, *rownorm, rows, z, rz, dy, rdy, rdz,
           d.gamma, d.beta);
    add_up(rownorm, rows, d, rdparameters);
}

void cuda_dropout_rows(const struct dropout_mask *mask, size_t first, size_t count,
                       size_t first_row, size_t rows, size_t columns, const float *in,
                       size_t in_sample, float *out, size_t out_sample)
{
    size_t counters = (columns + GROUP - 1) / GROUP * COUNTERS;

    LAUNCH(dropout_kernel, across(counters, rows, count), dim3(WIDE, HIGH), *mask,
           (uint32_t)((double)mask->rate * 0x1p32), first, count, first_row, rows, columns, in,
           in_sample, out, out_sample);
}

static void dropout(const struct dropout_mask *mask, size_t first, size_t count, size_t rows,
                    size_t columns, const float *in, size_t in_sample, float *out,
                    size_t out_sample)
{
    cuda_dropout_rows(mask, first, count, 0, rows, columns, in, in_sample, out, out_sample);
}

void cuda_fill_rownorm(struct backend *backend)
{
    backend->dropout = dropout;
    backend->rownorm_forward = forward;
    backend->rownorm_backward = backward;
    backend->rownorm_tangent_forward = tangent_forward;
    backend->rownorm_tangent_backward = tangent_backward;
}
