/* The input of a network: series (N, C, L), transposed into the layout of activations
 * (N, steps, channels). */
#include "nn/build.h"
#include "nn/layer.h"

static void read_series(const struct pass *pass, const struct layer *layer, const struct span *span,
                        const float *series, float *inner)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];
    size_t size = tensor->channels * tensor->steps;

    pass->backend->transpose(span->count, tensor->channels, tensor->steps,
                             series + span->first * size, size, tensor->steps, inner,
                             tensor_sample(tensor), tensor->stride);
}

static void write_series(const struct pass *pass, const struct layer *layer,
                         const struct span *span, const float *inner, float *series)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];
    size_t size = tensor->channels * tensor->steps;

    pass->backend->transpose(span->count, tensor->steps, tensor->channels, inner,
                             tensor_gradient_sample(tensor), tensor->stride,
                             series + span->first * size, size, tensor->steps);
}

static void input_forward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    read_series(pass, layer, span, pass->forward.x, tensor_value(pass, layer->output, span->first));
}

static void input_backward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    if (pass->backward.x)
        write_series(pass, layer, span, tensor_gradient(pass, layer->output, span),
                     pass->backward.x);
}

static void input_tangent(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];
    float *inner = tensor_tangent(pass, layer->output, span->first);

    if (pass->tangent.x)
        read_series(pass, layer, span, pass->tangent.x, inner);
    else if (tensor->wants_zeros)
        for (size_t n = 0; n < span->count; n++)
            pass->backend->zero(inner + n * tensor_sample(tensor),
                                tensor->steps * tensor->stride * sizeof *inner);
}

static void input_tangent_backward(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    if (pass->backward.x)
        write_series(pass, layer, span, tensor_tangent_gradient(pass, layer->output, span),
                     pass->backward.x);
}

static const struct layer_type type = {
    .name = "input",
    .phase = {[FORWARD] = {.apply = input_forward},
              [BACKWARD] = {.apply = input_backward},
              [TANGENT_FORWARD] = {.apply = input_tangent},
              [TANGENT_BACKWARD] = {.apply = input_tangent_backward}},
};

static struct error *build_input(struct network *network, size_t steps, size_t channels,
                                 size_t *output)
{
    struct tensor series = {
        .steps = steps, .channels = channels, .stride = channels, .series = true};
    struct layer *layer;

    TRY(add_layer(network, &type, &series, &layer));
    *output = layer->output;
    return NULL;
}

struct error *build_series(struct network *network, size_t *output)
{
    return build_input(network, network->architecture.length, network->architecture.channels,
                       output);
}

/* One step of C L channels needs no transposition. */
struct error *build_flat_series(struct network *network, size_t *output)
{
    return build_input(network, 1, network->architecture.length * network->architecture.channels,
                       output);
}
