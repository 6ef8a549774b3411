/* Where synthesis starts: some series for each class. */
#ifndef SC_CHOOSE_START_H
#define SC_CHOOSE_START_H

#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

enum start_kind {
    START_REAL,   /* real series of the class, drawn at random */
    START_KMEANS, /* centres of the class by k-means */
    START_NOISE,  /* Gaussian, with the mean and deviation of each channel */
    /* Real series that explain the teacher, see ridge.h; without shapelets, as START_REAL. */
    START_EXPLAIN,
};

/* Fills x (per_class, V, C, L): `per_class` rounds of one series for each class of the set.
 * No two series of a class start from the same place, because they would stay the same: copies in
 * the set (sc-balance) are passed over, and when a class has nothing else left, its series come
 * again under noise of a tenth of the channel's deviation.  *repeated counts those.
 * A class without series is an error, except for noise. */
struct error *start_series(const struct dataset *set, enum start_kind kind, size_t per_class,
                           uint64_t seed, float *x, size_t *repeated) MUST_CHECK;

/* The teacher, asked about `count` series x (N, C, L): its features (N, K) and logits (N, V). */
struct start_teacher {
    size_t features; /* K, not 0 */
    struct error *(*answer)(void *context, size_t count, const float *x, float *features,
                            float *logits);
    void *context;
};

/* The same for START_EXPLAIN: those that explain the teacher best out of 1000 or so. */
struct error *start_explaining(const struct dataset *set, const struct start_teacher *teacher,
                               size_t per_class, uint64_t seed, float *x,
                               size_t *repeated) MUST_CHECK;

#endif
