/* The series that synthesis and matching start from. */
#ifndef SC_CHOOSE_START_H
#define SC_CHOOSE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

enum start_kind {
    START_REAL,    /* real series of the class, drawn at random */
    START_KMEANS,  /* centres of the class by k-means */
    START_NOISE,   /* Gaussian, with the mean and deviation of each channel */
    START_RIDGE,   /* start_ridge; without shapelets as START_REAL */
    START_NEAREST, /* the real series nearest to the centres of clusters of their points; where a
                      class has fewer distinct series than are wanted, as START_REAL */
};

struct start_options {
    enum start_kind kind;
    size_t per_class;
    uint64_t seed;
    /* The order of x: (V, per_class, C, L) class by class, or (per_class, V, C, L) in rounds of one
     * series for each class. */
    bool by_class;
    /* START_NEAREST: one point for each series, (N, dimension); NULL: the series themselves. */
    const float *points;
    size_t dimension;
};

/* Fills x.  No two series of a class start from the same place, because they would stay the same:
 * copies in the dataset (sc-balance) are passed over, and when a class has nothing else left, its
 * series are repeated with noise of a tenth of the channel's deviation added.  *repeated counts
 * those.  A class without series is an error, except for noise. */
struct error *start_series(const struct dataset *dataset, const struct start_options *options,
                           float *x, size_t *repeated) MUST_CHECK;

/* The teacher, asked about `count` series x (N, C, L): its features (N, K) and logits (N, V). */
struct start_teacher {
    size_t features; /* K, not 0 */
    struct error *(*answer)(void *context, size_t count, const float *x, float *features,
                            float *logits);
    void *context;
};

/* The same for START_RIDGE: the ridge-selected series (ridge.h) of about 1000 candidates. */
struct error *start_ridge(const struct dataset *dataset, const struct start_teacher *teacher,
                          const struct start_options *options, float *x,
                          size_t *repeated) MUST_CHECK;

#endif
