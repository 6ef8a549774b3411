/* Attention (lib/nn/backend_cpu_attention.c has the formulas): products by cuBLAS, one for each
 * head and as many samples as there is room for squares of weights, and what goes along the rows of
 * the squares by kernels, a block of threads for each row. */
#include "plugin.h"

#include <math.h>

enum {
    ROW = 64,                /* threads that share a row */
    SQUARE_FLOATS = 1 << 20, /* of the samples that are computed together, unless one has more */
    BUFFERS = 5,             /* squares of all of them */
};

/* ---- Kernels ---- */

/* The sum of what the threads of a block have, by the first thread, in order. */
DEVICE double sum_of(const double *parts)
{
    double sum = 0;

    for (int i = 0; i < ROW; i++)
        sum += parts[i];
    return sum;
}

/* x = softmax(scale x), rows of that many columns. */
KERNEL softmax_kernel(size_t rows, size_t columns, float scale, float *x)
{
    SHARED float most[ROW];
    SHARED double parts[ROW];

    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        float *values = x + row * columns;

        PHASE
        {
            float largest = -INFINITY;

            for (size_t i = threadIdx.x; i < columns; i += ROW)
                largest = fmaxf(largest, values[i]);
            most[threadIdx.x] = largest;
        }
        PHASE
        {
            for (int i = 1; threadIdx.x == 0 && i < ROW; i++)
                most[0] = fmaxf(most[0], most[i]);
        }
        PHASE
        {
            double sum = 0;

            for (size_t i = threadIdx.x; i < columns; i += ROW) {
                values[i] = expf((values[i] - most[0]) * scale);
                sum += values[i];
            }
            parts[threadIdx.x] = sum;
        }
        PHASE
        {
            if (threadIdx.x == 0)
                parts[0] = sum_of(parts);
        }
        PHASE
        {
            for (size_t i = threadIdx.x; i < columns; i += ROW)
                values[i] *= (float)(1.0 / parts[0]);
        }
    }
}

/* d = scale p (d - sum(p d)). */
KERNEL softmax_gradient_kernel(size_t rows, size_t columns, float scale, const float *p, float *d)
{
    SHARED double parts[ROW];

    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *weights = p + row * columns;
        float *values = d + row * columns;

        PHASE
        {
            double sum = 0;

            for (size_t i = threadIdx.x; i < columns; i += ROW)
                sum += (double)weights[i] * values[i];
            parts[threadIdx.x] = sum;
        }
        PHASE
        {
            if (threadIdx.x == 0)
                parts[0] = sum_of(parts);
        }
        PHASE
        {
            for (size_t i = threadIdx.x; i < columns; i += ROW)
                values[i] = scale * weights[i] * (values[i] - (float)parts[0]);
        }
    }
}

/* The tangent of the above along Rp and Rd; d becomes what it does above, rd its tangent. */
KERNEL softmax_tangent_kernel(size_t rows, size_t columns, float scale, const float *p,
                              const float *rp, float *d, float *rd)
{
    SHARED double parts[ROW], rparts[ROW];

    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        size_t at = row * columns;

        PHASE
        {
            double sum = 0, rsum = 0;

            for (size_t i = at + threadIdx.x; i < at + columns; i += ROW) {
                sum += (double)p[i] * d[i];
                rsum += (double)rp[i] * d[i] + (double)p[i] * rd[i];
            }
            parts[threadIdx.x] = sum;
            rparts[threadIdx.x] = rsum;
        }
        PHASE
        {
            if (threadIdx.x == 0) {
                parts[0] = sum_of(parts);
                rparts[0] = sum_of(rparts);
            }
        }
        PHASE
        {
            for (size_t i = at + threadIdx.x; i < at + columns; i += ROW) {
                float centred = d[i] - (float)parts[0];

                rd[i] = scale * (rp[i] * centred + p[i] * (rd[i] - (float)rparts[0]));
                d[i] = scale * p[i] * centred;
            }
        }
    }
}

/* ---- Products ---- */

/* One head of some samples. */
struct head {
    const struct attention *attention;
    size_t first, count, number; /* first: the number of the first sample in the batch */
    size_t steps, width;
    float scale;
    float *squares[BUFFERS]; /* (count, steps, steps) */
};

/* (count, steps, width) of a head in an array of rows, or its gradient. */
struct part {
    const float *at;
    size_t stride, sample;
};

static size_t samples_together(const struct attention_shape *shape, size_t count)
{
    size_t most = SQUARE_FLOATS / (shape->steps * shape->steps);

    return most == 0 ? 1 : most < count ? most : count;
}

static size_t scratch(const struct attention_shape *shape, size_t count)
{
    return BUFFERS * samples_together(shape, count) * shape->steps * shape->steps;
}

enum { Q, K, V };

static struct part input_part(const struct head *head, const float *in, size_t which, size_t sample)
{
    const struct attention_shape *shape = &head->attention->shape;

    return (struct part){in + (which * shape->heads + head->number) * shape->width,
                         shape->input_stride, sample};
}

static struct part output_part(const struct head *head, const float *out, size_t sample)
{
    const struct attention_shape *shape = &head->attention->shape;

    return (struct part){out + head->number * shape->width, shape->output_stride, sample};
}

/* square = x y^T, or added. */
static float *to_square(const struct head *head, size_t buffer, struct part x, struct part y,
                        bool add)
{
    int steps = (int)head->steps, width = (int)head->width;
    long long square = (long long)(head->steps * head->steps);
    const float one = 1.0f, beta = add ? 1.0f : 0.0f;

    CUBLAS(cublasSgemmStridedBatched(cuda_cublas(), CUBLAS_OP_T, CUBLAS_OP_N, steps, steps, width,
                                     &one, y.at, (int)y.stride, (long long)y.sample, x.at,
                                     (int)x.stride, (long long)x.sample, &beta,
                                     head->squares[buffer], steps, square, (int)head->count));
    return head->squares[buffer];
}

/* y = square x, or square^T x where transposed, or added. */
static void from_square(const struct head *head, const float *square, bool transposed,
                        struct part x, bool add, struct part y)
{
    int steps = (int)head->steps, width = (int)head->width;
    long long floats = (long long)(head->steps * head->steps);
    const float one = 1.0f, beta = add ? 1.0f : 0.0f;

    CUBLAS(cublasSgemmStridedBatched(
        cuda_cublas(), CUBLAS_OP_N, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, width, steps, steps,
        &one, x.at, (int)x.stride, (long long)x.sample, square, steps, floats, &beta, (float *)y.at,
        (int)y.stride, (long long)y.sample, (int)head->count));
}

/* ---- Passes ---- */

static size_t rows_of(const struct head *head)
{
    return head->count * head->steps;
}

static dim3 row_grid(const struct head *head)
{
    return dim3(blocks_of(rows_of(head), 1, MOST_LINES));
}

/* The weights after dropout: in another buffer, where there is any. */
static float *drop(const struct head *head, float *square, float *to)
{
    const struct dropout_mask *mask = &head->attention->mask;

    if (!mask->dropout.on || mask->rate <= 0)
        return square;
    cuda_dropout_rows(mask, head->first, head->count, head->number * head->steps, head->steps,
                      head->steps, square, head->steps * head->steps, to,
                      head->steps * head->steps);
    return to;
}

static float *weights(const struct head *head, struct part q, struct part k, size_t buffer)
{
    float *p = to_square(head, buffer, q, k, false);

    LAUNCH(softmax_kernel, row_grid(head), ROW, rows_of(head), head->steps, head->scale, p);
    return p;
}

static float *tangent_weights(const struct head *head, struct part q, struct part rq, struct part k,
                              struct part rk, const float *p, size_t buffer)
{
    float *rp = to_square(head, buffer, rq, k, false);

    to_square(head, buffer, q, rk, true);
    LAUNCH(softmax_gradient_kernel, row_grid(head), ROW, rows_of(head), head->steps, head->scale, p,
           rp);
    return rp;
}

/* Calls body(head, offset of its first sample) for all heads of all samples. */
template <class Body>
static void each_head(const struct attention *attention, size_t first, size_t count, Body body)
{
    const struct attention_shape *shape = &attention->shape;
    size_t together = samples_together(shape, count), square = shape->steps * shape->steps;

    for (size_t n = 0; n < count; n += together)
        for (size_t h = 0; h < shape->heads; h++) {
            struct head head = {attention,
                                first + n,
                                together < count - n ? together : count - n,
                                h,
                                shape->steps,
                                shape->width,
                                1.0f / sqrtf((float)shape->width)};

            for (size_t i = 0; i < BUFFERS; i++)
                head.squares[i] = attention->scratch + i * together * square;
            body(&head, n);
        }
}

static void forward(const struct attention *attention, size_t first, size_t count, const float *in,
                    float *out)
{
    size_t ins = attention->shape.input_sample, outs = attention->shape.output_sample;

    each_head(attention, first, count, [=](const struct head *head, size_t n) {
        struct part q = input_part(head, in + n * ins, Q, ins);
        struct part k = input_part(head, in + n * ins, K, ins);
        struct part v = input_part(head, in + n * ins, V, ins);
        float *p = weights(head, q, k, 0);

        from_square(head, drop(head, p, p), false, v, false,
                    output_part(head, out + n * outs, outs));
    });
}

static void backward(const struct attention *attention, size_t first, size_t count, const float *in,
                     const float *dout, float *din)
{
    const struct attention_shape *shape = &attention->shape;
    size_t ins = shape->input_sample, dins = shape->input_gradient_sample;
    size_t douts = shape->output_gradient_sample;

    each_head(attention, first, count, [=](const struct head *head, size_t n) {
        struct part q = input_part(head, in + n * ins, Q, ins);
        struct part k = input_part(head, in + n * ins, K, ins);
        struct part v = input_part(head, in + n * ins, V, ins);
        struct part d = output_part(head, dout + n * douts, douts);
        float *p = weights(head, q, k, 0), *dp = to_square(head, 1, d, v, false);

        from_square(head, drop(head, p, head->squares[2]), true, d, false,
                    input_part(head, din + n * dins, V, dins));
        drop(head, dp, dp);
        LAUNCH(softmax_gradient_kernel, row_grid(head), ROW, rows_of(head), head->steps,
               head->scale, p, dp);
        from_square(head, dp, false, k, false, input_part(head, din + n * dins, Q, dins));
        from_square(head, dp, true, q, false, input_part(head, din + n * dins, K, dins));
    });
}

static void tangent_forward(const struct attention *attention, size_t first, size_t count,
                            const float *in, const float *rin, float *rout)
{
    size_t ins = attention->shape.input_sample, outs = attention->shape.output_sample;

    each_head(attention, first, count, [=](const struct head *head, size_t n) {
        struct part q = input_part(head, in + n * ins, Q, ins);
        struct part k = input_part(head, in + n * ins, K, ins);
        struct part v = input_part(head, in + n * ins, V, ins);
        struct part rq = input_part(head, rin + n * ins, Q, ins);
        struct part rk = input_part(head, rin + n * ins, K, ins);
        struct part rv = input_part(head, rin + n * ins, V, ins);
        struct part ro = output_part(head, rout + n * outs, outs);
        float *p = weights(head, q, k, 0), *rp = tangent_weights(head, q, rq, k, rk, p, 1);

        from_square(head, drop(head, rp, rp), false, v, false, ro);
        from_square(head, drop(head, p, p), false, rv, true, ro);
    });
}

static void tangent_backward(const struct attention *attention, size_t first, size_t count,
                             const float *in, const float *rin, const float *dout,
                             const float *rdout, float *rdin)
{
    const struct attention_shape *shape = &attention->shape;
    size_t ins = shape->input_sample, dins = shape->input_gradient_sample;
    size_t douts = shape->output_gradient_sample;

    each_head(attention, first, count, [=](const struct head *head, size_t n) {
        struct part q = input_part(head, in + n * ins, Q, ins);
        struct part k = input_part(head, in + n * ins, K, ins);
        struct part v = input_part(head, in + n * ins, V, ins);
        struct part rq = input_part(head, rin + n * ins, Q, ins);
        struct part rk = input_part(head, rin + n * ins, K, ins);
        struct part rv = input_part(head, rin + n * ins, V, ins);
        struct part d = output_part(head, dout + n * douts, douts);
        struct part rd = output_part(head, rdout + n * douts, douts);
        struct part rdq = input_part(head, rdin + n * dins, Q, dins);
        struct part rdk = input_part(head, rdin + n * dins, K, dins);
        struct part rdv = input_part(head, rdin + n * dins, V, dins);
        float *p = weights(head, q, k, 0), *rp = tangent_weights(head, q, rq, k, rk, p, 1);
        float *dp = to_square(head, 2, d, v, false), *rdp = to_square(head, 3, rd, v, false);

        to_square(head, 3, d, rv, true);
        from_square(head, drop(head, rp, head->squares[4]), true, d, false, rdv);
        from_square(head, drop(head, p, head->squares[4]), true, rd, true, rdv);
        drop(head, dp, dp);
        drop(head, rdp, rdp);
        LAUNCH(softmax_tangent_kernel, row_grid(head), ROW, rows_of(head), head->steps, head->scale,
               p, rp, dp, rdp);
        from_square(head, rdp, false, k, false, rdq);
        from_square(head, dp, false, rk, true, rdq);
        from_square(head, rdp, true, q, false, rdk);
        from_square(head, dp, true, rq, true, rdk);
    });
}

void cuda_fill_attention(struct backend *backend)
{
    backend->attention_scratch = scratch;
    backend->attention_forward = forward;
    backend->attention_backward = backward;
    backend->attention_tangent_forward = tangent_forward;
    backend->attention_tangent_backward = tangent_backward;
}
