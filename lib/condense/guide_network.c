/* A guide on the engine: a pass for each slot.  Batches are brought into the backend's memory, so
 * that it makes no difference where the network runs. */
#include "condense/guide.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    struct pass *pass;
    size_t count;     /* series of the last forward */
    bool packed;      /* the pass has the parameters in order already */
    float *x, *dx;    /* (most, C, L), memory of the backend, as all below */
    float *features;  /* (most, K) */
    float *dfeatures; /* (most, K) */
    float *dlogits;   /* (most, V) */
};

struct network_guide {
    const struct teacher *teacher;
    size_t slot_count;
    struct slot *slots;
};

static void free_slots(struct network_guide *guide)
{
    const struct backend *backend = guide->teacher->network->backend;

    for (size_t i = 0; i < guide->slot_count; i++) {
        struct slot *slot = &guide->slots[i];

        pass_free(slot->pass);
        backend->release(slot->x);
        backend->release(slot->dx);
        backend->release(slot->features);
        backend->release(slot->dfeatures);
        backend->release(slot->dlogits);
    }
    free(guide->slots);
    guide->slots = NULL;
    guide->slot_count = 0;
}

static struct error *make_slot(const struct network *network, size_t most, struct slot *slot)
{
    const struct architecture *shape = &network->architecture;
    const struct backend *backend = network->backend;
    size_t series = shape->channels * shape->length;

    TRY(pass_new(network, most, PASS_BACKWARD, &slot->pass));
    slot->x = backend->allocate(most * series * sizeof *slot->x);
    slot->dx = backend->allocate(most * series * sizeof *slot->dx);
    slot->features = backend->allocate((most * shape->features + 1) * sizeof *slot->features);
    slot->dfeatures = backend->allocate((most * shape->features + 1) * sizeof *slot->dfeatures);
    slot->dlogits = backend->allocate(most * shape->classes * sizeof *slot->dlogits);
    if (!slot->x || !slot->dx || !slot->features || !slot->dfeatures || !slot->dlogits)
        return error_memory("the teacher's batches");
    return NULL;
}

static struct error *network_prepare(void *state, size_t slots, size_t most_samples)
{
    struct network_guide *guide = state;

    free_slots(guide);
    guide->slots = calloc(slots, sizeof *guide->slots);
    if (!guide->slots)
        return error_memory("the teacher's batches");
    guide->slot_count = slots;
    for (size_t i = 0; i < slots; i++)
        TRY(make_slot(guide->teacher->network, most_samples, &guide->slots[i]));
    return NULL;
}

static struct error *network_forward(void *state, size_t number, size_t count, const float *x,
                                     const float *features, bool matched, float *logits)
{
    struct network_guide *guide = state;
    const struct network *network = guide->teacher->network;
    const struct architecture *shape = &network->architecture;
    const struct backend *backend = network->backend;
    struct slot *slot = &guide->slots[number];
    const float *result;

    slot->count = count;
    backend->upload(slot->x, x, count * shape->channels * shape->length * sizeof *x);
    if (shape->features)
        backend->upload(slot->features, features, count * shape->features * sizeof *features);
    result = pass_forward(slot->pass, &(struct forward){.count = count,
                                                        .x = slot->x,
                                                        .features = slot->features,
                                                        .parameters = guide->teacher->parameters,
                                                        .buffers = guide->teacher->buffers,
                                                        .same_parameters = slot->packed,
                                                        .statistics = matched});
    slot->packed = true;
    backend->download(logits, result, count * shape->classes * sizeof *logits);
    return NULL;
}

static struct error *network_backward(void *state, size_t number, const struct matching *matching,
                                      const float *dlogits, float *dx, float *dfeatures,
                                      double *apart)
{
    struct network_guide *guide = state;
    const struct network *network = guide->teacher->network;
    const struct architecture *shape = &network->architecture;
    const struct backend *backend = network->backend;
    struct slot *slot = &guide->slots[number];
    size_t count = slot->count;

    *apart = matching ? pass_match(slot->pass, matching) : 0;
    backend->upload(slot->dlogits, dlogits, count * shape->classes * sizeof *dlogits);
    pass_backward(slot->pass,
                  &(struct backward){.logits = slot->dlogits,
                                     .x = slot->dx,
                                     .features = shape->features ? slot->dfeatures : NULL});
    backend->download(dx, slot->dx, count * shape->channels * shape->length * sizeof *dx);
    if (shape->features)
        backend->download(dfeatures, slot->dfeatures, count * shape->features * sizeof *dfeatures);
    return NULL;
}

static void network_close(void *state)
{
    free_slots(state);
    free(state);
}

struct error *guide_from_teacher(const struct teacher *teacher, struct guide *guide)
{
    const struct architecture *shape = &teacher->network->architecture;
    struct network_guide *state = calloc(1, sizeof *state);

    if (!state)
        return error_memory("the teacher");
    state->teacher = teacher;
    *guide = (struct guide){.channels = shape->channels,
                            .length = shape->length,
                            .classes = shape->classes,
                            .features = shape->features,
                            .statistics = shape->norm == NORM_BATCH,
                            .side_by_side = !teacher->network->backend->whole_batch,
                            .state = state,
                            .prepare = network_prepare,
                            .forward = network_forward,
                            .backward = network_backward,
                            .close = network_close};
    return NULL;
}

void guide_close(struct guide *guide)
{
    if (guide->close)
        guide->close(guide->state);
    *guide = (struct guide){0};
}
