/* Entropy coding of small whole numbers: mixed adaptive models, and asymmetric numeral systems.
 *
 * Numbers are coded in P lanes, which take turns: one number of each lane, then the next one of
 * each.  So a reader can handle all lanes at once with vectors (formats/shapecond.py does), and
 * still all learn from all.  The caller says by its contexts what is known of a number before it is
 * read; numbers in the same context have the same distribution, which is learned from those that
 * came before.  sc-dataset(5) defines every step: integers alone, so the same bytes everywhere. */
#ifndef SHAPECOND_FORMATS_CODER_H
#define SHAPECOND_FORMATS_CODER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    CODER_MOST_LANES = 256,
    CODER_MOST_INPUTS = 8, /* contexts of a number */
    CODER_SETS = 8,        /* choices of weights that the caller has */
    CODER_MOST = 65535,    /* largest absolute value of a number */
    CODER_RATIO = 12000,   /* no more numbers than this come from a byte */
};

struct coder;

/* An encoder of `lanes` lanes with `inputs` contexts each; or, with bytes, a decoder of them.  The
 * bytes must stay as long as the decoder. */
struct error *coder_new(size_t lanes, size_t inputs, const uint8_t *bytes, size_t size,
                        struct coder **coder) MUST_CHECK;

/* The contexts of the next number of a lane, to be filled in, and which weights mix their
 * predictions. */
uint32_t *coder_contexts(struct coder *coder, size_t lane);
void coder_set(struct coder *coder, size_t lane, unsigned set);

/* A context of several small numbers is the sum of coder_word(i, number i). */
enum { CODER_WORDS = 12 };
extern const uint32_t coder_factors[CODER_WORDS];
static inline uint32_t coder_word(unsigned i, int32_t number)
{
    return coder_factors[i] * (uint32_t)number;
}

/* Codes one number of each of the first `count` lanes: reads it from an array, or writes it there.
 * coder_numbers: of any sign, best for those near 0; coder_codes: of 0 ... 2^bits - 1. */
struct error *coder_numbers(struct coder *coder, size_t count, int32_t *numbers) MUST_CHECK;
struct error *coder_codes(struct coder *coder, size_t count, unsigned bits,
                          int32_t *codes) MUST_CHECK;

/* Encoder: all bytes, which the caller frees.  Decoder (bytes NULL): whether it came to the end. */
struct error *coder_finish(struct coder *coder, uint8_t **bytes, size_t *size) MUST_CHECK;

void coder_free(struct coder *coder);

#endif
