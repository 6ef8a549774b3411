/* A guide on the engine: a pass for each slot, which works on the caller's arrays. */
#include "condense/guide.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    struct pass *pass;
    bool packed; /* the pass has the parameters in order already */
};

struct network_guide {
    const struct teacher *teacher;
    size_t slot_count;
    struct slot *slots;
};

static void free_slots(struct network_guide *guide)
{
    for (size_t i = 0; i < guide->slot_count; i++)
        pass_free(guide->slots[i].pass);
    free(guide->slots);
    guide->slots = NULL;
    guide->slot_count = 0;
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
        TRY(pass_new(guide->teacher->network, most_samples, PASS_BACKWARD, &guide->slots[i].pass));
    return NULL;
}

static struct error *network_forward(void *state, size_t number, size_t count, const float *x,
                                     const float *features, bool matched, float *logits)
{
    struct network_guide *guide = state;
    const struct network *network = guide->teacher->network;
    struct slot *slot = &guide->slots[number];
    const float *result =
        pass_forward(slot->pass, &(struct forward){.count = count,
                                                   .x = x,
                                                   .features = features,
                                                   .parameters = guide->teacher->parameters,
                                                   .buffers = guide->teacher->buffers,
                                                   .same_parameters = slot->packed,
                                                   .statistics = matched});

    slot->packed = true;
    network->backend->copy_rows(1, count * network->architecture.classes, result, 0, logits, 0);
    return NULL;
}

static struct error *network_backward(void *state, size_t number, const struct matching *matching,
                                      const float *dlogits, float *dx, float *dfeatures,
                                      double *distance)
{
    struct network_guide *guide = state;
    const struct network *network = guide->teacher->network;
    struct pass *pass = guide->slots[number].pass;

    if (matching)
        pass_match(pass, matching, distance);
    else
        network->backend->zero(distance, sizeof *distance);
    pass_backward(
        pass, &(struct backward){.logits = dlogits,
                                 .x = dx,
                                 .features = network->architecture.features ? dfeatures : NULL});
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
    struct network_statistics statistics;

    if (!state)
        return error_memory("the teacher");
    state->teacher = teacher;
    *guide = (struct guide){.channels = shape->channels,
                            .length = shape->length,
                            .classes = shape->classes,
                            .features = shape->features,
                            .statistics = network_statistics(teacher->network, 0, &statistics),
                            .side_by_side = !teacher->network->backend->whole_batch,
                            .backend = teacher->network->backend,
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
