/* What a network is, as one readable line: a family and word=value pairs in any order,
 *
 *     cnn depth=3 width=32 kernel=3 norm=batch act=relu pool=max channels=9 length=128 classes=6
 *
 * the same text that teacher files carry (tch(5)) and that tools take on the command line.  Each
 * family (family.h) has words of its own, with defaults; all of them share the numbers of the data
 * (channels, length, classes, features), which are usually filled in from the data. */
#ifndef SC_NN_ARCHITECTURE_H
#define SC_NN_ARCHITECTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { ARCHITECTURE_WORDS = 16 }; /* that a family may have */

struct family;

struct architecture {
    const struct family *family;
    size_t values[ARCHITECTURE_WORDS]; /* of the family's words, in the order of its table */
    size_t channels;                   /* C of the series; 0 while unknown */
    size_t length;                     /* L */
    size_t classes;                    /* V */
    size_t features;                   /* K shapelet features before the last layer; 0: none */
};

/* Values of one series. */
static inline size_t architecture_series_size(const struct architecture *architecture)
{
    return architecture->channels * architecture->length;
}

/* The teacher of the paper: 3 blocks of width 32, batch normalisation, ReLU, max pooling. */
struct architecture architecture_default(void);

/* Reads the text.  Unknown words, bad numbers and words given twice are errors that name the word.
 */
struct error *architecture_parse(const char *text, struct architecture *architecture) MUST_CHECK;

#define ARCHITECTURE_TEXT 256
/* Writes the text, in a fixed order; numbers of the data only where they are known.
 * Of an architecture that is all zeros the text is empty. */
void architecture_print(const struct architecture *architecture, char text[ARCHITECTURE_TEXT]);

/* Whether a network of that kind can be built: all numbers known and in range, and whatever the
 * family demands. */
struct error *architecture_check(const struct architecture *architecture) MUST_CHECK;

/* The value of a word of the family; 0 for one that it does not have. */
size_t architecture_value(const struct architecture *architecture, const char *word);

#endif
