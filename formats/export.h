/* Datasets in the formats of others (sc-export(1)).
 *
 * Text holds each value as the shortest decimal that reads back as the same float, and missing
 * values as NaN (UCR), ? (.ts) or nothing (CSV).  Labels are class names, or class numbers where
 * there are no names. */
#ifndef SC_EXPORT_H
#define SC_EXPORT_H

#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"

enum export_format { EXPORT_NONE, EXPORT_NPZ, EXPORT_UCR, EXPORT_TS, EXPORT_CSV };

/* The format that the end of a name stands for: .npz, .tsv and .txt (UCR), .ts, .csv; EXPORT_NONE
 * for any other. */
enum export_format export_format_of(const char *path);

/* Writes the dataset in that format; `problem` is for .ts. */
struct error *export_dataset(FILE *stream, enum export_format format, const struct dataset *dataset,
                             const char *problem) MUST_CHECK;

/* NumPy's .npz: the arrays X (N, C, L), y, groups, soft, classes (names) and notes, where the
 * dataset has them.  The same dataset gives the same bytes at any time and place. */
struct error *export_npz(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* UCR 2018 .tsv: one series in a row, label first.  For labelled datasets of one channel. */
struct error *export_ucr(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* CSV with a header ("label,0,1,..."), as pandas reads it: one series in a row, missing values as
 * empty cells.  For labelled datasets of one channel. */
struct error *export_csv(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* .ts, as sktime and aeon read it.  problem is for @problemName; white space in it becomes _. */
struct error *export_ts(FILE *stream, const struct dataset *dataset,
                        const char *problem) MUST_CHECK;

#endif
