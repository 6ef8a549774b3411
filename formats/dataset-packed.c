/* Compressed series: values that are rounded to whole steps, and the coded numbers of steps
 * (dataset-codes.c).
 *
 * A value of channel c is low[c] + step[c] * w, rounded to float32.  A row w of a series holds the
 * codes themselves (no transform), or is the inverse wavelet transform of a row of codes.  The
 * wavelet is the CDF 9/7 of JPEG 2000, in lifting form.  One level splits a row a into s = a[0],
 * a[2], ... and d = a[1], a[3], ..., and updates them in turn,
 *
 *     d[i] += c1 (s[i] + s[i + 1])        s[i] += c2 (d[i - 1] + d[i])
 *     d[i] += c3 (s[i] + s[i + 1])        s[i] += c4 (d[i - 1] + d[i])
 *
 * where indices beyond an end mean the element at that end.  Then s is multiplied by K and d
 * divided by K, and the next level splits s.  A row of coefficients is the s of the last level,
 * then the d of all levels, last level first.  Smooth series have few large coefficients: most
 * codes are 0. All of this is in double precision and in this order, without fused operations
 * (-ffp-contract=off in the Makefile), so that the same codes give the same values everywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "formats/coder.h"
#include "formats/dataset-internal.h"

enum {
    PACKING_VERSION,
    PACKING_COUNT,
    PACKING_CHANNELS,
    PACKING_LENGTH,
    PACKING_LEVELS,
    PACKING_CLASSES, /* 1: the contexts of the codes include the classes */
    PACKING_NUMBERS,
    OLD_PACKING_NUMBERS = 5, /* of version 1 */
};
enum {
    VERSION = 2,
    SHORTEST = 8, /* row that a level splits */
};

static const double LIFT[] = {-1.586134342059924, -0.052980118572961, 0.882911075530934,
                              0.443506852043971};
static const double K = 1.149604398860241;

/* ---- The transform ---- */

/* One lifting step: to[i] += factor * (from[i] + from[i + 1]) or, with `before`,
 * to[i] += factor * (from[i - 1] + from[i]). */
static void lift(double *to, size_t count, const double *from, size_t most, bool before,
                 double factor)
{
    for (size_t i = 0; i < count; i++) {
        size_t left = before ? (i > 0 ? i - 1 : 0) : size_min(i, most - 1);
        size_t right = size_min(before ? i : i + 1, most - 1);

        to[i] = to[i] + factor * (from[left] + from[right]);
    }
}

/* The wavelet transform, in place; spare: scratch memory for `length` values. */
static void analyse(double *row, size_t length, size_t levels, double *spare)
{
    for (; levels > 0; levels--) {
        size_t evens = (length + 1) / 2, odds = length / 2;
        double *s = spare, *d = spare + evens;

        for (size_t i = 0; i < length; i++)
            spare[i % 2 * evens + i / 2] = row[i];
        lift(d, odds, s, evens, false, LIFT[0]);
        lift(s, evens, d, odds, true, LIFT[1]);
        lift(d, odds, s, evens, false, LIFT[2]);
        lift(s, evens, d, odds, true, LIFT[3]);
        for (size_t i = 0; i < evens; i++)
            row[i] = s[i] * K;
        for (size_t i = 0; i < odds; i++)
            row[evens + i] = d[i] / K;
        length = evens;
    }
}

/* Its inverse. */
static void synthesise(double *row, size_t length, size_t levels, double *spare)
{
    size_t lengths[PACKED_MOST_LEVELS];

    for (size_t j = 0; j < levels; j++, length = (length + 1) / 2)
        lengths[j] = length;
    for (; levels > 0; levels--) {
        size_t all = lengths[levels - 1], evens = (all + 1) / 2, odds = all / 2;
        double *s = spare, *d = spare + evens;

        for (size_t i = 0; i < evens; i++)
            s[i] = row[i] / K;
        for (size_t i = 0; i < odds; i++)
            d[i] = row[evens + i] * K;
        lift(s, evens, d, odds, true, -LIFT[3]);
        lift(d, odds, s, evens, false, -LIFT[2]);
        lift(s, evens, d, odds, true, -LIFT[1]);
        lift(d, odds, s, evens, false, -LIFT[0]);
        for (size_t i = 0; i < all; i++)
            row[i] = spare[i % 2 * evens + i / 2];
    }
}

/* The most levels that rows of this length can have. */
static size_t levels_for(size_t length)
{
    size_t levels = 0;

    for (; levels < PACKED_MOST_LEVELS && length >= SHORTEST; levels++)
        length = (length + 1) / 2;
    return levels;
}

/* ---- Codes and values ---- */

static int16_t code_of(double value)
{
    return (int16_t)fmin(fmax(nearbyint(value), -PACKED_MOST_CODE), PACKED_MOST_CODE);
}

/* Fills in x of one channel of all series; rows: scratch memory for two rows. */
static void decode_channel(struct dataset *dataset, size_t channel, double *rows)
{
    const struct dataset_packed *packed = &dataset->packed;
    const double low = (double)packed->low[channel], step = (double)packed->step[channel];
    const size_t length = dataset->length;

    for (size_t i = 0; i < dataset->count; i++) {
        float *x = dataset_series(dataset, i, channel);

        for (size_t t = 0; t < length; t++)
            rows[t] = packed->codes[(i * dataset->channels + channel) * length + t];
        synthesise(rows, length, packed->levels, rows + length);
        for (size_t t = 0; t < length; t++)
            x[t] = (float)(low + step * rows[t]);
    }
}

static struct error *new_rows(const struct dataset *dataset, double **rows)
{
    *rows = malloc(2 * dataset->length * sizeof **rows);
    return *rows ? NULL : error_memory("a series");
}

static void decode(struct dataset *dataset, double *rows)
{
    for (size_t c = 0; c < dataset->channels; c++)
        decode_channel(dataset, c, rows);
}

/* ---- Reading ---- */

bool packed_is_series(const struct npy_array *array)
{
    return array->ndim == 1 && array->kind == NPY_UINT && array->item_size == 1;
}

bool packed_is_packing(const struct npy_array *array)
{
    return array->ndim == 1 && array->kind == NPY_FLOAT && array->item_size == 8 &&
           (array->count == PACKING_NUMBERS || array->count == OLD_PACKING_NUMBERS);
}

void packed_take_series(struct npy_array *array, struct dataset *dataset)
{
    dataset->packed.stream = *array;
    memset(array, 0, sizeof *array);
}

static struct error *new_codes(struct dataset *dataset)
{
    size_t values = dataset->count * dataset_series_size(dataset);

    dataset->packed.codes = calloc(values, sizeof *dataset->packed.codes);
    return dataset->packed.codes ? NULL : error_memory("codes of series");
}

struct error *packed_take_packing(const struct npy_array *array, struct dataset *dataset)
{
    const double *numbers = array->data;
    const size_t bytes = dataset->packed.stream.count;
    const double most = fmin((double)CODER_RATIO * (double)bytes, (double)(SIZE_MAX / 64));
    double levels = numbers[PACKING_LEVELS], all = 1;
    size_t sizes[3];

    if (array->count == OLD_PACKING_NUMBERS)
        return error_make("series that an earlier version compressed (with xz), which this one "
                          "does not read: make them again with sc-quantise --step");
    if (numbers[PACKING_VERSION] != VERSION)
        return error_make("compressed series of version %g; this program reads version %d",
                          numbers[PACKING_VERSION], (int)VERSION);
    if (!(levels >= 0 && levels <= PACKED_MOST_LEVELS) || levels != floor(levels))
        return error_make("damaged packing: a transform of %g levels", levels);
    if (numbers[PACKING_CLASSES] != 0 && numbers[PACKING_CLASSES] != 1)
        return error_make("damaged packing: %g is neither 0 nor 1", numbers[PACKING_CLASSES]);
    for (size_t i = 0; i < 3; i++) {
        double size = numbers[PACKING_COUNT + i];

        if (!(size >= 1 && size <= most) || size != floor(size) || (all *= size) > most)
            return error_make("damaged packing: %zu bytes cannot hold (%g, %g, %g) values", bytes,
                              numbers[PACKING_COUNT], numbers[PACKING_CHANNELS],
                              numbers[PACKING_LENGTH]);
        sizes[i] = (size_t)size;
    }
    if ((size_t)levels > levels_for(sizes[2]))
        return error_make("damaged packing: a transform of %g levels of %zu steps", levels,
                          sizes[2]);
    dataset->count = sizes[0];
    dataset->channels = sizes[1];
    dataset->length = sizes[2];
    dataset->packed.levels = (size_t)levels;
    dataset->packed.classes = numbers[PACKING_CLASSES] == 1;
    return NULL;
}

struct error *packed_take_levels(struct npy_array *array, struct dataset *dataset)
{
    struct dataset_packed *packed = &dataset->packed;
    struct npy_error error;

    if (array->shape[0] != 2 || array->shape[1] != 1 || array->shape[2] != dataset->channels ||
        array->shape[3] != 1)
        return error_make("levels must have the shape (2, 1, %zu, 1), as the channels have",
                          dataset->channels);
    if (npy_convert(array, NPY_FLOAT, 4, &error))
        return dataset_npy_error(&error);
    packed->storage = *array;
    memset(array, 0, sizeof *array);
    packed->low = packed->storage.data;
    packed->step = packed->low + dataset->channels;
    for (size_t c = 0; c < dataset->channels; c++)
        if (!(packed->step[c] >= 0 && isfinite(packed->step[c]) && isfinite(packed->low[c])))
            return error_make("damaged levels: channel %zu: from %g in steps of %g", c,
                              (double)packed->low[c], (double)packed->step[c]);
    return NULL;
}

/* Makes x from codes, low and step. */
static struct error *new_values(struct dataset *dataset)
{
    const size_t shape[] = {dataset->count, dataset->channels, dataset->length};
    struct npy_error error;
    double *rows;

    if (npy_array_new(&dataset->storage[STORE_X], NPY_FLOAT, 4, 3, shape, &error))
        return dataset_npy_error(&error);
    dataset->x = dataset->storage[STORE_X].data;
    TRY(new_rows(dataset, &rows));
    decode(dataset, rows);
    free(rows);
    return NULL;
}

struct error *packed_decode(struct dataset *dataset)
{
    struct dataset_packed *packed = &dataset->packed;

    if (!packed->stream.data)
        return NULL;
    if (!packed->low)
        return error_make("compressed series need packing and levels, in that order");
    if (packed->classes && !dataset->y)
        return error_make("compressed series that cannot be read without their labels");
    TRY(new_codes(dataset));
    TRY(error_in("damaged series", codes_read_series(dataset, packed->classes, packed->stream.data,
                                                     packed->stream.count)));
    npy_array_free(&packed->stream);
    return new_values(dataset);
}

void packed_drop(struct dataset *dataset)
{
    struct dataset_packed *packed = &dataset->packed;

    free(packed->codes);
    npy_array_free(&packed->storage);
    npy_array_free(&packed->stream);
    memset(packed, 0, sizeof *packed);
}

/* ---- Making ---- */

/* low becomes the mean of each channel, the step a multiple of its standard deviation. */
static struct error *measure(struct dataset *dataset, double step)
{
    const size_t shape[] = {2, 1, dataset->channels, 1};
    const double values = (double)dataset->count * (double)dataset->length;
    struct dataset_packed *packed = &dataset->packed;
    struct npy_error error;

    if (npy_array_new(&packed->storage, NPY_FLOAT, 4, 4, shape, &error))
        return dataset_npy_error(&error);
    packed->low = packed->storage.data;
    packed->step = packed->low + dataset->channels;
    for (size_t c = 0; c < dataset->channels; c++) {
        double sum = 0, squares = 0, mean;

        for (size_t i = 0; i < dataset->count; i++)
            for (size_t t = 0; t < dataset->length; t++)
                sum += (double)dataset_series(dataset, i, c)[t];
        mean = sum / values;
        for (size_t i = 0; i < dataset->count; i++)
            for (size_t t = 0; t < dataset->length; t++) {
                double off = (double)dataset_series(dataset, i, c)[t] - mean;

                squares += off * off;
            }
        packed->low[c] = (float)mean;
        packed->step[c] = (float)(step * sqrt(squares / values));
        if (squares > 0 && !(packed->step[c] > 0))
            return error_make("channel %zu: steps of %g deviations are too small", c, step);
        if (!isfinite(packed->step[c]) || !isfinite(packed->low[c]))
            return error_make("channel %zu: its values are too large to be rounded", c);
    }
    return NULL;
}

/* Makes the codes of all series.  Returns the sum of squared errors in squared steps; *largest is
 * the largest absolute code, which may be larger than can be stored. */
static double encode(struct dataset *dataset, double *rows, double *largest)
{
    struct dataset_packed *packed = &dataset->packed;
    const size_t length = dataset->length;
    double errors = 0;

    *largest = 0;
    for (size_t i = 0; i < dataset->count * dataset->channels; i++) {
        const size_t c = i % dataset->channels;
        const double low = (double)packed->low[c], step = (double)packed->step[c];
        const float *x = dataset->x + i * length;

        for (size_t t = 0; t < length; t++)
            rows[t] = step > 0 ? ((double)x[t] - low) / step : 0;
        analyse(rows, length, packed->levels, rows + length);
        for (size_t t = 0; t < length; t++) {
            *largest = fmax(*largest, fabs(rows[t]));
            packed->codes[i * length + t] = code_of(rows[t]);
            rows[t] = packed->codes[i * length + t];
        }
        synthesise(rows, length, packed->levels, rows + length);
        for (size_t t = 0; step > 0 && t < length; t++) {
            double off = ((double)x[t] - low) / step - rows[t];

            errors += off * off;
        }
    }
    return errors;
}

struct error *dataset_pack(struct dataset *dataset, double step, bool transform, double *error)
{
    const size_t values = dataset->count * dataset_series_size(dataset);
    double *rows, errors, largest;

    dataset_unround(dataset);
    dataset->flat = false;
    dataset->reread = false;
    dataset->packed.levels = transform ? levels_for(dataset->length) : 0;
    TRY(measure(dataset, step));
    TRY(new_codes(dataset));
    TRY(new_rows(dataset, &rows));
    errors = encode(dataset, rows, &largest);
    decode(dataset, rows);
    free(rows);
    if (!(largest < PACKED_MOST_CODE))
        return error_make("steps of %g deviations are too small for values of up to %.3g of them",
                          step, largest * step);
    for (size_t i = 0; i < values; i++)
        if (!isfinite(dataset->x[i]))
            return error_make("values are too large to be rounded");
    if (error)
        *error = errors / (double)values;
    return NULL;
}

struct error *packed_move(struct dataset *dataset, size_t channel, double factor, double offset)
{
    struct dataset_packed *packed = &dataset->packed;
    double *rows;

    TRY(new_rows(dataset, &rows));
    packed->low[channel] = (float)(factor * (double)packed->low[channel] + offset);
    packed->step[channel] = (float)(factor * (double)packed->step[channel]);
    decode_channel(dataset, channel, rows);
    free(rows);
    return NULL;
}

/* ---- Writing ---- */

struct error *dataset_packed_size(const struct dataset *dataset, size_t *size)
{
    uint8_t *bytes;
    struct error *error = codes_write_series(dataset, &bytes, size);

    free(bytes);
    return error;
}

struct error *packed_write(FILE *stream, const struct dataset *dataset)
{
    const size_t numbers = PACKING_NUMBERS;
    const double packing[] = {[PACKING_VERSION] = VERSION,
                              [PACKING_COUNT] = (double)dataset->count,
                              [PACKING_CHANNELS] = (double)dataset->channels,
                              [PACKING_LENGTH] = (double)dataset->length,
                              [PACKING_LEVELS] = (double)dataset->packed.levels,
                              [PACKING_CLASSES] = dataset->y != NULL};
    struct npy_error npy_error;
    uint8_t *bytes;
    size_t size;
    struct error *error = codes_write_series(dataset, &bytes, &size);

    if (!error && (npy_write_data(stream, NPY_UINT, 1, 1, &size, bytes, &npy_error) ||
                   npy_write_data(stream, NPY_FLOAT, 8, 1, &numbers, packing, &npy_error) ||
                   npy_write(stream, &dataset->packed.storage, &npy_error)))
        error = dataset_npy_error(&npy_error);
    free(bytes);
    return error;
}
