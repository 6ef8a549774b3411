/* Choosing real series that represent their class: the coreset methods of the paper's table.
 *
 * They work on points, one for each series: the series themselves or a network's embedding. */
#ifndef SC_CORESET_H
#define SC_CORESET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum coreset_method {
    CORESET_RANDOM,
    CORESET_HERDING, /* the mean of those chosen stays closest to the mean of the class */
    CORESET_KCENTER, /* the one nearest the mean, then always the farthest from those chosen */
    CORESET_KMEANS,  /* for each of `per_class` clusters, the series nearest to its centre */
};

struct coreset_options {
    enum coreset_method method;
    size_t per_class;
    uint64_t seed;
};

/* Chooses per_class series of every class: chosen[(class, per_class)], in the order in which they
 * were chosen.  A class with fewer series is an error, as is one with none.
 * points (count, dimension), labels in 0..classes-1. */
struct error *coreset_select(const float *points, size_t count, size_t dimension,
                             const int32_t *labels, size_t classes,
                             const struct coreset_options *options, size_t *chosen) MUST_CHECK;

#endif
