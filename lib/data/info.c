/* The whole input is read first, because its kind is known only from its first bytes.  An NPY file
 * is read once for the arrays as they are stored, then as a dataset; if it is not one, its arrays
 * are summarised one by one. */
#include "data/info.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/mapped.h"

/* ---- NPY arrays ---- */

/* The text of an NPY header that a reader has accepted. */
static const char *header_text(const unsigned char *bytes, size_t *length)
{
    bool wide = bytes[6] > 1;

    *length = bytes[8] | (size_t)bytes[9] << 8;
    if (wide)
        *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    return (const char *)bytes + (wide ? 12 : 10);
}

/* What follows the key and its colon. */
static const char *header_value(const char *text, size_t length, const char *key)
{
    const char *end = text + length, *at = memmem(text, length, key, strlen(key));

    at = at ? memchr(at, ':', (size_t)(end - at)) : NULL;
    if (!at)
        return NULL;
    for (at++; at < end && *at == ' ';)
        at++;
    return at < end ? at : NULL;
}

/* Type and order as the file has them; the reader hands out arrays converted. */
static void stored_form(const unsigned char *header, struct info_array *array)
{
    size_t length, width;
    const char *text = header_text(header, &length), *end = text + length;
    const char *type = header_value(text, length, "descr");
    const char *order = header_value(text, length, "fortran_order");
    const char *quote = type ? memchr(type + 1, *type, (size_t)(end - type - 1)) : NULL;

    array->fortran = order && *order == 'T';
    if (!quote)
        return;
    width = (size_t)(quote - type - 1);
    if (width < sizeof array->type) {
        memcpy(array->type, type + 1, width);
        array->type[width] = '\0';
    }
}

static void count_bytes(void *total, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)total += size;
}

static struct error *add_array(struct info *info, const struct npy_array *array,
                               const unsigned char *header)
{
    struct info_array *arrays =
        realloc(info->arrays, (info->array_count + 1) * sizeof *info->arrays);
    struct info_array *added;

    if (!arrays)
        return error_memory("a list of arrays");
    info->arrays = arrays;
    added = &arrays[info->array_count++];
    memset(added, 0, sizeof *added);
    added->role = "array";
    added->kind = array->kind;
    added->ndim = array->ndim;
    added->count = array->count;
    memcpy(added->shape, array->shape, array->ndim * sizeof *array->shape);
    npy_type_name(array->kind, array->item_size, added->type);
    stored_form(header, added);
    return NULL;
}

/* Keeps the first text of a file that is no dataset: what made it may be in there. */
static struct error *keep_text(struct info *info, const struct npy_array *array)
{
    struct npy_error npy_error;
    char **strings;

    if (info->text || array->ndim > 0)
        return NULL;
    strings = npy_strings(array, &npy_error);
    if (!strings)
        return dataset_npy_error(&npy_error);
    info->text = strdup(strings[0]);
    free(strings);
    return info->text ? NULL : error_memory("a text");
}

static struct error *summarise(struct info *info, struct npy_array *array, struct summary *summary)
{
    struct npy_error npy_error;

    if (array->kind == NPY_UNICODE)
        return keep_text(info, array);
    if (npy_convert(array, NPY_FLOAT, 8, &npy_error))
        return dataset_npy_error(&npy_error);
    summary_add_doubles(summary, array->data, array->count);
    return NULL;
}

/* Reads all arrays: the first time to list them, the second time to summarise them. */
static struct error *walk_arrays(const unsigned char *bytes, size_t size, bool again,
                                 struct info *info)
{
    size_t consumed = 0, at = 0, index = 0;
    struct error *error = NULL;
    struct npy_error npy_error;
    struct npy_array array;
    npy_reader *reader = npy_open_memory(bytes, size, &npy_error);
    int result = -1;

    if (reader)
        npy_watch(reader, count_bytes, &consumed);
    while (reader && !error && (result = npy_next(reader, &array, &npy_error)) == 1) {
        error = again ? summarise(info, &array, &info->arrays[index].summary)
                      : add_array(info, &array, bytes + at);
        npy_array_free(&array);
        at = consumed;
        index++;
    }
    if (!error && result < 0)
        error = dataset_npy_error(&npy_error);
    npy_close(reader);
    return error;
}

/* ---- Datasets ---- */

static const char *float_role(const struct info_array *array)
{
    switch (array->ndim) {
    case 1:
        return array->shape[0] == 2 || array->shape[0] == 6 ? "packing" : "views";
    case 2:
        return "soft";
    default:
        return "levels";
    }
}

/* Names the arrays of a file that was accepted as a dataset. */
static void name_roles(struct info *info)
{
    size_t labels = 0;

    for (size_t i = 0; i < info->array_count; i++) {
        struct info_array *array = &info->arrays[i];

        if (i == 0)
            array->role = "series";
        else if (array->kind == NPY_UNICODE)
            array->role = array->ndim == 0 ? "notes" : "names";
        else if (array->kind == NPY_FLOAT)
            array->role = float_role(array);
        else if (array->ndim > 1)
            array->role = "codes";
        else
            array->role = labels++ ? "groups" : "labels";
    }
}

static void summarise_soft(struct info *info)
{
    const struct dataset *dataset = &info->dataset;

    for (size_t i = 0; i < dataset->count; i++) {
        const float *row = dataset->soft + i * dataset->classes;
        size_t best = 0;

        for (size_t v = 1; v < dataset->classes; v++) {
            if (row[v] > row[best])
                best = v;
        }
        info->soft_agrees += best == (size_t)dataset->y[i];
    }
    summary_add(&info->soft, dataset->soft, dataset->count * dataset->classes);
}

static struct error *describe_dataset(struct info *info)
{
    const struct dataset *dataset = &info->dataset;

    info->kind = INFO_DATASET;
    name_roles(info);
    info->channels = calloc(dataset->channels, sizeof *info->channels);
    if (dataset->y)
        info->class_counts = calloc(dataset->classes, sizeof *info->class_counts);
    if (!info->channels || (dataset->y && !info->class_counts))
        return error_memory("statistics");
    for (size_t i = 0; i < dataset->count; i++) {
        for (size_t c = 0; c < dataset->channels; c++)
            summary_add(&info->channels[c], dataset_series(dataset, i, c), dataset->length);
    }
    for (size_t c = 0; c < dataset->channels; c++)
        summary_merge(&info->all, &info->channels[c]);
    if (dataset->y)
        dataset_class_counts(dataset, info->class_counts);
    if (dataset->soft)
        summarise_soft(info);
    return NULL;
}

static void take_digest(const void *bytes, size_t size, struct info *info)
{
    struct digest digest;

    digest_start(&digest);
    digest_add(&digest, bytes, size);
    digest_finish(&digest, info->digest);
}

static struct error *describe_npy(const void *bytes, size_t size, struct info *info)
{
    struct error *reason;

    TRY(walk_arrays(bytes, size, false, info));
    reason = dataset_read_memory(bytes, size, DATASET_ALLOW_NAN | DATASET_VIEWS, &info->dataset);
    if (!reason) {
        memcpy(info->digest, info->dataset.digest, sizeof info->digest);
        return describe_dataset(info);
    }
    if (error_is_memory(reason))
        return reason;
    take_digest(bytes, size, info);
    info->kind = INFO_ARRAYS;
    info->reason = strdup(error_message(reason));
    error_free(reason);
    if (!info->reason)
        return error_memory("a message");
    return walk_arrays(bytes, size, true, info);
}

/* ---- Teachers ---- */

/* What PyTorch calls a buffer: measured, not learned. */
static bool is_statistic(const char *name)
{
    return text_ends_with(name, ".running_mean") || text_ends_with(name, ".running_var") ||
           text_ends_with(name, ".num_batches_tracked");
}

static struct error *describe_teacher(const void *bytes, size_t size, struct info *info)
{
    info->kind = INFO_TEACHER;
    TRY(tch_read_memory(bytes, size, &info->teacher));
    for (size_t i = 0; i < info->teacher.count; i++) {
        if (!is_statistic(info->teacher.tensors[i].name))
            info->parameter_count += info->teacher.tensors[i].count;
    }
    return NULL;
}

/* ---- Any file ---- */

static struct error *describe(const void *bytes, size_t size, struct info *info)
{
    info->bytes = size;
    if (size == 0)
        return error_make("empty file");
    if (file_kind(bytes, size) == FILE_NPY)
        return describe_npy(bytes, size, info);
    take_digest(bytes, size, info);
    switch (file_kind(bytes, size)) {
    case FILE_POOL:
        info->kind = INFO_POOL;
        return slp_read_memory(bytes, size, &info->pool);
    case FILE_NPY:
    case FILE_TEXT:
        break;
    }
    if (size >= 4 && memcmp(bytes, "%TCH", 4) == 0)
        return describe_teacher(bytes, size, info);
    if (size >= 2 && memcmp(bytes, "PK", 2) == 0)
        return error_make("a zip archive (.npz?): unpack the .npy files in it first");
    return error_make("neither NPY nor a shapelet pool (.slp) nor a teacher (.tch)");
}

struct error *info_read_memory(const void *bytes, size_t size, struct info *info)
{
    struct error *error;

    memset(info, 0, sizeof *info);
    info->path = strdup("memory");
    error = info->path ? describe(bytes, size, info) : error_memory("a name");
    if (error)
        info_free(info);
    return error;
}

struct error *info_read(const char *path, struct info *info)
{
    struct error *error;

    memset(info, 0, sizeof *info);
    info->path = strdup(file_shown(path));
    error = info->path ? mapped_read(path, &info->input, &info->input_size, &info->mapped)
                       : error_memory("a name");
    if (!error)
        error = describe(info->input, info->input_size, info);
    error = error_in(file_shown(path), error);
    if (error)
        info_free(info);
    return error;
}

const char *info_kind_name(enum info_kind kind)
{
    static const char *const names[] = {"dataset", "arrays", "pool", "teacher"};

    return names[kind];
}

bool info_next_note(const struct info *info, const char **line, size_t *length)
{
    const char *notes = info->kind == INFO_POOL      ? info->pool.notes
                        : info->kind == INFO_TEACHER ? info->teacher.notes
                        : info->kind == INFO_ARRAYS  ? info->text
                                                     : info->dataset.notes;
    const char *next = *line ? *line + *length : notes;

    if (!next || *next == '\0')
        return false;
    if (*line)
        next++; /* over the end of the line before */
    *line = next;
    *length = strcspn(next, "\n");
    return *next != '\0';
}

void info_free(struct info *info)
{
    dataset_free(&info->dataset);
    slp_free(&info->pool);
    tch_free(&info->teacher);
    free(info->path);
    free(info->arrays);
    free(info->channels);
    free(info->class_counts);
    free(info->reason);
    free(info->text);
    mapped_release(info->input, info->input_size, info->mapped);
    memset(info, 0, sizeof *info);
}
