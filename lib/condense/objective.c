#include "condense/objective.h"

#include <stdlib.h>

#include "nn/loss.h"

struct objective_options objective_defaults(void)
{
    return (struct objective_options){.cross_entropy = 0.99,
                                      .matching = {.weight = 0.01, .first = 10}};
}

static struct error *check_features(const struct guide *guide, const struct transform *transform)
{
    size_t given = transform ? transform->count : 0;

    if (given == guide->features)
        return NULL;
    if (!transform)
        return error_make("the teacher was trained with %zu shapelets: give the same pool",
                          guide->features);
    if (guide->features == 0)
        return error_make("the teacher was trained without shapelets, but there is a pool of %zu",
                          given);
    return error_make("the teacher was trained with %zu shapelets, the pool has %zu",
                      guide->features, given);
}

struct error *objective_make(const struct objective_options *options, const struct guide *guide,
                             const struct transform *transform, size_t slots, size_t most_samples,
                             struct objective *objective)
{
    size_t logits = most_samples * guide->classes, features = most_samples * guide->features;

    *objective = (struct objective){
        .options = *options, .guide = guide, .transform = transform, .most_samples = most_samples};
    TRY(check_features(guide, transform));
    TRY(guide->prepare(guide->state, slots, most_samples));
    objective->dlogits = calloc(slots, logits * sizeof *objective->dlogits);
    objective->features = calloc(slots * features + 1, sizeof *objective->features);
    objective->upstream = calloc(slots * features + 1, sizeof *objective->upstream);
    objective->places = calloc(slots * features + 1, sizeof *objective->places);
    if (objective->dlogits && objective->features && objective->upstream && objective->places)
        return NULL;
    objective_free(objective);
    return error_memory("the objective");
}

void objective_free(struct objective *objective)
{
    free(objective->dlogits);
    free(objective->features);
    free(objective->upstream);
    free(objective->places);
    *objective = (struct objective){0};
}

struct error *objective_evaluate(const struct objective *objective, size_t slot, size_t count,
                                 const float *x, const int32_t *labels, float *logits, float *dx,
                                 struct objective_value *value)
{
    const struct guide *guide = objective->guide;
    const struct matching *matching = &objective->options.matching;
    bool matched = guide->statistics && matching->weight > 0;
    float *dlogits = objective->dlogits + slot * objective->most_samples * guide->classes;
    size_t of_slot = slot * objective->most_samples * guide->features;
    float *features = objective->features + of_slot, *upstream = objective->upstream + of_slot;
    uint32_t *places = objective->places + of_slot;
    const struct loss loss = {LOSS_LABELS, 1, (float)objective->options.cross_entropy};

    if (objective->transform)
        transform_forward(objective->transform, x, count, features, places);
    TRY(guide->forward(guide->state, slot, count, x, features, matched, logits));
    value->cross_entropy = loss_value(&loss, count, guide->classes, logits,
                                      &(struct targets){.labels = labels}, dlogits, NULL);
    TRY(guide->backward(guide->state, slot, matched ? matching : NULL, dlogits, dx, upstream,
                        &value->apart));
    if (objective->transform)
        transform_backward(objective->transform, x, count, features, places, upstream, dx);
    value->loss = value->cross_entropy + value->apart;
    return NULL;
}
