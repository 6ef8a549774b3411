/* New series j of class v draws from its own random stream (v, j): what it is does not depend on
 * the other classes or on the order of work.  SMOTE first draws the bases of all new series and
 * then looks for the neighbours of those that were drawn, one search for each. */
#include "data/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/scratch.h"
#include "base/size.h"
#include "data/classes.h"

/* One class at work. */
struct oversampling {
    const struct dataset *from;
    const struct balance_options *options;
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
    x = scratch_new(work->count, size * sizeof *x);
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
    scratch_free(x);
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

/* New series j is between two members of its class: out has the share of the second. */
static void draw_new(const struct oversampling *work, size_t j, size_t *a, size_t *b, float *share)
{
    struct random_stream stream = stream_of(work, j);
    size_t base = (size_t)random_below(&stream, work->count), other = base;

    *share = 0;
    if (work->nearest) {
        other = work->nearest[work->row_of[base] * work->neighbours +
                              random_below(&stream, work->neighbours)];
        *share = random_uniform_float(&stream);
    }
    *a = work->members[base];
    *b = work->members[other];
}

static struct error *prepare_class(struct oversampling *work)
{
    if (work->options->method != BALANCE_SMOTE || work->count <= 1 || work->missing == 0)
        return NULL;
    work->neighbours = size_min(work->options->neighbours, work->count - 1);
    return search_neighbours(work);
}

/* ---- All classes ---- */

static size_t missing_of(size_t count, size_t target)
{
    return count > 0 && count < target ? target - count : 0;
}

/* A dataset at work. */
struct balancing {
    const struct dataset *from;
    struct class_lists lists;
    struct oversampling *classes; /* (V,) */
    /* The block at work. */
    size_t begin;
    float *x;
};

/* The class of new series `at` of the result. */
static const struct oversampling *class_at(const struct balancing *balancing, size_t at)
{
    const struct oversampling *work = balancing->classes;

    while (at - work->first >= work->missing)
        work++;
    return work;
}

/* Row `at` of the result, of an array of the source whose rows have that width. */
static void make_row(const struct balancing *balancing, const float *rows, size_t width, size_t at,
                     float *out)
{
    const struct oversampling *work;
    size_t a, b;
    float share;

    if (at < balancing->from->count) {
        memcpy(out, rows + at * width, width * sizeof *out);
        return;
    }
    work = class_at(balancing, at);
    draw_new(work, at - work->first, &a, &b, &share);
    interpolate(rows + a * width, rows + b * width, share, width, out);
}

static void make_series(void *context, size_t i, unsigned worker)
{
    const struct balancing *balancing = context;
    const size_t size = dataset_series_size(balancing->from);

    (void)worker;
    make_row(balancing, balancing->from->x, size, balancing->begin + i, balancing->x + i * size);
}

static struct error *make_block(void *context, size_t first, size_t count, float *x)
{
    struct balancing *balancing = context;

    balancing->begin = first;
    balancing->x = x;
    dataset_passed(balancing->from, size_min(first, balancing->from->count));
    parallel_for(count, make_series, balancing);
    return NULL;
}

/* How many series each class gets; *total: all classes together. */
static struct error *plan(struct balancing *balancing, const struct balance_options *options,
                          size_t *total)
{
    const struct dataset *from = balancing->from;
    const size_t target = options->target ? options->target : balancing->lists.largest;

    *total = from->count;
    for (size_t v = 0; v < from->classes; v++) {
        struct oversampling *work = &balancing->classes[v];
        size_t count = class_size(&balancing->lists, v);

        *work = (struct oversampling){.from = from,
                                      .options = options,
                                      .label = v,
                                      .members = class_members(&balancing->lists, v),
                                      .count = count,
                                      .first = *total,
                                      .missing = missing_of(count, target)};
        if (__builtin_add_overflow(*total, work->missing, total))
            return error_memory("the balanced dataset");
    }
    return NULL;
}

/* Labels, soft labels and texts of the result. */
static struct error *fill_labels(const struct balancing *balancing, struct dataset *balanced)
{
    const struct dataset *from = balancing->from;
    const size_t classes = from->classes;

    balanced->flat = from->flat;
    memcpy(balanced->y, from->y, from->count * sizeof *from->y);
    for (size_t i = from->count; i < balanced->count; i++)
        balanced->y[i] = (int32_t)class_at(balancing, i)->label;
    for (size_t i = 0; from->soft && i < balanced->count; i++)
        make_row(balancing, from->soft, classes, i, balanced->soft + i * classes);
    return dataset_copy_texts(from, balanced);
}

static struct error *prepare(struct balancing *balancing, const struct balance_options *options,
                             struct dataset *balanced)
{
    const struct dataset *from = balancing->from;
    size_t total;

    if (options->neighbours == 0 || options->neighbours > BALANCE_MOST_NEIGHBOURS)
        return error_make("%zu neighbours; 1 to %d can be used", options->neighbours,
                          BALANCE_MOST_NEIGHBOURS);
    TRY(class_lists_make(from->y, from->count, from->classes, &balancing->lists));
    balancing->classes = calloc(from->classes, sizeof *balancing->classes);
    if (!balancing->classes)
        return error_memory("class counts");
    TRY(plan(balancing, options, &total));
    TRY(dataset_new_made(total, from->channels, from->length, from->classes, make_block, balancing,
                         balanced));
    if (from->soft)
        TRY(dataset_add_soft(balanced));
    for (size_t v = 0; v < from->classes; v++)
        TRY(prepare_class(&balancing->classes[v]));
    return fill_labels(balancing, balanced);
}

struct error *balance_begin(const struct dataset *dataset, const struct balance_options *options,
                            struct balancing **balancing, struct dataset *balanced)
{
    struct error *error;

    memset(balanced, 0, sizeof *balanced);
    *balancing = calloc(1, sizeof **balancing);
    if (!*balancing)
        return error_memory("the balanced dataset");
    (*balancing)->from = dataset;
    error = prepare(*balancing, options, balanced);
    if (error) {
        balance_end(*balancing);
        *balancing = NULL;
        dataset_free(balanced);
    }
    return error;
}

void balance_end(struct balancing *balancing)
{
    if (!balancing)
        return;
    for (size_t v = 0; balancing->classes && v < balancing->from->classes; v++) {
        free(balancing->classes[v].wanted);
        free(balancing->classes[v].row_of);
        free(balancing->classes[v].nearest);
    }
    free(balancing->classes);
    class_lists_free(&balancing->lists);
    free(balancing);
}

struct error *balance(const struct dataset *dataset, const struct balance_options *options,
                      struct dataset *balanced)
{
    struct balancing *balancing;
    struct error *error;

    TRY(balance_begin(dataset, options, &balancing, balanced));
    error = dataset_hold(balanced);
    balance_end(balancing);
    if (error)
        dataset_free(balanced);
    return error;
}
