/* The kernel that transform.c calls, one for each instruction set. */
#ifndef SC_SHAPELETS_TRANSFORM_INTERNAL_H
#define SC_SHAPELETS_TRANSFORM_INTERNAL_H

#include <stddef.h>

#include "shapelets/transform.h"

/* Places are computed in vectors of eight, up to six vectors at a time: x must be readable that far
 * past its end. */
enum { TRANSFORM_PADDING = 48, TRANSFORM_CHUNK = 64 };

/* squares[j] = sum over t of (x[j + t] - shapelet[t])^2 for j in 0..places-1; squares has room for
 * places + TRANSFORM_PADDING. */
typedef void transform_squares(const float *x, const float *shapelet, size_t length, size_t places,
                               float *squares);

transform_squares transform_squares_generic, transform_squares_avx2;

/* The least square of a shapelet to channel x of a series, and its place, counted from
 * shapelet->low.  In double and plain order: slow, but the same bits on every machine, also for
 * values whose squares are too large or too small for a float. */
double transform_least_square(const struct transform_shapelet *shapelet, const float *x,
                              size_t *place);

#endif
