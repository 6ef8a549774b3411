/* Vectors of VECTOR_BYTES for the kernels: GCC's vector types, which become the instructions of
 * whatever target the including file is compiled for. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define LANES  (VECTOR_BYTES / sizeof(float))
#define INLINE static inline __attribute__((always_inline))

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t mask __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t bits __attribute__((vector_size(VECTOR_BYTES)));
typedef float vector_unaligned __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

INLINE vector load(const float *from)
{
    return *(const vector_unaligned *)from;
}

INLINE void store(float *to, vector value)
{
    *(vector_unaligned *)to = value;
}

INLINE vector splat(float value)
{
    return value - (vector){0};
}

INLINE vector choose(mask condition, vector yes, vector no)
{
#if defined(__AVX2__)
    return (vector)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)condition);
#else
    return (vector)((condition & (mask)yes) | (~condition & (mask)no));
#endif
}

INLINE float sum_lanes(vector value)
{
    float lanes[LANES];

    memcpy(lanes, &value, sizeof lanes);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

/* e^x for x <= 0, to about one unit in the last place: x = n ln 2 + r, a polynomial in r, n put
 * into the exponent.  Below -87 the result is 0 for the purposes of a sigmoid.  What is not a
 * number stays so. */
INLINE vector exponential(vector x)
{
    const vector shift = splat(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
    vector n, r, y;

    x = choose(x < splat(-87.0f), splat(-87.0f), x);
    n = x * splat(1.44269504f) + shift;
    bits exponent = (bits)n << 23;
    n -= shift;
    r = x - n * splat(0.693359375f) + n * splat(2.12194440e-4f);
    y = splat(1.9875691500e-4f);
    y = y * r + splat(1.3981999507e-3f);
    y = y * r + splat(8.3334519073e-3f);
    y = y * r + splat(4.1665795894e-2f);
    y = y * r + splat(1.6666665459e-1f);
    y = y * r + splat(5.0000001201e-1f);
    y = y * r * r + r + splat(1.0f);
    return choose(x == x, (vector)((bits)y + exponent), x);
}

INLINE vector sigmoid(vector x)
{
    vector e = exponential(choose(x > splat(0.0f), -x, x));
    vector denominator = splat(1.0f) / (splat(1.0f) + e);

    return choose(x > splat(0.0f), denominator, e * denominator);
}

/* By e^(-2|x|), so that nothing overflows; to about 1e-7. */
INLINE vector hyperbolic_tangent(vector x)
{
    const vector one = splat(1.0f);
    vector e = exponential(choose(x > splat(0.0f), -x, x) * splat(2.0f));
    vector y = (one - e) / (one + e);

    return choose(x > splat(0.0f), y, -y);
}

/* The normal distribution: its density phi(x) and its integral Phi(x) from below. */
struct normal {
    vector density, integral;
};

/* Phi(-|x|) = e^(-x^2 / 2) q(t), t = 1 / (1 + 0.28 |x|), q a polynomial fitted to the relative
 * error, which is below 4e-7; so the tail keeps its digits. */
INLINE struct normal normal(vector x)
{
    const vector one = splat(1.0f);
    vector size = choose(x > splat(0.0f), x, -x);
    vector t = one / (one + splat(0.28f) * size), q = splat(0.0251210097f), tail;
    vector e = exponential(x * x * splat(-0.5f));

    q = q * t + splat(-0.095038105f);
    q = q * t + splat(0.0945175981f);
    q = q * t + splat(-0.00800020171f);
    q = q * t + splat(0.0734022517f);
    q = q * t + splat(0.0834957016f);
    q = q * t + splat(0.103098642f);
    q = q * t + splat(0.111699263f);
    q = q * t + splat(0.111703861f);
    tail = e * q * t;
    return (struct normal){e * splat(0.39894228f), choose(x > splat(0.0f), one - tail, tail)};
}
