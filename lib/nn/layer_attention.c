/* Attention of every step to all steps, between the projections of nn.MultiheadAttention: reads Q,
 * K and V of all heads side by side and writes the outputs of the heads.  The formulas and the work
 * are in the backend. */
#include "nn/build.h"
#include "nn/layer.h"

struct shape {
    struct attention_shape attention;
    float rate; /* of dropout */
};

struct state {
    float *scratch; /* (workers, scratch_floats) */
    size_t scratch_floats;
};

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct attention_shape *shape = &((struct shape *)layer->shape)->attention;

    shape->input_sample = tensor_sample(in);
    shape->input_gradient_sample = tensor_gradient_sample(in);
    shape->output_sample = tensor_sample(out);
    shape->output_gradient_sample = tensor_gradient_sample(out);
    network->work += 2 * in->steps * in->steps * out->channels;
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    const struct shape *shape = layer->shape;
    struct state *state = layer_state(pass, layer);

    state->scratch_floats =
        backend_stride(pass->backend->attention_scratch(&shape->attention, pass->chunk));
    state->scratch = layout_floats(layout, pass->workers * state->scratch_floats);
}

static struct attention attention_of(const struct pass *pass, const struct layer *layer,
                                     const struct span *span)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    return (struct attention){shape->attention,
                              {pass->forward.dropout, (uint32_t)layer->number, shape->rate},
                              state->scratch + span->worker * state->scratch_floats};
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    struct attention attention = attention_of(pass, layer, span);

    pass->backend->attention_forward(&attention, span->first, span->count,
                                     tensor_value(pass, layer->inputs[0], span->first),
                                     tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    struct attention attention = attention_of(pass, layer, span);

    pass->backend->attention_backward(
        &attention, span->first, span->count, tensor_value(pass, layer->inputs[0], span->first),
        tensor_gradient(pass, layer->output, span), input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    struct attention attention = attention_of(pass, layer, span);

    pass->backend->attention_tangent_forward(&attention, span->first, span->count,
                                             tensor_value(pass, layer->inputs[0], span->first),
                                             tensor_tangent(pass, layer->inputs[0], span->first),
                                             tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    struct attention attention = attention_of(pass, layer, span);

    pass->backend->attention_tangent_backward(&attention, span->first, span->count,
                                              tensor_value(pass, layer->inputs[0], span->first),
                                              tensor_tangent(pass, layer->inputs[0], span->first),
                                              tensor_gradient(pass, layer->output, span),
                                              tensor_tangent_gradient(pass, layer->output, span),
                                              input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "attention",
    .shape_bytes = sizeof(struct shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply},
              [TANGENT_FORWARD] = {.apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply}},
    .needs_gradient = true,
};

struct error *build_attention(struct network *network, size_t heads, double rate, size_t input,
                              size_t *output)
{
    const struct tensor in = network->tensors[input];
    size_t width = in.channels / 3;
    struct tensor out = {.steps = in.steps, .channels = width, .stride = backend_stride(width)};
    struct layer *layer;
    struct shape *shape;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    shape = layer->shape;
    shape->attention = (struct attention_shape){.steps = in.steps,
                                                .heads = heads,
                                                .width = width / heads,
                                                .input_stride = in.stride,
                                                .output_stride = out.stride};
    shape->rate = (float)rate;
    *output = layer->output;
    return NULL;
}
