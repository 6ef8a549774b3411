/* The memory of a pass: where the values, gradients and tangents of all tensors are, and what the
 * layers keep.  Everything is laid out twice, first to measure and then to give it its place. */
#include "nn/pass.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/size.h"
#include "nn/layer.h"

enum { CHUNK_FLOATS = 32 * 1024, GRADIENT_ROWS = 64 };

/* ---- Layout ---- */

/* Hands out consecutive pieces of an array; without one it only counts. */
struct carver {
    float *base;
    size_t used;
};

static float *carve(struct carver *carver, size_t floats)
{
    size_t at = carver->used;

    carver->used += (floats + BACKEND_CHANNELS - 1) / BACKEND_CHANNELS * BACKEND_CHANNELS;
    return carver->base ? carver->base + at : NULL;
}

struct layout {
    struct carver arena, local;
    double *sums;
    size_t doubles; /* of them given away */
};

float *layout_floats(struct layout *layout, size_t floats)
{
    return carve(&layout->arena, floats);
}

double *layout_doubles(struct layout *layout, size_t doubles)
{
    size_t at = layout->doubles;

    layout->doubles += doubles;
    return layout->sums ? layout->sums + at : NULL;
}

/* An array of samples with halos, pointing to the first real step. */
static float *carve_tensor(struct carver *carver, const struct tensor *tensor, size_t count,
                           bool gradient)
{
    size_t sample = gradient ? tensor_gradient_sample(tensor) : tensor_sample(tensor);
    size_t halo = (gradient ? tensor->gradient_halo : tensor->halo) * tensor->stride;
    float *memory = carve(carver, count * sample);

    return memory ? memory + halo : NULL;
}

static void lay_out_tensors(struct pass *pass, struct layout *layout)
{
    size_t scratch = pass->chunk * pass->network->scratch_floats;

    for (size_t i = 0; i < pass->network->tensor_count; i++) {
        const struct tensor *tensor = &pass->network->tensors[i];
        struct tensor_memory *memory = &pass->tensors[i];
        struct carver *arena = &layout->arena, *gradients = tensor->local ? &layout->local : arena;
        size_t count = tensor->local ? pass->chunk : pass->most_samples;

        memory->value = carve_tensor(arena, tensor, pass->most_samples, false);
        if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
            memory->gradient = carve_tensor(gradients, tensor, count, true);
        if (pass->flags & PASS_TANGENT) {
            memory->tangent = carve_tensor(arena, tensor, pass->most_samples, false);
            memory->tangent_gradient = carve_tensor(gradients, tensor, count, true);
        }
    }
    if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
        pass->scratch = carve(&layout->local, scratch);
    if (pass->flags & PASS_TANGENT)
        pass->tangent_scratch = carve(&layout->local, scratch);
}

/* Gives everything its place, or, without memory, finds out how much is needed. */
static void lay_out(struct pass *pass)
{
    const struct network *network = pass->network;
    struct layout layout = {{pass->arena, 0}, {pass->local, 0}, pass->sums, PASS_VALUES};

    lay_out_tensors(pass, &layout);
    for (size_t i = 0; i < network->layer_count; i++)
        if (network->layers[i].type->lay_out)
            network->layers[i].type->lay_out(pass, &network->layers[i], &layout);
    if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
        pass->partial = layout_floats(&layout, pass->most_blocks * network->gradient_floats);
    pass->arena_floats = layout.arena.used;
    pass->local_floats = layout.local.used;
    pass->sums_count = layout.doubles;
}

/* Samples of a chunk, by the largest activation and by what layers process best together; or, where
 * the weights exceed the cache, enough that their gradients are loaded only once for some rows. */
static size_t chunk_samples(const struct pass *pass)
{
    const struct network *network = pass->network;
    size_t largest = 1, chunk;

    if (pass->backend->whole_batch)
        return pass->most_samples;
    for (size_t i = 0; i < network->tensor_count; i++)
        largest = size_max(largest, tensor_sample(&network->tensors[i]));
    chunk = CHUNK_FLOATS / largest;
    for (size_t i = 0; i < network->layer_count; i++)
        chunk = size_max(chunk, network->layers[i].type->together);
    if (network->gradient_floats > PASS_LARGE_GRADIENT)
        chunk = size_max(chunk, GRADIENT_ROWS * network->gradient_floats / network->work);
    return size_max(size_min(chunk, pass->most_samples), 1);
}

/* ---- Making and freeing ---- */

static struct error *allocate(struct pass *pass)
{
    const struct network *network = pass->network;
    const struct backend *backend = pass->backend;

    pass->tensors = calloc(network->tensor_count, sizeof *pass->tensors);
    pass->states = calloc(network->layer_count, sizeof *pass->states);
    pass->steps = calloc(network->layer_count, 2 * sizeof *pass->steps);
    if (!pass->tensors || !pass->states || !pass->steps)
        return error_memory("a pass");
    for (size_t i = 0; i < network->layer_count; i++) {
        size_t bytes = network->layers[i].type->state_bytes;

        pass->states[i] = calloc(1, bytes ? bytes : 1);
        if (!pass->states[i])
            return error_memory("a pass");
    }
    lay_out(pass);
    pass->arena = backend->allocate(pass->arena_floats * sizeof *pass->arena);
    pass->local = backend->allocate(pass->workers * pass->local_floats * sizeof *pass->local);
    pass->sums = backend->allocate(pass->sums_count * sizeof *pass->sums);
    if (!pass->arena || !pass->local || !pass->sums)
        return error_make("not enough memory for a pass of %zu series: %zu MB", pass->most_samples,
                          pass_bytes(pass) >> 20);
    lay_out(pass);
    return NULL;
}

struct error *pass_new(const struct network *network, size_t most_samples, unsigned flags,
                       struct pass **result)
{
    struct pass *pass;
    struct error *error;

    if (most_samples == 0 || most_samples > SIZE_MAX / 64 / sizeof(float) / (network->work + 1))
        return error_make("network: cannot run batches of %zu series", most_samples);
    pass = calloc(1, sizeof *pass);
    if (!pass)
        return error_memory("a pass");
    pass->network = network;
    pass->backend = network->backend;
    pass->flags = flags;
    pass->most_samples = most_samples;
    pass->workers = pass->backend->workers();
    pass->chunk = chunk_samples(pass);
    /* Smaller batches can have more blocks than the largest. */
    pass->most_blocks = pass->backend->whole_batch ? 1 : size_min(PASS_MOST_BLOCKS, most_samples);
    error = allocate(pass);
    if (error) {
        pass_free(pass);
        return error;
    }
    *result = pass;
    return NULL;
}

void pass_free(struct pass *pass)
{
    if (!pass)
        return;
    pass->backend->release(pass->arena);
    pass->backend->release(pass->local);
    pass->backend->release(pass->sums);
    free(pass->tensors);
    for (size_t i = 0; pass->states && i < pass->network->layer_count; i++)
        free(pass->states[i]);
    free(pass->states);
    free(pass->steps);
    free(pass);
}

const struct network *pass_network(const struct pass *pass)
{
    return pass->network;
}

size_t pass_most(const struct pass *pass)
{
    return pass->most_samples;
}

double *pass_values(const struct pass *pass)
{
    return pass->sums;
}

size_t pass_bytes(const struct pass *pass)
{
    return (pass->arena_floats + pass->workers * pass->local_floats) * sizeof(float) +
           pass->sums_count * sizeof(double);
}

/* ---- Places of tensors and gradients ---- */

float *tensor_value(const struct pass *pass, size_t tensor, size_t sample)
{
    return pass->tensors[tensor].value + sample * tensor_sample(&pass->network->tensors[tensor]);
}

float *tensor_tangent(const struct pass *pass, size_t tensor, size_t sample)
{
    return pass->tensors[tensor].tangent + sample * tensor_sample(&pass->network->tensors[tensor]);
}

/* The offset of a span in the gradients of its block. */
static size_t gradient_offset(const struct pass *pass, size_t number, const struct span *span)
{
    const struct tensor *tensor = &pass->network->tensors[number];

    return tensor->local ? span->worker * pass->local_floats
                         : span->first * tensor_gradient_sample(tensor);
}

float *tensor_gradient(const struct pass *pass, size_t tensor, const struct span *span)
{
    return pass->tensors[tensor].gradient + gradient_offset(pass, tensor, span);
}

float *tensor_tangent_gradient(const struct pass *pass, size_t tensor, const struct span *span)
{
    return pass->tensors[tensor].tangent_gradient + gradient_offset(pass, tensor, span);
}

/* A gradient of input k that is not in its place yet: as that of the tensor, of the worker. */
static float *scratch_of(const struct pass *pass, const struct layer *layer, size_t k,
                         const struct span *span, float *scratch)
{
    const struct tensor *tensor = &pass->network->tensors[layer->inputs[k]];

    return scratch + span->worker * pass->local_floats + tensor->gradient_halo * tensor->stride;
}

static void add_scratch(const struct pass *pass, const struct layer *layer, size_t k,
                        const struct span *span, const float *scratch, float *gradient)
{
    const struct tensor *tensor = &pass->network->tensors[layer->inputs[k]];
    size_t sample = tensor_gradient_sample(tensor);

    pass->backend->add_rows(span->count, tensor->steps * tensor->stride, scratch, sample, gradient,
                            sample);
}

float *input_gradient(const struct pass *pass, const struct layer *layer, size_t k,
                      const struct span *span)
{
    return layer->adds[k] ? scratch_of(pass, layer, k, span, pass->scratch)
                          : tensor_gradient(pass, layer->inputs[k], span);
}

void input_gradient_end(const struct pass *pass, const struct layer *layer, size_t k,
                        const struct span *span)
{
    if (layer->adds[k])
        add_scratch(pass, layer, k, span, scratch_of(pass, layer, k, span, pass->scratch),
                    tensor_gradient(pass, layer->inputs[k], span));
}

float *input_tangent_gradient(const struct pass *pass, const struct layer *layer, size_t k,
                              const struct span *span)
{
    return layer->adds[k] ? scratch_of(pass, layer, k, span, pass->tangent_scratch)
                          : tensor_tangent_gradient(pass, layer->inputs[k], span);
}

void input_tangent_gradient_end(const struct pass *pass, const struct layer *layer, size_t k,
                                const struct span *span)
{
    if (layer->adds[k])
        add_scratch(pass, layer, k, span, scratch_of(pass, layer, k, span, pass->tangent_scratch),
                    tensor_tangent_gradient(pass, layer->inputs[k], span));
}

/* The gradient of a tensor that several layers read is still there from the phase before. */
float *input_gradient_again(const struct pass *pass, const struct layer *layer, size_t k,
                            const struct span *span)
{
    return pass->network->tensors[layer->inputs[k]].readers > 1
               ? scratch_of(pass, layer, k, span, pass->scratch)
               : tensor_gradient(pass, layer->inputs[k], span);
}

float *partial_gradient(const struct pass *pass, const struct layer *layer, const struct span *span)
{
    return pass->partial + span->block * pass->network->gradient_floats + layer->gradient;
}
