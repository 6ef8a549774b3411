/* The two ends of the encoder: series come in as (N, C, L) and are turned into the inner layout;
 * its result is flattened as PyTorch does, channel after channel, with the shapelet features in
 * front. */
#include "nn/layer.h"

/* ---- Import ---- */

static void import_series(const struct pass *pass, const struct layer *layer,
                          const struct span *span, const float *series, float *inner)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];
    size_t size = tensor->channels * tensor->steps;

    pass->backend->transpose(span->count, tensor->channels, tensor->steps,
                             series + span->first * size, size, tensor->steps, inner,
                             tensor_sample(tensor), tensor->stride);
}

static void export_series(const struct pass *pass, const struct layer *layer,
                          const struct span *span, const float *inner, float *series)
{
    const struct tensor *tensor = &pass->network->tensors[layer->output];
    size_t size = tensor->channels * tensor->steps;

    pass->backend->transpose(span->count, tensor->steps, tensor->channels, inner,
                             tensor_gradient_sample(tensor), tensor->stride,
                             series + span->first * size, size, tensor->steps);
}

static void import_forward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    import_series(pass, layer, span, pass->forward.x,
                  tensor_value(pass, layer->output, span->first));
}

static void import_backward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    if (pass->backward.x)
        export_series(pass, layer, span, tensor_gradient(pass, layer->output, span),
                      pass->backward.x);
}

static void import_tangent(struct pass *pass, const struct layer *layer, const struct span *span)
{
    if (pass->tangent.x)
        import_series(pass, layer, span, pass->tangent.x,
                      tensor_tangent(pass, layer->output, span->first));
}

static void import_tangent_backward(struct pass *pass, const struct layer *layer,
                                    const struct span *span)
{
    if (pass->backward.x)
        export_series(pass, layer, span, tensor_tangent_gradient(pass, layer->output, span),
                      pass->backward.x);
}

const struct layer_type layer_import = {
    .name = "import",
    .phase = {[FORWARD] = {.apply = import_forward},
              [BACKWARD] = {.apply = import_backward},
              [TANGENT_FORWARD] = {.apply = import_tangent},
              [TANGENT_BACKWARD] = {.apply = import_tangent_backward}},
};

/* ---- Flatten ---- */

/* features NULL: zeros. */
static void flatten(const struct pass *pass, const struct layer *layer, const struct span *span,
                    const float *inner, const float *features, float *out)
{
    const struct tensor *from = &pass->network->tensors[layer->input];
    size_t columns = pass->network->architecture.features, width = pass->network->embedding;

    if (columns && features)
        pass->backend->copy_rows(span->count, columns, features + span->first * columns, columns,
                                 out, width);
    else if (columns)
        for (size_t n = 0; n < span->count; n++)
            pass->backend->zero(out + n * width, columns * sizeof *out);
    pass->backend->transpose(span->count, from->steps, from->channels, inner, tensor_sample(from),
                             from->stride, out + columns, width, from->steps);
}

/* more: a gradient that the caller has for the embedding, or NULL. */
static void unflatten(const struct pass *pass, const struct layer *layer, const struct span *span,
                      const float *more, float *dout, float *inner)
{
    const struct tensor *to = &pass->network->tensors[layer->input];
    size_t columns = pass->network->architecture.features, width = pass->network->embedding;

    if (more)
        pass->backend->add_rows(span->count, width, more + span->first * width, width, dout, width);
    if (columns && pass->backward.features)
        pass->backend->copy_rows(span->count, columns, dout, width,
                                 pass->backward.features + span->first * columns, columns);
    pass->backend->transpose(span->count, to->channels, to->steps, dout + columns, width, to->steps,
                             inner, tensor_gradient_sample(to), to->stride);
}

static void flatten_forward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    flatten(pass, layer, span, tensor_value(pass, layer->input, span->first),
            pass->forward.features, tensor_value(pass, layer->output, span->first));
}

static void flatten_backward(struct pass *pass, const struct layer *layer, const struct span *span)
{
    unflatten(pass, layer, span, pass->backward.embedding,
              tensor_gradient(pass, layer->output, span),
              tensor_gradient(pass, layer->input, span));
}

static void flatten_tangent(struct pass *pass, const struct layer *layer, const struct span *span)
{
    flatten(pass, layer, span, tensor_tangent(pass, layer->input, span->first),
            pass->tangent.features, tensor_tangent(pass, layer->output, span->first));
}

static void flatten_tangent_backward(struct pass *pass, const struct layer *layer,
                                     const struct span *span)
{
    unflatten(pass, layer, span, pass->backward.embedding,
              tensor_tangent_gradient(pass, layer->output, span),
              tensor_tangent_gradient(pass, layer->input, span));
}

const struct layer_type layer_flatten = {
    .name = "flatten",
    .phase = {[FORWARD] = {.apply = flatten_forward},
              [BACKWARD] = {.apply = flatten_backward},
              [TANGENT_FORWARD] = {.apply = flatten_tangent},
              [TANGENT_BACKWARD] = {.apply = flatten_tangent_backward}},
};
