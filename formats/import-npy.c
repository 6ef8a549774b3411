/* NPY: an array X of numbers, (N, C, L) or (N, L), and labels that follow it as in a dataset file
 * or that have a file of their own, as numbers or as text. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/mapped.h"
#include "base/number.h"

static struct error *from_npy(const struct npy_error *error)
{
    return error_make("%s", error->message);
}

static void add_to_digest(void *digest, const void *bytes, size_t size)
{
    digest_add(digest, bytes, size);
}

/* ---- Series ---- */

static struct error *check_values(struct import_chunk *chunk)
{
    for (size_t i = 0; i < chunk->value_count; i++) {
        const size_t steps = chunk->fixed_length, series = i / steps / chunk->channels;

        if (isinf(chunk->values[i]))
            return error_make("series %zu, channel %zu, step %zu: not finite as a 32-bit float",
                              series, i / steps % chunk->channels, i % steps);
        chunk->has_missing |= isnan(chunk->values[i]);
    }
    return NULL;
}

static struct error *take_series(struct import_source *source, npy_reader *reader)
{
    struct npy_array *x = &source->array;
    struct import_chunk *chunk;
    struct npy_error error;

    if (npy_next(reader, x, &error) != 1 ||
        (x->kind != NPY_UNICODE && npy_convert(x, NPY_FLOAT, 4, &error)))
        return from_npy(&error);
    if (x->kind == NPY_UNICODE || (x->ndim != 2 && x->ndim != 3))
        return error_make("the first array must hold the series as numbers, in the shape (N, C, L) "
                          "or (N, L)");
    if (x->count == 0)
        return error_make("no series: the first array is empty");
    source->chunks = chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return error_memory("the series");
    source->chunk_count = 1;
    chunk->source = source;
    chunk->channels = x->ndim == 3 ? x->shape[1] : 1;
    chunk->fixed_length = x->shape[x->ndim - 1];
    chunk->values = x->data;
    chunk->value_count = x->count;
    TRY(import_reserve(&chunk->rows, &chunk->row_room, x->shape[0], sizeof *chunk->rows));
    chunk->row_count = x->shape[0];
    for (size_t i = 0; i < chunk->row_count; i++)
        chunk->rows[i] = (struct import_row){.line = i};
    return check_values(chunk);
}

/* ---- Labels ---- */

static struct error *add_label(struct import_chunk *chunk, size_t row, const char *text)
{
    size_t size = strlen(text) + 1;

    if (size == 1)
        return error_make("label %zu is empty", row);
    TRY(import_reserve(&chunk->labels, &chunk->label_room, chunk->label_size + size, 1));
    chunk->rows[row].label = chunk->label_size;
    memcpy(chunk->labels + chunk->label_size, text, size);
    chunk->label_size += size;
    return NULL;
}

static struct error *add_text_labels(struct import_chunk *chunk, const struct npy_array *y)
{
    struct npy_error npy_error;
    struct error *error = NULL;
    char **strings = npy_strings(y, &npy_error);

    if (!strings)
        return from_npy(&npy_error);
    for (size_t i = 0; i < y->count && !error; i++)
        error = add_label(chunk, i, strings[i]);
    free(strings);
    return error;
}

static struct error *add_number_labels(struct import_chunk *chunk, struct npy_array *y,
                                       char *const *names, size_t name_count)
{
    bool real = y->kind == NPY_FLOAT;
    struct npy_error error;
    char text[NUMBER_TEXT];

    if (npy_convert(y, real ? NPY_FLOAT : NPY_INT, 8, &error))
        return from_npy(&error);
    for (size_t i = 0; i < y->count; i++) {
        int64_t number = real ? 0 : ((int64_t *)y->data)[i];

        if (names && (number < 0 || (uint64_t)number >= name_count))
            return error_make("label %zu is %lld, but there are %zu class names", i,
                              (long long)number, name_count);
        if (real && !isfinite(((double *)y->data)[i]))
            return error_make("label %zu is not a finite number", i);
        if (real)
            number_format_double(((double *)y->data)[i], text);
        else
            snprintf(text, sizeof text, "%lld", (long long)number);
        TRY(add_label(chunk, i, names ? names[number] : text));
    }
    return NULL;
}

static struct error *check_count(const struct import_chunk *chunk, const struct npy_array *y)
{
    bool column = y->ndim == 2 && y->shape[1] == 1;

    if (y->ndim != 1 && !column)
        return error_make("labels must have the shape (N,)");
    if (y->count != chunk->row_count)
        return error_make("%zu labels for %zu series", y->count, chunk->row_count);
    return NULL;
}

/* A file of labels alone. */
static struct error *take_label_file(struct import_source *source, const char *path)
{
    struct import_chunk *chunk = source->chunks;
    struct npy_error npy_error = {.message = "empty file"};
    struct npy_array y = {0}, more = {0};
    struct digest digest;
    struct error *error;
    npy_reader *reader = mapped_open_npy(path, &npy_error);

    if (!reader)
        return from_npy(&npy_error);
    digest_start(&digest);
    npy_watch(reader, add_to_digest, &digest);
    error = npy_next(reader, &y, &npy_error) == 1 ? check_count(chunk, &y) : from_npy(&npy_error);
    if (!error && npy_next(reader, &more, &npy_error) != 0)
        error = error_make("more than one array: a file of labels holds nothing else");
    npy_array_free(&more);
    npy_close(reader);
    digest_finish(&digest, source->label_digest);
    if (!error && y.kind == NPY_UNICODE)
        error = add_text_labels(chunk, &y);
    else if (!error)
        error = add_number_labels(chunk, &y, NULL, 0);
    npy_array_free(&y);
    return error;
}

/* What follows X in a dataset file. */
struct followers {
    struct npy_array y;
    char **names;
    size_t name_count;
};

static struct error *take_follower(struct import_source *source, struct npy_array *array,
                                   struct followers *followers)
{
    struct npy_error error;
    char **strings;

    if (array->ndim == 1 && array->kind != NPY_UNICODE && !followers->y.data) {
        followers->y = *array;
        memset(array, 0, sizeof *array);
        return check_count(source->chunks, &followers->y);
    }
    if (array->kind != NPY_UNICODE || array->ndim > 1 || (array->ndim == 1 && followers->names) ||
        (array->ndim == 0 && source->notes))
        return error_make("behind the series there is an array that is none of: labels (N,), class "
                          "names (V,), notes ()");
    if (array->count > DATASET_MOST_CLASSES)
        return error_make("%zu class names are too many", array->count);
    strings = npy_strings(array, &error);
    if (!strings)
        return from_npy(&error);
    if (array->ndim == 1) {
        followers->names = strings;
        followers->name_count = array->count;
        return NULL;
    }
    source->notes = strdup(strings[0]);
    free(strings);
    return source->notes ? NULL : error_memory("notes");
}

static struct error *take_followers(struct import_source *source, npy_reader *reader,
                                    struct followers *followers)
{
    struct npy_error npy_error;
    struct npy_array array;
    int result;

    while ((result = npy_next(reader, &array, &npy_error)) == 1) {
        struct error *error = take_follower(source, &array, followers);

        npy_array_free(&array);
        TRY(error);
    }
    if (result < 0)
        return from_npy(&npy_error);
    if (!followers->y.data)
        return followers->names ? error_make("class names without labels") : NULL;
    if (followers->names) {
        for (size_t i = 0; i < followers->name_count; i++)
            TRY(import_declare(source, followers->names[i], strlen(followers->names[i])));
    }
    return add_number_labels(source->chunks, &followers->y, followers->names,
                             followers->name_count);
}

static struct error *take_all(struct import_source *source, npy_reader *reader, const char *labels)
{
    struct followers followers = {0};
    struct error *error;

    TRY(take_series(source, reader));
    error = take_followers(source, reader, &followers);
    if (!error && labels && followers.y.data)
        error = error_make("the file has labels of its own, so --labels makes no sense");
    source->syntax.labelled = labels || followers.y.data;
    npy_array_free(&followers.y);
    free(followers.names);
    return error;
}

struct error *import_npy(struct import_source *source, npy_reader *reader, const char *labels)
{
    struct digest digest;

    digest_start(&digest);
    npy_watch(reader, add_to_digest, &digest);
    TRY(error_in(source->name, take_all(source, reader, labels)));
    digest_finish(&digest, source->digest);
    return labels ? error_in(labels, take_label_file(source, labels)) : NULL;
}
