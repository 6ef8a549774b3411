/* Normalisation of every step over its channels, as PyTorch's LayerNorm(channels) of (N, L, C).
 * The backend computes; this file says on which tensors. */
#include "nn/build.h"
#include "nn/layer.h"

struct shape {
    struct rownorm_shape rownorm;
    size_t gamma, beta; /* offsets of the parameters */
};

struct state {
    struct rownorm rownorm;
    float *rows; /* (4, stride): gamma, beta and their directions, padded */
};

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct rownorm_shape *shape = &((struct shape *)layer->shape)->rownorm;

    shape->input_sample = tensor_sample(in);
    shape->input_gradient_sample = tensor_gradient_sample(in);
    shape->output_sample = tensor_sample(out);
    shape->output_gradient_sample = tensor_gradient_sample(out);
    layer->gradient_floats = 2 * shape->stride;
}

/* The identity. */
static void initialise(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers)
{
    const struct shape *shape = layer->shape;

    (void)buffers;
    fill_constant(filler, parameters + shape->gamma, shape->rownorm.channels, 1);
    fill_constant(filler, parameters + shape->beta, shape->rownorm.channels, 0);
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    const struct rownorm_shape *shape = &((const struct shape *)layer->shape)->rownorm;
    struct state *state = layer_state(pass, layer);

    state->rows = layout_floats(layout, 4 * shape->stride);
    if (state->rows)
        state->rownorm =
            (struct rownorm){*shape, state->rows, state->rows + shape->stride,
                             state->rows + 2 * shape->stride, state->rows + 3 * shape->stride};
}

static const struct rownorm *rownorm_of(const struct pass *pass, const struct layer *layer)
{
    return &((struct state *)layer_state(pass, layer))->rownorm;
}

/* gamma and beta of an array of parameters to rows; NULL: zeros. */
static void pad(const struct pass *pass, const struct layer *layer, const float *from, float *to)
{
    const struct shape *shape = layer->shape;
    size_t stride = shape->rownorm.stride, channels = shape->rownorm.channels;

    if (from) {
        pass->backend->copy_rows(1, channels, from + shape->gamma, 0, to, 0);
        pass->backend->copy_rows(1, channels, from + shape->beta, 0, to + stride, 0);
    } else {
        pass->backend->zero(to, 2 * stride * sizeof *to);
    }
}

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    if (!pass->forward.same_parameters)
        pad(pass, layer, pass->forward.parameters,
            ((struct state *)layer_state(pass, layer))->rows);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    pad(pass, layer, pass->tangent.parameters,
        ((struct state *)layer_state(pass, layer))->rows +
            2 * ((const struct shape *)layer->shape)->rownorm.stride);
}

static float *partial(const struct pass *pass, const struct layer *layer, const struct span *span)
{
    return pass->backward.parameters ? partial_gradient(pass, layer, span) : NULL;
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->rownorm_forward(rownorm_of(pass, layer), span->count,
                                   tensor_value(pass, layer->inputs[0], span->first),
                                   tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->rownorm_backward(
        rownorm_of(pass, layer), span->count, tensor_value(pass, layer->inputs[0], span->first),
        tensor_gradient(pass, layer->output, span), input_gradient(pass, layer, 0, span),
        partial(pass, layer, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    pass->backend->rownorm_tangent_forward(rownorm_of(pass, layer), span->count,
                                           tensor_value(pass, layer->inputs[0], span->first),
                                           tensor_tangent(pass, layer->inputs[0], span->first),
                                           tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    pass->backend->rownorm_tangent_backward(
        rownorm_of(pass, layer), span->count, tensor_value(pass, layer->inputs[0], span->first),
        tensor_tangent(pass, layer->inputs[0], span->first),
        tensor_gradient(pass, layer->output, span),
        tensor_tangent_gradient(pass, layer->output, span),
        input_tangent_gradient(pass, layer, 0, span), partial(pass, layer, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

/* The gradients of all blocks are already added up in the first. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;
    const float *from = pass->partial + layer->gradient;
    float *to = pass->backward.parameters;

    if (!to)
        return;
    pass->backend->copy_rows(1, shape->rownorm.channels, from, 0, to + shape->gamma, 0);
    pass->backend->copy_rows(1, shape->rownorm.channels, from + shape->rownorm.stride, 0,
                             to + shape->beta, 0);
}

static const struct layer_type type = {
    .name = "rownorm",
    .shape_bytes = sizeof(struct shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .initialise = initialise,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.prepare = forward_prepare, .apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply, .finish = store_gradient},
              [TANGENT_FORWARD] = {.prepare = tangent_prepare, .apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply, .finish = store_gradient}},
    .needs_gradient = true,
};

struct error *build_rownorm(struct network *network, const char *module, size_t input,
                            size_t *output)
{
    const struct tensor in = network->tensors[input];
    struct tensor out = {.steps = in.steps, .channels = in.channels, .stride = in.stride};
    struct layer *layer;
    struct shape *shape;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    shape = layer->shape;
    shape->rownorm =
        (struct rownorm_shape){.steps = in.steps, .channels = in.channels, .stride = in.stride};
    *output = layer->output;
    TRY(add_parameter(network, module, "weight", 1, &in.channels, &shape->gamma));
    return add_parameter(network, module, "bias", 1, &in.channels, &shape->beta);
}
