/* Pooling of all steps to one: a thread for each channel of a sample. */
#include "device.h"

KERNEL pool_mean_kernel(struct pool_shape shape, size_t count, const float *in, float *out)
{
    THREADS
    {
        for (EACH_ROW(n, count))
            for (EACH(c, shape.stride)) {
                double sum = 0;

                for (size_t t = 0; t < shape.steps; t++)
                    sum += in[n * shape.input_sample + t * shape.stride + c];
                out[n * shape.output_sample + c] = (float)(sum / (double)shape.steps);
            }
    }
}

/* Of equals the first; what is not a number is the largest. */
KERNEL pool_max_kernel(struct pool_shape shape, size_t count, const float *in, int32_t *index,
                       float *out)
{
    THREADS
    {
        for (EACH_ROW(n, count))
            for (EACH(c, shape.stride)) {
                const float *x = in + n * shape.input_sample + c;
                float best = x[0];
                size_t place = 0;

                for (size_t t = 1; t < shape.steps; t++) {
                    float value = x[t * shape.stride];

                    if (value > best || value != value) {
                        best = value;
                        place = t;
                    }
                }
                index[n * shape.stride + c] = (int32_t)place;
                out[n * shape.output_sample + c] = best;
            }
    }
}

KERNEL pick_kernel(struct pool_shape shape, size_t count, const float *in, const int32_t *index,
                   float *out)
{
    THREADS
    {
        for (EACH_ROW(n, count))
            for (EACH(c, shape.stride)) {
                size_t place = (size_t)index[n * shape.stride + c];

                out[n * shape.output_sample + c] =
                    in[n * shape.input_sample + place * shape.stride + c];
            }
    }
}

KERNEL pool_backward_kernel(struct pool_shape shape, size_t count, const float *dout,
                            const int32_t *index, float *din)
{
    THREADS
    {
        float share = 1.0f / (float)shape.steps;

        for (EACH_PLANE(n, count))
            for (EACH_ROW(t, shape.steps))
                for (EACH(c, shape.stride)) {
                    float value = dout[n * shape.output_gradient_sample + c];

                    if (shape.pool == POOL_MAX)
                        value = (size_t)index[n * shape.stride + c] == t ? value : 0.0f;
                    else
                        value *= share;
                    din[n * shape.input_gradient_sample + t * shape.stride + c] = value;
                }
    }
}

static void pool_steps(const struct pool_shape *shape, size_t count, const float *in,
                       int32_t *index, float *out)
{
    dim3 grid = across(shape->stride, count, 1), block(WIDE, HIGH);

    if (shape->pool == POOL_MAX)
        LAUNCH(pool_max_kernel, grid, block, *shape, count, in, index, out);
    else
        LAUNCH(pool_mean_kernel, grid, block, *shape, count, in, out);
}

static void pool_steps_backward(const struct pool_shape *shape, size_t count, const float *dout,
                                const int32_t *index, float *din)
{
    LAUNCH(pool_backward_kernel, across(shape->stride, shape->steps, count), dim3(WIDE, HIGH),
           *shape, count, dout, index, din);
}

static void pool_steps_tangent(const struct pool_shape *shape, size_t count, const float *rin,
                               const int32_t *index, float *rout)
{
    dim3 grid = across(shape->stride, count, 1), block(WIDE, HIGH);

    if (shape->pool == POOL_MAX)
        LAUNCH(pick_kernel, grid, block, *shape, count, rin, index, rout);
    else
        LAUNCH(pool_mean_kernel, grid, block, *shape, count, rin, rout);
}

void cuda_fill_pooling(struct backend *backend)
{
    backend->pool_steps = pool_steps;
    backend->pool_steps_backward = pool_steps_backward;
    backend->pool_steps_tangent = pool_steps_tangent;
}
