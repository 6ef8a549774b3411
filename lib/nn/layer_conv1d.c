/* Convolutions and linear layers: out = in * W + b, and with R for tangents
 *
 *     Rout = in * RW + Rb + Rin * W
 *     Rdin = Rdout * W' + dout * RW'          RdW = Rin^T dout + in^T Rdout */
#include <math.h>

#include "nn/build.h"
#include "nn/layer.h"

struct shape {
    struct conv1d_shape conv;
    size_t weight, bias; /* offsets of the parameters */
    bool biased;         /* has a bias */
    /* First values are uniform within these; 0: all 0. */
    double weight_bound, bias_bound;
};

/* The weights in the backend's order. */
struct state {
    float *forward, *backward;
    float *tangent_forward, *tangent_backward;
};

static const struct conv1d_shape *conv_of(const struct layer *layer)
{
    return &((const struct shape *)layer->shape)->conv;
}

static bool has_bias(const struct layer *layer)
{
    return ((const struct shape *)layer->shape)->biased;
}

/* Where the bias is in parameters or gradients; NULL if there is none. */
static const float *bias_in(const struct shape *shape, const float *parameters)
{
    return shape->biased ? parameters + shape->bias : NULL;
}

/* ---- Declaration and memory ---- */

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct shape *shape = layer->shape;

    shape->conv.input_sample = tensor_sample(in);
    shape->conv.output_sample = tensor_sample(out);
    shape->conv.input_gradient_sample = tensor_gradient_sample(in);
    shape->conv.output_gradient_sample = tensor_gradient_sample(out);
    layer->gradient_floats = network->backend->conv1d_gradient(&shape->conv);
    network->work += out->steps * out->channels * shape->conv.inputs * shape->conv.kernel;
}

static void initialise(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers)
{
    const struct shape *shape = layer->shape;
    size_t fan_in = shape->conv.inputs * shape->conv.kernel;

    (void)buffers;
    fill_uniform(filler, parameters + shape->weight, shape->conv.outputs * fan_in,
                 shape->weight_bound);
    if (shape->biased)
        fill_uniform(filler, parameters + shape->bias, shape->conv.outputs, shape->bias_bound);
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    struct state *state = layer_state(pass, layer);
    size_t panel = pass->backend->conv1d_panel(conv_of(layer));

    state->forward = layout_floats(layout, panel);
    if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
        state->backward = layout_floats(layout, panel);
    if (pass->flags & PASS_TANGENT) {
        state->tangent_forward = layout_floats(layout, panel);
        state->tangent_backward = layout_floats(layout, panel);
    }
}

/* ---- Phases ---- */

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    if (!pass->forward.same_parameters)
        pass->backend->conv1d_pack(&shape->conv, pass->forward.parameters + shape->weight,
                                   bias_in(shape, pass->forward.parameters), state->forward,
                                   state->backward);
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const struct state *state = layer_state(pass, layer);

    pass->backend->conv1d_forward(conv_of(layer), span->count,
                                  tensor_value(pass, layer->inputs[0], span->first), state->forward,
                                  false, tensor_value(pass, layer->output, span->first));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    const struct state *state = layer_state(pass, layer);
    const float *in = tensor_value(pass, layer->inputs[0], span->first);
    const float *dout = tensor_gradient(pass, layer->output, span);

    if (pass->backward.parameters)
        pass->backend->conv1d_backward_weight(conv_of(layer), span->count, in, dout,
                                              has_bias(layer), partial_gradient(pass, layer, span));
    if (input_wanted(pass, layer))
        pass->backend->conv1d_backward_input(conv_of(layer), span->count, dout, state->backward,
                                             layer->adds[0],
                                             tensor_gradient(pass, layer->inputs[0], span));
}

/* The gradients of all blocks are already added up in the first. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;

    if (pass->backward.parameters)
        pass->backend->conv1d_unpack(&shape->conv, pass->partial + layer->gradient,
                                     pass->backward.parameters + shape->weight,
                                     shape->biased ? pass->backward.parameters + shape->bias
                                                   : NULL);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    if (pass->tangent.parameters)
        pass->backend->conv1d_pack(&shape->conv, pass->tangent.parameters + shape->weight,
                                   bias_in(shape, pass->tangent.parameters), state->tangent_forward,
                                   state->tangent_backward);
}

static void tangent_forward_apply(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    const struct conv1d_shape *conv = conv_of(layer);
    const struct state *state = layer_state(pass, layer);
    float *rout = tensor_tangent(pass, layer->output, span->first);

    if (pass->tangent.parameters)
        pass->backend->conv1d_forward(conv, span->count,
                                      tensor_value(pass, layer->inputs[0], span->first),
                                      state->tangent_forward, false, rout);
    else
        for (size_t n = 0; n < span->count; n++)
            pass->backend->zero(rout + n * conv->output_sample,
                                conv->steps * conv->output_stride * sizeof *rout);
    if (input_moves(pass, layer))
        pass->backend->conv1d_forward(conv, span->count,
                                      tensor_tangent(pass, layer->inputs[0], span->first),
                                      state->forward, true, rout);
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    const struct conv1d_shape *conv = conv_of(layer);
    const struct state *state = layer_state(pass, layer);
    const struct backend *backend = pass->backend;
    const float *dout = tensor_gradient(pass, layer->output, span);
    const float *rdout = tensor_tangent_gradient(pass, layer->output, span);

    if (pass->backward.parameters) {
        float *partial = partial_gradient(pass, layer, span);

        backend->conv1d_backward_weight(conv, span->count,
                                        tensor_value(pass, layer->inputs[0], span->first), rdout,
                                        has_bias(layer), partial);
        if (input_moves(pass, layer))
            backend->conv1d_backward_weight(conv, span->count,
                                            tensor_tangent(pass, layer->inputs[0], span->first),
                                            dout, false, partial);
    }
    if (input_wanted(pass, layer)) {
        float *rdin = tensor_tangent_gradient(pass, layer->inputs[0], span);

        backend->conv1d_backward_input(conv, span->count, rdout, state->backward, layer->adds[0],
                                       rdin);
        if (pass->tangent.parameters)
            backend->conv1d_backward_input(conv, span->count, dout, state->tangent_backward, true,
                                           rdin);
    }
}

static const struct layer_type type = {
    .name = "conv1d",
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
    .can_add = true,
    .knows_fixed_series = true,
};

/* ---- Building ---- */

/* What a layer is besides its input and output. */
struct plan {
    size_t kernel;
    size_t dilation; /* of a causal convolution, else 0 */
    size_t together; /* steps that are one row of the product: patches */
    size_t ndim;     /* of the weight: 3 with a kernel, 2 for a linear layer */
    bool biased;
    const struct projection *projection; /* NULL: as PyTorch's nn.Conv1d and nn.Linear */
};

/* Steps of zeros that it reads on either side. */
static size_t halo_of(const struct plan *plan)
{
    return plan->dilation == 0 ? plan->kernel / 2 : plan->dilation == 1 ? plan->kernel - 1 : 0;
}

/* PyTorch's default: uniform within 1/sqrt(fan in). */
static struct projection usual(size_t fan_in)
{
    double bound = 1.0 / sqrt((double)fan_in);

    return (struct projection){"weight", "bias", bound, bound};
}

static struct error *add(struct network *network, const char *module, const struct plan *plan,
                         size_t input, size_t channels, size_t stride, size_t *output)
{
    size_t inputs = plan->together * network->tensors[input].channels;
    struct projection projection =
        plan->projection ? *plan->projection : usual(plan->kernel * inputs);
    struct tensor out = {.steps = network->tensors[input].steps / plan->together,
                         .channels = channels,
                         .stride = stride,
                         .gradient_halo = halo_of(plan)};
    struct layer *layer;
    struct shape *shape;
    const struct tensor *in;

    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, halo_of(plan));
    in = &network->tensors[input];
    shape = layer->shape;
    shape->conv = (struct conv1d_shape){.steps = out.steps,
                                        .kernel = plan->kernel,
                                        .inputs = inputs,
                                        .outputs = channels,
                                        .input_stride = plan->together * in->stride,
                                        .output_stride = stride,
                                        .dilation = plan->dilation};
    shape->biased = plan->biased;
    shape->weight_bound = projection.weight_bound;
    shape->bias_bound = projection.bias_bound;
    *output = layer->output;
    const size_t sizes[] = {channels, inputs, plan->kernel};
    TRY(add_parameter(network, module, projection.weight, plan->ndim, sizes, &shape->weight));
    return plan->biased ? add_parameter(network, module, projection.bias, 1, sizes, &shape->bias)
                        : NULL;
}

struct error *build_conv1d(struct network *network, const char *module, size_t kernel, size_t input,
                           size_t channels, size_t *output)
{
    struct plan plan = {.kernel = kernel, .together = 1, .ndim = 3, .biased = true};

    return add(network, module, &plan, input, channels, backend_stride(channels), output);
}

struct error *build_conv1d_plain(struct network *network, const char *module, size_t kernel,
                                 size_t input, size_t channels, size_t *output)
{
    struct plan plan = {.kernel = kernel, .together = 1, .ndim = 3};

    return add(network, module, &plan, input, channels, backend_stride(channels), output);
}

struct error *build_conv1d_causal(struct network *network, const char *module, size_t kernel,
                                  size_t dilation, size_t input, size_t channels, size_t *output)
{
    struct plan plan = {
        .kernel = kernel, .together = 1, .dilation = dilation, .ndim = 3, .biased = true};

    return add(network, module, &plan, input, channels, backend_stride(channels), output);
}

struct error *build_hidden(struct network *network, const char *module, size_t input,
                           size_t outputs, size_t *output)
{
    struct plan plan = {.kernel = 1, .together = 1, .ndim = 2, .biased = true};

    return add(network, module, &plan, input, outputs, backend_stride(outputs), output);
}

struct error *build_linear(struct network *network, const char *module, size_t input,
                           size_t outputs, size_t *output)
{
    struct plan plan = {.kernel = 1, .together = 1, .ndim = 2, .biased = true};

    return add(network, module, &plan, input, outputs, outputs, output);
}

struct error *build_projection(struct network *network, const char *module,
                               const struct projection *projection, size_t input, size_t channels,
                               size_t *output)
{
    struct plan plan = {
        .kernel = 1, .together = 1, .ndim = 2, .biased = true, .projection = projection};

    return add(network, module, &plan, input, channels, backend_stride(channels), output);
}

struct error *build_patches(struct network *network, const char *module, size_t patch, size_t input,
                            size_t channels, size_t *output)
{
    const struct tensor *in = &network->tensors[input];
    struct plan plan = {.kernel = 1, .together = patch, .ndim = 2, .biased = true};

    if (in->stride != in->channels)
        return error_make("network: patches of padded steps are not implemented");
    return add(network, module, &plan, input, channels, backend_stride(channels), output);
}
