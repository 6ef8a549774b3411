/* Ridge selection: the real series from which a ridge regression predicts the teacher best.
 *
 * A student that learns the teacher's logits for a few series comes close to a ridge regression
 * from shapelet features to logits.  So for each draw of series that regression is fitted and
 * judged by its squared error on all candidates; the best of many draws is improved by exchanging
 * single series. */
#ifndef SC_CHOOSE_RIDGE_H
#define SC_CHOOSE_RIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ridge_candidates {
    size_t count, columns, classes; /* N, K, V */
    const float *features;          /* (N, K) */
    const float *logits;            /* (N, V), of the teacher */
    const int32_t *labels;          /* (N,) */
};

/* chosen (V, per_class): of each class as many candidates as are asked for and exist, then
 * SIZE_MAX. *unexplained, if not NULL: the share of the variance of the logits that the regression
 * does not explain. */
struct error *ridge_choose(const struct ridge_candidates *candidates, size_t per_class,
                           uint64_t seed, size_t *chosen, double *unexplained) MUST_CHECK;

#endif
