/* Figures of what the stages make, as SVG. */
#ifndef SC_FIGURES_H
#define SC_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "formats/slp.h"
#include "formats/table.h"

struct figure_options {
    const char *title; /* or NULL: made from the data */
    size_t columns;    /* panels in a row */
    size_t rows;       /* classes at most; for pools, rows of panels at most */
    size_t channel;    /* the one that is drawn */
    size_t behind;     /* real series drawn behind each panel at most */
    bool logarithmic;  /* curves: the horizontal axis */
    bool marks;        /* curves: marks at the points, which are joined over gaps */
};

struct figure_options figure_defaults(void);

/* One row for each class, its first series side by side.  Behind them, thin and grey, series of the
 * same class of `real`; on them, in colour, the best matches of the class's shapelets of `pool`.
 * Either may be NULL. */
struct error *figure_dataset(FILE *stream, const struct dataset *dataset,
                             const struct dataset *real, const struct shapelet_pool *pool,
                             const struct figure_options *options) MUST_CHECK;

/* One panel for each shapelet at its place in time, with its search window shaded and, if `real` is
 * the set that was searched, its source series behind it. */
struct error *figure_pool(FILE *stream, const struct shapelet_pool *pool,
                          const struct dataset *real,
                          const struct figure_options *options) MUST_CHECK;

/* The first column is the horizontal axis, each other a curve. */
struct error *figure_curves(FILE *stream, const struct table *table,
                            const struct figure_options *options) MUST_CHECK;

#endif
