/* What is in a file: datasets, other NPY arrays, shapelet pools, teachers.  The kind of a file is
 * known from its first bytes. */
#ifndef SC_DATA_INFO_H
#define SC_DATA_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "data/summary.h"
#include "formats/dataset.h"
#include "base/error.h"
#include "formats/npy-c/npy-c.h"
#include "formats/slp.h"
#include "formats/tch.h"

enum info_kind { INFO_DATASET, INFO_ARRAYS, INFO_POOL, INFO_TEACHER };

/* One NPY array as it is stored. */
struct info_array {
    const char *role; /* "series", "labels", "soft", "names", "notes", "views", "codes",
                         "levels", "packing", "array" */
    char type[24];    /* ">f8": as the file says, with its byte order */
    bool fortran;     /* columns first */
    enum npy_kind kind;
    size_t ndim;
    size_t shape[NPY_MAX_DIMS];
    size_t count;
    struct summary summary; /* of numbers, when the file is no dataset */
};

struct info {
    enum info_kind kind;
    char *path; /* as shown */
    size_t bytes;
    char digest[DIGEST_TEXT];

    struct info_array *arrays; /* of NPY files */
    size_t array_count;

    struct dataset dataset;   /* INFO_DATASET; its data lives in the input */
    struct summary *channels; /* (C,) */
    struct summary all;       /* all channels together */
    struct summary soft;      /* soft labels */
    size_t soft_agrees;       /* series whose largest soft label is that of their class */
    size_t *class_counts;     /* (V,), or NULL without labels */
    char *reason;             /* INFO_ARRAYS: why it is no dataset, */
    char *text;               /* and its first text, such as that of experts; or NULL */

    struct shapelet_pool pool; /* INFO_POOL */
    struct tch teacher;        /* INFO_TEACHER */
    size_t parameter_count;    /* its values that are learned: all but running statistics */

    unsigned char *input; /* the bytes of the file, where they were read here */
    size_t input_size;
    struct mapped *mapped; /* NULL: they were read, not mapped */
};

/* Reads a file, or standard input for "-", and takes its statistics.  Errors name the file. */
struct error *info_read(const char *path, struct info *info) MUST_CHECK;
/* Same from memory, which must stay: for tests and fuzzers. */
struct error *info_read_memory(const void *bytes, size_t size, struct info *info) MUST_CHECK;

/* For people.  Long lists are cut short unless all is set. */
void info_write_text(FILE *stream, const struct info *info, bool all);
/* For programs: one JSON object. */
void info_write_json(FILE *stream, const struct info *info);
/* For scripts: a row of a table (sc-info(1)), and its heading. */
void info_write_tsv(FILE *stream, const struct info *info);
void info_write_tsv_heading(FILE *stream);

/* "dataset", "arrays", "pool" or "teacher". */
const char *info_kind_name(enum info_kind kind);

/* The lines of the provenance, one after another: *line and *length are set to the next one.
 * Starts with *line NULL; false at the end. */
bool info_next_note(const struct info *info, const char **line, size_t *length);

/* Safe on an info that is all zeros, and more than once. */
void info_free(struct info *info);

#endif
