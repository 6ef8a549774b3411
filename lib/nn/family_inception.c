/* inception: the network of InceptionTime, Ismail Fawaz et al., "InceptionTime: finding AlexNet for
 * time series classification" (2020).  Each module is
 *
 *     b = bottleneck(x)                                  kernel 1
 *     h = concat(conv1(b), conv2(b), conv3(b), conv4(max3(x)))      conv4: kernel 1
 *     y = act(norm(h))
 *
 * and every third ends in act(y + norm(shortcut(r))), where r is the input of the first of the
 * three and the shortcut a convolution with kernel 1.  The mean over time follows.  As in the
 * authors' code, no convolution has a bias, padding keeps the length (an even kernel has one more
 * step after than before), and series of one channel have no bottleneck. */
#include <stdio.h>

#include "nn/build.h"
#include "nn/family.h"
#include "nn/layer.h"
#include "nn/network.h"

enum { DEPTH, WIDTH, KERNEL1, KERNEL2, KERNEL3, BOTTLENECK, NORM, ACT, END };
enum { KERNELS = 3, BRANCHES = KERNELS + 1, MODULES_OF_A_RESIDUAL = 3 };

static const struct word words[] = {
    [DEPTH] = FAMILY_NUMBER("depth", 6, 1, 24, "modules"),
    [WIDTH] = FAMILY_NUMBER("width", 32, 1, BACKEND_MOST_CHANNELS / BRANCHES,
                            "channels of each of the four branches of a module"),
    [KERNEL1] = FAMILY_NUMBER("kernel1", 40, 1, 255, "steps that the first branch sees"),
    [KERNEL2] = FAMILY_NUMBER("kernel2", 20, 1, 255, "the second"),
    [KERNEL3] = FAMILY_NUMBER("kernel3", 10, 1, 255, "the third"),
    [BOTTLENECK] = FAMILY_NUMBER("bottleneck", 32, 0, BACKEND_MOST_CHANNELS,
                                 "channels that the three branches see; 0: all"),
    [NORM] = FAMILY_NORM,
    [ACT] = FAMILY_ACT,
    [END] = FAMILY_END(POOL_MEAN),
    {0},
};

static struct error *build_branches(struct network *network, size_t module, size_t input,
                                    size_t branches[BRANCHES])
{
    const size_t *values = network->architecture.values;
    size_t narrow = input, pooled;
    char name[48];

    if (values[BOTTLENECK] > 0 && network->tensors[input].channels > 1) {
        snprintf(name, sizeof name, "blocks.%zu.bottleneck", module);
        TRY(build_conv1d_plain(network, name, 1, input, values[BOTTLENECK], &narrow));
    }
    for (size_t i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "blocks.%zu.conv%zu", module, i + 1);
        TRY(build_conv1d_plain(network, name, values[KERNEL1 + i], narrow, values[WIDTH],
                               &branches[i]));
    }
    TRY(build_max3(network, input, &pooled));
    snprintf(name, sizeof name, "blocks.%zu.conv%d", module, BRANCHES);
    return build_conv1d_plain(network, name, 1, pooled, values[WIDTH], &branches[KERNELS]);
}

static struct error *build_module(struct network *network, size_t module, size_t *tensor)
{
    const size_t *values = network->architecture.values;
    size_t branches[BRANCHES], together;
    char name[48];

    TRY(build_branches(network, module, *tensor, branches));
    TRY(build_concat(network, BRANCHES, branches, &together));
    snprintf(name, sizeof name, "blocks.%zu.norm", module);
    return build_normact(network, name, (enum normalisation)values[NORM],
                         (enum activation)values[ACT], POOL_NONE, together, tensor);
}

/* act(tensor + norm(shortcut(start))), as part of the module that it follows. */
static struct error *build_residual(struct network *network, size_t module, size_t start,
                                    size_t *tensor)
{
    const size_t *values = network->architecture.values;
    enum normalisation norm = (enum normalisation)values[NORM];
    size_t shortcut;
    char name[48];

    snprintf(name, sizeof name, "blocks.%zu.shortcut.0", module);
    TRY(build_conv1d_plain(network, name, 1, start, BRANCHES * values[WIDTH], &shortcut));
    if (norm != NORM_NONE) {
        snprintf(name, sizeof name, "blocks.%zu.shortcut.1", module);
        TRY(build_normact(network, name, norm, ACTIVATION_NONE, POOL_NONE, shortcut, &shortcut));
    }
    TRY(build_add(network, *tensor, shortcut, tensor));
    return build_normact(network, NULL, NORM_NONE, (enum activation)values[ACT], POOL_NONE, *tensor,
                         tensor);
}

static struct error *build(struct network *network)
{
    const size_t *values = network->architecture.values;
    size_t tensor, start;

    TRY(build_series(network, &tensor));
    start = tensor;
    for (size_t module = 0; module < values[DEPTH]; module++) {
        TRY(build_module(network, module, &tensor));
        if ((module + 1) % MODULES_OF_A_RESIDUAL == 0) {
            TRY(build_residual(network, module, start, &tensor));
            start = tensor;
        }
    }
    return build_end(network, (enum pooling)values[END], tensor);
}

const struct family family_inception = {
    .name = "inception",
    .help = "the network of InceptionTime, Ismail Fawaz et al. (2020)",
    .words = words,
    .build = build,
};
