/* Distance kernels in portable C: pairs of doubles, which both SSE2 and NEON have. */
#include <float.h>
#include <math.h>
#include <stdint.h>

#define WIDTH          2
#define KERNELS        distance_kernels_generic
#define widen(x)       __builtin_convertvector(x, vector)
#define subtract(a, b) ((a) - (b))

typedef double vector __attribute__((vector_size(16)));
typedef int64_t vector_bits __attribute__((vector_size(16)));
typedef float narrow __attribute__((vector_size(8), may_alias));
typedef float octet __attribute__((vector_size(32), aligned(16), may_alias));

#define half_of(x, v) ((narrow){(x)[2 * (v)], (x)[2 * (v) + 1]})
#define rounded(x)    (x) /* -ffp-contract=off in the Makefile */

static inline vector vector_min(vector a, vector b)
{
    vector_bits less = a < b;

    return (vector)(((vector_bits)a & less) | ((vector_bits)b & ~less));
}

static inline int eight_roots(const double *squares, float *roots)
{
    int in_range = 1;

    for (int lane = 0; lane < 8; lane++) {
        double square = squares[lane];

        roots[lane] = sqrtf((float)square);
        in_range &= square == 0 || (square >= FLT_MIN && square <= FLT_MAX);
    }
    return in_range;
}

static inline void eight_min(float *x, const float *y)
{
    for (int lane = 0; lane < 8; lane++)
        x[lane] = y[lane] < x[lane] ? y[lane] : x[lane];
}

static inline void eight_max(float *x, const float *y)
{
    for (int lane = 0; lane < 8; lane++)
        x[lane] = y[lane] > x[lane] ? y[lane] : x[lane];
}

#include "shapelets/distance_kernel.h"
