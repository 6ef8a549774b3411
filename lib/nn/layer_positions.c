/* Learned positions: out[t] = in[t] + position[t], as adding an nn.Embedding of all steps.
 * d position[t] is the sum of dout[t] over the batch; tangents go the same ways. */
#include "nn/build.h"
#include "nn/layer.h"

/* The standard deviation of the first values is 0.02, as usual for positions. */
static const double first_bound = 0.0346410161513775;

struct shape {
    size_t weight, count; /* the parameters, (steps, channels) */
};

struct state {
    float *rows, *tangent_rows; /* (steps, stride) */
};

static const struct tensor *tensor_of(const struct pass *pass, const struct layer *layer)
{
    return &pass->network->tensors[layer->output];
}

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *tensor = &network->tensors[layer->output];

    layer->gradient_floats = tensor->steps * tensor->stride;
}

static void initialise(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers)
{
    const struct shape *shape = layer->shape;

    (void)buffers;
    fill_uniform(filler, parameters + shape->weight, shape->count, first_bound);
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    const struct tensor *tensor = tensor_of(pass, layer);
    struct state *state = layer_state(pass, layer);

    state->rows = layout_floats(layout, tensor->steps * tensor->stride);
    if (pass->flags & PASS_TANGENT)
        state->tangent_rows = layout_floats(layout, tensor->steps * tensor->stride);
}

static void pad(const struct pass *pass, const struct layer *layer, const float *parameters,
                float *rows)
{
    const struct tensor *tensor = tensor_of(pass, layer);
    const struct shape *shape = layer->shape;

    pass->backend->copy_rows(tensor->steps, tensor->channels, parameters + shape->weight,
                             tensor->channels, rows, tensor->stride);
}

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    const struct state *state = layer_state(pass, layer);

    if (!pass->forward.same_parameters)
        pad(pass, layer, pass->forward.parameters, state->rows);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    const struct state *state = layer_state(pass, layer);

    if (pass->tangent.parameters)
        pad(pass, layer, pass->tangent.parameters, state->tangent_rows);
}

/* out = in + rows; rows NULL: 0. */
static void add_positions(const struct pass *pass, const struct layer *layer,
                          const struct span *span, const float *in, const float *rows, float *out)
{
    const struct tensor *tensor = tensor_of(pass, layer);
    size_t floats = tensor->steps * tensor->stride, sample = tensor_sample(tensor);

    pass->backend->copy_rows(span->count, floats, in,
                             tensor_sample(&pass->network->tensors[layer->inputs[0]]), out, sample);
    if (rows)
        pass->backend->add_rows(span->count, floats, rows, 0, out, sample);
}

/* din = dout, and the sums over the samples. */
static void spread(const struct pass *pass, const struct layer *layer, const struct span *span,
                   const float *dout, float *din)
{
    const struct tensor *tensor = tensor_of(pass, layer);
    size_t floats = tensor->steps * tensor->stride, sample = tensor_gradient_sample(tensor);

    pass->backend->copy_rows(span->count, floats, dout, sample, din,
                             tensor_gradient_sample(&pass->network->tensors[layer->inputs[0]]));
    for (size_t n = 0; pass->backward.parameters && n < span->count; n++)
        pass->backend->add_rows(1, floats, dout + n * sample, 0,
                                partial_gradient(pass, layer, span), 0);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const struct state *state = layer_state(pass, layer);

    add_positions(pass, layer, span, tensor_value(pass, layer->inputs[0], span->first), state->rows,
                  tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    spread(pass, layer, span, tensor_gradient(pass, layer->output, span),
           input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    const struct state *state = layer_state(pass, layer);

    add_positions(pass, layer, span, tensor_tangent(pass, layer->inputs[0], span->first),
                  pass->tangent.parameters ? state->tangent_rows : NULL,
                  tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    spread(pass, layer, span, tensor_tangent_gradient(pass, layer->output, span),
           input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

/* The gradients of all blocks are already added up in the first. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    const struct tensor *tensor = tensor_of(pass, layer);
    const struct shape *shape = layer->shape;

    if (pass->backward.parameters)
        pass->backend->copy_rows(tensor->steps, tensor->channels, pass->partial + layer->gradient,
                                 tensor->stride, pass->backward.parameters + shape->weight,
                                 tensor->channels);
}

static const struct layer_type type = {
    .name = "positions",
    .shape_bytes = sizeof(struct shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .initialise = initialise,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.prepare = forward_prepare, .apply = forward_apply},
              [BACKWARD] = {.apply = backward_apply, .finish = store_gradient},
              [TANGENT_FORWARD] = {.prepare = tangent_prepare, .apply = tangent_forward_apply},
              [TANGENT_BACKWARD] = {.apply = tangent_backward_apply, .finish = store_gradient}},
};

struct error *build_positions(struct network *network, const char *module, size_t input,
                              size_t *output)
{
    const struct tensor in = network->tensors[input];
    struct tensor out = {.steps = in.steps, .channels = in.channels, .stride = in.stride};
    const size_t sizes[] = {in.steps, in.channels};
    struct layer *layer;
    struct shape *shape;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    shape = layer->shape;
    shape->count = in.steps * in.channels;
    *output = layer->output;
    return add_parameter(network, module, "weight", 2, sizes, &shape->weight);
}
