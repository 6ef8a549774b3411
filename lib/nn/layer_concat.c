/* Concatenation: the channels of several tensors side by side.  Rows are filled up to whole vectors
 * only at their end, so that every input is moved to where the one before it ends, and its gradient
 * back.  Tangents go the same ways. */
#include "nn/build.h"
#include "nn/layer.h"

typedef float *value_function(const struct pass *pass, size_t tensor, size_t sample);
typedef float *gradient_function(const struct pass *pass, size_t tensor, const struct span *span);

static void gather(const struct pass *pass, const struct layer *layer, const struct span *span,
                   value_function *at)
{
    const struct tensor *tensors = pass->network->tensors, *to = &tensors[layer->output];
    float *out = at(pass, layer->output, span->first);

    for (size_t k = 0; k < layer->input_count; k++) {
        const struct tensor *from = &tensors[layer->inputs[k]];

        pass->backend->move_steps(span->count, from->steps, from->channels,
                                  at(pass, layer->inputs[k], span->first), tensor_sample(from),
                                  from->stride, false, out, tensor_sample(to), to->stride);
        out += from->channels;
    }
}

static void spread(const struct pass *pass, const struct layer *layer, const struct span *span,
                   gradient_function *at)
{
    const struct tensor *tensors = pass->network->tensors, *from = &tensors[layer->output];
    const float *dout = at(pass, layer->output, span);

    for (size_t k = 0; k < layer->input_count; k++) {
        const struct tensor *to = &tensors[layer->inputs[k]];

        pass->backend->move_steps(span->count, to->steps, to->channels, dout,
                                  tensor_gradient_sample(from), from->stride, layer->adds[k],
                                  at(pass, layer->inputs[k], span), tensor_gradient_sample(to),
                                  to->stride);
        dout += to->channels;
    }
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    gather(pass, layer, span, tensor_value);
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    spread(pass, layer, span, tensor_gradient);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    gather(pass, layer, span, tensor_tangent);
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    spread(pass, layer, span, tensor_tangent_gradient);
}

static const struct layer_type type = {
    .name = "concat",
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
    .can_add = true,
};

struct error *build_concat(struct network *network, size_t count, const size_t *inputs,
                           size_t *output)
{
    struct tensor out = {.steps = network->tensors[inputs[0]].steps};
    struct layer *layer;

    for (size_t k = 0; k < count; k++) {
        const struct tensor *in = &network->tensors[inputs[k]];

        if (count > LAYER_INPUTS || in->steps != out.steps || in->series)
            return error_make("network: cannot concatenate %zu tensors of %zu and %zu steps", count,
                              out.steps, in->steps);
        out.channels += in->channels;
    }
    out.stride = backend_stride(out.channels);
    TRY(add_layer(network, &type, &out, &layer));
    for (size_t k = 0; k < count; k++)
        add_input(network, layer, inputs[k], 0);
    *output = layer->output;
    return NULL;
}
