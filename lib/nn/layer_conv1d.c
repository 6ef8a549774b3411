/* Convolutions and linear layers: out = in * W + b, and with R for tangents
 *
 *     Rout = in * RW + Rb + Rin * W
 *     Rdin = Rdout * W' + dout * RW'          RdW = Rin^T dout + in^T Rdout */
#include "nn/layer.h"

/* Whether the input moves along the direction: the series only if they were given one. */
static bool input_moves(const struct pass *pass, const struct layer *layer)
{
    return !pass->network->tensors[layer->input].series || pass->tangent.x;
}

/* Whether somebody wants the gradient of the input. */
static bool wants_input(const struct pass *pass, const struct layer *layer)
{
    return !pass->network->tensors[layer->input].series || pass->backward.x;
}

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    const struct conv_memory *memory = &pass->convs[layer->state];

    if (!pass->forward.same_parameters)
        pass->backend->conv1d_pack(&layer->conv, pass->forward.parameters + layer->weight,
                                   pass->forward.parameters + layer->bias, memory->forward,
                                   memory->backward);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->conv1d_forward(
        &layer->conv, span->count, tensor_value(pass, layer->input, span->first),
        pass->convs[layer->state].forward, false, tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const float *dout = tensor_gradient(pass, layer->output, span);

    if (pass->backward.parameters)
        pass->backend->conv1d_backward_weight(&layer->conv, span->count,
                                              tensor_value(pass, layer->input, span->first), dout,
                                              true, partial_gradient(pass, layer, span));
    if (wants_input(pass, layer))
        pass->backend->conv1d_backward_input(&layer->conv, span->count, dout,
                                             pass->convs[layer->state].backward, false,
                                             tensor_gradient(pass, layer->input, span));
}

/* The gradients of all blocks are already added up in the first. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    if (pass->backward.parameters)
        pass->backend->conv1d_unpack(&layer->conv, pass->partial + layer->gradient,
                                     pass->backward.parameters + layer->weight,
                                     pass->backward.parameters + layer->bias);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    const struct conv_memory *memory = &pass->convs[layer->state];

    if (pass->tangent.parameters)
        pass->backend->conv1d_pack(&layer->conv, pass->tangent.parameters + layer->weight,
                                   pass->tangent.parameters + layer->bias, memory->tangent_forward,
                                   memory->tangent_backward);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    const struct conv_memory *memory = &pass->convs[layer->state];
    float *rout = tensor_tangent(pass, layer->output, span->first);

    if (pass->tangent.parameters)
        pass->backend->conv1d_forward(&layer->conv, span->count,
                                      tensor_value(pass, layer->input, span->first),
                                      memory->tangent_forward, false, rout);
    else
        pass->backend->zero(rout, span->count * layer->conv.output_sample * sizeof *rout);
    if (input_moves(pass, layer))
        pass->backend->conv1d_forward(&layer->conv, span->count,
                                      tensor_tangent(pass, layer->input, span->first),
                                      memory->forward, true, rout);
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    const struct conv_memory *memory = &pass->convs[layer->state];
    const struct backend *backend = pass->backend;
    const float *dout = tensor_gradient(pass, layer->output, span);
    const float *rdout = tensor_tangent_gradient(pass, layer->output, span);

    if (pass->backward.parameters) {
        float *partial = partial_gradient(pass, layer, span);

        backend->conv1d_backward_weight(&layer->conv, span->count,
                                        tensor_value(pass, layer->input, span->first), rdout, true,
                                        partial);
        if (input_moves(pass, layer))
            backend->conv1d_backward_weight(&layer->conv, span->count,
                                            tensor_tangent(pass, layer->input, span->first), dout,
                                            false, partial);
    }
    if (wants_input(pass, layer)) {
        float *rdin = tensor_tangent_gradient(pass, layer->input, span);

        backend->conv1d_backward_input(&layer->conv, span->count, rdout, memory->backward, false,
                                       rdin);
        if (pass->tangent.parameters)
            backend->conv1d_backward_input(&layer->conv, span->count, dout,
                                           memory->tangent_backward, true, rdin);
    }
}

const struct layer_type layer_conv1d = {
    .name = "conv1d",
    .phase = {[FORWARD] = {.prepare = forward_prepare, .apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply, .finish = store_gradient},
              [TANGENT_FORWARD] = {.prepare = tangent_prepare, .apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply, .finish = store_gradient}},
};
