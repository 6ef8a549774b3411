#include "choose/start.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "choose/coreset.h"
#include "choose/kmeans.h"
#include "data/classes.h"
#include "data/scale.h"

static const double repeat_noise = 0.1;
enum { KMEANS_ITERATIONS = 300 };

struct start {
    const struct dataset *dataset;
    const struct start_options *options;
    struct scale scale; /* mean and deviation of the channels */
    struct class_lists lists;
    size_t per_class;
    size_t series; /* floats of one */
    float *x;
    size_t repeated;
};

/* Where series number `round` of a class goes. */
static float *place(const struct start *start, size_t round, size_t label)
{
    size_t at = start->options->by_class ? label * start->per_class + round
                                         : round * start->dataset->classes + label;

    return start->x + at * start->series;
}

/* x += weight * mean + noise * N(0, deviation), channel by channel. */
static void add_noise(const struct start *start, struct random_stream *stream, double weight,
                      double noise, float *x)
{
    size_t length = start->dataset->length;

    for (size_t c = 0; c < start->dataset->channels; c++)
        for (size_t t = 0; t < length; t++)
            x[c * length + t] += (float)(weight * start->scale.mean[c] +
                                         noise * start->scale.deviation[c] * random_normal(stream));
}

/* Whether an earlier round has the same series. */
static bool is_taken(const struct start *start, size_t rounds, size_t label, const float *x)
{
    for (size_t round = 0; round < rounds; round++)
        if (memcmp(place(start, round, label), x, start->series * sizeof *x) == 0)
            return true;
    return false;
}

/* The first `filled` rounds have series; the others repeat them with noise added. */
static void repeat(struct start *start, size_t label, size_t filled, struct random_stream *stream)
{
    for (size_t round = filled; round < start->per_class; round++) {
        float *x = place(start, round, label);

        memcpy(x, place(start, round % filled, label), start->series * sizeof *x);
        add_noise(start, stream, 0, repeat_noise, x);
        start->repeated++;
    }
}

/* Takes the points in order, leaving out those that are there already. */
static void take_distinct(struct start *start, size_t label, const float *points,
                          const size_t *order, size_t count, struct random_stream *stream)
{
    size_t filled = 0;

    for (size_t i = 0; i < count && filled < start->per_class; i++) {
        const float *x = points + order[i] * start->series;

        if (!is_taken(start, filled, label, x))
            memcpy(place(start, filled++, label), x, start->series * sizeof *x);
    }
    repeat(start, label, filled, stream);
}

static struct error *start_at_centres(struct start *start, size_t label, const size_t *members,
                                      size_t count, struct random_stream *stream)
{
    size_t clusters = start->per_class < count ? start->per_class : count;
    float *points = malloc(count * start->series * sizeof *points);
    size_t *order = malloc(clusters * sizeof *order);
    struct error *error = points && order ? NULL : error_memory("the series of a class");
    struct kmeans kmeans;

    for (size_t i = 0; !error && i < count; i++)
        memcpy(points + i * start->series, start->dataset->x + members[i] * start->series,
               start->series * sizeof *points);
    for (size_t i = 0; !error && i < clusters; i++)
        order[i] = i;
    if (!error)
        error =
            kmeans_fit(points, count, start->series, clusters, KMEANS_ITERATIONS, stream, &kmeans);
    if (!error) {
        take_distinct(start, label, kmeans.centres, order, clusters, stream);
        kmeans_free(&kmeans);
    }
    free(points);
    free(order);
    return error;
}

static struct error *start_class(struct start *start, enum start_kind kind, size_t label,
                                 struct random_stream *stream)
{
    size_t *members = class_members(&start->lists, label), count = class_size(&start->lists, label);

    if (kind == START_NOISE) {
        for (size_t round = 0; round < start->per_class; round++)
            add_noise(start, stream, 1, 1, place(start, round, label));
        return NULL;
    }
    if (count == 0)
        return error_make("class %zu has no series to start from", label);
    if (kind == START_KMEANS)
        return start_at_centres(start, label, members, count, stream);
    random_shuffle(stream, members, count);
    take_distinct(start, label, start->dataset->x, members, count, stream);
    return NULL;
}

/* ---- Nearest to centres ---- */

/* Whether a class has `wanted` series of which none is a copy of another.  distinct: as many
 * numbers. */
static bool class_has(const struct start *start, size_t label, size_t wanted, size_t *distinct)
{
    const size_t *members = class_members(&start->lists, label);
    size_t found = 0;

    for (size_t m = 0; m < class_size(&start->lists, label) && found < wanted; m++) {
        const float *x = start->dataset->x + members[m] * start->series;
        size_t other = 0;

        while (other < found && memcmp(x, start->dataset->x + distinct[other] * start->series,
                                       start->series * sizeof *x) != 0)
            other++;
        if (other == found)
            distinct[found++] = members[m];
    }
    return found == wanted;
}

static struct error *check_distinct(const struct start *start, bool *enough)
{
    size_t *distinct = calloc(start->per_class, sizeof *distinct);

    if (!distinct)
        return error_memory("the first series");
    *enough = true;
    for (size_t v = 0; *enough && v < start->dataset->classes; v++)
        *enough = class_has(start, v, start->per_class, distinct);
    free(distinct);
    return NULL;
}

static struct error *start_nearest(const struct start *start)
{
    const struct start_options *options = start->options;
    const struct dataset *dataset = start->dataset;
    struct coreset_options coreset = {
        .method = CORESET_KMEANS, .per_class = options->per_class, .seed = options->seed};
    size_t *chosen = calloc(dataset->classes, options->per_class * sizeof *chosen);
    struct error *error = chosen ? NULL : error_memory("the first series");

    if (!error)
        error = coreset_select(options->points ? options->points : dataset->x, dataset->count,
                               options->points ? options->dimension : start->series, dataset->y,
                               dataset->classes, &coreset, chosen);
    for (size_t v = 0; !error && v < dataset->classes; v++)
        for (size_t i = 0; i < start->per_class; i++)
            memcpy(place(start, i, v),
                   dataset->x + chosen[v * start->per_class + i] * start->series,
                   start->series * sizeof *dataset->x);
    free(chosen);
    return error;
}

/* ---- All classes ---- */

static struct error *fill(struct start *start)
{
    const struct dataset *dataset = start->dataset;
    enum start_kind kind = start->options->kind;
    bool enough = false;

    TRY(scale_fit(dataset, &start->scale));
    TRY(class_lists_make(dataset->y, dataset->count, dataset->classes, &start->lists));
    if (kind == START_NEAREST)
        TRY(check_distinct(start, &enough));
    if (enough)
        return start_nearest(start);
    for (size_t label = 0; label < dataset->classes; label++) {
        struct random_stream stream = random_stream(start->options->seed, RANDOM_SYNTHESISE, label);

        TRY(start_class(start, kind, label, &stream));
    }
    return NULL;
}

struct error *start_series(const struct dataset *dataset, const struct start_options *options,
                           float *x, size_t *repeated)
{
    struct start start = {.dataset = dataset,
                          .options = options,
                          .per_class = options->per_class,
                          .series = dataset_series_size(dataset),
                          .x = x};
    struct error *error;

    memset(x, 0, options->per_class * dataset->classes * start.series * sizeof *x);
    error = fill(&start);
    *repeated = start.repeated;
    scale_free(&start.scale);
    class_lists_free(&start.lists);
    return error;
}
