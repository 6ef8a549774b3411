/* NPY: an array X of numbers, (N, C, L) or (N, L), and labels that follow it as in a dataset file
 * or that have a file of their own, as numbers or as text. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/mapped.h"
#include "base/number.h"

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

/* (N, L, C) as (N, C, L). */
static struct error *put_channels_first(struct npy_array *x)
{
    const size_t count = x->shape[0], steps = x->shape[1], channels = x->shape[2];
    const size_t shape[] = {count, channels, steps};
    struct npy_array transposed;
    struct npy_error error;
    const float *from = x->data;
    float *to;

    if (npy_array_new(&transposed, NPY_FLOAT, 4, 3, shape, &error))
        return dataset_npy_error(&error);
    to = transposed.data;
    for (size_t i = 0; i < count; i++, from += channels * steps, to += channels * steps) {
        for (size_t step = 0; step < steps; step++) {
            for (size_t channel = 0; channel < channels; channel++)
                to[channel * steps + step] = from[step * channels + channel];
        }
    }
    npy_array_free(x);
    *x = transposed;
    return NULL;
}

struct error *import_take_series(struct import_source *source, npy_reader *reader)
{
    struct npy_array *x = &source->array;
    struct import_chunk *chunk;
    struct npy_error error;

    if (npy_next(reader, x, &error) != 1 ||
        (x->kind != NPY_UNICODE && npy_convert(x, NPY_FLOAT, 4, &error)))
        return dataset_npy_error(&error);
    if (x->kind == NPY_UNICODE || (x->ndim != 2 && x->ndim != 3))
        return error_make("the series must be numbers in the shape (N, C, L) or (N, L)");
    if (x->count == 0)
        return error_make("no series: the array is empty");
    if (source->options->channels_last && x->ndim == 3)
        TRY(put_channels_first(x));
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

/* What arrays of texts or numbers are for. */
enum purpose { FOR_LABELS, FOR_GROUPS };

static struct error *add_label(struct import_chunk *chunk, size_t row, enum purpose purpose,
                               const char *text)
{
    size_t size = strlen(text) + 1;

    if (size == 1)
        return error_make("%s %zu is empty", purpose == FOR_GROUPS ? "group" : "label", row);
    TRY(import_reserve(&chunk->labels, &chunk->label_room, chunk->label_size + size, 1));
    *(purpose == FOR_GROUPS ? &chunk->rows[row].group : &chunk->rows[row].label) =
        chunk->label_size;
    memcpy(chunk->labels + chunk->label_size, text, size);
    chunk->label_size += size;
    return NULL;
}

static struct error *add_text_labels(struct import_chunk *chunk, enum purpose purpose,
                                     const struct npy_array *y)
{
    struct npy_error npy_error;
    struct error *error = NULL;
    char **strings = npy_strings(y, &npy_error);

    if (!strings)
        return dataset_npy_error(&npy_error);
    for (size_t i = 0; i < y->count && !error; i++)
        error = add_label(chunk, i, purpose, strings[i]);
    free(strings);
    return error;
}

static struct error *add_number_labels(struct import_chunk *chunk, enum purpose purpose,
                                       struct npy_array *y, char *const *names, size_t name_count)
{
    bool real = y->kind == NPY_FLOAT;
    struct npy_error error;
    char text[NUMBER_TEXT];

    if (npy_convert(y, real ? NPY_FLOAT : NPY_INT, 8, &error))
        return dataset_npy_error(&error);
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
        TRY(add_label(chunk, i, purpose, names ? names[number] : text));
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

/* One-hot labels (N, V), with a single 1 in each row, as (N,). */
static struct error *find_ones(struct npy_array *y)
{
    const size_t count = y->shape[0], classes = y->shape[1];
    struct npy_array found;
    struct npy_error error;

    if (npy_convert(y, NPY_FLOAT, 8, &error) ||
        npy_array_new(&found, NPY_INT, 8, 1, &count, &error))
        return dataset_npy_error(&error);
    for (size_t i = 0; i < count; i++) {
        const double *row = (const double *)y->data + i * classes;
        size_t ones = 0;
        bool others = false;

        for (size_t j = 0; j < classes; j++) {
            if (row[j] == 1) {
                ((int64_t *)found.data)[i] = (int64_t)j;
                ones++;
            } else {
                others |= row[j] != 0;
            }
        }
        if (ones != 1 || others) {
            npy_array_free(&found);
            return error_make("labels must have the shape (N,), or (N, V) with a single 1 in each "
                              "row and zeros otherwise; row %zu differs",
                              i);
        }
    }
    npy_array_free(y);
    *y = found;
    return NULL;
}

struct error *import_take_labels(struct import_source *source, struct npy_array *y,
                                 char *const *names, size_t name_count)
{
    if (y->ndim == 2 && y->shape[1] > 1 && y->kind != NPY_UNICODE)
        TRY(find_ones(y));
    TRY(check_count(source->chunks, y));
    source->syntax.labelled = true;
    if (y->kind == NPY_UNICODE)
        return add_text_labels(source->chunks, FOR_LABELS, y);
    for (size_t i = 0; names && i < name_count; i++)
        TRY(import_declare(source, names[i], strlen(names[i])));
    return add_number_labels(source->chunks, FOR_LABELS, y, names, name_count);
}

struct error *import_take_groups(struct import_source *source, struct npy_array *groups)
{
    if ((groups->ndim != 1 && !(groups->ndim == 2 && groups->shape[1] == 1)) ||
        groups->count != source->chunks->row_count)
        return error_make("groups must have the shape (N,), N being the %zu series",
                          source->chunks->row_count);
    source->syntax.grouped = true;
    if (groups->kind == NPY_UNICODE)
        return add_text_labels(source->chunks, FOR_GROUPS, groups);
    return add_number_labels(source->chunks, FOR_GROUPS, groups, NULL, 0);
}

/* A file of labels, or of groups, alone. */
static struct error *take_label_file(struct import_source *source, const char *path,
                                     enum purpose purpose)
{
    struct npy_error npy_error = {.message = "empty file"};
    struct npy_array y = {0}, more = {0};
    struct digest digest;
    struct error *error = NULL;
    npy_reader *reader = mapped_open_npy(path, &npy_error);

    if (!reader)
        return dataset_npy_error(&npy_error);
    digest_start(&digest);
    npy_watch(reader, digest_watch, &digest);
    if (npy_next(reader, &y, &npy_error) != 1)
        error = dataset_npy_error(&npy_error);
    else if (npy_next(reader, &more, &npy_error) != 0)
        error = error_make("more than one array: a file of %s holds nothing else",
                           purpose == FOR_GROUPS ? "groups" : "labels");
    npy_array_free(&more);
    npy_close(reader);
    digest_finish(&digest, purpose == FOR_GROUPS ? source->group_digest : source->label_digest);
    if (!error)
        error = purpose == FOR_GROUPS ? import_take_groups(source, &y)
                                      : import_take_labels(source, &y, NULL, 0);
    npy_array_free(&y);
    return error;
}

struct error *import_take_files(struct import_source *source, const char *labels)
{
    const char *groups = source->options->groups;

    if (labels && source->syntax.labelled)
        return error_in(source->name,
                        error_make("the file has labels of its own, so --labels makes no sense"));
    if (labels)
        TRY(error_in(labels, take_label_file(source, labels, FOR_LABELS)));
    if (groups && source->syntax.grouped)
        return error_in(source->name,
                        error_make("the file has groups of its own, so --groups makes no sense"));
    if (groups)
        TRY(error_in(groups, take_label_file(source, groups, FOR_GROUPS)));
    return NULL;
}

/* What follows X in a dataset file. */
struct followers {
    struct npy_array y, groups;
    char **names;
    size_t name_count;
    bool soft;
};

static bool is_integer(const struct npy_array *array)
{
    return array->kind == NPY_INT || array->kind == NPY_UINT || array->kind == NPY_BOOL;
}

static struct error *take_follower(struct import_source *source, struct npy_array *array,
                                   struct followers *followers)
{
    bool text = array->kind == NPY_UNICODE;
    struct npy_array *slot = NULL;

    if (array->ndim == 1 && !text && !followers->y.data)
        slot = &followers->y;
    else if (array->ndim == 1 && is_integer(array) && !followers->groups.data)
        slot = &followers->groups;
    if (slot) {
        *slot = *array;
        memset(array, 0, sizeof *array);
        return check_count(source->chunks, slot);
    }
    if (array->ndim == 2 && array->kind == NPY_FLOAT && !followers->soft) {
        followers->soft = true;
        return import_note(source->remarks, true, "%s: its soft labels are left out", source->name);
    }
    if (!text || array->ndim > 1 || (array->ndim == 1 && followers->names) ||
        (array->ndim == 0 && source->notes))
        return error_make("after the series there is an array that is not one of: labels (N,), "
                          "groups (N,), class names (V,), notes ()");
    return dataset_take_texts(array, &followers->names, &followers->name_count, &source->notes);
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
        return dataset_npy_error(&npy_error);
    if (!followers->y.data)
        return followers->names ? error_make("class names without labels") : NULL;
    TRY(import_take_labels(source, &followers->y, followers->names, followers->name_count));
    return followers->groups.data ? import_take_groups(source, &followers->groups) : NULL;
}

static struct error *take_all(struct import_source *source, npy_reader *reader)
{
    struct followers followers = {0};
    struct error *error;

    TRY(import_take_series(source, reader));
    error = take_followers(source, reader, &followers);
    npy_array_free(&followers.y);
    npy_array_free(&followers.groups);
    free(followers.names);
    return error;
}

struct error *import_npy(struct import_source *source, const char *bytes, size_t size,
                         const char *labels)
{
    struct npy_error npy_error;
    npy_reader *reader = npy_open_memory(bytes, size, &npy_error);
    struct digest digest;
    struct error *error;

    if (!reader)
        return error_in(source->name, dataset_npy_error(&npy_error));
    digest_start(&digest);
    npy_watch(reader, digest_watch, &digest);
    error = error_in(source->name, take_all(source, reader));
    digest_finish(&digest, source->digest);
    npy_close(reader);
    return error ? error : import_take_files(source, labels);
}
