#include "views/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"

enum { QUARTERS = 4, VIEWS_OF_A_TASK = 16 };

/* ---- Making series ---- */

struct maker {
    const struct dataset *dataset;
    const struct view_recipe *recipe;
    const double *centres; /* (C,) */
    size_t first, count;
    float *x;        /* (count, C, L) */
    double *scratch; /* (workers, 2, C, L) */
};

static double draw(struct random_stream *stream)
{
    return (double)random_u32(stream) * 0x1p-32;
}

/* Between -1 and 1. */
static double draw_signed(struct random_stream *stream)
{
    return 2 * draw(stream) - 1;
}

static size_t draw_source(const struct dataset *dataset, struct random_stream *stream)
{
    return (size_t)(draw(stream) * (double)dataset->count);
}

/* A series that was shifted, cropped, warped and scaled, into out (C, L). */
static void make_one(const struct maker *maker, struct random_stream *stream, double *out)
{
    const struct dataset *dataset = maker->dataset;
    const struct view_recipe *recipe = maker->recipe;
    size_t length = dataset->length;
    double last = (double)(length - 1), quarter = (length > 1 ? last : 1) / QUARTERS;
    double most = floor(recipe->shift * (double)length);
    double displacement[QUARTERS + 1] = {0};
    size_t source = draw_source(dataset, stream);
    double shift = floor(draw(stream) * (2 * most + 1)) - most;
    double ratio = 1 - recipe->crop * draw(stream);
    double start = (1 - ratio) * last * draw(stream);
    size_t offset = shift < 0 ? length - (size_t)-shift : (size_t)shift;

    for (size_t k = 1; k < QUARTERS; k++)
        displacement[k] = recipe->warp * draw_signed(stream) * quarter;
    for (size_t c = 0; c < dataset->channels; c++) {
        const float *x = dataset_series(dataset, source, c);
        double gain = 1 + recipe->gain * draw_signed(stream), centre = maker->centres[c];

        for (size_t t = 0; t < length; t++) {
            double place = (double)t / quarter;
            double k = fmin(floor(place), QUARTERS - 1), a = place - k;
            double moved = (1 - a) * displacement[(size_t)k] + a * displacement[(size_t)k + 1];
            double q = fmin(fmax(start + ratio * ((double)t + moved), 0), last);
            double i = floor(q), f = q - i;
            size_t at = ((size_t)i + offset) % length, next = ((size_t)i + 1 + offset) % length;
            double value = (1 - f) * (double)x[at] + f * (double)x[next];

            out[c * length + t] = centre + gain * (value - centre);
        }
    }
}

static void make_view(const struct maker *maker, size_t m, double *scratch, float *x)
{
    const struct dataset *dataset = maker->dataset;
    const struct view_recipe *recipe = maker->recipe;
    size_t length = dataset->length, size = dataset->channels * length;
    double *view = scratch, *other = scratch + size;
    struct random_stream stream = random_stream(recipe->seed, RANDOM_VIEW, m);
    size_t segment, start;
    bool mixed, cut;

    make_one(maker, &stream, view);
    make_one(maker, &stream, other);
    mixed = draw(&stream) < recipe->mix;
    for (size_t c = 0; c < dataset->channels; c++) {
        double weight = draw(&stream);

        for (size_t t = c * length; mixed && t < (c + 1) * length; t++)
            view[t] = weight * view[t] + (1 - weight) * other[t];
    }
    make_one(maker, &stream, other);
    cut = draw(&stream) < recipe->cut;
    segment = 1 + (size_t)(draw(&stream) * (double)length * 0.5);
    start = (size_t)(draw(&stream) * (double)(length - segment + 1));
    for (size_t c = 0; cut && c < dataset->channels; c++)
        memcpy(view + c * length + start, other + c * length + start, segment * sizeof *view);
    for (size_t i = 0; i < size; i++)
        x[i] = (float)view[i];
}

static void make_task(void *context, size_t task, unsigned worker)
{
    const struct maker *maker = context;
    size_t size = dataset_series_size(maker->dataset);
    size_t begin = task * VIEWS_OF_A_TASK, end = begin + VIEWS_OF_A_TASK;

    for (size_t i = begin; i < end && i < maker->count; i++)
        make_view(maker, maker->first + i, maker->scratch + worker * 2 * size, maker->x + i * size);
}

/* The mean of each channel over all series, added in the order of the file. */
static void find_centres(const struct dataset *dataset, double *centres)
{
    for (size_t c = 0; c < dataset->channels; c++) {
        double sum = 0;

        for (size_t i = 0; i < dataset->count; i++)
            for (size_t t = 0; t < dataset->length; t++)
                sum += (double)dataset_series(dataset, i, c)[t];
        centres[c] = sum / ((double)dataset->count * (double)dataset->length);
    }
}

struct error *view_make(const struct dataset *dataset, const struct view_recipe *recipe,
                        size_t first, size_t count, float *x)
{
    size_t size = dataset_series_size(dataset);
    double *centres = calloc(dataset->channels, sizeof *centres);
    double *scratch = calloc(parallel_threads(), 2 * size * sizeof *scratch);
    struct maker maker = {dataset, recipe, centres, first, count, x, scratch};

    if (centres && scratch) {
        find_centres(dataset, centres);
        parallel_for((count + VIEWS_OF_A_TASK - 1) / VIEWS_OF_A_TASK, make_task, &maker);
    }
    free(centres);
    free(scratch);
    return centres && scratch ? NULL : error_memory("views");
}

/* ---- Labels ---- */

/* How far the smallest of some logits is below the largest. */
static double range_of(const float *logits, size_t classes)
{
    float most = logits[0], least = logits[0];

    for (size_t v = 1; v < classes; v++) {
        most = logits[v] > most ? logits[v] : most;
        least = logits[v] < least ? logits[v] : least;
    }
    return (double)(most - least);
}

/* Soft labels become what their codes in a file stand for. */
static struct error *round_soft(struct dataset *dataset)
{
    const struct dataset_views *views = &dataset->views;
    size_t classes = dataset->classes;
    uint8_t *row = malloc(views_row(classes, views->bits));

    if (!row)
        return error_memory("soft labels");
    for (size_t i = 0; dataset->soft && i < dataset->count; i++) {
        float *soft = dataset->soft + i * classes;

        views_encode(soft, classes, views->bits, views->step, row);
        views_decode(row, classes, views->bits, views->step, soft);
    }
    free(row);
    return NULL;
}

struct error *view_label(struct dataset *dataset, const struct view_recipe *recipe, size_t count,
                         const float *logits, unsigned bits, double most)
{
    size_t classes = dataset->classes, row_size = views_row(classes, bits);
    struct dataset_views *views = &dataset->views;
    double range = 0;

    TRY(dataset_new_views(dataset, count, bits));
    for (size_t i = 0; i < count; i++)
        range = fmax(range, range_of(logits + i * classes, classes));
    for (size_t i = 0; dataset->soft && i < dataset->count; i++)
        range = fmax(range, range_of(dataset->soft + i * classes, classes));
    views->recipe = *recipe;
    views->step = fmin(range, most) / (bits == 4 ? 15 : 255);
    for (size_t i = 0; i < count; i++)
        views_encode(logits + i * classes, classes, bits, views->step, views->codes + i * row_size);
    return round_soft(dataset);
}

struct error *view_room(const struct dataset *dataset, unsigned bits, double bytes, double *room)
{
    const double row = (double)views_row(dataset->classes, bits);
    struct dataset series = *dataset; /* without views and soft labels */
    size_t size;

    series.views.count = 0;
    series.soft = NULL;
    TRY(dataset_content_size(&series, 0, &size));
    if ((double)size > bytes)
        return error_make("the series with their labels take %zu bytes", size);
    if (dataset->soft)
        bytes -= (double)dataset->count * row;
    *room = fmax(floor((bytes - (double)size) / row), 0);
    return NULL;
}

struct error *view_fit(struct dataset *dataset, double bytes)
{
    size_t fits = 0, beyond = dataset->views.count + 1, size = 0, codes = 0, series;

    /* The series take the same with any number of views. */
    TRY(dataset_content_size(dataset, 1, &series));
    TRY(dataset_codes_size(dataset, 1, &codes));
    series -= codes;
    while (beyond - fits > 1) {
        size_t tried =
            beyond > dataset->views.count ? dataset->views.count : fits + (beyond - fits) / 2;

        TRY(dataset_codes_size(dataset, tried, &codes));
        size = series + codes;
        if ((double)size <= bytes)
            fits = tried;
        else
            beyond = tried;
    }
    if (fits == 0)
        return error_make("the series with their labels and one view take %zu bytes", size);
    dataset->views.count = fits;
    return NULL;
}

/* The soft label of a series, or one that is as good as its label. */
static void series_logits(const struct dataset *dataset, size_t i, float *logits)
{
    for (size_t v = 0; v < dataset->classes; v++) {
        float sure = (size_t)dataset->y[i] == v ? 0 : -VIEW_RANGE;

        logits[v] = dataset->soft ? dataset->soft[i * dataset->classes + v] : sure;
    }
}

void view_kept_logits(const struct dataset *dataset, const struct view_recipe *recipe, size_t count,
                      float *logits)
{
    for (size_t m = 0; m < count; m++) {
        struct random_stream stream = random_stream(recipe->seed, RANDOM_VIEW, m);

        series_logits(dataset, draw_source(dataset, &stream), logits + m * dataset->classes);
    }
}

void view_logits(const struct dataset *dataset, size_t m, float *logits)
{
    const struct dataset_views *views = &dataset->views;

    views_decode(views->codes + m * views_row(dataset->classes, views->bits), dataset->classes,
                 views->bits, views->step, logits);
}

static int32_t most_likely(const float *logits, size_t classes)
{
    size_t best = 0;

    for (size_t v = 1; v < classes; v++)
        if (logits[v] > logits[best])
            best = v;
    return (int32_t)best;
}

struct error *view_expand(const struct dataset *dataset, struct dataset *expanded)
{
    size_t count = dataset->count, views = dataset->views.count, classes = dataset->classes;
    size_t size = dataset_series_size(dataset);
    struct error *error;

    TRY(dataset_new(count + views, dataset->channels, dataset->length, classes, true, expanded));
    memcpy(expanded->x, dataset->x, count * size * sizeof *expanded->x);
    memcpy(expanded->y, dataset->y, count * sizeof *expanded->y);
    for (size_t i = 0; i < count; i++)
        series_logits(dataset, i, expanded->soft + i * classes);
    error = view_make(dataset, &dataset->views.recipe, 0, views, expanded->x + count * size);
    for (size_t m = 0; m < views; m++) {
        float *logits = expanded->soft + (count + m) * classes;

        view_logits(dataset, m, logits);
        expanded->y[count + m] = most_likely(logits, classes);
    }
    if (!error)
        error = dataset_copy_texts(dataset, expanded);
    if (error)
        dataset_free(expanded);
    return error;
}
