/* Tables that sc-eval has written, read for a report. */
#ifndef SC_REPORT_SCORES_H
#define SC_REPORT_SCORES_H

#include <stddef.h>

#include "base/error.h"

struct scores {
    const char *name; /* what was evaluated */
    double accuracy;  /* mean, in percent */
    double deviation; /* of the students, in percent; NaN for one alone */
    size_t students;
    size_t classes;    /* of the confusion matrix; 0: there is none */
    double *confusion; /* (classes, classes): true ones are rows */
};

/* Reads the text of a table. */
struct error *scores_parse(const char *text, size_t size, const char *name,
                           struct scores *scores) MUST_CHECK;
void scores_free(struct scores *scores);

#endif
