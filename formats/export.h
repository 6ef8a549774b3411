/* Datasets in the formats of others (sc-export(1)).
 *
 * Text holds each value as the shortest decimal that reads back as the same float, and missing
 * values as NaN (UCR) or ? (.ts).  Labels are class names, or class numbers where there are no
 * names. */
#ifndef SC_EXPORT_H
#define SC_EXPORT_H

#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"

/* NumPy's .npz: the arrays X (N, C, L), y, groups, soft, classes (names) and notes, as far as they are
 * there.  The same dataset gives the same bytes at any time and place. */
struct error *export_npz(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* UCR 2018 .tsv: one series in a row, label first.  For labelled sets of one channel. */
struct error *export_ucr(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* .ts, as sktime and aeon read it.  problem is for @problemName; white space in it becomes _. */
struct error *export_ts(FILE *stream, const struct dataset *dataset,
                        const char *problem) MUST_CHECK;

#endif
