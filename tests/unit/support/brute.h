/* Shapelet discovery written straight from the formulas of the paper, in double, without any
 * shortcut: the oracle of the tests. */
#ifndef SC_TEST_BRUTE_H
#define SC_TEST_BRUTE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "formats/slp.h"
#include "shapelets/select.h"

/* Least Euclidean distance of s[length] to the subsequences of x[steps] whose start is at most
 * `window` (SIZE_MAX: any) from `start`. */
double brute_distance(const float *s, size_t length, size_t start, const float *x, size_t steps,
                      size_t window);

struct brute_split {
    double gain, low, high; /* the threshold is halfway between low and high */
};

/* The best split of n distances; positive: the class to tell from the rest, or -1.  Distances
 * closer than 1e-6 of their size count as equal. */
struct brute_split brute_best_split(const double *distances, const int32_t *labels, size_t count,
                                    size_t classes, int32_t positive);

/* The quality by measure number `quality` of SLP_QUALITIES, from textbook formulas; equal distances
 * as above. */
double brute_quality(size_t quality, const double *distances, const int32_t *labels, size_t count,
                     size_t classes, int32_t positive);

/* The diverse choice of up to k of the candidates (select.h), whose thresholds are given, into
 * chosen[k]: as sc-shapelets(1) and the head of diverse.c say it, with probabilities and entropies
 * as in a textbook. */
size_t brute_diverse(const struct scored_candidate *candidates, size_t count, size_t k,
                     const struct select_measure *measure, struct scored_candidate *chosen);

#endif
