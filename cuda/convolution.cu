/* Convolutions by cuDNN, linear layers by cuBLAS.
 *
 * The layout of the engine (backend.h) is cuDNN's NHWC with the steps as W: channels side by side,
 * counted with what fills them up (whose weights are zero), and the halo as part of the data:
 *
 *     forward         x (N, 1, steps + 2h, in) with no padding gives y (N, 1, steps, out)
 *     backward input  the same with the gradient of y, which has the halo, and the kernel flipped
 *     backward weight x and the gradient of y, both (N, 1, steps + 2h, .), with padding h: the halo
 *                     of the gradient is zero and adds nothing
 *
 * so that every tensor is dense, and only forward algorithms and those for weights are needed. What
 * is not dense, because a tensor is also read by a convolution with another halo, is copied.
 * Weights are (out, 1, taps, in), NHWC too.  An even kernel gets a tap of zeros in front.
 *
 * cuDNN is asked for its algorithms in the order that it expects to be fastest, which depends on
 * nothing but the shapes and the GPU; the first that always gives the same bits is taken.  TF32 is
 * not used.  Where cuDNN has nothing to offer for a shape, cuBLAS multiplies tap by tap; and so it
 * does for causal convolutions, which have no halo where they are dilated. */
#include "plugin.h"

/* Statuses are sorted into thousands since then (is_supported). */
static_assert(CUDNN_MAJOR >= 9, "shapecond needs cuDNN 9 or later");

enum {
    MOST_ALGORITHMS = 8,
    MOST_PLANS = 4096,
    PRODUCT_BYTES = 512 << 20, /* of scratch memory at most */
};

static size_t taps_of(const struct conv1d_shape *shape)
{
    return shape->kernel | 1;
}

static size_t halo_of(const struct conv1d_shape *shape)
{
    return shape->kernel / 2;
}

/* With kernel 1, steps are rows of a product. */
static bool is_linear(const struct conv1d_shape *shape)
{
    return shape->kernel == 1;
}

/* Its taps are at, or before, the step that they add to. */
static bool is_causal(const struct conv1d_shape *shape)
{
    return shape->dilation > 0 && !is_linear(shape);
}

/* ---- Kernels ---- */

/* to[(o * taps + k) * ins + i] = weight of output o, tap k, input i; zero where there is none.
 * from_o and from_i say where outputs and inputs are in the weights; flipped: taps in reverse
 * order; empty: taps of zeros in front. */
KERNEL pack_kernel(size_t outs, size_t taps, size_t ins, size_t outputs, size_t inputs,
                   size_t from_o, size_t from_i, bool flipped, size_t empty, const float *weight,
                   float *to)
{
    THREADS
    {
        for (EACH_ROW(row, outs * taps)) {
            size_t o = row / taps, k = row % taps, tap = flipped ? taps - 1 - k : k;

            for (EACH(i, ins))
                to[row * ins + i] = o < outputs && i < inputs && tap >= empty
                                        ? weight[o * from_o + i * from_i + tap - empty]
                                        : 0.0f;
        }
    }
}

KERNEL pack_bias_kernel(size_t outs, size_t outputs, const float *bias, float *to)
{
    THREADS
    {
        for (EACH(o, outs))
            to[o] = o < outputs ? bias[o] : 0.0f;
    }
}

/* Back into (outputs, inputs, kernel). */
KERNEL unpack_kernel(size_t outputs, size_t kernel, size_t inputs, size_t taps, size_t ins,
                     const float *gradient, float *dweight)
{
    THREADS
    {
        for (EACH_ROW(row, outputs * kernel)) {
            size_t o = row / kernel, k = row % kernel, tap = k + taps - kernel;

            for (EACH(i, inputs))
                dweight[(o * inputs + i) * kernel + k] = gradient[(o * taps + tap) * ins + i];
        }
    }
}

KERNEL fill_bias_kernel(size_t rows, size_t columns, const float *bias, float *out)
{
    THREADS
    {
        for (EACH_ROW(row, rows))
            for (EACH(c, columns))
                out[row * columns + c] = bias[c];
    }
}

/* out (count, steps, columns) = in some steps later, with zeros in front. */
KERNEL delay_kernel(size_t count, size_t steps, size_t columns, size_t delay, const float *in,
                    size_t in_sample, float *out)
{
    THREADS
    {
        for (EACH_PLANE(n, count))
            for (EACH_ROW(t, steps))
                for (EACH(c, columns))
                    out[(n * steps + t) * columns + c] =
                        t >= delay ? in[n * in_sample + (t - delay) * columns + c] : 0.0f;
    }
}

/* Sums of columns, in two steps: blocks of (WIDE, HIGH) threads each sum some rows into
 * partial[part][column], in an order that depends on the shape alone ... */
KERNEL column_sums_kernel(size_t rows, size_t columns, const float *x, double *partial)
{
    SHARED double sums[HIGH][WIDE];

    PHASE
    {
        size_t c = blockIdx.x * WIDE + threadIdx.x;
        double sum = 0;

        if (c < columns)
            for (size_t row = blockIdx.y * HIGH + threadIdx.y; row < rows; row += gridDim.y * HIGH)
                sum += x[row * columns + c];
        sums[threadIdx.y][threadIdx.x] = sum;
    }
    PHASE
    {
        size_t c = blockIdx.x * WIDE + threadIdx.x;
        double sum = 0;

        if (threadIdx.y > 0 || c >= columns)
            continue;
        for (int y = 0; y < HIGH; y++)
            sum += sums[y][threadIdx.x];
        partial[blockIdx.y * columns + c] = sum;
    }
}

/* ... and one thread for each column adds them up. */
KERNEL add_column_sums_kernel(size_t parts, size_t columns, const double *partial, float *to)
{
    THREADS
    {
        for (EACH(c, columns)) {
            double sum = 0;

            for (size_t part = 0; part < parts; part++)
                sum += partial[part * columns + c];
            to[c] += (float)sum;
        }
    }
}

void cuda_delay(size_t count, size_t steps, size_t columns, size_t delay, const float *in,
                size_t in_sample, float *out)
{
    LAUNCH(delay_kernel, across(columns, steps, count), dim3(WIDE, HIGH), count, steps, columns,
           delay, in, in_sample, out);
}

/* ---- Panels ---- */

static size_t panel(const struct conv1d_shape *shape)
{
    return backend_stride(shape->output_stride) +
           taps_of(shape) * shape->input_stride * shape->output_stride;
}

static void pack(const struct conv1d_shape *shape, const float *weight, const float *bias,
                 float *forward, float *backward)
{
    size_t kernel = shape->kernel, ins = shape->input_stride, outs = shape->output_stride;
    size_t of_output = shape->inputs * kernel, of_input = kernel;
    size_t taps = taps_of(shape), empty = taps - kernel;

    if (forward) {
        LAUNCH(pack_bias_kernel, along(outs), LINE, outs, bias ? shape->outputs : 0, bias, forward);
        LAUNCH(pack_kernel, across(ins, outs * taps, 1), dim3(WIDE, HIGH), outs, taps, ins,
               shape->outputs, shape->inputs, of_output, of_input, false, empty, weight,
               forward + backend_stride(outs));
    }
    if (!backward)
        return;
    if (is_linear(shape)) /* the same weights: the product flips them */
        LAUNCH(pack_kernel, across(ins, outs, 1), dim3(WIDE, HIGH), outs, taps, ins, shape->outputs,
               shape->inputs, of_output, of_input, false, empty, weight, backward);
    else
        LAUNCH(pack_kernel, across(outs, ins * taps, 1), dim3(WIDE, HIGH), ins, taps, outs,
               shape->inputs, shape->outputs, of_input, of_output, true, empty, weight, backward);
}

static size_t gradient(const struct conv1d_shape *shape)
{
    return (taps_of(shape) * shape->input_stride + 1) * shape->output_stride;
}

static void unpack(const struct conv1d_shape *shape, const float *from, float *dweight,
                   float *dbias)
{
    size_t kernel = shape->kernel, ins = shape->input_stride;

    LAUNCH(unpack_kernel, across(shape->inputs, shape->outputs * kernel, 1), dim3(WIDE, HIGH),
           shape->outputs, kernel, shape->inputs, taps_of(shape), ins, from, dweight);
    if (dbias)
        LAUNCH(pack_bias_kernel, along(shape->outputs), LINE, shape->outputs, shape->outputs,
               from + taps_of(shape) * ins * shape->output_stride, dbias);
}

/* ---- Plans of cuDNN ---- */

/* A product: of x (count, 1, width, ins) and weights (outs, 1, kernel, ins), giving
 * (count, 1, out_width, outs).  weights: the other way, from both ends to the weights. */
struct product {
    bool weights;
    size_t count, width, out_width, kernel, pad, ins, outs;
};

struct plan {
    struct product product;
    bool usable;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    cudnnConvolutionFwdAlgo_t forward;
    cudnnConvolutionBwdFilterAlgo_t backward;
    size_t bytes; /* of scratch memory */
};

static bool same_product(const struct product *a, const struct product *b)
{
    return a->weights == b->weights && a->count == b->count && a->width == b->width &&
           a->out_width == b->out_width && a->kernel == b->kernel && a->pad == b->pad &&
           a->ins == b->ins && a->outs == b->outs;
}

static bool describe(struct plan *plan)
{
    const struct product *p = &plan->product;
    int count = (int)p->count, ins = (int)p->ins, outs = (int)p->outs;

    return CUDNN(cudnnCreateTensorDescriptor(&plan->x)) &&
           CUDNN(cudnnCreateTensorDescriptor(&plan->y)) &&
           CUDNN(cudnnCreateFilterDescriptor(&plan->w)) &&
           CUDNN(cudnnCreateConvolutionDescriptor(&plan->convolution)) &&
           CUDNN(cudnnSetTensor4dDescriptor(plan->x, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, count,
                                            ins, 1, (int)p->width)) &&
           CUDNN(cudnnSetTensor4dDescriptor(plan->y, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, count,
                                            outs, 1, (int)p->out_width)) &&
           CUDNN(cudnnSetFilter4dDescriptor(plan->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, outs, ins,
                                            1, (int)p->kernel)) &&
           CUDNN(cudnnSetConvolution2dDescriptor(plan->convolution, 0, (int)p->pad, 1, 1, 1, 1,
                                                 CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT)) &&
           CUDNN(cudnnSetConvolutionMathType(plan->convolution, CUDNN_FMA_MATH));
}

/* Whether an algorithm that cuDNN proposes will do.  Both kinds of proposals have these members. */
template <class Proposal> static bool will_do(const Proposal *proposal)
{
    return proposal->status == CUDNN_STATUS_SUCCESS &&
           proposal->determinism == CUDNN_DETERMINISTIC && proposal->memory <= PRODUCT_BYTES;
}

/* Whether a call succeeded; what cuDNN does not support is no fault. */
static bool is_supported(cudnnStatus_t status, const char *call)
{
    return (int)status / 1000 != CUDNN_STATUS_NOT_SUPPORTED / 1000 && cudnn_check(status, call);
}
#define SUPPORTED(call) is_supported((call), #call)

/* cuDNN proposes what it has for any kind of arithmetic; whether an algorithm can do without TF32
 * is known when it is asked for the scratch memory that it needs. */
static bool choose_forward(struct plan *plan)
{
    cudnnConvolutionFwdAlgoPerf_t proposals[MOST_ALGORITHMS];
    int count = 0;

    if (!SUPPORTED(cudnnGetConvolutionForwardAlgorithm_v7(cuda_cudnn(), plan->x, plan->w,
                                                          plan->convolution, plan->y,
                                                          MOST_ALGORITHMS, &count, proposals)))
        return false;
    for (int i = 0; i < count; i++) {
        plan->forward = proposals[i].algo;
        if (will_do(&proposals[i]) && SUPPORTED(cudnnGetConvolutionForwardWorkspaceSize(
                                          cuda_cudnn(), plan->x, plan->w, plan->convolution,
                                          plan->y, plan->forward, &plan->bytes)))
            return true;
    }
    return false;
}

static bool choose_backward(struct plan *plan)
{
    cudnnConvolutionBwdFilterAlgoPerf_t proposals[MOST_ALGORITHMS];
    int count = 0;

    if (!SUPPORTED(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
            cuda_cudnn(), plan->x, plan->y, plan->convolution, plan->w, MOST_ALGORITHMS, &count,
            proposals)))
        return false;
    for (int i = 0; i < count; i++) {
        plan->backward = proposals[i].algo;
        if (will_do(&proposals[i]) && SUPPORTED(cudnnGetConvolutionBackwardFilterWorkspaceSize(
                                          cuda_cudnn(), plan->x, plan->y, plan->convolution,
                                          plan->w, plan->backward, &plan->bytes)))
            return true;
    }
    return false;
}

/* The plan for a product, made when it is first asked for; NULL if there is no room for more. */
static struct plan *plan_for(const struct product *product)
{
    static struct plan plans[MOST_PLANS];
    static size_t count;

    for (size_t i = 0; i < count; i++)
        if (same_product(&plans[i].product, product))
            return &plans[i];
    if (count == MOST_PLANS)
        return NULL;
    struct plan *plan = &plans[count++];
    plan->product = *product;
    plan->usable =
        describe(plan) && (product->weights ? choose_backward(plan) : choose_forward(plan));
    return plan;
}

/* y = beta y + x * w by cuDNN; false if it cannot. */
static bool convolve_by_plan(struct plan *plan, const float *x, const float *w, float beta,
                             float *y)
{
    const float one = 1.0f;
    void *scratch = plan && plan->usable ? cuda_scratch(SCRATCH_PRODUCT, plan->bytes) : NULL;

    if (scratch)
        plan->usable = SUPPORTED(cudnnConvolutionForward(cuda_cudnn(), &one, plan->x, x, plan->w, w,
                                                         plan->convolution, plan->forward, scratch,
                                                         plan->bytes, &beta, plan->y, y));
    return scratch && plan->usable;
}

/* The same by cuBLAS: one product for each tap and all samples. */
static void convolve(const struct product *p, const float *x, const float *w, float beta, float *y)
{
    const float one = 1.0f;

    if (convolve_by_plan(plan_for(p), x, w, beta, y))
        return;
    for (size_t k = 0; k < p->kernel; k++)
        CUBLAS(cublasSgemmStridedBatched(
            cuda_cublas(), CUBLAS_OP_T, CUBLAS_OP_N, (int)p->outs, (int)p->out_width, (int)p->ins,
            &one, w + k * p->ins, (int)(p->kernel * p->ins), 0, x + k * p->ins, (int)p->ins,
            (long long)(p->width * p->ins), k ? &one : &beta, y, (int)p->outs,
            (long long)(p->out_width * p->outs), (int)p->count));
}

/* Adds to dw the gradient of the weights, by cuDNN; false if it cannot. */
static bool add_weights_by_plan(struct plan *plan, const float *x, const float *dy, float *dw)
{
    const float one = 1.0f;
    void *scratch = plan && plan->usable ? cuda_scratch(SCRATCH_PRODUCT, plan->bytes) : NULL;

    if (scratch)
        plan->usable = SUPPORTED(cudnnConvolutionBackwardFilter(
            cuda_cudnn(), &one, plan->x, x, plan->y, dy, plan->convolution, plan->backward, scratch,
            plan->bytes, &one, plan->w, dw));
    return scratch && plan->usable;
}

/* The same by cuBLAS: one product for each tap, of all steps of all samples as one matrix.  Where a
 * shift mixes neighbouring samples up, the halo of dy is zero. */
static void add_weights(const struct product *p, const float *x, const float *dy, float *dw)
{
    const float one = 1.0f;

    if (add_weights_by_plan(plan_for(p), x, dy, dw))
        return;
    for (size_t k = 0; k < p->kernel; k++) {
        size_t ahead = k > p->pad ? k - p->pad : 0, behind = k < p->pad ? p->pad - k : 0;
        size_t rows = p->count * p->width - ahead - behind;

        CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_N, CUBLAS_OP_T, (int)p->ins, (int)p->outs,
                           (int)rows, &one, x + ahead * p->ins, (int)p->ins, dy + behind * p->outs,
                           (int)p->outs, &one, dw + k * p->ins, (int)(p->kernel * p->ins)));
    }
}

/* ---- Causal convolutions ---- */

/* Steps from the one that tap k of a causal convolution sees to the one that it adds to. */
static size_t delay_of(const struct conv1d_shape *shape, size_t k)
{
    return (shape->kernel - 1 - k) * shape->dilation;
}

/* y += x * w, tap by tap for all samples. */
static void convolve_causally(const struct conv1d_shape *shape, size_t count, const float *x,
                              const float *w, float *y, size_t y_sample)
{
    size_t steps = shape->steps, ins = shape->input_stride, outs = shape->output_stride;
    size_t taps = taps_of(shape), empty = taps - shape->kernel;
    const float one = 1.0f;

    for (size_t k = 0; k < shape->kernel; k++) {
        size_t delay = delay_of(shape, k);

        if (delay < steps)
            CUBLAS(cublasSgemmStridedBatched(
                cuda_cublas(), CUBLAS_OP_T, CUBLAS_OP_N, (int)outs, (int)(steps - delay), (int)ins,
                &one, w + (k + empty) * ins, (int)(taps * ins), 0, x, (int)ins,
                (long long)shape->input_sample, &one, y + delay * outs, (int)outs,
                (long long)y_sample, (int)count));
    }
}

/* dx = beta dx + the gradient of the input, by flipped weights (pack).  The last tap,
 * which has no delay, comes first: it reaches all steps. */
static void convolve_causally_back(const struct conv1d_shape *shape, size_t count, const float *dy,
                                   const float *w, float beta, float *dx)
{
    size_t steps = shape->steps, ins = shape->input_stride, outs = shape->output_stride;
    size_t taps = taps_of(shape);
    const float one = 1.0f;

    for (size_t i = 0; i < shape->kernel; i++) {
        size_t delay = i * shape->dilation;

        if (delay < steps)
            CUBLAS(cublasSgemmStridedBatched(
                cuda_cublas(), CUBLAS_OP_T, CUBLAS_OP_N, (int)ins, (int)(steps - delay), (int)outs,
                &one, w + i * outs, (int)(taps * outs), 0, dy + delay * outs, (int)outs,
                (long long)shape->output_gradient_sample, i ? &one : &beta, dx, (int)ins,
                (long long)(steps * ins), (int)count));
    }
}

/* Adds to dw the gradient of the weights: one product for each tap, of all steps of all samples, x
 * being delayed.  dy is dense. */
static void add_weights_causally(const struct conv1d_shape *shape, size_t count, const float *x,
                                 const float *dy, float *dw)
{
    size_t steps = shape->steps, ins = shape->input_stride, outs = shape->output_stride;
    size_t taps = taps_of(shape), empty = taps - shape->kernel;
    float *delayed = (float *)cuda_scratch(SCRATCH_INPUT, count * steps * ins * sizeof *delayed);
    const float one = 1.0f;

    for (size_t k = 0; delayed && k < shape->kernel; k++) {
        size_t delay = delay_of(shape, k);

        if (delay >= steps)
            continue;
        cuda_delay(count, steps, ins, delay, x, shape->input_sample, delayed);
        CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_N, CUBLAS_OP_T, (int)ins, (int)outs,
                           (int)(count * steps), &one, delayed, (int)ins, dy, (int)outs, &one,
                           dw + (k + empty) * ins, (int)(taps * ins)));
    }
}

/* ---- Functions ---- */

/* out = rows of in x weights^T, both (., ins): row-major products for cuBLAS, which is
 * column-major, as products of the transposed matrices. */
static void multiply(const struct conv1d_shape *shape, size_t rows, const float *in,
                     const float *weights, float *out)
{
    const float one = 1.0f;

    CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_T, CUBLAS_OP_N, (int)shape->output_stride,
                       (int)rows, (int)shape->input_stride, &one, weights, (int)shape->input_stride,
                       in, (int)shape->input_stride, &one, out, (int)shape->output_stride));
}

/* (count, steps + 2 halo, stride) of samples at a distance of `sample` floats, from the first real
 * step on, as one dense array that begins with the halo: itself, or a copy.  NULL if there is no
 * memory. */
static const float *dense(size_t count, size_t steps, size_t halo, size_t stride, size_t sample,
                          const float *from, enum scratch_kind kind)
{
    size_t floats = (steps + 2 * halo) * stride;

    if (sample == floats)
        return from - halo * stride;
    float *copy = (float *)cuda_scratch(kind, count * floats * sizeof *copy);
    if (copy)
        cuda_move_rows(count, floats, from - halo * stride, sample, copy, floats, false);
    return copy;
}

/* Where to write (count, steps, stride): the place itself if it is dense, or scratch memory, from
 * where done() takes it there. */
static float *dense_output(size_t count, size_t floats, size_t sample, float *to)
{
    return sample == floats ? to
                            : (float *)cuda_scratch(SCRATCH_OUTPUT, count * floats * sizeof(float));
}

static void done(size_t count, size_t floats, size_t sample, const float *from, bool add, float *to)
{
    if (from != to)
        cuda_move_rows(count, floats, from, floats, to, sample, add);
}

static void forward(const struct conv1d_shape *shape, size_t count, const float *in,
                    const float *panel_, bool add, float *out)
{
    size_t steps = shape->steps, rows = count * steps, halo = halo_of(shape);
    size_t ins = shape->input_stride, outs = shape->output_stride;
    const float *weights = panel_ + backend_stride(outs);
    struct product product = {false, count, steps + 2 * halo, steps, taps_of(shape), 0, ins, outs};
    const float *x = is_causal(shape)
                         ? in
                         : dense(count, steps, halo, ins, shape->input_sample, in, SCRATCH_INPUT);
    float *y = dense_output(count, steps * outs, shape->output_sample, out);

    if (!x || !y)
        return;
    if (!add)
        LAUNCH(fill_bias_kernel, across(outs, rows, 1), dim3(WIDE, HIGH), rows, outs, panel_, y);
    else if (y != out)
        CUDA(cudaMemsetAsync(y, 0, rows * outs * sizeof *y, cuda_stream()));
    if (is_linear(shape))
        multiply(shape, rows, x, weights, y);
    else if (is_causal(shape))
        convolve_causally(shape, count, x, weights, y, steps * outs);
    else
        convolve(&product, x, weights, 1.0f, y);
    done(count, steps * outs, shape->output_sample, y, add, out);
}

static void backward_input(const struct conv1d_shape *shape, size_t count, const float *dout,
                           const float *panel_, bool add, float *din)
{
    size_t ins = shape->input_stride, outs = shape->output_stride, halo = halo_of(shape);
    size_t steps = shape->steps;
    struct product product = {false, count, steps + 2 * halo, steps, taps_of(shape), 0, outs, ins};
    const float *dy = is_causal(shape) ? dout
                                       : dense(count, steps, halo, outs,
                                               shape->output_gradient_sample, dout, SCRATCH_INPUT);
    float *dx = dense_output(count, steps * ins, shape->input_gradient_sample, din);
    const float one = 1.0f, beta = add && dx == din ? 1.0f : 0.0f;

    if (!dy || !dx)
        return;
    if (is_linear(shape))
        CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_N, CUBLAS_OP_N, (int)ins, (int)(count * steps),
                           (int)outs, &one, panel_, (int)ins, dy, (int)outs, &beta, dx, (int)ins));
    else if (is_causal(shape))
        convolve_causally_back(shape, count, dy, panel_, beta, dx);
    else
        convolve(&product, dy, panel_, beta, dx);
    done(count, steps * ins, shape->input_gradient_sample, dx, add, din);
}

void cuda_add_columns(size_t rows, size_t columns, const float *x, float *to)
{
    dim3 grid((unsigned)((columns + WIDE - 1) / WIDE), blocks_of(rows, HIGH * 32, 256));
    double *partial = (double *)cuda_scratch(SCRATCH_SUMS, grid.y * columns * sizeof *partial);

    if (!partial)
        return;
    LAUNCH(column_sums_kernel, grid, dim3(WIDE, HIGH), rows, columns, x, partial);
    LAUNCH(add_column_sums_kernel, along(columns), LINE, (size_t)grid.y, columns,
           (const double *)partial, to);
}

static void backward_weight(const struct conv1d_shape *shape, size_t count, const float *in,
                            const float *dout, bool bias, float *to)
{
    bool causal = is_causal(shape);
    size_t ins = shape->input_stride, outs = shape->output_stride;
    size_t halo = causal ? 0 : halo_of(shape);
    size_t steps = shape->steps, width = steps + 2 * halo, taps = taps_of(shape);
    struct product product = {true, count, width, width, taps, halo, ins, outs};
    const float *x =
        causal ? in : dense(count, steps, halo, ins, shape->input_sample, in, SCRATCH_INPUT);
    const float *dy =
        dense(count, steps, halo, outs, shape->output_gradient_sample, dout, SCRATCH_OUTPUT);
    const float one = 1.0f;

    if (!x || !dy)
        return;
    if (is_linear(shape))
        CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_N, CUBLAS_OP_T, (int)ins, (int)outs,
                           (int)(count * steps), &one, x, (int)ins, dy, (int)outs, &one, to,
                           (int)ins));
    else if (causal)
        add_weights_causally(shape, count, x, dy, to);
    else
        add_weights(&product, x, dy, to);
    if (bias) /* the halo adds nothing */
        cuda_add_columns(count * width, outs, dy, to + taps * ins * outs);
}

void cuda_fill_convolutions(struct backend *backend)
{
    backend->conv1d_panel = panel;
    backend->conv1d_pack = pack;
    backend->conv1d_forward = forward;
    backend->conv1d_backward_input = backward_input;
    backend->conv1d_gradient = gradient;
    backend->conv1d_backward_weight = backward_weight;
    backend->conv1d_unpack = unpack;
}
