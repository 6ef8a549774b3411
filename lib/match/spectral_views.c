#include "match/spectral_views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After the view that changes nothing. */
enum { LOW_PASS, PHASE, MAGNITUDE, CHANGED };

static const double phase_noise = 0.25 * 3.14159265358979323846, magnitude_noise = 0.01;

struct error *spectral_views_new(size_t rows, size_t length, struct spectral_views *views)
{
    size_t factors = CHANGED * rows * spectrum_bins(length);

    *views = (struct spectral_views){.rows = rows, .length = length};
    TRY(spectrum_new(length, &views->spectrum));
    views->real = calloc(factors, sizeof *views->real);
    views->imaginary = calloc(factors, sizeof *views->imaginary);
    views->scratch = calloc(length, sizeof *views->scratch);
    if (!views->real || !views->imaginary || !views->scratch)
        return error_memory("views of the series");
    return NULL;
}

void spectral_views_free(struct spectral_views *views)
{
    spectrum_free(views->spectrum);
    free(views->real);
    free(views->imaginary);
    free(views->scratch);
    *views = (struct spectral_views){0};
}

/* Where the factors of a view of a series begin. */
static size_t factors_at(const struct spectral_views *views, size_t view, size_t row)
{
    return (view * views->rows + row) * spectrum_bins(views->length);
}

void spectral_views_draw(struct spectral_views *views, struct random_stream *stream)
{
    size_t bins = spectrum_bins(views->length);

    for (size_t row = 0; row < views->rows; row++) {
        float *low = views->real + factors_at(views, LOW_PASS, row);
        float *cosine = views->real + factors_at(views, PHASE, row);
        float *sine = views->imaginary + factors_at(views, PHASE, row);
        float *magnitude = views->real + factors_at(views, MAGNITUDE, row);

        for (size_t k = 0; k < bins; k++) {
            double phase = phase_noise * (2 * random_uniform(stream) - 1);

            low[k] = 2 * k < bins;
            cosine[k] = (float)cos(phase);
            sine[k] = (float)sin(phase);
            magnitude[k] = (float)(1 + magnitude_noise * random_normal(stream));
        }
        /* A level has no phase. */
        cosine[0] = 1;
        sine[0] = 0;
    }
}

void spectral_views_apply(const struct spectral_views *views, const float *x, float *out)
{
    size_t floats = views->rows * views->length;

    memcpy(out, x, floats * sizeof *out);
    for (size_t view = 0; view < CHANGED; view++)
        for (size_t row = 0; row < views->rows; row++) {
            size_t at = factors_at(views, view, row), start = row * views->length;

            spectrum_filter(views->spectrum, views->real + at, views->imaginary + at, false,
                            x + start, out + (view + 1) * floats + start);
        }
}

void spectral_views_adjoint(const struct spectral_views *views, const float *dout, float *dx)
{
    size_t floats = views->rows * views->length;

    memcpy(dx, dout, floats * sizeof *dx);
    for (size_t view = 0; view < CHANGED; view++)
        for (size_t row = 0; row < views->rows; row++) {
            size_t at = factors_at(views, view, row), start = row * views->length;
            float *back = views->scratch;

            spectrum_filter(views->spectrum, views->real + at, views->imaginary + at, true,
                            dout + (view + 1) * floats + start, back);
            for (size_t t = 0; t < views->length; t++)
                dx[start + t] += back[t];
        }
}
