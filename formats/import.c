#include "formats/import.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/import-internal.h"
#include "formats/mapped.h"

struct import {
    struct import_options options;
    struct import_source *sources;
    size_t count, room;
    const char **digests;
    size_t digest_count;
    const char *warning;
};

struct error *import_new(const struct import_options *options, struct import **import)
{
    *import = calloc(1, sizeof **import);
    if (!*import)
        return error_memory("the series");
    (*import)->options = *options;
    return NULL;
}

/* ---- Bytes ---- */

/* Maps a regular file from its start.  False if that cannot be done. */
static bool map_descriptor(const char *path, int descriptor, struct import_source *source)
{
    struct stat status;
    struct error *error;
    void *base;

    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (uintmax_t)status.st_size > SIZE_MAX || lseek(descriptor, 0, SEEK_CUR) != 0)
        return false;
    base = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (base == MAP_FAILED)
        return false;
    error = mapped_add(path, base, (size_t)status.st_size, &source->mapped);
    if (error) {
        error_free(error);
        munmap(base, (size_t)status.st_size);
        return false;
    }
    madvise(base, (size_t)status.st_size, MADV_WILLNEED);
    source->bytes = base;
    source->size = (size_t)status.st_size;
    return true;
}

static struct error *read_bytes(const char *path, struct import_source *source)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct stat status;

    /* Not opened to look at: a named pipe can be opened only once. */
    if (standard_input) {
        if (map_descriptor(path, STDIN_FILENO, source))
            return NULL;
    } else if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        bool mapped = descriptor >= 0 && map_descriptor(path, descriptor, source);

        if (descriptor >= 0)
            close(descriptor);
        if (mapped)
            return NULL;
    }
    return file_read(path, &source->bytes, &source->size);
}

/* ---- Which format ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);

    return length >= end_length && strcasecmp(name + length - end_length, end) == 0;
}

/* A header of @ lines: .arff says what it relates, .ts does not. */
static enum import_format format_of_header(const char *text, const char *end)
{
    const char *line, *line_end;

    while (import_next_line(&text, end, &line, &line_end)) {
        const char *stop;

        import_trim(&line, &line_end);
        for (stop = line; stop < line_end && *stop != ' ' && *stop != '\t'; stop++)
            continue;
        if (import_is_word(line, stop, "@relation") || import_is_word(line, stop, "@attribute"))
            return IMPORT_ARFF;
        if (line < line_end && *line != '@' && *line != '%' && *line != '#')
            break;
    }
    return IMPORT_TS;
}

static enum import_format detect(const char *name, const char *bytes, size_t size)
{
    const char *text = bytes, *end = bytes + size, *line, *line_end;

    if ((size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) || ends_with(name, ".npy"))
        return IMPORT_NPY;
    while (import_next_line(&text, end, &line, &line_end)) {
        import_trim(&line, &line_end);
        if (line < line_end && *line == '@')
            return format_of_header(line, end);
        if (line < line_end && *line != '#' && *line != '%')
            break;
    }
    if (ends_with(name, ".ts"))
        return IMPORT_TS;
    if (ends_with(name, ".arff"))
        return IMPORT_ARFF;
    if (ends_with(name, ".tsv") || ends_with(name, ".txt"))
        return IMPORT_UCR;
    return IMPORT_CSV;
}

static struct error *parse_npy(struct import_source *source, const char *bytes, size_t size,
                               const char *labels)
{
    struct npy_error npy_error;
    npy_reader *reader = npy_open_memory(bytes, size, &npy_error);
    struct error *error;

    if (!reader)
        return error_in(source->name, error_make("%s", npy_error.message));
    error = import_npy(source, reader, labels);
    npy_close(reader);
    return error;
}

static struct error *parse(struct import_source *source, const char *bytes, size_t size,
                           const char *labels)
{
    enum import_format format = source->options->format;

    if (size == 0)
        return error_in(source->name, error_make("empty file"));
    if (format == IMPORT_AUTO)
        format = detect(source->name, bytes, size);
    if (format == IMPORT_NPY)
        return parse_npy(source, bytes, size, labels);
    if (labels)
        return error_in(source->name, error_make("--labels is for NPY files, this is text"));
    if (format == IMPORT_TS)
        return import_ts(source, bytes, size);
    if (format == IMPORT_ARFF)
        return import_arff(source, bytes, size);
    return import_delimited(source, bytes, size, format == IMPORT_CSV);
}

/* ---- Files ---- */

static void source_free(struct import_source *source)
{
    for (size_t i = 0; i < source->chunk_count; i++) {
        struct import_chunk *chunk = &source->chunks[i];

        error_free(chunk->error);
        if (!chunk->fixed_length)
            free(chunk->values);
        free(chunk->rows);
        free(chunk->ends);
        free(chunk->labels);
    }
    free(source->chunks);
    for (size_t i = 0; i < source->declared_count; i++)
        free(source->declared[i]);
    free(source->declared);
    npy_array_free(&source->array);
    if (source->mapped) {
        mapped_remove(source->mapped);
        munmap(source->bytes, source->size);
    } else {
        free(source->bytes);
    }
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
    TRY(error_in(source->name, read_bytes(path, source)));
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

static struct error *collect_digests(struct import *import)
{
    import->digests = calloc(2 * import->count + 1, sizeof *import->digests);
    if (!import->digests)
        return error_memory("provenance");
    for (size_t i = 0; i < import->count; i++) {
        import->digests[import->digest_count++] = import->sources[i].digest;
        import->digests[import->digest_count++] = import->sources[i].label_digest;
    }
    if (import->options.classes)
        import->digests[import->digest_count++] = import->options.classes->digest;
    return NULL;
}

static struct error *build(struct import *import, struct dataset *dataset)
{
    TRY(collect_digests(import));
    TRY(check_labelled(import));
    TRY(import_join_series(import->sources, import->count, &import->options, dataset));
    if (import->count == 1) {
        dataset->notes = import->sources[0].notes;
        import->sources[0].notes = NULL;
    }
    if (import->sources[0].syntax.labelled)
        return import_number_labels(import->sources, import->count, import->options.classes,
                                    &import->warning, dataset);
    dataset->y = NULL;
    return NULL;
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

const char *import_warning(const struct import *import)
{
    return import->warning;
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
    free(import->sources);
    free(import->digests);
    free(import);
}
