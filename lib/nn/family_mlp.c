/* mlp: the multilayer perceptron of Wang, Yan and Oates (2017), without its dropout.  The series is
 * flattened, channel after channel, and goes through linear layers, each followed by an activation;
 * a normalisation before it is not part of the original. */
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/network.h"

enum { DEPTH, WIDTH, NORM, ACT };

/* There is only one step: normalisations over time have nothing to average. */
static const char *const norms[] = {
    [NORM_NONE] = "none", [NORM_BATCH] = "batch", [NORM_BATCH + 1] = NULL};

static const struct word words[] = {
    [DEPTH] = FAMILY_NUMBER("depth", 3, 1, 16, "hidden layers"),
    [WIDTH] = FAMILY_NUMBER("width", 500, 1, BACKEND_MOST_CHANNELS, "values of every hidden layer"),
    [NORM] = {.name = "norm", .standard = NORM_NONE, .choices = norms, .help = "normalisation"},
    [ACT] = FAMILY_ACT,
    {0},
};

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    enum normalisation norm = (enum normalisation)values[NORM];
    size_t module = 0, tensor;

    TRY(build_flat_series(network, &tensor));
    for (size_t layer = 0; layer < values[DEPTH]; layer++) {
        char name[32];

        snprintf(name, sizeof name, "features.%zu", module++);
        TRY((network->backend->dense_forward ? build_dense : build_hidden)(network, name, tensor,
                                                                           values[WIDTH], &tensor));
        if (norm != NORM_NONE)
            snprintf(name, sizeof name, "features.%zu", module++);
        TRY(build_normact(network, name, norm, (enum activation)values[ACT], POOL_NONE, tensor,
                          &tensor));
        module++;
    }
    return build_classifier(network, tensor);
}

const struct family family_mlp = {
    .name = "mlp",
    .help = "the multilayer perceptron of Wang et al. (2017)",
    .words = words,
    .build = build,
};
