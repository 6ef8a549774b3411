/* Sums over the values of a normact layer, and the rows that the sums of each sample give.
 *
 * A group is what has one mean: the batch, or a sample.  Blocks of (WIDE, HIGH) threads sum some
 * rows of a group in double precision, into partial[group][part][2][stride]; then the parts of each
 * group are added up in order into total[group][2][stride].  Which rows are whose depends on the
 * shape alone, so that the same bits come out every time. */
#include "normact_rows.h"

enum { ROWS_OF_THREAD = 32, MOST_PARTS = 256 };

/* ---- What is added up ---- */

/* Of step t (moments and tangents) or of what was pooled into it (gradients). */
DEVICE struct pair moment_terms(const struct normact_call *call, const struct lane *lane, size_t t)
{
    size_t start = lane->sample * call->normact.shape.input_sample;
    /* The first value of the group, so that nothing is lost when the mean is large. */
    float pivot = per_sample(call) ? call->z[start + (lane->layer ? 0 : lane->channel)]
                                   : call->z[lane->channel];
    float d = call->z[at_input(call, lane, t)] - pivot;
    struct pair out = {d, (double)(d * d)};

    return out;
}

DEVICE struct pair tangent_terms(const struct normact_call *call, const struct lane *lane, size_t t)
{
    size_t at = at_input(call, lane, t);
    float rz = call->rz[at];
    struct pair out = {rz, (double)((call->z[at] - lane->mean) * rz)};

    return out;
}

/* Gradients by gamma and beta are those of the pair before gamma is in it. */
DEVICE struct pair gradient_terms(const struct normact_call *call, const struct lane *lane,
                                  size_t t, size_t w, const struct window *window)
{
    size_t step = pool_width(call) * t + w;
    float da = slope_at(call, lane, window, call->dp, t, w);
    float rstd = row_of(call, lane->sample, NORMACT_RSTD)[lane->channel];
    struct pair out = {da,
                       (double)(da * ((call->z[at_input(call, lane, step)] - lane->mean) * rstd))};

    return out;
}

struct tangent_terms {
    struct pair pair;       /* Rda, R(da xh) */
    struct gradient before; /* da, Rda */
    struct normalised n;
};

DEVICE struct tangent_terms tangent_gradient_terms(const struct normact_call *call,
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

DEVICE struct pair terms(enum sums sums, const struct normact_call *call, const struct lane *lane,
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
        float gamma = lane->layer ? call->normact.gamma[at] : 1.0f;
        struct pair one;

        if (sums == SUM_GRADIENT) {
            one = gradient_terms(call, lane, t, w, &window);
            one.a *= gamma;
            one.b *= gamma;
        } else {
            struct tangent_terms both = tangent_gradient_terms(call, lane, t, w, &window);

            one = both.pair;
            if (lane->layer) {
                float rgamma = call->normact.tangent_gamma[at];

                one.a = one.a * gamma + both.before.da * rgamma;
                one.b = one.b * gamma + both.before.da * rgamma * both.n.x;
            }
        }
        sum.a += one.a;
        sum.b += one.b;
    }
    return sum;
}

/* ---- Adding up ---- */

/* rows: of a group.  Grid: (channels, parts, groups). */
KERNEL sums_kernel(struct normact_call call, enum sums sums, size_t groups, size_t rows,
                   size_t steps, double *partial)
{
    SHARED struct pair shared[HIGH][WIDE];
    size_t stride = call.normact.shape.stride;

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
            double *to = partial + (group * gridDim.y + blockIdx.y) * NORMACT_SUMS * stride;
            struct pair sum = {0, 0};

            if (threadIdx.y > 0 || c >= stride)
                continue;
            for (int y = 0; y < HIGH; y++) {
                sum.a += shared[y][threadIdx.x].a;
                sum.b += shared[y][threadIdx.x].b;
            }
            to[NORMACT_SUM_A * stride + c] = sum.a;
            to[NORMACT_SUM_B * stride + c] = sum.b;
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

/* The sums of all groups, (groups, NORMACT_SUMS, stride) of scratch memory; NULL without memory. */
static double *sum_groups(const struct normact_call *call, enum sums sums, size_t *groups)
{
    const struct normact_shape *shape = &call->normact.shape;
    bool pooled = sums == SUM_GRADIENT || sums == SUM_TANGENT_GRADIENT;
    size_t steps = pooled ? shape->pooled : shape->steps, values = NORMACT_SUMS * shape->stride;

    *groups = has_samples(&call->normact) ? call->count : 1;
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

/* ---- The rows of samples ---- */

DEVICE void set_layer_rows(const struct normact_call *call, size_t sample, size_t c, double mean,
                           double rstd)
{
    row_of(call, sample, NORMACT_MEAN)[c] = (float)mean;
    row_of(call, sample, NORMACT_RSTD)[c] = (float)rstd;
    row_of(call, sample, NORMACT_SCALE)[c] = (float)rstd;
    row_of(call, sample, NORMACT_SHIFT)[c] = (float)(-mean * rstd);
}

/* Variance of n values from the sums of d = z - pivot and of d * d. */
DEVICE double variance_of(double sum, double squares, double n)
{
    return fmax((squares - sum * sum / n) / n, 0.0);
}

/* norm=instance: the rows of each sample's channels, from the sums of its steps. */
KERNEL instance_rows_kernel(struct normact_call call, enum sums sums, const double *total)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;
        double n = (double)shape->steps;

        for (EACH_ROW(sample, call.count))
            for (EACH(c, shape->stride)) {
                const double *of_sample = total + sample * NORMACT_SUMS * shape->stride;
                double a = of_sample[NORMACT_SUM_A * shape->stride + c];
                double b = of_sample[NORMACT_SUM_B * shape->stride + c];

                if (sums == SUM_MOMENTS)
                    set_channel_rows(&call, sample, c,
                                     call.z[sample * shape->input_sample + c] + a / n,
                                     1.0 / sqrt(variance_of(a, b, n) + BACKEND_EPSILON));
                else if (sums == SUM_GRADIENT)
                    set_gradient_rows(&call, sample, c, a / n, b / n, call.normact.gamma[c]);
                else if (sums == SUM_TANGENT)
                    set_tangent_rows(&call, sample, c, a / n,
                                     row_of(&call, sample, NORMACT_RSTD)[c] * b / n);
                else
                    set_tangent_gradient_rows(&call, sample, c, a / n, b / n);
            }
    }
}

/* norm=layer: one block for a sample, whose channels are added up first. */
KERNEL layer_rows_kernel(struct normact_call call, enum sums sums, const double *total)
{
    SHARED struct pair shared[LINE];
    const struct normact_shape *shape = &call.normact.shape;
    double n = (double)(shape->steps * shape->channels);

    for (size_t sample = blockIdx.x; sample < call.count; sample += gridDim.x) {
        const double *of_sample = total + sample * NORMACT_SUMS * shape->stride;

        PHASE
        {
            struct pair sum = {0, 0};

            for (size_t c = threadIdx.x; c < shape->channels; c += LINE) {
                sum.a += of_sample[NORMACT_SUM_A * shape->stride + c];
                sum.b += of_sample[NORMACT_SUM_B * shape->stride + c];
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
                                   1.0 / sqrt(variance_of(sum.a, sum.b, n) + BACKEND_EPSILON));
                } else if (sums == SUM_GRADIENT) {
                    set_gradient_rows(&call, sample, c, sum.a / n, sum.b / n, 1.0);
                } else if (sums == SUM_TANGENT) {
                    set_tangent_rows(&call, sample, c, sum.a / n,
                                     row_of(&call, sample, NORMACT_RSTD)[c] * sum.b / n);
                } else {
                    row_of(&call, sample, NORMACT_TANGENT_MEAN_G)[c] = (float)(sum.a / n);
                    row_of(&call, sample, NORMACT_TANGENT_MEAN_GX)[c] = (float)(sum.b / n);
                }
            }
        }
    }
}

const double *normact_sum(const struct normact_call *call, enum sums sums, size_t *groups)
{
    const struct normact_shape *shape = &call->normact.shape;
    const double *total = sum_groups(call, sums, groups);

    if (!total)
        return NULL;
    if (shape->norm == NORM_INSTANCE)
        LAUNCH(instance_rows_kernel, across(shape->stride, call->count, 1), dim3(WIDE, HIGH), *call,
               sums, total);
    else if (shape->norm == NORM_LAYER)
        LAUNCH(layer_rows_kernel, blocks_of(call->count, 1, MOST_LINES), LINE, *call, sums, total);
    return total;
}

void normact_add_sums(struct normact_call *call, size_t block, enum sums sums)
{
    size_t groups, values = NORMACT_SUMS * call->normact.shape.stride;

    call->normact.sums += block * values;
    const double *total = normact_sum(call, sums, &groups);
    if (total)
        LAUNCH(add_groups_kernel, along(values), LINE, groups, values, total, call->normact.sums);
}

/* ---- Gradients of gamma and beta ---- */

/* norm=layer: gradients of gamma and beta, one thread for each of their values. */
KERNEL layer_gradients_kernel(struct normact_call call, bool tangents)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;

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

void normact_add_gradient_sums(struct normact_call *call, size_t block, enum sums sums)
{
    const struct normact_shape *shape = &call->normact.shape;

    if (shape->norm == NORM_LAYER && call->dgamma)
        LAUNCH(layer_gradients_kernel, across(shape->stride, shape->pooled, 1), dim3(WIDE, HIGH),
               *call, sums == SUM_TANGENT_GRADIENT);
    normact_add_sums(call, block, sums);
}
