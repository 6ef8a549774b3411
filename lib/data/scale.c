/* Sums are taken in double over blocks of series that depend on the dataset alone, and added up in
 * block order.  The deviation takes a second pass with the mean known, which loses no digits where
 * the mean is large.  A channel is constant when its least and greatest value are the same: the
 * sums over a very long one (2^29 values) would leave a rounding error. */
#include "data/scale.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/file.h"
#include "base/size.h"
#include "formats/mapped.h"

enum { BLOCK_SERIES = 256 };

/* One channel of one block. */
struct partial {
    double sum;
    double squares; /* of the distances from the mean */
    float least, greatest;
};

struct fit {
    const struct dataset *dataset;
    const double *mean;       /* NULL in the first pass */
    struct partial *partials; /* (blocks, channels) */
    size_t first;             /* block of the range at work */
};

static void add_block(void *context, size_t task, unsigned worker)
{
    const struct fit *fit = context;
    const struct dataset *dataset = fit->dataset;
    const size_t block = fit->first + task, begin = block * BLOCK_SERIES;
    const size_t end =
        begin + BLOCK_SERIES < dataset->count ? begin + BLOCK_SERIES : dataset->count;

    (void)worker;
    for (size_t c = 0; c < dataset->channels; c++) {
        struct partial part = {.least = INFINITY, .greatest = -INFINITY};
        const double mean = fit->mean ? fit->mean[c] : 0;

        for (size_t i = begin; i < end; i++) {
            const float *series = dataset_series(dataset, i, c);

            for (size_t t = 0; t < dataset->length; t++) {
                double distance = (double)series[t] - mean;

                part.sum += (double)series[t];
                part.squares += distance * distance;
                part.least = series[t] < part.least ? series[t] : part.least;
                part.greatest = series[t] > part.greatest ? series[t] : part.greatest;
            }
        }
        fit->partials[block * dataset->channels + c] = part;
    }
}

static void add_blocks(struct fit *fit)
{
    struct dataset_walk walk = {.step = BLOCK_SERIES};

    while (dataset_walk(fit->dataset, &walk)) {
        fit->first = walk.first / BLOCK_SERIES;
        parallel_for(size_ceiling(walk.count, BLOCK_SERIES), add_block, fit);
    }
}

/* What all blocks add up to, in one channel. */
static struct partial total(const struct partial *partials, size_t blocks, size_t channels,
                            size_t channel)
{
    struct partial all = partials[channel];

    for (size_t b = 1; b < blocks; b++) {
        const struct partial *part = &partials[b * channels + channel];

        all.sum += part->sum;
        all.squares += part->squares;
        all.least = part->least < all.least ? part->least : all.least;
        all.greatest = part->greatest > all.greatest ? part->greatest : all.greatest;
    }
    return all;
}

static struct error *scale_new(size_t channels, struct scale *scale)
{
    memset(scale, 0, sizeof *scale);
    scale->channels = channels;
    scale->mean = calloc(channels, sizeof *scale->mean);
    scale->deviation = calloc(channels, sizeof *scale->deviation);
    if (scale->mean && scale->deviation)
        return NULL;
    scale_free(scale);
    return error_memory("statistics");
}

struct error *scale_fit(const struct dataset *dataset, struct scale *scale)
{
    const size_t blocks = (dataset->count - 1) / BLOCK_SERIES + 1, channels = dataset->channels;
    const double values = (double)dataset->count * (double)dataset->length;
    struct fit fit = {.dataset = dataset};

    TRY(scale_new(channels, scale));
    fit.partials = calloc(blocks * channels, sizeof *fit.partials);
    if (!fit.partials) {
        scale_free(scale);
        return error_memory("statistics");
    }
    add_blocks(&fit);
    for (size_t c = 0; c < channels; c++)
        scale->mean[c] = total(fit.partials, blocks, channels, c).sum / values;
    fit.mean = scale->mean;
    add_blocks(&fit);
    for (size_t c = 0; c < channels; c++) {
        struct partial all = total(fit.partials, blocks, channels, c);

        scale->deviation[c] = sqrt(all.squares / values);
        if (all.least == all.greatest) {
            scale->mean[c] = (double)all.least;
            scale->deviation[c] = 1;
            scale->constant++;
        }
    }
    free(fit.partials);
    return NULL;
}

/* ---- Applying ---- */

struct change {
    const struct scale *scale;
    struct dataset *dataset; /* of which the length is used, and the levels if it has any */
    const float *from;       /* series, and where they go */
    float *to;
    bool undo;
    atomic_bool overflow; /* a result that no float can hold */
};

static void change_series(void *context, size_t i, unsigned worker)
{
    struct change *change = context;
    const struct scale *scale = change->scale;
    bool overflow = false;

    (void)worker;
    for (size_t c = 0; c < scale->channels; c++) {
        const double mean = scale->mean[c], deviation = scale->deviation[c];
        const size_t length = change->dataset->length, at = (i * scale->channels + c) * length;

        for (size_t t = at; t < at + length; t++) {
            change->to[t] = (float)(change->undo ? (double)change->from[t] * deviation + mean
                                                 : ((double)change->from[t] - mean) / deviation);
            overflow |= !(fabsf(change->to[t]) <= FLT_MAX);
        }
    }
    if (overflow)
        change->overflow = true;
}

/* Series of few bits: their levels move, their codes stay. */
static struct error *change_levels(struct change *change)
{
    struct dataset *dataset = change->dataset;
    size_t values = dataset->count * dataset_series_size(dataset);

    for (size_t c = 0; c < dataset->channels; c++) {
        double mean = change->scale->mean[c], deviation = change->scale->deviation[c];

        if (change->undo)
            TRY(dataset_move_levels(dataset, c, deviation, mean));
        else
            TRY(dataset_move_levels(dataset, c, 1 / deviation, -mean / deviation));
    }
    for (size_t i = 0; i < values; i++)
        if (!(fabsf(dataset->x[i]) <= FLT_MAX))
            change->overflow = true;
    return NULL;
}

static struct error *check_channels(const struct scale *scale, const struct dataset *dataset)
{
    if (dataset->channels == scale->channels)
        return NULL;
    return error_make("statistics of %zu channels, but the dataset has %zu", scale->channels,
                      dataset->channels);
}

static struct error *check_overflow(const struct change *change)
{
    return change->overflow ? error_make("scaled values are too large: wrong statistics?") : NULL;
}

static struct error *change_all(const struct scale *scale, struct dataset *dataset, bool undo)
{
    struct change change = {
        .scale = scale, .dataset = dataset, .from = dataset->x, .to = dataset->x, .undo = undo};

    TRY(check_channels(scale, dataset));
    dataset->reread = false;
    if (dataset_is_rounded(dataset))
        TRY(change_levels(&change));
    else
        parallel_for(dataset->count, change_series, &change);
    return check_overflow(&change);
}

struct error *scale_apply(const struct scale *scale, struct dataset *dataset)
{
    return change_all(scale, dataset, false);
}

struct error *scale_undo(const struct scale *scale, struct dataset *dataset)
{
    return change_all(scale, dataset, true);
}

/* ---- Each series by itself ---- */

/* Whether the values were constant. */
static bool normalise(float *values, size_t count)
{
    float least = values[0], greatest = values[0];
    double sum = 0, squares = 0, mean, deviation;

    for (size_t t = 0; t < count; t++) {
        sum += (double)values[t];
        least = values[t] < least ? values[t] : least;
        greatest = values[t] > greatest ? values[t] : greatest;
    }
    if (least == greatest) {
        memset(values, 0, count * sizeof *values);
        return true;
    }
    mean = sum / (double)count;
    for (size_t t = 0; t < count; t++)
        squares += ((double)values[t] - mean) * ((double)values[t] - mean);
    deviation = sqrt(squares / (double)count);
    for (size_t t = 0; t < count; t++)
        values[t] = (float)(((double)values[t] - mean) / deviation);
    return false;
}

struct normalising {
    const struct dataset *dataset;
    float *x;
    atomic_size_t constant; /* a sum of whole numbers, whose order does not matter */
};

static void normalise_series(void *context, size_t i, unsigned worker)
{
    struct normalising *work = context;

    (void)worker;
    for (size_t c = 0; c < work->dataset->channels; c++) {
        if (normalise(work->x + (i * work->dataset->channels + c) * work->dataset->length,
                      work->dataset->length))
            atomic_fetch_add(&work->constant, 1);
    }
}

size_t scale_each_series(struct dataset *dataset)
{
    struct normalising work = {.dataset = dataset, .x = dataset->x};

    dataset->reread = false;
    parallel_for(dataset->count, normalise_series, &work);
    return work.constant;
}

/* ---- Block by block ---- */

static struct error *scale_block(void *context, size_t first, size_t count, float *x)
{
    struct scaling *scaling = context;
    const struct dataset *from = scaling->from;
    const size_t size = dataset_series_size(from);
    struct change change = {.scale = scaling->scale,
                            .dataset = (struct dataset *)from,
                            .from = from->x + first * size,
                            .to = x,
                            .undo = scaling->undo};
    struct normalising work = {.dataset = from, .x = x};

    dataset_passed(from, first);
    if (scaling->scale) {
        parallel_for(count, change_series, &change);
        return error_mark_placed(error_in(scaling->name, check_overflow(&change)));
    }
    memcpy(x, change.from, count * size * sizeof *x);
    parallel_for(count, normalise_series, &work);
    scaling->constant += work.constant;
    return NULL;
}

struct error *scaling_begin(struct scaling *scaling, struct dataset *scaled)
{
    if (scaling->scale)
        TRY(error_in(scaling->name, check_channels(scaling->scale, scaling->from)));
    *scaled = *scaling->from;
    scaled->x = NULL;
    scaled->make = scale_block;
    scaled->context = scaling;
    return NULL;
}

/* ---- Files ---- */

static struct error *check_statistics(const struct scale *scale)
{
    for (size_t c = 0; c < scale->channels; c++) {
        if (!isfinite(scale->mean[c]))
            return error_make("channel %zu: the mean is not a number", c);
        if (!isfinite(scale->deviation[c]) || !(scale->deviation[c] > 0))
            return error_make("channel %zu: the standard deviation is not above 0", c);
    }
    return NULL;
}

static struct error *from_array(struct npy_array *array, struct scale *scale)
{
    struct npy_error npy_error;

    if (array->kind == NPY_UNICODE || array->ndim != 2 || array->shape[0] != 2 ||
        array->shape[1] == 0)
        return error_make("not a file of statistics: those have the shape (2, channels)");
    if (npy_convert(array, NPY_FLOAT, 8, &npy_error))
        return dataset_npy_error(&npy_error);
    TRY(scale_new(array->shape[1], scale));
    memcpy(scale->mean, array->data, scale->channels * sizeof *scale->mean);
    memcpy(scale->deviation, (double *)array->data + scale->channels,
           scale->channels * sizeof *scale->deviation);
    return check_statistics(scale);
}

/* The first array, and at most a text after it: a dataset given by mistake is noticed. */
static struct error *read_statistics(npy_reader *reader, struct scale *scale)
{
    struct npy_error npy_error;
    struct npy_array array;
    struct digest digest;
    struct error *error = NULL;
    int result = 0;

    digest_start(&digest);
    npy_watch(reader, digest_watch, &digest);
    for (size_t position = 0; !error; position++) {
        result = npy_next(reader, &array, &npy_error);
        if (result == 0 && position == 0)
            error = error_make("empty file");
        if (result <= 0)
            break;
        if (position == 0)
            error = from_array(&array, scale);
        else if (array.kind != NPY_UNICODE || array.ndim != 0)
            error = error_make("not a file of statistics: it has more than one array");
        npy_array_free(&array);
    }
    if (!error && result < 0)
        error = dataset_npy_error(&npy_error);
    digest_finish(&digest, scale->digest);
    return error;
}

struct error *scale_read(const char *path, struct scale *scale)
{
    struct npy_error npy_error;
    struct error *error;
    npy_reader *reader;

    memset(scale, 0, sizeof *scale);
    reader = mapped_open_npy(path, &npy_error);
    if (!reader)
        return error_make("%s: %s", file_shown(path), npy_error.message);
    error = read_statistics(reader, scale);
    npy_close(reader);
    if (error)
        scale_free(scale);
    return error_in(file_shown(path), error);
}

struct error *scale_write(FILE *stream, const struct scale *scale, const char *notes)
{
    const size_t shape[] = {2, scale->channels};
    const size_t bytes = scale->channels * sizeof *scale->mean;
    struct npy_array array;
    struct npy_error npy_error;
    int result;

    if (npy_array_new(&array, NPY_FLOAT, 8, 2, shape, &npy_error))
        return dataset_npy_error(&npy_error);
    memcpy(array.data, scale->mean, bytes);
    memcpy((char *)array.data + bytes, scale->deviation, bytes);
    result = npy_write(stream, &array, &npy_error);
    npy_array_free(&array);
    if (result == 0 && notes)
        result = npy_write_strings(stream, &notes, 0, 1, &npy_error);
    return result ? dataset_npy_error(&npy_error) : NULL;
}

void scale_free(struct scale *scale)
{
    free(scale->mean);
    free(scale->deviation);
    memset(scale, 0, sizeof *scale);
}
