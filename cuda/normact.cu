/* Normalisation, activation and pooling on the GPU: one thread for a channel of a step.
 *
 * Normalisation is not left to cuDNN: it would need a sweep over memory of its own and a place for
 * its result, where one sweep here does normalisation, activation and pooling, and its derivatives
 * end where the tangents begin. */
#include "normact_rows.h"

/* ---- Forward ---- */

/* Joins the moments of these rows to those of the block (Chan, Golub, LeVeque 1979). */
KERNEL join_moments_kernel(struct normact_call call, const double *total)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;
        double n = (double)(call.count * shape->steps);

        for (EACH(c, shape->stride)) {
            double *seen = call.normact.moments + c, before = seen[0], all = before + n;
            double sum = total[NORMACT_SUM_A * shape->stride + c];
            double squares = total[NORMACT_SUM_B * shape->stride + c];
            double *mean = seen + shape->stride, *deviation = mean + shape->stride;
            double delta = call.z[c] + sum / n - *mean;

            *deviation += squares - sum * sum / n + delta * delta * before * n / all;
            *mean += delta * n / all;
            *seen = all;
        }
    }
}

static void moments(const struct normact *normact, size_t block, size_t first, size_t count,
                    const float *z)
{
    struct normact_call call = {*normact, first, count};
    size_t groups;

    call.z = z;
    call.normact.moments += block * NORMACT_MOMENTS * normact->shape.stride;
    const double *total = normact_sum(&call, SUM_MOMENTS, &groups);
    if (total && !has_samples(normact))
        LAUNCH(join_moments_kernel, along(normact->shape.stride), LINE, call, total);
}

/* All blocks joined, in order, into the rows of the batch. */
DEVICE void join_blocks(const struct normact_call *call, size_t c)
{
    const struct normact *normact = &call->normact;
    size_t stride = normact->shape.stride;
    double count = 0, mean = 0, deviation = 0;

    for (size_t block = 0; block < normact->blocks; block++) {
        const double *seen = normact->moments + block * NORMACT_MOMENTS * stride + c;
        double n = seen[NORMACT_COUNT * stride];
        double delta = seen[NORMACT_BLOCK_MEAN * stride] - mean;

        if (n == 0)
            continue;
        deviation += seen[NORMACT_BLOCK_SQUARES * stride] + delta * delta * count * n / (count + n);
        mean += delta * n / (count + n);
        count += n;
    }
    row_of(call, 0, NORMACT_BATCH_MEAN)[c] = (float)mean;
    row_of(call, 0, NORMACT_BATCH_VARIANCE)[c] =
        (float)(count > 0 ? fmax(deviation / count, 0.0) : 0.0);
}

KERNEL reduce_kernel(struct normact_call call, const float *running_mean,
                     const float *running_variance)
{
    THREADS
    {
        const struct normact *normact = &call.normact;

        for (EACH(c, normact->shape.stride)) {
            double mean = 0, variance = 1.0 - BACKEND_EPSILON;

            row_of(&call, 0, NORMACT_MATCH_OFFSET)[c] = 0;
            row_of(&call, 0, NORMACT_MATCH_SLOPE)[c] = 0;
            if (normact->measured)
                join_blocks(&call, c);
            if (normact->batch) {
                mean = row_of(&call, 0, NORMACT_BATCH_MEAN)[c];
                variance = row_of(&call, 0, NORMACT_BATCH_VARIANCE)[c];
            } else if (normact->shape.norm == NORM_BATCH && c < normact->shape.channels) {
                mean = running_mean[c];
                variance = running_variance[c];
            }
            set_channel_rows(&call, 0, c, mean, 1.0 / sqrt(variance + BACKEND_EPSILON));
        }
    }
}

static void reduce(const struct normact *normact, const float *running_mean,
                   const float *running_variance)
{
    struct normact_call call = {*normact};

    if (!has_samples(normact))
        LAUNCH(reduce_kernel, along(normact->shape.stride), LINE, call, running_mean,
               running_variance);
}

KERNEL forward_kernel(struct normact_call call)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;

        for (EACH_PLANE(n, call.count))
            for (EACH(c, shape->stride)) {
                struct lane lane = lane_of(&call, n, c);

                for (EACH_ROW(t, shape->pooled)) {
                    struct window window = window_of(&call, &lane, t);

                    call.p[at_output(&call, &lane, t)] = pool(shape->pool, &window, window.y);
                }
            }
    }
}

static void forward(const struct normact *normact, size_t first, size_t count, const float *z,
                    float *p)
{
    struct normact_call call = {*normact, first, count};

    call.z = z;
    call.p = p;
    LAUNCH(forward_kernel, across(normact->shape.stride, normact->shape.pooled, count),
           dim3(WIDE, HIGH), call);
}

KERNEL update_running_kernel(struct normact_call call, float momentum, float *running_mean,
                             float *running_variance)
{
    THREADS
    {
        double n = (double)(call.normact.samples * call.normact.shape.steps);
        double unbiased = n > 1 ? n / (n - 1) : 1.0;

        for (EACH(c, call.normact.shape.channels)) {
            double mean = row_of(&call, 0, NORMACT_BATCH_MEAN)[c];
            double variance = row_of(&call, 0, NORMACT_BATCH_VARIANCE)[c] * unbiased;

            running_mean[c] = (float)(running_mean[c] + momentum * (mean - running_mean[c]));
            running_variance[c] =
                (float)(running_variance[c] + momentum * (variance - running_variance[c]));
        }
    }
}

static void update_running(const struct normact *normact, float momentum, float *running_mean,
                           float *running_variance)
{
    struct normact_call call = {*normact};

    LAUNCH(update_running_kernel, along(normact->shape.channels), LINE, call, momentum,
           running_mean, running_variance);
}

/* What gradients of the mean and the biased variance of n values add to the gradient of each,
 *     dz += dmean / n + dvariance 2 (z - mean) / n
 * as the rows that backward_reduce adds to its own; z is taken from the mean in use. */
DEVICE void set_match_rows(const struct normact_call *call, size_t c, double dmean,
                           double dvariance)
{
    double n = (double)(call->normact.samples * call->normact.shape.steps);
    double slope = dvariance * 2 / n;
    double centre = row_of(call, 0, NORMACT_MEAN)[c], mean = row_of(call, 0, NORMACT_BATCH_MEAN)[c];

    row_of(call, 0, NORMACT_MATCH_SLOPE)[c] = (float)slope;
    row_of(call, 0, NORMACT_MATCH_OFFSET)[c] = (float)(dmean / n + slope * (centre - mean));
}

KERNEL statistics_gradient_kernel(struct normact_call call, const float *dmean,
                                  const float *dvariance)
{
    THREADS
    {
        for (EACH(c, call.normact.shape.channels))
            set_match_rows(&call, c, dmean[c], dvariance[c]);
    }
}

static void statistics_gradient(const struct normact *normact, const float *dmean,
                                const float *dvariance)
{
    struct normact_call call = {*normact};

    LAUNCH(statistics_gradient_kernel, along(normact->shape.channels), LINE, call, dmean,
           dvariance);
}

/* One block: the norms over the channels, then the rows of each. */
KERNEL match_kernel(struct normact_call call, double weight, bool squared,
                    const float *running_mean, const float *running_variance, double *sum)
{
    SHARED struct pair shared[LINE];
    SHARED struct pair norm;
    const struct normact_shape *shape = &call.normact.shape;
    const float *mean = row_of(&call, 0, NORMACT_BATCH_MEAN);
    const float *variance = row_of(&call, 0, NORMACT_BATCH_VARIANCE);

    PHASE
    {
        struct pair part = {0, 0};

        for (size_t c = threadIdx.x; c < shape->channels; c += LINE) {
            double m = (double)mean[c] - running_mean[c];
            double v = (double)variance[c] - running_variance[c];

            part.a += m * m;
            part.b += v * v;
        }
        shared[threadIdx.x] = part;
    }
    PHASE
    {
        struct pair all = {0, 0};

        if (threadIdx.x > 0)
            continue;
        for (int i = 0; i < LINE; i++) {
            all.a += shared[i].a;
            all.b += shared[i].b;
        }
        norm = all;
        *sum += weight * (squared ? all.a + all.b : sqrt(all.a) + sqrt(all.b));
    }
    PHASE
    {
        for (size_t c = threadIdx.x; c < shape->channels; c += LINE) {
            double m = (double)mean[c] - running_mean[c];
            double v = (double)variance[c] - running_variance[c];
            double dmean = 2 * m, dvariance = 2 * v; /* of the squared norms */

            if (!squared) { /* the norm has no slope at 0 */
                dmean = norm.a > 0 ? m / sqrt(norm.a) : 0;
                dvariance = norm.b > 0 ? v / sqrt(norm.b) : 0;
            }
            set_match_rows(&call, c, weight * dmean, weight * dvariance);
        }
    }
}

static void match(const struct normact *normact, double weight, bool squared,
                  const float *running_mean, const float *running_variance, double *sum)
{
    struct normact_call call = {*normact};

    LAUNCH(match_kernel, 1, LINE, call, weight, squared, running_mean, running_variance, sum);
}

/* ---- Backward ---- */

static void backward_sums(const struct normact *normact, size_t block, size_t first, size_t count,
                          const float *z, const float *dp, float *dgamma, float *dbeta)
{
    struct normact_call call = {*normact, first, count};

    call.z = z;
    call.dp = dp;
    call.dgamma = dgamma;
    call.dbeta = dbeta;
    normact_add_gradient_sums(&call, block, SUM_GRADIENT);
}

KERNEL backward_reduce_kernel(struct normact_call call)
{
    THREADS
    {
        const struct normact *normact = &call.normact;
        double n = (double)(normact->samples * normact->shape.steps);

        for (EACH(c, normact->shape.stride)) {
            double a = normact->summed ? over_blocks(normact, NORMACT_SUM_A, c) : 0.0;
            double b = normact->summed ? over_blocks(normact, NORMACT_SUM_B, c) : 0.0;

            if (call.dgamma && c < normact->shape.channels) {
                call.dgamma[c] = (float)b;
                call.dbeta[c] = (float)a;
            }
            if (normact->shape.norm == NORM_INSTANCE)
                continue;
            set_gradient_rows(&call, 0, c, a / n, b / n, normact->batch ? normact->gamma[c] : 0.0);
            row_of(&call, 0, NORMACT_OFFSET)[c] += row_of(&call, 0, NORMACT_MATCH_OFFSET)[c];
            row_of(&call, 0, NORMACT_SLOPE)[c] += row_of(&call, 0, NORMACT_MATCH_SLOPE)[c];
        }
    }
}

static void backward_reduce(const struct normact *normact, float *dgamma, float *dbeta)
{
    struct normact_call call = {*normact};

    call.dgamma = dgamma;
    call.dbeta = dbeta;
    if (normact->shape.norm != NORM_LAYER)
        LAUNCH(backward_reduce_kernel, along(normact->shape.stride), LINE, call);
}

/* dz of one step. */
DEVICE void store_gradient(const struct normact_call *call, const struct lane *lane, float da,
                           size_t step)
{
    size_t n = lane->sample, c = lane->channel;

    if (lane->layer)
        da *= call->normact.gamma[at_step(call, lane, step)];
    call->dz[at_input_gradient(call, lane, step)] =
        lane->scale * da + row_of(call, n, NORMACT_OFFSET)[c] +
        row_of(call, n, NORMACT_SLOPE)[c] * (call->z[at_input(call, lane, step)] - lane->mean);
}

KERNEL backward_kernel(struct normact_call call, size_t rows)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;
        size_t width = pool_width(&call);

        for (EACH_PLANE(n, call.count))
            for (EACH(c, shape->stride)) {
                struct lane lane = lane_of(&call, n, c);

                for (EACH_ROW(t, rows)) {
                    if (t >= shape->pooled) {
                        store_gradient(&call, &lane, 0, width * shape->pooled + t - shape->pooled);
                        continue;
                    }
                    struct window window = window_of(&call, &lane, t);
                    for (size_t w = 0; w < width; w++)
                        store_gradient(&call, &lane, slope_at(&call, &lane, &window, call.dp, t, w),
                                       width * t + w);
                }
            }
    }
}

static void backward(const struct normact *normact, size_t first, size_t count, const float *z,
                     const float *dp, float *dz)
{
    struct normact_call call = {*normact, first, count};
    size_t rows = backward_rows(&normact->shape);

    call.z = z;
    call.dp = dp;
    call.dz = dz;
    LAUNCH(backward_kernel, across(normact->shape.stride, rows, count), dim3(WIDE, HIGH), call,
           rows);
}

void cuda_fill_normact(struct backend *backend)
{
    backend->normact_moments = moments;
    backend->normact_reduce = reduce;
    backend->normact_forward = forward;
    backend->normact_update_running = update_running;
    backend->normact_match = match;
    backend->normact_statistics_gradient = statistics_gradient;
    backend->normact_backward_sums = backward_sums;
    backend->normact_backward_reduce = backward_reduce;
    backend->normact_backward = backward;
}
