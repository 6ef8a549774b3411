/* What the fuzzers share.  Each takes one parser, checks that what it accepts makes sense, and that
 * writing it and reading it again gives the same. */
#ifndef SC_FUZZ_H
#define SC_FUZZ_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "formats/export.h"
#include "formats/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold; a crash that libFuzzer reports otherwise. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Frees the error and says whether there was one.  Its text must be there. */
static inline bool failed(struct error *error)
{
    if (!error)
        return false;
    MUST(error_message(error)[0]);
    error_free(error);
    return true;
}

/* A name under which npy_open and file_read find these bytes (memory_file.c), until the next call.
 */
const char *as_file(const void *bytes, size_t size);

static inline void check_same(const struct dataset *a, const struct dataset *b)
{
    MUST(a->count == b->count && a->channels == b->channels && a->length == b->length);
    MUST(a->classes == b->classes && !a->y == !b->y);
    for (size_t i = 0; i < a->count * a->channels * a->length; i++)
        MUST(a->x[i] == b->x[i] || (isnan(a->x[i]) && isnan(b->x[i])));
    for (size_t i = 0; a->y && i < a->count; i++)
        MUST(a->y[i] == b->y[i] && a->y[i] >= 0 && (size_t)a->y[i] < a->classes);
    for (size_t i = 0; a->names && b->names && i < a->classes; i++)
        MUST(strcmp(a->names[i], b->names[i]) == 0);
}

static inline bool import_one(const struct import_options *options, const char *name,
                              const void *bytes, size_t size, struct dataset *dataset)
{
    struct import *import;
    bool bad = failed(import_new(options, &import)) ||
               failed(import_memory(import, name, bytes, size)) ||
               failed(import_finish(import, dataset));

    import_free(import);
    return !bad;
}

/* What a text importer accepts survives .ts, unless its class names cannot stand there. */
static inline void fuzz_import(const char *format, const uint8_t *bytes, size_t size)
{
    /* The size chooses the options, so that every file of the format is a seed. */
    struct import_options options = {
        .format = format,
        .label = (enum import_label)(size % 4),
        .lengths = (enum import_lengths)(size / 3 % 4),
        .missing = (enum import_missing)(size / 12 % 6),
        .length = size % 5 == 0 ? 7 : 0,
    };
    struct dataset dataset, again;
    char *text = NULL;
    size_t text_size;
    FILE *stream;
    bool exported;

    if (!import_one(&options, "input", bytes, size, &dataset))
        return;
    MUST(dataset.count && dataset.channels && dataset.length);
    stream = open_memstream(&text, &text_size);
    MUST(stream);
    exported = !failed(export_ts(stream, &dataset, "fuzz"));
    fclose(stream);
    if (exported) {
        options = (struct import_options){.format = "ts", .missing = IMPORT_MISSING_KEEP};
        MUST(import_one(&options, "again", text, text_size, &again));
        check_same(&dataset, &again);
        dataset_free(&again);
    }
    free(text);
    dataset_free(&dataset);
}

#endif
