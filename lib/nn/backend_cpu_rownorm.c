/* Normalisation of every step over its channels, and dropout, on the processor. */
#include "base/random.h"
#include "nn/backend_cpu.h"

/* ---- Normalisation ---- */

void cpu_rownorm_forward(const struct rownorm *rownorm, size_t count, const float *z, float *y)
{
    const struct rownorm_shape *shape = &rownorm->shape;
    const struct kernels *kernels = cpu_kernels();

    for (size_t n = 0; n < count; n++)
        for (size_t at = 0; at < shape->steps * shape->stride; at += shape->stride)
            kernels->rownorm_forward(rownorm, z + n * shape->input_sample + at,
                                     y + n * shape->output_sample + at);
}

void cpu_rownorm_backward(const struct rownorm *rownorm, size_t count, const float *z,
                          const float *dy, float *dz, float *dparameters)
{
    const struct rownorm_shape *shape = &rownorm->shape;
    const struct kernels *kernels = cpu_kernels();
    float *dbeta = dparameters ? dparameters + shape->stride : NULL;

    for (size_t n = 0; n < count; n++)
        for (size_t at = 0; at < shape->steps * shape->stride; at += shape->stride)
            kernels->rownorm_backward(rownorm, z + n * shape->input_sample + at,
                                      dy + n * shape->output_gradient_sample + at,
                                      dz + n * shape->input_gradient_sample + at, dparameters,
                                      dbeta);
}

void cpu_rownorm_tangent_forward(const struct rownorm *rownorm, size_t count, const float *z,
                                 const float *rz, float *ry)
{
    const struct rownorm_shape *shape = &rownorm->shape;
    const struct kernels *kernels = cpu_kernels();

    for (size_t n = 0; n < count; n++)
        for (size_t at = 0; at < shape->steps * shape->stride; at += shape->stride) {
            size_t input = n * shape->input_sample + at;

            kernels->rownorm_tangent_forward(rownorm, z + input, rz + input,
                                             ry + n * shape->output_sample + at);
        }
}

void cpu_rownorm_tangent_backward(const struct rownorm *rownorm, size_t count, const float *z,
                                  const float *rz, const float *dy, const float *rdy, float *rdz,
                                  float *rdparameters)
{
    const struct rownorm_shape *shape = &rownorm->shape;
    const struct kernels *kernels = cpu_kernels();
    float *rdbeta = rdparameters ? rdparameters + shape->stride : NULL;

    for (size_t n = 0; n < count; n++)
        for (size_t at = 0; at < shape->steps * shape->stride; at += shape->stride) {
            size_t input = n * shape->input_sample + at;
            size_t output = n * shape->output_gradient_sample + at;

            kernels->rownorm_tangent_backward(
                rownorm, z + input, rz + input, dy + output, rdy + output,
                rdz + n * shape->input_gradient_sample + at, rdparameters, rdbeta);
        }
}

/* ---- Dropout ---- */

enum { GROUP = 32 };

void cpu_dropout_rows(const struct dropout_mask *mask, size_t sample, size_t first, size_t rows,
                      size_t columns, const float *in, float *out, size_t stride)
{
    const struct dropout *dropout = &mask->dropout;
    size_t groups = (columns + GROUP - 1) / GROUP;
    struct dropout_row row = {
        .key = {(uint32_t)dropout->key, (uint32_t)(dropout->key >> 32)},
        .counter = {RANDOM_DROPOUT + 256 * mask->layer, (uint32_t)sample,
                    (uint32_t)(dropout->step + (dropout->more ? *dropout->more : 0))},
        .threshold = (uint32_t)((double)mask->rate * 0x1p32),
        .scale = 1.0f / (1.0f - mask->rate),
    };

    for (size_t i = 0; i < rows; i++)
        cpu_kernels()->dropout_row(&row, (uint32_t)((first + i) * groups), columns, in + i * stride,
                                   out + i * stride);
}

void cpu_dropout(const struct dropout_mask *mask, size_t first, size_t count, size_t rows,
                 size_t columns, const float *in, size_t in_sample, float *out, size_t out_sample)
{
    for (size_t n = 0; n < count; n++)
        cpu_dropout_rows(mask, first + n, 0, rows, columns, in + n * in_sample,
                         out + n * out_sample, columns);
}
