/* Standardising: every channel to mean 0 and standard deviation 1, with statistics that were taken
 * over all series and steps of one dataset (train) and can be applied to any other, and undone.
 *
 * The statistics file is NPY: an array (2, C) of float64, means in the first row and standard
 * deviations in the second, then the provenance as text.  numpy.load reads the first. */
#ifndef SC_DATA_SCALE_H
#define SC_DATA_SCALE_H

#include <stddef.h>
#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"

struct scale {
    size_t channels;
    size_t constant;          /* channels that were constant when the statistics were taken */
    double *mean;             /* (C,) */
    double *deviation;        /* (C,), of the population; 1 where the channel was constant */
    char digest[DIGEST_TEXT]; /* of the file it was read from, else "" */
};

/* Computes the statistics of a dataset. */
struct error *scale_fit(const struct dataset *dataset, struct scale *scale) MUST_CHECK;

/* x = (x - mean) / deviation, in place; fails if the number of channels differs or a result is not
 * finite. */
struct error *scale_apply(const struct scale *scale, struct dataset *dataset) MUST_CHECK;

/* x = x * deviation + mean, in place. */
struct error *scale_undo(const struct scale *scale, struct dataset *dataset) MUST_CHECK;

/* The same block by block: dataset_write scales series of `from` while it writes them, which stay
 * as they are.  The scaled dataset shares all else with `from`, which is what is to be freed.
 * Errors begin with the name. */
struct scaling {
    const struct dataset *from;
    const struct scale *scale; /* NULL: each series by itself */
    bool undo;
    const char *name;
    size_t constant; /* series that were constant, where each is scaled by itself */
};
struct error *scaling_begin(struct scaling *scaling, struct dataset *scaled) MUST_CHECK;

/* Every channel of every series by its own mean and deviation (z-normalisation), in place; a
 * constant one becomes 0.  Returns how many were constant. */
size_t scale_each_series(struct dataset *dataset);

/* Reads a statistics file, or standard input for "-".  Errors name the file. */
struct error *scale_read(const char *path, struct scale *scale) MUST_CHECK;
/* notes may be NULL. */
struct error *scale_write(FILE *stream, const struct scale *scale, const char *notes) MUST_CHECK;

/* Safe on a scale that is all zeros, and more than once. */
void scale_free(struct scale *scale);

#endif
