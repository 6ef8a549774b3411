/* Shapelet discovery written straight from the formulas of the paper, in double, without any
 * shortcut: the oracle of the tests. */
#ifndef SC_TEST_BRUTE_H
#define SC_TEST_BRUTE_H

#include <stddef.h>
#include <stdint.h>

#include "dataset.h"

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

#endif
