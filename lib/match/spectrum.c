/* Three ways to transform, by the length L:
 *   even, of the factors 2, 3 and 5     KissFFT's transform of real numbers
 *   odd, of the factors 3 and 5, or 2   KissFFT's transform of complex numbers
 *   any other                           Bluestein's chirp transform: with b[n] = exp(i pi n^2 / L)
 *                                       and 2 k t = k^2 + t^2 - (k - t)^2
 *                                         X[k] = b*[k] sum_t (x[t] b*[t]) b[k - t],
 *                                       a convolution, of a length >= 2 L - 1 of the first kinds.
 * KissFFT itself takes the others as well, but in time that grows with the square of a prime
 * factor, and it allocates memory in the middle of such a transform and returns an unfinished one
 * when there is none.  For the first kinds all memory is allocated by spectrum_new. */
#include "match/spectrum.h"

#include <kissfft/kiss_fftr.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

struct spectrum {
    size_t length;
    float scale;        /* 1 / sqrt(L) */
    float *series;      /* (L,) */
    kiss_fft_cpx *bins; /* (L/2 + 1,): the series' frequencies */

    kiss_fftr_cfg real_forward, real_backward; /* even L, else NULL */

    size_t points; /* of the complex transform: L, or what the convolution takes */
    kiss_fft_cfg forward, backward;
    kiss_fft_cpx *a, *b;  /* (points,): scratch */
    kiss_fft_cpx *chirp;  /* (L,): b*[n]; NULL without the chirp transform */
    kiss_fft_cpx *kernel; /* (points,): transform of b, divided by points */
};

static bool is_fast(size_t length)
{
    return length > 1 && kiss_fft_next_fast_size((int)length) == (int)length;
}

static kiss_fft_cpx times(kiss_fft_cpx x, kiss_fft_cpx y)
{
    return (kiss_fft_cpx){x.r * y.r - x.i * y.i, x.r * y.i + x.i * y.r};
}

/* ---- Making ---- */

static bool make_real(struct spectrum *s)
{
    s->real_forward = kiss_fftr_alloc((int)s->length, 0, NULL, NULL);
    s->real_backward = kiss_fftr_alloc((int)s->length, 1, NULL, NULL);
    return s->real_forward && s->real_backward;
}

static bool make_complex(struct spectrum *s, size_t points)
{
    s->points = points;
    s->forward = kiss_fft_alloc((int)points, 0, NULL, NULL);
    s->a = calloc(points, sizeof *s->a);
    s->b = calloc(points, sizeof *s->b);
    return s->forward && s->a && s->b;
}

static bool make_chirp(struct spectrum *s)
{
    size_t points = (size_t)kiss_fft_next_fast_size((int)(2 * s->length - 1));

    if (!make_complex(s, points))
        return false;
    s->backward = kiss_fft_alloc((int)points, 1, NULL, NULL);
    s->chirp = calloc(s->length, sizeof *s->chirp);
    s->kernel = calloc(points, sizeof *s->kernel);
    if (!s->backward || !s->chirp || !s->kernel)
        return false;
    for (size_t n = 0; n < s->length; n++) {
        /* n^2 is known modulo 2 L only, but exactly. */
        double angle = pi * (double)(n * n % (2 * s->length)) / (double)s->length;
        float re = (float)cos(angle), im = (float)sin(angle);

        s->chirp[n] = (kiss_fft_cpx){re, -im};
        s->a[n] = (kiss_fft_cpx){re / (float)points, im / (float)points};
        s->a[(points - n) % points] = s->a[n];
    }
    kiss_fft(s->forward, s->a, s->kernel);
    return true;
}

static bool make_transform(struct spectrum *s)
{
    if (s->length > 2 && s->length % 2 == 0 && is_fast(s->length))
        return make_real(s);
    if (is_fast(s->length))
        return make_complex(s, s->length);
    return s->length == 1 || make_chirp(s);
}

struct error *spectrum_new(size_t length, struct spectrum **result)
{
    struct spectrum *spectrum;

    if (length == 0 || length > 1 << 24)
        return error_make("no spectrum of series of %zu steps", length);
    spectrum = calloc(1, sizeof *spectrum);
    if (!spectrum)
        return error_memory("a spectrum");
    spectrum->length = length;
    spectrum->scale = (float)(1 / sqrt((double)length));
    spectrum->series = calloc(length, sizeof *spectrum->series);
    spectrum->bins = calloc(spectrum_bins(length), sizeof *spectrum->bins);
    if (!spectrum->series || !spectrum->bins || !make_transform(spectrum)) {
        spectrum_free(spectrum);
        return error_memory("a spectrum");
    }
    *result = spectrum;
    return NULL;
}

void spectrum_free(struct spectrum *spectrum)
{
    if (!spectrum)
        return;
    free(spectrum->series);
    free(spectrum->bins);
    kiss_fftr_free(spectrum->real_forward);
    kiss_fftr_free(spectrum->real_backward);
    kiss_fft_free(spectrum->forward);
    kiss_fft_free(spectrum->backward);
    free(spectrum->a);
    free(spectrum->b);
    free(spectrum->chirp);
    free(spectrum->kernel);
    free(spectrum);
}

/* ---- Transforms, unscaled ---- */

/* a (L,) to its transform, in b (L,). */
static void transform_complex(struct spectrum *s)
{
    if (!s->chirp) {
        kiss_fft(s->forward, s->a, s->b);
        return;
    }
    for (size_t t = 0; t < s->length; t++)
        s->a[t] = times(s->a[t], s->chirp[t]);
    memset(s->a + s->length, 0, (s->points - s->length) * sizeof *s->a);
    kiss_fft(s->forward, s->a, s->b);
    for (size_t i = 0; i < s->points; i++)
        s->a[i] = times(s->b[i], s->kernel[i]);
    kiss_fft(s->backward, s->a, s->b);
    for (size_t k = 0; k < s->length; k++)
        s->b[k] = times(s->b[k], s->chirp[k]);
}

/* bins[k] = sum_t series[t] exp(-2 pi i k t / L) */
static void to_bins(struct spectrum *s)
{
    if (s->length == 1) {
        s->bins[0] = (kiss_fft_cpx){s->series[0], 0};
    } else if (s->real_forward) {
        kiss_fftr(s->real_forward, s->series, s->bins);
    } else {
        for (size_t t = 0; t < s->length; t++)
            s->a[t] = (kiss_fft_cpx){s->series[t], 0};
        transform_complex(s);
        memcpy(s->bins, s->b, spectrum_bins(s->length) * sizeof *s->bins);
    }
}

/* series[t] = sum_k bins[k] exp(2 pi i k t / L), over all L frequencies: those above L/2 are the
 * conjugates of their mirror images.  What is imaginary of bin 0, and of L/2 for even L, has no
 * effect.  The complex way goes forwards with the conjugates and takes the real part. */
static void from_bins(struct spectrum *s)
{
    if (s->length == 1) {
        s->series[0] = s->bins[0].r;
    } else if (s->real_backward) {
        kiss_fftri(s->real_backward, s->bins, s->series);
    } else {
        for (size_t k = 0; k < spectrum_bins(s->length); k++) {
            s->a[(s->length - k) % s->length] = s->bins[k];
            s->a[k] = (kiss_fft_cpx){s->bins[k].r, -s->bins[k].i};
        }
        transform_complex(s);
        for (size_t t = 0; t < s->length; t++)
            s->series[t] = s->b[t].r;
    }
}

/* ---- The linear maps ---- */

void spectrum_forward(struct spectrum *spectrum, size_t rows, const float *in, float *out)
{
    size_t length = spectrum->length;

    for (size_t row = 0; row < rows; row++) {
        float *to = out + row * length;

        memcpy(spectrum->series, in + row * length, length * sizeof *in);
        to_bins(spectrum);
        for (size_t k = 0; k < spectrum_bins(length); k++)
            to[k] = spectrum->scale * spectrum->bins[k].r;
        for (size_t k = 1; 2 * k < length; k++)
            to[length - k] = spectrum->scale * spectrum->bins[k].i;
    }
}

/* from_bins counts a frequency and its mirror image, which stand for each other here. */
void spectrum_adjoint(struct spectrum *spectrum, size_t rows, const float *dout, float *din)
{
    size_t length = spectrum->length;

    for (size_t row = 0; row < rows; row++) {
        const float *from = dout + row * length;
        float *to = din + row * length;

        for (size_t k = 0; k < spectrum_bins(length); k++) {
            bool twice = k > 0 && 2 * k < length;

            spectrum->bins[k].r = (twice ? 0.5f : 1.0f) * spectrum->scale * from[k];
            spectrum->bins[k].i = twice ? 0.5f * spectrum->scale * from[length - k] : 0;
        }
        from_bins(spectrum);
        for (size_t t = 0; t < length; t++)
            to[t] += spectrum->series[t];
    }
}

size_t spectrum_bins(size_t length)
{
    return length / 2 + 1;
}

void spectrum_filter(struct spectrum *spectrum, const float *real, const float *imaginary,
                     bool conjugate, const float *in, float *out)
{
    size_t length = spectrum->length;
    kiss_fft_cpx *bins = spectrum->bins;
    float sign = conjugate ? -1.0f : 1.0f;

    memcpy(spectrum->series, in, length * sizeof *in);
    to_bins(spectrum);
    for (size_t k = 0; k < spectrum_bins(length); k++)
        bins[k] = times(bins[k], (kiss_fft_cpx){real[k], sign * imaginary[k]});
    from_bins(spectrum);
    for (size_t t = 0; t < length; t++)
        out[t] = spectrum->series[t] / (float)length;
}
