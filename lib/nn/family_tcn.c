/* tcn: the temporal convolutional network of Bai, Kolter and Koltun, "An empirical evaluation of
 * generic convolutional and recurrent networks for sequence modeling" (2018).  Block i has two
 * causal convolutions with dilation 2^i:
 *
 *     h = act(norm(conv2(act(norm(conv1(x))))))
 *     y = act(h + shortcut(x))
 *
 * where the shortcut of the first block is a convolution with kernel 1, and x itself later.  The
 * last step, which sees 1 + 2 (kernel - 1) (2^depth - 1) steps, goes to the classifier.  A
 * normalisation stands where the original normalises weights, and there is no dropout. */
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/layer.h"
#include "nn/network.h"

enum { DEPTH, WIDTH, KERNEL, NORM, ACT, END };
enum { CONVOLUTIONS = 2, END_LAST = POOL_MEAN + 1 };

static const char *const ends[] = {"flatten", "max", "mean", [END_LAST] = "last", NULL};

static const struct word words[] = {
    [DEPTH] = FAMILY_NUMBER("depth", 5, 1, 16,
                            "residual blocks of two convolutions; the dilation doubles with each"),
    [WIDTH] = FAMILY_NUMBER("width", 32, 1, BACKEND_MOST_CHANNELS,
                            "channels of every convolution's output"),
    [KERNEL] = FAMILY_NUMBER("kernel", 7, 1, 255,
                             "steps that a convolution sees, its own and earlier ones"),
    [NORM] = FAMILY_NORM,
    [ACT] = FAMILY_ACT,
    [END] = {.name = "end",
             .standard = END_LAST,
             .choices = ends,
             .help = "what the classifier sees: all steps, their maximum or mean, or the last"},
    {0},
};

static struct error *build_block(struct network *network, size_t block, size_t *tensor)
{
    const size_t *values = network->architecture.values;
    enum activation act = (enum activation)values[ACT];
    size_t shortcut = *tensor, h = shortcut;
    char name[48];

    for (size_t i = 1; i <= CONVOLUTIONS; i++) {
        snprintf(name, sizeof name, "blocks.%zu.conv%zu", block, i);
        TRY(build_conv1d_causal(network, name, values[KERNEL], (size_t)1 << block, h, values[WIDTH],
                                &h));
        snprintf(name, sizeof name, "blocks.%zu.norm%zu", block, i);
        TRY(build_normact(network, name, (enum normalisation)values[NORM], act, POOL_NONE, h, &h));
    }
    /* Series are not filled up to whole vectors: they cannot be added as they are. */
    if (block == 0) {
        snprintf(name, sizeof name, "blocks.%zu.shortcut", block);
        TRY(build_conv1d(network, name, 1, shortcut, values[WIDTH], &shortcut));
    }
    TRY(build_add(network, h, shortcut, &h));
    return build_normact(network, NULL, NORM_NONE, act, POOL_NONE, h, tensor);
}

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    size_t tensor;

    TRY(build_series(network, &tensor));
    for (size_t block = 0; block < values[DEPTH]; block++)
        TRY(build_block(network, block, &tensor));
    if (values[END] != END_LAST)
        return build_end(network, (enum pooling)values[END], tensor);
    TRY(build_last(network, tensor, &tensor));
    return build_classifier(network, tensor);
}

const struct family family_tcn = {
    .name = "tcn",
    .help = "the temporal convolutional network of Bai et al. (2018)",
    .words = words,
    .build = build,
};
