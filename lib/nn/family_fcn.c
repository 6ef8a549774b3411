/* fcn: the fully convolutional network of Wang, Yan and Oates, "Time series classification from
 * scratch with deep neural networks: a strong baseline" (2017).  Three blocks of convolution,
 * normalisation and activation at full length, then the mean over time. */
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/network.h"

enum { WIDTH, KERNEL1, KERNEL2, KERNEL3, NORM, ACT, END };
enum { BLOCKS = 3 };

static const struct word words[] = {
    [WIDTH] =
        FAMILY_NUMBER("width", 128, 1, BACKEND_MOST_CHANNELS / 2,
                      "channels of the first and the last block; the second has twice as many"),
    [KERNEL1] = FAMILY_NUMBER("kernel1", 8, 1, 255, "steps that the first convolution sees"),
    [KERNEL2] = FAMILY_NUMBER("kernel2", 5, 1, 255, "the second"),
    [KERNEL3] = FAMILY_NUMBER("kernel3", 3, 1, 255, "the third"),
    [NORM] = FAMILY_NORM,
    [ACT] = FAMILY_ACT,
    [END] = FAMILY_END(POOL_MEAN),
    {0},
};

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    size_t module = 0, tensor;

    TRY(build_series(network, &tensor));
    for (size_t block = 0; block < BLOCKS; block++) {
        size_t width = block == 1 ? 2 * values[WIDTH] : values[WIDTH];
        char name[32];

        snprintf(name, sizeof name, "features.%zu", module++);
        TRY(build_conv1d(network, name, values[KERNEL1 + block], tensor, width, &tensor));
        if (values[NORM] != NORM_NONE)
            snprintf(name, sizeof name, "features.%zu", module++);
        TRY(build_normact(network, name, (enum normalisation)values[NORM],
                          (enum activation)values[ACT], POOL_NONE, tensor, &tensor));
        module++;
    }
    return build_end(network, (enum pooling)values[END], tensor);
}

const struct family family_fcn = {
    .name = "fcn",
    .help = "the fully convolutional network of Wang et al. (2017)",
    .words = words,
    .build = build,
};
