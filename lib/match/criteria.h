/* The distance of two gradients, or of two sets of embeddings: the losses of dc, dsa and dm. */
#ifndef SC_MATCH_CRITERIA_H
#define SC_MATCH_CRITERIA_H

#include <stddef.h>

#include "match/model.h"

/* Zhao, Mopuri & Bilen, "Dataset condensation with gradient matching", 2021: the sum over layers
 * and their output rows of one minus the cosine between the gradients of the row's weights.  Biases
 * and factors of normalisations do not count.  real and synthetic are gradients of the model's
 * parameters; the gradient with respect to `synthetic` is written. */
double gradient_distance(const struct model *model, const float *real, const float *synthetic,
                         float *dsynthetic);

/* Zhao & Bilen, "Dataset condensation with distribution matching", 2023: the squared distance
 * between the means of two sets of points of `dimension` values.  The gradient with respect to each
 * synthetic point is written: (synthetic_count, dimension). */
double mean_distance(size_t dimension, size_t real_count, const float *real, size_t synthetic_count,
                     const float *synthetic, float *dsynthetic);

#endif
