/* The parts of a report that are about the run: learning curves and the time of the stages. */
#ifndef SC_REPORT_TRAINING_H
#define SC_REPORT_TRAINING_H

#include <stdio.h>

#include "base/error.h"
#include "formats/table.h"

struct report_curve {
    const char *name; /* of what was trained */
    struct table table;
};

/* One panel for each column of each table over its first column. */
struct error *training_write_curves(FILE *stream, const struct report_curve *curves,
                                    size_t count) MUST_CHECK;

/* A bar for each stage of shapecond (stages.tsv): seconds, bytes that it wrote and the command,
 * separated by tabs. */
void training_write_stages(FILE *stream, const char *log, size_t size);
/* An error if there is no stage in it. */
struct error *training_check_stages(const char *log, size_t size) MUST_CHECK;

#endif
