/* Rows of softmax in attention, (rows, stride) with `columns` real values in each; the others are
 * 0 before and after.  stride is a multiple of the vectors. */

/* NaN may be missed: the sum becomes NaN all the same. */
INLINE float largest_of_row(size_t columns, const float *x)
{
    vector most = splat(x[0]);
    float lanes[LANES];

    for (size_t i = 0; i < columns; i += LANES) {
        vector value = choose(rownorm_real(columns, i), load(x + i), most);

        most = choose(value > most, value, most);
    }
    memcpy(lanes, &most, sizeof lanes);
    for (size_t i = 1; i < LANES; i++)
        lanes[0] = lanes[i] > lanes[0] ? lanes[i] : lanes[0];
    return lanes[0];
}

/* x = softmax(scale x).  A NaN makes its whole row NaN. */
static void softmax_rows(size_t rows, size_t columns, size_t stride, float scale, float *x)
{
    for (size_t row = 0; row < rows; row++, x += stride) {
        float most = largest_of_row(columns, x);
        vector sum = {0}, factor;

        for (size_t i = 0; i < columns; i += LANES) {
            vector e = exponential((load(x + i) - splat(most)) * splat(scale));

            e = rownorm_only(columns, i, e);
            store(x + i, e);
            sum += e;
        }
        factor = splat(1.0f / sum_lanes(sum));
        for (size_t i = 0; i < columns; i += LANES)
            store(x + i, load(x + i) * factor);
    }
}

INLINE float dot_row(size_t stride, const float *a, const float *b)
{
    vector sum[2] = {{0}, {0}};

    for (size_t i = 0; i < stride; i += 2 * LANES) {
        sum[0] += load(a + i) * load(b + i);
        sum[1] += load(a + i + LANES) * load(b + i + LANES);
    }
    return sum_lanes(sum[0] + sum[1]);
}

/* d = scale p (d - sum(p d)): the gradient of softmax, and its tangent. */
static void softmax_gradient(size_t rows, size_t stride, float scale, const float *p, float *d)
{
    for (size_t row = 0; row < rows; row++, p += stride, d += stride) {
        vector mean = splat(dot_row(stride, p, d));

        for (size_t i = 0; i < stride; i += LANES)
            store(d + i, splat(scale) * load(p + i) * (load(d + i) - mean));
    }
}

/* The tangent of the above along Rp and Rd; d becomes what it does above, rd its tangent. */
static void softmax_gradient_tangent(size_t rows, size_t stride, float scale, const float *p,
                                     const float *rp, float *d, float *rd)
{
    for (size_t row = 0; row < rows; row++, p += stride, rp += stride, d += stride, rd += stride) {
        vector mean = splat(dot_row(stride, p, d));
        vector rmean = splat(dot_row(stride, rp, d) + dot_row(stride, p, rd));

        for (size_t i = 0; i < stride; i += LANES) {
            vector centred = load(d + i) - mean;

            store(rd + i,
                  splat(scale) * (load(rp + i) * centred + load(p + i) * (load(rd + i) - rmean)));
            store(d + i, splat(scale) * load(p + i) * centred);
        }
    }
}
