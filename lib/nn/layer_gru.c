/* The recurrent half of a layer of gated recurrent units: reads W_ih x + b_ih of all steps and
 * writes the states.  The formulas and the work are in the backend. */
#include <math.h>
#include <stdio.h>

#include "nn/build.h"
#include "nn/layer.h"

/* Samples that fill the rows of the product with W_hh. */
enum { TOGETHER = 16 };

struct shape {
    struct gru_shape gru;
    struct conv1d_shape product; /* W_hh as a linear layer on one step */
    size_t weight, bias;         /* offsets of the parameters */
};

struct state {
    float *forward, *backward; /* W_hh in the backend's order */
    float *tangent_forward, *tangent_backward;
    float *gates, *tangent_gates; /* (samples, steps, GRU_GATES hidden), see gates_of */
    float *scratch;               /* (workers, scratch_floats) */
    size_t scratch_floats;
};

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct shape *shape = layer->shape;

    shape->gru.input_sample = tensor_sample(in);
    shape->gru.input_gradient_sample = tensor_gradient_sample(in);
    shape->gru.output_sample = tensor_sample(out);
    shape->gru.output_gradient_sample = tensor_gradient_sample(out);
    layer->gradient_floats = network->backend->conv1d_gradient(&shape->product);
    network->work += out->steps * in->channels * out->channels;
}

/* PyTorch's default: everything uniform within 1/sqrt(hidden). */
static void initialise(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers)
{
    const struct shape *shape = layer->shape;
    size_t hidden = shape->gru.hidden;
    double bound = 1.0 / sqrt((double)hidden);

    (void)buffers;
    fill_uniform(filler, parameters + shape->weight, 3 * hidden * hidden, bound);
    fill_uniform(filler, parameters + shape->bias, 3 * hidden, bound);
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    const struct shape *shape = layer->shape;
    struct state *state = layer_state(pass, layer);
    size_t panel = pass->backend->conv1d_panel(&shape->product);
    bool kept = pass->flags & (PASS_BACKWARD | PASS_TANGENT);
    size_t samples = kept ? pass->most_samples : pass->workers * pass->chunk;
    size_t gates = samples * shape->gru.steps * GRU_GATES * shape->gru.hidden;

    state->forward = layout_floats(layout, panel);
    state->gates = layout_floats(layout, gates);
    if (kept)
        state->backward = layout_floats(layout, panel);
    if (pass->flags & PASS_TANGENT) {
        state->tangent_forward = layout_floats(layout, panel);
        state->tangent_backward = layout_floats(layout, panel);
        state->tangent_gates = layout_floats(layout, gates);
    }
    state->scratch_floats = backend_stride(pass->backend->gru_scratch(&shape->gru, pass->chunk));
    state->scratch = layout_floats(layout, pass->workers * state->scratch_floats);
}

static struct gru gru_of(const struct pass *pass, const struct layer *layer,
                         const struct span *span)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);
    bool moves = pass->tangent.parameters != NULL;

    return (struct gru){.shape = shape->gru,
                        .product = &shape->product,
                        .forward = state->forward,
                        .backward = state->backward,
                        .tangent_forward = moves ? state->tangent_forward : NULL,
                        .tangent_backward = moves ? state->tangent_backward : NULL,
                        .scratch = state->scratch + span->worker * state->scratch_floats};
}

/* Not needed after a forward pass that no other follows. */
static float *gates_of(const struct pass *pass, const struct layer *layer, const struct span *span,
                       float *gates)
{
    const struct gru_shape *shape = &((const struct shape *)layer->shape)->gru;
    bool kept = pass->flags & (PASS_BACKWARD | PASS_TANGENT);
    size_t sample = kept ? span->first : span->worker * pass->chunk;

    return gates + sample * shape->steps * GRU_GATES * shape->hidden;
}

static float *partial(const struct pass *pass, const struct layer *layer, const struct span *span)
{
    return pass->backward.parameters ? partial_gradient(pass, layer, span) : NULL;
}

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    if (!pass->forward.same_parameters)
        pass->backend->conv1d_pack(&shape->product, pass->forward.parameters + shape->weight,
                                   pass->forward.parameters + shape->bias, state->forward,
                                   state->backward);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const struct state *state = layer_state(pass, layer);
    struct gru gru = gru_of(pass, layer, span);

    pass->backend->gru_forward(&gru, span->count, tensor_value(pass, layer->inputs[0], span->first),
                               gates_of(pass, layer, span, state->gates),
                               tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const struct state *state = layer_state(pass, layer);
    struct gru gru = gru_of(pass, layer, span);

    pass->backend->gru_backward(&gru, span->count, gates_of(pass, layer, span, state->gates),
                                tensor_value(pass, layer->output, span->first),
                                tensor_gradient(pass, layer->output, span),
                                input_gradient(pass, layer, 0, span), partial(pass, layer, span));
    input_gradient_end(pass, layer, 0, span);
}

/* The gradients of all blocks are already added up in the first. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;

    if (pass->backward.parameters)
        pass->backend->conv1d_unpack(&shape->product, pass->partial + layer->gradient,
                                     pass->backward.parameters + shape->weight,
                                     pass->backward.parameters + shape->bias);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    if (pass->tangent.parameters)
        pass->backend->conv1d_pack(&shape->product, pass->tangent.parameters + shape->weight,
                                   pass->tangent.parameters + shape->bias, state->tangent_forward,
                                   state->tangent_backward);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    const struct state *state = layer_state(pass, layer);
    struct gru gru = gru_of(pass, layer, span);

    pass->backend->gru_tangent_forward(
        &gru, span->count, tensor_tangent(pass, layer->inputs[0], span->first),
        gates_of(pass, layer, span, state->gates), tensor_value(pass, layer->output, span->first),
        gates_of(pass, layer, span, state->tangent_gates),
        tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    const struct state *state = layer_state(pass, layer);
    struct gru gru = gru_of(pass, layer, span);

    pass->backend->gru_tangent_backward(
        &gru, span->count, gates_of(pass, layer, span, state->gates),
        gates_of(pass, layer, span, state->tangent_gates),
        tensor_value(pass, layer->output, span->first),
        tensor_tangent(pass, layer->output, span->first),
        tensor_gradient(pass, layer->output, span),
        tensor_tangent_gradient(pass, layer->output, span),
        input_tangent_gradient(pass, layer, 0, span), partial(pass, layer, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static const struct layer_type type = {
    .name = "gru",
    .shape_bytes = sizeof(struct shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .initialise = initialise,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.prepare = forward_prepare, .apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply, .finish = store_gradient},
              [TANGENT_FORWARD] = {.prepare = tangent_prepare, .apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply, .finish = store_gradient}},
    .needs_gradient = true,
    .together = TOGETHER,
};

/* The recurrent half, from gates (steps, 3 hidden). */
static struct error *build_recurrence(struct network *network, const char *module, size_t number,
                                      size_t input, size_t *output)
{
    const struct tensor in = network->tensors[input];
    size_t hidden = in.channels / 3;
    struct tensor out = {.steps = in.steps, .channels = hidden, .stride = backend_stride(hidden)};
    const size_t sizes[] = {3 * hidden, hidden};
    char name[40];
    struct layer *layer;
    struct shape *shape;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    shape = layer->shape;
    shape->gru = (struct gru_shape){.steps = in.steps,
                                    .hidden = hidden,
                                    .input_stride = in.stride,
                                    .output_stride = out.stride};
    shape->product = (struct conv1d_shape){.steps = 1,
                                           .kernel = 1,
                                           .inputs = hidden,
                                           .outputs = 3 * hidden,
                                           .input_stride = out.stride,
                                           .output_stride = in.stride,
                                           .input_sample = out.stride,
                                           .output_sample = in.stride,
                                           .input_gradient_sample = out.stride,
                                           .output_gradient_sample = in.stride};
    *output = layer->output;
    snprintf(name, sizeof name, "weight_hh_l%zu", number);
    TRY(add_parameter(network, module, name, 2, sizes, &shape->weight));
    snprintf(name, sizeof name, "bias_hh_l%zu", number);
    return add_parameter(network, module, name, 1, sizes, &shape->bias);
}

struct error *build_gru(struct network *network, const char *module, size_t number, size_t input,
                        size_t hidden, size_t *output)
{
    double bound = 1.0 / sqrt((double)hidden);
    char weight[40], bias[40];
    size_t gates;

    snprintf(weight, sizeof weight, "weight_ih_l%zu", number);
    snprintf(bias, sizeof bias, "bias_ih_l%zu", number);
    TRY(build_projection(network, module, &(struct projection){weight, bias, bound, bound}, input,
                         3 * hidden, &gates));
    return build_recurrence(network, module, number, gates, output);
}
