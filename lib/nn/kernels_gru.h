/* One step of gated recurrent units for one sample (struct gru_shape in backend.h): the gates and
 * their derivatives.  Products with W_hh are the caller's.  Rows of `hidden` values: gates r, z, n,
 * gh_n; gi and gh have r, z, n.  `before` is h', NULL for 0. */

/* Vectors of channels, the last one by copies so that nothing is read or written
 * past the end: arrays of gates lie side by side. */
INLINE vector gru_load(const float *from, size_t i, size_t count)
{
    vector value = {0};

    if (!from)
        return value;
    if (count == LANES)
        return load(from + i);
    memcpy(&value, from + i, count * sizeof *from);
    return value;
}

INLINE void gru_store(float *to, size_t i, size_t count, vector value)
{
    if (count == LANES)
        store(to + i, value);
    else
        memcpy(to + i, &value, count * sizeof *to);
}

INLINE size_t gru_count(size_t hidden, size_t i)
{
    return hidden - i < LANES ? hidden - i : LANES;
}

static void gru_step(size_t hidden, const float *gi, const float *gh, const float *before,
                     float *gates, float *h)
{
    const vector one = splat(1.0f);

    for (size_t i = 0; i < hidden; i += LANES) {
        size_t count = gru_count(hidden, i);
        vector r = sigmoid(gru_load(gi, i, count) + gru_load(gh, i, count));
        vector z = sigmoid(gru_load(gi + hidden, i, count) + gru_load(gh + hidden, i, count));
        vector hn = gru_load(gh + 2 * hidden, i, count);
        vector n = hyperbolic_tangent(gru_load(gi + 2 * hidden, i, count) + r * hn);

        gru_store(gates + GRU_R * hidden, i, count, r);
        gru_store(gates + GRU_Z * hidden, i, count, z);
        gru_store(gates + GRU_N * hidden, i, count, n);
        gru_store(gates + GRU_HN * hidden, i, count, hn);
        gru_store(h, i, count, (one - z) * n + z * gru_load(before, i, count));
    }
}

/* dh, the gradient of h, becomes the part of that of h' that does not go through W_hh. */
static void gru_step_backward(size_t hidden, const float *gates, const float *before, float *dh,
                              float *dgi, float *dgh)
{
    const vector one = splat(1.0f);

    for (size_t i = 0; i < hidden; i += LANES) {
        size_t count = gru_count(hidden, i);
        vector r = gru_load(gates + GRU_R * hidden, i, count);
        vector z = gru_load(gates + GRU_Z * hidden, i, count);
        vector n = gru_load(gates + GRU_N * hidden, i, count);
        vector hn = gru_load(gates + GRU_HN * hidden, i, count), d = gru_load(dh, i, count);
        vector dn = d * (one - z) * (one - n * n);
        vector dz = d * (gru_load(before, i, count) - n) * z * (one - z);
        vector dr = dn * hn * r * (one - r);

        gru_store(dgi, i, count, dr);
        gru_store(dgi + hidden, i, count, dz);
        gru_store(dgi + 2 * hidden, i, count, dn);
        gru_store(dgh, i, count, dr);
        gru_store(dgh + hidden, i, count, dz);
        gru_store(dgh + 2 * hidden, i, count, dn * r);
        gru_store(dh, i, count, d * z);
    }
}

static void gru_step_tangent(size_t hidden, const float *rgi, const float *rgh, const float *gates,
                             const float *before, const float *rbefore, float *rgates, float *rh)
{
    const vector one = splat(1.0f);

    for (size_t i = 0; i < hidden; i += LANES) {
        size_t count = gru_count(hidden, i);
        vector r = gru_load(gates + GRU_R * hidden, i, count);
        vector z = gru_load(gates + GRU_Z * hidden, i, count);
        vector n = gru_load(gates + GRU_N * hidden, i, count);
        vector hn = gru_load(gates + GRU_HN * hidden, i, count);
        vector rr = r * (one - r) * (gru_load(rgi, i, count) + gru_load(rgh, i, count));
        vector rz =
            z * (one - z) * (gru_load(rgi + hidden, i, count) + gru_load(rgh + hidden, i, count));
        vector rhn = gru_load(rgh + 2 * hidden, i, count);
        vector rn = (one - n * n) * (gru_load(rgi + 2 * hidden, i, count) + rr * hn + r * rhn);

        gru_store(rgates + GRU_R * hidden, i, count, rr);
        gru_store(rgates + GRU_Z * hidden, i, count, rz);
        gru_store(rgates + GRU_N * hidden, i, count, rn);
        gru_store(rgates + GRU_HN * hidden, i, count, rhn);
        gru_store(rh, i, count,
                  (one - z) * rn + rz * (gru_load(before, i, count) - n) +
                      z * gru_load(rbefore, i, count));
    }
}

/* dh and rdh as in gru_step_backward; rdgi gets the tangents, dgh and rdgh both. */
static void gru_step_tangent_backward(size_t hidden, const float *gates, const float *rgates,
                                      const float *before, const float *rbefore, float *dh,
                                      float *rdh, float *rdgi, float *dgh, float *rdgh)
{
    const vector one = splat(1.0f), two = splat(2.0f);

    for (size_t i = 0; i < hidden; i += LANES) {
        size_t count = gru_count(hidden, i);
        vector r = gru_load(gates + GRU_R * hidden, i, count);
        vector z = gru_load(gates + GRU_Z * hidden, i, count);
        vector n = gru_load(gates + GRU_N * hidden, i, count);
        vector hn = gru_load(gates + GRU_HN * hidden, i, count);
        vector rr = gru_load(rgates + GRU_R * hidden, i, count);
        vector rz = gru_load(rgates + GRU_Z * hidden, i, count);
        vector rn = gru_load(rgates + GRU_N * hidden, i, count);
        vector rhn = gru_load(rgates + GRU_HN * hidden, i, count);
        vector d = gru_load(dh, i, count), rd = gru_load(rdh, i, count);
        vector before_n = gru_load(before, i, count) - n;
        vector rbefore_n = gru_load(rbefore, i, count) - rn;
        /* Gradients of n, z and r, then of what is inside their functions. */
        vector dn = d * (one - z), rdn = rd * (one - z) - d * rz;
        vector dz = d * before_n, rdz = rd * before_n + d * rbefore_n;
        vector dan = dn * (one - n * n), rdan = rdn * (one - n * n) - two * dn * n * rn;
        vector dr = dan * hn, rdr = rdan * hn + dan * rhn;
        vector daz = dz * z * (one - z), rdaz = rdz * z * (one - z) + dz * (one - two * z) * rz;
        vector dar = dr * r * (one - r), rdar = rdr * r * (one - r) + dr * (one - two * r) * rr;

        gru_store(rdgi, i, count, rdar);
        gru_store(rdgi + hidden, i, count, rdaz);
        gru_store(rdgi + 2 * hidden, i, count, rdan);
        gru_store(dgh, i, count, dar);
        gru_store(dgh + hidden, i, count, daz);
        gru_store(dgh + 2 * hidden, i, count, dan * r);
        gru_store(rdgh, i, count, rdar);
        gru_store(rdgh + hidden, i, count, rdaz);
        gru_store(rdgh + 2 * hidden, i, count, rdan * r + dan * rr);
        gru_store(dh, i, count, d * z);
        gru_store(rdh, i, count, rd * z + d * rz);
    }
}
