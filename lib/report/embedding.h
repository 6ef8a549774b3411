/* Two numbers for each series, so that it can be shown as a point. */
#ifndef SC_REPORT_EMBEDDING_H
#define SC_REPORT_EMBEDDING_H

#include <stddef.h>

#include "base/error.h"
#include "formats/dataset.h"

/* The first two principal components of the series of `real` whose indices are given: centre and
 * axes (2, C * L), which the caller frees; explained[2] are their shares of the variance.  Power
 * iteration from a fixed start: the same series give the same axes. */
struct error *embedding_fit(const struct dataset *real, const size_t *indices, size_t count,
                            double **centre, double **axes, double explained[2]) MUST_CHECK;

/* Where a series is. */
void embedding_place(const float *series, size_t size, const double *centre, const double *axes,
                     double point[2]);

#endif
