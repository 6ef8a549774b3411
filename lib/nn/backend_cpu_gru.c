/* Gated recurrent units on the processor (the formulas are in struct gru_shape and
 * kernels_gru.h).
 *
 * Step by step for some samples at once, so that the product with W_hh has several rows.  What the
 * backward passes need of W_hh's gradient is collected over all steps and multiplied at the end. */
#include <string.h>

#include "nn/backend_cpu.h"

/* Where the scratch of `count` samples is cut. */
struct scratch {
    float *gh, *rgh;   /* (count, gate stride): of one step */
    float *dh, *rdh;   /* (count, state stride): the gradient on its way back */
    float *dgh, *rdgh; /* (count, steps, gate stride) */
};

size_t cpu_gru_scratch(const struct gru_shape *shape, size_t count)
{
    return count * (2 * shape->input_stride + 2 * shape->output_stride +
                    2 * shape->steps * shape->input_stride);
}

static struct scratch cut(const struct gru *gru, size_t count)
{
    const struct gru_shape *shape = &gru->shape;
    size_t gates = count * shape->input_stride, states = count * shape->output_stride;
    float *dh = gru->scratch + 2 * gates, *dgh = dh + 2 * states;

    return (struct scratch){gru->scratch, gru->scratch + gates,      dh, dh + states,
                            dgh,          dgh + shape->steps * gates};
}

/* out (count, gate stride) = W_hh h + b_hh; without a state before, the bias alone. */
static void multiply_state(const struct gru *gru, const float *panel, size_t count, const float *h,
                           size_t sample, bool add, float *out)
{
    const struct gru_shape *shape = &gru->shape;

    cpu_kernels()->multiply(count, h ? shape->output_stride : 0, h ? h : panel, sample,
                            panel + backend_stride(shape->input_stride), shape->input_stride, panel,
                            add, out, shape->input_stride);
}

/* dh (count, state stride) += dgh W_hh, dgh of one step. */
static void multiply_back(const struct gru *gru, const float *panel, size_t count, const float *dgh,
                          float *dh)
{
    const struct gru_shape *shape = &gru->shape;

    cpu_kernels()->multiply(count, shape->input_stride, dgh, shape->steps * shape->input_stride,
                            panel, shape->output_stride, NULL, true, dh, shape->output_stride);
}

/* Adds gradients of W_hh from states and gradients of all steps. */
static void add_weights(const struct gru *gru, size_t count, const float *h, const float *dgh,
                        bool bias, float *gradient)
{
    const struct gru_shape *shape = &gru->shape;
    size_t stride = shape->input_stride, sample = shape->steps * stride;

    cpu_kernels()->multiply_transposed(count, shape->steps - 1, h, shape->output_sample,
                                       shape->output_stride, shape->output_stride, dgh + stride,
                                       sample, stride, stride, gradient, stride);
    for (size_t n = 0; bias && n < count; n++)
        cpu_kernels()->add_columns(shape->steps, stride, dgh + n * sample,
                                   gradient + shape->output_stride * stride);
}

/* The state before step t of a sample. */
static const float *before(const struct gru_shape *shape, const float *out, size_t n, size_t t)
{
    return t ? out + n * shape->output_sample + (t - 1) * shape->output_stride : NULL;
}

static size_t gates_at(const struct gru_shape *shape, size_t n, size_t t)
{
    return (n * shape->steps + t) * GRU_GATES * shape->hidden;
}

void cpu_gru_forward(const struct gru *gru, size_t count, const float *in, float *gates, float *out)
{
    const struct gru_shape *shape = &gru->shape;
    struct scratch scratch = cut(gru, count);

    for (size_t t = 0; t < shape->steps; t++) {
        multiply_state(gru, gru->forward, count, before(shape, out, 0, t), shape->output_sample,
                       false, scratch.gh);
        for (size_t n = 0; n < count; n++)
            cpu_kernels()->gru_step(shape->hidden,
                                    in + n * shape->input_sample + t * shape->input_stride,
                                    scratch.gh + n * shape->input_stride, before(shape, out, n, t),
                                    gates + gates_at(shape, n, t),
                                    out + n * shape->output_sample + t * shape->output_stride);
    }
}

/* dh (count, state stride) += the gradient of step t of the output. */
static void add_output(const struct gru_shape *shape, size_t count, size_t t, const float *dout,
                       float *dh)
{
    for (size_t n = 0; n < count; n++) {
        const float *from = dout + n * shape->output_gradient_sample + t * shape->output_stride;

        for (size_t i = 0; i < shape->hidden; i++)
            dh[n * shape->output_stride + i] += from[i];
    }
}

void cpu_gru_backward(const struct gru *gru, size_t count, const float *gates, const float *out,
                      const float *dout, float *din, float *gradient)
{
    const struct gru_shape *shape = &gru->shape;
    size_t stride = shape->input_stride;
    struct scratch scratch = cut(gru, count);

    memset(scratch.dh, 0, count * shape->output_stride * sizeof *scratch.dh);
    for (size_t t = shape->steps; t-- > 0;) {
        add_output(shape, count, t, dout, scratch.dh);
        for (size_t n = 0; n < count; n++)
            cpu_kernels()->gru_step_backward(shape->hidden, gates + gates_at(shape, n, t),
                                             before(shape, out, n, t),
                                             scratch.dh + n * shape->output_stride,
                                             din + n * shape->input_gradient_sample + t * stride,
                                             scratch.dgh + (n * shape->steps + t) * stride);
        multiply_back(gru, gru->backward, count, scratch.dgh + t * stride, scratch.dh);
    }
    if (gradient)
        add_weights(gru, count, out, scratch.dgh, true, gradient);
}

void cpu_gru_tangent_forward(const struct gru *gru, size_t count, const float *rin,
                             const float *gates, const float *out, float *rgates, float *rout)
{
    const struct gru_shape *shape = &gru->shape;
    struct scratch scratch = cut(gru, count);

    for (size_t t = 0; t < shape->steps; t++) {
        if (gru->tangent_forward)
            multiply_state(gru, gru->tangent_forward, count, before(shape, out, 0, t),
                           shape->output_sample, false, scratch.rgh);
        else
            memset(scratch.rgh, 0, count * shape->input_stride * sizeof *scratch.rgh);
        if (t)
            multiply_state(gru, gru->forward, count, before(shape, rout, 0, t),
                           shape->output_sample, true, scratch.rgh);
        for (size_t n = 0; n < count; n++)
            cpu_kernels()->gru_step_tangent(
                shape->hidden, rin + n * shape->input_sample + t * shape->input_stride,
                scratch.rgh + n * shape->input_stride, gates + gates_at(shape, n, t),
                before(shape, out, n, t), before(shape, rout, n, t), rgates + gates_at(shape, n, t),
                rout + n * shape->output_sample + t * shape->output_stride);
    }
}

void cpu_gru_tangent_backward(const struct gru *gru, size_t count, const float *gates,
                              const float *rgates, const float *out, const float *rout,
                              const float *dout, const float *rdout, float *rdin, float *gradient)
{
    const struct gru_shape *shape = &gru->shape;
    size_t stride = shape->input_stride;
    struct scratch scratch = cut(gru, count);

    memset(scratch.dh, 0, 2 * count * shape->output_stride * sizeof *scratch.dh);
    for (size_t t = shape->steps; t-- > 0;) {
        add_output(shape, count, t, dout, scratch.dh);
        add_output(shape, count, t, rdout, scratch.rdh);
        for (size_t n = 0; n < count; n++) {
            size_t at = gates_at(shape, n, t), step = (n * shape->steps + t) * stride;

            cpu_kernels()->gru_step_tangent_backward(
                shape->hidden, gates + at, rgates + at, before(shape, out, n, t),
                before(shape, rout, n, t), scratch.dh + n * shape->output_stride,
                scratch.rdh + n * shape->output_stride,
                rdin + n * shape->input_gradient_sample + t * stride, scratch.dgh + step,
                scratch.rdgh + step);
        }
        multiply_back(gru, gru->backward, count, scratch.dgh + t * stride, scratch.dh);
        multiply_back(gru, gru->backward, count, scratch.rdgh + t * stride, scratch.rdh);
        if (gru->tangent_backward)
            multiply_back(gru, gru->tangent_backward, count, scratch.dgh + t * stride, scratch.rdh);
    }
    if (gradient) {
        add_weights(gru, count, out, scratch.rdgh, true, gradient);
        add_weights(gru, count, rout, scratch.dgh, false, gradient);
    }
}
