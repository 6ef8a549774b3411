/* The arithmetic is in the backend; here are state and step counts. */
#include "nn/optimiser.h"

#include <math.h>
#include <stdlib.h>

#include "nn/backend_memory.h"

struct optimiser_options optimiser_defaults(enum optimiser_kind kind)
{
    struct optimiser_options options = {.kind = kind, .rate = 1e-3};

    if (kind == OPTIMISER_SGD) {
        options.rate = 1e-2;
    } else {
        options.beta1 = 0.9;
        options.beta2 = 0.999;
        options.epsilon = 1e-8;
        options.weight_decay = kind == OPTIMISER_ADAMW ? 1e-2 : 0.0;
    }
    return options;
}

struct error *optimiser_reserve(struct optimiser *optimiser, size_t steps)
{
    const struct backend *backend = optimiser->backend;
    void *planned;

    if (steps <= optimiser->room)
        return NULL;
    backend->release(optimiser->planned);
    free(optimiser->plan);
    optimiser->planned = NULL;
    optimiser->room = 0;
    optimiser->plan = calloc(steps, sizeof *optimiser->plan);
    if (!optimiser->plan)
        return error_memory("the steps of an optimiser");
    TRY(backend_room(backend, steps * sizeof *optimiser->planned, "an optimiser", &planned));
    optimiser->planned = planned;
    optimiser->room = steps;
    return NULL;
}

struct error *optimiser_new(const struct optimiser_options *options, const struct backend *backend,
                            size_t count, struct optimiser *optimiser)
{
    struct error *error;

    *optimiser = (struct optimiser){.options = *options, .backend = backend, .count = count};
    optimiser->first = backend->allocate(count * sizeof *optimiser->first);
    if (options->kind != OPTIMISER_SGD)
        optimiser->second = backend->allocate(count * sizeof *optimiser->second);
    if (!optimiser->first || (options->kind != OPTIMISER_SGD && !optimiser->second))
        error = error_memory("an optimiser");
    else
        error = optimiser_reserve(optimiser, 1);
    if (error)
        optimiser_free(optimiser);
    return error;
}

void optimiser_free(struct optimiser *optimiser)
{
    if (!optimiser->backend)
        return;
    optimiser->backend->release(optimiser->first);
    optimiser->backend->release(optimiser->second);
    optimiser->backend->release(optimiser->planned);
    free(optimiser->plan);
    optimiser->first = optimiser->second = NULL;
    optimiser->plan = optimiser->planned = NULL;
    optimiser->room = 0;
}

void optimiser_reset(struct optimiser *optimiser)
{
    optimiser->steps = 0;
    optimiser->backend->zero(optimiser->first, optimiser->count * sizeof *optimiser->first);
    if (optimiser->second)
        optimiser->backend->zero(optimiser->second, optimiser->count * sizeof *optimiser->second);
}

void optimiser_plan(struct optimiser *optimiser, size_t at, double rate)
{
    const struct optimiser_options *options = &optimiser->options;
    double taken = (double)(optimiser->steps + at + 1);
    bool decoupled = options->kind == OPTIMISER_ADAMW;
    struct optimiser_step *step = &optimiser->plan[at];

    if (options->kind == OPTIMISER_SGD) {
        *step = (struct optimiser_step){.rate = (float)rate,
                                        .decay = (float)options->weight_decay,
                                        .momentum = (float)(taken > 1 ? options->momentum : 0)};
        return;
    }
    *step = (struct optimiser_step){
        .rate = (float)(rate / (1.0 - pow(options->beta1, taken))),
        .decay = decoupled ? 0.0f : (float)options->weight_decay,
        .root = (float)(1.0 / sqrt(1.0 - pow(options->beta2, taken))),
        .shrink = decoupled ? (float)(1.0 - rate * options->weight_decay) : 1.0f,
        .epsilon = (float)options->epsilon,
        .beta2 = (float)options->beta2,
        .new1 = (float)(1.0 - options->beta1),
        .new2 = (float)(1.0 - options->beta2)};
}

void optimiser_plan_end(struct optimiser *optimiser, size_t steps)
{
    optimiser->backend->upload(optimiser->planned, optimiser->plan,
                               steps * sizeof *optimiser->plan);
    optimiser->steps += steps;
}

void optimiser_follow(struct optimiser *optimiser, const size_t *index, const float *gradient,
                      float *values)
{
    const struct backend *backend = optimiser->backend;

    if (optimiser->options.kind == OPTIMISER_SGD)
        backend->sgd_step(optimiser->planned, index, optimiser->count, gradient, optimiser->first,
                          values);
    else
        backend->adam_step(optimiser->planned, index, optimiser->count, gradient, optimiser->first,
                           optimiser->second, values);
}

void optimiser_step(struct optimiser *optimiser, double rate, const float *gradient, float *values)
{
    optimiser_plan(optimiser, 0, rate);
    optimiser_plan_end(optimiser, 1);
    optimiser_follow(optimiser, NULL, gradient, values);
}

double cosine_rate(double rate, size_t step, size_t steps)
{
    const double pi = 3.14159265358979323846;

    return 0.5 * rate * (1.0 + cos(pi * (double)step / (double)steps));
}
