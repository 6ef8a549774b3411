/* Normalisation, activation and pooling of one sample (see struct normact_shape in backend.h), and
 * the derivatives.  Nothing between z and p is stored: the backward passes find it again from z,
 * which costs less than reading it back would.
 *
 * A sample is processed in tiles of some steps that stay in the first-level cache.  Within a tile
 * each vector of channels goes over all steps, so that its constants stay in registers.  The
 * functions named ..._tile are inlined with constant activation and pooling where there is one
 * gamma for each channel; norm=layer, which is rare, has two that decide at run time: 15 instances
 * of each instead of 26 keep the compiler's time in bounds. */

enum { TILE = 32 }; /* steps after pooling */

static const float leaky_slope = BACKEND_LEAKY_SLOPE;

/* y = act(a).  The comparisons are such that NaN stays NaN: a network that diverged
 * must not look healthy. */
INLINE vector activate(const enum activation act, vector a)
{
    const vector zero = splat(0.0f);

    if (act == ACTIVATION_NONE)
        return a;
    if (act == ACTIVATION_SIGMOID)
        return sigmoid(a);
    if (act == ACTIVATION_GELU)
        return a * normal(a).integral;
    return choose(a <= zero, act == ACTIVATION_RELU ? zero : a * splat(leaky_slope), a);
}

/* x * act'(a), where y = act(a). */
INLINE vector times_slope(const enum activation act, vector x, vector a, vector y)
{
    const vector zero = splat(0.0f);

    if (act == ACTIVATION_NONE)
        return x;
    if (act == ACTIVATION_SIGMOID)
        return x * y * (splat(1.0f) - y);
    if (act == ACTIVATION_GELU) {
        struct normal n = normal(a);

        return x * (n.integral + a * n.density);
    }
    return choose(a > zero, x, act == ACTIVATION_RELU ? zero : x * splat(leaky_slope));
}

/* The constants of one vector of channels. */
struct normact_lane {
    vector scale, shift, mean;
};

INLINE const float *normact_row(const struct normact_call *call, enum normact_row row,
                                size_t channel)
{
    return call->rows + row * call->shape->stride + channel;
}

INLINE struct normact_lane normact_lane(const struct normact_call *call, size_t channel)
{
    return (struct normact_lane){load(normact_row(call, NORMACT_SCALE, channel)),
                                 load(normact_row(call, NORMACT_SHIFT, channel)),
                                 load(normact_row(call, NORMACT_MEAN, channel))};
}

/* a of step t. */
INLINE vector normact_value(const struct normact_call *call, const bool layer,
                            const struct normact_lane *lane, size_t t, size_t channel)
{
    size_t at = t * call->shape->stride + channel;
    vector a = load(call->z + at) * lane->scale + lane->shift;

    return layer ? a * load(call->gamma + at) + load(call->beta + at) : a;
}

/* One step after pooling and the one or two before it: a, y, and the share of the gradient of the
 * pooled value that each gets. */
struct normact_window {
    vector a[2], y[2];
};

INLINE struct normact_window normact_window(const struct normact_call *call,
                                            const enum activation act, const enum pooling pool,
                                            const bool layer, const struct normact_lane *lane,
                                            size_t t, size_t channel)
{
    struct normact_window window;
    const size_t width = pool == POOL_NONE ? 1 : 2;

    window.a[1] = window.y[1] = splat(0.0f);
#pragma GCC unroll 2
    for (size_t w = 0; w < width; w++) {
        window.a[w] = normact_value(call, layer, lane, width * t + w, channel);
        window.y[w] = activate(act, window.a[w]);
    }
    return window;
}

/* Where the first of the two is the largest.  For ReLU the comparison can do without y: it differs
 * only where both are 0, and there neither has a value or a slope. */
INLINE mask normact_first(const enum activation act, const struct normact_window *window)
{
    if (act == ACTIVATION_RELU)
        return window->a[1] <= window->a[0];
    return window->y[1] <= window->y[0];
}

/* value: y, or what belongs to it. */
INLINE vector normact_pool(const enum activation act, const enum pooling pool,
                           const struct normact_window *window, const vector value[2])
{
    if (pool == POOL_NONE)
        return value[0];
    if (pool == POOL_MEAN)
        return (value[0] + value[1]) * splat(0.5f);
    return choose(normact_first(act, window), value[0], value[1]);
}

/* p.  NaN counts as the largest, also if it comes first. */
INLINE vector normact_pool_values(const enum activation act, const enum pooling pool,
                                  const struct normact_window *window)
{
    mask first;

    if (pool != POOL_MAX)
        return normact_pool(act, pool, window, window->y);
    first = normact_first(act, window) | (window->a[0] != window->a[0]);
    if (act == ACTIVATION_RELU)
        return activate(act, choose(first, window->a[0], window->a[1]));
    return choose(first, window->y[0], window->y[1]);
}

INLINE void normact_unpool(const enum activation act, const enum pooling pool,
                           const struct normact_window *window, vector value, vector share[2])
{
    const vector zero = splat(0.0f);

    share[0] = share[1] = value;
    if (pool == POOL_MEAN) {
        share[0] = share[1] = value * splat(0.5f);
    } else if (pool == POOL_MAX) {
        mask first = normact_first(act, window);

        share[0] = choose(first, value, zero);
        share[1] = choose(first, zero, value);
    }
}

/* Some steps (after pooling) and one vector of channels. */
struct normact_tile {
    size_t first, end;
    size_t channel;
    bool last; /* steps that pooling drops follow */
};

typedef void normact_function(const struct normact_call *call, const struct normact_tile *tile);

static void normact_run(const struct normact_call *call, normact_function *function)
{
    size_t pooled = call->shape->pooled;

    for (size_t first = 0; first < pooled; first += TILE) {
        struct normact_tile tile = {.first = first,
                                    .end = first + TILE < pooled ? first + TILE : pooled};

        tile.last = tile.end == pooled;
        for (; tile.channel < call->shape->stride; tile.channel += LANES)
            function(call, &tile);
    }
}

/* What an instance that decides as it goes can be called with. */
INLINE enum activation straight_or_sigmoid(enum activation act)
{
    if (act == ACTIVATION_GELU)
        __builtin_unreachable();
    return act;
}

/* Makes the kernel NAME from NAME_tile(call, tile, act, pool, layer).  It gets copies of its own,
 * which stay in registers: for all the compiler knows a vector that is stored could change the
 * originals. */
#define NORMACT_INSTANCE(name, suffix, act_, pool_, layer_)                                        \
    static void name##_##suffix(const struct normact_call *call, const struct normact_tile *tile)  \
    {                                                                                              \
        const struct normact_shape shape = *call->shape;                                           \
        const struct normact_tile part = *tile;                                                    \
        struct normact_call own = *call;                                                           \
                                                                                                   \
        own.shape = &shape;                                                                        \
        name##_tile(&own, &part, act_, pool_, layer_);                                             \
    }
#define NORMACT_KERNEL(name)                                                                       \
    NORMACT_INSTANCE(name, layer, straight_or_sigmoid(shape.act), shape.pool, true)                \
    NORMACT_INSTANCE(name, layer_gelu, ACTIVATION_GELU, shape.pool, true)                          \
    NORMACT_INSTANCE(name, relu_none, ACTIVATION_RELU, POOL_NONE, false)                           \
    NORMACT_INSTANCE(name, relu_max, ACTIVATION_RELU, POOL_MAX, false)                             \
    NORMACT_INSTANCE(name, relu_mean, ACTIVATION_RELU, POOL_MEAN, false)                           \
    NORMACT_INSTANCE(name, leaky_none, ACTIVATION_LEAKY_RELU, POOL_NONE, false)                    \
    NORMACT_INSTANCE(name, leaky_max, ACTIVATION_LEAKY_RELU, POOL_MAX, false)                      \
    NORMACT_INSTANCE(name, leaky_mean, ACTIVATION_LEAKY_RELU, POOL_MEAN, false)                    \
    NORMACT_INSTANCE(name, sigmoid_none, ACTIVATION_SIGMOID, POOL_NONE, false)                     \
    NORMACT_INSTANCE(name, sigmoid_max, ACTIVATION_SIGMOID, POOL_MAX, false)                       \
    NORMACT_INSTANCE(name, sigmoid_mean, ACTIVATION_SIGMOID, POOL_MEAN, false)                     \
    NORMACT_INSTANCE(name, gelu_none, ACTIVATION_GELU, POOL_NONE, false)                           \
    NORMACT_INSTANCE(name, gelu_max, ACTIVATION_GELU, POOL_MAX, false)                             \
    NORMACT_INSTANCE(name, gelu_mean, ACTIVATION_GELU, POOL_MEAN, false)                           \
    NORMACT_INSTANCE(name, none_none, ACTIVATION_NONE, POOL_NONE, false)                           \
    static void name(const struct normact_call *call)                                              \
    {                                                                                              \
        static normact_function *const functions[5][3] = {                                         \
            [ACTIVATION_RELU] = {name##_relu_none, name##_relu_max, name##_relu_mean},             \
            [ACTIVATION_LEAKY_RELU] = {name##_leaky_none, name##_leaky_max, name##_leaky_mean},    \
            [ACTIVATION_SIGMOID] = {name##_sigmoid_none, name##_sigmoid_max, name##_sigmoid_mean}, \
            [ACTIVATION_GELU] = {name##_gelu_none, name##_gelu_max, name##_gelu_mean},             \
            [ACTIVATION_NONE] = {name##_none_none},                                                \
        };                                                                                         \
                                                                                                   \
        if (call->shape->norm != NORM_LAYER)                                                       \
            normact_run(call, functions[call->shape->act][call->shape->pool]);                     \
        else if (call->shape->act == ACTIVATION_GELU)                                              \
            normact_run(call, name##_layer_gelu);                                                  \
        else                                                                                       \
            normact_run(call, name##_layer);                                                       \
    }

/* ---- Values ---- */

INLINE void normact_forward_tile(const struct normact_call *call, const struct normact_tile *tile,
                                 const enum activation act, const enum pooling pool,
                                 const bool layer)
{
    size_t stride = call->shape->stride, c = tile->channel;
    struct normact_lane lane = normact_lane(call, c);

    for (size_t t = tile->first; t < tile->end; t++) {
        struct normact_window window = normact_window(call, act, pool, layer, &lane, t, c);

        store(call->p + t * stride + c, normact_pool_values(act, pool, &window));
    }
}
NORMACT_KERNEL(normact_forward)

/* ---- Gradients ---- */

/* Sums of a tile; the first one starts them. */
INLINE void normact_add(const struct normact_tile *tile, float *to, vector sum)
{
    store(to + tile->channel, tile->first ? load(to + tile->channel) + sum : sum);
}

INLINE void normact_backward_sums_tile(const struct normact_call *call,
                                       const struct normact_tile *tile, const enum activation act,
                                       const enum pooling pool, const bool layer)
{
    const size_t width = pool == POOL_NONE ? 1 : 2;
    size_t stride = call->shape->stride, c = tile->channel;
    struct normact_lane lane = normact_lane(call, c);
    vector sum_a = {0}, sum_b = {0};

    for (size_t t = tile->first; t < tile->end; t++) {
        struct normact_window window = normact_window(call, act, pool, layer, &lane, t, c);
        vector share[2];

        normact_unpool(act, pool, &window, load(call->dp + t * stride + c), share);
#pragma GCC unroll 2
        for (size_t w = 0; w < width; w++) {
            size_t at = (width * t + w) * stride + c;
            vector da = times_slope(act, share[w], window.a[w], window.y[w]);
            vector centred = load(call->z + at) - lane.mean;

            if (layer) { /* scale is rstd: gradients of gamma and beta are per step */
                store(call->dgamma + at, load(call->dgamma + at) + da * (centred * lane.scale));
                store(call->dbeta + at, load(call->dbeta + at) + da);
                da *= load(call->gamma + at);
            }
            sum_a += da;
            sum_b += da * centred;
        }
    }
    normact_add(tile, call->sum_a, sum_a);
    normact_add(tile, call->sum_b, sum_b * load(normact_row(call, NORMACT_RSTD, c)));
}
NORMACT_KERNEL(normact_backward_sums)

INLINE void normact_backward_tile(const struct normact_call *call, const struct normact_tile *tile,
                                  const enum activation act, const enum pooling pool,
                                  const bool layer)
{
    const size_t width = pool == POOL_NONE ? 1 : 2;
    size_t stride = call->shape->stride, c = tile->channel;
    struct normact_lane lane = normact_lane(call, c);
    vector offset = load(normact_row(call, NORMACT_OFFSET, c));
    vector slope = load(normact_row(call, NORMACT_SLOPE, c));

    for (size_t t = tile->first; t < tile->end; t++) {
        struct normact_window window = normact_window(call, act, pool, layer, &lane, t, c);
        vector share[2];

        normact_unpool(act, pool, &window, load(call->dp + t * stride + c), share);
#pragma GCC unroll 2
        for (size_t w = 0; w < width; w++) {
            size_t at = (width * t + w) * stride + c;
            vector da = times_slope(act, share[w], window.a[w], window.y[w]);

            if (layer)
                da *= load(call->gamma + at);
            store(call->dz + at,
                  lane.scale * da + offset + slope * (load(call->z + at) - lane.mean));
        }
    }
    /* Pooling drops an odd step at the end, which still shares in the means. */
    for (size_t t = width * tile->end; tile->last && t < call->shape->steps; t++) {
        size_t at = t * stride + c;

        store(call->dz + at, offset + slope * (load(call->z + at) - lane.mean));
    }
}
NORMACT_KERNEL(normact_backward)

/* ---- Tangents ---- */

/* More constants of one vector of channels. */
struct normact_tangent_lane {
    vector rstd, mean_rz, mean_xrz, offset, slope;
};

INLINE struct normact_tangent_lane normact_tangent_lane(const struct normact_call *call,
                                                        size_t channel)
{
    return (struct normact_tangent_lane){load(normact_row(call, NORMACT_RSTD, channel)),
                                         load(normact_row(call, NORMACT_TANGENT_MEAN, channel)),
                                         load(normact_row(call, NORMACT_TANGENT_MEAN_X, channel)),
                                         load(normact_row(call, NORMACT_TANGENT_OFFSET, channel)),
                                         load(normact_row(call, NORMACT_TANGENT_SLOPE, channel))};
}

/* xh of a step and its tangent. */
struct normact_normalised {
    vector x, rx;
};

INLINE struct normact_normalised normact_normalised(const struct normact_call *call,
                                                    const struct normact_lane *lane,
                                                    const struct normact_tangent_lane *tangent,
                                                    size_t at)
{
    struct normact_normalised out;

    out.x = (load(call->z + at) - lane->mean) * tangent->rstd;
    out.rx = tangent->rstd * (load(call->rz + at) - tangent->mean_rz - out.x * tangent->mean_xrz);
    return out;
}

/* Tangent of a. */
INLINE vector normact_tangent_value(const struct normact_call *call, const bool layer,
                                    const struct normact_lane *lane,
                                    const struct normact_tangent_lane *tangent, size_t at)
{
    if (layer) {
        struct normact_normalised normalised = normact_normalised(call, lane, tangent, at);

        return load(call->gamma + at) * normalised.rx +
               load(call->tangent_gamma + at) * normalised.x + load(call->tangent_beta + at);
    }
    return lane->scale * load(call->rz + at) + tangent->offset +
           tangent->slope * (load(call->z + at) - lane->mean);
}

INLINE void normact_tangent_forward_tile(const struct normact_call *call,
                                         const struct normact_tile *tile, const enum activation act,
                                         const enum pooling pool, const bool layer)
{
    const size_t width = pool == POOL_NONE ? 1 : 2;
    size_t stride = call->shape->stride, c = tile->channel;
    struct normact_lane lane = normact_lane(call, c);
    struct normact_tangent_lane tangent = normact_tangent_lane(call, c);

    for (size_t t = tile->first; t < tile->end; t++) {
        struct normact_window window = normact_window(call, act, pool, layer, &lane, t, c);
        vector ry[2] = {{0}, {0}};

#pragma GCC unroll 2
        for (size_t w = 0; w < width; w++) {
            size_t at = (width * t + w) * stride + c;

            ry[w] = times_slope(act, normact_tangent_value(call, layer, &lane, &tangent, at),
                                window.a[w], window.y[w]);
        }
        store(call->p + t * stride + c, normact_pool(act, pool, &window, ry));
    }
}
NORMACT_KERNEL(normact_tangent_forward)

/* Gradient of a at one step, and its tangent. */
struct normact_gradient {
    vector da, rda;
};

INLINE struct normact_gradient normact_gradient(const enum activation act, vector share,
                                                vector rshare, vector a, vector y, vector ra)
{
    struct normact_gradient out;

    out.da = times_slope(act, share, a, y);
    out.rda = times_slope(act, rshare, a, y);
    if (act == ACTIVATION_SIGMOID)
        out.rda += out.da * (splat(1.0f) - y - y) * ra;
    if (act == ACTIVATION_GELU) /* the others are straight lines: no second derivative */
        out.rda += share * normal(a).density * (splat(2.0f) - a * a) * ra;
    return out;
}

INLINE void normact_tangent_backward_sums_tile(const struct normact_call *call,
                                               const struct normact_tile *tile,
                                               const enum activation act, const enum pooling pool,
                                               const bool layer)
{
    const size_t width = pool == POOL_NONE ? 1 : 2;
    size_t stride = call->shape->stride, c = tile->channel;
    struct normact_lane lane = normact_lane(call, c);
    struct normact_tangent_lane tangent = normact_tangent_lane(call, c);
    vector sum_a = {0}, sum_b = {0};

    for (size_t t = tile->first; t < tile->end; t++) {
        struct normact_window window = normact_window(call, act, pool, layer, &lane, t, c);
        vector share[2], rshare[2];

        normact_unpool(act, pool, &window, load(call->dp + t * stride + c), share);
        normact_unpool(act, pool, &window, load(call->rdp + t * stride + c), rshare);
#pragma GCC unroll 2
        for (size_t w = 0; w < width; w++) {
            size_t at = (width * t + w) * stride + c;
            struct normact_gradient g =
                normact_gradient(act, share[w], rshare[w], window.a[w], window.y[w],
                                 normact_tangent_value(call, layer, &lane, &tangent, at));
            struct normact_normalised n = normact_normalised(call, &lane, &tangent, at);

            if (layer) {
                store(call->dgamma + at, load(call->dgamma + at) + g.rda * n.x + g.da * n.rx);
                store(call->dbeta + at, load(call->dbeta + at) + g.rda);
                g.rda = g.rda * load(call->gamma + at) + g.da * load(call->tangent_gamma + at);
                g.da *= load(call->gamma + at);
            }
            sum_a += g.rda;
            sum_b += g.rda * n.x + g.da * n.rx;
        }
    }
    normact_add(tile, call->sum_a, sum_a);
    normact_add(tile, call->sum_b, sum_b);
}
NORMACT_KERNEL(normact_tangent_backward_sums)

/* Constants of one vector of channels for dz and Rdz. */
struct normact_tangent_gradient_lane {
    vector offset, slope, gamma_rstd, mean_g, mean_gx, tangent_mean_gx;
};

INLINE struct normact_tangent_gradient_lane normact_tangent_gradient_lane(
    const struct normact_call *call, size_t channel)
{
    return (struct normact_tangent_gradient_lane){
        load(normact_row(call, NORMACT_OFFSET, channel)),
        load(normact_row(call, NORMACT_SLOPE, channel)),
        load(normact_row(call, NORMACT_TANGENT_GAMMA_RSTD, channel)),
        load(normact_row(call, NORMACT_TANGENT_MEAN_G, channel)),
        load(normact_row(call, NORMACT_MEAN_GX, channel)),
        load(normact_row(call, NORMACT_TANGENT_MEAN_GX, channel))};
}

/* dz and Rdz of one step:
 *     Rdz = -rstd mean(xh Rz) dz + rstd (Rg - mean(Rg) - Rxh mean(g xh) - xh mean(R(g xh))). */
INLINE void normact_tangent_store(const struct normact_call *call, const bool layer,
                                  const struct normact_lane *lane,
                                  const struct normact_tangent_lane *tangent,
                                  const struct normact_tangent_gradient_lane *means,
                                  struct normact_gradient g, size_t at)
{
    struct normact_normalised n = normact_normalised(call, lane, tangent, at);
    vector dz, rest, scaled; /* scaled: rstd Rg */

    if (layer) {
        vector gamma = load(call->gamma + at);

        scaled = tangent->rstd * (gamma * g.rda + load(call->tangent_gamma + at) * g.da);
        g.da *= gamma;
    } else {
        scaled = lane->scale * g.rda + means->gamma_rstd * g.da;
    }
    dz = lane->scale * g.da + means->offset + means->slope * (load(call->z + at) - lane->mean);
    rest = means->mean_g + n.rx * means->mean_gx + n.x * means->tangent_mean_gx +
           tangent->mean_xrz * dz;
    store(call->dz + at, dz);
    store(call->rdz + at, scaled - tangent->rstd * rest);
}

INLINE void normact_tangent_backward_tile(const struct normact_call *call,
                                          const struct normact_tile *tile,
                                          const enum activation act, const enum pooling pool,
                                          const bool layer)
{
    const size_t width = pool == POOL_NONE ? 1 : 2;
    size_t stride = call->shape->stride, c = tile->channel;
    struct normact_lane lane = normact_lane(call, c);
    struct normact_tangent_lane tangent = normact_tangent_lane(call, c);
    struct normact_tangent_gradient_lane means = normact_tangent_gradient_lane(call, c);

    for (size_t t = tile->first; t < tile->end; t++) {
        struct normact_window window = normact_window(call, act, pool, layer, &lane, t, c);
        vector share[2], rshare[2];

        normact_unpool(act, pool, &window, load(call->dp + t * stride + c), share);
        normact_unpool(act, pool, &window, load(call->rdp + t * stride + c), rshare);
#pragma GCC unroll 2
        for (size_t w = 0; w < width; w++) {
            size_t at = (width * t + w) * stride + c;
            vector ra = normact_tangent_value(call, layer, &lane, &tangent, at);

            normact_tangent_store(
                call, layer, &lane, &tangent, &means,
                normact_gradient(act, share[w], rshare[w], window.a[w], window.y[w], ra), at);
        }
    }
    for (size_t t = width * tile->end; tile->last && t < call->shape->steps; t++)
        normact_tangent_store(call, layer, &lane, &tangent, &means,
                              (struct normact_gradient){{0}, {0}}, t * stride + c);
}
NORMACT_KERNEL(normact_tangent_backward)

/* ---- Moments ---- */

static void moments(size_t rows, size_t stride, const float *x, const float *pivot, float *sum,
                    float *squares)
{
    for (size_t c = 0; c < stride; c += LANES) {
        vector centre = load(pivot + c), total = {0}, square = {0};

        for (size_t row = 0; row < rows; row++) {
            vector d = load(x + row * stride + c) - centre;

            total += d;
            square += d * d;
        }
        store(sum + c, total);
        store(squares + c, square);
    }
}

static void products(size_t rows, size_t stride, const float *x, const float *mean, const float *y,
                     float *sum, float *sum_product)
{
    for (size_t c = 0; c < stride; c += LANES) {
        vector centre = load(mean + c), total = {0}, product = {0};

        for (size_t row = 0; row < rows; row++) {
            size_t at = row * stride + c;
            vector value = load(y + at);

            total += value;
            product += (load(x + at) - centre) * value;
        }
        store(sum + c, total);
        store(sum_product + c, product);
    }
}
