/* k-means: Lloyd's algorithm from a k-means++ start. */
#ifndef SC_KMEANS_H
#define SC_KMEANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "base/error.h"

struct kmeans {
    size_t clusters;
    size_t dimension;
    size_t count;
    float *centres;    /* (clusters, dimension) */
    size_t *assigned;  /* (count,) */
    double inertia;    /* sum of squared distances to the centres */
    size_t iterations; /* that were needed */
};

/* Clusters `count` points (count, dimension); clusters <= count.  Ends when nothing changes, or
 * after most_iterations.  A cluster that loses all its points takes over the point that is farthest
 * from its centre.  Ties go to the lower index, so the result is the same for any number of
 * threads. */
struct error *kmeans_fit(const float *points, size_t count, size_t dimension, size_t clusters,
                         size_t most_iterations, struct random_stream *stream,
                         struct kmeans *kmeans) MUST_CHECK;
void kmeans_free(struct kmeans *kmeans);

#endif
