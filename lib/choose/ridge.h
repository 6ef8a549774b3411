/* Which real series to start from: those that explain the teacher.
 *
 * A student that learns the teacher's answers for a few series comes close to a ridge regression
 * from shapelet features to logits.  So for each draw of series that regression is made, and judged
 * by how far it is from what the teacher says of all the candidates; the best of many draws is
 * improved by exchanging single series. */
#ifndef SC_CHOOSE_RIDGE_H
#define SC_CHOOSE_RIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct explain_candidates {
    size_t count, columns, classes; /* N, K, V */
    const float *features;          /* (N, K) */
    const float *logits;            /* (N, V), of the teacher */
    const int32_t *labels;          /* (N,) */
};

/* chosen (V, per_class): of each class as many candidates as are asked for and there are, then
 * SIZE_MAX.  *apart, if not NULL: the share of the variance of the logits that the regression does
 * not explain. */
struct error *explain_choose(const struct explain_candidates *candidates, size_t per_class,
                             uint64_t seed, size_t *chosen, double *apart) MUST_CHECK;

#endif
