/* cnn: the paper's convolutional network.  `depth` blocks of convolution, normalisation, activation
 * and pooling by 2, then one linear layer on the flattened result, or on its maximum or mean over
 * time. */
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/network.h"

enum { DEPTH, WIDTH, KERNEL, NORM, ACT, POOL, END };

static const struct word words[] = {
    [DEPTH] = FAMILY_NUMBER("depth", 3, 1, 16,
                            "blocks of convolution, normalisation, activation, pooling"),
    [WIDTH] = FAMILY_NUMBER("width", 32, 1, BACKEND_MOST_CHANNELS,
                            "channels of every convolution's output"),
    [KERNEL] = {.name = "kernel",
                .standard = 3,
                .smallest = 1,
                .largest = 255,
                .odd = true,
                .help = "steps that a convolution sees; odd; padding keeps the length"},
    [NORM] = FAMILY_NORM,
    [ACT] = FAMILY_ACT,
    [POOL] = {.name = "pool",
              .standard = POOL_MAX,
              .choices = family_poolings,
              .help = "pooling of two steps"},
    [END] = FAMILY_END(POOL_NONE),
    {0},
};

static struct error *check(const struct architecture *architecture)
{
    size_t depth = architecture->values[DEPTH];

    if (architecture->values[POOL] != POOL_NONE && architecture->length >> depth == 0)
        return error_make("network: series of %zu steps vanish under %zu poolings by 2: use a "
                          "smaller depth or pool=none",
                          architecture->length, depth);
    return NULL;
}

/* PyTorch numbers the modules of a Sequential: convolution, normalisation (unless none),
 * activation, pooling (unless none). */
static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    enum normalisation norm = (enum normalisation)values[NORM];
    enum pooling pool = (enum pooling)values[POOL];
    size_t module = 0, tensor;

    TRY(build_series(network, &tensor));
    for (size_t block = 0; block < values[DEPTH]; block++) {
        char name[32];

        snprintf(name, sizeof name, "features.%zu", module++);
        TRY(build_conv1d(network, name, values[KERNEL], tensor, values[WIDTH], &tensor));
        if (norm != NORM_NONE)
            snprintf(name, sizeof name, "features.%zu", module++);
        TRY(build_normact(network, name, norm, (enum activation)values[ACT], pool, tensor,
                          &tensor));
        module += pool == POOL_NONE ? 1 : 2;
    }
    return build_end(network, (enum pooling)values[END], tensor);
}

const struct family family_cnn = {
    .name = "cnn",
    .help = "the paper's convolutional network",
    .words = words,
    .check = check,
    .build = build,
};
