/* Dropout: out = in D, D the mask of struct dropout_mask in backend.h.  While it is off, as in
 * evaluation, out = in.  D is a constant, so that gradients and tangents are multiplied by it as
 * well. */
#include "nn/build.h"
#include "nn/layer.h"

struct shape {
    float rate;
};

static void drop(const struct pass *pass, const struct layer *layer, const struct span *span,
                 const float *in, size_t in_sample, float *out, size_t out_sample)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];
    const struct shape *shape = layer->shape;
    struct dropout_mask mask = {pass->forward.dropout, (uint32_t)layer->number, shape->rate};
    size_t floats = tensor->steps * tensor->stride;

    if (mask.dropout.on)
        pass->backend->dropout(&mask, span->first, span->count, 1, floats, in, in_sample, out,
                               out_sample);
    else
        pass->backend->copy_rows(span->count, floats, in, in_sample, out, out_sample);
}

static void drop_values(const struct pass *pass, const struct layer *layer, const struct span *span,
                        const float *in, float *out)
{
    drop(pass, layer, span, in, tensor_sample(&pass->network->tensors[layer->inputs[0]]), out,
         tensor_sample(&pass->network->tensors[layer->output]));
}

static void drop_gradients(const struct pass *pass, const struct layer *layer,
                           const struct span *span, const float *dout, float *din)
{
    drop(pass, layer, span, dout, tensor_gradient_sample(&pass->network->tensors[layer->output]),
         din, tensor_gradient_sample(&pass->network->tensors[layer->inputs[0]]));
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    drop_values(pass, layer, span, tensor_value(pass, layer->inputs[0], span->first),
                tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    drop_gradients(pass, layer, span, tensor_gradient(pass, layer->output, span),
                   input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    drop_values(pass, layer, span, tensor_tangent(pass, layer->inputs[0], span->first),
                tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    drop_gradients(pass, layer, span, tensor_tangent_gradient(pass, layer->output, span),
                   input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "dropout",
    .shape_bytes = sizeof(struct shape),
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
};

struct error *build_dropout(struct network *network, double rate, size_t input, size_t *output)
{
    const struct tensor in = network->tensors[input];
    struct tensor out = {.steps = in.steps, .channels = in.channels, .stride = in.stride};
    struct layer *layer;

    if (rate <= 0) {
        *output = input;
        return NULL;
    }
    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    ((struct shape *)layer->shape)->rate = (float)rate;
    *output = layer->output;
    return NULL;
}
