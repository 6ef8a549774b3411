/* Pooling of all steps to one: a thread for each channel of a sample.  Maxima of three steps: also
 * a thread for each step. */
#include "plugin.h"

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

/* The first of equal maxima; NaN counts as the largest. */
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

/* The largest of step t and its neighbours in one channel, the first of equals. */
DEVICE size_t place_of_max3(const float *x, size_t steps, size_t stride, size_t t)
{
    size_t best = t > 0 ? t - 1 : t, end = t + 1 < steps ? t + 1 : t;

    for (size_t i = best + 1; i <= end; i++)
        if (x[i * stride] > x[best * stride] || x[i * stride] != x[i * stride])
            best = i;
    return best;
}

/* out = of, where in is largest. */
KERNEL max3_kernel(struct max3_shape shape, size_t count, const float *in, const float *of,
                   float *out)
{
    THREADS
    {
        for (EACH_PLANE(n, count))
            for (EACH_ROW(t, shape.steps))
                for (EACH(c, shape.stride)) {
                    const float *x = in + n * shape.input_sample + c;
                    size_t place = place_of_max3(x, shape.steps, shape.stride, t);

                    out[n * shape.output_sample + t * shape.stride + c] =
                        of[n * shape.input_sample + place * shape.stride + c];
                }
    }
}

/* Each step asks those around it whether they took it. */
KERNEL max3_backward_kernel(struct max3_shape shape, size_t count, const float *in,
                            const float *dout, float *din)
{
    THREADS
    {
        for (EACH_PLANE(n, count))
            for (EACH_ROW(t, shape.steps))
                for (EACH(c, shape.stride)) {
                    const float *x = in + n * shape.input_sample + c;
                    const float *d = dout + n * shape.output_gradient_sample + c;
                    size_t first = t > 0 ? t - 1 : t, end = t + 1 < shape.steps ? t + 1 : t;
                    float sum = 0;

                    for (size_t i = first; i <= end; i++)
                        if (place_of_max3(x, shape.steps, shape.stride, i) == t)
                            sum += d[i * shape.stride];
                    din[n * shape.input_gradient_sample + t * shape.stride + c] = sum;
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

static void max3_tangent(const struct max3_shape *shape, size_t count, const float *in,
                         const float *rin, float *rout)
{
    LAUNCH(max3_kernel, across(shape->stride, shape->steps, count), dim3(WIDE, HIGH), *shape, count,
           in, rin, rout);
}

static void max3(const struct max3_shape *shape, size_t count, const float *in, float *out)
{
    max3_tangent(shape, count, in, in, out);
}

static void max3_backward(const struct max3_shape *shape, size_t count, const float *in,
                          const float *dout, float *din)
{
    LAUNCH(max3_backward_kernel, across(shape->stride, shape->steps, count), dim3(WIDE, HIGH),
           *shape, count, in, dout, din);
}

void cuda_fill_pooling(struct backend *backend)
{
    backend->max3 = max3;
    backend->max3_backward = max3_backward;
    backend->max3_tangent = max3_tangent;
    backend->pool_steps = pool_steps;
    backend->pool_steps_backward = pool_steps_backward;
    backend->pool_steps_tangent = pool_steps_tangent;
}
