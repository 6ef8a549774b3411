/* transformer: an encoder of Vaswani et al., "Attention is all you need" (2017), on the series.
 *
 *     x = linear of every patch of steps (+ positions)
 *     layers of self-attention and feed-forward, each with a residual
 *     norm, then the maximum or mean over time
 *
 * norm=batch is the paper's: an activation after the first linear layer and after the last norm,
 * and a norm after each residual,
 *
 *     x = norm1(x + attention(x));  x = norm2(x + ff(x))
 *
 * norm=layer is what is usual today: norms before, which are of each step over its channels,
 *
 *     x = x + attention(norm1(x));  x = x + ff(norm2(x)) */
#include <math.h>
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/network.h"

enum { WIDTH, HEADS, LAYERS, FF, PATCH, NORM, ACT, DROPOUT, POSITIONS, END };
enum { TRANSFORMER_BATCH, TRANSFORMER_LAYER }; /* norms */

/* Attention is quadratic; and the counters of its dropout have 32 bits. */
enum { MOST_STEPS = 16384, MOST_HEADS = 32 };

static const char *const norms[] = {"batch", "layer", NULL};
static const char *const positions[] = {"none", "learned", NULL};

static const struct word words[] = {
    [WIDTH] = FAMILY_NUMBER("width", 64, 1, BACKEND_MOST_CHANNELS / 2,
                            "channels between the layers; heads must divide it"),
    [HEADS] = FAMILY_NUMBER("heads", 1, 1, MOST_HEADS, "of every attention"),
    [LAYERS] = FAMILY_NUMBER("layers", 1, 1, 16, "encoder layers: attention, then feed-forward"),
    [FF] =
        FAMILY_NUMBER("ff", 128, 1, BACKEND_MOST_CHANNELS, "channels inside the feed-forward part"),
    [PATCH] = FAMILY_NUMBER("patch", 1, 1, 1 << 16,
                            "steps of the series that are one step of the network"),
    [NORM] = {.name = "norm",
              .standard = TRANSFORMER_BATCH,
              .choices = norms,
              .help = "batch: after each residual, as the paper; layer: of each step, before"},
    [ACT] = FAMILY_ACT,
    [DROPOUT] = {.name = "dropout",
                 .standard = 100,
                 .smallest = 0,
                 .largest = 900,
                 .thousandths = true,
                 .help = "share of the values that training drops"},
    [POSITIONS] = {.name = "positions",
                   .standard = 0,
                   .choices = positions,
                   .help = "learned values for every step"},
    [END] = FAMILY_END(POOL_MAX),
    {0},
};

static struct error *check(const struct architecture *architecture)
{
    const size_t *values = architecture->values;
    size_t steps = architecture->length / values[PATCH];

    if (values[WIDTH] % values[HEADS])
        return error_make("network: heads=%zu must divide width=%zu", values[HEADS], values[WIDTH]);
    if (steps == 0)
        return error_make("network: series of %zu steps are shorter than patch=%zu",
                          architecture->length, values[PATCH]);
    if (steps > MOST_STEPS)
        return error_make("network: series of %zu steps make %zu patches, a transformer takes at "
                          "most %d: use a larger patch",
                          architecture->length, steps, MOST_STEPS);
    return NULL;
}

/* One encoder layer, with the words that it needs. */
struct encoder {
    struct network *network;
    const size_t *values;
    double dropout;
    char prefix[28]; /* "encoder.layers.0" */
};

static struct error *normalise(const struct encoder *encoder, const char *module,
                               enum activation act, size_t *tensor)
{
    char name[48];

    snprintf(name, sizeof name, "%s.%s", encoder->prefix, module);
    return encoder->values[NORM] == TRANSFORMER_LAYER
               ? build_rownorm(encoder->network, name, *tensor, tensor)
               : build_normact(encoder->network, name, NORM_BATCH, act, POOL_NONE, *tensor, tensor);
}

/* in_proj as PyTorch's nn.MultiheadAttention starts it: Xavier for all three together, no bias. */
static struct error *build_self_attention(const struct encoder *encoder, size_t *tensor)
{
    struct network *network = encoder->network;
    size_t width = encoder->values[WIDTH];
    struct projection in = {"in_proj_weight", "in_proj_bias", sqrt(6.0 / (4.0 * (double)width)), 0};
    struct projection out = {"weight", "bias", 1.0 / sqrt((double)width), 0};
    char name[48];

    snprintf(name, sizeof name, "%s.self_attn", encoder->prefix);
    TRY(build_projection(network, name, &in, *tensor, 3 * width, tensor));
    TRY(build_attention(network, encoder->values[HEADS], encoder->dropout, *tensor, tensor));
    snprintf(name, sizeof name, "%s.self_attn.out_proj", encoder->prefix);
    TRY(build_projection(network, name, &out, *tensor, width, tensor));
    return build_dropout(network, encoder->dropout, *tensor, tensor);
}

static struct error *build_feed_forward(const struct encoder *encoder, size_t *tensor)
{
    struct network *network = encoder->network;
    const size_t *values = encoder->values;
    char name[48];

    snprintf(name, sizeof name, "%s.linear1", encoder->prefix);
    TRY(build_projection(network, name, NULL, *tensor, values[FF], tensor));
    TRY(build_normact(network, NULL, NORM_NONE, (enum activation)values[ACT], POOL_NONE, *tensor,
                      tensor));
    TRY(build_dropout(network, encoder->dropout, *tensor, tensor));
    snprintf(name, sizeof name, "%s.linear2", encoder->prefix);
    TRY(build_projection(network, name, NULL, *tensor, values[WIDTH], tensor));
    return build_dropout(network, encoder->dropout, *tensor, tensor);
}

typedef struct error *branch_function(const struct encoder *encoder, size_t *tensor);

/* x + branch(x), with its norm where it belongs. */
static struct error *build_residual(const struct encoder *encoder, branch_function *branch,
                                    const char *norm, size_t *tensor)
{
    bool before = encoder->values[NORM] == TRANSFORMER_LAYER;
    size_t inner = *tensor;

    if (before)
        TRY(normalise(encoder, norm, ACTIVATION_NONE, &inner));
    /* cppcheck-suppress returnDanglingLifetime */
    TRY(branch(encoder, &inner));
    TRY(build_add(encoder->network, inner, *tensor, tensor));
    return before ? NULL : normalise(encoder, norm, ACTIVATION_NONE, tensor);
}

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    struct encoder encoder = {
        .network = network, .values = values, .dropout = (double)values[DROPOUT] / 1000};
    bool paper = values[NORM] == TRANSFORMER_BATCH;
    enum activation act = (enum activation)values[ACT];
    size_t tensor;

    TRY(build_series(network, &tensor));
    TRY(build_patches(network, "embedding", values[PATCH], tensor, values[WIDTH], &tensor));
    if (paper)
        TRY(build_normact(network, NULL, NORM_NONE, act, POOL_NONE, tensor, &tensor));
    if (values[POSITIONS])
        TRY(build_positions(network, "positions", tensor, &tensor));
    for (size_t layer = 0; layer < values[LAYERS]; layer++) {
        snprintf(encoder.prefix, sizeof encoder.prefix, "encoder.layers.%u", (unsigned)layer);
        TRY(build_residual(&encoder, build_self_attention, "norm1", &tensor));
        TRY(build_residual(&encoder, build_feed_forward, "norm2", &tensor));
    }
    snprintf(encoder.prefix, sizeof encoder.prefix, "encoder");
    TRY(normalise(&encoder, "norm", paper ? act : ACTIVATION_NONE, &tensor));
    return build_end(network, (enum pooling)values[END], tensor);
}

const struct family family_transformer = {
    .name = "transformer",
    .help = "the paper's transformer, or with norm=layer the usual one",
    .words = words,
    .check = check,
    .build = build,
};
