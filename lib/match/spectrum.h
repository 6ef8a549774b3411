/* Fourier transforms of real series, by KissFFT, as linear maps whose gradients are their adjoints.
 *
 * A spectrum of L steps is L numbers again, in half-complex order: the real parts of frequencies
 * 0..L/2, then the imaginary parts of the others, from the highest down to 1, all divided by
 * sqrt(L), so that white noise keeps its size.  Nothing is lost.
 *
 * A struct spectrum has scratch memory: one is for one caller at a time.  All memory is allocated
 * when it is made; the transforms cannot fail. */
#ifndef SC_MATCH_SPECTRUM_H
#define SC_MATCH_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct spectrum;

struct error *spectrum_new(size_t length, struct spectrum **spectrum) MUST_CHECK;
void spectrum_free(struct spectrum *spectrum);

/* Spectra of `rows` series: in and out (rows, L). */
void spectrum_forward(struct spectrum *spectrum, size_t rows, const float *in, float *out);

/* The gradient of the series from that of their spectra, added: din += F' dout, both (rows, L). */
void spectrum_adjoint(struct spectrum *spectrum, size_t rows, const float *dout, float *din);

/* Frequencies that have a factor: 0..L/2. */
size_t spectrum_bins(size_t length);

/* Multiplies each frequency by a complex factor: out = F^-1 (real + i imaginary) F in, for one
 * series.  real and imaginary (bins); what is imaginary of frequency 0, and of L/2 for even L, has
 * no effect.  conjugate: with the conjugate factors, which is the adjoint.  in may be out. */
void spectrum_filter(struct spectrum *spectrum, const float *real, const float *imaginary,
                     bool conjugate, const float *in, float *out);

#endif
