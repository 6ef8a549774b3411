/* The arithmetic is in the backend; here are state and step counts. */
#include "nn/optimiser.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"sgd", "adam", "adamw"};

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

struct error *optimiser_parse(const char *name, enum optimiser_kind *kind)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *kind = (enum optimiser_kind)i;
            return NULL;
        }
    return error_make("unknown optimiser \"%s\": expected sgd, adam or adamw", name);
}

const char *optimiser_name(enum optimiser_kind kind)
{
    return names[kind];
}

struct error *optimiser_new(const struct optimiser_options *options, const struct backend *backend,
                            size_t count, struct optimiser *optimiser)
{
    *optimiser = (struct optimiser){.options = *options, .backend = backend, .count = count};
    optimiser->first = backend->allocate(count * sizeof *optimiser->first);
    if (options->kind != OPTIMISER_SGD)
        optimiser->second = backend->allocate(count * sizeof *optimiser->second);
    if (!optimiser->first || (options->kind != OPTIMISER_SGD && !optimiser->second)) {
        optimiser_free(optimiser);
        return error_memory("an optimiser");
    }
    return NULL;
}

void optimiser_free(struct optimiser *optimiser)
{
    if (!optimiser->backend)
        return;
    optimiser->backend->release(optimiser->first);
    optimiser->backend->release(optimiser->second);
    optimiser->first = optimiser->second = NULL;
}

void optimiser_reset(struct optimiser *optimiser)
{
    optimiser->steps = 0;
    optimiser->backend->zero(optimiser->first, optimiser->count * sizeof *optimiser->first);
    if (optimiser->second)
        optimiser->backend->zero(optimiser->second, optimiser->count * sizeof *optimiser->second);
}

void optimiser_step(struct optimiser *optimiser, double rate, const float *gradient, float *values)
{
    const struct optimiser_options *options = &optimiser->options;
    double taken = (double)++optimiser->steps;

    if (options->kind == OPTIMISER_SGD) {
        struct sgd_step step = {rate, options->momentum, options->weight_decay,
                                optimiser->steps == 1};

        optimiser->backend->sgd_step(&step, optimiser->count, gradient, optimiser->first, values);
    } else {
        struct adam_step step = {rate,
                                 options->beta1,
                                 options->beta2,
                                 options->epsilon,
                                 options->weight_decay,
                                 options->kind == OPTIMISER_ADAMW,
                                 1.0 - pow(options->beta1, taken),
                                 1.0 - pow(options->beta2, taken)};

        optimiser->backend->adam_step(&step, optimiser->count, gradient, optimiser->first,
                                      optimiser->second, values);
    }
}

double cosine_rate(double rate, size_t step, size_t steps)
{
    const double pi = 3.14159265358979323846;

    return 0.5 * rate * (1.0 + cos(pi * (double)step / (double)steps));
}
