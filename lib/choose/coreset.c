#include "choose/coreset.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/random.h"
#include "base/scratch.h"
#include "choose/kmeans.h"
#include "data/classes.h"

/* The points of one class, and room to work on them. */
struct class_points {
    size_t label;
    size_t count;
    size_t dimension;
    float *values;        /* (count, dimension) */
    struct points points; /* the same */
    size_t *indices;      /* (count,) of the series in the dataset; owned by the lists */
    bool *taken;          /* (count,) */
    double *mean;         /* (dimension,) */
    double *sum;          /* (dimension,) of those chosen */
    double *target;       /* (dimension,) that the next one is to be near to */
    double *nearest;      /* (count,) squared distance to the nearest one chosen */
    float *scratch;       /* (count + dimension,) */
};

static void class_free(struct class_points *class)
{
    scratch_free(class->values);
    points_free(&class->points);
    free(class->taken);
    free(class->mean);
    free(class->sum);
    free(class->target);
    free(class->nearest);
    free(class->scratch);
}

static struct error *class_gather(const float *points, size_t dimension,
                                  const struct class_lists *lists, struct class_points *class)
{
    size_t members = class_size(lists, class->label);

    class->dimension = dimension;
    class->values = scratch_new(members ? members : 1, dimension * sizeof *class->values);
    class->taken = calloc(members + 1, sizeof *class->taken);
    class->mean = calloc(dimension, sizeof *class->mean);
    class->sum = calloc(dimension, sizeof *class->sum);
    class->target = calloc(dimension, sizeof *class->target);
    class->nearest = calloc(members + 1, sizeof *class->nearest);
    class->scratch = calloc(members + dimension, sizeof *class->scratch);
    if (!class->values || !class->taken || !class->mean || !class->sum || !class->target ||
        !class->nearest || !class->scratch)
        return error_memory("the series of a class");
    for (size_t i = 0; i < members; i++) {
        const float *point = points + class->indices[i] * dimension;

        memcpy(class->values + i * dimension, point, dimension * sizeof *point);
        for (size_t d = 0; d < dimension; d++)
            class->mean[d] += (double)point[d];
    }
    for (size_t d = 0; d < dimension; d++)
        class->mean[d] /= (double)(members ? members : 1);
    return points_make(class->values, class->count, dimension, &class->points);
}

/* The point not taken yet that brings the mean of those chosen closest to the mean of the class:
 * (sum + p) / (chosen + 1) is near the mean where p is near (chosen + 1) mean - sum. */
static size_t herding_next(const struct class_points *class, size_t chosen)
{
    for (size_t d = 0; d < class->dimension; d++)
        class->target[d] = (double)(chosen + 1) * class->mean[d] - class->sum[d];
    return nearest_to(&class->points, class->target, class->taken, class->scratch);
}

static size_t kcenter_next(struct class_points *class, size_t chosen, size_t last)
{
    size_t best = 0;
    double most = -1;

    if (chosen == 0) /* nearest to the mean: what herding takes first, too */
        return herding_next(class, 0);
    for (size_t i = 0; chosen == 1 && i < class->count; i++)
        class->nearest[i] = INFINITY;
    nearest_lower(&class->points, class->values + last * class->dimension, class->nearest);
    for (size_t i = 0; i < class->count; i++) {
        if (!class->taken[i] && class->nearest[i] > most) {
            most = class->nearest[i];
            best = i;
        }
    }
    return best;
}

static void take(struct class_points *class, size_t index)
{
    class->taken[index] = true;
    for (size_t d = 0; d < class->dimension; d++)
        class->sum[d] += (double)class->values[index * class->dimension + d];
}

static void select_greedily(struct class_points *class, bool herding, size_t per_class,
                            size_t *chosen)
{
    size_t next = 0;

    for (size_t k = 0; k < per_class; k++) {
        next = herding ? herding_next(class, k) : kcenter_next(class, k, next);
        take(class, next);
        chosen[k] = class->indices[next];
    }
}

static void select_at_random(struct class_points *class, size_t per_class, uint64_t seed,
                             size_t *chosen)
{
    struct random_stream stream = random_stream(seed, RANDOM_SELECT, class->label);

    random_shuffle(&stream, class->indices, class->count);
    memcpy(chosen, class->indices, per_class * sizeof *chosen);
}

static struct error *select_by_clusters(struct class_points *class, size_t per_class, uint64_t seed,
                                        size_t *chosen)
{
    struct random_stream stream = random_stream(seed, RANDOM_SELECT, class->label);
    struct kmeans kmeans;

    TRY(kmeans_fit(class->values, class->count, class->dimension, per_class, 300, &stream,
                   &kmeans));
    for (size_t k = 0; k < per_class; k++) {
        size_t best;

        for (size_t d = 0; d < class->dimension; d++)
            class->target[d] = (double)kmeans.centres[k * class->dimension + d];
        best = nearest_to(&class->points, class->target, class->taken, class->scratch);
        class->taken[best] = true;
        chosen[k] = class->indices[best];
    }
    kmeans_free(&kmeans);
    return NULL;
}

/* Only the methods that compare series gather them. */
static struct error *select_of_class(const float *points, size_t dimension,
                                     const struct class_lists *lists, struct class_points *class,
                                     const struct coreset_options *options, size_t *chosen)
{
    size_t per_class = options->per_class;

    class->count = class_size(lists, class->label);
    class->indices = class_members(lists, class->label);
    if (class->count < per_class)
        return error_make("class %zu has %zu series, %zu are wanted", class->label, class->count,
                          per_class);
    if (options->method != CORESET_RANDOM)
        TRY(class_gather(points, dimension, lists, class));
    switch (options->method) {
    case CORESET_RANDOM:
        select_at_random(class, per_class, options->seed, chosen);
        break;
    case CORESET_HERDING:
    case CORESET_KCENTER:
        select_greedily(class, options->method == CORESET_HERDING, per_class, chosen);
        break;
    case CORESET_KMEANS:
        return select_by_clusters(class, per_class, options->seed, chosen);
    }
    return NULL;
}

struct error *coreset_select(const float *points, size_t count, size_t dimension,
                             const int32_t *labels, size_t classes,
                             const struct coreset_options *options, size_t *chosen)
{
    struct class_lists lists;
    struct error *error = class_lists_make(labels, count, classes, &lists);

    for (size_t label = 0; !error && label < classes; label++) {
        struct class_points class = {.label = label};

        error = select_of_class(points, dimension, &lists, &class, options,
                                chosen + label * options->per_class);
        class_free(&class);
    }
    class_lists_free(&lists);
    return error;
}
