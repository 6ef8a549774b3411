/* Distance kernels for AVX2. */
#include <float.h>
#include <immintrin.h>

#define WIDTH            4
#define KERNELS          distance_kernels_avx2
#define vector_min(a, b) _mm256_min_pd(a, b)
#define widen(x)         _mm256_cvtps_pd(x)

typedef __m256d vector;
typedef __m128 narrow;
typedef __m256 octet;

#define half_of(x, v) ((v) ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x))

static inline __m256 rounded(__m256 product)
{
    __asm__("" : "+x"(product));
    return product;
}

/* a - b as a fused multiply-add, which gives the same bits: the units that add also do the minimum,
 * while those that multiply would be idle.  The compiler must not see that the factor is one. */
static inline __m256d subtract(__m256d a, __m256d b)
{
    __m256d one = _mm256_set1_pd(1.0);

    __asm__("" : "+x"(one));
    return _mm256_fnmadd_pd(one, b, a);
}

/* Whether all are zero or can be rounded to float without loss of range. */
static inline int in_range(__m256d squares)
{
    __m256d low = _mm256_cmp_pd(squares, _mm256_set1_pd(FLT_MIN), _CMP_LT_OQ);
    __m256d some = _mm256_cmp_pd(squares, _mm256_setzero_pd(), _CMP_NEQ_OQ);
    __m256d high = _mm256_cmp_pd(squares, _mm256_set1_pd(FLT_MAX), _CMP_GT_OQ);

    return _mm256_movemask_pd(_mm256_or_pd(_mm256_and_pd(low, some), high)) == 0;
}

static inline int eight_roots(const double *squares, float *roots)
{
    __m256d first = _mm256_load_pd(squares), second = _mm256_load_pd(squares + 4);
    __m256 all = _mm256_set_m128(_mm256_cvtpd_ps(second), _mm256_cvtpd_ps(first));

    _mm256_storeu_ps(roots, _mm256_sqrt_ps(all));
    return in_range(first) && in_range(second);
}

static inline void eight_min(float *x, const float *y)
{
    _mm256_storeu_ps(x, _mm256_min_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y)));
}

static inline void eight_max(float *x, const float *y)
{
    _mm256_storeu_ps(x, _mm256_max_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y)));
}

#include "shapelets/distance_kernel.h"
