/* Stages on the GPU: one thread for a channel of a step.
 *
 * Normalisation is not left to cuDNN: it would need a sweep over memory of its own and a place for
 * its result, where one sweep here does normalisation, activation and pooling, and its derivatives
 * end where the tangents begin. */
#include "stage_rows.h"

/* ---- Forward ---- */

/* Joins the moments of these rows to those of the block (Chan, Golub, LeVeque 1979). */
KERNEL join_moments_kernel(struct stage_call call, const double *total)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;
        double n = (double)(call.count * shape->steps);

        for (EACH(c, shape->stride)) {
            double *seen = call.stage.moments + c, before = seen[0], all = before + n;
            double sum = total[STAGE_SUM_A * shape->stride + c];
            double squares = total[STAGE_SUM_B * shape->stride + c];
            double *mean = seen + shape->stride, *deviation = mean + shape->stride;
            double apart = call.z[c] + sum / n - *mean;

            *deviation += squares - sum * sum / n + apart * apart * before * n / all;
            *mean += apart * n / all;
            *seen = all;
        }
    }
}

static void moments(const struct stage *stage, size_t block, size_t first, size_t count,
                    const float *z)
{
    struct stage_call call = {*stage, first, count};
    size_t groups;

    call.z = z;
    call.stage.moments += block * STAGE_MOMENTS * stage->shape.stride;
    const double *total = stage_sum(&call, SUM_MOMENTS, &groups);
    if (total && !has_samples(stage))
        LAUNCH(join_moments_kernel, along(stage->shape.stride), LINE, call, total);
}

/* All blocks joined, in order, into the rows of the batch. */
DEVICE void join_blocks(const struct stage_call *call, size_t c)
{
    const struct stage *stage = &call->stage;
    size_t stride = stage->shape.stride;
    double count = 0, mean = 0, deviation = 0;

    for (size_t block = 0; block < stage->blocks; block++) {
        const double *seen = stage->moments + block * STAGE_MOMENTS * stride + c;
        double n = seen[0], apart = seen[stride] - mean;

        if (n == 0)
            continue;
        deviation += seen[2 * stride] + apart * apart * count * n / (count + n);
        mean += apart * n / (count + n);
        count += n;
    }
    row_of(call, 0, STAGE_BATCH_MEAN)[c] = (float)mean;
    row_of(call, 0, STAGE_BATCH_VARIANCE)[c] =
        (float)(count > 0 ? fmax(deviation / count, 0.0) : 0.0);
}

KERNEL reduce_kernel(struct stage_call call, const float *running_mean,
                     const float *running_variance)
{
    THREADS
    {
        const struct stage *stage = &call.stage;

        for (EACH(c, stage->shape.stride)) {
            double mean = 0, variance = 1.0 - STAGE_EPSILON;

            row_of(&call, 0, STAGE_MATCH_OFFSET)[c] = 0;
            row_of(&call, 0, STAGE_MATCH_SLOPE)[c] = 0;
            if (stage->measured)
                join_blocks(&call, c);
            if (stage->batch) {
                mean = row_of(&call, 0, STAGE_BATCH_MEAN)[c];
                variance = row_of(&call, 0, STAGE_BATCH_VARIANCE)[c];
            } else if (stage->shape.norm == NORM_BATCH && c < stage->shape.channels) {
                mean = running_mean[c];
                variance = running_variance[c];
            }
            set_channel_rows(&call, 0, c, mean, 1.0 / sqrt(variance + STAGE_EPSILON));
        }
    }
}

static void reduce(const struct stage *stage, const float *running_mean,
                   const float *running_variance)
{
    struct stage_call call = {*stage};

    if (!has_samples(stage))
        LAUNCH(reduce_kernel, along(stage->shape.stride), LINE, call, running_mean,
               running_variance);
}

KERNEL forward_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;

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

static void forward(const struct stage *stage, size_t first, size_t count, const float *z, float *p)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.p = p;
    LAUNCH(forward_kernel, across(stage->shape.stride, stage->shape.pooled, count),
           dim3(WIDE, HIGH), call);
}

KERNEL update_running_kernel(struct stage_call call, float momentum, float *running_mean,
                             float *running_variance)
{
    THREADS
    {
        double n = (double)(call.stage.samples * call.stage.shape.steps);
        double unbiased = n > 1 ? n / (n - 1) : 1.0;

        for (EACH(c, call.stage.shape.channels)) {
            double mean = row_of(&call, 0, STAGE_BATCH_MEAN)[c];
            double variance = row_of(&call, 0, STAGE_BATCH_VARIANCE)[c] * unbiased;

            running_mean[c] = (float)(running_mean[c] + momentum * (mean - running_mean[c]));
            running_variance[c] =
                (float)(running_variance[c] + momentum * (variance - running_variance[c]));
        }
    }
}

static void update_running(const struct stage *stage, float momentum, float *running_mean,
                           float *running_variance)
{
    struct stage_call call = {*stage};

    LAUNCH(update_running_kernel, along(stage->shape.channels), LINE, call, momentum, running_mean,
           running_variance);
}

/* What gradients of the mean and the biased variance of n values add to the gradient of each,
 *     dz += dmean / n + dvariance 2 (z - mean) / n
 * as the rows that backward_reduce adds to its own; z is taken from the mean in use. */
DEVICE void set_match_rows(const struct stage_call *call, size_t c, double dmean, double dvariance)
{
    double n = (double)(call->stage.samples * call->stage.shape.steps);
    double slope = dvariance * 2 / n;
    double centre = row_of(call, 0, STAGE_MEAN)[c], mean = row_of(call, 0, STAGE_BATCH_MEAN)[c];

    row_of(call, 0, STAGE_MATCH_SLOPE)[c] = (float)slope;
    row_of(call, 0, STAGE_MATCH_OFFSET)[c] = (float)(dmean / n + slope * (centre - mean));
}

KERNEL statistics_gradient_kernel(struct stage_call call, const float *dmean,
                                  const float *dvariance)
{
    THREADS
    {
        for (EACH(c, call.stage.shape.channels))
            set_match_rows(&call, c, dmean[c], dvariance[c]);
    }
}

static void statistics_gradient(const struct stage *stage, const float *dmean,
                                const float *dvariance)
{
    struct stage_call call = {*stage};

    LAUNCH(statistics_gradient_kernel, along(stage->shape.channels), LINE, call, dmean, dvariance);
}

/* One block: the norms over the channels, then the rows of each. */
KERNEL match_kernel(struct stage_call call, double weight, bool squared, const float *running_mean,
                    const float *running_variance, double *sum)
{
    SHARED struct pair shared[LINE];
    SHARED struct pair norm;
    const struct stage_shape *shape = &call.stage.shape;
    const float *mean = row_of(&call, 0, STAGE_BATCH_MEAN);
    const float *variance = row_of(&call, 0, STAGE_BATCH_VARIANCE);

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

static void match(const struct stage *stage, double weight, bool squared, const float *running_mean,
                  const float *running_variance, double *sum)
{
    struct stage_call call = {*stage};

    LAUNCH(match_kernel, 1, LINE, call, weight, squared, running_mean, running_variance, sum);
}

/* ---- Backward ---- */

static void backward_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                          const float *z, const float *dp, float *dgamma, float *dbeta)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.dp = dp;
    call.dgamma = dgamma;
    call.dbeta = dbeta;
    stage_add_gradient_sums(&call, block, SUM_GRADIENT);
}

KERNEL backward_reduce_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage *stage = &call.stage;
        double n = (double)(stage->samples * stage->shape.steps);

        for (EACH(c, stage->shape.stride)) {
            double a = stage->summed ? over_blocks(stage, STAGE_SUM_A, c) : 0.0;
            double b = stage->summed ? over_blocks(stage, STAGE_SUM_B, c) : 0.0;

            if (call.dgamma && c < stage->shape.channels) {
                call.dgamma[c] = (float)b;
                call.dbeta[c] = (float)a;
            }
            if (stage->shape.norm == NORM_INSTANCE)
                continue;
            set_gradient_rows(&call, 0, c, a / n, b / n, stage->batch ? stage->gamma[c] : 0.0);
            row_of(&call, 0, STAGE_OFFSET)[c] += row_of(&call, 0, STAGE_MATCH_OFFSET)[c];
            row_of(&call, 0, STAGE_SLOPE)[c] += row_of(&call, 0, STAGE_MATCH_SLOPE)[c];
        }
    }
}

static void backward_reduce(const struct stage *stage, float *dgamma, float *dbeta)
{
    struct stage_call call = {*stage};

    call.dgamma = dgamma;
    call.dbeta = dbeta;
    if (stage->shape.norm != NORM_LAYER)
        LAUNCH(backward_reduce_kernel, along(stage->shape.stride), LINE, call);
}

/* dz of one step. */
DEVICE void store_gradient(const struct stage_call *call, const struct lane *lane, float da,
                           size_t step)
{
    size_t n = lane->sample, c = lane->channel;

    if (lane->layer)
        da *= call->stage.gamma[at_step(call, lane, step)];
    call->dz[at_input_gradient(call, lane, step)] =
        lane->scale * da + row_of(call, n, STAGE_OFFSET)[c] +
        row_of(call, n, STAGE_SLOPE)[c] * (call->z[at_input(call, lane, step)] - lane->mean);
}

KERNEL backward_kernel(struct stage_call call, size_t rows)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;
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

static void backward(const struct stage *stage, size_t first, size_t count, const float *z,
                     const float *dp, float *dz)
{
    struct stage_call call = {*stage, first, count};
    size_t rows = backward_rows(&stage->shape);

    call.z = z;
    call.dp = dp;
    call.dz = dz;
    LAUNCH(backward_kernel, across(stage->shape.stride, rows, count), dim3(WIDE, HIGH), call, rows);
}

void cuda_fill_stages(struct backend *backend)
{
    backend->stage_moments = moments;
    backend->stage_reduce = reduce;
    backend->stage_forward = forward;
    backend->stage_update_running = update_running;
    backend->stage_match = match;
    backend->stage_statistics_gradient = statistics_gradient;
    backend->stage_backward_sums = backward_sums;
    backend->stage_backward_reduce = backward_reduce;
    backend->stage_backward = backward;
}
