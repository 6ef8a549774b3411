/* Tables that sc-eval has written, read for pictures and reports. */
#ifndef SC_SCORES_H
#define SC_SCORES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct scores {
    const char *name; /* what was evaluated */
    double accuracy;  /* mean, in percent */
    double deviation; /* of the students, in percent; NaN for one alone */
    size_t students;
    size_t classes;     /* of the confusion matrix; 0: there is none */
    double *confusion;  /* (classes, classes): true ones are rows */
    char **class_names; /* of the rows */
};

/* Whether the text begins as such a table does. */
bool scores_are(const char *text, size_t size);

/* Reads the text of a table. */
struct error *scores_parse(const char *text, size_t size, const char *name,
                           struct scores *scores) MUST_CHECK;
void scores_free(struct scores *scores);

#endif
