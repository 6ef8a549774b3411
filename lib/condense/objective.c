#include "condense/objective.h"

#include "nn/loss.h"
#include "nn/backend_memory.h"

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
    const struct backend *backend = guide->backend;
    size_t logits = most_samples * guide->classes, features = most_samples * guide->features;

    *objective = (struct objective){
        .options = *options, .guide = guide, .transform = transform, .most_samples = most_samples};
    TRY(check_features(guide, transform));
    TRY(guide->prepare(guide->state, slots, most_samples));
    objective->dlogits = backend->allocate(slots * logits * sizeof *objective->dlogits);
    objective->features = backend->allocate((slots * features + 1) * sizeof *objective->features);
    objective->upstream = backend->allocate((slots * features + 1) * sizeof *objective->upstream);
    objective->places = backend->allocate((slots * features + 1) * sizeof *objective->places);
    objective->values = backend->allocate(slots * 2 * sizeof *objective->values);
    if (objective->dlogits && objective->features && objective->upstream && objective->places &&
        objective->values)
        return NULL;
    objective_free(objective);
    return error_memory("the objective");
}

void objective_free(struct objective *objective)
{
    if (objective->guide) {
        const struct backend *backend = objective->guide->backend;

        backend->release(objective->dlogits);
        backend->release(objective->features);
        backend->release(objective->upstream);
        backend->release(objective->places);
        backend->release(objective->values);
    }
    *objective = (struct objective){0};
}

struct error *objective_queue(const struct objective *objective, size_t slot, size_t count,
                              const float *x, const int32_t *labels, float *logits, float *dx,
                              double value[2])
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
    guide->backend->loss(&loss, count, guide->classes, logits, &(struct targets){.labels = labels},
                         dlogits, NULL, value, NULL);
    TRY(guide->backward(guide->state, slot, matched ? matching : NULL, dlogits, dx, upstream,
                        &value[1]));
    if (objective->transform)
        transform_backward(objective->transform, x, count, features, places, upstream, dx);
    return NULL;
}

struct objective_value objective_value(const double value[2])
{
    return (struct objective_value){
        .loss = value[0] + value[1], .cross_entropy = value[0], .distance = value[1]};
}

struct error *objective_evaluate(const struct objective *objective, size_t slot, size_t count,
                                 const float *x, const int32_t *labels, float *logits, float *dx,
                                 struct objective_value *value)
{
    double *values = objective->values + 2 * slot, host[2];

    TRY(objective_queue(objective, slot, count, x, labels, logits, dx, values));
    TRY(backend_fetch(objective->guide->backend, host, values, sizeof host));
    *value = objective_value(host);
    return NULL;
}
