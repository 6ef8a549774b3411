/* Max pooling by 3 with stride 1: out[t] = max(in[t - 1], in[t], in[t + 1]) within the
 * series, the first of equals, as PyTorch's MaxPool1d(3, stride=1, padding=1).  Linear once it is
 * known which step is the largest, so that tangents go the same ways. */
#include "nn/build.h"
#include "nn/layer.h"

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct max3_shape *shape = layer->shape;

    shape->steps = in->steps;
    shape->stride = in->stride;
    shape->input_sample = tensor_sample(in);
    shape->input_gradient_sample = tensor_gradient_sample(in);
    shape->output_sample = tensor_sample(out);
    shape->output_gradient_sample = tensor_gradient_sample(out);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->max3(layer->shape, span->count,
                        tensor_value(pass, layer->inputs[0], span->first),
                        tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    if (!input_wanted(pass, layer))
        return;
    pass->backend->max3_backward(
        layer->shape, span->count, tensor_value(pass, layer->inputs[0], span->first),
        tensor_gradient(pass, layer->output, span), input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    pass->backend->max3_tangent(layer->shape, span->count,
                                tensor_value(pass, layer->inputs[0], span->first),
                                tensor_tangent(pass, layer->inputs[0], span->first),
                                tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    if (!input_wanted(pass, layer))
        return;
    pass->backend->max3_backward(layer->shape, span->count,
                                 tensor_value(pass, layer->inputs[0], span->first),
                                 tensor_tangent_gradient(pass, layer->output, span),
                                 input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "max3",
    .shape_bytes = sizeof(struct max3_shape),
    .declare = declare,
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
};

struct error *build_max3(struct network *network, size_t input, size_t *output)
{
    const struct tensor in = network->tensors[input];
    struct tensor out = {.steps = in.steps, .channels = in.channels, .stride = in.stride};
    struct layer *layer;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    *output = layer->output;
    return NULL;
}
