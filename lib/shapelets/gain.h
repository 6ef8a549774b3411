/* Information gain of splitting a set by a distance (paper, 3.1), in bits.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What is to be told apart.  Class v of the series is class v of the problem or, in a problem of
 * one class against the rest, 0 if it is that class and 1 if not. */
struct gain_problem {
    size_t classes;
    size_t total;
    size_t *totals;      /* (classes,) */
    int32_t positive;    /* the one class, -1 for all against all */
    const double *xlogx; /* f(0..total), shared */
    double base;         /* f(n) - sum f(n_v) */
};

/* f(0..total), for gain_problem_make; the caller frees it. */
struct error *gain_xlogx(size_t total, double **xlogx) MUST_CHECK;

/* counts[v]: series of class v; positive: the class to tell from the rest, or -1. */
struct error *gain_problem_make(const size_t *counts, size_t classes, int32_t positive,
                                const double *xlogx, struct gain_problem *problem) MUST_CHECK;
void gain_problem_free(struct gain_problem *problem);

static inline size_t gain_class(const struct gain_problem *problem, int32_t label)
{
    return problem->positive < 0 ? (size_t)label : label != problem->positive;
}

enum { GAIN_MOST_BINS = 64 };

/* Distances in bins, the lower distances in lower bins. */
struct gain_bins {
    size_t count;              /* up to GAIN_MOST_BINS */
    const uint32_t *histogram; /* (classes, count) */
};

/* Distances among which the best split lies: those in bins first..last.  Series of lower bins are
 * on the near side of it, series of higher bins are not. */
struct gain_range {
    const uint8_t *bins; /* of each series */
    unsigned first, last;
};

/* Whether some split could reach the gain (true if in doubt) when the distances of unknown[class]
 * series are not in the histogram, which may be anywhere; unknown may be NULL: none.  *likely is a
 * bin to look at first and becomes the most promising one. */
bool gain_can_reach(const struct gain_problem *problem, const struct gain_bins *bins,
                    const size_t *unknown, double gain, uint8_t *likely);

/* The same when all distances are known; if so, sets range->first and last so that every split that
 * reaches the gain lies there. */
bool gain_find_range(const struct gain_problem *problem, const struct gain_bins *bins, double gain,
                     struct gain_range *range);

/* The upper bound for a candidate whose known distances tell nothing (half of each class on either
 * side): up to this gain, asking gain_can_reach is in vain. */
double gain_blind_bound(const struct gain_problem *problem, const size_t *unknown);

struct gain_split {
    float gain;
    float threshold; /* series up to this distance are on the near side: halfway between two */
    float gap;       /* between those two distances */
};

/* Scratch memory for gain_best_split, made for a number of series and classes. */
struct gain_scratch {
    uint64_t *items, *swap;
    size_t *near;
};

struct error *gain_scratch_make(size_t count, size_t classes,
                                struct gain_scratch *scratch) MUST_CHECK;
void gain_scratch_free(struct gain_scratch *scratch);

/* The best split of series with these distances (not negative) and labels, if a range is given (it
 * may be NULL) the best in that; of splits whose gains are equal but for rounding, the one with the
 * smallest threshold.  When all distances are equal there is none: gain 0, everything on the near
 * side. */
struct gain_split gain_best_split(const struct gain_problem *problem, const float *distances,
                                  const int32_t *labels, const struct gain_range *range,
                                  struct gain_scratch *scratch);

#endif
