/* Text and array files of others, read into one dataset (sc-import(1)).
 *
 *     struct import *import = NULL;
 *     TRY(import_new(&options, &import));
 *     TRY(import_file(import, "Gun_TRAIN.tsv", NULL));
 *     TRY(import_file(import, "Gun_TEST.tsv", NULL));
 *     TRY(import_finish(import, &dataset));
 *     import_free(import);
 *
 * Series keep the order of the files and of their rows.  Labels are numbered over all files: in the
 * order of their values if all are numbers, else in the order of their code points, so that the
 * order of rows, files or header lists never matters.
 *
 * Numbers are read as the nearest double and then rounded to float, as NumPy does it. */
#ifndef SC_IMPORT_H
#define SC_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/dataset.h"
#include "base/error.h"

/* Where a row of text has its label. */
enum import_label {
    IMPORT_LABEL_AUTO, /* in the column that the header calls label, class or target, else first
                        */
    IMPORT_LABEL_FIRST,
    IMPORT_LABEL_LAST,
    IMPORT_LABEL_NONE,
    IMPORT_LABEL_COLUMN, /* label_column names it */
};

/* Series of unequal length.  Under all but ERROR, missing values that end a series are its end. */
enum import_lengths {
    IMPORT_LENGTHS_ERROR,
    IMPORT_LENGTHS_PAD,  /* up to the longest, with the last value of the series */
    IMPORT_LENGTHS_ZERO, /* up to the longest, with zeros */
    IMPORT_LENGTHS_CUT,  /* down to the shortest */
};

/* Values that are missing. */
enum import_missing {
    IMPORT_MISSING_ERROR,
    IMPORT_MISSING_LINEAR,   /* on the line between the neighbours; at the ends the nearest value */
    IMPORT_MISSING_PREVIOUS, /* the value before; at the start the first there is */
    IMPORT_MISSING_MEAN,     /* of the values that the channel of this series has */
    IMPORT_MISSING_ZERO,
    IMPORT_MISSING_KEEP, /* NaN */
};

/* Columns of text are called by their name in the header, or by their number from 1. */
struct import_options {
    const char
        *format; /* a name of import_format, or NULL: by content, then by the end of the name */
    enum import_label label; /* UCR and CSV */
    const char *label_column;
    const char *const *drop; /* UCR and CSV: columns that are left out */
    size_t drop_count;
    const char *group;       /* UCR and CSV: the column that names the group of a series, or NULL */
    const char *groups;      /* arrays: the file that does, or NULL */
    const char *long_format; /* UCR and CSV: one value in a row, "id=..,value=.." (import-long.c) */
    bool header;             /* CSV: the first line is a header, whatever it looks like */
    bool channels_last;      /* arrays are (N, L, C), not (N, C, L) */
    const char *array;       /* NPZ: the array that holds the series, or NULL: by name */
    enum import_lengths lengths;
    size_t length; /* pad or cut to this many steps; 0: the longest or shortest decides */
    enum import_missing missing;
    const struct dataset *classes; /* number the labels as this dataset does, or NULL */
    /* Runs body(context, task, worker) for all tasks, on several threads if it likes; NULL: one
     * after another.  The result does not depend on it. */
    void (*parallel)(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                     void *context);
};

/* The names of the formats that can be read, by index; NULL after the last. */
const char *import_format(size_t index);

struct import;

struct error *import_new(const struct import_options *options, struct import **import) MUST_CHECK;

/* Adds a file, "-" for standard input.  labels, for arrays, names the file that holds y, or is
 * NULL. Errors name the file, and the line where there is one.  Problems with single rows
 * wait for import_finish, which reports all of them together. */
struct error *import_file(struct import *import, const char *path, const char *labels) MUST_CHECK;

/* Same from memory, which must stay until import_finish; name is for messages and for telling the
 * format. */
struct error *import_memory(struct import *import, const char *name, const void *bytes,
                            size_t size) MUST_CHECK;

/* Everything that was added as one dataset.  Can be called once.  The error may have others
 * appended to it (error_next): one for each kind of problem with rows, up to a limit. */
struct error *import_finish(struct import *import, struct dataset *dataset) MUST_CHECK;

/* What the files were taken for where that is not obvious, and what looks wrong (*warning): the
 * text by index, NULL after the last.  There is none before import_finish. */
const char *import_remark(const struct import *import, size_t index, bool *warning);

/* The digests of all files and of the dataset that gave the classes, for provenance: *count of
 * them, some of which may be "".  There are none before import_finish. */
const char *const *import_digests(const struct import *import, size_t *count);

void import_free(struct import *import);

#endif
