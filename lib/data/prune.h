/* Keeping a random part of a dataset (paper, 3.1, "data pruning").
 *
 * All series are put into one random order, and a class (or the dataset) keeps its first ones: with
 * the same seed, what a stronger pruning keeps is always part of what a weaker one keeps. */
#ifndef SC_DATA_PRUNE_H
#define SC_DATA_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

struct prune_options {
    double ratio;     /* p: the share to drop, 0 <= p < 1 */
    size_t per_class; /* the most to keep of each class; 0: no limit */
    bool overall;     /* the share is that of the whole dataset, not of each class */
    uint64_t seed;
};

/* The series to keep, in the order of the dataset, and how many; the caller frees *kept.  A class
 * of n series keeps (1-p) n, rounded, but at least one.  The dataset must have labels, unless
 * `overall` is set and per_class is 0. */
struct error *prune_choose(const struct dataset *dataset, const struct prune_options *options,
                           size_t **kept, size_t *count) MUST_CHECK;

#endif
