/* What transform.c asks of the kernels, one set for each instruction set. */
#ifndef SC_SHAPELETS_TRANSFORM_INTERNAL_H
#define SC_SHAPELETS_TRANSFORM_INTERNAL_H

#include <stddef.h>

/* Places are computed in vectors of eight, up to six vectors at a time: x must be readable that far
 * behind its end. */
enum { TRANSFORM_PADDING = 48, TRANSFORM_CHUNK = 64 };

/* squares[j] = sum over t of (x[j + t] - shapelet[t])^2 for j in 0..places-1; squares has room for
 * places + TRANSFORM_PADDING. */
typedef void transform_squares(const float *x, const float *shapelet, size_t length, size_t places,
                               float *squares);

transform_squares transform_squares_generic, transform_squares_avx2;

#endif
