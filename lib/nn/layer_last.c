/* The last step: out = in[L - 1], din[L - 1] = dout and 0 elsewhere, and the same for tangents. */
#include "nn/build.h"
#include "nn/layer.h"

/* Of samples that begin there, where the last step is. */
static size_t offset_of(const struct tensor *tensor)
{
    return (tensor->steps - 1) * tensor->stride;
}

static void take(const struct pass *pass, const struct layer *layer, const struct span *span,
                 const float *in, float *out)
{
    const struct tensor *from = &pass->network->tensors[layer->inputs[0]];
    const struct tensor *to = &pass->network->tensors[layer->output];

    pass->backend->copy_rows(span->count, from->stride, in + offset_of(from), tensor_sample(from),
                             out, tensor_sample(to));
}

static void put_back(const struct pass *pass, const struct layer *layer, const struct span *span,
                     const float *dout, float *din)
{
    const struct tensor *to = &pass->network->tensors[layer->inputs[0]];
    const struct tensor *from = &pass->network->tensors[layer->output];
    size_t sample = tensor_gradient_sample(to);

    /* Halos, which lie between the samples, are zeros anyway. */
    pass->backend->zero(din,
                        (span->count * sample - 2 * to->gradient_halo * to->stride) * sizeof *din);
    pass->backend->copy_rows(span->count, to->stride, dout, tensor_gradient_sample(from),
                             din + offset_of(to), sample);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    take(pass, layer, span, tensor_value(pass, layer->inputs[0], span->first),
         tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    put_back(pass, layer, span, tensor_gradient(pass, layer->output, span),
             input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    take(pass, layer, span, tensor_tangent(pass, layer->inputs[0], span->first),
         tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    put_back(pass, layer, span, tensor_tangent_gradient(pass, layer->output, span),
             input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "last",
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
};

struct error *build_last(struct network *network, size_t input, size_t *output)
{
    const struct tensor *in = &network->tensors[input];
    struct tensor out = {.steps = 1, .channels = in->channels, .stride = in->stride};
    struct layer *layer;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    *output = layer->output;
    return NULL;
}
