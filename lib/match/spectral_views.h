/* The four views of condtsc: every series unchanged, through a low-pass that keeps the lower half
 * of its spectrum, with its phases shifted by up to pi/4, and with noise in the magnitudes (1 %).
 * Each is a linear map, so that its gradient is the adjoint map. */
#ifndef SC_MATCH_SPECTRAL_VIEWS_H
#define SC_MATCH_SPECTRAL_VIEWS_H

#include <stddef.h>

#include "base/random.h"
#include "base/error.h"
#include "match/spectrum.h"

enum { SPECTRAL_VIEWS = 4 };

struct spectral_views {
    size_t rows, length; /* series times channels */
    struct spectrum *spectrum;
    float *real, *imaginary; /* (SPECTRAL_VIEWS - 1, rows, bins): factors of the frequencies */
    float *scratch;          /* (L,) */
};

struct error *spectral_views_new(size_t rows, size_t length,
                                 struct spectral_views *views) MUST_CHECK;
/* Safe on views that are all zeros. */
void spectral_views_free(struct spectral_views *views);

/* New noise, for the views to come. */
void spectral_views_draw(struct spectral_views *views, struct random_stream *stream);

/* x (rows, L) to out (SPECTRAL_VIEWS, rows, L). */
void spectral_views_apply(const struct spectral_views *views, const float *x, float *out);

/* The gradient of the series from that of all views, written: dout (SPECTRAL_VIEWS, rows, L) to
 * dx. */
void spectral_views_adjoint(const struct spectral_views *views, const float *dout, float *dx);

#endif
