/* A report on a condensed dataset: one HTML page with everything in it (sc-report(1)).
 *
 * Curves, bars and points are inline SVG, colours follow the light or dark setting of the reader,
 * and the page loads nothing from anywhere.  All text from files is escaped. */
#ifndef SC_REPORT_PAGE_H
#define SC_REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "formats/dataset.h"
#include "formats/slp.h"
#include "formats/scores.h"
#include "report/training.h"

struct page {
    const char *title;               /* or NULL: the name of the file */
    const char *file;                /* of the condensed dataset, for the Python lines */
    const struct dataset *condensed; /* labelled */
    size_t condensed_bytes;          /* of its file */
    const struct dataset *real; /* what it stands for, of the same shape and classes, or NULL */
    size_t real_bytes;
    const struct shapelet_pool *pool; /* or NULL */
    const struct dataset *searched;   /* that the pool was found in, or NULL */
    /* Of students.  In "MODEL: NAME" the first part is a heading over the bars of that model. */
    const struct scores *scores;
    size_t score_count;
    const struct report_curve *curves;
    size_t curve_count;
    const char *note;  /* a sentence about the accuracy, or NULL */
    const char *times; /* stages.tsv of shapecond, or NULL */
    size_t times_size;
};

struct error *page_write(FILE *stream, const struct page *page) MUST_CHECK;

#endif
