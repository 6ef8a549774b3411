/* Information gain of splitting a dataset by a distance (paper, 3.1), in bits.
 *
 * With f(x) = x log2 x, c_v of the n_v series of class v on the near side and c of n in all:
 *
 *     n gain = f(n) - sum f(n_v) + sum (f(c_v) + f(n_v - c_v)) - f(c) - f(n - c)
 *
 * The first sum over classes is convex in every c_v and the rest concave in c, which gives an upper
 * bound for all splits whose counts lie between two given ones: the larger end for every class, and
 * the c nearest n/2.  From a histogram of the distances that bound costs a pass over its bins, and
 * series whose distance is still unknown only widen the range of the counts.  A candidate whose
 * bound is below what a pool holds already need not be sorted, nor even measured to the end. */
#ifndef SC_SHAPELETS_GAIN_H
#define SC_SHAPELETS_GAIN_H

#include "shapelets/quality.h"

/* f(0..total), for labelling_make; the caller frees it. */
struct error *gain_xlogx(size_t total, double **xlogx) MUST_CHECK;

/* The best split of all sorted distances or of those in a range, given the counts below it in
 * scratch->near, which it changes; of splits whose gains are equal but for rounding, the one with
 * the smallest threshold.  When all distances are equal there is none: gain 0, everything on the
 * near side. */
struct quality_split gain_best_split(const struct labelling *labelling,
                                     const struct quality_sorted *sorted,
                                     struct quality_scratch *scratch);

#endif
