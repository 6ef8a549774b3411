/* The shapelet transform (paper, eq. STrans): a series becomes its distances to the shapelets of a
 * pool, each the least over the places where the shapelet is tried; and its gradient.  Where the
 * pool is standardised, a feature is (distance - offset) * scale.
 *
 * A struct transform is prepared once for a pool and a shape of series and holds all scratch
 * memory, so that the calls allocate nothing: synthesis makes them at every step with a handful of
 * series.
 *
 * Every place is summed up on its own, in float, in chunks of 64 steps whose sums are added: all
 * terms are positive, so a squared distance is off by at most (64 + length / 64) rounding errors,
 * 6e-8 each, and usually by a few. */
#ifndef SC_SHAPELETS_TRANSFORM_H
#define SC_SHAPELETS_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/slp.h"

#define TRANSFORM_FULL     SIZE_MAX       /* try every place */
#define TRANSFORM_AS_FOUND (SIZE_MAX - 1) /* the window that each shapelet was found with */

struct transform_shapelet {
    const float *values;
    size_t length;
    size_t channel;
    size_t low, places;  /* tried at low..low+places-1 */
    float offset, scale; /* 0 and 1 where the pool is not standardised */
};

struct transform;

/* The transform on a device that is not the processor. */
struct transform_device {
    /* What the device needs to know of it; NULL when it has no memory left. */
    void *(*open)(const struct transform *transform);
    void (*close)(void *state);
    /* transform_forward and transform_backward on memory of the device. */
    void (*forward)(void *state, const float *x, size_t count, float *features, uint32_t *places);
    void (*backward)(void *state, const float *x, size_t count, const float *features,
                     const uint32_t *places, const float *upstream, float *dx);
};

struct transform {
    size_t count; /* K: shapelets */
    size_t channels, steps;
    bool length_normalised;
    struct transform_shapelet *shapelets;
    size_t *order; /* shapelets by channel: those of channel c are order[first[c]..first[c+1]-1] */
    size_t *first;
    unsigned workers;
    size_t scratch_size;
    float *scratch; /* per worker: a padded copy of one channel, and the sums at its places */
    const struct transform_device *device;
    void *on_device; /* NULL: the processor does it */
};

/* For series of (channels, steps).  window: half width W around the start of each shapelet,
 * TRANSFORM_FULL or TRANSFORM_AS_FOUND.  The pool must stay.  Fails if a shapelet has no place in
 * such series.  The number of threads must not be raised afterwards. */
struct error *transform_make(const struct shapelet_pool *pool, size_t channels, size_t steps,
                             size_t window, struct transform *transform) MUST_CHECK;
void transform_free(struct transform *transform);

/* From now on the arrays of the functions below are memory of that device (NULL: of the processor,
 * as it is from the start). */
struct error *transform_to_device(struct transform *transform,
                                  const struct transform_device *device) MUST_CHECK;

/* features (N, K) of x (N, C, L); places (N, K), if not NULL, where each distance was found (the
 * first of equals), which the gradient needs. */
void transform_forward(const struct transform *transform, const float *x, size_t count,
                       float *features, uint32_t *places);

/* Adds to dx (N, C, L) the gradient of sum(upstream * features) with respect to x, given what the
 * forward call returned for the same x.  At distance 0, where the root has no slope, it is 0. */
void transform_backward(const struct transform *transform, const float *x, size_t count,
                        const float *features, const uint32_t *places, const float *upstream,
                        float *dx);

#endif
