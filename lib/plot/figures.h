/* Figures of what the stages make, as SVG. */
#ifndef SC_FIGURES_H
#define SC_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "formats/scores.h"
#include "formats/slp.h"
#include "formats/table.h"

struct figure_options {
    const char *title; /* or NULL: made from the data */
    size_t columns;    /* panels in a row */
    size_t rows;       /* classes at most; for pools, rows of panels at most */
    size_t channel;    /* the one that is drawn */
    bool all_channels; /* a row for each channel instead */
    size_t behind;     /* real series drawn behind each panel at most */
    bool logarithmic;  /* curves: the horizontal axis */
    bool marks;        /* curves: marks at the points, which are joined over gaps */
};

struct figure_options figure_defaults(void);

/* One row for each class, its first series side by side; all rows of a channel have the same scale,
 * which a few outliers do not stretch.  Behind the series, thin and grey, series of the same class
 * of `real`, spread over all of them; on them, in colour, the best matches of the class's shapelets
 * of `pool`.  Either may be NULL.  Series with soft labels are called condensed. */
struct error *figure_dataset(FILE *stream, const struct dataset *dataset,
                             const struct dataset *real, const struct shapelet_pool *pool,
                             const struct figure_options *options) MUST_CHECK;

/* One panel for each shapelet at its place in time, with its search window shaded and, if `real` is
 * the dataset that was searched, its source series behind it and the names of its classes. */
struct error *figure_pool(FILE *stream, const struct shapelet_pool *pool,
                          const struct dataset *real,
                          const struct figure_options *options) MUST_CHECK;

/* Refuses a dataset that the pool cannot have been found in; NULL is fine. */
struct error *figure_check_pool(const struct shapelet_pool *pool,
                                const struct dataset *real) MUST_CHECK;

/* The first column is the horizontal axis, each other a curve. */
struct error *figure_curves(FILE *stream, const struct table *table,
                            const struct figure_options *options) MUST_CHECK;

/* Accuracies of sc-eval's tables as bars with their deviation, from the first to the last, and the
 * confusion matrix of the first table that has one. */
struct error *figure_scores(FILE *stream, const struct scores *scores, size_t count,
                            const struct figure_options *options) MUST_CHECK;

/* The same for a terminal of that many columns, in dots of Braille: the first series of each class,
 * shapelets, and curves. */
struct error *text_dataset(FILE *stream, const struct dataset *dataset, size_t width,
                           const struct figure_options *options) MUST_CHECK;
struct error *text_pool(FILE *stream, const struct shapelet_pool *pool, const struct dataset *real,
                        size_t width, const struct figure_options *options) MUST_CHECK;
struct error *text_curves(FILE *stream, const struct table *table, size_t width,
                          const struct figure_options *options) MUST_CHECK;
struct error *text_scores(FILE *stream, const struct scores *scores, size_t count, size_t width,
                          const struct figure_options *options) MUST_CHECK;

#endif
