/* Products of a tall thin matrix with a small one: the core of convolutions and linear layers.
 *
 * A tile of ROWS x VECTORS accumulators stays in registers over the whole depth.  3 x 4 vectors of
 * accumulators, 3 broadcasts and one operand use up the 16 registers of AVX2 and need 7 loads per
 * 12 multiply-adds, so that the arithmetic and not the cache is the limit; 6 x 2 with one broadcast
 * and 2 operands do nearly as well where there are fewer columns. */

/* sum[i][j] += left[i * step] * right[j], the loads in the order that fits into the registers. */
INLINE void multiply_add(const size_t rows, const size_t vectors, const float *left, size_t step,
                         const float *right, vector sum[6][4])
{
    if (vectors == 4) {
        vector scale[6];

#pragma GCC unroll 6
        for (size_t i = 0; i < rows; i++)
            scale[i] = splat(left[i * step]);
#pragma GCC unroll 4
        for (size_t j = 0; j < vectors; j++) {
            vector values = load(right + j * LANES);

#pragma GCC unroll 6
            for (size_t i = 0; i < rows; i++)
                sum[i][j] += scale[i] * values;
        }
    } else {
        vector values[2];

#pragma GCC unroll 2
        for (size_t j = 0; j < vectors; j++)
            values[j] = load(right + j * LANES);
#pragma GCC unroll 6
        for (size_t i = 0; i < rows; i++) {
            vector scale = splat(left[i * step]);

#pragma GCC unroll 2
            for (size_t j = 0; j < vectors; j++)
                sum[i][j] += scale * values[j];
        }
    }
}

/* A row of vectors to out, of which only `columns` floats are there. */
INLINE void store_row(const size_t vectors, const vector *sum, bool add, float *out, size_t columns)
{
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) {
        float *to = out + j * LANES;

        if ((j + 1) * LANES <= columns) {
            store(to, add ? load(to) + sum[j] : sum[j]);
        } else {
            float lanes[LANES];

            memcpy(lanes, &sum[j], sizeof lanes);
            for (size_t c = 0; j * LANES + c < columns; c++)
                to[c] = add ? to[c] + lanes[c] : lanes[c];
        }
    }
}

/* out[0..rows) of one strip; rows and vectors are constants after inlining. */
INLINE void multiply_tile(const size_t rows, const size_t vectors, size_t depth, const float *a,
                          size_t lda, const float *panel, const float *bias, bool add, float *out,
                          size_t ldo, size_t columns)
{
    vector sum[6][4];

#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t j = 0; j < vectors; j++)
            sum[i][j] = bias ? load(bias + j * LANES) : splat(0.0f);
    for (size_t k = 0; k < depth; k++)
        multiply_add(rows, vectors, a + k, lda, panel + k * vectors * LANES, sum);
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++)
        store_row(vectors, sum[i], add, out + i * ldo, columns);
}

/* The same for a strip of one vector, where few rows would leave each addition waiting for the one
 * before: every fourth k has a sum of its own, however many rows there are. */
INLINE void multiply_narrow_tile(const size_t rows, size_t depth, const float *a, size_t lda,
                                 const float *panel, const float *bias, bool add, float *out,
                                 size_t ldo, size_t columns)
{
    vector sum[3][4];
    size_t k = 0;

#pragma GCC unroll 3
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t part = 0; part < 4; part++)
            sum[i][part] = bias && part == 0 ? load(bias) : splat(0.0f);
    for (; k + 4 <= depth; k += 4)
#pragma GCC unroll 4
        for (size_t part = 0; part < 4; part++) {
            vector values = load(panel + (k + part) * LANES);

#pragma GCC unroll 3
            for (size_t i = 0; i < rows; i++)
                sum[i][part] += splat(a[i * lda + k + part]) * values;
        }
    for (; k < depth; k++)
#pragma GCC unroll 3
        for (size_t i = 0; i < rows; i++)
            sum[i][0] += splat(a[i * lda + k]) * load(panel + k * LANES);
#pragma GCC unroll 3
    for (size_t i = 0; i < rows; i++) {
        vector total = (sum[i][0] + sum[i][1]) + (sum[i][2] + sum[i][3]);

        store_row(1, &total, add, out + i * ldo, columns);
    }
}

/* What is left when the rows do not fill tiles of the largest height. */
INLINE void multiply_rest(size_t rows, const size_t height, const size_t vectors, size_t depth,
                          const float *a, size_t lda, const float *panel, const float *bias,
                          bool add, float *out, size_t ldo, size_t columns)
{
    if (rows == 1)
        multiply_tile(1, vectors, depth, a, lda, panel, bias, add, out, ldo, columns);
    if (rows == 2)
        multiply_tile(2, vectors, depth, a, lda, panel, bias, add, out, ldo, columns);
    if (height == 3)
        return;
    if (rows == 3)
        multiply_tile(3, vectors, depth, a, lda, panel, bias, add, out, ldo, columns);
    if (rows == 4)
        multiply_tile(4, vectors, depth, a, lda, panel, bias, add, out, ldo, columns);
    if (rows == 5)
        multiply_tile(5, vectors, depth, a, lda, panel, bias, add, out, ldo, columns);
}

INLINE void multiply_strip(size_t rows, const size_t vectors, size_t depth, const float *a,
                           size_t lda, const float *panel, const float *bias, bool add, float *out,
                           size_t ldo, size_t columns)
{
    const size_t height = vectors == 4 ? 3 : 6;
    size_t row = 0;

    for (; row + height <= rows; row += height)
        multiply_tile(height, vectors, depth, a + row * lda, lda, panel, bias, add, out + row * ldo,
                      ldo, columns);
    multiply_rest(rows - row, height, vectors, depth, a + row * lda, lda, panel, bias, add,
                  out + row * ldo, ldo, columns);
}

static void multiply_4(size_t rows, size_t depth, const float *a, size_t lda, const float *panel,
                       const float *bias, bool add, float *out, size_t ldo, size_t columns)
{
    multiply_strip(rows, 4, depth, a, lda, panel, bias, add, out, ldo, columns);
}

static void multiply_2(size_t rows, size_t depth, const float *a, size_t lda, const float *panel,
                       const float *bias, bool add, float *out, size_t ldo, size_t columns)
{
    multiply_strip(rows, 2, depth, a, lda, panel, bias, add, out, ldo, columns);
}

static void multiply_1(size_t rows, size_t depth, const float *a, size_t lda, const float *panel,
                       const float *bias, bool add, float *out, size_t ldo, size_t columns)
{
    size_t row = 0;

    for (; row + 3 <= rows; row += 3)
        multiply_narrow_tile(3, depth, a + row * lda, lda, panel, bias, add, out + row * ldo, ldo,
                             columns);
    if (rows - row == 2)
        multiply_narrow_tile(2, depth, a + row * lda, lda, panel, bias, add, out + row * ldo, ldo,
                             columns);
    else if (rows - row == 1)
        multiply_narrow_tile(1, depth, a + row * lda, lda, panel, bias, add, out + row * ldo, ldo,
                             columns);
}

/* A single column: dot products of rows that are contiguous. */
static void multiply_column(size_t rows, size_t depth, const float *a, size_t lda,
                            const float *column, const float *bias, bool add, float *out,
                            size_t ldo)
{
    size_t whole = depth - depth % LANES;

    for (size_t row = 0; row < rows; row++) {
        const float *from = a + row * lda;
        vector sum[2] = {{0}, {0}};
        float total, *to = out + row * ldo;
        size_t k = 0;

        for (; k + 2 * LANES <= whole; k += 2 * LANES) {
            sum[0] += load(from + k) * load(column + k);
            sum[1] += load(from + k + LANES) * load(column + k + LANES);
        }
        for (; k < whole; k += LANES)
            sum[0] += load(from + k) * load(column + k);
        total = sum_lanes(sum[0] + sum[1]);
        for (; k < depth; k++)
            total += from[k] * column[k];
        *to = add ? *to + total : bias ? *bias + total : total;
    }
}

static void multiply(size_t rows, size_t depth, const float *a, size_t lda, const float *panel,
                     size_t columns, const float *bias, bool add, float *out, size_t ldo)
{
    const float *start = add ? NULL : bias;

    for (size_t first = 0; first < columns;) {
        struct panel_strip strip = panel_strip(columns, first, LANES);
        size_t width = panel_strip_columns(strip, columns, LANES);
        const float *from = start ? start + first : NULL;

        if (strip.vectors == 4)
            multiply_4(rows, depth, a, lda, panel, from, add, out + first, ldo, width);
        else if (strip.vectors == 2)
            multiply_2(rows, depth, a, lda, panel, from, add, out + first, ldo, width);
        else if (strip.vectors == 1)
            multiply_1(rows, depth, a, lda, panel, from, add, out + first, ldo, width);
        else
            multiply_column(rows, depth, a, lda, panel, from, add, out + first, ldo);
        panel += depth * (strip.vectors ? strip.vectors * LANES : 1);
        first += width;
    }
}

/* A tile of the transposed product: out[0..height)[0..vectors) += sum over rows of a^T g. */
INLINE void transposed_tile(const size_t height, const size_t vectors, size_t samples, size_t rows,
                            const float *a, size_t a_sample, size_t lda, const float *g,
                            size_t g_sample, size_t ldg, float *out, size_t ldo, size_t columns)
{
    vector sum[6][4];

#pragma GCC unroll 6
    for (size_t i = 0; i < height; i++)
#pragma GCC unroll 4
        for (size_t j = 0; j < vectors; j++)
            sum[i][j] = splat(0.0f);
    for (size_t sample = 0; sample < samples; sample++) {
        const float *left = a + sample * a_sample, *right = g + sample * g_sample;

        for (size_t row = 0; row < rows; row++, left += lda, right += ldg)
            multiply_add(height, vectors, left, 1, right, sum);
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < height; i++)
        store_row(vectors, sum[i], true, out + i * ldo, columns);
}

INLINE void transposed_strip(const size_t vectors, size_t samples, size_t rows, const float *a,
                             size_t a_sample, size_t lda, size_t depth, const float *g,
                             size_t g_sample, size_t ldg, float *out, size_t ldo, size_t columns)
{
    const size_t height = vectors == 4 ? 3 : 6;
    size_t i = 0;

    for (; i + height <= depth; i += height)
        transposed_tile(height, vectors, samples, rows, a + i, a_sample, lda, g, g_sample, ldg,
                        out + i * ldo, ldo, columns);
    for (; i < depth; i++)
        transposed_tile(1, vectors, samples, rows, a + i, a_sample, lda, g, g_sample, ldg,
                        out + i * ldo, ldo, columns);
}

static void transposed_chunk(size_t samples, size_t rows, const float *a, size_t a_sample,
                             size_t lda, size_t depth, const float *g, size_t g_sample, size_t ldg,
                             size_t columns, float *out, size_t ldo)
{
    for (size_t first = 0; first < columns;) {
        size_t left = columns - first, vectors = (left + LANES - 1) / LANES, width;

        vectors = vectors >= 4 ? 4 : vectors >= 2 ? 2 : 1;
        width = vectors * LANES < left ? vectors * LANES : left;
        if (vectors == 4)
            transposed_strip(4, samples, rows, a, a_sample, lda, depth, g + first, g_sample, ldg,
                             out + first, ldo, width);
        else if (vectors == 2)
            transposed_strip(2, samples, rows, a, a_sample, lda, depth, g + first, g_sample, ldg,
                             out + first, ldo, width);
        else
            transposed_strip(1, samples, rows, a, a_sample, lda, depth, g + first, g_sample, ldg,
                             out + first, ldo, width);
        first += width;
    }
}

/* Goes over the rows in pieces that stay in the first-level cache while all tiles read them. */
static void multiply_transposed(size_t samples, size_t rows, const float *a, size_t a_sample,
                                size_t lda, size_t depth, const float *g, size_t g_sample,
                                size_t ldg, size_t columns, float *out, size_t ldo)
{
    size_t most = 64;

    if (rows <= most) {
        size_t together = most / (rows ? rows : 1);

        for (size_t sample = 0; sample < samples; sample += together)
            transposed_chunk(together < samples - sample ? together : samples - sample, rows,
                             a + sample * a_sample, a_sample, lda, depth, g + sample * g_sample,
                             g_sample, ldg, columns, out, ldo);
        return;
    }
    for (size_t sample = 0; sample < samples; sample++)
        for (size_t row = 0; row < rows; row += most)
            transposed_chunk(1, most < rows - row ? most : rows - row,
                             a + sample * a_sample + row * lda, 0, lda, depth,
                             g + sample * g_sample + row * ldg, 0, ldg, columns, out, ldo);
}

static void add_columns(size_t rows, size_t stride, const float *x, float *sum)
{
    size_t c = 0;

    for (; c + LANES <= stride; c += LANES) {
        vector total = load(sum + c);

        for (size_t row = 0; row < rows; row++)
            total += load(x + row * stride + c);
        store(sum + c, total);
    }
    for (; c < stride; c++)
        for (size_t row = 0; row < rows; row++)
            sum[c] += x[row * stride + c];
}
