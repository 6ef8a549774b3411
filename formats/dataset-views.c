/* A recipe is a row of numbers, so that it costs few bytes and NumPy reads it at a glance:
 *
 *     version, N, seed, shift, crop, warp, gain, mix, cut, bits, step, CRC-32 of the codes, rows
 *
 * Rows of codes of version 3 are those of the M views; of version 4, those of the N series and then
 * of the views, in place of soft labels of the series.  dataset-codes.c makes bytes of them.
 * Versions 1 and 2, which are only read, have the codes themselves and no thirteenth number.
 * N and the checksum tell that the codes belong to these series and are undamaged. */
#include "formats/dataset-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "formats/coder.h"

enum {
    VERSION,
    SERIES,
    SEED,
    SHIFT,
    CROP,
    WARP,
    GAIN,
    MIX,
    CUT,
    BITS,
    STEP,
    CHECKSUM,
    OLD_NUMBERS,
    ROWS = OLD_NUMBERS,
    NUMBERS,
};
enum { OLD_VIEWS = 1, OLD_SERIES, LABELS_VIEWS, LABELS_SERIES }; /* versions */

/* The range of each number of a recipe. */
static const struct {
    const char *name;
    double low, high;
    bool whole;
} ranges[NUMBERS] = {
    [VERSION] = {"version", 1, 1e6, true},
    [SERIES] = {"number of series", 1, 0x1p53, true},
    [SEED] = {"seed", 0, 0x1p53 - 1, true},
    [SHIFT] = {"shift", 0, 0.5, false},
    [CROP] = {"crop", 0, 0.9, false},
    [WARP] = {"warp", 0, 0.5, false},
    [GAIN] = {"gain", 0, 1, false},
    [MIX] = {"mix", 0, 1, false},
    [CUT] = {"cut", 0, 1, false},
    [BITS] = {"bits of a code", 4, 8, true},
    [STEP] = {"step of the codes", 0, 1e30, false},
    [CHECKSUM] = {"checksum", 0, 0xffffffffu, true},
    [ROWS] = {"number of rows of codes", 1, 0x1p53, true},
};

bool views_is_recipe(const struct npy_array *array)
{
    return array->ndim == 1 && array->kind == NPY_FLOAT && array->item_size == 8;
}

static struct error *check_numbers(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = numbers[i];

        if (!(value >= ranges[i].low && value <= ranges[i].high) ||
            (ranges[i].whole && value != floor(value)))
            return error_make("damaged views: %g is not a valid %s", value, ranges[i].name);
    }
    if (numbers[BITS] != 4 && numbers[BITS] != 8)
        return error_make("damaged views: codes have 4 or 8 bits, not %g", numbers[BITS]);
    return NULL;
}

struct error *views_take_recipe(const struct npy_array *array, struct dataset *dataset)
{
    const double *numbers = array->data;
    struct dataset_views *views = &dataset->views;

    if (array->count >= 1 && numbers[VERSION] > LABELS_SERIES)
        return error_make("views of version %g; this program reads versions up to %d",
                          numbers[VERSION], LABELS_SERIES);
    if (array->count < 1 ||
        array->count != (numbers[VERSION] <= OLD_SERIES ? OLD_NUMBERS : NUMBERS))
        return error_make("damaged views: a recipe has %d numbers, not %zu", (int)NUMBERS,
                          array->count);
    TRY(check_numbers(numbers, array->count));
    if (numbers[SERIES] != (double)dataset->count)
        return error_make("views of %.0f series, but there are %zu: they belong to another dataset",
                          numbers[SERIES], dataset->count);
    views->recipe = (struct view_recipe){.seed = (uint64_t)numbers[SEED],
                                         .shift = numbers[SHIFT],
                                         .crop = numbers[CROP],
                                         .warp = numbers[WARP],
                                         .gain = numbers[GAIN],
                                         .mix = numbers[MIX],
                                         .cut = numbers[CUT]};
    views->bits = (unsigned)numbers[BITS];
    views->step = numbers[STEP];
    views->checksum = (uint32_t)numbers[CHECKSUM];
    views->labels_series = numbers[VERSION] == OLD_SERIES || numbers[VERSION] == LABELS_SERIES;
    views->coded_rows = array->count == NUMBERS ? (size_t)numbers[ROWS] : 0;
    return NULL;
}

struct error *views_take_codes(struct npy_array *array, struct dataset *dataset)
{
    struct dataset_views *views = &dataset->views;
    size_t rows = views->coded_rows ? views->coded_rows : array->shape[0];

    if (views->bits == 0)
        return error_make("codes of views without their recipe");
    if (array->count == 0 || (views->labels_series && rows <= dataset->count))
        return error_make("damaged views: no codes");
    if (views->coded_rows && (array->shape[0] != 1 || rows / CODER_RATIO > array->count))
        return error_make("damaged views: %zu bytes cannot hold the codes of %zu views",
                          array->count, rows);
    views->count = rows - (views->labels_series ? dataset->count : 0);
    views->storage = *array;
    views->codes = array->data;
    memset(array, 0, sizeof *array);
    return NULL;
}

/* Soft labels from the codes of the series, which come before those of the views. */
static struct error *decode_series(struct dataset *dataset)
{
    struct dataset_views *views = &dataset->views;
    size_t classes = dataset->classes, row = views_row(classes, views->bits);
    float *logits = calloc(dataset->count, classes * sizeof *logits);
    struct error *error;

    if (!logits)
        return error_memory("soft labels");
    for (size_t i = 0; i < dataset->count; i++)
        views_decode(views->codes + i * row, classes, views->bits, views->step,
                     logits + i * classes);
    views->codes += dataset->count * row;
    error = dataset_set_soft(dataset, logits);
    free(logits);
    return error;
}

/* Codes of earlier versions may have anything in half bytes that are not used. */
static void clear_unused(struct dataset *dataset)
{
    struct dataset_views *views = &dataset->views;
    const size_t row = views_row(dataset->classes, views->bits);

    if (views->bits == 4 && dataset->classes % 2)
        for (size_t i = row - 1; i < views->storage.count; i += row)
            views->codes[i] &= 15;
}

/* Puts the codes in the place of the bytes that were made of them. */
static struct error *decode_rows(struct dataset *dataset)
{
    struct dataset_views *views = &dataset->views;
    const size_t shape[] = {views->coded_rows, views_row(dataset->classes, views->bits)};
    struct npy_array coded = views->storage;
    struct label_codes codes = {.count = views->coded_rows,
                                .series = views->labels_series ? dataset->count : 0,
                                .classes = dataset->classes,
                                .bits = views->bits,
                                .y = dataset->y};
    struct npy_array rows;
    struct npy_error npy_error;
    struct error *error;

    if (codes.count > (size_t)CODER_RATIO * coded.count / codes.classes)
        return error_make("damaged views: %zu bytes cannot hold the codes of %zu views",
                          coded.count, codes.count);
    if (npy_array_new(&rows, NPY_UINT, 1, 2, shape, &npy_error))
        return dataset_npy_error(&npy_error);
    codes.rows = rows.data;
    error = codes_read_labels(&codes, coded.data, coded.count);
    views->storage = rows;
    views->codes = rows.data;
    views->coded_rows = 0;
    npy_array_free(&coded);
    return error_in("damaged views", error);
}

static struct error *check_codes(const struct dataset *dataset)
{
    const struct dataset_views *views = &dataset->views;
    size_t row = views_row(dataset->classes, views->bits);

    if (views->storage.shape[1] != row)
        return error_make("damaged views: %zu bytes of codes for each view, but %zu classes need "
                          "%zu",
                          views->storage.shape[1], dataset->classes, row);
    if (checksum_crc32(views->codes, views->storage.count) != views->checksum)
        return error_make("damaged views: the checksum of the codes does not match");
    return NULL;
}

struct error *views_check(struct dataset *dataset)
{
    const struct dataset_views *views = &dataset->views;

    if (views->bits && !views->codes)
        return error_make("damaged views: a recipe without codes");
    if (!views->codes)
        return NULL;
    if (!dataset->y)
        return error_make("views without labels of the series");
    if (views->coded_rows)
        TRY(decode_rows(dataset));
    TRY(check_codes(dataset));
    clear_unused(dataset);
    if (!views->labels_series)
        return NULL;
    if (dataset->soft)
        return error_make("damaged views: soft labels twice, as floats and as codes");
    return decode_series(dataset);
}

void views_drop(struct dataset *dataset)
{
    dataset->dropped_views = dataset->views.count;
    npy_array_free(&dataset->views.storage);
    memset(&dataset->views, 0, sizeof dataset->views);
}

struct error *dataset_new_views(struct dataset *dataset, size_t count, unsigned bits)
{
    const size_t shape[] = {count, views_row(dataset->classes, bits)};
    struct dataset_views *views = &dataset->views;
    struct npy_error error;

    npy_array_free(&views->storage);
    memset(views, 0, sizeof *views);
    if (npy_array_new(&views->storage, NPY_UINT, 1, 2, shape, &error))
        return dataset_npy_error(&error);
    views->codes = views->storage.data;
    views->count = count;
    views->bits = bits;
    return NULL;
}

void views_encode(const float *logits, size_t classes, unsigned bits, double step, uint8_t *row)
{
    double codes = bits == 4 ? 15 : 255;
    float most = logits[0];

    for (size_t v = 1; v < classes; v++)
        most = logits[v] > most ? logits[v] : most;
    memset(row, 0, views_row(classes, bits));
    for (size_t v = 0; v < classes; v++) {
        double below = step > 0 ? (double)(most - logits[v]) / step : 0;
        unsigned code = (unsigned)fmin(floor(below + 0.5), codes);

        if (bits == 4)
            row[v / 2] = (uint8_t)(row[v / 2] | code << (v % 2 * 4));
        else
            row[v] = (uint8_t)code;
    }
}

void views_decode(const uint8_t *row, size_t classes, unsigned bits, double step, float *logits)
{
    for (size_t v = 0; v < classes; v++) {
        unsigned code = bits == 4 ? row[v / 2] >> (v % 2 * 4) & 15 : row[v];

        logits[v] = (float)(-step * (double)code);
    }
}

bool views_hold_soft(const struct dataset *dataset)
{
    int32_t most = -1;

    for (size_t i = 0; i < dataset->count; i++)
        most = dataset->y[i] > most ? dataset->y[i] : most;
    return dataset->views.count && dataset->soft &&
           (dataset->names || (size_t)most + 1 == dataset->classes);
}

/* The codes of the series, if they have soft labels, then those of the views. */
static struct error *new_rows(const struct dataset *dataset, size_t count,
                              struct label_codes *codes)
{
    const struct dataset_views *views = &dataset->views;
    const size_t classes = dataset->classes, row = views_row(classes, views->bits);
    uint8_t *next;

    *codes = (struct label_codes){.series = views_hold_soft(dataset) ? dataset->count : 0,
                                  .classes = classes,
                                  .bits = views->bits,
                                  .y = dataset->y};
    codes->count = codes->series + count;
    next = codes->rows = malloc(codes->count * row);
    if (!next)
        return error_memory("codes of views");
    for (size_t i = 0; i < codes->series; i++, next += row)
        views_encode(dataset->soft + i * classes, classes, views->bits, views->step, next);
    memcpy(next, views->codes, count * row);
    return NULL;
}

struct error *dataset_codes_size(const struct dataset *dataset, size_t count, size_t *size)
{
    struct label_codes codes;
    uint8_t *bytes = NULL;
    struct error *error;

    TRY(new_rows(dataset, count, &codes));
    error = codes_write_labels(&codes, &bytes, size);
    free(bytes);
    free(codes.rows);
    return error;
}

static struct error *write_arrays(FILE *stream, const double *row, const uint8_t *bytes,
                                  size_t size)
{
    const size_t numbers = NUMBERS, shape[] = {1, size};
    struct npy_error error;

    if (npy_write_data(stream, NPY_FLOAT, 8, 1, &numbers, row, &error) ||
        npy_write_data(stream, NPY_UINT, 1, 2, shape, bytes, &error))
        return dataset_npy_error(&error);
    return NULL;
}

struct error *views_write(FILE *stream, const struct dataset *dataset)
{
    const struct dataset_views *views = &dataset->views;
    const struct view_recipe *recipe = &views->recipe;
    double row[NUMBERS] = {
        [VERSION] = views_hold_soft(dataset) ? LABELS_SERIES : LABELS_VIEWS,
        [SERIES] = (double)dataset->count,
        [SEED] = (double)recipe->seed,
        [SHIFT] = recipe->shift,
        [CROP] = recipe->crop,
        [WARP] = recipe->warp,
        [GAIN] = recipe->gain,
        [MIX] = recipe->mix,
        [CUT] = recipe->cut,
        [BITS] = views->bits,
        [STEP] = views->step,
    };
    struct label_codes codes;
    uint8_t *bytes = NULL;
    size_t size;
    struct error *error;

    TRY(new_rows(dataset, views->count, &codes));
    row[CHECKSUM] = checksum_crc32(codes.rows, codes.count * views_row(codes.classes, codes.bits));
    row[ROWS] = (double)codes.count;
    error = check_numbers(row, NUMBERS);
    if (!error)
        error = codes_write_labels(&codes, &bytes, &size);
    if (!error)
        error = write_arrays(stream, row, bytes, size);
    free(bytes);
    free(codes.rows);
    return error;
}
