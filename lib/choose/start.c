#include "choose/start.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/scale.h"
#include "choose/kmeans.h"

static const double repeat_noise = 0.1;
enum { KMEANS_ITERATIONS = 300 };

struct start {
    const struct dataset *set;
    struct scale scale; /* mean and deviation of the channels */
    size_t per_class;
    size_t series; /* floats of one */
    float *x;      /* (per_class, V, C, L) */
    size_t repeated;
};

static float *place(const struct start *start, size_t round, size_t label)
{
    return start->x + (round * start->set->classes + label) * start->series;
}

/* x += weight * mean + noise * N(0, deviation), channel by channel. */
static void add_noise(const struct start *start, struct random_stream *stream, double weight,
                      double noise, float *x)
{
    size_t length = start->set->length;

    for (size_t c = 0; c < start->set->channels; c++)
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

/* The first `filled` rounds have series; the others take them again, under noise. */
static void repeat(struct start *start, size_t label, size_t filled, struct random_stream *stream)
{
    for (size_t round = filled; round < start->per_class; round++) {
        float *x = place(start, round, label);

        memcpy(x, place(start, round % filled, label), start->series * sizeof *x);
        add_noise(start, stream, 0, repeat_noise, x);
        start->repeated++;
    }
}

/* Takes those of the points that are not there yet, in order. */
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
        memcpy(points + i * start->series, start->set->x + members[i] * start->series,
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
                                 size_t *members, size_t count, struct random_stream *stream)
{
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
    take_distinct(start, label, start->set->x, members, count, stream);
    return NULL;
}

struct error *start_series(const struct dataset *set, enum start_kind kind, size_t per_class,
                           uint64_t seed, float *x, size_t *repeated)
{
    struct start start = {
        .set = set, .per_class = per_class, .series = set->channels * set->length, .x = x};
    size_t *members = malloc(set->count * sizeof *members);
    struct error *error = members ? NULL : error_memory("the series of a class");

    memset(x, 0, per_class * set->classes * start.series * sizeof *x);
    if (!error)
        error = scale_fit(set, &start.scale);
    for (size_t label = 0; !error && label < set->classes; label++) {
        struct random_stream stream = random_stream(seed, RANDOM_SYNTHESISE, label);
        size_t count = 0;

        for (size_t i = 0; i < set->count; i++)
            if ((size_t)set->y[i] == label)
                members[count++] = i;
        error = start_class(&start, kind, label, members, count, &stream);
    }
    *repeated = start.repeated;
    scale_free(&start.scale);
    free(members);
    return error;
}
