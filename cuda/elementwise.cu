/* What goes element by element along arrays: copies and transposes, sums, the steps of
 * optimisers. */
#include "plugin.h"

#include <float.h>

/* ---- Kernels ---- */

/* Rows and columns that are transposed at a time, in tiles of shared memory, so that both reading
 * and writing go along rows. */
enum { TILE = 32 };

KERNEL transpose_kernel(size_t count, size_t rows, size_t columns, const float *in,
                        size_t in_sample, size_t in_stride, float *out, size_t out_sample,
                        size_t out_stride)
{
    SHARED float tile[TILE][TILE + 1];
    size_t across_tiles = (columns + TILE - 1) / TILE, down_tiles = (rows + TILE - 1) / TILE;

    for (size_t n = blockIdx.z; n < count; n += gridDim.z)
        for (size_t i = blockIdx.x; i < across_tiles * down_tiles; i += gridDim.x) {
            size_t column = i % across_tiles * TILE, row = i / across_tiles * TILE;

            PHASE
            {
                size_t c = column + threadIdx.x;

                for (size_t r = threadIdx.y; r < TILE; r += blockDim.y)
                    if (row + r < rows && c < columns)
                        tile[r][threadIdx.x] = in[n * in_sample + (row + r) * in_stride + c];
            }
            PHASE
            {
                size_t r = row + threadIdx.x;

                for (size_t c = threadIdx.y; c < TILE; c += blockDim.y)
                    if (column + c < columns && r < rows)
                        out[n * out_sample + (column + c) * out_stride + r] = tile[threadIdx.x][c];
            }
        }
}

KERNEL copy_rows_kernel(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                        size_t out_sample, bool add)
{
    THREADS
    {
        for (EACH_ROW(n, count))
            for (EACH(i, columns)) {
                float value = in[n * in_sample + i];

                out[n * out_sample + i] = add ? out[n * out_sample + i] + value : value;
            }
    }
}

KERNEL move_steps_kernel(size_t count, size_t steps, size_t columns, const float *in,
                         size_t in_sample, size_t in_stride, bool add, float *out,
                         size_t out_sample, size_t out_stride)
{
    THREADS
    {
        for (EACH_PLANE(n, count))
            for (EACH_ROW(t, steps))
                for (EACH(c, columns)) {
                    float value = in[n * in_sample + t * in_stride + c];
                    float *to = &out[n * out_sample + t * out_stride + c];

                    *to = add ? *to + value : value;
                }
    }
}

KERNEL gather_kernel(size_t count, size_t words, const unsigned *in, const size_t *order,
                     const size_t *batch, size_t size, unsigned *out)
{
    THREADS
    {
        size_t first = batch ? *batch * size : 0;

        for (EACH_ROW(n, count))
            for (EACH(i, words))
                out[n * words + i] = in[order[first + n] * words + i];
    }
}

KERNEL axpby_kernel(size_t count, float a, float *x, float b, const float *y)
{
    THREADS
    {
        for (EACH(i, count))
            x[i] = a * x[i] + b * y[i];
    }
}

KERNEL count_kernel(size_t *counter)
{
    THREADS
    {
        ++*counter;
    }
}

/* Every thread that finds one writes the same value. */
KERNEL find_infinite_kernel(size_t count, const float *values, double *found)
{
    THREADS
    {
        for (EACH(i, count))
            if (!(fabsf(values[i]) <= FLT_MAX))
                *found = 1;
    }
}

KERNEL reduce_blocks_kernel(size_t blocks, size_t floats, float *partial)
{
    THREADS
    {
        for (EACH(i, floats)) {
            float sum = partial[i];

            for (size_t block = 1; block < blocks; block++)
                sum += partial[block * floats + i];
            partial[i] = sum;
        }
    }
}

KERNEL sgd_kernel(const struct optimiser_step *steps, const size_t *index, size_t count,
                  const float *gradient, float *velocity, float *values)
{
    THREADS
    {
        struct optimiser_step step = steps[index ? *index : 0];

        for (EACH(i, count)) {
            velocity[i] = step.momentum * velocity[i] + (gradient[i] + step.decay * values[i]);
            values[i] -= step.rate * velocity[i];
        }
    }
}

KERNEL adam_kernel(const struct optimiser_step *steps, const size_t *index, size_t count,
                   const float *gradient, float *first, float *second, float *values)
{
    THREADS
    {
        struct optimiser_step step = steps[index ? *index : 0];

        for (EACH(i, count)) {
            float value = values[i] * step.shrink, g = gradient[i] + step.decay * value;

            first[i] += step.new1 * (g - first[i]);
            second[i] = step.beta2 * second[i] + step.new2 * g * g;
            values[i] =
                value - step.rate * first[i] / (sqrtf(second[i]) * step.root + step.epsilon);
        }
    }
}

/* One thread: the value into the history, and whether it is the best. */
KERNEL judge_kernel(struct best_step best, int *better)
{
    THREADS
    {
        double loss = best.value[0] + best.value[1];

        best.history[2 * *best.step] = best.value[0];
        best.history[2 * *best.step + 1] = best.value[1];
        *better = loss < *best.best;
        if (*better)
            *best.best = loss;
    }
}

KERNEL keep_kernel(const int *better, size_t floats, const float *from, float *to)
{
    THREADS
    {
        if (*better)
            for (EACH(i, floats))
                to[i] = from[i];
    }
}

/* ---- Functions ---- */

static void transpose(size_t count, size_t rows, size_t columns, const float *in, size_t in_sample,
                      size_t in_stride, float *out, size_t out_sample, size_t out_stride)
{
    size_t tiles = ((rows + TILE - 1) / TILE) * ((columns + TILE - 1) / TILE);
    dim3 grid(blocks_of(tiles, 1, MOST_LINES), 1, blocks_of(count, 1, MOST_GRID));

    LAUNCH(transpose_kernel, grid, dim3(TILE, HIGH), count, rows, columns, in, in_sample, in_stride,
           out, out_sample, out_stride);
}

/* Rows of some columns each. */
static dim3 row_grid(size_t count, size_t columns)
{
    return dim3(blocks_of(columns, LINE, MOST_LINES), blocks_of(count, 1, MOST_GRID));
}

void cuda_move_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                    size_t out_sample, bool add)
{
    LAUNCH(copy_rows_kernel, row_grid(count, columns), LINE, count, columns, in, in_sample, out,
           out_sample, add);
}

static void copy_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                      size_t out_sample)
{
    cuda_move_rows(count, columns, in, in_sample, out, out_sample, false);
}

static void add_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                     size_t out_sample)
{
    cuda_move_rows(count, columns, in, in_sample, out, out_sample, true);
}

static void move_steps(size_t count, size_t steps, size_t columns, const float *in,
                       size_t in_sample, size_t in_stride, bool add, float *out, size_t out_sample,
                       size_t out_stride)
{
    LAUNCH(move_steps_kernel, across(columns, steps, count), dim3(WIDE, HIGH), count, steps,
           columns, in, in_sample, in_stride, add, out, out_sample, out_stride);
}

static void gather(size_t count, size_t words, const void *in, const size_t *order,
                   const size_t *batch, size_t size, void *out)
{
    LAUNCH(gather_kernel, row_grid(count, words), LINE, count, words, (const unsigned *)in, order,
           batch, size, (unsigned *)out);
}

static void axpby(size_t count, float a, float *x, float b, const float *y)
{
    LAUNCH(axpby_kernel, along(count), LINE, count, a, x, b, y);
}

static void increment(size_t *counter)
{
    LAUNCH(count_kernel, 1, 1, counter);
}

static void find_infinite(size_t count, const float *values, double *found)
{
    LAUNCH(find_infinite_kernel, along(count), LINE, count, values, found);
}

static void reduce_blocks(size_t blocks, size_t floats, float *partial)
{
    if (blocks > 1)
        LAUNCH(reduce_blocks_kernel, along(floats), LINE, blocks, floats, partial);
}

static void sgd_step(const struct optimiser_step *steps, const size_t *index, size_t count,
                     const float *gradient, float *velocity, float *values)
{
    LAUNCH(sgd_kernel, along(count), LINE, steps, index, count, gradient, velocity, values);
}

static void adam_step(const struct optimiser_step *steps, const size_t *index, size_t count,
                      const float *gradient, float *first, float *second, float *values)
{
    LAUNCH(adam_kernel, along(count), LINE, steps, index, count, gradient, first, second, values);
}

static void keep_best(const struct best_step *best)
{
    int *better = (int *)cuda_scratch(SCRATCH_SUMS, sizeof *better);

    if (!better)
        return;
    LAUNCH(judge_kernel, 1, 1, *best, better);
    LAUNCH(keep_kernel, along(best->floats), LINE, better, best->floats, best->x, best->best_x);
    LAUNCH(keep_kernel, along(best->logits), LINE, better, best->logits, best->x_logits,
           best->best_logits);
}

void cuda_fill_elementwise(struct backend *backend)
{
    backend->transpose = transpose;
    backend->copy_rows = copy_rows;
    backend->add_rows = add_rows;
    backend->move_steps = move_steps;
    backend->gather = gather;
    backend->axpby = axpby;
    backend->increment = increment;
    backend->find_infinite = find_infinite;
    backend->reduce_blocks = reduce_blocks;
    backend->sgd_step = sgd_step;
    backend->adam_step = adam_step;
    backend->keep_best = keep_best;
}
