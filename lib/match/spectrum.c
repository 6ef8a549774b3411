/* Plans are made without measuring (FFTW_ESTIMATE): measured ones differ from run to run, and with
 * them the last bits of the results. */
#include "match/spectrum.h"

#include <fftw3.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct spectrum {
    size_t length;
    float scale; /* 1 / sqrt(L) */
    float *a, *b;
    fftwf_plan forward, backward; /* a to b, b to a */
};

/* FFTW makes plans in memory that all share. */
static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER;

static void make_plans(struct spectrum *spectrum)
{
    int length = (int)spectrum->length;

    pthread_mutex_lock(&planning);
    spectrum->forward =
        fftwf_plan_r2r_1d(length, spectrum->a, spectrum->b, FFTW_R2HC, FFTW_ESTIMATE);
    spectrum->backward =
        fftwf_plan_r2r_1d(length, spectrum->b, spectrum->a, FFTW_HC2R, FFTW_ESTIMATE);
    pthread_mutex_unlock(&planning);
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
    spectrum->a = fftwf_alloc_real(length);
    spectrum->b = fftwf_alloc_real(length);
    if (spectrum->a && spectrum->b)
        make_plans(spectrum);
    if (!spectrum->forward || !spectrum->backward) {
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
    pthread_mutex_lock(&planning);
    fftwf_destroy_plan(spectrum->forward);
    fftwf_destroy_plan(spectrum->backward);
    pthread_mutex_unlock(&planning);
    fftwf_free(spectrum->a);
    fftwf_free(spectrum->b);
    free(spectrum);
}

void spectrum_forward(struct spectrum *spectrum, size_t rows, const float *in, float *out)
{
    size_t length = spectrum->length;

    for (size_t row = 0; row < rows; row++) {
        memcpy(spectrum->a, in + row * length, length * sizeof *in);
        fftwf_execute(spectrum->forward);
        for (size_t i = 0; i < length; i++)
            out[row * length + i] = spectrum->scale * spectrum->b[i];
    }
}

/* FFTW's way back counts a frequency and its mirror image, which stand for each other here. */
void spectrum_adjoint(struct spectrum *spectrum, size_t rows, const float *dout, float *din)
{
    size_t length = spectrum->length;

    for (size_t row = 0; row < rows; row++) {
        const float *from = dout + row * length;
        float *to = din + row * length;

        spectrum->b[0] = spectrum->scale * from[0];
        for (size_t i = 1; i < length; i++)
            spectrum->b[i] = (2 * i == length ? 1.0f : 0.5f) * spectrum->scale * from[i];
        fftwf_execute(spectrum->backward);
        for (size_t t = 0; t < length; t++)
            to[t] += spectrum->a[t];
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
    float *h = spectrum->b, sign = conjugate ? -1.0f : 1.0f;

    memcpy(spectrum->a, in, length * sizeof *in);
    fftwf_execute(spectrum->forward);
    h[0] *= real[0];
    for (size_t k = 1; 2 * k < length; k++) {
        float re = h[k], im = h[length - k], turn = sign * imaginary[k];

        h[k] = real[k] * re - turn * im;
        h[length - k] = real[k] * im + turn * re;
    }
    if (length % 2 == 0)
        h[length / 2] *= real[length / 2];
    fftwf_execute(spectrum->backward);
    for (size_t t = 0; t < length; t++)
        out[t] = spectrum->a[t] / (float)length;
}
