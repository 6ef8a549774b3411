/* Runs batches through the layers.
 *
 * A batch is cut into blocks, each with partial sums of its own, and a block into spans of at most a
 * chunk, the samples that stay in the second-level cache while they go through many layers:
 *
 *     for each block, in parallel                                             run_segment
 *         for each span of the block                                          run_block
 *             for each step of the segment: sums or apply of a layer
 *
 * A segment is as many layers as can run before one must wait for sums over the whole batch.  A
 * phase (forward, backward, and the tangents of both) is a list of segments: run_phase. */
#include "nn/pass.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "nn/layer.h"

enum {
    FEWEST_BLOCKS = 8, /* where there are as many samples: work for as many cores */
    FEWEST_LARGE = 2,  /* where the whole batch is hardly worth one block of a large gradient */
    GRADIENT_FLOATS = 8 * 1024 * 1024, /* at most, for the partial gradients of all blocks */
    /* Multiply-adds for each partial gradient, below which a block is not worth its own: zeroing,
     * adding up, and what they push out of the cache. */
    GRADIENT_WORK = 200,
};

/* ---- Blocks ---- */

/* Samples of a block: enough that adding up the gradients of the blocks costs little compared with
 * computing them, and few enough to feed several cores. */
static size_t block_samples(const struct pass *pass, size_t count)
{
    const struct network *network = pass->network;
    size_t most = PASS_MOST_BLOCKS, fewest = FEWEST_BLOCKS, worthwhile;

    if (pass->backend->whole_batch)
        return count;
    if (network->gradient_floats * most > GRADIENT_FLOATS)
        most = size_max(GRADIENT_FLOATS / network->gradient_floats, FEWEST_BLOCKS / 2);
    worthwhile = size_ceiling(GRADIENT_WORK * network->gradient_floats, network->work);
    if (worthwhile >= count && network->gradient_floats > PASS_LARGE_GRADIENT)
        fewest = FEWEST_LARGE;
    return size_max(size_ceiling(count, most), size_min(worthwhile, size_ceiling(count, fewest)));
}

/* ---- Running ---- */

/* Steps that run one after another on each span: the first `count` of pass->steps. */
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
        pass->backend->parallel_for(blocks, run_block, segment);
    segment->count = 0;
    segment->clear = false;
}

static void add_step(struct segment *segment, layer_function *run, const struct layer *layer)
{
    if (run)
        segment->pass->steps[segment->count++] = (struct pass_step){run, layer};
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

/* Adds the gradients of this rank's blocks to the sum of those before, as reduce_blocks does; that
 * of the first block is the sum already. */
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

/* layer.h says what the five functions of a layer do in a phase. */
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
            if (layer->type->waits(pass, layer, phase)) { /* its `apply` needs the whole batch */
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

        /* Sums that `apply` does not wait for. */
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
