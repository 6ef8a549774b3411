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

enum import_format {
    IMPORT_AUTO, /* by content, then by the end of the name */
    IMPORT_UCR,  /* rows of a label and values, separated by tabs, commas, semicolons or spaces */
    IMPORT_CSV,  /* same, with an optional header line and quotes */
    IMPORT_TS,   /* sktime and aeon */
    IMPORT_ARFF, /* Weka, plain or relational */
    IMPORT_NPY,  /* X, with y behind it or in a file of its own */
};

/* Where a row has its label. */
enum import_label {
    IMPORT_LABEL_FIRST,
    IMPORT_LABEL_LAST,
    IMPORT_LABEL_NONE,
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

struct import_options {
    enum import_format format;
    enum import_label label; /* UCR and CSV */
    bool header;             /* CSV: the first line is a header, whatever it looks like */
    enum import_lengths lengths;
    size_t length; /* pad or cut to this many steps; 0: the longest or shortest decides */
    enum import_missing missing;
    const struct dataset *classes; /* number the labels as this set does, or NULL */
    /* Runs body(context, task, worker) for all tasks, on several threads if it likes; NULL: one
     * after another.  The result does not depend on it. */
    void (*parallel)(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                     void *context);
};

struct import;

struct error *import_new(const struct import_options *options, struct import **import) MUST_CHECK;

/* Adds a file, "-" for standard input.  labels, for NPY, names the file that holds y, or is NULL.
 * Errors name the file, and the line where there is one. */
struct error *import_file(struct import *import, const char *path, const char *labels) MUST_CHECK;

/* Same from memory, which must stay until import_finish; name is for messages and for telling the
 * format. */
struct error *import_memory(struct import *import, const char *name, const void *bytes,
                            size_t size) MUST_CHECK;

/* Everything that was added as one dataset.  Can be called once. */
struct error *import_finish(struct import *import, struct dataset *dataset) MUST_CHECK;

/* What looks wrong with the labels, as if values or names of columns were taken for them; NULL if
 * nothing does. */
const char *import_warning(const struct import *import);

/* The digests of all files and of the set that gave the classes, for provenance: *count of them,
 * some of which may be "".  There are none before import_finish. */
const char *const *import_digests(const struct import *import, size_t *count);

void import_free(struct import *import);

#endif
