/* Nearest points in Euclidean distance, found by matrix products in single precision and decided in
 * double precision.
 *
 * |p - c|^2 = |p|^2 + |c|^2 - 2 p c, so that the distances of many points from many centres are a
 * matrix product.  In floats that product is wrong by at most D 2^-24 |p| |c|, whatever the order
 * of its sums.  Where that leaves open which point is nearer, the differences themselves are
 * squared and added up in doubles.  So the result is what the doubles alone would say, and depends
 * neither on the threads nor on OpenBLAS and the processor. */
#ifndef SC_BASE_NEAREST_H
#define SC_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Summed in doubles. */
double squared_distance(const float *a, const float *b, size_t dimension);

/* Points that belong to the caller, and what is known of them. */
struct points {
    const float *values; /* (count, dimension) */
    size_t count, dimension;
    double *squares; /* (count,): |p|^2 */
    double *lengths; /* (count,): |p| */
};

/* Opens OpenBLAS, too. */
struct error *points_make(const float *values, size_t count, size_t dimension,
                          struct points *points) MUST_CHECK;
/* When the values have changed. */
void points_update(struct points *points);
/* Safe on one that is all zeros. */
void points_free(struct points *points);

/* nearest[i], a squared distance, becomes that of point i from the centre if that is less. */
void nearest_lower(const struct points *points, const float *centre, double *nearest);

/* The point that is nearest to the target (dimension,), the first of equals; those excluded
 * (count,) do not count.  There must be one that does.  scratch (count + dimension,). */
size_t nearest_to(const struct points *points, const double *target, const bool *excluded,
                  float *scratch);

/* Bytes of scratch memory that nearest_assign needs for that number of centres. */
size_t nearest_scratch(size_t centres);

/* assigned (count,): the centre nearest to each point, the first of equals. */
void nearest_assign(const struct points *points, const struct points *centres, float *scratch,
                    size_t *assigned);

/* The `wanted` nearest neighbours of points `of` (rows of them), nearest first, the first of equals
 * first; the point itself does not count.  neighbours (rows, wanted): indices of points; wanted <
 * count. */
struct error *nearest_neighbours(const struct points *points, const size_t *of, size_t rows,
                                 size_t wanted, size_t *neighbours) MUST_CHECK;

#endif
