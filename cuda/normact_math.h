/* What happens to one value of a normact layer (normalisation, activation, pooling): the formulas
 * of struct normact_shape and enum normact_row in backend.h, and their derivatives, for one thread.
 *
 * Nothing between z and p is stored; the backward passes find it again from z. */
#ifndef SC_CUDA_NORMACT_MATH_H
#define SC_CUDA_NORMACT_MATH_H

#include "plugin.h"

/* What a kernel works on. */
struct normact_call {
    struct normact normact;
    size_t first, count;   /* samples */
    const float *z, *rz;   /* (count, steps, stride) */
    const float *dp, *rdp; /* (count, pooled, stride) */
    float *p;              /* p or Rp */
    float *dz, *rdz;
    float *dgamma, *dbeta; /* norm=layer: (steps, stride), added to */
};

/* The normal distribution. */
DEVICE float normal_integral(float x)
{
    return 0.5f * erfcf(x * -0.70710678f);
}

DEVICE float normal_density(float x)
{
    return 0.39894228f * expf(-0.5f * x * x);
}

/* y = act(a); NaN stays NaN. */
DEVICE float activate(enum activation act, float a)
{
    if (act == ACTIVATION_NONE)
        return a;
    if (act == ACTIVATION_SIGMOID) {
        float e = expf(-fabsf(a)), share = 1.0f / (1.0f + e);

        return a > 0.0f ? share : e * share;
    }
    if (act == ACTIVATION_GELU)
        return a * normal_integral(a);
    return a <= 0.0f ? (act == ACTIVATION_RELU ? 0.0f : a * BACKEND_LEAKY_SLOPE) : a;
}

/* x act'(a), where y = act(a). */
DEVICE float times_slope(enum activation act, float x, float a, float y)
{
    if (act == ACTIVATION_NONE)
        return x;
    if (act == ACTIVATION_SIGMOID)
        return x * y * (1.0f - y);
    if (act == ACTIVATION_GELU)
        return x * (normal_integral(a) + a * normal_density(a));
    return a > 0.0f ? x : (act == ACTIVATION_RELU ? 0.0f : x * BACKEND_LEAKY_SLOPE);
}

DEVICE bool per_sample(const struct normact_call *call)
{
    return call->normact.shape.norm == NORM_INSTANCE || call->normact.shape.norm == NORM_LAYER;
}

/* Steps before pooling for each after it. */
DEVICE size_t pool_width(const struct normact_call *call)
{
    return call->normact.shape.pool == POOL_NONE ? 1 : 2;
}

DEVICE float *row_of(const struct normact_call *call, size_t sample, enum normact_row row)
{
    size_t stride = call->normact.shape.stride;
    size_t group = per_sample(call) ? call->first + sample : 0;

    return call->normact.rows + (group * NORMACT_ROWS + row) * stride;
}

/* A sample and channel, with its constants. */
struct lane {
    size_t sample, channel;
    float scale, shift, mean;
    bool layer;
};

DEVICE struct lane lane_of(const struct normact_call *call, size_t sample, size_t channel)
{
    struct lane lane;

    lane.sample = sample;
    lane.channel = channel;
    lane.scale = row_of(call, sample, NORMACT_SCALE)[channel];
    lane.shift = row_of(call, sample, NORMACT_SHIFT)[channel];
    lane.mean = row_of(call, sample, NORMACT_MEAN)[channel];
    lane.layer = call->normact.shape.norm == NORM_LAYER;
    return lane;
}

/* Where step t is: in gamma and beta of norm=layer, in z, and in its gradient. */
DEVICE size_t at_step(const struct normact_call *call, const struct lane *lane, size_t t)
{
    return t * call->normact.shape.stride + lane->channel;
}

DEVICE size_t at_input(const struct normact_call *call, const struct lane *lane, size_t t)
{
    return lane->sample * call->normact.shape.input_sample + at_step(call, lane, t);
}

DEVICE size_t at_input_gradient(const struct normact_call *call, const struct lane *lane, size_t t)
{
    return lane->sample * call->normact.shape.input_gradient_sample + at_step(call, lane, t);
}

DEVICE size_t at_output(const struct normact_call *call, const struct lane *lane, size_t t)
{
    return lane->sample * call->normact.shape.output_sample + at_step(call, lane, t);
}

DEVICE size_t at_output_gradient(const struct normact_call *call, const struct lane *lane, size_t t)
{
    return lane->sample * call->normact.shape.output_gradient_sample + at_step(call, lane, t);
}

/* The one or two steps that are pooled into step t. */
struct window {
    float a[2], y[2];
};

DEVICE struct window window_of(const struct normact_call *call, const struct lane *lane, size_t t)
{
    struct window window = {{0, 0}, {0, 0}};
    size_t width = pool_width(call);

    for (size_t w = 0; w < width; w++) {
        size_t step = width * t + w, at = at_step(call, lane, step);
        float a = call->z[at_input(call, lane, step)] * lane->scale + lane->shift;

        window.a[w] = lane->layer ? a * call->normact.gamma[at] + call->normact.beta[at] : a;
        window.y[w] = activate(call->normact.shape.act, window.a[w]);
    }
    return window;
}

DEVICE float pool(enum pooling pooling, const struct window *window, const float value[2])
{
    if (pooling == POOL_NONE)
        return value[0];
    if (pooling == POOL_MEAN)
        return (value[0] + value[1]) * 0.5f;
    return window->y[1] <= window->y[0] ? value[0] : value[1];
}

/* The share of a gradient of the pooled value that step w of the window gets. */
DEVICE float unpool(enum pooling pooling, const struct window *window, float value, size_t w)
{
    if (pooling == POOL_NONE)
        return value;
    if (pooling == POOL_MEAN)
        return value * 0.5f;
    return (window->y[1] <= window->y[0]) == (w == 0) ? value : 0.0f;
}

/* What a gradient of the pooled values (dp or its tangent) is at a, for step w of window t. */
DEVICE float slope_at(const struct normact_call *call, const struct lane *lane,
                      const struct window *window, const float *dp, size_t t, size_t w)
{
    const struct normact_shape *shape = &call->normact.shape;
    float share = unpool(shape->pool, window, dp[at_output_gradient(call, lane, t)], w);

    return times_slope(shape->act, share, window->a[w], window->y[w]);
}

/* ---- Tangents ---- */

struct tangent_lane {
    float rstd, mean_rz, mean_xrz, offset, slope;
};

DEVICE struct tangent_lane tangent_lane_of(const struct normact_call *call, const struct lane *lane)
{
    struct tangent_lane tangent;
    size_t n = lane->sample, c = lane->channel;

    tangent.rstd = row_of(call, n, NORMACT_RSTD)[c];
    tangent.mean_rz = row_of(call, n, NORMACT_TANGENT_MEAN)[c];
    tangent.mean_xrz = row_of(call, n, NORMACT_TANGENT_MEAN_X)[c];
    tangent.offset = row_of(call, n, NORMACT_TANGENT_OFFSET)[c];
    tangent.slope = row_of(call, n, NORMACT_TANGENT_SLOPE)[c];
    return tangent;
}

/* xh of a step and its tangent. */
struct normalised {
    float x, rx;
};

DEVICE struct normalised normalised_at(const struct normact_call *call, const struct lane *lane,
                                       const struct tangent_lane *tangent, size_t step)
{
    size_t at = at_input(call, lane, step);
    struct normalised out;

    out.x = (call->z[at] - lane->mean) * tangent->rstd;
    out.rx = tangent->rstd * (call->rz[at] - tangent->mean_rz - out.x * tangent->mean_xrz);
    return out;
}

/* Tangent of a. */
DEVICE float tangent_at(const struct normact_call *call, const struct lane *lane,
                        const struct tangent_lane *tangent, size_t step)
{
    size_t at = at_input(call, lane, step), value = at_step(call, lane, step);

    if (lane->layer) {
        struct normalised n = normalised_at(call, lane, tangent, step);

        return call->normact.gamma[value] * n.rx + call->normact.tangent_gamma[value] * n.x +
               call->normact.tangent_beta[value];
    }
    return lane->scale * call->rz[at] + tangent->offset +
           tangent->slope * (call->z[at] - lane->mean);
}

/* Gradient of a at a step, and its tangent. */
struct gradient {
    float da, rda;
};

DEVICE struct gradient gradient_at(const struct normact_call *call, const struct lane *lane,
                                   const struct tangent_lane *tangent, const struct window *window,
                                   size_t t, size_t w)
{
    float y = window->y[w];
    float ra = tangent_at(call, lane, tangent, pool_width(call) * t + w);
    struct gradient out;

    out.da = slope_at(call, lane, window, call->dp, t, w);
    out.rda = slope_at(call, lane, window, call->rdp, t, w);
    if (call->normact.shape.act == ACTIVATION_SIGMOID)
        out.rda += out.da * (1.0f - y - y) * ra;
    if (call->normact.shape.act == ACTIVATION_GELU) { /* the others are straight lines */
        float a = window->a[w], dp = call->dp[at_output_gradient(call, lane, t)];

        out.rda += unpool(call->normact.shape.pool, window, dp, w) * normal_density(a) *
                   (2.0f - a * a) * ra;
    }
    return out;
}

#endif
