#include "match/start.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "choose/coreset.h"
#include "choose/start.h"

enum { BATCH = 256 };

/* Rounds of one series per class, as choose/start.h has them, to class by class. */
static struct error *start_plain(const struct match_options *options, const struct dataset *set,
                                 enum start_kind kind, float *x, size_t *repeated)
{
    size_t series = set->channels * set->length, classes = set->classes;
    size_t per_class = options->per_class;
    float *rounds = calloc(per_class * classes, series * sizeof *rounds);
    struct error *error;

    if (!rounds)
        return error_memory("the first series");
    error = start_series(set, kind, per_class, options->seed, rounds, repeated);
    for (size_t v = 0; v < classes; v++)
        for (size_t i = 0; i < per_class; i++)
            memcpy(x + (v * per_class + i) * series, rounds + (i * classes + v) * series,
                   series * sizeof *x);
    free(rounds);
    return error;
}

/* ---- By an expert's embedding ---- */

/* Embeddings (N, embedding) at an expert's last point.  An expert has no running statistics: batch
 * normalisation takes those of each batch. */
static struct error *embed_set(const struct model *model, const float *point,
                               const struct dataset *set, float *embeddings)
{
    size_t series = set->channels * set->length;
    struct model_batch batch = {.parameters = point, .training = true};
    struct model_run *run = NULL;
    struct error *error;

    batch.buffers = calloc(model->buffer_count + 1, sizeof *batch.buffers);
    if (!batch.buffers)
        return error_memory("embeddings");
    error = model_run_new(model, BATCH, 0, &run);
    for (size_t first = 0; !error && first < set->count; first += BATCH) {
        batch.count = set->count - first < BATCH ? set->count - first : BATCH;
        batch.x = set->x + first * series;
        model_forward(run, &batch);
        model_embedding(run, embeddings + first * model->embedding);
    }
    model_run_free(run);
    free(batch.buffers);
    return error;
}

/* The real series nearest to the centres of clusters of points, one point for each series. */
static struct error *start_nearest(const struct match_options *options, const struct dataset *set,
                                   const float *points, size_t dimension, float *x)
{
    struct coreset_options coreset = {
        .method = CORESET_KMEANS, .per_class = options->per_class, .seed = options->seed};
    size_t series = set->channels * set->length, count = options->per_class * set->classes;
    size_t *chosen = calloc(count, sizeof *chosen);
    struct error *error = chosen ? NULL : error_memory("the first series");

    if (!error)
        error =
            coreset_select(points, set->count, dimension, set->y, set->classes, &coreset, chosen);
    for (size_t i = 0; !error && i < count; i++)
        memcpy(x + i * series, set->x + chosen[i] * series, series * sizeof *x);
    free(chosen);
    return error;
}

static struct error *start_embedded(const struct match_options *options, const struct dataset *set,
                                    float *x)
{
    const struct experts *experts = options->experts;
    struct model model;
    struct error *error;
    float *points;

    TRY(model_new_on(&experts->architecture, experts->two_towers, options->backend, &model));
    points = calloc(set->count, model.embedding * sizeof *points);
    error = points ? NULL : error_memory("embeddings");
    if (!error)
        error = embed_set(&model, experts_point(experts, 0, experts->epochs), set, points);
    if (!error)
        error = start_nearest(options, set, points, model.embedding, x);
    free(points);
    model_free(&model);
    return error;
}

/* Whether a class has so many series of which none is a copy of another (sc-balance makes copies):
 * condensed series that start alike stay alike.  distinct: room for as many numbers. */
static bool class_has(const struct class_lists *lists, size_t label, size_t wanted,
                      size_t *distinct)
{
    const struct dataset *set = lists->set;
    size_t series = set->channels * set->length, found = 0;

    for (size_t m = lists->first[label]; m < lists->first[label + 1] && found < wanted; m++) {
        const float *x = set->x + lists->members[m] * series;
        size_t other = 0;

        while (other < found &&
               memcmp(x, set->x + distinct[other] * series, series * sizeof *x) != 0)
            other++;
        if (other == found)
            distinct[found++] = lists->members[m];
    }
    return found == wanted;
}

static struct error *check_enough(const struct class_lists *lists, size_t per_class, bool *enough)
{
    size_t *distinct = calloc(per_class, sizeof *distinct);

    if (!distinct)
        return error_memory("the first series");
    *enough = true;
    for (size_t v = 0; *enough && v < lists->classes; v++)
        *enough = class_has(lists, v, per_class, distinct);
    free(distinct);
    return NULL;
}

struct error *match_start(const struct match_options *options, const struct class_lists *lists,
                          float *x, size_t *repeated)
{
    const struct dataset *set = lists->set;
    bool enough = false;

    *repeated = 0;
    if (options->start == MATCH_START_NOISE)
        return start_plain(options, set, START_NOISE, x, repeated);
    TRY(check_enough(lists, options->per_class, &enough));
    if (options->start == MATCH_START_REAL || !enough)
        return start_plain(options, set, START_REAL, x, repeated);
    if (options->experts)
        return start_embedded(options, set, x);
    return start_nearest(options, set, set->x, set->channels * set->length, x);
}
