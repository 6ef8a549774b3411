/* Tables of scores: one row for each classifier, then mean and deviation. */
#ifndef SC_EVAL_REPORT_H
#define SC_EVAL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "eval/student.h"

struct report {
    size_t count; /* at least 1 */
    const struct score *scores;
    bool students;       /* they were trained: with seeds, epochs and, maybe, validation */
    uint64_t first_seed; /* of the students */
    double full;         /* accuracy to compare with, a share; NAN: none */
    char *const *names;  /* of the classes, or NULL */
};

/* Tab-separated, with a heading:
 *     seed accuracy ratio macro_f1 validation epoch recall:NAME...
 * in percent, "-" where there is no value; the last rows are called "mean" and "deviation".  With
 * `confusion`, after an empty line: the counts of true classes (rows) and predicted ones, summed
 * over all scores. */
void report_write_table(FILE *stream, const struct report *report, bool confusion);

/* The same as one JSON object, with the confusion matrix of every score. */
void report_write_json(FILE *stream, const struct report *report);

/* The accuracy to compare with, a share, from a number in percent or the name of a file that
 * report_write_table has written, whose mean it is. */
struct error *report_read_full(const char *text, double *full) MUST_CHECK;

#endif
