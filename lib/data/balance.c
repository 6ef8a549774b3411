/* New series j of class v draws from its own random stream (v, j): what it is does not depend on
 * the other classes or on the order of work.  SMOTE first draws the bases of all new series and
 * then looks for the neighbours of those that were drawn, one search for each. */
#include "data/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parallel.h"
#include "base/random.h"
#include "data/classes.h"

/* One class at work. */
struct oversampling {
    const struct dataset *from;
    const struct balance_options *options;
    struct dataset *to;
    size_t label;
    const size_t *members; /* series of the class, in the order of the dataset */
    size_t count;          /* of members */
    size_t first;          /* where its new series go */
    size_t missing;        /* how many */
    size_t *wanted;        /* members whose neighbours are needed */
    size_t wanted_count;
    size_t *row_of;  /* (count): where a member is in wanted, if it is */
    size_t *nearest; /* (wanted_count, neighbours) members */
    size_t neighbours;
};

struct balance_options balance_defaults(void)
{
    return (struct balance_options){.method = BALANCE_COPY, .neighbours = 5};
}

static struct random_stream stream_of(const struct oversampling *work, size_t j)
{
    return random_stream(work->options->seed, RANDOM_BALANCE, (uint64_t)work->label << 40 | j);
}

/* ---- Neighbours ---- */

/* Lists the members that new series start from. */
static void list_bases(struct oversampling *work)
{
    for (size_t j = 0; j < work->missing; j++) {
        struct random_stream stream = stream_of(work, j);

        work->row_of[random_below(&stream, work->count)] = 1;
    }
    for (size_t i = 0; i < work->count; i++) {
        if (!work->row_of[i])
            continue;
        work->row_of[i] = work->wanted_count;
        work->wanted[work->wanted_count++] = i;
    }
}

/* The neighbours of the bases of all new series. */
static struct error *search_neighbours(struct oversampling *work)
{
    const size_t size = dataset_series_size(work->from);
    struct points points = {NULL};
    struct error *error = NULL;
    size_t cells;
    float *x;

    work->row_of = calloc(work->count, sizeof *work->row_of);
    work->wanted = calloc(work->count, sizeof *work->wanted);
    x = calloc(work->count, size * sizeof *x);
    if (x && work->row_of && work->wanted) {
        list_bases(work);
        if (!__builtin_mul_overflow(work->wanted_count, work->neighbours, &cells))
            work->nearest = calloc(cells, sizeof *work->nearest);
    }
    if (!work->nearest)
        error = error_memory("nearest neighbours");
    for (size_t i = 0; !error && i < work->count; i++)
        memcpy(x + i * size, work->from->x + work->members[i] * size, size * sizeof *x);
    if (!error)
        error = points_make(x, work->count, size, &points);
    if (!error)
        error = nearest_neighbours(&points, work->wanted, work->wanted_count, work->neighbours,
                                   work->nearest);
    points_free(&points);
    free(x);
    return error;
}

/* ---- New series ---- */

/* out = a + share (b - a), in double precision, where b - a cannot overflow; a copy of a, to the
 * bit, where both are the same series. */
static void interpolate(const float *a, const float *b, float share, size_t count, float *out)
{
    if (a == b) {
        memcpy(out, a, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(a[i] + (double)share * ((double)b[i] - a[i]));
}

/* Makes series `at` of the result from two of the source. */
static void make_between(const struct oversampling *work, size_t a, size_t b, float share,
                         size_t at)
{
    const struct dataset *from = work->from;
    const size_t size = dataset_series_size(from), classes = from->classes;

    interpolate(from->x + a * size, from->x + b * size, share, size, work->to->x + at * size);
    if (from->soft)
        interpolate(from->soft + a * classes, from->soft + b * classes, share, classes,
                    work->to->soft + at * classes);
    work->to->y[at] = (int32_t)work->label;
}

static void make_new(void *context, size_t j, unsigned worker)
{
    const struct oversampling *work = context;
    struct random_stream stream = stream_of(work, j);
    size_t base = (size_t)random_below(&stream, work->count), other = base;
    float share = 0;

    (void)worker;
    if (work->nearest) {
        other = work->nearest[work->row_of[base] * work->neighbours +
                              random_below(&stream, work->neighbours)];
        share = random_uniform_float(&stream);
    }
    make_between(work, work->members[base], work->members[other], share, work->first + j);
}

static struct error *oversample(struct oversampling *work)
{
    struct error *error = NULL;

    if (work->options->method == BALANCE_SMOTE && work->count > 1) {
        work->neighbours = work->options->neighbours < work->count - 1 ? work->options->neighbours
                                                                       : work->count - 1;
        error = search_neighbours(work);
    }
    if (!error)
        parallel_for(work->missing, make_new, work);
    free(work->wanted);
    free(work->row_of);
    free(work->nearest);
    return error;
}

/* ---- All classes ---- */

static size_t missing_of(size_t count, size_t target)
{
    return count > 0 && count < target ? target - count : 0;
}

/* The dataset with room for the new series. */
static struct error *copy_originals(const struct dataset *dataset, const size_t *counts,
                                    size_t target, struct dataset *balanced)
{
    size_t total = dataset->count;

    for (size_t v = 0; v < dataset->classes; v++) {
        if (__builtin_add_overflow(total, missing_of(counts[v], target), &total))
            return error_memory("the balanced dataset");
    }
    TRY(dataset_new(total, dataset->channels, dataset->length, dataset->classes,
                    dataset->soft != NULL, balanced));
    balanced->flat = dataset->flat;
    memcpy(balanced->x, dataset->x,
           dataset->count * dataset_series_size(dataset) * sizeof *dataset->x);
    memcpy(balanced->y, dataset->y, dataset->count * sizeof *dataset->y);
    if (dataset->soft)
        memcpy(balanced->soft, dataset->soft,
               dataset->count * dataset->classes * sizeof *dataset->soft);
    return dataset_copy_texts(dataset, balanced);
}

static struct error *fill(const struct dataset *dataset, const struct balance_options *options,
                          const struct class_lists *lists, size_t *counts, struct dataset *balanced)
{
    size_t target = options->target ? options->target : lists->largest, next = dataset->count;

    if (options->neighbours == 0 || options->neighbours > BALANCE_MOST_NEIGHBOURS)
        return error_make("%zu neighbours; 1 to %d can be used", options->neighbours,
                          BALANCE_MOST_NEIGHBOURS);
    dataset_class_counts(dataset, counts);
    TRY(copy_originals(dataset, counts, target, balanced));
    for (size_t v = 0; v < dataset->classes; v++) {
        struct oversampling work = {
            .from = dataset,
            .options = options,
            .to = balanced,
            .label = v,
            .members = class_members(lists, v),
            .count = counts[v],
            .first = next,
            .missing = missing_of(counts[v], target),
        };

        if (work.missing == 0)
            continue;
        TRY(oversample(&work));
        next += work.missing;
    }
    return NULL;
}

struct error *balance(const struct dataset *dataset, const struct balance_options *options,
                      struct dataset *balanced)
{
    size_t *counts = calloc(dataset->classes, sizeof *counts);
    struct class_lists lists = {0};
    struct error *error = counts ? NULL : error_memory("class counts");

    memset(balanced, 0, sizeof *balanced);
    if (!error)
        error = class_lists_make(dataset->y, dataset->count, dataset->classes, &lists);
    if (!error)
        error = fill(dataset, options, &lists, counts, balanced);
    free(counts);
    class_lists_free(&lists);
    if (error)
        dataset_free(balanced);
    return error;
}
