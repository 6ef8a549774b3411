/* Normalisation, activation and pooling: one layer, because one sweep over memory does all three.
 * The backend computes; this file says on which tensors. */
#include "nn/build.h"
#include "nn/layer.h"

struct shape {
    struct normact_shape normact;
    size_t gamma, beta;    /* offsets of the parameters */
    size_t mean, variance; /* offsets of the buffers */
};

/* gamma and beta, padded, and their directions. */
struct state {
    struct normact normact;
    float *gamma, *beta, *tangent_gamma, *tangent_beta;
};

static const struct shape *shape_of(const struct layer *layer)
{
    return layer->shape;
}

static struct normact *normact_of(const struct pass *pass, const struct layer *layer)
{
    return &((struct state *)layer_state(pass, layer))->normact;
}

static bool normalises(const struct layer *layer)
{
    return shape_of(layer)->normact.norm != NORM_NONE;
}

/* ---- Declaration and memory ---- */

static void declare(struct network *network, struct layer *layer)
{
    const struct tensor *in = &network->tensors[layer->inputs[0]];
    const struct tensor *out = &network->tensors[layer->output];
    struct normact_shape *normact = &((struct shape *)layer->shape)->normact;

    normact->input_sample = tensor_sample(in);
    normact->input_gradient_sample = tensor_gradient_sample(in);
    normact->output_sample = tensor_sample(out);
    normact->output_gradient_sample = tensor_gradient_sample(out);
    if (normact->norm == NORM_LAYER) {
        layer->gradient_floats = 2 * normact->steps * normact->stride;
        network->always_adds = true;
    }
}

/* The identity. */
static void initialise(const struct layer *layer, struct filler *filler, float *parameters,
                       float *buffers)
{
    const struct shape *shape = layer->shape;
    const struct normact_shape *normact = &shape->normact;
    size_t count = normact->channels * (normact->norm == NORM_LAYER ? normact->steps : 1);

    if (normact->norm == NORM_NONE)
        return;
    fill_constant(filler, parameters + shape->gamma, count, 1);
    fill_constant(filler, parameters + shape->beta, count, 0);
    if (normact->norm == NORM_BATCH) {
        fill_constant(filler, buffers + shape->mean, normact->channels, 0);
        fill_constant(filler, buffers + shape->variance, normact->channels, 1);
    }
}

static void lay_out(struct pass *pass, const struct layer *layer, struct layout *layout)
{
    const struct normact_shape *shape = &shape_of(layer)->normact;
    struct state *state = layer_state(pass, layer);
    bool per_sample = shape->norm == NORM_INSTANCE || shape->norm == NORM_LAYER;
    size_t values = shape->stride * (shape->norm == NORM_LAYER ? shape->steps : 1);
    size_t groups = per_sample ? pass->most_samples : 1;

    state->normact.shape = *shape;
    state->normact.rows = layout_floats(layout, groups * NORMACT_ROWS * shape->stride);
    if (shape->norm != NORM_NONE) {
        state->normact.gamma = state->gamma = layout_floats(layout, values);
        state->normact.beta = state->beta = layout_floats(layout, values);
    }
    if (shape->norm != NORM_NONE && pass->flags & PASS_TANGENT) {
        state->normact.tangent_gamma = state->tangent_gamma = layout_floats(layout, values);
        state->normact.tangent_beta = state->tangent_beta = layout_floats(layout, values);
    }
    state->normact.moments =
        layout_doubles(layout, pass->most_blocks * NORMACT_MOMENTS * shape->stride);
    state->normact.sums = layout_doubles(layout, pass->most_blocks * NORMACT_SUMS * shape->stride);
}

static bool statistics(const struct layer *layer, struct network_statistics *where)
{
    const struct shape *shape = layer->shape;

    if (shape->normact.norm != NORM_BATCH)
        return false;
    *where = (struct network_statistics){.channels = shape->normact.channels,
                                         .steps = shape->normact.steps,
                                         .gamma = shape->gamma,
                                         .beta = shape->beta,
                                         .mean = shape->mean,
                                         .variance = shape->variance};
    return true;
}

static void match(struct pass *pass, const struct layer *layer, const struct matching *matching,
                  double weight, double *sum)
{
    const struct shape *shape = layer->shape;

    pass->backend->normact_match(normact_of(pass, layer), weight, matching->squared,
                                 pass->forward.buffers + shape->mean,
                                 pass->forward.buffers + shape->variance, sum);
}

/* ---- Phases ---- */

/* gamma or beta from PyTorch's order, (channels) or (channels, steps), into padded rows. */
static void pad_rows(const struct pass *pass, const struct layer *layer, const float *from,
                     float *to)
{
    const struct normact_shape *shape = &shape_of(layer)->normact;

    if (shape->norm == NORM_LAYER)
        pass->backend->transpose(1, shape->channels, shape->steps, from, 0, shape->steps, to, 0,
                                 shape->stride);
    else
        pass->backend->copy_rows(1, shape->channels, from, 0, to, 0);
}

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    const struct state *state = layer_state(pass, layer);
    struct normact *normact = normact_of(pass, layer);

    normact->samples = pass->forward.count;
    normact->blocks = pass->blocks;
    normact->batch = shape_of(layer)->normact.norm == NORM_BATCH && pass->forward.training;
    normact->measured =
        normact->batch || (shape_of(layer)->normact.norm == NORM_BATCH && pass->forward.statistics);
    if (normact->measured)
        pass->backend->zero(normact->moments, normact->blocks * NORMACT_MOMENTS *
                                                  shape_of(layer)->normact.stride *
                                                  sizeof *normact->moments);
    if (normalises(layer) && !pass->forward.same_parameters) {
        pad_rows(pass, layer, pass->forward.parameters + shape_of(layer)->gamma, state->gamma);
        pad_rows(pass, layer, pass->forward.parameters + shape_of(layer)->beta, state->beta);
    }
    /* Known before the first sample: running statistics, or none.  Measuring the batch as well, for
     * pass_match, then delays nothing. */
    if (!normact->batch)
        pass->backend->normact_reduce(normact, pass->forward.buffers + shape_of(layer)->mean,
                                      pass->forward.buffers + shape_of(layer)->variance);
}

static void forward_reduce(struct pass *pass, const struct layer *layer)
{
    float *buffers = pass->forward.buffers;
    struct normact *normact = normact_of(pass, layer);

    pass->backend->normact_reduce(normact, buffers + shape_of(layer)->mean,
                                  buffers + shape_of(layer)->variance);
    if (normact->batch && pass->forward.momentum > 0)
        pass->backend->normact_update_running(normact, pass->forward.momentum,
                                              buffers + shape_of(layer)->mean,
                                              buffers + shape_of(layer)->variance);
}

static void forward_sums(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->normact_moments(normact_of(pass, layer), span->block, span->first, span->count,
                                   tensor_value(pass, layer->inputs[0], span->first));
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->normact_forward(normact_of(pass, layer), span->first, span->count,
                                   tensor_value(pass, layer->inputs[0], span->first),
                                   tensor_value(pass, layer->output, span->first));
}

static double *block_sums(const struct pass *pass, const struct layer *layer, enum phase phase,
                          size_t *doubles)
{
    const struct normact *normact = normact_of(pass, layer);

    *doubles = (phase == FORWARD ? NORMACT_MOMENTS : NORMACT_SUMS) * normact->shape.stride;
    return phase == FORWARD ? normact->moments : normact->sums;
}

/* The place of this layer's sums is shared by all phases. */
static void zero_sums(struct pass *pass, const struct layer *layer)
{
    struct normact *normact = normact_of(pass, layer);

    pass->backend->zero(normact->sums, normact->blocks * NORMACT_SUMS *
                                           shape_of(layer)->normact.stride * sizeof *normact->sums);
}

/* norm=layer: the partial gradients of gamma, then of beta, (steps, stride) each. */
static float *partial_gamma(const struct pass *pass, const struct layer *layer,
                            const struct span *span)
{
    return shape_of(layer)->normact.norm == NORM_LAYER ? partial_gradient(pass, layer, span) : NULL;
}

static float *partial_beta(const struct pass *pass, const struct layer *layer,
                           const struct span *span)
{
    float *gamma = partial_gamma(pass, layer, span);

    return gamma ? gamma + shape_of(layer)->normact.steps * shape_of(layer)->normact.stride : NULL;
}

static void backward_prepare(struct pass *pass, const struct layer *layer)
{
    struct normact *normact = normact_of(pass, layer);

    zero_sums(pass, layer);
    if (pass->backward.statistics && normact->measured)
        pass->backend->normact_statistics_gradient(
            normact, pass->backward.statistics + shape_of(layer)->mean,
            pass->backward.statistics + shape_of(layer)->variance);
    normact->summed = false;
    if (!normact->batch)
        pass->backend->normact_backward_reduce(normact, NULL, NULL);
    normact->summed = layer->type->wants_sums(pass, layer, BACKWARD);
}

static void backward_sums(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->normact_backward_sums(
        normact_of(pass, layer), span->block, span->first, span->count,
        tensor_value(pass, layer->inputs[0], span->first),
        tensor_gradient(pass, layer->output, span), partial_gamma(pass, layer, span),
        partial_beta(pass, layer, span));
}

static float *gradient_or_null(const struct pass *pass, const struct layer *layer, size_t offset)
{
    return pass->backward.parameters && normalises(layer) ? pass->backward.parameters + offset
                                                          : NULL;
}

static void backward_reduce(struct pass *pass, const struct layer *layer)
{
    pass->backend->normact_backward_reduce(normact_of(pass, layer),
                                           gradient_or_null(pass, layer, shape_of(layer)->gamma),
                                           gradient_or_null(pass, layer, shape_of(layer)->beta));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->normact_backward(normact_of(pass, layer), span->first, span->count,
                                    tensor_value(pass, layer->inputs[0], span->first),
                                    tensor_gradient(pass, layer->output, span),
                                    input_gradient(pass, layer, 0, span));
    input_gradient_end(pass, layer, 0, span);
}

/* norm=layer: back into PyTorch's order. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    const struct normact_shape *shape = &shape_of(layer)->normact;
    const float *gamma = pass->partial + layer->gradient,
                *beta = gamma + shape->steps * shape->stride;

    if (shape->norm != NORM_LAYER || !pass->backward.parameters)
        return;
    pass->backend->transpose(1, shape->steps, shape->channels, gamma, 0, shape->stride,
                             pass->backward.parameters + shape_of(layer)->gamma, 0, shape->steps);
    pass->backend->transpose(1, shape->steps, shape->channels, beta, 0, shape->stride,
                             pass->backward.parameters + shape_of(layer)->beta, 0, shape->steps);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    const struct state *state = layer_state(pass, layer);
    const struct normact_shape *shape = &shape_of(layer)->normact;
    size_t bytes =
        shape->stride * (shape->norm == NORM_LAYER ? shape->steps : 1) * sizeof *state->gamma;

    zero_sums(pass, layer);
    if (normalises(layer) && pass->tangent.parameters) {
        pad_rows(pass, layer, pass->tangent.parameters + shape_of(layer)->gamma,
                 state->tangent_gamma);
        pad_rows(pass, layer, pass->tangent.parameters + shape_of(layer)->beta,
                 state->tangent_beta);
    } else if (normalises(layer)) {
        pass->backend->zero(state->tangent_gamma, bytes);
        pass->backend->zero(state->tangent_beta, bytes);
    }
    if (!layer->type->wants_sums(pass, layer, TANGENT_FORWARD))
        pass->backend->normact_tangent_reduce(normact_of(pass, layer));
}

static void tangent_sums(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->normact_tangent_sums(normact_of(pass, layer), span->block, span->first,
                                        span->count,
                                        tensor_value(pass, layer->inputs[0], span->first),
                                        tensor_tangent(pass, layer->inputs[0], span->first));
}

static void tangent_reduce(struct pass *pass, const struct layer *layer)
{
    pass->backend->normact_tangent_reduce(normact_of(pass, layer));
}

static void tangent_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->normact_tangent_forward(normact_of(pass, layer), span->first, span->count,
                                           tensor_value(pass, layer->inputs[0], span->first),
                                           tensor_tangent(pass, layer->inputs[0], span->first),
                                           tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_prepare(struct pass *pass, const struct layer *layer)
{
    struct normact *normact = normact_of(pass, layer);

    zero_sums(pass, layer);
    if (!normact->batch)
        pass->backend->normact_tangent_backward_reduce(normact, NULL, NULL);
}

static void tangent_backward_sums(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    pass->backend->normact_tangent_backward_sums(
        normact_of(pass, layer), span->block, span->first, span->count,
        tensor_value(pass, layer->inputs[0], span->first),
        tensor_tangent(pass, layer->inputs[0], span->first),
        tensor_gradient(pass, layer->output, span),
        tensor_tangent_gradient(pass, layer->output, span), partial_gamma(pass, layer, span),
        partial_beta(pass, layer, span));
}

static void tangent_backward_reduce(struct pass *pass, const struct layer *layer)
{
    pass->backend->normact_tangent_backward_reduce(
        normact_of(pass, layer), gradient_or_null(pass, layer, shape_of(layer)->gamma),
        gradient_or_null(pass, layer, shape_of(layer)->beta));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    pass->backend->normact_tangent_backward(normact_of(pass, layer), span->first, span->count,
                                            tensor_value(pass, layer->inputs[0], span->first),
                                            tensor_tangent(pass, layer->inputs[0], span->first),
                                            tensor_gradient(pass, layer->output, span),
                                            tensor_tangent_gradient(pass, layer->output, span),
                                            input_gradient_again(pass, layer, 0, span),
                                            input_tangent_gradient(pass, layer, 0, span));
    input_tangent_gradient_end(pass, layer, 0, span);
}

static bool wants_sums(const struct pass *pass, const struct layer *layer, enum phase phase)
{
    const struct normact *normact = normact_of(pass, layer);

    if (shape_of(layer)->normact.norm == NORM_NONE)
        return false;
    if (shape_of(layer)->normact.norm != NORM_BATCH)
        return true;
    if (phase == FORWARD)
        return normact->measured;
    if (phase == TANGENT_FORWARD)
        return normact->batch;
    return normact->batch || pass->backward.parameters;
}

/* Means over the batch must be complete; those of one sample are. */
static bool waits(const struct pass *pass, const struct layer *layer, enum phase phase)
{
    (void)phase;
    return normact_of(pass, layer)->batch;
}

static const struct layer_type type = {
    .name = "normact",
    .shape_bytes = sizeof(struct shape),
    .state_bytes = sizeof(struct state),
    .declare = declare,
    .initialise = initialise,
    .lay_out = lay_out,
    .phase = {[FORWARD] = {.prepare = forward_prepare,
                           .sums = forward_sums,
                           .reduce = forward_reduce,
                           .apply = forward_apply},
              [BACKWARD] = {.prepare = backward_prepare,
                            .sums = backward_sums,
                            .reduce = backward_reduce,
                            .apply = backward_apply,
                            .finish = store_gradient},
              [TANGENT_FORWARD] = {.prepare = tangent_prepare,
                                   .sums = tangent_sums,
                                   .reduce = tangent_reduce,
                                   .apply = tangent_apply},
              [TANGENT_BACKWARD] = {.prepare = tangent_backward_prepare,
                                    .sums = tangent_backward_sums,
                                    .reduce = tangent_backward_reduce,
                                    .apply = tangent_backward_apply,
                                    .finish = store_gradient}},
    .block_sums = block_sums,
    .wants_sums = wants_sums,
    .waits = waits,
    .statistics = statistics,
    .match = match,
    .needs_gradient = true,
    .repeats_gradient = true,
};

/* ---- Building ---- */

struct error *build_normact(struct network *network, const char *module, enum normalisation norm,
                            enum activation act, enum pooling pool, size_t input, size_t *output)
{
    const struct tensor in = network->tensors[input];
    struct tensor out = {.steps = pool == POOL_NONE ? in.steps : in.steps / 2,
                         .channels = in.channels,
                         .stride = in.stride};
    const size_t sizes[] = {in.channels, in.steps};
    size_t ndim = norm == NORM_LAYER ? 2 : 1;
    struct layer *layer;
    struct shape *shape;

    if (act == ACTIVATION_NONE && pool != POOL_NONE)
        return error_make("network: pooling by 2 without an activation is not implemented");
    if (in.stride % BACKEND_CHANNELS || in.stride > BACKEND_MOST_CHANNELS)
        return error_make("network: cannot normalise %zu channels in rows of %zu", in.channels,
                          in.stride);
    TRY(add_layer(network, &type, &out, &layer));
    add_input(network, layer, input, 0);
    shape = layer->shape;
    shape->normact = (struct normact_shape){.norm = norm,
                                            .act = act,
                                            .pool = pool,
                                            .steps = in.steps,
                                            .pooled = out.steps,
                                            .channels = in.channels,
                                            .stride = in.stride};
    *output = layer->output;
    if (norm == NORM_NONE)
        return NULL;
    TRY(add_parameter(network, module, "weight", ndim, sizes, &shape->gamma));
    TRY(add_parameter(network, module, "bias", ndim, sizes, &shape->beta));
    if (norm == NORM_BATCH) {
        TRY(add_buffer(network, module, "running_mean", in.channels, &shape->mean));
        TRY(add_buffer(network, module, "running_var", in.channels, &shape->variance));
    }
    return NULL;
}
