/* Finding the shapelets of a labelled dataset (paper, 3.1).
 *
 * Every candidate of every series is measured against all series and scored (quality.h).  Where the
 * measure of quality has bounds, a candidate is dropped as soon as the upper bound of its quality
 * is below what the pool holds already.  That never changes the pool, and neither does the number
 * of threads or of ranks. */
#ifndef SC_SHAPELETS_DISCOVER_H
#define SC_SHAPELETS_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "shapelets/distance_device.h"
#include "shapelets/select.h"
#include "formats/slp.h"

#define DISCOVER_FULL SIZE_MAX

struct discover_options {
    const size_t *lengths; /* of the candidates, ascending */
    size_t length_count;
    size_t start_step;      /* candidates start at multiples of this */
    size_t window;          /* half width W of the search, or DISCOVER_FULL */
    bool length_normalised; /* distances divided by the root of the length */
    size_t quality;         /* how candidates are scored: a number of SLP_QUALITIES */
    bool one_against_rest;  /* scored for telling the class of the source from all others */
    size_t k;               /* shapelets for each channel */
    enum selection selection;
    bool keep_all; /* measure every candidate to the end: for tests and comparisons */
    const struct distance_device *device; /* what measures; NULL: the processor.  The same pool. */
    struct cluster *cluster; /* ranks that share the series whose candidates are searched */
    /* Called from any thread after each series of this rank; may be NULL. */
    void (*progress)(void *context, size_t done, size_t total);
    void *progress_context;
};

struct discover_report {
    uint64_t candidates; /* in all channels */
    uint64_t distances;  /* candidate and series pairs that were measured */
    uint64_t sorted;     /* candidates whose quality was computed exactly */
};

/* Lengths for series of this many steps when none are given: 10, 15, 20, 25 and 30 % of the steps,
 * at least 3 where possible.  Returns how many of lengths[5] are set. */
size_t discover_default_lengths(size_t steps, size_t lengths[5]);
/* 15 % of the steps, between 1 and 50. */
size_t discover_default_window(size_t steps);
/* The smallest step that leaves at most 500 starts: ceil(steps / 500). */
size_t discover_default_start_step(size_t steps);

/* The pool is ordered by channel, then as select_final says.  It has fewer than k shapelets for a
 * channel when there are no more candidates that do not overlap.  report may be NULL. */
struct error *discover_shapelets(const struct dataset *dataset,
                                 const struct discover_options *options, struct shapelet_pool *pool,
                                 struct discover_report *report) MUST_CHECK;

#endif
