/* Writing dataset files, and walks over series that may not fit into memory. */
#include "formats/dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dataset-internal.h"
#include "base/scratch.h"
#include "base/text.h"

/* ---- Walks ---- */

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

/* ---- Writing ---- */

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

/* Series that are not in memory: made, or copied from where they were picked, block by block. */
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

    if (dataset->packed.codes)
        return packed_write(stream, dataset);
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

/* The soft labels, unless they are stored with the codes of views. */
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

/* With compressed series labels take one byte, if there are at most 256 classes. */
static bool labels_are_bytes(const struct dataset *dataset)
{
    return dataset->packed.codes && dataset->classes <= 256;
}

static struct error *write_labels(FILE *stream, const struct dataset *dataset)
{
    struct npy_array bytes;
    struct npy_error error;
    int failed;

    if (!dataset->y)
        return NULL;
    if (!labels_are_bytes(dataset))
        return npy_write_data(stream, NPY_INT, 4, 1, &dataset->count, dataset->y, &error)
                   ? dataset_npy_error(&error)
                   : NULL;
    if (npy_array_new(&bytes, NPY_UINT, 1, 1, &dataset->count, &error))
        return dataset_npy_error(&error);
    for (size_t i = 0; i < dataset->count; i++)
        ((uint8_t *)bytes.data)[i] = (uint8_t)dataset->y[i];
    failed = npy_write(stream, &bytes, &error);
    npy_array_free(&bytes);
    return failed ? dataset_npy_error(&error) : NULL;
}

/* Unicode, as all programs know it, but beside rounded series, where bytes count, ASCII. */
static int write_notes(FILE *stream, const struct dataset *dataset, struct npy_error *error)
{
    const char *notes = dataset->notes;
    bool rounded = dataset->packed.codes || dataset->levels.bits;

    if (!notes)
        return 0;
    if (rounded && *notes && text_is_ascii(notes))
        return npy_write_data(stream, NPY_BYTES, strlen(notes), 0, NULL, notes, error);
    return npy_write_strings(stream, &notes, 0, 1, error);
}

/* With views, soft labels of the series are stored in the same way as those of the views. */
struct error *dataset_write(FILE *stream, const struct dataset *dataset)
{
    struct npy_error error;

    TRY(write_series(stream, dataset));
    TRY(write_labels(stream, dataset));
    if ((dataset->groups &&
         npy_write_data(stream, NPY_UINT, 4, 1, &dataset->count, dataset->groups, &error)))
        return dataset_npy_error(&error);
    TRY(write_soft(stream, dataset));
    if ((dataset->names && npy_write_strings(stream, (const char *const *)dataset->names, 1,
                                             dataset->classes, &error)) ||
        write_notes(stream, dataset, &error))
        return dataset_npy_error(&error);
    return dataset->views.count ? views_write(stream, dataset) : NULL;
}

/* ---- Sizes ---- */

static struct error *series_size(const struct dataset *dataset, size_t *size)
{
    if (dataset->packed.codes) {
        TRY(dataset_packed_size(dataset, size));
        *size += 2 * dataset->channels * sizeof(float); /* low and step of each */
        return NULL;
    }
    *size = dataset->levels.bits ? levels_size(dataset)
                                 : dataset->count * dataset_series_size(dataset) * sizeof(float);
    return NULL;
}

struct error *dataset_content_size(const struct dataset *dataset, size_t views, size_t *size)
{
    const bool coded = views > 0 && views_hold_soft(dataset);
    size_t codes = 0, each = 0;

    TRY(series_size(dataset, size));
    if (views > 0)
        TRY(dataset_codes_size(dataset, views, &codes));
    if (dataset->y)
        each += labels_are_bytes(dataset) ? 1 : 4;
    if (dataset->groups)
        each += 4;
    if (dataset->soft && !coded)
        each += dataset->classes * sizeof *dataset->soft;
    *size += codes + dataset->count * each;
    return NULL;
}
