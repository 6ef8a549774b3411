/* Builds the list of layers of an architecture and gives every value its name and place. */
#include "nn/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nn/layer.h"

static size_t round_up(size_t channels)
{
    return (channels + BACKEND_CHANNELS - 1) / BACKEND_CHANNELS * BACKEND_CHANNELS;
}

/* Adds a view; returns its offset.  There is room: network_new counted. */
static size_t add_view(struct network_view *views, size_t *count, size_t *floats, const char *name,
                       size_t ndim, const size_t *shape)
{
    struct network_view *view = &views[(*count)++];

    snprintf(view->name, sizeof view->name, "%s", name);
    view->ndim = ndim;
    view->count = 1;
    for (size_t i = 0; i < ndim; i++) {
        view->shape[i] = shape[i];
        view->count *= shape[i];
    }
    view->offset = *floats;
    *floats += view->count;
    return view->offset;
}

static size_t add_parameter(struct network *network, const char *module, const char *name,
                            size_t ndim, const size_t *shape)
{
    char full[sizeof network->parameters->name];

    snprintf(full, sizeof full, "%s.%s", module, name);
    return add_view(network->parameters, &network->parameter_views, &network->parameter_count, full,
                    ndim, shape);
}

static size_t add_buffer(struct network *network, const char *module, const char *name,
                         size_t channels)
{
    char full[sizeof network->buffers->name];

    snprintf(full, sizeof full, "%s.%s", module, name);
    return add_view(network->buffers, &network->buffer_views, &network->buffer_count, full, 1,
                    &channels);
}

static size_t add_tensor(struct network *network, struct tensor tensor)
{
    network->tensors[network->tensor_count] = tensor;
    return network->tensor_count++;
}

/* kernel 0: a linear layer. */
static void add_conv1d(struct network *network, const char *module, size_t kernel, size_t input,
                       size_t output)
{
    const struct tensor *in = &network->tensors[input], *out = &network->tensors[output];
    size_t shape[] = {out->channels, in->channels, kernel}, ndim = kernel ? 3 : 2;
    struct layer *layer = &network->layers[network->layer_count++];

    *layer = (struct layer){.type = &layer_conv1d, .input = input, .output = output};
    layer->weight = add_parameter(network, module, "weight", ndim, shape);
    layer->bias = add_parameter(network, module, "bias", 1, shape);
    layer->conv = (struct conv1d_shape){.steps = out->steps,
                                        .kernel = kernel ? kernel : 1,
                                        .inputs = in->channels,
                                        .outputs = out->channels,
                                        .input_stride = in->stride,
                                        .output_stride = out->stride,
                                        .input_sample = tensor_sample(in),
                                        .output_sample = tensor_sample(out),
                                        .input_gradient_sample = tensor_gradient_sample(in),
                                        .output_gradient_sample = tensor_gradient_sample(out)};
    network->work += out->steps * out->channels * in->channels * layer->conv.kernel;
}

/* module: the name of the normalisation. */
static void add_stage(struct network *network, const char *module, size_t input, size_t output)
{
    const struct architecture *architecture = &network->architecture;
    const struct tensor *in = &network->tensors[input], *out = &network->tensors[output];
    size_t shape[] = {in->channels, in->steps};
    size_t ndim = architecture->norm == NORM_LAYER ? 2 : 1;
    struct layer *layer = &network->layers[network->layer_count++];

    *layer = (struct layer){.type = &layer_stage, .input = input, .output = output};
    layer->stage = (struct stage_shape){.norm = architecture->norm,
                                        .act = architecture->act,
                                        .pool = architecture->pool,
                                        .steps = in->steps,
                                        .pooled = out->steps,
                                        .channels = in->channels,
                                        .stride = in->stride,
                                        .input_sample = tensor_sample(in),
                                        .input_gradient_sample = tensor_gradient_sample(in),
                                        .output_sample = tensor_sample(out),
                                        .output_gradient_sample = tensor_gradient_sample(out)};
    if (architecture->norm == NORM_NONE)
        return;
    layer->weight = add_parameter(network, module, "weight", ndim, shape);
    layer->bias = add_parameter(network, module, "bias", ndim, shape);
    if (architecture->norm == NORM_BATCH) {
        layer->mean = add_buffer(network, module, "running_mean", in->channels);
        layer->variance = add_buffer(network, module, "running_var", in->channels);
    }
}

/* The blocks.  PyTorch numbers the modules of a Sequential: convolution, normalisation (unless
 * none), activation, pooling (unless none).  Returns the tensor that the encoder ends in. */
static size_t build_encoder(struct network *network)
{
    const struct architecture *a = &network->architecture;
    size_t halo = (a->kernel - 1) / 2, module = 0;
    size_t current = add_tensor(network, (struct tensor){.steps = a->length,
                                                         .channels = a->channels,
                                                         .stride = a->channels,
                                                         .halo = halo,
                                                         .series = true,
                                                         .local = true});

    network->layers[network->layer_count++] =
        (struct layer){.type = &layer_import, .output = current};
    for (size_t block = 0; block < a->depth; block++) {
        struct tensor wide = {.steps = architecture_steps(a, block),
                              .channels = a->width,
                              .stride = round_up(a->width),
                              .gradient_halo = halo,
                              .local = true};
        struct tensor pooled = {.steps = architecture_steps(a, block + 1),
                                .channels = a->width,
                                .stride = round_up(a->width),
                                .halo = block + 1 < a->depth ? halo : 0};
        size_t middle = add_tensor(network, wide), end = add_tensor(network, pooled);
        char name[32];

        snprintf(name, sizeof name, "features.%zu", module++);
        add_conv1d(network, name, a->kernel, current, middle);
        if (a->norm != NORM_NONE)
            snprintf(name, sizeof name, "features.%zu", module++);
        add_stage(network, name, middle, end);
        module += a->pool == POOL_NONE ? 1 : 2;
        current = end;
    }
    return current;
}

static void build(struct network *network)
{
    const struct architecture *a = &network->architecture;
    size_t encoder = build_encoder(network), embedding, logits;
    struct tensor flat = {
        .steps = 1, .channels = network->embedding, .stride = network->embedding, .local = true};
    struct tensor out = {.steps = 1, .channels = a->classes, .stride = a->classes};

    embedding = add_tensor(network, flat);
    network->layers[network->layer_count++] =
        (struct layer){.type = &layer_flatten, .input = encoder, .output = embedding};
    logits = add_tensor(network, out);
    add_conv1d(network, "classifier", 0, embedding, logits);
}

/* Numbers the layers of each type and lays out a block's partial gradients. */
static void number_layers(struct network *network)
{
    size_t convs = 0, stages = 0, floats = 0;

    for (size_t i = 0; i < network->layer_count; i++) {
        struct layer *layer = &network->layers[i];

        layer->gradient = floats;
        if (layer->type == &layer_conv1d) {
            layer->state = convs++;
            floats += round_up(network->backend->conv1d_gradient(&layer->conv));
        } else if (layer->type == &layer_stage) {
            layer->state = stages++;
            if (layer->stage.norm == NORM_LAYER)
                floats += 2 * layer->stage.steps * layer->stage.stride;
        }
    }
    network->gradient_floats = floats;
}

/* Sizes that overflow an array of floats, long before that of size_t, are no networks. */
static struct error *check_size(const struct architecture *a)
{
    double width = (double)a->width, values;

    values = (double)architecture_embedding(a) * (double)a->classes +
             (double)a->depth * width * (width + (double)a->channels) * (double)a->kernel +
             (double)a->length * (width + (double)a->channels);
    if (values > 1e9)
        return error_make("network: %.0f million values are too many", values / 1e6);
    return NULL;
}

struct error *network_new(const struct architecture *architecture, const struct backend *backend,
                          struct network **result)
{
    struct network *network;
    size_t layers = 2 * architecture->depth + 3, views = 4 * architecture->depth + 2;

    TRY(architecture_check(architecture));
    TRY(check_size(architecture));
    network = calloc(1, sizeof *network);
    if (network) {
        network->architecture = *architecture;
        network->backend = backend;
        network->embedding = architecture_embedding(architecture);
        network->layers = calloc(layers, sizeof *network->layers);
        network->tensors = calloc(layers, sizeof *network->tensors);
        network->parameters = calloc(views, sizeof *network->parameters);
        network->buffers = calloc(views, sizeof *network->buffers);
    }
    if (!network || !network->layers || !network->tensors || !network->parameters ||
        !network->buffers) {
        network_free(network);
        return error_memory("a network");
    }
    build(network);
    number_layers(network);
    *result = network;
    return NULL;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    free(network->layers);
    free(network->tensors);
    free(network->parameters);
    free(network->buffers);
    free(network);
}

/* Values on their way into a flat array of the backend. */
struct filler {
    const struct backend *backend;
    struct random_stream stream;
    float values[256];
};

/* Uniform within `bound` around `centre`; drawn only where there is a bound. */
static void fill(struct filler *filler, float *values, size_t count, double centre, double bound)
{
    enum { ROOM = sizeof filler->values / sizeof *filler->values };

    for (size_t first = 0; first < count; first += ROOM) {
        size_t some = count - first < ROOM ? count - first : ROOM;

        for (size_t i = 0; i < some; i++)
            filler->values[i] =
                (float)(bound > 0 ? (2 * random_uniform(&filler->stream) - 1) * bound : centre);
        filler->backend->upload(values + first, filler->values, some * sizeof *values);
    }
}

void network_initialise(const struct network *network, uint64_t seed, uint64_t index,
                        float *parameters, float *buffers)
{
    struct filler filler = {.backend = network->backend,
                            .stream = random_stream(seed, RANDOM_INITIALISE, index)};

    for (size_t i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        const struct stage_shape *stage = &layer->stage;

        if (layer->type == &layer_conv1d) {
            size_t fan_in = layer->conv.inputs * layer->conv.kernel;
            double bound = 1.0 / sqrt((double)fan_in);

            fill(&filler, parameters + layer->weight, layer->conv.outputs * fan_in, 0, bound);
            fill(&filler, parameters + layer->bias, layer->conv.outputs, 0, bound);
        } else if (layer->type == &layer_stage && stage->norm != NORM_NONE) {
            size_t count = stage->channels * (stage->norm == NORM_LAYER ? stage->steps : 1);

            fill(&filler, parameters + layer->weight, count, 1, 0);
            fill(&filler, parameters + layer->bias, count, 0, 0);
            if (stage->norm == NORM_BATCH) {
                fill(&filler, buffers + layer->mean, stage->channels, 0, 0);
                fill(&filler, buffers + layer->variance, stage->channels, 1, 0);
            }
        }
    }
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
