/* Differentiable augmentations of series (Zhao & Bilen, "Dataset condensation with differentiable
 * Siamese augmentation", 2021, for series): one that is drawn at random changes the real and the
 * condensed series of a batch in the same way, and can be differentiated.
 *
 * Every kind is an affine map of a channel,
 *     out[t] = gain (first[t] x[index[t]] + second[t] x[index[t] + 1]) + noise[t]
 * so that one loop applies them all and one takes gradients back. */
#ifndef SC_MATCH_AUGMENT_H
#define SC_MATCH_AUGMENT_H

#include <stddef.h>

#include "base/random.h"
#include "base/error.h"

enum augmentation_kind {
    AUGMENT_JITTER, /* noise is added, a tenth of the unit */
    AUGMENT_SCALE,  /* each channel is multiplied by a number around 1 */
    AUGMENT_SHIFT,  /* to either side, by up to an eighth; zeros come in */
    AUGMENT_CROP,   /* a part of at least 4/5 is stretched to the whole */
    AUGMENT_CUTOUT, /* up to a quarter becomes zero */
    AUGMENT_FLIP,   /* runs backwards */
    AUGMENT_KINDS,
    AUGMENT_NONE = AUGMENT_KINDS,
};

struct augmentation {
    size_t channels, length;
    size_t *index;         /* (L,) */
    float *first, *second; /* (L,) */
    float *gain;           /* (C,) */
    float *noise;          /* (C, L) */
};

/* One that changes nothing. */
struct error *augmentation_new(size_t channels, size_t length,
                               struct augmentation *augmentation) MUST_CHECK;
/* Safe on one that is all zeros. */
void augmentation_free(struct augmentation *augmentation);

/* Makes it one of that kind with parameters drawn from the stream.  unit: what the series deviate
 * from their mean. */
void augmentation_draw(struct augmentation *augmentation, enum augmentation_kind kind, double unit,
                       struct random_stream *stream);

/* out = the series augmented, (count, C, L) both; not in place. */
void augmentation_apply(const struct augmentation *augmentation, size_t count, const float *x,
                        float *out);

/* The gradient of the series from that of the augmented ones, written: (count, C, L) both. */
void augmentation_adjoint(const struct augmentation *augmentation, size_t count, const float *dout,
                          float *dx);

#endif
