/* A recipe is a row of numbers, so that it costs few bytes and NumPy reads it at a glance:
 *
 *     version 1, N, seed, shift, crop, warp, gain, mix, cut, bits, step, CRC-32 of the codes
 *
 * N and the checksum tell that the codes belong to these series and are undamaged. */
#include "formats/dataset-views.h"

#include <math.h>
#include <string.h>

#include "base/checksum.h"

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
    NUMBERS,
};
enum { THIS_VERSION = 1 };

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
};

bool views_is_recipe(const struct npy_array *array)
{
    return array->ndim == 1 && array->kind == NPY_FLOAT && array->item_size == 8;
}

static struct error *check_numbers(const double *numbers)
{
    for (size_t i = 0; i < NUMBERS; i++) {
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

    if (array->count >= 1 && numbers[VERSION] > THIS_VERSION)
        return error_make("views of version %g; this program reads version %d", numbers[VERSION],
                          THIS_VERSION);
    if (array->count != NUMBERS)
        return error_make("damaged views: a recipe has %d numbers, not %zu", (int)NUMBERS,
                          array->count);
    TRY(check_numbers(numbers));
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
    return NULL;
}

struct error *views_take_codes(struct npy_array *array, struct dataset *dataset)
{
    struct dataset_views *views = &dataset->views;

    if (views->bits == 0)
        return error_make("codes of views without their recipe");
    if (array->count == 0)
        return error_make("damaged views: no codes");
    if (checksum_crc32(array->data, array->count) != views->checksum)
        return error_make("damaged views: the checksum of the codes does not match");
    views->count = array->shape[0];
    views->storage = *array;
    views->codes = array->data;
    memset(array, 0, sizeof *array);
    return NULL;
}

struct error *views_check(const struct dataset *dataset)
{
    const struct dataset_views *views = &dataset->views;

    if (views->bits && !views->codes)
        return error_make("damaged views: a recipe without codes");
    if (views->codes && !dataset->y)
        return error_make("views without labels of the series");
    if (views->codes && views->storage.shape[1] != views_row(dataset->classes, views->bits))
        return error_make("damaged views: %zu bytes of codes for each view, but %zu classes need "
                          "%zu",
                          views->storage.shape[1], dataset->classes,
                          views_row(dataset->classes, views->bits));
    return NULL;
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
        return error_make("%s", error.message);
    views->codes = views->storage.data;
    views->count = count;
    views->bits = bits;
    return NULL;
}

struct error *views_write(FILE *stream, const struct dataset *dataset)
{
    const struct dataset_views *views = &dataset->views;
    const struct view_recipe *recipe = &views->recipe;
    const size_t numbers = NUMBERS,
                 shape[] = {views->count, views_row(dataset->classes, views->bits)};
    const double row[NUMBERS] = {
        [VERSION] = THIS_VERSION,
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
        [CHECKSUM] = checksum_crc32(views->codes, shape[0] * shape[1]),
    };
    struct npy_error error;

    TRY(check_numbers(row));
    if (npy_write_data(stream, NPY_FLOAT, 8, 1, &numbers, row, &error) ||
        npy_write_data(stream, NPY_UINT, 1, 2, shape, views->codes, &error))
        return error_make("%s", error.message);
    return NULL;
}
