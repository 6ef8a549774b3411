/* Maxima of three neighbouring steps of one sample, (steps, stride).  Of equals the first counts.
 *
 * With w[t] the step that is taken for t, which is one of t - 1, t, t + 1,
 *
 *     out[t] = x[w[t]]          dx[s] = sum of dout[t] over t with w[t] = s
 *
 * w is found again wherever it is needed.  Steps lie one after another in memory, so that vectors
 * run over channels and steps in one loop, except for the first and last step, which miss a
 * neighbour. */

/* x[t] beats the one before it if it is larger or NaN. */
INLINE mask beats(vector later, vector earlier)
{
    return (later > earlier) | (later != later);
}

/* of[w[t]] where x has its maximum, for values before, at and after a step. */
INLINE vector choose3(vector x0, vector x1, vector x2, vector of0, vector of1, vector of2)
{
    mask second = beats(x1, x0);
    mask third = beats(x2, choose(second, x1, x0));

    return choose(third, of2, choose(second, of1, of0));
}

/* w[t] of one value, whose neighbours may be missing, as a place in x. */
INLINE size_t place_of_max3(size_t end, size_t stride, size_t i, const float *x)
{
    size_t best = i >= stride ? i - stride : i;

    if (x[i] > x[best] || x[i] != x[i])
        best = i;
    if (i + stride < end && (x[i + stride] > x[best] || x[i + stride] != x[i + stride]))
        best = i + stride;
    return best;
}

static void max3_tangent(size_t steps, size_t stride, const float *x, const float *rx, float *rout)
{
    size_t end = steps * stride, i = 0;

    for (; i < stride; i++)
        rout[i] = rx[place_of_max3(end, stride, i, x)];
    for (; i + stride + LANES <= end; i += LANES)
        store(rout + i, choose3(load(x + i - stride), load(x + i), load(x + i + stride),
                                load(rx + i - stride), load(rx + i), load(rx + i + stride)));
    for (; i < end; i++)
        rout[i] = rx[place_of_max3(end, stride, i, x)];
}

static void max3(size_t steps, size_t stride, const float *x, float *out)
{
    max3_tangent(steps, stride, x, x, out);
}

INLINE void add_where(mask where, vector value, float *to)
{
    store(to, load(to) + choose(where, value, splat(0.0f)));
}

static void max3_backward(size_t steps, size_t stride, const float *x, const float *dout, float *dx)
{
    size_t end = steps * stride, i = 0;

    memset(dx, 0, end * sizeof *dx);
    for (; i < stride; i++)
        dx[place_of_max3(end, stride, i, x)] += dout[i];
    for (; i + stride + LANES <= end; i += LANES) {
        vector x0 = load(x + i - stride), x1 = load(x + i), d = load(dout + i);
        mask second = beats(x1, x0);
        mask third = beats(load(x + i + stride), choose(second, x1, x0));

        add_where(~second & ~third, d, dx + i - stride);
        add_where(second & ~third, d, dx + i);
        add_where(third, d, dx + i + stride);
    }
    for (; i < end; i++)
        dx[place_of_max3(end, stride, i, x)] += dout[i];
}
