/* gru: layers of gated recurrent units (Cho et al. 2014) as PyTorch's nn.GRU, then the last state,
 * or the maximum or mean over time of the last layer's. */
#include "nn/build.h"
#include "nn/family.h"
#include "nn/network.h"

enum { HIDDEN, LAYERS, END };

/* In the order of enum pooling. */
static const char *const ends[] = {"last", "max", "mean", NULL};

static const struct word words[] = {
    [HIDDEN] = FAMILY_NUMBER("hidden", 64, 1, BACKEND_MOST_CHANNELS / 2, "values of a state"),
    [LAYERS] = FAMILY_NUMBER("layers", 1, 1, 16, "each reads the states of the one before"),
    [END] = {.name = "end",
             .standard = POOL_NONE,
             .choices = ends,
             .help = "what the classifier sees: the last state, or the maximum or mean of all"},
    {0},
};

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    enum pooling end = (enum pooling)values[END];
    size_t tensor;

    TRY(build_series(network, &tensor));
    for (size_t layer = 0; layer < values[LAYERS]; layer++)
        TRY(build_gru(network, "rnn", layer, tensor, values[HIDDEN], &tensor));
    if (end == POOL_NONE)
        TRY(build_last(network, tensor, &tensor));
    return build_end(network, end, tensor);
}

const struct family family_gru = {
    .name = "gru",
    .help = "gated recurrent units",
    .words = words,
    .build = build,
};
