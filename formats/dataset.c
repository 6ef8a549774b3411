#include "formats/dataset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dataset-levels.h"
#include "formats/dataset-views.h"
#include "base/file.h"
#include "base/scratch.h"
#include "formats/mapped.h"

enum { STORE_X, STORE_Y, STORE_SOFT, STORE_GROUPS };

/* ---- Reading ---- */

struct error *dataset_npy_error(const struct npy_error *error)
{
    struct error *made = error_make("%s", error->message);

    return error->memory ? error_mark_memory(made) : made;
}

/* "10, 1, 128" or "10," */
static void shape_text(const struct npy_array *array, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < array->ndim && used + 24 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu%s", i ? " " : "", array->shape[i],
                                 array->ndim == 1 || i + 1 < array->ndim ? "," : "");
}

static struct error *unexpected(const struct npy_array *array, size_t position)
{
    char type[24], shape[256];

    npy_type_name(array->kind, array->item_size, type);
    shape_text(array, shape, sizeof shape);
    return error_make(
        "array %zu of type %s and shape (%s) is not one of: labels (N,) and groups (N,) "
        "of integers, soft labels (N, V) of floats, class names (V,), notes (), views "
        "(12,) of float64, codes of views (M, .) of bytes, levels (2, N, C, 1) of floats, packing "
        "(2,) of float64",
        position, type, shape);
}

/* Moves the array into a slot of the dataset as floats or ints. */
static struct error *store(struct npy_array *array, enum npy_kind kind, struct npy_array *slot)
{
    struct npy_error error;

    if (npy_convert(array, kind, 4, &error))
        return dataset_npy_error(&error);
    *slot = *array;
    memset(array, 0, sizeof *array);
    return NULL;
}

static struct error *store_series(struct npy_array *array, struct dataset *dataset)
{
    char shape[256];

    if (array->kind == NPY_UNICODE)
        return error_make("the first array must hold the series, this one holds text");
    if (array->ndim != 2 && array->ndim != 3) {
        shape_text(array, shape, sizeof shape);
        return error_make("series must have the shape (N, C, L) or (N, L), not (%s)", shape);
    }
    dataset->flat = array->ndim == 2;
    dataset->count = array->shape[0];
    dataset->channels = dataset->flat ? 1 : array->shape[1];
    dataset->length = array->shape[array->ndim - 1];
    if (array->count == 0)
        return error_make("no series: the shape is (%zu, %zu, %zu)", dataset->count,
                          dataset->channels, dataset->length);
    TRY(store(array, NPY_FLOAT, &dataset->storage[STORE_X]));
    dataset->x = dataset->storage[STORE_X].data;
    return NULL;
}

static struct error *store_labels(struct npy_array *array, struct dataset *dataset)
{
    if (array->shape[0] != dataset->count)
        return error_make("%zu labels for %zu series", array->shape[0], dataset->count);
    TRY(error_in("labels", store(array, NPY_INT, &dataset->storage[STORE_Y])));
    dataset->y = dataset->storage[STORE_Y].data;
    return NULL;
}

static struct error *store_groups(struct npy_array *array, struct dataset *dataset)
{
    if (array->shape[0] != dataset->count)
        return error_make("%zu groups for %zu series", array->shape[0], dataset->count);
    TRY(error_in("groups", store(array, NPY_INT, &dataset->storage[STORE_GROUPS])));
    dataset->groups = dataset->storage[STORE_GROUPS].data;
    return NULL;
}

static struct error *store_soft(struct npy_array *array, struct dataset *dataset)
{
    if (array->shape[0] != dataset->count)
        return error_make("%zu soft labels for %zu series", array->shape[0], dataset->count);
    TRY(store(array, NPY_FLOAT, &dataset->storage[STORE_SOFT]));
    dataset->soft = dataset->storage[STORE_SOFT].data;
    return NULL;
}

static struct error *store_texts(const struct npy_array *array, struct dataset *dataset)
{
    struct npy_error error;
    char **strings;

    if (array->count > DATASET_MOST_CLASSES)
        return error_make("%zu class names are too many", array->count);
    strings = npy_strings(array, &error);
    if (!strings)
        return dataset_npy_error(&error);
    if (array->ndim == 1) {
        dataset->names = strings;
        dataset->classes = array->count;
        return NULL;
    }
    dataset->notes = strdup(strings[0]);
    free(strings);
    return dataset->notes ? NULL : error_memory("notes");
}

/* What is done with every byte as it is read: the digest, and a look whether it can be part of
 * numbers that are finite. */
struct reading {
    struct digest digest;
    const char *begin, *end; /* the last bytes in a row */
    bool finite;
};

static bool all_finite(const float *values, size_t count)
{
    uint32_t found = 0;

    /* Infinities and NaNs have all exponent bits set. */
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, values + i, sizeof bits);
        found |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !found;
}

/* In parts that stay in the cache between the two. */
static void reading_watch(void *context, const void *bytes, size_t size)
{
    const size_t most = 1 << 16;
    struct reading *reading = context;
    const char *next = bytes;

    if (next != reading->end) {
        reading->begin = next;
        reading->finite = (uintptr_t)next % sizeof(float) == 0;
    }
    reading->end = next + size;
    while (size) {
        size_t part = size < most ? size : most;

        reading->finite = reading->finite && part % sizeof(float) == 0 &&
                          all_finite((const void *)next, part / sizeof(float));
        digest_add(&reading->digest, next, part);
        next += part;
        size -= part;
    }
}

/* Whether these values are the last that were read, as they are in the file, and finite. */
static bool reading_finite(const struct reading *reading, const float *values, size_t count)
{
    return reading->finite && reading->begin == (const char *)values &&
           reading->end == (const char *)(values + count);
}

/* Puts the array where it belongs by its type and shape.  position counts from 1. */
static struct error *store_array(struct npy_array *array, size_t position, struct dataset *dataset)
{
    bool text = array->kind == NPY_UNICODE;

    if (position == 1)
        return store_series(array, dataset);
    if (array->ndim == 1 && !text && array->kind != NPY_FLOAT && !dataset->y)
        return store_labels(array, dataset);
    if (array->ndim == 1 && !text && array->kind != NPY_FLOAT && !dataset->groups)
        return store_groups(array, dataset);
    if (array->ndim == 2 && array->kind == NPY_FLOAT && !dataset->soft)
        return store_soft(array, dataset);
    if ((array->ndim == 1 && text && !dataset->names) ||
        (array->ndim == 0 && text && !dataset->notes))
        return store_texts(array, dataset);
    if (array->ndim == 4 && array->kind == NPY_FLOAT && !dataset->levels.low)
        return levels_take(array, dataset);
    if (levels_is_packing(array) && !dataset->levels.bits)
        return levels_take_packing(array, dataset);
    if (views_is_recipe(array) && dataset->views.bits == 0)
        return views_take_recipe(array, dataset);
    if (array->ndim == 2 && array->kind == NPY_UINT && array->item_size == 1 &&
        !dataset->views.codes)
        return views_take_codes(array, dataset);
    return unexpected(array, position);
}

/* *finite: the series are known to be. */
static struct error *read_arrays(npy_reader *reader, struct dataset *dataset, bool *finite)
{
    struct npy_error npy_error;
    struct npy_array array;
    struct reading reading = {.begin = NULL};
    struct error *error = NULL;
    int result = 0;

    *finite = false;
    digest_start(&reading.digest);
    npy_watch(reader, reading_watch, &reading);
    for (size_t position = 1; !error; position++) {
        result = npy_next(reader, &array, &npy_error);
        if (result <= 0)
            break;
        error = store_array(&array, position, dataset);
        npy_array_free(&array);
        if (!error && position == 1)
            *finite =
                reading_finite(&reading, dataset->x, dataset->count * dataset_series_size(dataset));
    }
    if (!error && result < 0)
        error = dataset_npy_error(&npy_error);
    digest_finish(&reading.digest, dataset->digest);
    dataset->reread = dataset->x && npy_array_is_mapped(&dataset->storage[STORE_X]);
    return error;
}

/* A file that holds y alone; whole numbers stored as floats are fine. */
static struct error *read_label_file(const char *path, struct dataset *dataset)
{
    struct npy_array array = {0}, more = {0};
    struct npy_error npy_error;
    struct digest digest;
    struct error *error = NULL;
    npy_reader *reader = mapped_open_npy(path, &npy_error);

    if (!reader)
        return dataset_npy_error(&npy_error);
    digest_start(&digest);
    npy_watch(reader, digest_watch, &digest);
    if (npy_next(reader, &array, &npy_error) < 0)
        error = dataset_npy_error(&npy_error);
    else if (array.ndim != 1 || array.kind == NPY_UNICODE)
        error = error_make("labels must be one row of whole numbers");
    else if (npy_next(reader, &more, &npy_error) != 0)
        error = error_make("more than one array: a file of labels holds nothing else");
    else
        error = store_labels(&array, dataset);
    digest_finish(&digest, dataset->label_digest);
    npy_close(reader);
    npy_array_free(&array);
    npy_array_free(&more);
    return error;
}

/* ---- Checking what was read ---- */

static struct error *check_labels(struct dataset *dataset)
{
    int32_t most = 0;

    for (size_t i = 0; i < dataset->count; i++) {
        int32_t label = dataset->y[i];

        if (label < 0 || label >= DATASET_MOST_CLASSES)
            return error_make("series %zu has the label %d; classes are numbered from 0 "
                              "(sc-import does that)",
                              i, label);
        most = label > most ? label : most;
    }
    if (!dataset->names)
        dataset->classes = dataset->soft ? dataset->storage[STORE_SOFT].shape[1] : (size_t)most + 1;
    if ((size_t)most >= dataset->classes)
        return error_make("label %d, but there are only %zu classes", most, dataset->classes);
    if (dataset->soft && dataset->storage[STORE_SOFT].shape[1] != dataset->classes)
        return error_make("soft labels of %zu classes, class names of %zu",
                          dataset->storage[STORE_SOFT].shape[1], dataset->classes);
    return NULL;
}

/* known: the series are finite. */
static struct error *check_finite(const struct dataset *dataset, bool known)
{
    const size_t series = dataset_series_size(dataset);

    for (size_t i = 0; !known && i < dataset->count; i++) {
        const float *values = dataset->x + i * series;

        if (all_finite(values, series))
            continue;
        for (size_t j = 0; j < series; j++) {
            if (!isfinite(values[j]))
                return error_make("series %zu, channel %zu, step %zu: %s", i, j / dataset->length,
                                  j % dataset->length,
                                  isnan(values[j]) ? "NaN where a number must be "
                                                     "(sc-import --missing fills gaps)"
                                                   : "infinite, or too large for a 32-bit float");
        }
    }
    if (dataset->soft && !all_finite(dataset->soft, dataset->count * dataset->classes))
        return error_make("soft labels hold NaN or infinity");
    return NULL;
}

static struct error *check(struct dataset *dataset, unsigned flags, bool finite)
{
    if (dataset->levels.bits || dataset->levels.low)
        dataset->reread = finite = false;
    TRY(levels_decode(dataset, &dataset->storage[STORE_X]));
    if (dataset->y)
        TRY(check_labels(dataset));
    else if (flags & DATASET_LABELLED)
        return error_make("no labels: they follow the series in the file, or --labels names "
                          "their file");
    else if (dataset->soft)
        return error_make("soft labels without labels");
    for (size_t i = 0; dataset->groups && i < dataset->count; i++) {
        if (dataset->groups[i] < 0)
            return error_make("series %zu has the group %d; groups are numbered from 0", i,
                              dataset->groups[i]);
    }
    TRY(views_check(dataset));
    if (!(flags & DATASET_VIEWS)) {
        views_drop(dataset);
        levels_drop(dataset);
    }
    if (!(flags & DATASET_ALLOW_NAN))
        TRY(check_finite(dataset, finite));
    return NULL;
}

/* Errors name the file that they are about; shown is the main one, NULL for none. */
static struct error *read_from(npy_reader *reader, const char *shown, const char *labels,
                               unsigned flags, struct dataset *dataset)
{
    bool finite;
    struct error *error = read_arrays(reader, dataset, &finite);
    bool elsewhere = false; /* the error is about the file of labels */

    if (!error && labels && dataset->y) {
        error = error_make("has labels of its own, so --labels makes no sense");
    } else if (!error && labels) {
        error = error_in(labels, read_label_file(labels, dataset));
        elsewhere = error != NULL;
    }
    if (!error)
        error = check(dataset, flags, finite);
    if (shown && !elsewhere)
        error = error_in(shown, error);
    npy_close(reader);
    if (error)
        dataset_free(dataset);
    return error;
}

struct error *dataset_read(const char *path, const char *labels, unsigned flags,
                           struct dataset *dataset)
{
    const char *shown = file_shown(path);
    struct npy_error error;
    npy_reader *reader = mapped_open_npy(path, &error);

    memset(dataset, 0, sizeof *dataset);
    if (!reader)
        return error_in(shown, dataset_npy_error(&error));
    return read_from(reader, shown, labels, flags, dataset);
}

struct error *dataset_read_memory(const void *bytes, size_t size, unsigned flags,
                                  struct dataset *dataset)
{
    struct npy_error error;
    npy_reader *reader = npy_open_memory(bytes, size, &error);

    memset(dataset, 0, sizeof *dataset);
    if (!reader)
        return dataset_npy_error(&error);
    return read_from(reader, NULL, NULL, flags, dataset);
}

/* ---- Making and selecting ---- */

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

void dataset_free(struct dataset *dataset)
{
    for (size_t i = 0; i < sizeof dataset->storage / sizeof *dataset->storage; i++)
        npy_array_free(&dataset->storage[i]);
    npy_array_free(&dataset->views.storage);
    npy_array_free(&dataset->levels.storage);
    scratch_free(dataset->scratch);
    free(dataset->names);
    free(dataset->notes);
    memset(dataset, 0, sizeof *dataset);
}

/* ---- Writing ---- */

enum { BLOCK_BYTES = 4 << 20, WALK_BYTES = 16 << 20 };

/* How many series are worked on at once where a dataset is walked through. */
static size_t dataset_block(const struct dataset *dataset)
{
    size_t fit = BLOCK_BYTES / sizeof(float) / dataset_series_size(dataset);

    return fit ? fit : 1;
}

static void advise(const struct dataset *dataset, size_t first, size_t count, bool needed)
{
    const size_t bytes = dataset_series_size(dataset) * sizeof(float);

    if (dataset->reread && first < dataset->count)
        npy_array_advise(&dataset->storage[STORE_X], first * bytes, count * bytes, needed);
}

void dataset_passed(const struct dataset *dataset, size_t first)
{
    const size_t next = WALK_BYTES / sizeof(float) / dataset_series_size(dataset) + 1;

    advise(dataset, 0, first, false);
    advise(dataset, first, next, true);
}

void dataset_needs(const struct dataset *dataset, size_t index)
{
    advise(dataset, index, 1, true);
}

bool dataset_walk(const struct dataset *dataset, struct dataset_walk *walk)
{
    const size_t bytes = dataset_series_size(dataset) * sizeof(float) * walk->step;
    const size_t most = walk->step * (bytes < WALK_BYTES ? WALK_BYTES / bytes : 1);

    advise(dataset, walk->first, walk->count, false);
    walk->first += walk->count;
    walk->count = dataset->count - walk->first < most ? dataset->count - walk->first : most;
    advise(dataset, walk->first + walk->count, most, true);
    return walk->count > 0;
}

/* Series first..first+count-1, or rows of another array, of a dataset that was picked. */
static void gather(const struct dataset *dataset, const float *rows, size_t width, size_t first,
                   size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * width, rows + dataset->picked[first + i] * width, width * sizeof *out);
}

static struct error *make_block(const struct dataset *dataset, size_t first, size_t count,
                                float *block)
{
    const struct dataset *from = dataset->picked_from;

    if (dataset->make)
        return dataset->make(dataset->context, first, count, block);
    /* Most choices are in the order of the series. */
    dataset_passed(from, dataset->picked[first]);
    gather(dataset, from->x, dataset_series_size(dataset), first, count, block);
    return NULL;
}

struct error *dataset_hold(struct dataset *dataset)
{
    const size_t series = dataset_series_size(dataset);

    dataset->scratch = scratch_new(dataset->count, series * sizeof *dataset->x);
    if (!dataset->scratch)
        return error_memory("the series");
    TRY(make_block(dataset, 0, dataset->count, dataset->scratch));
    dataset->x = dataset->scratch;
    dataset->make = NULL;
    return NULL;
}

static struct error *write_block(FILE *stream, const float *block, size_t values)
{
    errno = 0;
    if (fwrite(block, sizeof *block, values, stream) == values)
        return NULL;
    return error_make("%s", errno ? strerror(errno) : "write failed");
}

/* Series that are made, or that are somewhere else, block by block. */
static struct error *write_made(FILE *stream, const struct dataset *dataset)
{
    const size_t series = dataset_series_size(dataset), most = dataset_block(dataset);
    float *block = malloc(series * most * sizeof *block);
    struct error *error = block ? NULL : error_memory("some series");

    for (size_t first = 0; !error && first < dataset->count; first += most) {
        size_t count = dataset->count - first < most ? dataset->count - first : most;

        error = make_block(dataset, first, count, block);
        if (!error)
            error = write_block(stream, block, count * series);
    }
    free(block);
    return error;
}

static struct error *write_series(FILE *stream, const struct dataset *dataset)
{
    const size_t series[] = {dataset->count, dataset->channels, dataset->length};
    const size_t features[] = {dataset->count, dataset_series_size(dataset)};
    const size_t ndim = dataset->flat ? 2 : 3, *shape = dataset->flat ? features : series;
    struct npy_error error;

    if (dataset->levels.bits)
        return levels_write(stream, dataset);
    if (dataset->x ? npy_write_data(stream, NPY_FLOAT, 4, ndim, shape, dataset->x, &error)
                   : npy_write_header(stream, NPY_FLOAT, 4, ndim, shape, &error))
        return dataset_npy_error(&error);
    return dataset->x ? NULL : write_made(stream, dataset);
}

/* Soft labels of a dataset that was picked. */
static struct error *write_picked_soft(FILE *stream, const struct dataset *dataset)
{
    const size_t classes = dataset->classes, logits[] = {dataset->count, classes}, most = 1024;
    float *block = malloc(classes * most * sizeof *block);
    struct npy_error npy_error;
    struct error *error = block ? NULL : error_memory("some soft labels");

    if (!error && npy_write_header(stream, NPY_FLOAT, 4, 2, logits, &npy_error))
        error = dataset_npy_error(&npy_error);
    for (size_t first = 0; !error && first < dataset->count; first += most) {
        size_t count = dataset->count - first < most ? dataset->count - first : most;

        gather(dataset, dataset->picked_from->soft, classes, first, count, block);
        error = write_block(stream, block, count * classes);
    }
    free(block);
    return error;
}

/* The soft labels, if there are any and they are not with the codes of views. */
static struct error *write_soft(FILE *stream, const struct dataset *dataset)
{
    const size_t logits[] = {dataset->count, dataset->classes};
    struct npy_error error;

    if (dataset->picked_from && dataset->picked_from->soft)
        return write_picked_soft(stream, dataset);
    if (dataset->soft && !(dataset->views.count && views_hold_soft(dataset)) &&
        npy_write_data(stream, NPY_FLOAT, 4, 2, logits, dataset->soft, &error))
        return dataset_npy_error(&error);
    return NULL;
}

/* Soft labels of a dataset with views are stored as theirs are. */
struct error *dataset_write(FILE *stream, const struct dataset *dataset)
{
    const char *notes = dataset->notes;
    struct npy_error error;

    TRY(write_series(stream, dataset));
    if ((dataset->y &&
         npy_write_data(stream, NPY_INT, 4, 1, &dataset->count, dataset->y, &error)) ||
        (dataset->groups &&
         npy_write_data(stream, NPY_UINT, 4, 1, &dataset->count, dataset->groups, &error)))
        return dataset_npy_error(&error);
    TRY(write_soft(stream, dataset));
    if ((dataset->names && npy_write_strings(stream, (const char *const *)dataset->names, 1,
                                             dataset->classes, &error)) ||
        (notes && npy_write_strings(stream, &notes, 0, 1, &error)))
        return dataset_npy_error(&error);
    return dataset->views.count ? views_write(stream, dataset) : NULL;
}
