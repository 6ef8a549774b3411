/* Attention on the processor.
 *
 * One head of one sample at a time, and of its square of weights only some rows, which stay in the
 * cache: nothing of them is kept between passes, which find P again from Q and K.  With D the mask
 * of dropout (each value 0 or 1/(1 - rate)), s = 1/sqrt(width) and R for tangents,
 *
 *     S = Q K^T           P = softmax(s S)                    O = (P D) V
 *     dP = (dO V^T) D     dS = s P (dP - sum P dP)            dV = (P D)^T dO
 *                         dQ = dS K                           dK = dS^T Q
 *     RS = RQ K^T + Q RK^T      RP = s P (RS - sum P RS)      RO = (RP D) V + (P D) RV
 *     RdP = (RdO V^T + dO RV^T) D
 *     RdS = s (RP (dP - sum P dP) + P (RdP - sum(RP dP + P RdP)))
 *     RdV = (RP D)^T dO + (P D)^T RdO
 *     RdQ = RdS K + dS RK       RdK = RdS^T Q + dS^T RQ
 *
 * Products go through the kernels of convolutions; sums over rows are within rows of the square. */
#include <math.h>
#include <string.h>

#include "nn/backend_cpu.h"

/* Values of a buffer of rows: they stay in the second-level cache. */
enum { BUFFER_FLOATS = 8 * 1024, MOST_ROWS = 96, TILE_ROWS = 6 };

/* What the scratch is cut into: right sides of products, packed, rows that are padded, and rows of
 * the square. */
enum { PANELS = 7, PADDED = PANELS - 1, BUFFERS = 5 };

/* Rows of the square that are worked on together: whole tiles of the kernels. */
static size_t rows_together(const struct attention_shape *shape)
{
    size_t rows = BUFFER_FLOATS / backend_stride(shape->steps) / TILE_ROWS * TILE_ROWS;

    return rows < TILE_ROWS ? TILE_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

static size_t panel_floats(const struct attention_shape *shape)
{
    return backend_stride(shape->steps) * backend_stride(shape->width);
}

static size_t buffer_floats(const struct attention_shape *shape)
{
    return rows_together(shape) * backend_stride(shape->steps);
}

size_t cpu_attention_scratch(const struct attention_shape *shape, size_t count)
{
    (void)count;
    return PANELS * panel_floats(shape) + BUFFERS * buffer_floats(shape);
}

/* One head of one sample, and some rows of its square. */
struct head {
    const struct attention *attention;
    size_t sample, number;
    size_t steps, width, columns; /* columns: steps, padded */
    size_t in, out;               /* strides */
    float scale;
    size_t first, rows; /* the rows of the square that are in the buffers */
    float *panels[PANELS], *buffers[BUFFERS];
};

static struct head head_of(const struct attention *attention, size_t sample, size_t number)
{
    const struct attention_shape *shape = &attention->shape;
    struct head head = {.attention = attention,
                        .sample = sample,
                        .number = number,
                        .steps = shape->steps,
                        .width = shape->width,
                        .columns = backend_stride(shape->steps),
                        .in = shape->input_stride,
                        .out = shape->output_stride,
                        .scale = 1.0f / sqrtf((float)shape->width)};
    float *scratch = attention->scratch;

    for (size_t i = 0; i < PANELS; i++, scratch += panel_floats(shape))
        head.panels[i] = scratch;
    for (size_t i = 0; i < BUFFERS; i++, scratch += buffer_floats(shape))
        head.buffers[i] = scratch;
    return head;
}

/* Q, K and V of the head in an array of the input, or its gradient. */
static const float *part(const struct head *head, const float *in, size_t which)
{
    return in + (which * head->attention->shape.heads + head->number) * head->width;
}

static float *part_to(const struct head *head, float *in, size_t which)
{
    return in + (which * head->attention->shape.heads + head->number) * head->width;
}

enum { Q, K, V };

/* The right side X^T (width, steps) or X (steps, width) of a product. */
static const float *pack_turned(const struct head *head, size_t panel, const float *x)
{
    cpu_pack(head->width, head->steps, head->columns, x, 1, head->in, head->panels[panel]);
    return head->panels[panel];
}

static const float *pack(const struct head *head, size_t panel, const float *x)
{
    cpu_pack(head->steps, head->width, head->width, x, head->in, 1, head->panels[panel]);
    return head->panels[panel];
}

/* Rows of the square: square = x X^T, x the head's rows of an array of that stride. */
static float *to_square(const struct head *head, size_t buffer, const float *x, size_t stride,
                        const float *panel, bool add)
{
    cpu_kernels()->multiply(head->rows, head->width, x + head->first * stride, stride, panel,
                            head->columns, NULL, add, head->buffers[buffer], head->columns);
    return head->buffers[buffer];
}

/* y = square X, into the head's rows of an array of that stride. */
static void from_square(const struct head *head, const float *square, const float *panel, bool add,
                        float *y, size_t stride)
{
    cpu_kernels()->multiply(head->rows, head->steps, square, head->columns, panel, head->width,
                            NULL, add, y + head->first * stride, stride);
}

/* y += square^T x, all rows of y.  The product reads whole vectors, which may reach from the last
 * row of x into another sample, that another thread writes: it gets a copy. */
static void add_turned(const struct head *head, const float *square, const float *x,
                       size_t x_stride, float *y, size_t stride)
{
    size_t wide = backend_stride(head->width);
    float *rows = head->panels[PADDED];

    for (size_t i = 0; i < head->rows; i++)
        memcpy(rows + i * wide, x + (head->first + i) * x_stride, head->width * sizeof *rows);
    cpu_kernels()->multiply_transposed(1, head->rows, square, 0, head->columns, head->steps, rows,
                                       0, wide, head->width, y, stride);
}

/* The weights after dropout: in another buffer, where there is any. */
static float *drop(const struct head *head, float *square, float *to)
{
    const struct dropout_mask *mask = &head->attention->mask;

    if (!mask->dropout.on || mask->rate <= 0)
        return square;
    cpu_dropout_rows(mask, head->sample, head->number * head->steps + head->first, head->rows,
                     head->steps, square, to, head->columns);
    return to;
}

/* ---- Passes ---- */

/* Moves on to the next rows of the square, first to the first; false after the last. */
static bool next_rows(struct head *head)
{
    size_t together = rows_together(&head->attention->shape);

    head->first += head->rows;
    head->rows = head->steps - head->first < together ? head->steps - head->first : together;
    return head->rows > 0;
}

static float *weights(const struct head *head, const float *in, const float *turned_k,
                      size_t buffer)
{
    float *p = to_square(head, buffer, part(head, in, Q), head->in, turned_k, false);

    cpu_kernels()->softmax_rows(head->rows, head->steps, head->columns, head->scale, p);
    return p;
}

static void forward_head(struct head head, const float *in, float *out)
{
    const float *turned_k = pack_turned(&head, 0, part(&head, in, K));
    const float *v = pack(&head, 1, part(&head, in, V));

    while (next_rows(&head)) {
        float *p = weights(&head, in, turned_k, 0);

        from_square(&head, drop(&head, p, p), v, false, out + head.number * head.width, head.out);
    }
}

void cpu_attention_forward(const struct attention *attention, size_t first, size_t count,
                           const float *in, float *out)
{
    const struct attention_shape *shape = &attention->shape;

    for (size_t n = 0; n < count; n++)
        for (size_t h = 0; h < shape->heads; h++)
            forward_head(head_of(attention, first + n, h), in + n * shape->input_sample,
                         out + n * shape->output_sample);
}

static void backward_head(struct head head, const float *in, const float *dout, float *din)
{
    const float *turned_k = pack_turned(&head, 0, part(&head, in, K));
    const float *turned_v = pack_turned(&head, 1, part(&head, in, V));
    const float *k = pack(&head, 2, part(&head, in, K));

    dout += head.number * head.width;
    while (next_rows(&head)) {
        float *p = weights(&head, in, turned_k, 0);
        float *dp = to_square(&head, 1, dout, head.out, turned_v, false);

        add_turned(&head, drop(&head, p, head.buffers[2]), dout, head.out, part_to(&head, din, V),
                   head.in);
        drop(&head, dp, dp);
        cpu_kernels()->softmax_gradient(head.rows, head.columns, head.scale, p, dp);
        from_square(&head, dp, k, false, part_to(&head, din, Q), head.in);
        add_turned(&head, dp, part(&head, in, Q), head.in, part_to(&head, din, K), head.in);
    }
}

void cpu_attention_backward(const struct attention *attention, size_t first, size_t count,
                            const float *in, const float *dout, float *din)
{
    const struct attention_shape *shape = &attention->shape;

    for (size_t n = 0; n < count; n++) {
        float *to = din + n * shape->input_gradient_sample;

        memset(to, 0, shape->steps * shape->input_stride * sizeof *to);
        for (size_t h = 0; h < shape->heads; h++)
            backward_head(head_of(attention, first + n, h), in + n * shape->input_sample,
                          dout + n * shape->output_gradient_sample, to);
    }
}

/* RP, from what P has become. */
static float *tangent_weights(const struct head *head, const float *in, const float *rin,
                              const float *turned_k, const float *turned_rk, const float *p,
                              size_t buffer)
{
    float *rp = to_square(head, buffer, part(head, rin, Q), head->in, turned_k, false);

    to_square(head, buffer, part(head, in, Q), head->in, turned_rk, true);
    cpu_kernels()->softmax_gradient(head->rows, head->columns, head->scale, p, rp);
    return rp;
}

static void tangent_forward_head(struct head head, const float *in, const float *rin, float *rout)
{
    const float *turned_k = pack_turned(&head, 0, part(&head, in, K));
    const float *turned_rk = pack_turned(&head, 1, part(&head, rin, K));
    const float *v = pack(&head, 2, part(&head, in, V)), *rv = pack(&head, 3, part(&head, rin, V));

    rout += head.number * head.width;
    while (next_rows(&head)) {
        float *p = weights(&head, in, turned_k, 0);
        float *rp = tangent_weights(&head, in, rin, turned_k, turned_rk, p, 1);

        from_square(&head, drop(&head, rp, rp), v, false, rout, head.out);
        from_square(&head, drop(&head, p, p), rv, true, rout, head.out);
    }
}

void cpu_attention_tangent_forward(const struct attention *attention, size_t first, size_t count,
                                   const float *in, const float *rin, float *rout)
{
    const struct attention_shape *shape = &attention->shape;

    for (size_t n = 0; n < count; n++)
        for (size_t h = 0; h < shape->heads; h++)
            tangent_forward_head(head_of(attention, first + n, h), in + n * shape->input_sample,
                                 rin + n * shape->input_sample, rout + n * shape->output_sample);
}

static void tangent_backward_head(struct head head, const float *in, const float *rin,
                                  const float *dout, const float *rdout, float *rdin)
{
    const float *turned_k = pack_turned(&head, 0, part(&head, in, K));
    const float *turned_rk = pack_turned(&head, 1, part(&head, rin, K));
    const float *turned_v = pack_turned(&head, 2, part(&head, in, V));
    const float *turned_rv = pack_turned(&head, 3, part(&head, rin, V));
    const float *k = pack(&head, 4, part(&head, in, K)), *rk = pack(&head, 5, part(&head, rin, K));
    float *rdq = part_to(&head, rdin, Q), *rdk = part_to(&head, rdin, K);
    float *rdv = part_to(&head, rdin, V);

    dout += head.number * head.width;
    rdout += head.number * head.width;
    while (next_rows(&head)) {
        float *p = weights(&head, in, turned_k, 0);
        float *rp = tangent_weights(&head, in, rin, turned_k, turned_rk, p, 1);
        float *dp = to_square(&head, 2, dout, head.out, turned_v, false);
        float *rdp = to_square(&head, 3, rdout, head.out, turned_v, false);

        to_square(&head, 3, dout, head.out, turned_rv, true);
        add_turned(&head, drop(&head, rp, head.buffers[4]), dout, head.out, rdv, head.in);
        add_turned(&head, drop(&head, p, head.buffers[4]), rdout, head.out, rdv, head.in);
        drop(&head, dp, dp);
        drop(&head, rdp, rdp);
        cpu_kernels()->softmax_gradient_tangent(head.rows, head.columns, head.scale, p, rp, dp,
                                                rdp);
        from_square(&head, rdp, k, false, rdq, head.in);
        from_square(&head, dp, rk, true, rdq, head.in);
        add_turned(&head, rdp, part(&head, in, Q), head.in, rdk, head.in);
        add_turned(&head, dp, part(&head, rin, Q), head.in, rdk, head.in);
    }
}

void cpu_attention_tangent_backward(const struct attention *attention, size_t first, size_t count,
                                    const float *in, const float *rin, const float *dout,
                                    const float *rdout, float *rdin)
{
    const struct attention_shape *shape = &attention->shape;

    for (size_t n = 0; n < count; n++) {
        size_t input = n * shape->input_sample, output = n * shape->output_gradient_sample;
        float *to = rdin + n * shape->input_gradient_sample;

        memset(to, 0, shape->steps * shape->input_stride * sizeof *to);
        for (size_t h = 0; h < shape->heads; h++)
            tangent_backward_head(head_of(attention, first + n, h), in + input, rin + input,
                                  dout + output, rdout + output, to);
    }
}
