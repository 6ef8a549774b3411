/* Convolutions and plain data movement on the processor.
 *
 * With channels side by side and a halo of zero steps, the `kernel` steps that one output needs are
 * one contiguous run of kernel * stride floats.  So
 *     out[t]      = run of in  at t  x  W   (kernel * inputs, outputs)
 *     din[t]      = run of dout at t x  W'  (kernel * outputs, inputs), the kernel turned round
 *     dW          = sum over t of (run of in at t)^T dout[t]
 * are products of overlapping rows of memory as it is; nothing is unfolded or copied.  The taps of
 * a dilated convolution lie apart: each is a product of its own, added to the others. */
#include "nn/backend_cpu.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/parallel.h"

const struct kernels *cpu_kernels(void)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        return &kernels_avx2;
#endif
    return &kernels_generic;
}

/* ---- Memory ---- */

/* Vectors may be read, though not used, past the end of an array. */
enum { ALIGNMENT = 64, SLACK = 64 };

static void *cpu_allocate(size_t bytes)
{
    void *memory;

    if (bytes > SIZE_MAX - ALIGNMENT - SLACK)
        return NULL;
    bytes = (bytes + SLACK + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

static void cpu_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void cpu_zero(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
}

/* ---- Moving data ---- */

/* Squares of both matrices that stay in the cache while they are turned. */
enum { SQUARE = 16, SMALL = 4 };

typedef float four __attribute__((vector_size(16)));

/* SMALL x SMALL values, turned in registers where the compiler knows how. */
static void transpose_small(const float *in, size_t in_stride, float *out, size_t out_stride)
{
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
    four row[SMALL], pair[SMALL];

    for (size_t i = 0; i < SMALL; i++)
        memcpy(&row[i], in + i * in_stride, sizeof row[i]);
    pair[0] = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
    pair[1] = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
    pair[2] = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
    pair[3] = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    row[0] = __builtin_shufflevector(pair[0], pair[1], 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(pair[0], pair[1], 2, 3, 6, 7);
    row[2] = __builtin_shufflevector(pair[2], pair[3], 0, 1, 4, 5);
    row[3] = __builtin_shufflevector(pair[2], pair[3], 2, 3, 6, 7);
    for (size_t i = 0; i < SMALL; i++)
        memcpy(out + i * out_stride, &row[i], sizeof row[i]);
#else
    for (size_t i = 0; i < SMALL; i++)
        for (size_t j = 0; j < SMALL; j++)
            out[j * out_stride + i] = in[i * in_stride + j];
#endif
}

static void transpose_square(size_t rows, size_t columns, const float *in, size_t in_stride,
                             float *out, size_t out_stride)
{
    size_t row = 0;

    for (; row + SMALL <= rows; row += SMALL) {
        size_t column = 0;

        for (; column + SMALL <= columns; column += SMALL)
            transpose_small(in + row * in_stride + column, in_stride,
                            out + column * out_stride + row, out_stride);
        for (; column < columns; column++)
            for (size_t i = row; i < row + SMALL; i++)
                out[column * out_stride + i] = in[i * in_stride + column];
    }
    for (; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            out[column * out_stride + row] = in[row * in_stride + column];
}

static void transpose_sample(size_t rows, size_t columns, const float *in, size_t in_stride,
                             float *out, size_t out_stride)
{
    if ((rows == 1 && out_stride == 1) || (columns == 1 && in_stride == 1)) {
        memcpy(out, in, rows * columns * sizeof *out);
        return;
    }
    for (size_t row = 0; row < rows; row += SQUARE)
        for (size_t column = 0; column < columns; column += SQUARE)
            transpose_square(rows - row < SQUARE ? rows - row : SQUARE,
                             columns - column < SQUARE ? columns - column : SQUARE,
                             in + row * in_stride + column, in_stride,
                             out + column * out_stride + row, out_stride);
}

static void cpu_transpose(size_t count, size_t rows, size_t columns, const float *in,
                          size_t in_sample, size_t in_stride, float *out, size_t out_sample,
                          size_t out_stride)
{
    for (size_t n = 0; n < count; n++)
        transpose_sample(rows, columns, in + n * in_sample, in_stride, out + n * out_sample,
                         out_stride);
}

static void cpu_copy_rows(size_t count, size_t columns, const float *in, size_t in_sample,
                          float *out, size_t out_sample)
{
    for (size_t n = 0; n < count; n++)
        memcpy(out + n * out_sample, in + n * in_sample, columns * sizeof *out);
}

static void cpu_add_rows(size_t count, size_t columns, const float *in, size_t in_sample,
                         float *out, size_t out_sample)
{
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < columns; i++)
            out[n * out_sample + i] += in[n * in_sample + i];
}

static void cpu_move_steps(size_t count, size_t steps, size_t columns, const float *in,
                           size_t in_sample, size_t in_stride, bool add, float *out,
                           size_t out_sample, size_t out_stride)
{
    for (size_t n = 0; n < count; n++)
        (add ? cpu_add_rows : cpu_copy_rows)(steps, columns, in + n * in_sample, in_stride,
                                             out + n * out_sample, out_stride);
}

static void cpu_gather(size_t count, size_t words, const void *in, const size_t *order,
                       const size_t *batch, size_t size, void *out)
{
    size_t bytes = words * sizeof(float), first = batch ? *batch * size : 0;

    for (size_t n = 0; n < count; n++)
        memcpy((char *)out + n * bytes, (const char *)in + order[first + n] * bytes, bytes);
}

static void cpu_combine(size_t count, float a, float *x, float b, const float *y)
{
    for (size_t i = 0; i < count; i++)
        x[i] = a * x[i] + b * y[i];
}

/* By the bits: an exponent of all ones is infinity or not a number.  A loop that becomes vectors.
 */
static void cpu_find_infinite(size_t count, const float *values, double *found)
{
    int32_t largest = 0;

    for (size_t i = 0; i < count; i++) {
        int32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    if (largest >= 0x7f800000)
        *found = 1;
}

static void cpu_count(size_t *counter)
{
    ++*counter;
}

struct reduction {
    size_t blocks, floats;
    float *partial;
};

enum { REDUCTION_FLOATS = 2048 };

static void reduce_range(void *context, size_t task, unsigned worker)
{
    const struct reduction *reduction = context;
    size_t first = task * REDUCTION_FLOATS, left = reduction->floats - first;
    size_t count = left < REDUCTION_FLOATS ? left : REDUCTION_FLOATS;
    float *sum = reduction->partial + first;

    (void)worker;
    for (size_t block = 1; block < reduction->blocks; block++) {
        const float *from = reduction->partial + block * reduction->floats + first;

        for (size_t i = 0; i < count; i++)
            sum[i] += from[i];
    }
}

static void cpu_reduce_blocks(size_t blocks, size_t floats, float *partial)
{
    struct reduction reduction = {blocks, floats, partial};

    if (blocks > 1)
        parallel_for((floats + REDUCTION_FLOATS - 1) / REDUCTION_FLOATS, reduce_range, &reduction);
}

/* ---- Convolution ---- */

static size_t round_up(size_t value)
{
    return (value + BACKEND_CHANNELS - 1) / BACKEND_CHANNELS * BACKEND_CHANNELS;
}

/* Bias, then the strips; the larger of the two directions. */
static size_t conv1d_panel(const struct conv1d_shape *shape)
{
    size_t in = round_up(shape->input_stride), out = round_up(shape->output_stride);

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
    bool turned; /* k counts backwards */
};

/* One strip: columns first to first + width, of which `real` are there. */
static float *pack_strip(size_t kernel, const struct pack_order *order, const float *weight,
                         size_t first, size_t width, float *panel)
{
    size_t left = order->outer > first ? order->outer - first : 0;
    size_t real = left < width ? left : width;

    for (size_t k = 0; k < kernel; k++) {
        size_t tap = order->turned ? kernel - 1 - k : k;
        const float *from = weight + tap + first * order->step_j;

        if (real < width)
            memset(panel, 0, order->inner * width * sizeof *panel);
        if (order->step_j == 1)
            cpu_copy_rows(order->inner, real, from, order->step_i, panel, width);
        else if (order->step_i == 1)
            transpose_sample(real, order->inner, from, order->step_j, panel, width);
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
    return inner_stride * round_up(columns);
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
        pack_panel(1, order, weight + (order->turned ? kernel - 1 - k : k),
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

static void conv1d_pack(const struct conv1d_shape *shape, const float *weight, const float *bias,
                        float *forward, float *backward)
{
    size_t kernel = shape->kernel, start = round_up(shape->output_stride);
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
                                    .turned = true};
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

/* The steps of which tap k sees steps inside the series: those it adds to, and how far away from
 * each is the one that it sees. */
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

static void conv1d_forward(const struct conv1d_shape *shape, size_t count, const float *in,
                           const float *forward, bool add, float *out)
{
    size_t before = steps_before(shape);

    if (is_dilated(shape))
        multiply_taps(shape, count, before, in, shape->input_sample, shape->input_stride,
                      forward + round_up(shape->output_stride), shape->output_stride, forward, add,
                      out, shape->output_sample);
    else
        multiply_samples(count, shape->steps, shape->kernel * shape->input_stride,
                         in - before * shape->input_stride, shape->input_sample,
                         shape->input_stride, forward + round_up(shape->output_stride),
                         shape->output_stride, forward, add, out, shape->output_sample);
}

static void conv1d_backward_input(const struct conv1d_shape *shape, size_t count, const float *dout,
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

static size_t conv1d_gradient(const struct conv1d_shape *shape)
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

static void conv1d_backward_weight(const struct conv1d_shape *shape, size_t count, const float *in,
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

static void conv1d_unpack(const struct conv1d_shape *shape, const float *gradient, float *dweight,
                          float *dbias)
{
    size_t kernel = shape->kernel, step = shape->input_stride * shape->output_stride;

    if (kernel == 1)
        transpose_sample(shape->inputs, shape->outputs, gradient, shape->output_stride, dweight,
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

/* ---- Pooling ---- */

static void pool_steps(const struct pool_shape *shape, size_t count, const float *in,
                       int32_t *index, float *out)
{
    const struct kernels *kernels = cpu_kernels();

    for (size_t n = 0; n < count; n++, in += shape->input_sample, out += shape->output_sample)
        if (shape->pool == POOL_MAX)
            kernels->pool_max(shape->steps, shape->stride, in, index + n * shape->stride, out);
        else
            kernels->pool_mean(shape->steps, shape->stride, in, out);
}

static void pool_steps_backward(const struct pool_shape *shape, size_t count, const float *dout,
                                const int32_t *index, float *din)
{
    size_t steps = shape->steps, stride = shape->stride;
    float share = 1.0f / (float)steps;

    for (size_t n = 0; n < count; n++, dout += shape->output_gradient_sample) {
        float *to = din + n * shape->input_gradient_sample;

        if (shape->pool == POOL_MAX) {
            memset(to, 0, steps * stride * sizeof *to);
            for (size_t c = 0; c < stride; c++)
                to[(size_t)index[n * stride + c] * stride + c] = dout[c];
        } else {
            for (size_t t = 0; t < steps; t++)
                for (size_t c = 0; c < stride; c++)
                    to[t * stride + c] = dout[c] * share;
        }
    }
}

static void pool_steps_tangent(const struct pool_shape *shape, size_t count, const float *rin,
                               const int32_t *index, float *rout)
{
    size_t stride = shape->stride;

    for (size_t n = 0; n < count; n++, rin += shape->input_sample, rout += shape->output_sample) {
        if (shape->pool == POOL_MEAN) {
            cpu_kernels()->pool_mean(shape->steps, stride, rin, rout);
            continue;
        }
        for (size_t c = 0; c < stride; c++)
            rout[c] = rin[(size_t)index[n * stride + c] * stride + c];
    }
}

static void cpu_max3(const struct max3_shape *shape, size_t count, const float *in, float *out)
{
    for (size_t n = 0; n < count; n++)
        cpu_kernels()->max3(shape->steps, shape->stride, in + n * shape->input_sample,
                            out + n * shape->output_sample);
}

static void cpu_max3_backward(const struct max3_shape *shape, size_t count, const float *in,
                              const float *dout, float *din)
{
    for (size_t n = 0; n < count; n++)
        cpu_kernels()->max3_backward(shape->steps, shape->stride, in + n * shape->input_sample,
                                     dout + n * shape->output_gradient_sample,
                                     din + n * shape->input_gradient_sample);
}

static void cpu_max3_tangent(const struct max3_shape *shape, size_t count, const float *in,
                             const float *rin, float *rout)
{
    for (size_t n = 0; n < count; n++)
        cpu_kernels()->max3_tangent(shape->steps, shape->stride, in + n * shape->input_sample,
                                    rin + n * shape->input_sample, rout + n * shape->output_sample);
}

/* ---- Optimisers ---- */

static void sgd_step(const struct optimiser_step *steps, const size_t *index, size_t count,
                     const float *gradient, float *velocity, float *values)
{
    struct optimiser_step step = steps[index ? *index : 0];

    for (size_t i = 0; i < count; i++) {
        velocity[i] = step.momentum * velocity[i] + (gradient[i] + step.decay * values[i]);
        values[i] -= step.rate * velocity[i];
    }
}

static void adam_step(const struct optimiser_step *steps, const size_t *index, size_t count,
                      const float *gradient, float *first, float *second, float *values)
{
    struct optimiser_step step = steps[index ? *index : 0];

    for (size_t i = 0; i < count; i++) {
        float value = values[i] * step.shrink, g = gradient[i] + step.decay * value;

        first[i] += step.new1 * (g - first[i]);
        second[i] = step.beta2 * second[i] + step.new2 * g * g;
        values[i] = value - step.rate * first[i] / (sqrtf(second[i]) * step.root + step.epsilon);
    }
}

static void cpu_keep_best(const struct best_step *best)
{
    double loss = best->value[0] + best->value[1];

    memcpy(best->history + 2 * *best->step, best->value, 2 * sizeof *best->value);
    if (!(loss < *best->best))
        return;
    *best->best = loss;
    memcpy(best->best_x, best->x, best->floats * sizeof *best->x);
    memcpy(best->best_logits, best->x_logits, best->logits * sizeof *best->x_logits);
}

/* ---- Losses ---- */

static void cpu_loss(const struct loss *loss, size_t count, size_t classes, const float *logits,
                     const struct targets *targets, float *dlogits, float *dtargets, double *value,
                     const size_t *index)
{
    value[index ? *index : 0] =
        loss_value(loss, count, classes, logits, targets, dlogits, dtargets);
}

static void cpu_count_correct(size_t count, size_t classes, const float *logits,
                              const int32_t *labels, double *correct)
{
    *correct = (double)count_correct(count, classes, logits, labels);
}

/* ---- The whole ---- */

static const char *cpu_fault(void)
{
    return NULL;
}

static void cpu_repeat(struct repeated *repeated)
{
    repeated->body(repeated->context);
}

static void cpu_repeat_end(struct repeated *repeated)
{
    repeated->captured = NULL;
}

const struct backend *backend_cpu(void)
{
    static const struct backend backend = {
        .name = "cpu",
        .host_memory = true,
        .queue = 1,
        .fault = cpu_fault,
        .allocate = cpu_allocate,
        .release = free,
        .upload = cpu_copy,
        .upload_beside = cpu_copy,
        .download = cpu_copy,
        .zero = cpu_zero,
        .repeat = cpu_repeat,
        .repeat_end = cpu_repeat_end,
        .run = parallel_for,
        .workers = parallel_threads,
        .transpose = cpu_transpose,
        .copy_rows = cpu_copy_rows,
        .add_rows = cpu_add_rows,
        .move_steps = cpu_move_steps,
        .gather = cpu_gather,
        .combine = cpu_combine,
        .count = cpu_count,
        .find_infinite = cpu_find_infinite,
        .reduce_blocks = cpu_reduce_blocks,
        .conv1d_panel = conv1d_panel,
        .conv1d_pack = conv1d_pack,
        .conv1d_forward = conv1d_forward,
        .conv1d_backward_input = conv1d_backward_input,
        .conv1d_gradient = conv1d_gradient,
        .conv1d_backward_weight = conv1d_backward_weight,
        .conv1d_unpack = conv1d_unpack,
        .normact_moments = cpu_normact_moments,
        .normact_reduce = cpu_normact_reduce,
        .normact_forward = cpu_normact_forward,
        .normact_update_running = cpu_normact_update_running,
        .normact_match = cpu_normact_match,
        .normact_statistics_gradient = cpu_normact_statistics_gradient,
        .normact_backward_sums = cpu_normact_backward_sums,
        .normact_backward_reduce = cpu_normact_backward_reduce,
        .normact_backward = cpu_normact_backward,
        .normact_tangent_sums = cpu_normact_tangent_sums,
        .normact_tangent_reduce = cpu_normact_tangent_reduce,
        .normact_tangent_forward = cpu_normact_tangent_forward,
        .normact_tangent_backward_sums = cpu_normact_tangent_backward_sums,
        .normact_tangent_backward_reduce = cpu_normact_tangent_backward_reduce,
        .normact_tangent_backward = cpu_normact_tangent_backward,
        .pool_steps = pool_steps,
        .pool_steps_backward = pool_steps_backward,
        .pool_steps_tangent = pool_steps_tangent,
        .max3 = cpu_max3,
        .max3_backward = cpu_max3_backward,
        .max3_tangent = cpu_max3_tangent,
        .dropout = cpu_dropout,
        .rownorm_forward = cpu_rownorm_forward,
        .rownorm_backward = cpu_rownorm_backward,
        .rownorm_tangent_forward = cpu_rownorm_tangent_forward,
        .rownorm_tangent_backward = cpu_rownorm_tangent_backward,
        .attention_scratch = cpu_attention_scratch,
        .attention_forward = cpu_attention_forward,
        .attention_backward = cpu_attention_backward,
        .attention_tangent_forward = cpu_attention_tangent_forward,
        .attention_tangent_backward = cpu_attention_tangent_backward,
        .gru_scratch = cpu_gru_scratch,
        .gru_forward = cpu_gru_forward,
        .gru_backward = cpu_gru_backward,
        .gru_tangent_forward = cpu_gru_tangent_forward,
        .gru_tangent_backward = cpu_gru_tangent_backward,
        .loss = cpu_loss,
        .loss_tangent = loss_tangent,
        .count_correct = cpu_count_correct,
        .sgd_step = sgd_step,
        .adam_step = adam_step,
        .keep_best = cpu_keep_best,
    };

    return &backend;
}
