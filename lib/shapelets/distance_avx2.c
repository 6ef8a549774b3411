/* Distance kernels for AVX2. */
#include <immintrin.h>

#define WIDTH            4
#define KERNELS          distance_kernels_avx2
#define vector_min(a, b) _mm256_min_pd(a, b)
#define widen(x)         _mm256_cvtps_pd(x)

typedef __m256d vector;
typedef __m128 narrow;

/* a - b as a fused multiply-add, which gives the same bits: the units that add also do the minimum,
 * while those that multiply would be idle.  The compiler must not see that the factor is one. */
static inline __m256d subtract(__m256d a, __m256d b)
{
    __m256d one = _mm256_set1_pd(1.0);

    __asm__("" : "+x"(one));
    return _mm256_fnmadd_pd(one, b, a);
}

static inline void eight_roots(const double *squares, float *roots)
{
    __m128 low = _mm256_cvtpd_ps(_mm256_load_pd(squares));
    __m128 high = _mm256_cvtpd_ps(_mm256_load_pd(squares + 4));

    _mm256_storeu_ps(roots, _mm256_sqrt_ps(_mm256_set_m128(high, low)));
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
