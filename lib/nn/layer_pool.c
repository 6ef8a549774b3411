/* Global pooling: the mean or the maximum over all steps of each channel,
 *
 *     mean   out = sum over t of in[t] / steps         din[t] = dout / steps
 *     max    out = in[t*], t* the first maximum        din[t*] = dout, else 0
 *
 * Both are linear once t* is known, so that tangents go the same ways. */
#include "nn/build.h"
#include "nn/layer.h"

struct state {
    int32_t *index; /* (samples, stride): t* */
};

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct pool_shape *shape = layer->shape;

    shape->steps = in->steps;
    shape->stride = in->stride;
    shape->input_sample = tensor_sample(in);
    shape->input_gradient_sample = tensor_gradient_sample(in);
    shape->output_sample = tensor_sample(out);
    shape->output_gradient_sample = tensor_gradient_sample(out);
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    const struct pool_shape *shape = layer->shape;
    struct state *state = layer_state(pass, layer);

    if (shape->pool == POOL_MAX)
        state->index = (int32_t *)(void *)layout_floats(layout, pass->most_samples * shape->stride);
}

static int32_t *index_of(const struct pass *pass, const struct layer *layer,
                         const struct span *span)
{
    const struct pool_shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    return state->index ? state->index + span->first * shape->stride : NULL;
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->pool_steps(
        layer->shape, span->count, tensor_value(pass, layer->inputs[0], span->first),
        index_of(pass, layer, span), tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->pool_steps_backward(
        layer->shape, span->count, tensor_gradient(pass, layer->output, span),
        index_of(pass, layer, span), input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    pass->backend->pool_steps_tangent(
        layer->shape, span->count, tensor_tangent(pass, layer->inputs[0], span->first),
        index_of(pass, layer, span), tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    pass->backend->pool_steps_backward(
        layer->shape, span->count, tensor_tangent_gradient(pass, layer->output, span),
        index_of(pass, layer, span), input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "pool",
    .shape_bytes = sizeof(struct pool_shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
};

struct error *build_pool(struct network *network, enum pooling pool, size_t input, size_t *output)
{
    const struct tensor *in = &network->tensors[input];
    struct tensor out = {.steps = 1, .channels = in->channels, .stride = in->stride};
    struct layer *layer;

    if (in->series)
        return error_make("network: series are not pooled as they are");
    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    ((struct pool_shape *)layer->shape)->pool = pool;
    *output = layer->output;
    return NULL;
}
