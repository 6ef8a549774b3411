/* A linear layer of one step, for the whole batch at once: its weights are many and its rows few,
 * and reading the weights for each block of samples would cost more than the products.  With R for
 * tangents,
 *
 *     out = in W^T + b                   Rout = in RW^T + Rb + Rin W^T
 *     din = dout W                       Rdin = Rdout W + dout RW
 *     dW = dout^T in                     RdW = Rdout^T in + dout^T Rin
 *
 * All of it is done in `reduce`, between the samples of the layers before and those after. */
#include <math.h>

#include "nn/build.h"
#include "nn/layer.h"

struct shape {
    struct dense_shape dense;
    size_t weight, bias; /* offsets of the parameters */
};

struct state {
    float *scratch;
};

static const struct dense_shape *dense_of(const struct layer *layer)
{
    return &((const struct shape *)layer->shape)->dense;
}

/* ---- Declaration and memory ---- */

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct dense_shape *dense = &((struct shape *)layer->shape)->dense;

    dense->input_sample = tensor_sample(in);
    dense->output_sample = tensor_sample(out);
    dense->input_gradient_sample = tensor_gradient_sample(in);
    dense->output_gradient_sample = tensor_gradient_sample(out);
    network->work += dense->inputs * dense->outputs;
}

/* PyTorch's default: uniform within 1/sqrt(inputs). */
static void initialise(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers)
{
    const struct shape *shape = layer->shape;
    double bound = 1.0 / sqrt((double)shape->dense.inputs);

    (void)buffers;
    fill_uniform(filler, parameters + shape->weight, shape->dense.inputs * shape->dense.outputs,
                 bound);
    fill_uniform(filler, parameters + shape->bias, shape->dense.outputs, bound);
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    struct state *state = layer_state(pass, layer);

    state->scratch =
        layout_floats(layout, pass->backend->dense_scratch(dense_of(layer), pass->most_samples));
}

/* ---- Phases ---- */

static bool always(const struct pass *pass, const struct layer *layer, enum phase phase)
{
    (void)pass;
    (void)layer;
    (void)phase;
    return true;
}

/* The whole batch, as the places of tensors and gradients want it. */
static struct span everything(const struct pass *pass)
{
    return (struct span){.count = pass->forward.count};
}

static void multiply(struct pass *pass, const struct layer *layer, const float *in,
                     const float *parameters, bool add, float *out)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    pass->backend->dense_forward(&shape->dense, pass->forward.count, in, parameters + shape->weight,
                                 parameters + shape->bias, add, state->scratch, out);
}

static void multiply_back(struct pass *pass, const struct layer *layer, const float *dout,
                          const float *parameters, bool add, float *din)
{
    const struct shape *shape = layer->shape;
    const struct state *state = layer_state(pass, layer);

    pass->backend->dense_backward_input(&shape->dense, pass->forward.count, dout,
                                        parameters + shape->weight, add, state->scratch, din);
}

static void weight_gradient(struct pass *pass, const struct layer *layer, const float *in,
                            const float *dout, bool add)
{
    const struct shape *shape = layer->shape;

    pass->backend->dense_backward_weight(&shape->dense, pass->forward.count, in, dout, add,
                                         pass->backward.parameters + shape->weight,
                                         pass->backward.parameters + shape->bias);
}

static void forward(struct pass *pass, const struct layer *layer)
{
    multiply(pass, layer, tensor_value(pass, layer->inputs[0], 0), pass->forward.parameters, false,
             tensor_value(pass, layer->output, 0));
}

static void backward(struct pass *pass, const struct layer *layer)
{
    struct span all = everything(pass);
    const float *dout = tensor_gradient(pass, layer->output, &all);

    if (pass->backward.parameters)
        weight_gradient(pass, layer, tensor_value(pass, layer->inputs[0], 0), dout, false);
    if (input_wanted(pass, layer))
        multiply_back(pass, layer, dout, pass->forward.parameters, layer->adds[0],
                      tensor_gradient(pass, layer->inputs[0], &all));
}

static void tangent_forward(struct pass *pass, const struct layer *layer)
{
    const struct dense_shape *dense = dense_of(layer);
    float *rout = tensor_tangent(pass, layer->output, 0);

    if (pass->tangent.parameters)
        multiply(pass, layer, tensor_value(pass, layer->inputs[0], 0), pass->tangent.parameters,
                 false, rout);
    else
        pass->backend->zero(rout, pass->forward.count * dense->output_sample * sizeof *rout);
    if (input_moves(pass, layer))
        multiply(pass, layer, tensor_tangent(pass, layer->inputs[0], 0), pass->forward.parameters,
                 true, rout);
}

static void tangent_backward(struct pass *pass, const struct layer *layer)
{
    struct span all = everything(pass);
    const float *dout = tensor_gradient(pass, layer->output, &all);
    const float *rdout = tensor_tangent_gradient(pass, layer->output, &all);

    if (pass->backward.parameters) {
        weight_gradient(pass, layer, tensor_value(pass, layer->inputs[0], 0), rdout, false);
        if (input_moves(pass, layer))
            weight_gradient(pass, layer, tensor_tangent(pass, layer->inputs[0], 0), dout, true);
    }
    if (input_wanted(pass, layer)) {
        float *rdin = tensor_tangent_gradient(pass, layer->inputs[0], &all);

        multiply_back(pass, layer, rdout, pass->forward.parameters, layer->adds[0], rdin);
        if (pass->tangent.parameters)
            multiply_back(pass, layer, dout, pass->tangent.parameters, true, rdin);
    }
}

static const struct layer_type type = {
    .name = "dense",
    .shape_bytes = sizeof(struct shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .initialise = initialise,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.reduce = forward},
              [BACKWARD] = {.reduce = backward},
              [TANGENT_FORWARD] = {.reduce = tangent_forward},
              [TANGENT_BACKWARD] = {.reduce = tangent_backward}},
    .wants_sums = always,
    .waits = always,
    .needs_gradient = true,
    .can_add = true,
    .knows_fixed_series = true,
    .at_once = true,
};

/* ---- Building ---- */

/* Rows that lie a multiple of 1 KB apart would share few places of the first-level cache. */
static size_t stride_of(size_t outputs)
{
    size_t stride = backend_stride(outputs);

    return stride % 256 == 0 ? stride + BACKEND_CHANNELS : stride;
}

struct error *build_dense(struct network *network, const char *module, size_t input, size_t outputs,
                          size_t *output)
{
    const size_t inputs = network->tensors[input].channels;
    const size_t sizes[] = {outputs, inputs};
    struct tensor out = {.steps = 1, .channels = outputs, .stride = stride_of(outputs)};
    struct layer *layer;
    struct shape *shape;

    if (network->tensors[input].steps != 1)
        return error_make("network: a dense layer reads one step");
    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    shape = layer->shape;
    shape->dense = (struct dense_shape){.inputs = inputs, .outputs = outputs};
    *output = layer->output;
    TRY(add_parameter(network, module, "weight", 2, sizes, &shape->weight));
    return add_parameter(network, module, "bias", 1, sizes, &shape->bias);
}
