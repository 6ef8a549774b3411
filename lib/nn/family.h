/* Families of networks: what `cnn`, `fcn`, `resnet` mean (internal to lib/nn).
 *
 * A family describes its words and builds its graph out of layers (build.h).  A new one is one file
 * family_NAME.c and one row in the table of architecture.c. */
#ifndef SC_NN_FAMILY_H
#define SC_NN_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "nn/architecture.h"
#include "nn/backend.h"

struct network;

/* One word=value of a description. */
struct word {
    const char *name;
    size_t standard;          /* the default */
    size_t smallest, largest; /* of a number */
    const char *const
        *choices;     /* or the values it can have, NULL at the end; the number is the index */
    bool odd;         /* a number that must be odd */
    bool thousandths; /* a fraction: its value, smallest and largest are in thousandths */
    bool unwritten;   /* not written while it has its default */
    const char *help;
};

struct family {
    const char *name;
    const char *help;
    const struct word *words; /* at most ARCHITECTURE_WORDS, up to one without a name */
    /* Refuses what the ranges of the words do not: lengths that the network cannot take.  May be
     * NULL. */
    struct error *(*check)(const struct architecture *architecture);
    /* Adds the layers up to the classifier to an empty network. */
    struct error *(*build)(struct network *network);
};

extern const struct family family_cnn, family_fcn, family_resnet, family_inception, family_tcn,
    family_mlp, family_transformer, family_gru;

/* Choices that several families have, in the order of the enumerations of backend.h. */
extern const char *const family_norms[], *const family_activations[], *const family_poolings[],
                                                                          *const family_ends[];

/* A word with a whole number: its name, default, limits and help. */
#define FAMILY_NUMBER(word_, default_, least_, most_, help_)                                       \
    {                                                                                              \
        .name = word_, .standard = default_, .smallest = least_, .largest = most_, .help = help_   \
    }

/* Words that several families have. */
#define FAMILY_NORM                                                                                \
    {                                                                                              \
        .name = "norm", .standard = NORM_BATCH, .choices = family_norms, .help = "normalisation"   \
    }
#define FAMILY_ACT                                                                                 \
    {                                                                                              \
        .name = "act", .standard = ACTIVATION_RELU, .choices = family_activations,                 \
        .help = "activation; leaky: leaky ReLU with slope 0.01; gelu: exact, by erf"               \
    }
#define FAMILY_END(pool)                                                                           \
    {                                                                                              \
        .name = "end", .standard = pool, .choices = family_ends, .unwritten = (pool) == POOL_NONE, \
        .help = "what the classifier sees: all steps, or their maximum or mean"                    \
    }

#endif
