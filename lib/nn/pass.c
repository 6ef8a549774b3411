/* Runs batches through the layers.
 *
 * A batch is cut into blocks, the unit that sums are kept for, and a block into chunks, the samples
 * that go together through as many layers as possible while they are in the second-level cache.  A
 * phase is a list of steps (layer, sums or apply) that is cut only where a layer needs something of
 * the whole batch first; between two cuts every block is one task. */
#include "nn/network.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nn/layer.h"

enum {
    MOST_BLOCKS = 16,
    FEWEST_BLOCKS = 8, /* where there are that many samples: work for that many cores */
    CHUNK_FLOATS = 32 * 1024,
    GRADIENT_FLOATS = 8 * 1024 * 1024, /* at most, for the partial gradients of all blocks */
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

/* An array of samples with halos, pointing to the first real step. */
static float *carve_tensor(struct carver *carver, const struct tensor *tensor, size_t count,
                           bool gradient)
{
    size_t sample = gradient ? tensor_gradient_sample(tensor) : tensor_sample(tensor);
    size_t halo = (gradient ? tensor->gradient_halo : tensor->halo) * tensor->stride;
    float *memory = carve(carver, count * sample);

    return memory ? memory + halo : NULL;
}

static void lay_out_tensors(struct pass *pass, struct carver *arena, struct carver *local)
{
    for (size_t i = 0; i < pass->network->tensor_count; i++) {
        const struct tensor *tensor = &pass->network->tensors[i];
        struct tensor_memory *memory = &pass->tensors[i];
        struct carver *gradients = tensor->local ? local : arena;
        size_t count = tensor->local ? pass->chunk : pass->most_samples;

        memory->value = carve_tensor(arena, tensor, pass->most_samples, false);
        if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
            memory->gradient = carve_tensor(gradients, tensor, count, true);
        if (pass->flags & PASS_TANGENT) {
            memory->tangent = carve_tensor(arena, tensor, pass->most_samples, false);
            memory->tangent_gradient = carve_tensor(gradients, tensor, count, true);
        }
    }
}

static void lay_out_conv(struct pass *pass, const struct layer *layer, struct carver *arena)
{
    struct conv_memory *memory = &pass->convs[layer->state];
    size_t panel = pass->backend->conv1d_panel(&layer->conv);

    memory->forward = carve(arena, panel);
    if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
        memory->backward = carve(arena, panel);
    if (pass->flags & PASS_TANGENT) {
        memory->tangent_forward = carve(arena, panel);
        memory->tangent_backward = carve(arena, panel);
    }
}

static void lay_out_stage(struct pass *pass, const struct layer *layer, struct carver *arena,
                          size_t *sums)
{
    const struct stage_shape *shape = &layer->stage;
    struct stage_memory *memory = &pass->stages[layer->state];
    bool per_sample = shape->norm == NORM_INSTANCE || shape->norm == NORM_LAYER;
    size_t values = shape->stride * (shape->norm == NORM_LAYER ? shape->steps : 1);
    size_t groups = per_sample ? pass->most_samples : 1;

    memory->stage.shape = *shape;
    memory->stage.rows = carve(arena, groups * STAGE_ROWS * shape->stride);
    if (shape->norm != NORM_NONE) {
        memory->stage.gamma = memory->gamma = carve(arena, values);
        memory->stage.beta = memory->beta = carve(arena, values);
    }
    if (shape->norm != NORM_NONE && pass->flags & PASS_TANGENT) {
        memory->stage.tangent_gamma = memory->tangent_gamma = carve(arena, values);
        memory->stage.tangent_beta = memory->tangent_beta = carve(arena, values);
    }
    if (pass->sums) {
        memory->stage.moments = pass->sums + *sums;
        memory->stage.sums = pass->sums + *sums + pass->most_blocks * STAGE_MOMENTS * shape->stride;
    }
    *sums += pass->most_blocks * (STAGE_MOMENTS + STAGE_SUMS) * shape->stride;
}

/* Gives everything its place, or, without memory, finds out how much is needed. */
static void lay_out(struct pass *pass)
{
    struct carver arena = {pass->arena, 0}, local = {pass->local, 0};
    size_t sums = PASS_VALUES;

    lay_out_tensors(pass, &arena, &local);
    for (size_t i = 0; i < pass->network->layer_count; i++) {
        const struct layer *layer = &pass->network->layers[i];

        if (layer->type == &layer_conv1d)
            lay_out_conv(pass, layer, &arena);
        else if (layer->type == &layer_stage)
            lay_out_stage(pass, layer, &arena, &sums);
    }
    if (pass->flags & (PASS_BACKWARD | PASS_TANGENT))
        pass->partial = carve(&arena, pass->most_blocks * pass->network->gradient_floats);
    pass->arena_floats = arena.used;
    pass->local_floats = local.used;
    pass->sums_count = sums;
}

/* ---- Blocks ---- */

static size_t ceiling(size_t value, size_t divisor)
{
    return (value + divisor - 1) / divisor;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Samples of a block: enough that adding up the gradients of the blocks is little beside computing
 * them, and few enough to feed several cores. */
static size_t block_samples(const struct pass *pass, size_t count)
{
    const struct network *network = pass->network;
    size_t most = MOST_BLOCKS, worthwhile;

    if (pass->backend->whole_batch)
        return count;
    if (network->gradient_floats * most > GRADIENT_FLOATS)
        most = larger(GRADIENT_FLOATS / network->gradient_floats, FEWEST_BLOCKS / 2);
    worthwhile = ceiling(GRADIENT_WORK * network->gradient_floats, network->work);
    return larger(ceiling(count, most), smaller(worthwhile, ceiling(count, FEWEST_BLOCKS)));
}

/* Samples of a chunk, by the largest activation. */
static size_t chunk_samples(const struct pass *pass)
{
    size_t largest = 1;

    if (pass->backend->whole_batch)
        return pass->most_samples;
    for (size_t i = 0; i < pass->network->tensor_count; i++)
        largest = larger(largest, tensor_sample(&pass->network->tensors[i]));
    return larger(smaller(CHUNK_FLOATS / largest, pass->most_samples), 1);
}

/* ---- Making and freeing ---- */

static struct error *allocate(struct pass *pass)
{
    const struct network *network = pass->network;
    const struct backend *backend = pass->backend;

    pass->tensors = calloc(network->tensor_count, sizeof *pass->tensors);
    pass->convs = calloc(network->layer_count, sizeof *pass->convs);
    pass->stages = calloc(network->layer_count, sizeof *pass->stages);
    pass->steps = calloc(network->layer_count, 2 * sizeof *pass->steps);
    if (!pass->tensors || !pass->convs || !pass->stages || !pass->steps)
        return error_memory("a pass");
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
    pass->most_blocks = pass->backend->whole_batch ? 1 : smaller(MOST_BLOCKS, most_samples);
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
    free(pass->convs);
    free(pass->stages);
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

/* How far into its gradients a span is. */
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

static void run_block(void *context, size_t block, unsigned worker)
{
    const struct segment *segment = context;
    struct pass *pass = segment->pass;
    size_t floats = pass->network->gradient_floats, first = block * pass->block_samples;
    size_t end = smaller(first + pass->block_samples, pass->forward.count);

    if (segment->clear)
        pass->backend->zero(pass->partial + block * floats, floats * sizeof *pass->partial);
    for (; first < end; first += pass->chunk) {
        struct span span = {block, first, smaller(pass->chunk, end - first), worker};

        for (size_t i = 0; i < segment->count; i++)
            pass->steps[i].run(pass, pass->steps[i].layer, &span);
    }
}

static void run_segment(struct segment *segment)
{
    struct pass *pass = segment->pass;

    /* More threads than there were when the pass was made: there is no memory for them. */
    if (pass->backend->workers() > pass->workers)
        for (size_t block = 0; block < pass->blocks; block++)
            run_block(segment, block, 0);
    else
        pass->backend->run(pass->blocks, run_block, segment);
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

static void run_phase(struct pass *pass, enum phase phase)
{
    /* norm=layer adds to its partial gradients whether they are wanted or not. */
    bool adds = pass->backward.parameters || pass->network->architecture.norm == NORM_LAYER;
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

        if (table->sums && layer->type->wants_sums(pass, layer, phase)) {
            add_step(&segment, table->sums, layer);
            if (layer->type->waits(pass, layer, phase)) {
                run_segment(&segment);
                table->reduce(pass, layer);
            }
        }
        add_step(&segment, table->apply, layer);
    }
    run_segment(&segment);
    if (is_backward(phase) && pass->backward.parameters)
        pass->backend->reduce_blocks(pass->blocks, pass->network->gradient_floats, pass->partial);
    for (size_t i = 0; i < count; i++) {
        const struct layer *layer = layer_at(pass, phase, i);
        const struct layer_phase *table = &layer->type->phase[phase];

        if (table->sums && layer->type->wants_sums(pass, layer, phase) &&
            !layer->type->waits(pass, layer, phase))
            table->reduce(pass, layer);
        if (table->finish)
            table->finish(pass, layer);
    }
}

/* ---- The passes ---- */

const float *pass_forward(struct pass *pass, const struct forward *forward)
{
    pass->forward = *forward;
    pass->block_samples = block_samples(pass, forward->count);
    pass->blocks = ceiling(forward->count, pass->block_samples);
    run_phase(pass, FORWARD);
    return pass->tensors[pass->network->tensor_count - 1].value;
}

const float *pass_embedding(const struct pass *pass)
{
    return pass->tensors[pass->network->tensor_count - 2].value;
}

void pass_match(struct pass *pass, const struct matching *matching, double *sum)
{
    double weight = matching->weight * matching->first;

    pass->backend->zero(sum, sizeof *sum);
    for (size_t i = 0; i < pass->network->layer_count; i++) {
        const struct layer *layer = &pass->network->layers[i];
        const float *buffers = pass->forward.buffers;

        if (layer->type != &layer_stage || layer->stage.norm != NORM_BATCH)
            continue;
        pass->backend->stage_match(&pass->stages[layer->state].stage, weight, matching->squared,
                                   buffers + layer->mean, buffers + layer->variance, sum);
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
    size_t last = pass->network->tensor_count - 1;

    pass->backward = *backward;
    keep_logits_gradient(pass, backward->logits, pass->tensors[last].gradient);
    run_phase(pass, BACKWARD);
}

const float *pass_tangent_forward(struct pass *pass, const struct tangent *tangent)
{
    pass->tangent = *tangent;
    run_phase(pass, TANGENT_FORWARD);
    return pass->tensors[pass->network->tensor_count - 1].tangent;
}

void pass_tangent_backward(struct pass *pass, const struct backward *backward)
{
    size_t last = pass->network->tensor_count - 1;

    pass->backward = *backward;
    keep_logits_gradient(pass, backward->logits, pass->tensors[last].tangent_gradient);
    run_phase(pass, TANGENT_BACKWARD);
}
