/* Builds the graph of an architecture and gives every value its name and place. */
#include "nn/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/layer.h"

/* ---- Adding to a graph ---- */

/* Room for one more: arrays grow when their count is a power of two. */
static struct error *grow(void **array, size_t count, size_t size)
{
    void *larger;

    if (count & (count - 1))
        return NULL;
    larger = realloc(*array, (count ? 2 * count : 1) * size);
    if (!larger)
        return error_memory("a network");
    *array = larger;
    return NULL;
}

static struct error *add_view(struct network_view **views, size_t *count, size_t *floats,
                              const char *module, const char *name, size_t ndim,
                              const size_t *shape, size_t *offset)
{
    void *array = *views;
    struct error *error = grow(&array, *count, sizeof **views);
    struct network_view *view;

    *views = array;
    if (error)
        return error;
    view = &(*views)[(*count)++];
    *view = (struct network_view){.ndim = ndim, .count = 1, .offset = *floats};
    snprintf(view->name, sizeof view->name, "%s.%s", module, name);
    for (size_t i = 0; i < ndim; i++) {
        view->shape[i] = shape[i];
        view->count *= shape[i];
    }
    *offset = *floats;
    *floats += view->count;
    return NULL;
}

struct error *add_parameter(struct network *network, const char *module, const char *name,
                            size_t ndim, const size_t *shape, size_t *offset)
{
    return add_view(&network->parameters, &network->parameter_views, &network->parameter_count,
                    module, name, ndim, shape, offset);
}

struct error *add_buffer(struct network *network, const char *module, const char *name,
                         size_t channels, size_t *offset)
{
    return add_view(&network->buffers, &network->buffer_views, &network->buffer_count, module, name,
                    1, &channels, offset);
}

struct error *add_layer(struct network *network, const struct layer_type *type,
                        const struct tensor *output, struct layer **result)
{
    void *layers = network->layers, *tensors = network->tensors;
    struct error *error = grow(&layers, network->layer_count, sizeof *network->layers);
    struct layer *layer;

    network->layers = layers;
    if (!error)
        error = grow(&tensors, network->tensor_count, sizeof *network->tensors);
    network->tensors = tensors;
    if (error)
        return error;
    layer = &network->layers[network->layer_count];
    *layer = (struct layer){
        .type = type, .number = network->layer_count, .output = network->tensor_count};
    layer->shape = calloc(1, type->shape_bytes ? type->shape_bytes : 1);
    if (!layer->shape)
        return error_memory("a network");
    network->tensors[network->tensor_count++] = *output;
    network->layer_count++;
    *result = layer;
    return NULL;
}

void add_input(struct network *network, struct layer *layer, size_t tensor, size_t halo)
{
    struct tensor *input = &network->tensors[tensor];

    layer->inputs[layer->input_count++] = tensor;
    input->halo = halo > input->halo ? halo : input->halo;
}

struct error *build_end(struct network *network, enum pooling pool, size_t encoder)
{
    if (pool != POOL_NONE)
        TRY(build_pool(network, pool, encoder, &encoder));
    return build_classifier(network, encoder);
}

struct error *build_classifier(struct network *network, size_t encoder)
{
    TRY(build_flatten(network, encoder, &network->embedding_tensor));
    network->embedding = network->tensors[network->embedding_tensor].channels;
    return build_linear(network, "classifier", network->embedding_tensor,
                        network->architecture.classes, &network->logits_tensor);
}

/* ---- The complete graph ---- */

/* Gradients are written by the first reader on the way back and added to by the others. */
static void count_readers(struct network *network)
{
    for (size_t i = network->layer_count; i-- > 0;) {
        struct layer *layer = &network->layers[i];

        for (size_t k = 0; k < layer->input_count; k++) {
            struct tensor *tensor = &network->tensors[layer->inputs[k]];

            layer->adds[k] = tensor->readers++ > 0;
            if (tensor->series && !layer->type->knows_fixed_series)
                tensor->wants_zeros = true;
        }
    }
    for (size_t i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];

        for (size_t k = 0; k < layer->input_count; k++) {
            const struct tensor *tensor = &network->tensors[layer->inputs[k]];
            size_t floats = tensor_gradient_sample(tensor);

            if (tensor->readers > 1 && !layer->type->can_add && floats > network->scratch_floats)
                network->scratch_floats = floats;
        }
    }
}

/* Whether the gradient of a layer's output is needed only while its samples are in the cache: no
 * reader writes that of the whole batch, no layer from the last reader down to this one waits for
 * the whole batch in between, and the tangents either do not need it or compute it again. */
static bool output_is_local(const struct network *network, const struct layer *layer)
{
    const struct tensor *tensor = &network->tensors[layer->output];
    size_t last = layer->number;
    bool repeated = tensor->readers == 1;

    for (size_t i = layer->number + 1; i < network->layer_count; i++)
        for (size_t k = 0; k < network->layers[i].input_count; k++)
            if (network->layers[i].inputs[k] == layer->output) {
                if (network->layers[i].type->at_once)
                    return false;
                last = i;
                repeated = repeated && network->layers[i].type->repeats_gradient;
            }
    for (size_t i = layer->number; i < last; i++)
        if (network->layers[i].type->waits)
            return false;
    return tensor->readers > 0 && (repeated || !layer->type->needs_gradient);
}

/* Sizes that overflow an array of floats, long before that of size_t, are no networks. */
static struct error *check_size(const struct network *network)
{
    double values = (double)network->parameter_count;

    for (size_t i = 0; i < network->tensor_count; i++)
        values += (double)network->tensors[i].steps * (double)network->tensors[i].channels;
    if (values > 1e9)
        return error_make("network: %.0f million values are too many", values / 1e6);
    return NULL;
}

static struct error *build(struct network *network)
{
    TRY(network->architecture.family->build(network));
    TRY(check_size(network));
    count_readers(network);
    for (size_t i = 0; i < network->layer_count; i++) {
        struct layer *layer = &network->layers[i];

        network->tensors[layer->output].local = output_is_local(network, layer);
        if (layer->type->declare)
            layer->type->declare(network, layer);
        layer->gradient = network->gradient_floats;
        network->gradient_floats += backend_stride(layer->gradient_floats);
    }
    return NULL;
}

struct error *network_new(const struct architecture *architecture, const struct backend *backend,
                          struct network **result)
{
    struct network *network;
    struct error *error;

    TRY(architecture_check(architecture));
    network = calloc(1, sizeof *network);
    if (!network)
        return error_memory("a network");
    network->architecture = *architecture;
    network->backend = backend;
    error = build(network);
    if (error) {
        network_free(network);
        return error;
    }
    *result = network;
    return NULL;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    for (size_t i = 0; i < network->layer_count; i++)
        free(network->layers[i].shape);
    free(network->layers);
    free(network->tensors);
    free(network->parameters);
    free(network->buffers);
    free(network);
}

/* ---- First values ---- */

struct filler {
    const struct backend *backend;
    struct random_stream stream;
    float values[256];
};

static void fill(struct filler *filler, float *values, size_t count, double bound, float constant)
{
    enum { ROOM = sizeof filler->values / sizeof *filler->values };

    for (size_t first = 0; first < count; first += ROOM) {
        size_t some = count - first < ROOM ? count - first : ROOM;

        for (size_t i = 0; i < some; i++)
            filler->values[i] =
                bound > 0 ? (float)((2 * random_uniform(&filler->stream) - 1) * bound) : constant;
        filler->backend->upload(values + first, filler->values, some * sizeof *values);
    }
}

void fill_uniform(struct filler *filler, float *values, size_t count, double bound)
{
    fill(filler, values, count, bound, 0);
}

void fill_constant(struct filler *filler, float *values, size_t count, float value)
{
    fill(filler, values, count, 0, value);
}

void network_initialise(const struct network *network, uint64_t seed, uint64_t index,
                        float *parameters, float *buffers)
{
    struct filler filler = {.backend = network->backend,
                            .stream = random_stream(seed, RANDOM_INITIALISE, index)};

    for (size_t i = 0; i < network->layer_count; i++)
        if (network->layers[i].type->initialise)
            network->layers[i].type->initialise(&network->layers[i], &filler, parameters, buffers);
}

/* ---- Lookup ---- */

bool network_statistics(const struct network *network, size_t i,
                        struct network_statistics *statistics)
{
    for (size_t k = 0; k < network->layer_count; k++) {
        const struct layer *layer = &network->layers[k];

        if (layer->type->statistics && layer->type->statistics(layer, statistics) && i-- == 0)
            return true;
    }
    return false;
}

const struct network_view *network_find(const struct network *network, const char *name,
                                        bool *in_buffers)
{
    for (size_t i = 0; i < network->parameter_views; i++)
        if (strcmp(network->parameters[i].name, name) == 0) {
            *in_buffers = false;
            return &network->parameters[i];
        }
    for (size_t i = 0; i < network->buffer_views; i++)
        if (strcmp(network->buffers[i].name, name) == 0) {
            *in_buffers = true;
            return &network->buffers[i];
        }
    return NULL;
}
