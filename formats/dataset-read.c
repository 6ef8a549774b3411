/* Reading dataset files: each array goes where its type and shape say, then all are checked. */
#include "formats/dataset.h"

#include <math.h>
#include <string.h>

#include "formats/dataset-internal.h"
#include "base/file.h"
#include "formats/mapped.h"

/* ---- Arrays ---- */

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
        "(13,) of float64, codes of views (1, B) of bytes, levels (2, N, C, 1) of floats, packing "
        "(2,) or (6,) of float64",
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
    if (packed_is_series(array)) {
        packed_take_series(array, dataset);
        return NULL;
    }
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

/* What is computed from the bytes as they are read: their digest, and whether the float32 values
 * that they may hold are finite. */
struct reading {
    struct digest digest;
    const char *begin, *end; /* of the bytes read last, consecutive in memory */
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

/* In parts that are still in the cache when the digest reads them. */
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

/* Whether these values are the last bytes that were read, unconverted, and finite. */
static bool reading_finite(const struct reading *reading, const float *values, size_t count)
{
    return reading->finite && reading->begin == (const char *)values &&
           reading->end == (const char *)(values + count);
}

/* The arrays that follow compressed series. */
static struct error *store_packed(struct npy_array *array, size_t position, struct dataset *dataset)
{
    if (position == 2 && packed_is_packing(array))
        return packed_take_packing(array, dataset);
    if (position == 3 && array->ndim == 4 && array->kind == NPY_FLOAT)
        return packed_take_levels(array, dataset);
    return error_make(
        "series must have the shape (N, C, L) or (N, L); a row of bytes is compressed "
        "series, which packing and levels must follow");
}

/* Puts the array where it belongs by its type and shape.  position counts from 1. */
static struct error *store_array(struct npy_array *array, size_t position, struct dataset *dataset)
{
    bool text = array->kind == NPY_UNICODE;

    if (position == 1)
        return store_series(array, dataset);
    if (!dataset->x && !dataset->packed.low)
        return store_packed(array, position, dataset);
    if (array->ndim == 1 && !text && array->kind != NPY_FLOAT && !dataset->y)
        return store_labels(array, dataset);
    if (array->ndim == 1 && !text && array->kind != NPY_FLOAT && !dataset->groups)
        return store_groups(array, dataset);
    if (array->ndim == 2 && array->kind == NPY_FLOAT && !dataset->soft)
        return store_soft(array, dataset);
    if ((array->ndim == 1 && text && !dataset->names) ||
        (array->ndim == 0 && text && !dataset->notes))
        return dataset_take_texts(array, &dataset->names, &dataset->classes, &dataset->notes);
    if (array->ndim == 4 && array->kind == NPY_FLOAT && !dataset->levels.low &&
        !dataset->packed.low)
        return levels_take(array, dataset);
    if (levels_is_packing(array) && !dataset->levels.bits && !dataset->packed.low)
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
        if (!error && position == 1 && dataset->x)
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
    TRY(packed_decode(dataset));
    if (dataset->levels.bits || dataset->levels.low || dataset->packed.codes)
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
        dataset_unround(dataset);
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
