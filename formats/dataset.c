/* Datasets in memory: making, selecting, freeing.  Files: dataset-read.c, dataset-write.c. */
#include "formats/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "formats/dataset-internal.h"
#include "base/scratch.h"

struct error *dataset_npy_error(const struct npy_error *error)
{
    struct error *made = error_make("%s", error->message);

    return error->memory ? error_mark_memory(made) : made;
}

struct error *dataset_take_texts(const struct npy_array *array, char ***names, size_t *count,
                                 char **notes)
{
    struct npy_error error;
    char **strings;

    if (array->count > DATASET_MOST_CLASSES)
        return error_make("%zu class names are too many", array->count);
    strings = npy_strings(array, &error);
    if (!strings)
        return dataset_npy_error(&error);
    if (array->ndim == 1) {
        *names = strings;
        *count = array->count;
        return NULL;
    }
    *notes = strdup(strings[0]);
    free(strings);
    return *notes ? NULL : error_memory("notes");
}

/* Too large for what npy-c would allocate, which cannot be in a file. */
static bool is_large(const size_t shape[3])
{
    size_t values, bytes;

    return !__builtin_mul_overflow(shape[1], shape[2], &values) &&
           !__builtin_mul_overflow(values, shape[0], &values) &&
           !__builtin_mul_overflow(values, sizeof(float), &bytes) && bytes >= scratch_least();
}

struct error *dataset_new(size_t count, size_t channels, size_t length, size_t classes, bool soft,
                          struct dataset *dataset)
{
    const size_t series[] = {count, channels, length}, logits[] = {count, classes};
    struct npy_array *storage = dataset->storage;
    struct npy_error npy_error;

    memset(dataset, 0, sizeof *dataset);
    if (is_large(series))
        dataset->scratch = scratch_new(count, channels * length * sizeof *dataset->x);
    if ((!dataset->scratch &&
         npy_array_new(&storage[STORE_X], NPY_FLOAT, 4, 3, series, &npy_error)) ||
        npy_array_new(&storage[STORE_Y], NPY_INT, 4, 1, series, &npy_error) ||
        (soft && npy_array_new(&storage[STORE_SOFT], NPY_FLOAT, 4, 2, logits, &npy_error))) {
        dataset_free(dataset);
        return dataset_npy_error(&npy_error);
    }
    dataset->count = count;
    dataset->channels = channels;
    dataset->length = length;
    dataset->classes = classes;
    dataset->x = dataset->scratch ? dataset->scratch : storage[STORE_X].data;
    dataset->y = storage[STORE_Y].data;
    dataset->soft = storage[STORE_SOFT].data;
    return NULL;
}

struct error *dataset_add_groups(struct dataset *dataset)
{
    struct npy_error error;

    if (npy_array_new(&dataset->storage[STORE_GROUPS], NPY_INT, 4, 1, &dataset->count, &error))
        return dataset_npy_error(&error);
    dataset->groups = dataset->storage[STORE_GROUPS].data;
    return NULL;
}

struct error *dataset_add_soft(struct dataset *dataset)
{
    const size_t shape[] = {dataset->count, dataset->classes};
    struct npy_error error;

    if (npy_array_new(&dataset->storage[STORE_SOFT], NPY_FLOAT, 4, 2, shape, &error))
        return dataset_npy_error(&error);
    dataset->soft = dataset->storage[STORE_SOFT].data;
    return NULL;
}

struct error *dataset_set_soft(struct dataset *dataset, const float *logits)
{
    const size_t shape[] = {dataset->count, dataset->classes};
    struct npy_array array;
    struct npy_error error;

    if (npy_array_new(&array, NPY_FLOAT, 4, 2, shape, &error))
        return dataset_npy_error(&error);
    memcpy(array.data, logits, array.count * sizeof *logits);
    npy_array_free(&dataset->storage[STORE_SOFT]);
    dataset->storage[STORE_SOFT] = array;
    dataset->soft = array.data;
    return NULL;
}

/* A copy of strings in one block, as npy_strings makes it. */
static char **copy_strings(char *const *strings, size_t count)
{
    size_t bytes = count * sizeof *strings;
    char **copy, *next;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(strings[i]) + 1;
    copy = malloc(bytes ? bytes : 1);
    if (!copy)
        return NULL;
    next = (char *)(copy + count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = next;
        next = stpcpy(next, strings[i]) + 1;
    }
    return copy;
}

struct error *dataset_copy_texts(const struct dataset *from, struct dataset *to)
{
    char **names = NULL;
    char *notes = NULL;

    if ((from->names && !(names = copy_strings(from->names, from->classes))) ||
        (from->notes && !(notes = strdup(from->notes)))) {
        free(names);
        return error_memory("class names");
    }
    free(to->names);
    free(to->notes);
    to->names = names;
    to->notes = notes;
    return NULL;
}

/* Labels, groups, class names and notes of the series whose indices are given. */
static struct error *take_labels(const struct dataset *from, const size_t *indices,
                                 struct dataset *taken)
{
    taken->flat = from->flat;
    if (from->groups)
        TRY(dataset_add_groups(taken));
    for (size_t i = 0; from->y && i < taken->count; i++)
        taken->y[i] = from->y[indices[i]];
    for (size_t i = 0; from->groups && i < taken->count; i++)
        taken->groups[i] = from->groups[indices[i]];
    if (!from->y)
        taken->y = NULL;
    return dataset_copy_texts(from, taken);
}

struct error *dataset_take(const struct dataset *from, const size_t *indices, size_t count,
                           struct dataset *taken)
{
    const size_t series = dataset_series_size(from);
    struct error *error;

    TRY(dataset_new(count, from->channels, from->length, from->classes, from->soft != NULL, taken));
    error = take_labels(from, indices, taken);
    if (error) {
        dataset_free(taken);
        return error;
    }
    for (size_t i = 0; i < count; i++) {
        size_t source = indices[i];

        memcpy(taken->x + i * series, from->x + source * series, series * sizeof *from->x);
        if (from->soft)
            memcpy(taken->soft + i * from->classes, from->soft + source * from->classes,
                   from->classes * sizeof *from->soft);
    }
    return NULL;
}

struct error *dataset_new_made(size_t count, size_t channels, size_t length, size_t classes,
                               dataset_maker *make, void *context, struct dataset *dataset)
{
    struct npy_error npy_error;
    size_t values;

    memset(dataset, 0, sizeof *dataset);
    if (__builtin_mul_overflow(channels, length, &values) ||
        __builtin_mul_overflow(values, sizeof(float), &values) ||
        __builtin_mul_overflow(values, count, &values))
        return error_make("%zu series of that size are too large", count);
    if (npy_array_new(&dataset->storage[STORE_Y], NPY_INT, 4, 1, &count, &npy_error))
        return dataset_npy_error(&npy_error);
    dataset->count = count;
    dataset->channels = channels;
    dataset->length = length;
    dataset->classes = classes;
    dataset->y = dataset->storage[STORE_Y].data;
    dataset->make = make;
    dataset->context = context;
    return NULL;
}

struct error *dataset_pick(const struct dataset *from, const size_t *indices, size_t count,
                           struct dataset *picked)
{
    struct error *error;

    TRY(dataset_new_made(count, from->channels, from->length, from->classes, NULL, NULL, picked));
    picked->picked_from = from;
    picked->picked = indices;
    error = take_labels(from, indices, picked);
    if (error)
        dataset_free(picked);
    return error;
}

void dataset_class_counts(const struct dataset *dataset, size_t *counts)
{
    memset(counts, 0, dataset->classes * sizeof *counts);
    for (size_t i = 0; i < dataset->count; i++)
        counts[dataset->y[i]]++;
}

void dataset_unround(struct dataset *dataset)
{
    levels_drop(dataset);
    packed_drop(dataset);
}

struct error *dataset_move_levels(struct dataset *dataset, size_t channel, double factor,
                                  double offset)
{
    if (dataset->packed.codes)
        return packed_move(dataset, channel, factor, offset);
    levels_move(dataset, channel, factor, offset);
    return NULL;
}

void dataset_free(struct dataset *dataset)
{
    for (size_t i = 0; i < sizeof dataset->storage / sizeof *dataset->storage; i++)
        npy_array_free(&dataset->storage[i]);
    npy_array_free(&dataset->views.storage);
    dataset_unround(dataset);
    scratch_free(dataset->scratch);
    free(dataset->names);
    free(dataset->notes);
    memset(dataset, 0, sizeof *dataset);
}
