/* resnet: the residual network of Wang, Yan and Oates, "Time series classification from scratch
 * with deep neural networks: a strong baseline" (2017).  Each block is
 *
 *     h = norm(conv3(act(norm(conv2(act(norm(conv1(x))))))))
 *     y = act(h + shortcut(x))
 *
 * where the shortcut is a convolution with kernel 1 and a normalisation, or the normalisation alone
 * where x has as many channels as h.  The mean over time follows. */
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/layer.h"
#include "nn/network.h"

enum { BLOCKS, WIDTH, KERNEL1, KERNEL2, KERNEL3, NORM, ACT, END };
enum { CONVOLUTIONS = 3 };

static const struct word words[] = {
    [BLOCKS] = FAMILY_NUMBER("blocks", 3, 1, 16, "residual blocks of three convolutions"),
    [WIDTH] = FAMILY_NUMBER("width", 64, 1, BACKEND_MOST_CHANNELS / 2,
                            "channels of the first block; the others have twice as many"),
    [KERNEL1] =
        FAMILY_NUMBER("kernel1", 8, 1, 255, "steps that the first convolution of a block sees"),
    [KERNEL2] = FAMILY_NUMBER("kernel2", 5, 1, 255, "the second"),
    [KERNEL3] = FAMILY_NUMBER("kernel3", 3, 1, 255, "the third"),
    [NORM] = FAMILY_NORM,
    [ACT] = FAMILY_ACT,
    [END] = FAMILY_END(POOL_MEAN),
    {0},
};

/* Normalisation without an activation; nothing at all for norm=none. */
static struct error *normalise(struct network *network, const char *module, size_t *tensor)
{
    enum normalisation norm = (enum normalisation)network->architecture.values[NORM];

    return norm == NORM_NONE
               ? NULL
               : build_normact(network, module, norm, ACTIVATION_NONE, POOL_NONE, *tensor, tensor);
}

static struct error *build_shortcut(struct network *network, size_t block, size_t width,
                                    size_t *tensor)
{
    bool widens = block == 0 || network->tensors[*tensor].channels != width;
    char name[48];

    if (widens) {
        snprintf(name, sizeof name, "blocks.%zu.shortcut.0", block);
        TRY(build_conv1d(network, name, 1, *tensor, width, tensor));
    }
    snprintf(name, sizeof name, "blocks.%zu.shortcut.%d", block, widens);
    return normalise(network, name, tensor);
}

static struct error *build_block(struct network *network, size_t block, size_t *tensor)
{
    const size_t *values = network->architecture.values;
    enum activation act = (enum activation)values[ACT];
    size_t width = block == 0 ? values[WIDTH] : 2 * values[WIDTH];
    size_t shortcut = *tensor, h = shortcut;

    for (size_t i = 0; i < CONVOLUTIONS; i++) {
        char name[48];

        snprintf(name, sizeof name, "blocks.%zu.conv%zu", block, i + 1);
        TRY(build_conv1d(network, name, values[KERNEL1 + i], h, width, &h));
        snprintf(name, sizeof name, "blocks.%zu.norm%zu", block, i + 1);
        if (i + 1 < CONVOLUTIONS)
            TRY(build_normact(network, name, (enum normalisation)values[NORM], act, POOL_NONE, h,
                              &h));
        else
            TRY(normalise(network, name, &h));
    }
    TRY(build_shortcut(network, block, width, &shortcut));
    TRY(build_add(network, h, shortcut, &h));
    return build_normact(network, NULL, NORM_NONE, act, POOL_NONE, h, tensor);
}

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    size_t tensor;

    TRY(build_series(network, &tensor));
    for (size_t block = 0; block < values[BLOCKS]; block++)
        TRY(build_block(network, block, &tensor));
    return build_end(network, (enum pooling)values[END], tensor);
}

const struct family family_resnet = {
    .name = "resnet",
    .help = "the residual network of Wang et al. (2017)",
    .words = words,
    .build = build,
};
