/* What a network is, as one readable line:
 *
 *     cnn depth=3 width=32 kernel=3 norm=batch act=relu pool=max channels=9 length=128 classes=6
 *
 * the same text that teacher files carry (tch(5)) and that tools take on the command line.  A `cnn`
 * has `depth` blocks of convolution (odd kernel, same padding), normalisation, activation and
 * pooling by 2, in that order, then one linear layer on the flattened result, with `features`
 * shapelet distances put in front of it.  Words that are left out have the defaults below; the
 * numbers of the data (channels, length, classes, features) are usually filled in from the data. */
#ifndef SC_NN_ARCHITECTURE_H
#define SC_NN_ARCHITECTURE_H

#include <stddef.h>

#include "error.h"

enum backbone { BACKBONE_CNN };
enum normalisation { NORM_NONE, NORM_BATCH, NORM_INSTANCE, NORM_LAYER };
enum activation { ACTIVATION_RELU, ACTIVATION_LEAKY_RELU, ACTIVATION_SIGMOID };
enum pooling { POOL_NONE, POOL_MAX, POOL_MEAN };

struct architecture {
    enum backbone backbone;
    size_t depth;            /* 3 */
    size_t width;            /* 32 */
    size_t kernel;           /* 3; odd */
    enum normalisation norm; /* batch */
    enum activation act;     /* relu; "leaky" is leaky ReLU with slope 0.01 */
    enum pooling pool;       /* max */
    size_t channels;         /* C of the series; 0 while unknown */
    size_t length;           /* L */
    size_t classes;          /* V */
    size_t features;         /* K shapelet features before the linear layer; 0 none */
};

/* The teacher of the paper: 3 blocks of width 32, batch normalisation, ReLU, max pooling. */
struct architecture architecture_default(void);

/* Reads the text.  Unknown words, bad numbers and words given twice are errors that name the word.
 */
struct error *architecture_parse(const char *text, struct architecture *architecture) MUST_CHECK;

#define ARCHITECTURE_TEXT 256
/* Writes the text, all words, in a fixed order; numbers of the data only where they are known. */
void architecture_print(const struct architecture *architecture, char text[ARCHITECTURE_TEXT]);

/* Whether a network of that kind can be built: all numbers known and of sane size, and something
 * left after pooling. */
struct error *architecture_check(const struct architecture *architecture) MUST_CHECK;

/* Steps that are left after the first `blocks` blocks. */
size_t architecture_steps(const struct architecture *architecture, size_t blocks);

/* Values that go into the last linear layer: features + width * steps. */
size_t architecture_embedding(const struct architecture *architecture);

#endif
