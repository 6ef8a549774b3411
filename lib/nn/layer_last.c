/* The last step alone, as the end of a recurrent network: out = in[steps - 1], din = dout there and
 * 0 before it. */
#include "nn/build.h"
#include "nn/layer.h"

static void take(const struct pass *pass, const struct layer *layer, const struct span *span,
                 const float *in, float *out)
{
    const struct tensor *from = &pass->network->tensors[layer->inputs[0]];

    pass->backend->copy_rows(span->count, from->stride, in + (from->steps - 1) * from->stride,
                             tensor_sample(from), out,
                             tensor_sample(&pass->network->tensors[layer->output]));
}

static void give(const struct pass *pass, const struct layer *layer, const struct span *span,
                 const float *dout, float *din)
{
    const struct tensor *to = &pass->network->tensors[layer->inputs[0]];
    size_t sample = tensor_gradient_sample(to), before = (to->steps - 1) * to->stride;

    for (size_t n = 0; n < span->count; n++)
        pass->backend->zero(din + n * sample, before * sizeof *din);
    pass->backend->copy_rows(span->count, to->stride, dout,
                             tensor_gradient_sample(&pass->network->tensors[layer->output]),
                             din + before, sample);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    take(pass, layer, span, tensor_value(pass, layer->inputs[0], span->first),
         tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    give(pass, layer, span, tensor_gradient(pass, layer->output, span),
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
    give(pass, layer, span, tensor_tangent_gradient(pass, layer->output, span),
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
