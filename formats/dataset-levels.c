/* A value is low + step * code, rounded to float32, with a low and a step for each channel of each
 * series.  Codes of 4 bits are two in a byte, the first in the lower half; a channel of odd length
 * ends with half a byte of 0.  NumPy decodes 8 bits by levels[0] + levels[1] * X. */
#include "formats/dataset-internal.h"

#include <math.h>
#include <string.h>

enum { PACKING_BITS, PACKING_LENGTH, PACKING_NUMBERS };

static unsigned most_code(unsigned bits)
{
    return (1u << bits) - 1;
}

static float value_of(unsigned code, float low, float step)
{
    return (float)((double)low + (double)step * code);
}

static unsigned code_of(float value, float low, float step, unsigned bits)
{
    double code = step > 0 ? floor(((double)value - (double)low) / (double)step + 0.5) : 0;

    return (unsigned)fmin(fmax(code, 0), most_code(bits));
}

/* Bytes of the codes of one channel of a series. */
static size_t row_bytes(size_t length, unsigned bits)
{
    return bits == 4 ? length / 2 + length % 2 : length;
}

/* ---- Reading ---- */

bool levels_is_packing(const struct npy_array *array)
{
    return array->ndim == 1 && array->kind == NPY_FLOAT && array->item_size == 8 &&
           array->count == PACKING_NUMBERS;
}

struct error *levels_take(struct npy_array *array, struct dataset *dataset)
{
    struct dataset_levels *levels = &dataset->levels;
    size_t rows = dataset->count * dataset->channels;
    struct npy_error error;

    if (array->shape[0] != 2 || array->shape[1] != dataset->count ||
        array->shape[2] != dataset->channels || array->shape[3] != 1)
        return error_make("levels must have the shape (2, %zu, %zu, 1), as the series have",
                          dataset->count, dataset->channels);
    if (npy_convert(array, NPY_FLOAT, 4, &error))
        return dataset_npy_error(&error);
    levels->storage = *array;
    memset(array, 0, sizeof *array);
    levels->low = levels->storage.data;
    levels->step = levels->low + rows;
    for (size_t i = 0; i < rows; i++)
        if (!(levels->step[i] >= 0 && isfinite(levels->step[i]) && isfinite(levels->low[i])))
            return error_make("damaged levels: series %zu, channel %zu: from %g in steps of %g",
                              i / dataset->channels, i % dataset->channels, (double)levels->low[i],
                              (double)levels->step[i]);
    return NULL;
}

struct error *levels_take_packing(const struct npy_array *array, struct dataset *dataset)
{
    const double *numbers = array->data;
    double bits = numbers[PACKING_BITS], length = numbers[PACKING_LENGTH];

    if (bits != 8 && bits != 4)
        return error_make("damaged packing: codes of series have 4 or 8 bits, not %g", bits);
    if (!(length >= 1 && length <= 2 * (double)dataset->length) || length != floor(length) ||
        row_bytes((size_t)length, (unsigned)bits) != dataset->length)
        return error_make("damaged packing: %g steps of %g bits do not take %zu bytes", length,
                          bits, dataset->length);
    dataset->levels.bits = (unsigned)bits;
    dataset->length = (size_t)length;
    return NULL;
}

/* Halves of bytes become an array of their own. */
static struct error *unpack(struct dataset *dataset, struct npy_array *series)
{
    const size_t shape[] = {dataset->count, dataset->channels, dataset->length};
    size_t rows = dataset->count * dataset->channels, bytes = row_bytes(dataset->length, 4);
    const float *packed = series->data;
    struct npy_array unpacked;
    struct npy_error error;
    float *x;

    if (npy_array_new(&unpacked, NPY_FLOAT, 4, 3, shape, &error))
        return dataset_npy_error(&error);
    x = unpacked.data;
    for (size_t i = 0; i < rows; i++)
        for (size_t t = 0; t < dataset->length; t++)
            x[i * dataset->length + t] =
                (float)((unsigned)packed[i * bytes + t / 2] >> (t % 2 * 4) & 15);
    npy_array_free(series);
    *series = unpacked;
    dataset->x = x;
    return NULL;
}

struct error *levels_decode(struct dataset *dataset, struct npy_array *series)
{
    struct dataset_levels *levels = &dataset->levels;
    const float *codes = dataset->x;
    size_t length = dataset->length, rows = dataset->count * dataset->channels;

    if (!levels->bits && !levels->low)
        return NULL;
    if (!levels->bits || !levels->low)
        return error_make("series of few bits need both levels and packing");
    for (size_t i = 0; i < series->count; i++)
        if (!(codes[i] >= 0 && codes[i] <= 255 && codes[i] == floorf(codes[i])))
            return error_make("series of few bits must be codes from 0 to 255, not %g",
                              (double)codes[i]);
    if (levels->bits == 4)
        TRY(unpack(dataset, series));
    for (size_t i = 0; i < rows; i++)
        for (size_t t = i * length; t < (i + 1) * length; t++)
            dataset->x[t] = value_of((unsigned)dataset->x[t], levels->low[i], levels->step[i]);
    dataset->flat = false;
    return NULL;
}

void levels_drop(struct dataset *dataset)
{
    npy_array_free(&dataset->levels.storage);
    memset(&dataset->levels, 0, sizeof dataset->levels);
}

/* ---- Making ---- */

struct error *dataset_quantise(struct dataset *dataset, unsigned bits)
{
    const size_t shape[] = {2, dataset->count, dataset->channels, 1};
    struct dataset_levels *levels = &dataset->levels;
    size_t length = dataset->length, rows = dataset->count * dataset->channels;
    struct npy_error error;

    dataset_unround(dataset);
    dataset->reread = false;
    if (npy_array_new(&levels->storage, NPY_FLOAT, 4, 4, shape, &error))
        return dataset_npy_error(&error);
    dataset->flat = false; /* a file of few bits says (N, 1, L) */
    levels->bits = bits;
    levels->low = levels->storage.data;
    levels->step = levels->low + rows;
    for (size_t i = 0; i < rows; i++) {
        float *x = dataset->x + i * length, low = x[0], high = x[0], step;

        for (size_t t = 1; t < length; t++) {
            low = fminf(low, x[t]);
            high = fmaxf(high, x[t]);
        }
        step = (float)(((double)high - (double)low) / most_code(bits));
        if (!isfinite(value_of(most_code(bits), low, step)))
            step = nextafterf(step, 0); /* rounded up, beside the largest float */
        for (size_t t = 0; t < length; t++)
            x[t] = value_of(code_of(x[t], low, step, bits), low, step);
        levels->low[i] = low;
        levels->step[i] = step;
    }
    return NULL;
}

void levels_move(struct dataset *dataset, size_t channel, double factor, double offset)
{
    struct dataset_levels *levels = &dataset->levels;

    for (size_t i = 0; i < dataset->count; i++) {
        float *x = dataset_series(dataset, i, channel);
        float *low = levels->low + i * dataset->channels + channel;
        float *step = levels->step + i * dataset->channels + channel;
        float new_low = (float)(factor * (double)*low + offset);
        float new_step = (float)(factor * (double)*step);

        for (size_t t = 0; t < dataset->length; t++)
            x[t] = value_of(code_of(x[t], *low, *step, levels->bits), new_low, new_step);
        *low = new_low;
        *step = new_step;
    }
}

/* ---- Writing ---- */

size_t levels_size(const struct dataset *dataset)
{
    size_t row = row_bytes(dataset->length, dataset->levels.bits) + 2 * sizeof(float);

    return dataset->count * dataset->channels * row;
}

struct error *levels_write(FILE *stream, const struct dataset *dataset)
{
    const struct dataset_levels *levels = &dataset->levels;
    const size_t bytes = row_bytes(dataset->length, levels->bits), numbers = PACKING_NUMBERS;
    const size_t shape[] = {dataset->count, dataset->channels, bytes};
    const double packing[] = {
        [PACKING_BITS] = levels->bits, [PACKING_LENGTH] = (double)dataset->length};
    struct npy_array codes;
    struct npy_error error;
    uint8_t *row;
    int failed;

    if (npy_array_new(&codes, NPY_UINT, 1, 3, shape, &error))
        return dataset_npy_error(&error);
    row = codes.data;
    for (size_t i = 0; i < dataset->count * dataset->channels; i++, row += bytes)
        for (size_t t = 0; t < dataset->length; t++) {
            unsigned code = code_of(dataset->x[i * dataset->length + t], levels->low[i],
                                    levels->step[i], levels->bits);

            if (levels->bits == 4)
                row[t / 2] = (uint8_t)(row[t / 2] | code << (t % 2 * 4));
            else
                row[t] = (uint8_t)code;
        }
    failed = npy_write(stream, &codes, &error) || npy_write(stream, &levels->storage, &error) ||
             npy_write_data(stream, NPY_FLOAT, 8, 1, &numbers, packing, &error);
    npy_array_free(&codes);
    return failed ? dataset_npy_error(&error) : NULL;
}
