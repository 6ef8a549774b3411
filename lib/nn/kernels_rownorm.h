/* Normalisation of one step over its channels (struct rownorm in backend.h).  A row is in the
 * first-level cache, so that going over it several times is cheap. */

/* Where the channels of a vector that begins at c are real ones. */
INLINE mask rownorm_real(size_t channels, size_t c)
{
    const int32_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    mask index;

    memcpy(&index, lane, sizeof index);
    return index + (int32_t)c < (mask){0} + (int32_t)channels;
}

INLINE vector rownorm_only(size_t channels, size_t c, vector value)
{
    return c + LANES <= channels ? value : choose(rownorm_real(channels, c), value, splat(0.0f));
}

struct rownorm_moments {
    vector mean, rstd;
};

INLINE struct rownorm_moments rownorm_moments(size_t channels, const float *z)
{
    vector sum = {0}, squares = {0};
    float mean, variance;

    for (size_t c = 0; c < channels; c += LANES)
        sum += rownorm_only(channels, c, load(z + c));
    mean = sum_lanes(sum) / (float)channels;
    for (size_t c = 0; c < channels; c += LANES) {
        vector d = rownorm_only(channels, c, load(z + c) - splat(mean));

        squares += d * d;
    }
    variance = sum_lanes(squares) / (float)channels;
    return (struct rownorm_moments){splat(mean),
                                    splat(1.0f / sqrtf(variance + (float)BACKEND_EPSILON))};
}

/* The padding becomes 0 by gamma and beta. */
static void rownorm_forward(const struct rownorm *norm, const float *z, float *y)
{
    struct rownorm_moments m = rownorm_moments(norm->shape.channels, z);

    for (size_t c = 0; c < norm->shape.channels; c += LANES)
        store(y + c,
              (load(z + c) - m.mean) * m.rstd * load(norm->gamma + c) + load(norm->beta + c));
}

/* g = gamma dy;  dz = rstd (g - mean(g) - xh mean(g xh)). */
static void rownorm_backward(const struct rownorm *norm, const float *z, const float *dy, float *dz,
                             float *dgamma, float *dbeta)
{
    size_t channels = norm->shape.channels;
    struct rownorm_moments m = rownorm_moments(channels, z);
    vector sum = {0}, sum_x = {0}, share = splat(1.0f / (float)channels), mean, mean_x;

    for (size_t c = 0; c < channels; c += LANES) {
        vector xh = (load(z + c) - m.mean) * m.rstd, d = load(dy + c);
        vector g = rownorm_only(channels, c, load(norm->gamma + c) * d);

        sum += g;
        sum_x += g * xh;
        if (dgamma) {
            store(dgamma + c, load(dgamma + c) + rownorm_only(channels, c, d * xh));
            store(dbeta + c, load(dbeta + c) + rownorm_only(channels, c, d));
        }
    }
    mean = splat(sum_lanes(sum)) * share;
    mean_x = splat(sum_lanes(sum_x)) * share;
    for (size_t c = 0; c < channels; c += LANES) {
        vector xh = (load(z + c) - m.mean) * m.rstd, g = load(norm->gamma + c) * load(dy + c);

        store(dz + c, rownorm_only(channels, c, m.rstd * (g - mean - xh * mean_x)));
    }
}

/* Means of Rz and xh Rz, for Rxh = rstd (Rz - mean(Rz) - xh mean(xh Rz)). */
struct rownorm_tangent {
    vector mean, mean_x;
};

INLINE struct rownorm_tangent rownorm_tangent(size_t channels, struct rownorm_moments m,
                                              const float *z, const float *rz)
{
    vector sum = {0}, sum_x = {0}, share = splat(1.0f / (float)channels);

    for (size_t c = 0; c < channels; c += LANES) {
        vector r = rownorm_only(channels, c, load(rz + c));

        sum += r;
        sum_x += r * (load(z + c) - m.mean) * m.rstd;
    }
    return (struct rownorm_tangent){splat(sum_lanes(sum)) * share, splat(sum_lanes(sum_x)) * share};
}

static void rownorm_tangent_forward(const struct rownorm *norm, const float *z, const float *rz,
                                    float *ry)
{
    size_t channels = norm->shape.channels;
    struct rownorm_moments m = rownorm_moments(channels, z);
    struct rownorm_tangent t = rownorm_tangent(channels, m, z, rz);

    for (size_t c = 0; c < channels; c += LANES) {
        vector xh = (load(z + c) - m.mean) * m.rstd;
        vector rxh = m.rstd * (load(rz + c) - t.mean - xh * t.mean_x);

        store(ry + c, load(norm->gamma + c) * rxh + load(norm->tangent_gamma + c) * xh +
                          load(norm->tangent_beta + c));
    }
}

/* With Rg = gamma Rdy + Rgamma dy,
 *     Rdz = -rstd mean(xh Rz) dz + rstd (Rg - mean(Rg) - Rxh mean(g xh) - xh mean(R(g xh))). */
static void rownorm_tangent_backward(const struct rownorm *norm, const float *z, const float *rz,
                                     const float *dy, const float *rdy, float *rdz, float *rdgamma,
                                     float *rdbeta)
{
    size_t channels = norm->shape.channels;
    struct rownorm_moments m = rownorm_moments(channels, z);
    struct rownorm_tangent t = rownorm_tangent(channels, m, z, rz);
    vector g_sum = {0}, gx_sum = {0}, rg_sum = {0}, rgx_sum = {0};
    vector share = splat(1.0f / (float)channels);

    for (size_t c = 0; c < channels; c += LANES) {
        vector xh = (load(z + c) - m.mean) * m.rstd;
        vector rxh = m.rstd * (load(rz + c) - t.mean - xh * t.mean_x);
        vector gamma = load(norm->gamma + c), d = load(dy + c), rd = load(rdy + c);
        vector g = rownorm_only(channels, c, gamma * d);
        vector rg = rownorm_only(channels, c, gamma * rd + load(norm->tangent_gamma + c) * d);

        g_sum += g;
        gx_sum += g * xh;
        rg_sum += rg;
        rgx_sum += rg * xh + g * rxh;
        if (rdgamma) {
            store(rdgamma + c, load(rdgamma + c) + rownorm_only(channels, c, rd * xh + d * rxh));
            store(rdbeta + c, load(rdbeta + c) + rownorm_only(channels, c, rd));
        }
    }
    vector mean_g = splat(sum_lanes(g_sum)) * share, mean_gx = splat(sum_lanes(gx_sum)) * share;
    vector mean_rg = splat(sum_lanes(rg_sum)) * share, mean_rgx = splat(sum_lanes(rgx_sum)) * share;

    for (size_t c = 0; c < channels; c += LANES) {
        vector xh = (load(z + c) - m.mean) * m.rstd;
        vector rxh = m.rstd * (load(rz + c) - t.mean - xh * t.mean_x);
        vector gamma = load(norm->gamma + c), d = load(dy + c);
        vector dz = m.rstd * (gamma * d - mean_g - xh * mean_gx);
        vector rg = gamma * load(rdy + c) + load(norm->tangent_gamma + c) * d;

        store(rdz + c, rownorm_only(channels, c,
                                    m.rstd * (rg - mean_rg - rxh * mean_gx - xh * mean_rgx -
                                              t.mean_x * dz)));
    }
}
