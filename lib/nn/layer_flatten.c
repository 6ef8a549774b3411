/* The embedding: the encoder's output flattened as PyTorch does, channel after channel, with the
 * shapelet features in front. */
#include "nn/build.h"
#include "nn/layer.h"

/* features NULL: zeros. */
static void flatten(const struct pass *pass, const struct layer *layer, const struct span *span,
                    const float *inner, const float *features, float *out)
{
    const struct tensor *from = &pass->network->tensors[layer->inputs[0]];
    size_t columns = pass->network->architecture.features;
    size_t width = pass->network->tensors[layer->output].channels;

    if (columns && features)
        pass->backend->copy_rows(span->count, columns, features + span->first * columns, columns,
                                 out, width);
    else if (columns)
        for (size_t n = 0; n < span->count; n++)
            pass->backend->zero(out + n * width, columns * sizeof *out);
    pass->backend->transpose(span->count, from->steps, from->channels, inner, tensor_sample(from),
                             from->stride, out + columns, width, from->steps);
}

/* more: a gradient that the caller has for the embedding, or NULL. */
static void unflatten(const struct pass *pass, const struct layer *layer, const struct span *span,
                      const float *more, float *dout, float *inner)
{
    const struct tensor *to = &pass->network->tensors[layer->inputs[0]];
    size_t columns = pass->network->architecture.features;
    size_t width = pass->network->tensors[layer->output].channels;

    if (more)
        pass->backend->add_rows(span->count, width, more + span->first * width, width, dout, width);
    if (columns && pass->backward.features)
        pass->backend->copy_rows(span->count, columns, dout, width,
                                 pass->backward.features + span->first * columns, columns);
    pass->backend->transpose(span->count, to->channels, to->steps, dout + columns, width, to->steps,
                             inner, tensor_gradient_sample(to), to->stride);
}

static void flatten_forward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    flatten(pass, layer, span, tensor_value(pass, layer->inputs[0], span->first),
            pass->forward.features, tensor_value(pass, layer->output, span->first));
}

static void flatten_backward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    unflatten(pass, layer, span, pass->backward.embedding,
              tensor_gradient(pass, layer->output, span), input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void flatten_tangent(struct pass *pass, const struct layer *layer, const struct span *span)
{
    flatten(pass, layer, span, tensor_tangent(pass, layer->inputs[0], span->first),
            pass->tangent.features, tensor_tangent(pass, layer->output, span->first));
}

static void flatten_tangent_backward(struct pass *pass, const struct layer *layer,
                                     const struct span *span)
{
    unflatten(pass, layer, span, pass->backward.embedding,
              tensor_tangent_gradient(pass, layer->output, span),
              input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "flatten",
    .phase = {[FORWARD] = {.apply = flatten_forward},
              [BACKWARD] = {.apply = flatten_backward},
              [TANGENT_FORWARD] = {.apply = flatten_tangent},
              [TANGENT_BACKWARD] = {.apply = flatten_tangent_backward}},
};

struct error *build_flatten(struct network *network, size_t input, size_t *output)
{
    const struct tensor *in = &network->tensors[input];
    size_t width = network->architecture.features + in->steps * in->channels;
    struct tensor flat = {.steps = 1, .channels = width, .stride = width};
    struct layer *layer;

    TRY(add_layer(network, &type, &flat, &layer));
    add_input(network, layer, input, 0);
    *output = layer->output;
    return NULL;
}
