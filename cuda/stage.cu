/* Stages on the GPU: one thread for a channel of a step (elementwise), or for a channel of some
 * steps (sums).  See backend_cpu_stage.c for the formulas of the rows.
 *
 * Normalisation is not left to cuDNN: it would need a sweep over memory of its own and a place for
 * its result, where one sweep here does normalisation, activation and pooling, and its derivatives
 * end where the tangents begin.
 *
 * Sums.  A group is what has one mean: the batch, or a sample.  Blocks of (WIDE, HIGH) threads sum
 * some rows of a group in double precision, into partial[group][part][2][stride]; then the parts of
 * each group are added up in order into total[group][2][stride].  Which rows are whose depends on
 * the shape alone, so that the same bits come out every time. */
#include "stage_math.h"

enum { ROWS_OF_THREAD = 32, MOST_PARTS = 256 };

#define EPSILON 1e-5

/* ---- Sums ---- */

/* What is summed up, A and B (see enum stage_sum). */
enum sums {
    SUM_MOMENTS, /* z - pivot and its square */
    SUM_TANGENT, /* Rz, (z - mean) Rz */
    SUM_GRADIENT,
    SUM_TANGENT_GRADIENT,
};

struct pair {
    double a, b;
};

/* Of step t (moments and tangents) or of what was pooled into it (gradients). */
DEVICE struct pair moment_terms(const struct stage_call *call, const struct lane *lane, size_t t)
{
    size_t start = lane->sample * call->stage.shape.input_sample;
    /* The first value of the group, so that nothing is lost when the mean is large. */
    float pivot = per_sample(call) ? call->z[start + (lane->layer ? 0 : lane->channel)]
                                   : call->z[lane->channel];
    float d = call->z[at_input(call, lane, t)] - pivot;
    struct pair out = {d, (double)(d * d)};

    return out;
}

DEVICE struct pair tangent_terms(const struct stage_call *call, const struct lane *lane, size_t t)
{
    size_t at = at_input(call, lane, t);
    float rz = call->rz[at];
    struct pair out = {rz, (double)((call->z[at] - lane->mean) * rz)};

    return out;
}

/* Gradients by gamma and beta are those of the pair before gamma is in it. */
DEVICE struct pair gradient_terms(const struct stage_call *call, const struct lane *lane, size_t t,
                                  size_t w, const struct window *window)
{
    const struct stage_shape *shape = &call->stage.shape;
    size_t step = pool_width(call) * t + w;
    float share = unpool(shape->pool, window, call->dp[at_output_gradient(call, lane, t)], w);
    float da = times_slope(shape->act, share, window->a[w], window->y[w]);
    float rstd = row_of(call, lane->sample, STAGE_RSTD)[lane->channel];
    struct pair out = {da,
                       (double)(da * ((call->z[at_input(call, lane, step)] - lane->mean) * rstd))};

    return out;
}

struct tangent_terms {
    struct pair pair;       /* Rda, R(da xh) */
    struct gradient before; /* da, Rda */
    struct normalised n;
};

DEVICE struct tangent_terms tangent_gradient_terms(const struct stage_call *call,
                                                   const struct lane *lane, size_t t, size_t w,
                                                   const struct window *window)
{
    struct tangent_lane tangent = tangent_lane_of(call, lane);
    struct tangent_terms out;

    out.before = gradient_at(call, lane, &tangent, window, t, w);
    out.n = normalised_at(call, lane, &tangent, pool_width(call) * t + w);
    out.pair.a = out.before.rda;
    out.pair.b = (double)(out.before.rda * out.n.x + out.before.da * out.n.rx);
    return out;
}

DEVICE struct pair terms(enum sums sums, const struct stage_call *call, const struct lane *lane,
                         size_t t)
{
    struct pair sum = {0, 0};

    if (sums == SUM_MOMENTS)
        return moment_terms(call, lane, t);
    if (sums == SUM_TANGENT)
        return tangent_terms(call, lane, t);
    struct window window = window_of(call, lane, t);
    for (size_t w = 0; w < pool_width(call); w++) {
        size_t at = at_step(call, lane, pool_width(call) * t + w);
        float gamma = lane->layer ? call->stage.gamma[at] : 1.0f;
        struct pair one;

        if (sums == SUM_GRADIENT) {
            one = gradient_terms(call, lane, t, w, &window);
            one.a *= gamma;
            one.b *= gamma;
        } else {
            struct tangent_terms both = tangent_gradient_terms(call, lane, t, w, &window);

            one = both.pair;
            if (lane->layer) {
                float rgamma = call->stage.tangent_gamma[at];

                one.a = one.a * gamma + both.before.da * rgamma;
                one.b = one.b * gamma + both.before.da * rgamma * both.n.x;
            }
        }
        sum.a += one.a;
        sum.b += one.b;
    }
    return sum;
}

/* rows: of a group.  Grid: (channels, parts, groups). */
KERNEL sums_kernel(struct stage_call call, enum sums sums, size_t groups, size_t rows, size_t steps,
                   double *partial)
{
    SHARED struct pair shared[HIGH][WIDE];
    size_t stride = call.stage.shape.stride;

    for (size_t group = blockIdx.z; group < groups; group += gridDim.z) {
        PHASE
        {
            size_t c = blockIdx.x * WIDE + threadIdx.x;
            struct pair sum = {0, 0};

            if (c < stride)
                for (size_t row = blockIdx.y * HIGH + threadIdx.y; row < rows;
                     row += gridDim.y * HIGH) {
                    struct lane lane = lane_of(&call, per_sample(&call) ? group : row / steps, c);
                    struct pair one = terms(sums, &call, &lane, row % steps);

                    sum.a += one.a;
                    sum.b += one.b;
                }
            shared[threadIdx.y][threadIdx.x] = sum;
        }
        PHASE
        {
            size_t c = blockIdx.x * WIDE + threadIdx.x;
            double *to = partial + (group * gridDim.y + blockIdx.y) * STAGE_SUMS * stride;
            struct pair sum = {0, 0};

            if (threadIdx.y > 0 || c >= stride)
                continue;
            for (int y = 0; y < HIGH; y++) {
                sum.a += shared[y][threadIdx.x].a;
                sum.b += shared[y][threadIdx.x].b;
            }
            to[STAGE_SUM_A * stride + c] = sum.a;
            to[STAGE_SUM_B * stride + c] = sum.b;
        }
    }
}

/* total[group][i] = sum over parts of partial[group][part][i], values of each. */
KERNEL add_parts_kernel(size_t groups, size_t parts, size_t values, const double *partial,
                        double *total)
{
    THREADS
    {
        for (EACH_ROW(group, groups))
            for (EACH(i, values)) {
                double sum = 0;

                for (size_t part = 0; part < parts; part++)
                    sum += partial[(group * parts + part) * values + i];
                total[group * values + i] = sum;
            }
    }
}

/* to[i] += sum over groups of total[group][i]. */
KERNEL add_groups_kernel(size_t groups, size_t values, const double *total, double *to)
{
    THREADS
    {
        for (EACH(i, values)) {
            double sum = 0;

            for (size_t group = 0; group < groups; group++)
                sum += total[group * values + i];
            to[i] += sum;
        }
    }
}

static bool has_samples(const struct stage *stage)
{
    return stage->shape.norm == NORM_INSTANCE || stage->shape.norm == NORM_LAYER;
}

/* The sums of all groups, (groups, STAGE_SUMS, stride) of scratch memory; NULL without memory. */
static double *sum_groups(const struct stage_call *call, enum sums sums, size_t *groups)
{
    const struct stage_shape *shape = &call->stage.shape;
    bool pooled = sums == SUM_GRADIENT || sums == SUM_TANGENT_GRADIENT;
    size_t steps = pooled ? shape->pooled : shape->steps, values = STAGE_SUMS * shape->stride;

    *groups = has_samples(&call->stage) ? call->count : 1;
    size_t rows = steps * call->count / *groups;
    dim3 grid((unsigned)((shape->stride + WIDE - 1) / WIDE),
              blocks_of(rows, HIGH * ROWS_OF_THREAD, MOST_PARTS), blocks_of(*groups, 1, MOST_GRID));
    size_t parts = grid.y;
    double *total =
        (double *)cuda_scratch(SCRATCH_SUMS, *groups * (parts + 1) * values * sizeof *total);

    if (!total)
        return NULL;
    double *partial = total + *groups * values;
    LAUNCH(sums_kernel, grid, dim3(WIDE, HIGH), *call, sums, *groups, rows, steps, partial);
    LAUNCH(add_parts_kernel, across(values, *groups, 1), dim3(WIDE, HIGH), *groups, parts, values,
           (const double *)partial, total);
    return total;
}

/* ---- Rows ---- */

DEVICE void set_channel_rows(const struct stage_call *call, size_t sample, size_t c, double mean,
                             double rstd)
{
    const struct stage *stage = &call->stage;
    double gamma = stage->gamma ? stage->gamma[c] : 1.0, beta = stage->beta ? stage->beta[c] : 0.0;

    row_of(call, sample, STAGE_MEAN)[c] = (float)mean;
    row_of(call, sample, STAGE_RSTD)[c] = (float)rstd;
    row_of(call, sample, STAGE_SCALE)[c] = (float)(gamma * rstd);
    row_of(call, sample, STAGE_SHIFT)[c] = (float)(beta - mean * gamma * rstd);
}

DEVICE void set_layer_rows(const struct stage_call *call, size_t sample, size_t c, double mean,
                           double rstd)
{
    row_of(call, sample, STAGE_MEAN)[c] = (float)mean;
    row_of(call, sample, STAGE_RSTD)[c] = (float)rstd;
    row_of(call, sample, STAGE_SCALE)[c] = (float)rstd;
    row_of(call, sample, STAGE_SHIFT)[c] = (float)(-mean * rstd);
}

DEVICE void set_gradient_rows(const struct stage_call *call, size_t sample, size_t c,
                              double mean_da, double mean_dax, double gamma)
{
    double rstd = row_of(call, sample, STAGE_RSTD)[c];

    row_of(call, sample, STAGE_MEAN_DA)[c] = (float)mean_da;
    row_of(call, sample, STAGE_MEAN_DAX)[c] = (float)mean_dax;
    row_of(call, sample, STAGE_MEAN_GX)[c] = (float)(gamma * mean_dax);
    row_of(call, sample, STAGE_OFFSET)[c] = (float)(-rstd * gamma * mean_da);
    row_of(call, sample, STAGE_SLOPE)[c] = (float)(-rstd * rstd * gamma * mean_dax);
}

DEVICE void set_tangent_rows(const struct stage_call *call, size_t sample, size_t c, double mean_rz,
                             double mean_xrz)
{
    const struct stage *stage = &call->stage;
    bool moves = stage->tangent_gamma && stage->shape.norm != NORM_LAYER;
    double rgamma = moves ? stage->tangent_gamma[c] : 0.0;
    double rbeta = moves ? stage->tangent_beta[c] : 0.0;
    double rstd = row_of(call, sample, STAGE_RSTD)[c];
    double scale = row_of(call, sample, STAGE_SCALE)[c];

    row_of(call, sample, STAGE_TANGENT_MEAN)[c] = (float)mean_rz;
    row_of(call, sample, STAGE_TANGENT_MEAN_X)[c] = (float)mean_xrz;
    row_of(call, sample, STAGE_TANGENT_OFFSET)[c] = (float)(rbeta - scale * mean_rz);
    row_of(call, sample, STAGE_TANGENT_SLOPE)[c] = (float)(rstd * (rgamma - scale * mean_xrz));
    row_of(call, sample, STAGE_TANGENT_GAMMA_RSTD)[c] = (float)(rgamma * rstd);
}

DEVICE void set_tangent_gradient_rows(const struct stage_call *call, size_t sample, size_t c,
                                      double mean_rda, double mean_rdax)
{
    const struct stage *stage = &call->stage;
    double gamma = stage->gamma[c], rgamma = stage->tangent_gamma ? stage->tangent_gamma[c] : 0.0;

    row_of(call, sample, STAGE_TANGENT_MEAN_G)[c] =
        (float)(rgamma * row_of(call, sample, STAGE_MEAN_DA)[c] + gamma * mean_rda);
    row_of(call, sample, STAGE_TANGENT_MEAN_GX)[c] =
        (float)(rgamma * row_of(call, sample, STAGE_MEAN_DAX)[c] + gamma * mean_rdax);
}

/* Variance of n values from the sums of d = z - pivot and of d * d. */
DEVICE double variance_of(double sum, double squares, double n)
{
    return fmax((squares - sum * sum / n) / n, 0.0);
}

/* norm=instance: the rows of each sample's channels, from the sums of its steps. */
KERNEL instance_rows_kernel(struct stage_call call, enum sums sums, const double *total)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;
        double n = (double)shape->steps;

        for (EACH_ROW(sample, call.count))
            for (EACH(c, shape->stride)) {
                const double *of_sample = total + sample * STAGE_SUMS * shape->stride;
                double a = of_sample[STAGE_SUM_A * shape->stride + c];
                double b = of_sample[STAGE_SUM_B * shape->stride + c];

                if (sums == SUM_MOMENTS)
                    set_channel_rows(&call, sample, c,
                                     call.z[sample * shape->input_sample + c] + a / n,
                                     1.0 / sqrt(variance_of(a, b, n) + EPSILON));
                else if (sums == SUM_GRADIENT)
                    set_gradient_rows(&call, sample, c, a / n, b / n, call.stage.gamma[c]);
                else if (sums == SUM_TANGENT)
                    set_tangent_rows(&call, sample, c, a / n,
                                     row_of(&call, sample, STAGE_RSTD)[c] * b / n);
                else
                    set_tangent_gradient_rows(&call, sample, c, a / n, b / n);
            }
    }
}

/* norm=layer: one block for a sample, whose channels are added up first. */
KERNEL layer_rows_kernel(struct stage_call call, enum sums sums, const double *total)
{
    SHARED struct pair shared[LINE];
    const struct stage_shape *shape = &call.stage.shape;
    double n = (double)(shape->steps * shape->channels);

    for (size_t sample = blockIdx.x; sample < call.count; sample += gridDim.x) {
        const double *of_sample = total + sample * STAGE_SUMS * shape->stride;

        PHASE
        {
            struct pair sum = {0, 0};

            for (size_t c = threadIdx.x; c < shape->channels; c += LINE) {
                sum.a += of_sample[STAGE_SUM_A * shape->stride + c];
                sum.b += of_sample[STAGE_SUM_B * shape->stride + c];
            }
            shared[threadIdx.x] = sum;
        }
        PHASE
        {
            struct pair sum = {0, 0};

            for (int i = 0; i < LINE; i++) {
                sum.a += shared[i].a;
                sum.b += shared[i].b;
            }
            for (size_t c = threadIdx.x; c < shape->stride; c += LINE) {
                if (sums == SUM_MOMENTS) {
                    set_layer_rows(&call, sample, c,
                                   call.z[sample * shape->input_sample] + sum.a / n,
                                   1.0 / sqrt(variance_of(sum.a, sum.b, n) + EPSILON));
                } else if (sums == SUM_GRADIENT) {
                    set_gradient_rows(&call, sample, c, sum.a / n, sum.b / n, 1.0);
                } else if (sums == SUM_TANGENT) {
                    set_tangent_rows(&call, sample, c, sum.a / n,
                                     row_of(&call, sample, STAGE_RSTD)[c] * sum.b / n);
                } else {
                    row_of(&call, sample, STAGE_TANGENT_MEAN_G)[c] = (float)(sum.a / n);
                    row_of(&call, sample, STAGE_TANGENT_MEAN_GX)[c] = (float)(sum.b / n);
                }
            }
        }
    }
}

/* Rows of samples from their sums; the total over samples for the gradients of gamma and beta. */
static void use_sums(const struct stage_call *call, enum sums sums)
{
    const struct stage_shape *shape = &call->stage.shape;
    size_t groups, values = STAGE_SUMS * shape->stride;
    const double *total = sum_groups(call, sums, &groups);

    if (!total)
        return;
    if (shape->norm == NORM_INSTANCE)
        LAUNCH(instance_rows_kernel, across(shape->stride, call->count, 1), dim3(WIDE, HIGH), *call,
               sums, total);
    else if (shape->norm == NORM_LAYER)
        LAUNCH(layer_rows_kernel, blocks_of(call->count, 1, MOST_LINES), LINE, *call, sums, total);
    LAUNCH(add_groups_kernel, along(values), LINE, groups, values, total, call->stage.sums);
}

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
    const double *total = sum_groups(&call, SUM_MOMENTS, &groups);
    if (!total)
        return;
    if (stage->shape.norm == NORM_INSTANCE)
        LAUNCH(instance_rows_kernel, across(stage->shape.stride, count, 1), dim3(WIDE, HIGH), call,
               SUM_MOMENTS, total);
    else if (stage->shape.norm == NORM_LAYER)
        LAUNCH(layer_rows_kernel, blocks_of(count, 1, MOST_LINES), LINE, call, SUM_MOMENTS, total);
    else
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
            double mean = 0, variance = 1.0 - EPSILON;

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
            set_channel_rows(&call, 0, c, mean, 1.0 / sqrt(variance + EPSILON));
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
        double n = (double)(call.stage.samples * shape->steps);

        for (size_t c = threadIdx.x; c < shape->channels; c += LINE) {
            double m = (double)mean[c] - running_mean[c];
            double v = (double)variance[c] - running_variance[c];
            double dmean = 2 * m, dvariance = 2 * v; /* of the squared norms */
            double centre = row_of(&call, 0, STAGE_MEAN)[c], slope;

            if (!squared) { /* the norm has no slope at 0 */
                dmean = norm.a > 0 ? m / sqrt(norm.a) : 0;
                dvariance = norm.b > 0 ? v / sqrt(norm.b) : 0;
            }
            slope = weight * dvariance * 2 / n;
            row_of(&call, 0, STAGE_MATCH_SLOPE)[c] = (float)slope;
            row_of(&call, 0, STAGE_MATCH_OFFSET)[c] =
                (float)(weight * dmean / n + slope * (centre - mean[c]));
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

/* norm=layer: gradients of gamma and beta, one thread for each of their values. */
KERNEL layer_gradients_kernel(struct stage_call call, bool tangents)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;

        for (EACH(c, shape->stride))
            for (EACH_ROW(t, shape->pooled))
                for (size_t w = 0; w < pool_width(&call); w++) {
                    size_t at = (pool_width(&call) * t + w) * shape->stride + c;
                    struct pair sum = {0, 0};

                    for (size_t n = 0; n < call.count; n++) {
                        struct lane lane = lane_of(&call, n, c);
                        struct window window = window_of(&call, &lane, t);
                        struct pair one =
                            tangents ? tangent_gradient_terms(&call, &lane, t, w, &window).pair
                                     : gradient_terms(&call, &lane, t, w, &window);

                        sum.a += one.a;
                        sum.b += one.b;
                    }
                    call.dbeta[at] += (float)sum.a;
                    call.dgamma[at] += (float)sum.b;
                }
    }
}

static void gradient_sums(struct stage_call *call, size_t block, bool tangents)
{
    const struct stage_shape *shape = &call->stage.shape;

    call->stage.sums += block * STAGE_SUMS * shape->stride;
    if (shape->norm == NORM_LAYER && call->dgamma)
        LAUNCH(layer_gradients_kernel, across(shape->stride, shape->pooled, 1), dim3(WIDE, HIGH),
               *call, tangents);
    use_sums(call, tangents ? SUM_TANGENT_GRADIENT : SUM_GRADIENT);
}

static void backward_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                          const float *z, const float *dp, float *dgamma, float *dbeta)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.dp = dp;
    call.dgamma = dgamma;
    call.dbeta = dbeta;
    gradient_sums(&call, block, false);
}

/* The total of a sum over all blocks, in order. */
DEVICE double over_blocks(const struct stage *stage, enum stage_sum which, size_t c)
{
    size_t stride = stage->shape.stride;
    double total = 0;

    for (size_t block = 0; block < stage->blocks; block++)
        total += stage->sums[(block * STAGE_SUMS + which) * stride + c];
    return total;
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

/* Rows are windows, and at the end the step that pooling drops, which still shares in the means. */
KERNEL backward_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;
        size_t width = pool_width(&call), dropped = shape->steps - width * shape->pooled;

        for (EACH_PLANE(n, call.count))
            for (EACH(c, shape->stride)) {
                struct lane lane = lane_of(&call, n, c);
                float offset = row_of(&call, n, STAGE_OFFSET)[c];
                float slope = row_of(&call, n, STAGE_SLOPE)[c];

                for (EACH_ROW(t, shape->pooled + dropped)) {
                    bool is_window = t < shape->pooled;
                    struct window window = {{0, 0}, {0, 0}};

                    if (is_window)
                        window = window_of(&call, &lane, t);
                    for (size_t w = 0; w < (is_window ? width : 1); w++) {
                        size_t step =
                            is_window ? width * t + w : width * shape->pooled + t - shape->pooled;
                        float da = 0;

                        if (is_window)
                            da =
                                times_slope(shape->act,
                                            unpool(shape->pool, &window,
                                                   call.dp[at_output_gradient(&call, &lane, t)], w),
                                            window.a[w], window.y[w]);
                        if (lane.layer)
                            da *= call.stage.gamma[at_step(&call, &lane, step)];
                        call.dz[at_input_gradient(&call, &lane, step)] =
                            lane.scale * da + offset +
                            slope * (call.z[at_input(&call, &lane, step)] - lane.mean);
                    }
                }
            }
    }
}

static size_t backward_rows(const struct stage_shape *shape)
{
    return shape->pooled + shape->steps - (shape->pool == POOL_NONE ? 1 : 2) * shape->pooled;
}

static void backward(const struct stage *stage, size_t first, size_t count, const float *z,
                     const float *dp, float *dz)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.dp = dp;
    call.dz = dz;
    LAUNCH(backward_kernel, across(stage->shape.stride, backward_rows(&stage->shape), count),
           dim3(WIDE, HIGH), call);
}

/* ---- Tangents ---- */

static void tangent_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                         const float *z, const float *rz)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.rz = rz;
    call.stage.sums += block * STAGE_SUMS * stage->shape.stride;
    use_sums(&call, SUM_TANGENT);
}

KERNEL tangent_reduce_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage *stage = &call.stage;
        double n = (double)(stage->samples * stage->shape.steps);

        for (EACH(c, stage->shape.stride)) {
            double a = 0, b = 0;

            if (stage->batch) {
                a = over_blocks(stage, STAGE_SUM_A, c) / n;
                b = row_of(&call, 0, STAGE_RSTD)[c] * over_blocks(stage, STAGE_SUM_B, c) / n;
            }
            set_tangent_rows(&call, 0, c, a, b);
        }
    }
}

static void tangent_reduce(const struct stage *stage)
{
    struct stage_call call = {*stage};

    if (!has_samples(stage))
        LAUNCH(tangent_reduce_kernel, along(stage->shape.stride), LINE, call);
}

KERNEL tangent_forward_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;
        size_t width = pool_width(&call);

        for (EACH_PLANE(n, call.count))
            for (EACH(c, shape->stride)) {
                struct lane lane = lane_of(&call, n, c);
                struct tangent_lane tangent = tangent_lane_of(&call, &lane);

                for (EACH_ROW(t, shape->pooled)) {
                    struct window window = window_of(&call, &lane, t);
                    float ry[2] = {0, 0};

                    for (size_t w = 0; w < width; w++)
                        ry[w] = times_slope(shape->act,
                                            tangent_at(&call, &lane, &tangent, width * t + w),
                                            window.a[w], window.y[w]);
                    call.p[at_output(&call, &lane, t)] = pool(shape->pool, &window, ry);
                }
            }
    }
}

static void tangent_forward(const struct stage *stage, size_t first, size_t count, const float *z,
                            const float *rz, float *rp)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.rz = rz;
    call.p = rp;
    LAUNCH(tangent_forward_kernel, across(stage->shape.stride, stage->shape.pooled, count),
           dim3(WIDE, HIGH), call);
}

static void tangent_backward_sums(const struct stage *stage, size_t block, size_t first,
                                  size_t count, const float *z, const float *rz, const float *dp,
                                  const float *rdp, float *rdgamma, float *rdbeta)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.rz = rz;
    call.dp = dp;
    call.rdp = rdp;
    call.dgamma = rdgamma;
    call.dbeta = rdbeta;
    gradient_sums(&call, block, true);
}

KERNEL tangent_backward_reduce_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage *stage = &call.stage;
        double n = (double)(stage->samples * stage->shape.steps);

        for (EACH(c, stage->shape.stride)) {
            double a = over_blocks(stage, STAGE_SUM_A, c), b = over_blocks(stage, STAGE_SUM_B, c);

            if (call.dgamma && c < stage->shape.channels) {
                call.dgamma[c] = (float)b;
                call.dbeta[c] = (float)a;
            }
            if (stage->batch) {
                set_tangent_gradient_rows(&call, 0, c, a / n, b / n);
            } else if (stage->shape.norm != NORM_INSTANCE) {
                row_of(&call, 0, STAGE_TANGENT_MEAN_G)[c] = 0;
                row_of(&call, 0, STAGE_TANGENT_MEAN_GX)[c] = 0;
            }
        }
    }
}

static void tangent_backward_reduce(const struct stage *stage, float *rdgamma, float *rdbeta)
{
    struct stage_call call = {*stage};

    call.dgamma = rdgamma;
    call.dbeta = rdbeta;
    if (stage->shape.norm != NORM_LAYER)
        LAUNCH(tangent_backward_reduce_kernel, along(stage->shape.stride), LINE, call);
}

/* dz and Rdz of one step:
 *     Rdz = -rstd mean(xh Rz) dz + rstd (Rg - mean(Rg) - Rxh mean(g xh) - xh mean(R(g xh))). */
DEVICE void store_tangent(const struct stage_call *call, const struct lane *lane,
                          const struct tangent_lane *tangent, struct gradient g, size_t step)
{
    size_t n = lane->sample, c = lane->channel, to = at_input_gradient(call, lane, step);
    size_t value = at_step(call, lane, step);
    struct normalised x = normalised_at(call, lane, tangent, step);
    float dz, rest, scaled; /* scaled: rstd Rg */

    if (lane->layer) {
        float gamma = call->stage.gamma[value];

        scaled = tangent->rstd * (gamma * g.rda + call->stage.tangent_gamma[value] * g.da);
        g.da *= gamma;
    } else {
        scaled = lane->scale * g.rda + row_of(call, n, STAGE_TANGENT_GAMMA_RSTD)[c] * g.da;
    }
    dz = lane->scale * g.da + row_of(call, n, STAGE_OFFSET)[c] +
         row_of(call, n, STAGE_SLOPE)[c] * (call->z[at_input(call, lane, step)] - lane->mean);
    rest = row_of(call, n, STAGE_TANGENT_MEAN_G)[c] + x.rx * row_of(call, n, STAGE_MEAN_GX)[c] +
           x.x * row_of(call, n, STAGE_TANGENT_MEAN_GX)[c] + tangent->mean_xrz * dz;
    call->dz[to] = dz;
    call->rdz[to] = scaled - tangent->rstd * rest;
}

KERNEL tangent_backward_kernel(struct stage_call call)
{
    THREADS
    {
        const struct stage_shape *shape = &call.stage.shape;
        size_t width = pool_width(&call), dropped = shape->steps - width * shape->pooled;

        for (EACH_PLANE(n, call.count))
            for (EACH(c, shape->stride)) {
                struct lane lane = lane_of(&call, n, c);
                struct tangent_lane tangent = tangent_lane_of(&call, &lane);

                for (EACH_ROW(t, shape->pooled + dropped)) {
                    struct gradient none = {0, 0};

                    if (t >= shape->pooled) {
                        store_tangent(&call, &lane, &tangent, none,
                                      width * shape->pooled + t - shape->pooled);
                        continue;
                    }
                    struct window window = window_of(&call, &lane, t);
                    for (size_t w = 0; w < width; w++)
                        store_tangent(&call, &lane, &tangent,
                                      gradient_at(&call, &lane, &tangent, &window, t, w),
                                      width * t + w);
                }
            }
    }
}

static void tangent_backward(const struct stage *stage, size_t first, size_t count, const float *z,
                             const float *rz, const float *dp, const float *rdp, float *dz,
                             float *rdz)
{
    struct stage_call call = {*stage, first, count};

    call.z = z;
    call.rz = rz;
    call.dp = dp;
    call.rdp = rdp;
    call.dz = dz;
    call.rdz = rdz;
    LAUNCH(tangent_backward_kernel,
           across(stage->shape.stride, backward_rows(&stage->shape), count), dim3(WIDE, HIGH),
           call);
}

void cuda_fill_stages(struct backend *backend)
{
    backend->stage_moments = moments;
    backend->stage_reduce = reduce;
    backend->stage_forward = forward;
    backend->stage_update_running = update_running;
    backend->stage_match = match;
    backend->stage_backward_sums = backward_sums;
    backend->stage_backward_reduce = backward_reduce;
    backend->stage_backward = backward;
    backend->stage_tangent_sums = tangent_sums;
    backend->stage_tangent_reduce = tangent_reduce;
    backend->stage_tangent_forward = tangent_forward;
    backend->stage_tangent_backward_sums = tangent_backward_sums;
    backend->stage_tangent_backward_reduce = tangent_backward_reduce;
    backend->stage_tangent_backward = tangent_backward;
}
