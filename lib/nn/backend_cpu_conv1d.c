/* Convolutions on the processor.
 *
 * With channels side by side and a halo of zero steps, the `kernel` steps that one output needs are
 * one contiguous run of kernel * stride floats.  So
 *     out[t]      = run of in  at t  x  W   (kernel * inputs, outputs)
 *     din[t]      = run of dout at t x  W'  (kernel * outputs, inputs), the kernel reversed
 *     dW          = sum over t of (run of in at t)^T dout[t]
 * are products of overlapping rows of memory as it is; nothing is unfolded or copied.  The taps of
 * a dilated convolution are not neighbours: each is a product of its own, added to the others. */
#include <string.h>

#include "nn/backend_cpu.h"

/* Bias, then the strips; the larger of the two directions. */
size_t cpu_conv1d_panel(const struct conv1d_shape *shape)
{
    size_t in = backend_stride(shape->input_stride), out = backend_stride(shape->output_stride);

    return out + in + shape->kernel * in * out;
}

/* Taps that are not side by side. */
static bool is_dilated(const struct conv1d_shape *shape)
{
    return shape->dilation > 1;
}

/* Steps that an output sees before its own. */
static size_t steps_before(const struct conv1d_shape *shape)
{
    return shape->dilation ? (shape->kernel - 1) * shape->dilation : (shape->kernel - 1) / 2;
}

/* Steps that the gradient of an input sees before its own. */
static size_t steps_before_back(const struct conv1d_shape *shape)
{
    return shape->dilation ? 0 : shape->kernel / 2;
}

/* Fills the strips of a (kernel * from) x columns matrix.  Element (k, i, j) is taken from
 * weight[k * step_k + i * step_i + j * step_j] where i < inner and j < outer, else it is zero. */
struct pack_order {
    size_t inner_stride, inner, columns, outer;
    size_t step_i, step_j;
    bool flipped; /* k counts backwards */
};

/* One strip: columns first to first + width, of which `real` are there. */
static float *pack_strip(size_t kernel, const struct pack_order *order, const float *weight,
                         size_t first, size_t width, float *panel)
{
    size_t left = order->outer > first ? order->outer - first : 0;
    size_t real = left < width ? left : width;

    for (size_t k = 0; k < kernel; k++) {
        size_t tap = order->flipped ? kernel - 1 - k : k;
        const float *from = weight + tap + first * order->step_j;

        if (real < width)
            memset(panel, 0, order->inner * width * sizeof *panel);
        if (order->step_j == 1)
            cpu_copy_rows(order->inner, real, from, order->step_i, panel, width);
        else if (order->step_i == 1)
            cpu_transpose_sample(real, order->inner, from, order->step_j, panel, width);
        else
            for (size_t i = 0; i < order->inner; i++)
                for (size_t j = 0; j < real; j++)
                    panel[i * width + j] = from[i * order->step_i + j * order->step_j];
        panel += order->inner * width;
        memset(panel, 0, (order->inner_stride - order->inner) * width * sizeof *panel);
        panel += (order->inner_stride - order->inner) * width;
    }
    return panel;
}

static void pack_panel(size_t kernel, const struct pack_order *order, const float *weight,
                       float *panel)
{
    size_t lanes = cpu_kernels()->lanes;

    for (size_t first = 0; first < order->columns;) {
        struct panel_strip strip = panel_strip(order->columns, first, lanes);
        size_t width = strip.vectors ? strip.vectors * lanes : 1;

        panel = pack_strip(kernel, order, weight, first, width, panel);
        first += panel_strip_columns(strip, order->columns, lanes);
    }
}

/* Floats of one tap of a dilated convolution, each of which has a panel of its own. */
static size_t tap_floats(size_t inner_stride, size_t columns)
{
    return inner_stride * backend_stride(columns);
}

static void pack_taps(const struct conv1d_shape *shape, const struct pack_order *order,
                      const float *weight, float *panel)
{
    size_t kernel = shape->kernel;

    if (!is_dilated(shape)) {
        pack_panel(kernel, order, weight, panel);
        return;
    }
    for (size_t k = 0; k < kernel; k++)
        pack_panel(1, order, weight + (order->flipped ? kernel - 1 - k : k),
                   panel + k * tap_floats(order->inner_stride, order->columns));
}

void cpu_pack(size_t depth, size_t columns, size_t padded, const float *from, size_t step_row,
              size_t step_column, float *panel)
{
    struct pack_order order = {.inner_stride = depth,
                               .inner = depth,
                               .columns = padded,
                               .outer = columns,
                               .step_i = step_row,
                               .step_j = step_column};

    pack_panel(1, &order, from, panel);
}

void cpu_conv1d_pack(const struct conv1d_shape *shape, const float *weight, const float *bias,
                     float *forward, float *backward)
{
    size_t kernel = shape->kernel, start = backend_stride(shape->output_stride);
    struct pack_order order = {.inner_stride = shape->input_stride,
                               .inner = shape->inputs,
                               .columns = shape->output_stride,
                               .outer = shape->outputs,
                               .step_i = kernel,
                               .step_j = kernel * shape->inputs};

    if (forward) {
        memset(forward, 0, start * sizeof *forward);
        if (bias)
            memcpy(forward, bias, shape->outputs * sizeof *forward);
        pack_taps(shape, &order, weight, forward + start);
    }
    if (backward) {
        order = (struct pack_order){.inner_stride = shape->output_stride,
                                    .inner = shape->outputs,
                                    .columns = shape->input_stride,
                                    .outer = shape->inputs,
                                    .step_i = kernel * shape->inputs,
                                    .step_j = kernel,
                                    .flipped = true};
        pack_taps(shape, &order, weight, backward);
    }
}

/* One product for all samples where there is nothing between them, else one for each. */
static void multiply_samples(size_t count, size_t steps, size_t depth, const float *a,
                             size_t a_sample, size_t lda, const float *panel, size_t columns,
                             const float *bias, bool add, float *out, size_t out_sample)
{
    const struct kernels *kernels = cpu_kernels();

    if (depth == lda && a_sample == steps * lda && out_sample == steps * columns) {
        steps *= count;
        count = 1;
    }
    for (size_t n = 0; n < count; n++)
        kernels->multiply(steps, depth, a + n * a_sample, lda, panel, columns, bias, add,
                          out + n * out_sample, columns);
}

/* The outputs for which tap k reads a step inside the series, and the offset of that step from the
 * output. */
struct reach {
    size_t first, count;
    ptrdiff_t offset;
};

static struct reach tap_reach(const struct conv1d_shape *shape, size_t k, size_t before)
{
    ptrdiff_t steps = (ptrdiff_t)shape->steps;
    ptrdiff_t offset = (ptrdiff_t)(k * shape->dilation) - (ptrdiff_t)before;
    ptrdiff_t away = offset < 0 ? -offset : offset;

    return (struct reach){.first = offset < 0 ? (size_t)(away < steps ? away : steps) : 0,
                          .count = (size_t)(away < steps ? steps - away : 0),
                          .offset = offset};
}

/* A dilated convolution or the gradient of its input: bias (or 0), then tap after tap. */
static void multiply_taps(const struct conv1d_shape *shape, size_t count, size_t before,
                          const float *in, size_t in_sample, size_t in_stride, const float *panel,
                          size_t columns, const float *bias, bool add, float *out,
                          size_t out_sample)
{
    size_t floats = tap_floats(in_stride, columns);

    for (size_t n = 0; n < count; n++, in += in_sample, out += out_sample) {
        if (!add && !bias)
            memset(out, 0, shape->steps * columns * sizeof *out);
        for (size_t t = 0; !add && bias && t < shape->steps; t++)
            memcpy(out + t * columns, bias, columns * sizeof *out);
        for (size_t k = 0; k < shape->kernel; k++) {
            struct reach reach = tap_reach(shape, k, before);

            if (reach.count > 0)
                cpu_kernels()->multiply(
                    reach.count, in_stride,
                    in + ((ptrdiff_t)reach.first + reach.offset) * (ptrdiff_t)in_stride, in_stride,
                    panel + k * floats, columns, NULL, true, out + reach.first * columns, columns);
        }
    }
}

void cpu_conv1d_forward(const struct conv1d_shape *shape, size_t count, const float *in,
                        const float *forward, bool add, float *out)
{
    size_t before = steps_before(shape);

    if (is_dilated(shape))
        multiply_taps(shape, count, before, in, shape->input_sample, shape->input_stride,
                      forward + backend_stride(shape->output_stride), shape->output_stride, forward,
                      add, out, shape->output_sample);
    else
        multiply_samples(count, shape->steps, shape->kernel * shape->input_stride,
                         in - before * shape->input_stride, shape->input_sample,
                         shape->input_stride, forward + backend_stride(shape->output_stride),
                         shape->output_stride, forward, add, out, shape->output_sample);
}

void cpu_conv1d_backward_input(const struct conv1d_shape *shape, size_t count, const float *dout,
                               const float *backward, bool add, float *din)
{
    size_t before = steps_before_back(shape);

    if (is_dilated(shape))
        multiply_taps(shape, count, before, dout, shape->output_gradient_sample,
                      shape->output_stride, backward, shape->input_stride, NULL, add, din,
                      shape->input_gradient_sample);
    else
        multiply_samples(count, shape->steps, shape->kernel * shape->output_stride,
                         dout - before * shape->output_stride, shape->output_gradient_sample,
                         shape->output_stride, backward, shape->input_stride, NULL, add, din,
                         shape->input_gradient_sample);
}

size_t cpu_conv1d_gradient(const struct conv1d_shape *shape)
{
    return (shape->kernel * shape->input_stride + 1) * shape->output_stride;
}

static void add_weights_by_taps(const struct conv1d_shape *shape, size_t count, const float *in,
                                const float *dout, float *gradient)
{
    size_t ins = shape->input_stride, outs = shape->output_stride;

    for (size_t k = 0; k < shape->kernel; k++) {
        struct reach reach = tap_reach(shape, k, steps_before(shape));

        if (reach.count > 0)
            cpu_kernels()->multiply_transposed(
                count, reach.count, in + ((ptrdiff_t)reach.first + reach.offset) * (ptrdiff_t)ins,
                shape->input_sample, ins, ins, dout + reach.first * outs,
                shape->output_gradient_sample, outs, outs, gradient + k * ins * outs, outs);
    }
}

void cpu_conv1d_backward_weight(const struct conv1d_shape *shape, size_t count, const float *in,
                                const float *dout, bool bias, float *gradient)
{
    const struct kernels *kernels = cpu_kernels();
    size_t before = steps_before(shape), depth = shape->kernel * shape->input_stride;
    size_t in_sample = shape->input_sample, out_sample = shape->output_gradient_sample;
    size_t samples = count, steps = shape->steps;

    if (steps == 1 && in_sample == shape->input_stride && out_sample == shape->output_stride) {
        steps = count;
        samples = 1;
    }
    if (is_dilated(shape))
        add_weights_by_taps(shape, count, in, dout, gradient);
    else
        kernels->multiply_transposed(samples, steps, in - before * shape->input_stride, in_sample,
                                     shape->input_stride, depth, dout, out_sample,
                                     shape->output_stride, shape->output_stride, gradient,
                                     shape->output_stride);
    for (size_t n = 0; bias && n < samples; n++)
        kernels->add_columns(steps, shape->output_stride, dout + n * out_sample,
                             gradient + depth * shape->output_stride);
}

void cpu_conv1d_unpack(const struct conv1d_shape *shape, const float *gradient, float *dweight,
                       float *dbias)
{
    size_t kernel = shape->kernel, step = shape->input_stride * shape->output_stride;

    if (kernel == 1)
        cpu_transpose_sample(shape->inputs, shape->outputs, gradient, shape->output_stride, dweight,
                             shape->inputs);
    for (size_t out = 0; kernel > 1 && out < shape->outputs; out++)
        for (size_t in = 0; in < shape->inputs; in++) {
            const float *from = gradient + in * shape->output_stride + out;

            for (size_t k = 0; k < kernel; k++)
                *dweight++ = from[k * step];
        }
    if (dbias)
        memcpy(dbias, gradient + kernel * shape->input_stride * shape->output_stride,
               shape->outputs * sizeof *dbias);
}
