/* Normalisation, activation and pooling: one layer, because one sweep over memory does all three.
 * The work is in the backend; here is only which tensors it is done on. */
#include "nn/layer.h"

static struct stage *stage_of(struct pass *pass, const struct layer *layer)
{
    return &pass->stages[layer->state].stage;
}

static bool normalises(const struct layer *layer)
{
    return layer->stage.norm != NORM_NONE;
}

/* gamma or beta from PyTorch's order, (channels) or (channels, steps), into padded rows. */
static void pad_rows(const struct pass *pass, const struct layer *layer, const float *from,
                     float *to)
{
    const struct stage_shape *shape = &layer->stage;

    if (shape->norm == NORM_LAYER)
        pass->backend->transpose(1, shape->channels, shape->steps, from, 0, shape->steps, to, 0,
                                 shape->stride);
    else
        pass->backend->copy_rows(1, shape->channels, from, 0, to, 0);
}

static void forward_prepare(struct pass *pass, const struct layer *layer)
{
    const struct stage_memory *memory = &pass->stages[layer->state];
    struct stage *stage = stage_of(pass, layer);

    stage->samples = pass->forward.count;
    stage->blocks = pass->blocks;
    stage->batch = layer->stage.norm == NORM_BATCH && pass->forward.training;
    stage->measured = stage->batch || (layer->stage.norm == NORM_BATCH && pass->forward.statistics);
    if (stage->measured)
        pass->backend->zero(stage->moments, stage->blocks * STAGE_MOMENTS * layer->stage.stride *
                                                sizeof *stage->moments);
    if (normalises(layer) && !pass->forward.same_parameters) {
        pad_rows(pass, layer, pass->forward.parameters + layer->weight, memory->gamma);
        pad_rows(pass, layer, pass->forward.parameters + layer->bias, memory->beta);
    }
    /* Known before the first sample: running statistics, or none.  Measuring the batch besides, for
     * pass_match, then holds nothing up. */
    if (!stage->batch)
        pass->backend->stage_reduce(stage, pass->forward.buffers + layer->mean,
                                    pass->forward.buffers + layer->variance);
}

static void forward_reduce(struct pass *pass, const struct layer *layer)
{
    float *buffers = pass->forward.buffers;
    struct stage *stage = stage_of(pass, layer);

    pass->backend->stage_reduce(stage, buffers + layer->mean, buffers + layer->variance);
    if (stage->batch && pass->forward.momentum > 0)
        pass->backend->stage_update_running(stage, pass->forward.momentum, buffers + layer->mean,
                                            buffers + layer->variance);
}

static void forward_sums(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->stage_moments(stage_of(pass, layer), span->block, span->first, span->count,
                                 tensor_value(pass, layer->input, span->first));
}

static void forward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->stage_forward(stage_of(pass, layer), span->first, span->count,
                                 tensor_value(pass, layer->input, span->first),
                                 tensor_value(pass, layer->output, span->first));
}

/* The place of this layer's sums is shared by all phases. */
static void zero_sums(struct pass *pass, const struct layer *layer)
{
    struct stage *stage = stage_of(pass, layer);

    pass->backend->zero(stage->sums,
                        stage->blocks * STAGE_SUMS * layer->stage.stride * sizeof *stage->sums);
}

/* norm=layer: the partial gradients of gamma, then of beta, (steps, stride) each. */
static float *partial_gamma(const struct pass *pass, const struct layer *layer,
                            const struct span *span)
{
    return layer->stage.norm == NORM_LAYER ? partial_gradient(pass, layer, span) : NULL;
}

static float *partial_beta(const struct pass *pass, const struct layer *layer,
                           const struct span *span)
{
    float *gamma = partial_gamma(pass, layer, span);

    return gamma ? gamma + layer->stage.steps * layer->stage.stride : NULL;
}

static void backward_prepare(struct pass *pass, const struct layer *layer)
{
    struct stage *stage = stage_of(pass, layer);

    zero_sums(pass, layer);
    stage->summed = false;
    if (!stage->batch)
        pass->backend->stage_backward_reduce(stage, NULL, NULL);
    stage->summed = layer->type->wants_sums(pass, layer, BACKWARD);
}

static void backward_sums(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->stage_backward_sums(
        stage_of(pass, layer), span->block, span->first, span->count,
        tensor_value(pass, layer->input, span->first), tensor_gradient(pass, layer->output, span),
        partial_gamma(pass, layer, span), partial_beta(pass, layer, span));
}

static float *gradient_or_null(const struct pass *pass, const struct layer *layer, size_t offset)
{
    return pass->backward.parameters && normalises(layer) ? pass->backward.parameters + offset
                                                          : NULL;
}

static void backward_reduce(struct pass *pass, const struct layer *layer)
{
    pass->backend->stage_backward_reduce(stage_of(pass, layer),
                                         gradient_or_null(pass, layer, layer->weight),
                                         gradient_or_null(pass, layer, layer->bias));
}

static void backward_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->stage_backward(stage_of(pass, layer), span->first, span->count,
                                  tensor_value(pass, layer->input, span->first),
                                  tensor_gradient(pass, layer->output, span),
                                  tensor_gradient(pass, layer->input, span));
}

/* norm=layer: back into PyTorch's order. */
static void store_gradient(struct pass *pass, const struct layer *layer)
{
    const struct stage_shape *shape = &layer->stage;
    const float *gamma = pass->partial + layer->gradient,
                *beta = gamma + shape->steps * shape->stride;

    if (shape->norm != NORM_LAYER || !pass->backward.parameters)
        return;
    pass->backend->transpose(1, shape->steps, shape->channels, gamma, 0, shape->stride,
                             pass->backward.parameters + layer->weight, 0, shape->steps);
    pass->backend->transpose(1, shape->steps, shape->channels, beta, 0, shape->stride,
                             pass->backward.parameters + layer->bias, 0, shape->steps);
}

static void tangent_prepare(struct pass *pass, const struct layer *layer)
{
    const struct stage_memory *memory = &pass->stages[layer->state];
    const struct stage_shape *shape = &layer->stage;
    size_t bytes =
        shape->stride * (shape->norm == NORM_LAYER ? shape->steps : 1) * sizeof *memory->gamma;

    zero_sums(pass, layer);
    if (normalises(layer) && pass->tangent.parameters) {
        pad_rows(pass, layer, pass->tangent.parameters + layer->weight, memory->tangent_gamma);
        pad_rows(pass, layer, pass->tangent.parameters + layer->bias, memory->tangent_beta);
    } else if (normalises(layer)) {
        pass->backend->zero(memory->tangent_gamma, bytes);
        pass->backend->zero(memory->tangent_beta, bytes);
    }
    if (!layer->type->wants_sums(pass, layer, TANGENT_FORWARD))
        pass->backend->stage_tangent_reduce(stage_of(pass, layer));
}

static void tangent_sums(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->stage_tangent_sums(stage_of(pass, layer), span->block, span->first, span->count,
                                      tensor_value(pass, layer->input, span->first),
                                      tensor_tangent(pass, layer->input, span->first));
}

static void tangent_reduce(struct pass *pass, const struct layer *layer)
{
    pass->backend->stage_tangent_reduce(stage_of(pass, layer));
}

static void tangent_apply(struct pass *pass, const struct layer *layer, const struct span *span)
{
    pass->backend->stage_tangent_forward(stage_of(pass, layer), span->first, span->count,
                                         tensor_value(pass, layer->input, span->first),
                                         tensor_tangent(pass, layer->input, span->first),
                                         tensor_tangent(pass, layer->output, span->first));
}

static void tangent_backward_prepare(struct pass *pass, const struct layer *layer)
{
    struct stage *stage = stage_of(pass, layer);

    zero_sums(pass, layer);
    if (!stage->batch)
        pass->backend->stage_tangent_backward_reduce(stage, NULL, NULL);
}

static void tangent_backward_sums(struct pass *pass, const struct layer *layer,
                                  const struct span *span)
{
    pass->backend->stage_tangent_backward_sums(
        stage_of(pass, layer), span->block, span->first, span->count,
        tensor_value(pass, layer->input, span->first),
        tensor_tangent(pass, layer->input, span->first), tensor_gradient(pass, layer->output, span),
        tensor_tangent_gradient(pass, layer->output, span), partial_gamma(pass, layer, span),
        partial_beta(pass, layer, span));
}

static void tangent_backward_reduce(struct pass *pass, const struct layer *layer)
{
    pass->backend->stage_tangent_backward_reduce(stage_of(pass, layer),
                                                 gradient_or_null(pass, layer, layer->weight),
                                                 gradient_or_null(pass, layer, layer->bias));
}

static void tangent_backward_apply(struct pass *pass, const struct layer *layer,
                                   const struct span *span)
{
    pass->backend->stage_tangent_backward(stage_of(pass, layer), span->first, span->count,
                                          tensor_value(pass, layer->input, span->first),
                                          tensor_tangent(pass, layer->input, span->first),
                                          tensor_gradient(pass, layer->output, span),
                                          tensor_tangent_gradient(pass, layer->output, span),
                                          tensor_gradient(pass, layer->input, span),
                                          tensor_tangent_gradient(pass, layer->input, span));
}

static bool wants_sums(const struct pass *pass, const struct layer *layer, enum phase phase)
{
    const struct stage *stage = &pass->stages[layer->state].stage;

    if (layer->stage.norm == NORM_NONE)
        return false;
    if (layer->stage.norm != NORM_BATCH)
        return true;
    if (phase == FORWARD)
        return stage->measured;
    if (phase == TANGENT_FORWARD)
        return stage->batch;
    return stage->batch || pass->backward.parameters;
}

/* Means over the batch must be complete; those of one sample are. */
static bool waits(const struct pass *pass, const struct layer *layer, enum phase phase)
{
    (void)phase;
    return pass->stages[layer->state].stage.batch;
}

const struct layer_type layer_stage = {
    .name = "stage",
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
    .wants_sums = wants_sums,
    .waits = waits,
};
