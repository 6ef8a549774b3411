/* One instance of the steps of optimisers: the including file defines the name UPDATE_KERNELS. */
#include "nn/kernels_update.h"

#include <math.h>

static void sgd(const struct optimiser_step *options, size_t count, const float *restrict gradient,
                float *restrict velocity, float *restrict values)
{
    struct optimiser_step step = *options;

    for (size_t i = 0; i < count; i++) {
        velocity[i] = step.momentum * velocity[i] + (gradient[i] + step.decay * values[i]);
        values[i] -= step.rate * velocity[i];
    }
}

static void adam(const struct optimiser_step *options, size_t count, const float *restrict gradient,
                 float *restrict first, float *restrict second, float *restrict values)
{
    struct optimiser_step step = *options;

    for (size_t i = 0; i < count; i++) {
        float value = values[i] * step.shrink, g = gradient[i] + step.decay * value;

        first[i] += step.new1 * (g - first[i]);
        second[i] = step.beta2 * second[i] + step.new2 * g * g;
        values[i] = value - step.rate * first[i] / (sqrtf(second[i]) * step.root + step.epsilon);
    }
}

const struct update_kernels UPDATE_KERNELS = {.sgd = sgd, .adam = adam};
