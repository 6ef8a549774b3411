/* The table of a training, epoch by epoch, that sc-plot draws.
 *
 * Rows are written as soon as an epoch is over, so that a running training can be watched.  A run
 * that resumes from a checkpoint keeps the rows of the earlier epochs and ends with the same table
 * as an uninterrupted one. */
#ifndef SC_CURVE_H
#define SC_CURVE_H

#include <stdio.h>

#include "base/error.h"
#include "nn/train.h"

struct curve {
    const char *path; /* NULL: no table */
    FILE *stream;     /* NULL until the first epoch */
};

struct error *curve_add(struct curve *curve, const struct train_epoch *epoch) MUST_CHECK;
struct error *curve_end(struct curve *curve) MUST_CHECK;

#endif
