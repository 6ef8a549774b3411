/* The CPU backend: memory, data movement, pooling, optimisers, and the table of all its functions.
 * The larger layers have files of their own, backend_cpu_*.c. */
#include "nn/backend_cpu.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/parallel.h"
#include "nn/kernels_update.h"

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

/* Squares of both matrices that stay in the cache while they are transposed. */
enum { SQUARE = 16, SMALL = 4 };

typedef float four __attribute__((vector_size(16)));

/* SMALL x SMALL values, transposed in registers where the compiler knows how. */
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

void cpu_transpose_sample(size_t rows, size_t columns, const float *in, size_t in_stride,
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
        cpu_transpose_sample(rows, columns, in + n * in_sample, in_stride, out + n * out_sample,
                             out_stride);
}

void cpu_copy_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                   size_t out_sample)
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

static void cpu_axpby(size_t count, float a, float *x, float b, const float *y)
{
    for (size_t i = 0; i < count; i++)
        x[i] = a * x[i] + b * y[i];
}

/* By the bits: an exponent of all ones is infinity or NaN.  A loop that becomes vectors.
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

static void cpu_increment(size_t *counter)
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

static const struct update_kernels *update_kernels(void)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        return &update_kernels_avx2;
#endif
    return &update_kernels_generic;
}

/* A step of all values, in pieces; second NULL: sgd. */
struct update {
    struct optimiser_step step;
    size_t count;
    const float *gradient;
    float *first, *second, *values;
};

enum { UPDATE_FLOATS = 16 * 1024 };

static void update_range(void *context, size_t task, unsigned worker)
{
    const struct update *update = context;
    size_t first = task * UPDATE_FLOATS, left = update->count - first;
    size_t count = left < UPDATE_FLOATS ? left : UPDATE_FLOATS;

    (void)worker;
    if (update->second)
        update_kernels()->adam(&update->step, count, update->gradient + first,
                               update->first + first, update->second + first,
                               update->values + first);
    else
        update_kernels()->sgd(&update->step, count, update->gradient + first, update->first + first,
                              update->values + first);
}

static void update_all(struct update update)
{
    parallel_for((update.count + UPDATE_FLOATS - 1) / UPDATE_FLOATS, update_range, &update);
}

static void sgd_step(const struct optimiser_step *steps, const size_t *index, size_t count,
                     const float *gradient, float *velocity, float *values)
{
    update_all((struct update){.step = steps[index ? *index : 0],
                               .count = count,
                               .gradient = gradient,
                               .first = velocity,
                               .values = values});
}

static void adam_step(const struct optimiser_step *steps, const size_t *index, size_t count,
                      const float *gradient, float *first, float *second, float *values)
{
    update_all((struct update){steps[index ? *index : 0], count, gradient, first, second, values});
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

/* ---- The table of functions ---- */

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
        .parallel_for = parallel_for,
        .workers = parallel_threads,
        .transpose = cpu_transpose,
        .copy_rows = cpu_copy_rows,
        .add_rows = cpu_add_rows,
        .move_steps = cpu_move_steps,
        .gather = cpu_gather,
        .axpby = cpu_axpby,
        .increment = cpu_increment,
        .find_infinite = cpu_find_infinite,
        .reduce_blocks = cpu_reduce_blocks,
        .conv1d_panel = cpu_conv1d_panel,
        .conv1d_pack = cpu_conv1d_pack,
        .conv1d_forward = cpu_conv1d_forward,
        .conv1d_backward_input = cpu_conv1d_backward_input,
        .conv1d_gradient = cpu_conv1d_gradient,
        .conv1d_backward_weight = cpu_conv1d_backward_weight,
        .conv1d_unpack = cpu_conv1d_unpack,
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
        .dense_scratch = cpu_dense_scratch,
        .dense_forward = cpu_dense_forward,
        .dense_backward_input = cpu_dense_backward_input,
        .dense_backward_weight = cpu_dense_backward_weight,
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
