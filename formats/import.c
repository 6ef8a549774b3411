#include "formats/import.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory_stream.h"
#include "base/scratch.h"
#include "base/text.h"
#include "formats/import-internal.h"
#include "formats/mapped.h"

struct import {
    struct import_options options;
    struct import_source *sources;
    size_t count, room;
    const char **digests;
    size_t digest_count;
    struct import_remarks remarks;
};

struct error *import_new(const struct import_options *options, struct import **import)
{
    *import = calloc(1, sizeof **import);
    if (!*import)
        return error_memory("the series");
    (*import)->options = *options;
    return NULL;
}

/* ---- Which format ---- */

/* A format that can be read has a parser; one that is only recognised has advice, in which FILE and
 * BASE (that without its ending) stand for the name. */
struct format {
    const char *name;
    const char *endings[4];
    const char *magic; /* what a file starts with, or NULL */
    size_t magic_size;
    bool (*recognise)(const char *text, const char *end);
    import_parser *parse;
    bool arrays; /* labels may have a file of their own */
    const char *advice;
};

static bool is_arff(const char *text, const char *end);
static bool is_ts(const char *text, const char *end);
static bool is_bzip2(const char *text, const char *end);
static bool is_json(const char *text, const char *end);

#define MAGIC(bytes) (bytes), sizeof(bytes) - 1

static const struct format formats[] = {
    {"ucr", {".tsv", ".txt"}, .parse = import_ucr},
    {"csv", {".csv"}, .parse = import_csv},
    {"ts", {".ts"}, .recognise = is_ts, .parse = import_ts},
    {"arff", {".arff"}, .recognise = is_arff, .parse = import_arff},
    {"npy", {".npy"}, MAGIC("\x93NUMPY"), .parse = import_npy, .arrays = true},
    {"npz", {".npz"}, MAGIC("PK\3\4"), .parse = import_npz, .arrays = true},
    {"a Parquet file",
     {".parquet"},
     MAGIC("PAR1"),
     .advice = "import pandas as pd; pd.read_parquet('FILE').to_csv('BASE.csv', index=False)"},
    {"an Arrow or Feather file",
     {".feather", ".arrow"},
     MAGIC("ARROW1"),
     .advice = "import pandas as pd; pd.read_feather('FILE').to_csv('BASE.csv', index=False)"},
    {"an HDF5 file",
     {".h5", ".hdf5"},
     MAGIC("\x89HDF\r\n\x1a\n"),
     .advice = "import h5py, numpy as np; f = h5py.File('FILE'); "
               "np.savez('BASE.npz', X=f['X'][:], y=f['y'][:])"},
    {"a MATLAB 7.3 file",
     {0},
     MAGIC("MATLAB 7.3 MAT-file"),
     .advice = "import h5py, numpy as np; f = h5py.File('FILE'); "
               "np.savez('BASE.npz', X=f['X'][:].T, y=f['y'][:].ravel())"},
    {"a MATLAB file",
     {".mat"},
     MAGIC("MATLAB 5.0 MAT-file"),
     .advice = "import scipy.io, numpy as np; m = scipy.io.loadmat('FILE'); "
               "np.savez('BASE.npz', X=m['X'], y=m['y'].ravel())"},
    {"an Excel file",
     {".xlsx"},
     .advice = "import pandas as pd; "
               "pd.read_excel('FILE').to_csv('BASE.csv', index=False)"},
    {"a Python pickle",
     {".pkl", ".pickle"},
     MAGIC("\x80\4\x95"),
     .advice = "import pandas as pd; pd.read_pickle('FILE').to_csv('BASE.csv', index=False)"},
    {"a Python pickle",
     {0},
     MAGIC("\x80\5\x95"),
     .advice = "import pandas as pd; pd.read_pickle('FILE').to_csv('BASE.csv', index=False)"},
    {"a gzip file",
     {".gz"},
     MAGIC("\x1f\x8b"),
     .advice = "import gzip; open('BASE', 'wb').write(gzip.open('FILE').read())"},
    {"a bzip2 file",
     {".bz2"},
     .recognise = is_bzip2,
     .advice = "import bz2; open('BASE', 'wb').write(bz2.open('FILE').read())"},
    {"an xz file",
     {".xz"},
     MAGIC("\xfd"
           "7zXZ"),
     .advice = "import lzma; open('BASE', 'wb').write(lzma.open('FILE').read())"},
    {"a JSON file",
     {".json", ".jsonl"},
     .recognise = is_json,
     .advice = "import pandas as pd; pd.read_json('FILE').to_csv('BASE.csv', index=False)"},
};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *import_format(size_t index)
{
    return index < FORMATS && formats[index].parse ? formats[index].name : NULL;
}

static bool has_ending(const struct format *format, const char *name)
{
    for (size_t i = 0; i < 4 && format->endings[i]; i++) {
        if (text_ends_with_nocase(name, format->endings[i]))
            return true;
    }
    return false;
}

/* A header of @ lines: .arff says what it relates, .ts does not. */
static bool has_at_lines(const char *text, const char *end, bool *arff)
{
    const char *line, *line_end;
    bool found = false;

    *arff = false;
    while (import_next_line(&text, end, &line, &line_end)) {
        const char *stop;

        import_trim(&line, &line_end);
        if (line == line_end || *line == '%' || *line == '#')
            continue;
        if (*line != '@')
            break;
        found = true;
        for (stop = line; stop < line_end && *stop != ' ' && *stop != '\t'; stop++)
            continue;
        *arff |=
            import_is_word(line, stop, "@relation") || import_is_word(line, stop, "@attribute");
    }
    return found;
}

static bool is_arff(const char *text, const char *end)
{
    bool arff;

    return has_at_lines(text, end, &arff) && arff;
}

static bool is_ts(const char *text, const char *end)
{
    bool arff;

    return has_at_lines(text, end, &arff) && !arff;
}

/* "BZh", the size of blocks, and what each block starts with. */
static bool is_bzip2(const char *text, const char *end)
{
    return end - text >= 10 && memcmp(text, "BZh", 3) == 0 && text[3] >= '1' && text[3] <= '9' &&
           memcmp(text + 4, "1AY&SY", 6) == 0;
}

/* An object, or a list of objects, lists, texts or numbers.  A name in brackets is not JSON. */
static bool is_json(const char *text, const char *end)
{
    import_trim(&text, &end);
    if (text == end || (*text != '{' && *text != '['))
        return false;
    if (*text == '{')
        return true;
    text++;
    import_trim(&text, &end);
    return text < end && strchr("{[\"]-0123456789", *text);
}

/* By its content, else by the end of its name, else a table. */
static const struct format *detect(const char *name, const char *bytes, size_t size)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const struct format *format = &formats[i];

        /* A workbook is an archive as an .npz is. */
        if ((format->magic && size >= format->magic_size && !text_ends_with_nocase(name, ".xlsx") &&
             memcmp(bytes, format->magic, format->magic_size) == 0) ||
            (format->recognise && format->recognise(bytes, bytes + size)))
            return format;
    }
    for (size_t i = 0; i < FORMATS; i++) {
        if (has_ending(&formats[i], name))
            return &formats[i];
    }
    return &formats[1];
}

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].parse && strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

/* The advice for a format that cannot be read, with the name of the file in it. */
static struct error *refuse(const struct import_source *source, const struct format *format)
{
    const char *slash = strrchr(source->name, '/'), *dot = strrchr(source->name, '.');
    int base = dot && dot > source->name && (!slash || dot > slash + 1) ? (int)(dot - source->name)
                                                                        : (int)strlen(source->name);
    struct memory_stream text;
    struct error *error;

    TRY(memory_stream_open("advice", &text));
    for (const char *next = format->advice; *next;) {
        if (strncmp(next, "FILE", 4) == 0)
            fputs(source->name, text.stream);
        else if (strncmp(next, "BASE", 4) == 0)
            fprintf(text.stream, "%.*s", base, source->name);
        else
            fputc(*next, text.stream);
        next += strncmp(next, "FILE", 4) == 0 || strncmp(next, "BASE", 4) == 0 ? 4 : 1;
    }
    TRY(memory_stream_close(&text));
    error = error_in(source->name, error_make("%s, which cannot be read.  In Python: %s",
                                              format->name, text.bytes));
    memory_stream_free(&text);
    return error;
}

static bool names_columns(const struct import_options *options)
{
    return options->label == IMPORT_LABEL_COLUMN || options->drop_count || options->group;
}

static struct error *parse(struct import_source *source, const char *bytes, size_t size,
                           const char *labels)
{
    const struct format *format = source->options->format ? find_format(source->options->format)
                                                          : detect(source->name, bytes, size);

    if (size == 0)
        return error_in(source->name, error_make("empty file"));
    if (!format)
        return error_in(source->name,
                        error_make("no format is called '%s'", source->options->format));
    if (!format->parse)
        return refuse(source, format);
    if (labels && !format->arrays)
        return error_in(source->name, error_make("--labels is for NPY files, this is text"));
    if (source->options->groups && !format->arrays)
        return error_in(source->name,
                        error_make("--groups is for NPY files; --group names a column"));
    if (format->arrays && names_columns(source->options))
        return error_in(
            source->name,
            error_make("--label, --drop and --group name columns of a table; labels and groups of "
                       "arrays are y and groups of an NPZ file, or files of their own (--labels, "
                       "--groups)"));
    return format->parse(source, bytes, size, labels);
}

/* ---- Files ---- */

static void free_unless_spilled(const struct import_source *source, void *memory)
{
    if (!spill_holds(source->spill, memory))
        free(memory);
}

static void source_free(struct import_source *source)
{
    for (size_t i = 0; i < source->chunk_count; i++) {
        struct import_chunk *chunk = &source->chunks[i];

        error_free(chunk->error);
        import_free_problems(chunk->problems);
        if (!chunk->fixed_length)
            free_unless_spilled(source, chunk->values);
        free_unless_spilled(source, chunk->rows);
        free_unless_spilled(source, chunk->ends);
        free_unless_spilled(source, chunk->labels);
    }
    spill_free(source->spill);
    free(source->chunks);
    for (size_t i = 0; i < source->declared_count; i++)
        free(source->declared[i]);
    free(source->declared);
    import_free_problems(source->problems);
    import_free_columns(&source->columns);
    npy_array_free(&source->array);
    scratch_free(source->member);
    mapped_release(source->bytes, source->size, source->mapped);
    free(source->notes);
    free(source->name);
}

/* A new source at the end, which import_free frees whatever becomes of it. */
static struct error *add_source(struct import *import, const char *name,
                                struct import_source **source)
{
    TRY(import_reserve(&import->sources, &import->room, import->count + 1,
                       sizeof *import->sources));
    *source = &import->sources[import->count];
    memset(*source, 0, sizeof **source);
    (*source)->options = &import->options;
    (*source)->remarks = &import->remarks;
    (*source)->name = strdup(name);
    if (!(*source)->name)
        return error_memory("a file name");
    import->count++;
    return NULL;
}

/* Parses what the source is to hold.  A byte order mark in front of text is skipped. */
static struct error *parse_source(struct import_source *source, const char *bytes, size_t size,
                                  const char *labels)
{
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    return parse(source, bytes, size, labels);
}

struct error *import_file(struct import *import, const char *path, const char *labels)
{
    struct import_source *source;

    TRY(add_source(import, file_shown(path), &source));
    TRY(error_in(source->name, mapped_read(path, &source->bytes, &source->size, &source->mapped)));
    return parse_source(source, (const char *)source->bytes, source->size, labels);
}

struct error *import_memory(struct import *import, const char *name, const void *bytes, size_t size)
{
    struct import_source *source;

    TRY(add_source(import, name, &source));
    return parse_source(source, bytes, size, NULL);
}

/* ---- The dataset ---- */

/* Chunks point back at their source, which moves when the array of sources grows. */
static void point_back(struct import *import)
{
    for (size_t i = 0; i < import->count; i++) {
        for (size_t j = 0; j < import->sources[i].chunk_count; j++)
            import->sources[i].chunks[j].source = &import->sources[i];
    }
}

static struct error *check_labelled(const struct import *import)
{
    const struct import_source *first = import->sources;

    for (size_t i = 1; i < import->count; i++) {
        const struct import_source *source = &import->sources[i];

        if (source->syntax.labelled != first->syntax.labelled)
            return error_in(source->name,
                            error_make("%s labels, but %s %s",
                                       source->syntax.labelled ? "has" : "no", first->name,
                                       source->syntax.labelled ? "has none" : "has"));
    }
    return NULL;
}

/* Groups are for all files or for none, and only where there are labels to split by. */
static struct error *check_grouped(const struct import *import)
{
    for (size_t i = 0; i < import->count; i++) {
        const struct import_source *source = &import->sources[i];

        if (source->syntax.grouped != import->sources[0].syntax.grouped)
            return error_in(source->name, error_make("%s groups, but %s %s",
                                                     source->syntax.grouped ? "has" : "no",
                                                     import->sources[0].name,
                                                     source->syntax.grouped ? "has none" : "has"));
    }
    if (import->sources[0].syntax.grouped && !import->sources[0].syntax.labelled)
        return error_make("groups without labels");
    return NULL;
}

static struct error *collect_digests(struct import *import)
{
    import->digests = calloc(3 * import->count + 1, sizeof *import->digests);
    if (!import->digests)
        return error_memory("provenance");
    for (size_t i = 0; i < import->count; i++) {
        import->digests[import->digest_count++] = import->sources[i].digest;
        import->digests[import->digest_count++] = import->sources[i].label_digest;
        import->digests[import->digest_count++] = import->sources[i].group_digest;
    }
    if (import->options.classes)
        import->digests[import->digest_count++] = import->options.classes->digest;
    return NULL;
}

/* One of the problems of a file as an error. */
static struct error *problem_error(const struct import_source *source,
                                   const struct import_problem *problem)
{
    struct error *error;
    char where[48];

    error = problem->rows > 1
                ? error_make("%s; the same in %zu more", problem->message, problem->rows - 1)
                : error_make("%s", problem->message);
    if (source->in_rows)
        return import_at_line(source, problem->line, error);
    snprintf(where, sizeof where, "series %zu", problem->line);
    return error_in(source->name, error_in(where, error));
}

static int compare_problems(const void *a, const void *b)
{
    const struct import_problem *left = a, *right = b;

    return (left->line > right->line) - (left->line < right->line);
}

/* All problems of all files, at most some, in the order of lines. */
static struct error *report_problems(struct import *import)
{
    struct error *all = NULL;
    size_t shown = 0, others = 0;

    for (size_t i = 0; i < import->count; i++) {
        struct import_problems *problems = import->sources[i].problems;

        if (!problems)
            continue;
        qsort(problems->items, problems->count, sizeof *problems->items, compare_problems);
        others += problems->others;
        for (size_t j = 0; j < problems->count; j++) {
            if (shown++ < IMPORT_MOST_PROBLEMS)
                all = error_and(all, problem_error(&import->sources[i], &problems->items[j]));
            else
                others += problems->items[j].rows;
        }
    }
    if (all && others)
        all = error_and(all, error_make("%zu more rows are wrong in other ways", others));
    return all;
}

static struct error *build(struct import *import, struct dataset *dataset)
{
    const struct import_source *first = import->sources;

    TRY(collect_digests(import));
    TRY(check_labelled(import));
    TRY(check_grouped(import));
    TRY(import_join_series(import->sources, import->count, &import->options, dataset));
    TRY(report_problems(import));
    if (import->count == 1) {
        dataset->notes = import->sources[0].notes;
        import->sources[0].notes = NULL;
    }
    if (first->syntax.grouped) {
        TRY(dataset_add_groups(dataset));
        TRY(import_number_groups(import->sources, import->count, dataset));
    }
    if (first->syntax.labelled)
        TRY(import_number_labels(import->sources, import->count, import->options.classes,
                                 &import->remarks, dataset));
    else
        dataset->y = NULL;
    TRY(report_problems(import));
    return import_look_over(import->sources, import->count, dataset, &import->remarks);
}

struct error *import_finish(struct import *import, struct dataset *dataset)
{
    struct error *error;

    memset(dataset, 0, sizeof *dataset);
    if (import->count == 0)
        return error_make("no files to import");
    point_back(import);
    error = build(import, dataset);
    if (error)
        dataset_free(dataset);
    return error;
}

const char *import_remark(const struct import *import, size_t index, bool *warning)
{
    if (index >= import->remarks.count)
        return NULL;
    *warning = import->remarks.items[index].warning;
    return import->remarks.items[index].text;
}

const char *const *import_digests(const struct import *import, size_t *count)
{
    *count = import->digest_count;
    return import->digests;
}

void import_free(struct import *import)
{
    if (!import)
        return;
    for (size_t i = 0; i < import->count; i++)
        source_free(&import->sources[i]);
    for (size_t i = 0; i < import->remarks.count; i++)
        free(import->remarks.items[i].text);
    free(import->remarks.items);
    free(import->sources);
    free(import->digests);
    free(import);
}
