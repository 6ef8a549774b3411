/* Runs batches through the layers.
 *
 * A batch is cut into blocks, the unit that sums are kept for, and a block into chunks, the samples
 * that go together through as many layers as possible while they are in the second-level cache.  A
 * phase is a list of steps (layer, sums or apply) that is cut only where a layer needs something of
 * the whole batch first; between two cuts every block is one task. */
#include "nn/pass.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "nn/layer.h"

enum {
    MOST_BLOCKS = 16,
    FEWEST_BLOCKS = 8,           /* where there are as many samples: work for as many cores */
    LARGE_GRADIENT = 128 * 1024, /* floats that leave the cache: where the whole batch is hardly */
    FEWEST_LARGE = 2,            /* worth one block of them, two will do */
    CHUNK_FLOATS = 32 * 1024,
    GRADIENT_FLOATS = 8 * 1024 * 1024, /* at most, for the partial gradients of all blocks */
    GRADIENT_ROWS = 64,
    /* Multiply-adds for each partial gradient, below which a block is not worth its own: zeroing,
     * adding up, and what they push out of the cache. */
    GRADIENT_WORK = 200,
};

typedef void step_function(struct pass *pass, const struct layer *layer, const struct span *span);

struct step {
    step_function *run;
    const struct layer *layer;
};

/* ---- Memory ---- */

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

/* ---- Blocks ---- */

/* Samples of a block: enough that adding up the gradients of the blocks costs little compared with
 * computing them, and few enough to feed several cores. */
static size_t block_samples(const struct pass *pass, size_t count)
{
    const struct network *network = pass->network;
    size_t most = MOST_BLOCKS, fewest = FEWEST_BLOCKS, worthwhile;

    if (pass->backend->whole_batch)
        return count;
    if (network->gradient_floats * most > GRADIENT_FLOATS)
        most = size_max(GRADIENT_FLOATS / network->gradient_floats, FEWEST_BLOCKS / 2);
    worthwhile = size_ceiling(GRADIENT_WORK * network->gradient_floats, network->work);
    if (worthwhile >= count && network->gradient_floats > LARGE_GRADIENT)
        fewest = FEWEST_LARGE;
    return size_max(size_ceiling(count, most), size_min(worthwhile, size_ceiling(count, fewest)));
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
    if (network->gradient_floats > LARGE_GRADIENT)
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
    pass->most_blocks = pass->backend->whole_batch ? 1 : size_min(MOST_BLOCKS, most_samples);
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

/* ---- Where things are ---- */

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

/* ---- Running ---- */

/* Steps that run one after another on a chunk: the first of pass->steps. */
struct segment {
    struct pass *pass;
    bool clear; /* the partial gradients start here */
    size_t count;
};

static void run_block(void *context, size_t task, unsigned worker)
{
    const struct segment *segment = context;
    struct pass *pass = segment->pass;
    size_t block = pass->first_block + task;
    size_t floats = pass->network->gradient_floats, first = block * pass->block_samples;
    size_t end = size_min(first + pass->block_samples, pass->forward.count);

    if (segment->clear)
        pass->backend->zero(pass->partial + block * floats, floats * sizeof *pass->partial);
    for (; first < end; first += pass->chunk) {
        struct span span = {block, first, size_min(pass->chunk, end - first), worker};

        for (size_t i = 0; i < segment->count; i++)
            pass->steps[i].run(pass, pass->steps[i].layer, &span);
    }
}

static void run_segment(struct segment *segment)
{
    struct pass *pass = segment->pass;
    size_t blocks = pass->end_block - pass->first_block;

    /* More threads than there were when the pass was made: there is no memory for them. */
    if (pass->backend->workers() > pass->workers)
        for (size_t block = 0; block < blocks; block++)
            run_block(segment, block, 0);
    else
        pass->backend->run(blocks, run_block, segment);
    segment->count = 0;
    segment->clear = false;
}

static void add_step(struct segment *segment, step_function *run, const struct layer *layer)
{
    if (run)
        segment->pass->steps[segment->count++] = (struct step){run, layer};
}

static bool is_backward(enum phase phase)
{
    return phase == BACKWARD || phase == TANGENT_BACKWARD;
}

/* The i-th layer in the order of the phase. */
static const struct layer *layer_at(const struct pass *pass, enum phase phase, size_t i)
{
    size_t count = pass->network->layer_count;

    return &pass->network->layers[is_backward(phase) ? count - 1 - i : i];
}

/* ---- Ranks that share the blocks ---- */

void pass_share(struct pass *pass, struct cluster *cluster)
{
    bool at_once = pass->backend->whole_batch;

    for (size_t i = 0; i < pass->network->layer_count; i++)
        at_once = at_once || pass->network->layers[i].type->at_once;
    pass->cluster = at_once ? NULL : cluster;
}

/* items[count], of which each rank has those of its blocks. */
static void share_items(const struct pass *pass, void *items, size_t count, size_t size,
                        size_t grain)
{
    error_free(cluster_share(pass->cluster, items, count, size, grain));
}

static void share_samples(const struct pass *pass, float *values, size_t floats)
{
    share_items(pass, values, pass->forward.count, floats * sizeof *values, pass->block_samples);
}

static void reduce_layer(struct pass *pass, const struct layer *layer, enum phase phase)
{
    if (pass->cluster && layer->type->block_sums) {
        size_t doubles;
        double *sums = layer->type->block_sums(pass, layer, phase, &doubles);

        share_items(pass, sums, pass->blocks, doubles * sizeof *sums, 1);
    }
    layer->type->phase[phase].reduce(pass, layer);
}

/* Adds the gradients of this rank's blocks to the sum of those before, as reduce_blocks does; that of
 * the first block is the sum already. */
static void add_own_blocks(void *context, void *sum, size_t from, size_t count)
{
    const struct pass *pass = context;
    size_t floats = pass->network->gradient_floats;
    float *to = sum;

    for (size_t block = size_max(pass->first_block, 1); block < pass->end_block; block++) {
        const float *own = pass->partial + block * floats + from;

        for (size_t i = 0; i < count; i++)
            to[i] += own[i];
    }
}

static void reduce_gradients(struct pass *pass)
{
    size_t floats = pass->network->gradient_floats;

    if (!pass->cluster)
        pass->backend->reduce_blocks(pass->blocks, floats, pass->partial);
    else
        error_free(cluster_reduce(pass->cluster, pass->partial, floats, sizeof *pass->partial,
                                  add_own_blocks, pass));
}

/* What callers get of a phase for each sample. */
static void share_results(const struct pass *pass, enum phase phase)
{
    const struct architecture *a = &pass->network->architecture;
    const struct tensor_memory *logits = &pass->tensors[pass->network->logits_tensor];

    if (phase == FORWARD || phase == TANGENT_FORWARD)
        share_samples(pass, phase == FORWARD ? logits->value : logits->tangent, a->classes);
    else if (pass->backward.x)
        share_samples(pass, pass->backward.x, architecture_series_size(a));
    if (is_backward(phase) && pass->backward.features)
        share_samples(pass, pass->backward.features, a->features);
}

/* ---- Phases ---- */

static void run_phase(struct pass *pass, enum phase phase)
{
    bool adds = pass->backward.parameters || pass->network->always_adds;
    struct segment segment = {.pass = pass, .clear = is_backward(phase) && adds};
    size_t count = pass->network->layer_count;

    for (size_t i = 0; i < count; i++) {
        const struct layer *layer = layer_at(pass, phase, i);

        if (layer->type->phase[phase].prepare)
            layer->type->phase[phase].prepare(pass, layer);
    }
    for (size_t i = 0; i < count; i++) {
        const struct layer *layer = layer_at(pass, phase, i);
        const struct layer_phase *table = &layer->type->phase[phase];

        if (table->reduce && layer->type->wants_sums(pass, layer, phase)) {
            add_step(&segment, table->sums, layer);
            if (layer->type->waits(pass, layer, phase)) {
                run_segment(&segment);
                reduce_layer(pass, layer, phase);
            }
        }
        add_step(&segment, table->apply, layer);
    }
    run_segment(&segment);
    if (is_backward(phase) && pass->backward.parameters)
        reduce_gradients(pass);
    for (size_t i = 0; i < count; i++) {
        const struct layer *layer = layer_at(pass, phase, i);
        const struct layer_phase *table = &layer->type->phase[phase];

        if (table->reduce && layer->type->wants_sums(pass, layer, phase) &&
            !layer->type->waits(pass, layer, phase))
            reduce_layer(pass, layer, phase);
        if (table->finish)
            table->finish(pass, layer);
    }
    share_results(pass, phase);
}

/* ---- The passes ---- */

struct dropout dropout_of(uint64_t seed, uint64_t index)
{
    struct random_stream stream = random_stream(seed, RANDOM_DROPOUT, index);

    return (struct dropout){.on = true, .key = random_u64(&stream)};
}

const float *pass_forward(struct pass *pass, const struct forward *forward)
{
    pass->forward = *forward;
    pass->block_samples = block_samples(pass, forward->count);
    pass->blocks = size_ceiling(forward->count, pass->block_samples);
    cluster_part(pass->cluster, pass->blocks, 1, &pass->first_block, &pass->end_block);
    run_phase(pass, FORWARD);
    return pass->tensors[pass->network->logits_tensor].value;
}

const float *pass_embedding(struct pass *pass)
{
    float *embedding = pass->tensors[pass->network->embedding_tensor].value;

    share_samples(pass, embedding, pass->network->embedding);
    return embedding;
}

void pass_match(struct pass *pass, const struct matching *matching, double *sum)
{
    double weight = matching->weight * matching->first;

    pass->backend->zero(sum, sizeof *sum);
    for (size_t i = 0; i < pass->network->layer_count; i++) {
        const struct layer *layer = &pass->network->layers[i];
        struct network_statistics statistics;

        if (!layer->type->statistics || !layer->type->statistics(layer, &statistics))
            continue;
        layer->type->match(pass, layer, matching, weight, sum);
        weight = matching->weight;
    }
}

/* A copy, because it is read again by the tangents and past its end by vectors. */
static void keep_logits_gradient(const struct pass *pass, const float *from, float *to)
{
    size_t classes = pass->network->architecture.classes;

    pass->backend->copy_rows(1, pass->forward.count * classes, from, 0, to, 0);
}

void pass_backward(struct pass *pass, const struct backward *backward)
{
    size_t logits = pass->network->logits_tensor;

    pass->backward = *backward;
    keep_logits_gradient(pass, backward->logits, pass->tensors[logits].gradient);
    run_phase(pass, BACKWARD);
}

const float *pass_tangent_forward(struct pass *pass, const struct tangent *tangent)
{
    pass->tangent = *tangent;
    run_phase(pass, TANGENT_FORWARD);
    return pass->tensors[pass->network->logits_tensor].tangent;
}

void pass_tangent_backward(struct pass *pass, const struct backward *backward)
{
    size_t logits = pass->network->logits_tensor;

    pass->backward = *backward;
    keep_logits_gradient(pass, backward->logits, pass->tensors[logits].tangent_gradient);
    run_phase(pass, TANGENT_BACKWARD);
}
