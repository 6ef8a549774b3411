/* Directional derivatives of normact layers: how rows, results and gradients move when z, gamma and
 * beta do (Rz, Rgamma, Rbeta); see backend.h. */
#include "normact_rows.h"

/* ---- Forward ---- */

static void tangent_sums(const struct normact *normact, size_t block, size_t first, size_t count,
                         const float *z, const float *rz)
{
    struct normact_call call = {*normact, first, count};

    call.z = z;
    call.rz = rz;
    normact_add_sums(&call, block, SUM_TANGENT);
}

KERNEL tangent_reduce_kernel(struct normact_call call)
{
    THREADS
    {
        const struct normact *normact = &call.normact;
        double n = (double)(normact->samples * normact->shape.steps);

        for (EACH(c, normact->shape.stride)) {
            double a = 0, b = 0;

            if (normact->batch) {
                a = over_blocks(normact, NORMACT_SUM_A, c) / n;
                b = row_of(&call, 0, NORMACT_RSTD)[c] * over_blocks(normact, NORMACT_SUM_B, c) / n;
            }
            set_tangent_rows(&call, 0, c, a, b);
        }
    }
}

static void tangent_reduce(const struct normact *normact)
{
    struct normact_call call = {*normact};

    if (!has_samples(normact))
        LAUNCH(tangent_reduce_kernel, along(normact->shape.stride), LINE, call);
}

KERNEL tangent_forward_kernel(struct normact_call call)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;
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

static void tangent_forward(const struct normact *normact, size_t first, size_t count,
                            const float *z, const float *rz, float *rp)
{
    struct normact_call call = {*normact, first, count};

    call.z = z;
    call.rz = rz;
    call.p = rp;
    LAUNCH(tangent_forward_kernel, across(normact->shape.stride, normact->shape.pooled, count),
           dim3(WIDE, HIGH), call);
}

/* ---- Backward ---- */

static void tangent_backward_sums(const struct normact *normact, size_t block, size_t first,
                                  size_t count, const float *z, const float *rz, const float *dp,
                                  const float *rdp, float *rdgamma, float *rdbeta)
{
    struct normact_call call = {*normact, first, count};

    call.z = z;
    call.rz = rz;
    call.dp = dp;
    call.rdp = rdp;
    call.dgamma = rdgamma;
    call.dbeta = rdbeta;
    normact_add_gradient_sums(&call, block, SUM_TANGENT_GRADIENT);
}

KERNEL tangent_backward_reduce_kernel(struct normact_call call)
{
    THREADS
    {
        const struct normact *normact = &call.normact;
        double n = (double)(normact->samples * normact->shape.steps);

        for (EACH(c, normact->shape.stride)) {
            double a = over_blocks(normact, NORMACT_SUM_A, c),
                   b = over_blocks(normact, NORMACT_SUM_B, c);

            if (call.dgamma && c < normact->shape.channels) {
                call.dgamma[c] = (float)b;
                call.dbeta[c] = (float)a;
            }
            if (normact->batch) {
                set_tangent_gradient_rows(&call, 0, c, a / n, b / n);
            } else if (normact->shape.norm != NORM_INSTANCE) {
                row_of(&call, 0, NORMACT_TANGENT_MEAN_G)[c] = 0;
                row_of(&call, 0, NORMACT_TANGENT_MEAN_GX)[c] = 0;
            }
        }
    }
}

static void tangent_backward_reduce(const struct normact *normact, float *rdgamma, float *rdbeta)
{
    struct normact_call call = {*normact};

    call.dgamma = rdgamma;
    call.dbeta = rdbeta;
    if (normact->shape.norm != NORM_LAYER)
        LAUNCH(tangent_backward_reduce_kernel, along(normact->shape.stride), LINE, call);
}

/* dz and Rdz of one step:
 *     Rdz = -rstd mean(xh Rz) dz + rstd (Rg - mean(Rg) - Rxh mean(g xh) - xh mean(R(g xh))). */
DEVICE void store_tangent(const struct normact_call *call, const struct lane *lane,
                          const struct tangent_lane *tangent, struct gradient g, size_t step)
{
    size_t n = lane->sample, c = lane->channel, to = at_input_gradient(call, lane, step);
    size_t value = at_step(call, lane, step);
    struct normalised x = normalised_at(call, lane, tangent, step);
    float dz, rest, scaled; /* scaled: rstd Rg */

    if (lane->layer) {
        float gamma = call->normact.gamma[value];

        scaled = tangent->rstd * (gamma * g.rda + call->normact.tangent_gamma[value] * g.da);
        g.da *= gamma;
    } else {
        scaled = lane->scale * g.rda + row_of(call, n, NORMACT_TANGENT_GAMMA_RSTD)[c] * g.da;
    }
    dz = lane->scale * g.da + row_of(call, n, NORMACT_OFFSET)[c] +
         row_of(call, n, NORMACT_SLOPE)[c] * (call->z[at_input(call, lane, step)] - lane->mean);
    rest = row_of(call, n, NORMACT_TANGENT_MEAN_G)[c] + x.rx * row_of(call, n, NORMACT_MEAN_GX)[c] +
           x.x * row_of(call, n, NORMACT_TANGENT_MEAN_GX)[c] + tangent->mean_xrz * dz;
    call->dz[to] = dz;
    call->rdz[to] = scaled - tangent->rstd * rest;
}

KERNEL tangent_backward_kernel(struct normact_call call, size_t rows)
{
    THREADS
    {
        const struct normact_shape *shape = &call.normact.shape;
        size_t width = pool_width(&call);

        for (EACH_PLANE(n, call.count))
            for (EACH(c, shape->stride)) {
                struct lane lane = lane_of(&call, n, c);
                struct tangent_lane tangent = tangent_lane_of(&call, &lane);

                for (EACH_ROW(t, rows)) {
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

static void tangent_backward(const struct normact *normact, size_t first, size_t count,
                             const float *z, const float *rz, const float *dp, const float *rdp,
                             float *dz, float *rdz)
{
    struct normact_call call = {*normact, first, count};
    size_t rows = backward_rows(&normact->shape);

    call.z = z;
    call.rz = rz;
    call.dp = dp;
    call.rdp = rdp;
    call.dz = dz;
    call.rdz = rdz;
    LAUNCH(tangent_backward_kernel, across(normact->shape.stride, rows, count), dim3(WIDE, HIGH),
           call, rows);
}

void cuda_fill_tangents(struct backend *backend)
{
    backend->normact_tangent_sums = tangent_sums;
    backend->normact_tangent_reduce = tangent_reduce;
    backend->normact_tangent_forward = tangent_forward;
    backend->normact_tangent_backward_sums = tangent_backward_sums;
    backend->normact_tangent_backward_reduce = tangent_backward_reduce;
    backend->normact_tangent_backward = tangent_backward;
}
