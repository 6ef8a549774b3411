/* Residual connections: out = a + b, da = db = dout, and the same for tangents. */
#include "nn/build.h"
#include "nn/layer.h"

/* to = from, or to += from, for the real steps of some samples. */
static void move(const struct pass *pass, const struct layer *layer, size_t count, bool add,
                 const float *from, size_t from_sample, float *to, size_t to_sample)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];

    (add ? pass->backend->add_rows : pass->backend->copy_rows)(
        count, tensor->steps * tensor->stride, from, from_sample, to, to_sample);
}

typedef float *value_function(const struct pass *pass, size_t tensor, size_t sample);
typedef float *gradient_function(const struct pass *pass, size_t tensor, const struct span *span);

static void sum(const struct pass *pass, const struct layer *layer, const struct span *span,
                value_function *at)
{
    const struct tensor *tensors = pass->network->tensors;

    for (size_t k = 0; k < layer->input_count; k++)
        move(pass, layer, span->count, k > 0, at(pass, layer->inputs[k], span->first),
             tensor_sample(&tensors[layer->inputs[k]]), at(pass, layer->output, span->first),
             tensor_sample(&tensors[layer->output]));
}

static void spread(const struct pass *pass, const struct layer *layer, const struct span *span,
                   gradient_function *at)
{
    const struct tensor *tensors = pass->network->tensors;

    for (size_t k = 0; k < layer->input_count; k++)
        move(pass, layer, span->count, layer->adds[k], at(pass, layer->output, span),
             tensor_gradient_sample(&tensors[layer->output]), at(pass, layer->inputs[k], span),
             tensor_gradient_sample(&tensors[layer->inputs[k]]));
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    sum(pass, layer, span, tensor_value);
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    spread(pass, layer, span, tensor_gradient);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    sum(pass, layer, span, tensor_tangent);
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    spread(pass, layer, span, tensor_tangent_gradient);
}

static const struct layer_type type = {
    .name = "add",
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
    .can_add = true,
};

struct error *build_add(struct network *network, size_t a, size_t b, size_t *output)
{
    const struct tensor first = network->tensors[a], second = network->tensors[b];
    struct tensor out = {.steps = first.steps, .channels = first.channels, .stride = first.stride};
    struct layer *layer;

    if (first.steps != second.steps || first.channels != second.channels ||
        first.stride != second.stride)
        return error_make("network: cannot add %zu channels of %zu steps and %zu of %zu",
                          first.channels, first.steps, second.channels, second.steps);
    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, a, 0);
    add_input(network, layer, b, 0);
    *output = layer->output;
    return NULL;
}
