/* Gated recurrent units (struct gru_shape in backend.h and lib/nn/kernels_gru.h have the formulas):
 * step by step, the product with W_hh by cuBLAS for all samples and the gates by a kernel, a thread
 * for each unit of a sample.  Gradients of W_hh come from one product over all steps at the end. */
#include "plugin.h"

/* ---- Kernels ---- */

/* Where unit i of sample n is, at one step: in rows of gates, states, and what is kept. */
struct places {
    size_t hidden, steps, gates, states; /* strides */
    size_t t;
};

DEVICE float sigmoid(float x)
{
    float e = expf(-fabsf(x));

    return x > 0 ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

DEVICE size_t kept_at(const struct places *p, size_t n, size_t i)
{
    return (n * p->steps + p->t) * GRU_GATES * p->hidden + i;
}

/* The state before this step of an array (count, ., states); 0 at the start. */
DEVICE float before(const struct places *p, const float *out, size_t sample, size_t n, size_t i)
{
    return p->t ? out[n * sample + (p->t - 1) * p->states + i] : 0.0f;
}

KERNEL gru_step_kernel(struct gru_shape shape, struct places p, size_t count, const float *in,
                       const float *gh, float *gates, float *out)
{
    THREADS
    {
        size_t hidden = p.hidden;

        for (EACH_ROW(n, count))
            for (EACH(i, hidden)) {
                const float *a = in + n * shape.input_sample + p.t * p.gates + i;
                const float *b = gh + n * p.gates + i;
                float r = sigmoid(a[0] + b[0]), z = sigmoid(a[hidden] + b[hidden]);
                float hn = b[2 * hidden], value = tanhf(a[2 * hidden] + r * hn);
                float *kept = gates + kept_at(&p, n, i);

                kept[GRU_R * hidden] = r;
                kept[GRU_Z * hidden] = z;
                kept[GRU_N * hidden] = value;
                kept[GRU_HN * hidden] = hn;
                out[n * shape.output_sample + p.t * p.states + i] =
                    (1.0f - z) * value + z * before(&p, out, shape.output_sample, n, i);
            }
    }
}

/* dh gets the gradient of this step of the output, and becomes the part of that of the state before
 * that does not go through W_hh. */
KERNEL gru_backward_kernel(struct gru_shape shape, struct places p, size_t count,
                           const float *gates, const float *out, const float *dout, float *dh,
                           float *din, float *dgh)
{
    THREADS
    {
        size_t hidden = p.hidden;

        for (EACH_ROW(m, count))
            for (EACH(i, hidden)) {
                const float *kept = gates + kept_at(&p, m, i);
                float r = kept[GRU_R * hidden], z = kept[GRU_Z * hidden];
                float n = kept[GRU_N * hidden], hn = kept[GRU_HN * hidden];
                float d = dh[m * p.states + i] +
                          dout[m * shape.output_gradient_sample + p.t * p.states + i];
                float dn = d * (1.0f - z) * (1.0f - n * n);
                float dz = d * (before(&p, out, shape.output_sample, m, i) - n) * z * (1.0f - z);
                float dr = dn * hn * r * (1.0f - r);
                float *gi = din + m * shape.input_gradient_sample + p.t * p.gates + i;
                float *to = dgh + (m * p.steps + p.t) * p.gates + i;

                gi[0] = to[0] = dr;
                gi[hidden] = to[hidden] = dz;
                gi[2 * hidden] = dn;
                to[2 * hidden] = dn * r;
                dh[m * p.states + i] = d * z;
            }
    }
}

KERNEL gru_tangent_kernel(struct gru_shape shape, struct places p, size_t count, const float *rin,
                          const float *rgh, const float *gates, const float *out, float *rgates,
                          float *rout)
{
    THREADS
    {
        size_t hidden = p.hidden;

        for (EACH_ROW(m, count))
            for (EACH(i, hidden)) {
                const float *kept = gates + kept_at(&p, m, i);
                const float *a = rin + m * shape.input_sample + p.t * p.gates + i;
                const float *b = rgh + m * p.gates + i;
                float r = kept[GRU_R * hidden], z = kept[GRU_Z * hidden];
                float n = kept[GRU_N * hidden], hn = kept[GRU_HN * hidden];
                float rr = r * (1.0f - r) * (a[0] + b[0]);
                float rz = z * (1.0f - z) * (a[hidden] + b[hidden]), rhn = b[2 * hidden];
                float rn = (1.0f - n * n) * (a[2 * hidden] + rr * hn + r * rhn);
                float *to = rgates + kept_at(&p, m, i);

                to[GRU_R * hidden] = rr;
                to[GRU_Z * hidden] = rz;
                to[GRU_N * hidden] = rn;
                to[GRU_HN * hidden] = rhn;
                rout[m * shape.output_sample + p.t * p.states + i] =
                    (1.0f - z) * rn + rz * (before(&p, out, shape.output_sample, m, i) - n) +
                    z * before(&p, rout, shape.output_sample, m, i);
            }
    }
}

/* What the chain rule reads and writes for the tangents of the gradients. */
struct tangent_arrays {
    const float *gates, *rgates, *out, *rout, *dout, *rdout;
    float *dh, *rdh, *rdin, *dgh, *rdgh;
};

KERNEL gru_tangent_backward_kernel(struct gru_shape shape, struct places p, size_t count,
                                   struct tangent_arrays x)
{
    THREADS
    {
        size_t hidden = p.hidden, outs = shape.output_sample;

        for (EACH_ROW(m, count))
            for (EACH(i, hidden)) {
                const float *kept = x.gates + kept_at(&p, m, i);
                const float *rkept = x.rgates + kept_at(&p, m, i);
                size_t state = m * p.states + i, step = (m * p.steps + p.t) * p.gates + i;
                size_t output = m * shape.output_gradient_sample + p.t * p.states + i;
                float r = kept[GRU_R * hidden], rr = rkept[GRU_R * hidden];
                float z = kept[GRU_Z * hidden], rz = rkept[GRU_Z * hidden];
                float n = kept[GRU_N * hidden], rn = rkept[GRU_N * hidden];
                float hn = kept[GRU_HN * hidden], rhn = rkept[GRU_HN * hidden];
                float d = x.dh[state] + x.dout[output], rd = x.rdh[state] + x.rdout[output];
                float before_n = before(&p, x.out, outs, m, i) - n;
                float rbefore_n = before(&p, x.rout, outs, m, i) - rn;
                /* Gradients of n, z and r, then of what is inside their functions. */
                float dn = d * (1.0f - z), rdn = rd * (1.0f - z) - d * rz;
                float dz = d * before_n, rdz = rd * before_n + d * rbefore_n;
                float dan = dn * (1.0f - n * n);
                float rdan = rdn * (1.0f - n * n) - 2.0f * dn * n * rn;
                float dr = dan * hn, rdr = rdan * hn + dan * rhn;
                float daz = dz * z * (1.0f - z);
                float rdaz = rdz * z * (1.0f - z) + dz * (1.0f - 2.0f * z) * rz;
                float dar = dr * r * (1.0f - r);
                float rdar = rdr * r * (1.0f - r) + dr * (1.0f - 2.0f * r) * rr;
                float *gi = x.rdin + m * shape.input_gradient_sample + p.t * p.gates + i;

                gi[0] = x.rdgh[step] = rdar;
                gi[hidden] = x.rdgh[step + hidden] = rdaz;
                gi[2 * hidden] = rdan;
                x.rdgh[step + 2 * hidden] = rdan * r + dan * rr;
                x.dgh[step] = dar;
                x.dgh[step + hidden] = daz;
                x.dgh[step + 2 * hidden] = dan * r;
                x.dh[state] = d * z;
                x.rdh[state] = rd * z + d * rz;
            }
    }
}

/* ---- Products ---- */

/* Where the scratch of `count` samples is cut: of one step (count, gates) and (count, states), of
 * all steps (count, steps, gates). */
struct scratch {
    float *gh, *dh, *rdh, *dgh, *rdgh;
};

static size_t scratch_floats(const struct gru_shape *shape, size_t count)
{
    return count * (shape->input_stride + 2 * shape->output_stride +
                    2 * shape->steps * shape->input_stride);
}

static struct scratch cut(const struct gru *gru, size_t count)
{
    const struct gru_shape *shape = &gru->shape;
    size_t gates = count * shape->input_stride, states = count * shape->output_stride;
    float *dh = gru->scratch + gates, *dgh = dh + 2 * states;

    return {gru->scratch, dh, dh + states, dgh, dgh + shape->steps * gates};
}

static struct places places_of(const struct gru_shape *shape, size_t t)
{
    return {shape->hidden, shape->steps, shape->input_stride, shape->output_stride, t};
}

static dim3 grid_of(const struct gru_shape *shape, size_t count)
{
    return across(shape->hidden, count, 1);
}

/* gh (count, gates) = b_hh, or 0 without a panel. */
static void start(const struct gru_shape *shape, size_t count, const float *panel, float *gh)
{
    if (panel)
        cuda_move_rows(count, shape->input_stride, panel, 0, gh, shape->input_stride, false);
    else
        CUDA(cudaMemsetAsync(gh, 0, count * shape->input_stride * sizeof *gh, cuda_stream()));
}

/* gh += W_hh h, h the states before step t > 0. */
static void multiply_state(const struct gru_shape *shape, size_t count, const float *panel,
                           const float *out, size_t t, float *gh)
{
    int ins = (int)shape->output_stride, outs = (int)shape->input_stride;
    const float one = 1.0f;

    if (t > 0)
        CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_T, CUBLAS_OP_N, outs, (int)count, ins, &one,
                           panel + backend_stride(shape->input_stride), ins,
                           out + (t - 1) * shape->output_stride, (int)shape->output_sample, &one,
                           gh, outs));
}

/* dh += dgh W_hh, dgh of step t. */
static void multiply_back(const struct gru_shape *shape, size_t count, const float *panel,
                          const float *dgh, size_t t, float *dh)
{
    int ins = (int)shape->output_stride, outs = (int)shape->input_stride;
    const float one = 1.0f;

    CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_N, CUBLAS_OP_N, ins, (int)count, outs, &one, panel,
                       ins, dgh + t * shape->input_stride,
                       (int)(shape->steps * shape->input_stride), &one, dh, ins));
}

/* Adds gradients of W_hh, and of b_hh if asked for, from states and gradients of all steps. */
static void add_weights(const struct gru_shape *shape, size_t count, const float *out,
                        const float *dgh, bool bias, float *gradient)
{
    size_t ins = shape->output_stride, outs = shape->input_stride, rows = count * shape->steps;
    float *states = (float *)cuda_scratch(SCRATCH_INPUT, rows * ins * sizeof *states);
    const float one = 1.0f;

    if (!states)
        return;
    cuda_delay(count, shape->steps, ins, 1, out, shape->output_sample, states);
    CUBLAS(cublasSgemm(cuda_cublas(), CUBLAS_OP_N, CUBLAS_OP_T, (int)ins, (int)outs, (int)rows,
                       &one, states, (int)ins, dgh, (int)outs, &one, gradient, (int)ins));
    if (bias)
        cuda_add_columns(rows, outs, dgh, gradient + ins * outs);
}

/* ---- Passes ---- */

static void forward(const struct gru *gru, size_t count, const float *in, float *gates, float *out)
{
    const struct gru_shape *shape = &gru->shape;
    struct scratch scratch = cut(gru, count);

    for (size_t t = 0; t < shape->steps; t++) {
        start(shape, count, gru->forward, scratch.gh);
        multiply_state(shape, count, gru->forward, out, t, scratch.gh);
        LAUNCH(gru_step_kernel, grid_of(shape, count), dim3(WIDE, HIGH), *shape,
               places_of(shape, t), count, in, scratch.gh, gates, out);
    }
}

static void backward(const struct gru *gru, size_t count, const float *gates, const float *out,
                     const float *dout, float *din, float *gradient)
{
    const struct gru_shape *shape = &gru->shape;
    struct scratch scratch = cut(gru, count);

    CUDA(cudaMemsetAsync(scratch.dh, 0, count * shape->output_stride * sizeof *scratch.dh,
                         cuda_stream()));
    CUDA(cudaMemsetAsync(scratch.dgh, 0,
                         count * shape->steps * shape->input_stride * sizeof *scratch.dgh,
                         cuda_stream()));
    for (size_t t = shape->steps; t-- > 0;) {
        LAUNCH(gru_backward_kernel, grid_of(shape, count), dim3(WIDE, HIGH), *shape,
               places_of(shape, t), count, gates, out, dout, scratch.dh, din, scratch.dgh);
        multiply_back(shape, count, gru->backward, scratch.dgh, t, scratch.dh);
    }
    if (gradient)
        add_weights(shape, count, out, scratch.dgh, true, gradient);
}

static void tangent_forward(const struct gru *gru, size_t count, const float *rin,
                            const float *gates, const float *out, float *rgates, float *rout)
{
    const struct gru_shape *shape = &gru->shape;
    struct scratch scratch = cut(gru, count);

    for (size_t t = 0; t < shape->steps; t++) {
        start(shape, count, gru->tangent_forward, scratch.gh);
        if (gru->tangent_forward)
            multiply_state(shape, count, gru->tangent_forward, out, t, scratch.gh);
        multiply_state(shape, count, gru->forward, rout, t, scratch.gh);
        LAUNCH(gru_tangent_kernel, grid_of(shape, count), dim3(WIDE, HIGH), *shape,
               places_of(shape, t), count, rin, scratch.gh, gates, out, rgates, rout);
    }
}

static void tangent_backward(const struct gru *gru, size_t count, const float *gates,
                             const float *rgates, const float *out, const float *rout,
                             const float *dout, const float *rdout, float *rdin, float *gradient)
{
    const struct gru_shape *shape = &gru->shape;
    struct scratch s = cut(gru, count);
    struct tangent_arrays arrays = {gates, rgates, out,  rout,  dout,  rdout,
                                    s.dh,  s.rdh,  rdin, s.dgh, s.rdgh};

    CUDA(cudaMemsetAsync(s.dh, 0,
                         2 * count * (shape->output_stride + shape->steps * shape->input_stride) *
                             sizeof *s.dh,
                         cuda_stream()));
    for (size_t t = shape->steps; t-- > 0;) {
        LAUNCH(gru_tangent_backward_kernel, grid_of(shape, count), dim3(WIDE, HIGH), *shape,
               places_of(shape, t), count, arrays);
        multiply_back(shape, count, gru->backward, s.dgh, t, s.dh);
        multiply_back(shape, count, gru->backward, s.rdgh, t, s.rdh);
        if (gru->tangent_backward)
            multiply_back(shape, count, gru->tangent_backward, s.dgh, t, s.rdh);
    }
    if (gradient) {
        add_weights(shape, count, out, s.rdgh, true, gradient);
        add_weights(shape, count, rout, s.dgh, false, gradient);
    }
}

void cuda_fill_gru(struct backend *backend)
{
    backend->gru_scratch = scratch_floats;
    backend->gru_forward = forward;
    backend->gru_backward = backward;
    backend->gru_tangent_forward = tangent_forward;
    backend->gru_tangent_backward = tangent_backward;
}
