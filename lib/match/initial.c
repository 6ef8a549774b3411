#include "match/initial.h"

#include <stdlib.h>

#include "choose/start.h"

enum { BATCH = 256 };

/* Embeddings (N, embedding) at an expert's last point.  An expert has no running statistics: batch
 * normalisation takes those of each batch. */
static struct error *embed_dataset(const struct model *model, const float *point,
                                   const struct dataset *dataset, float *embeddings)
{
    size_t series = dataset_series_size(dataset);
    struct model_batch batch = {.parameters = point, .training = true};
    struct model_run *run = NULL;
    struct error *error;

    batch.buffers = calloc(model->buffer_count + 1, sizeof *batch.buffers);
    if (!batch.buffers)
        return error_memory("embeddings");
    error = model_run_new(model, BATCH, 0, &run);
    for (size_t first = 0; !error && first < dataset->count; first += BATCH) {
        batch.count = dataset->count - first < BATCH ? dataset->count - first : BATCH;
        batch.x = dataset->x + first * series;
        model_forward(run, &batch);
        model_embedding(run, embeddings + first * model->embedding);
    }
    model_run_free(run);
    free(batch.buffers);
    return error;
}

struct error *initial_series(const struct match_options *options, const struct dataset *dataset,
                             float *x, size_t *repeated)
{
    const struct experts *experts = options->experts;
    struct start_options start = {.kind = options->start == MATCH_START_NOISE  ? START_NOISE
                                          : options->start == MATCH_START_REAL ? START_REAL
                                                                               : START_NEAREST,
                                  .per_class = options->per_class,
                                  .seed = options->seed,
                                  .by_class = true};
    struct model model;
    struct error *error;
    float *points;

    if (start.kind != START_NEAREST || !experts)
        return start_series(dataset, &start, x, repeated);
    TRY(model_new_on(&experts->architecture, experts->two_towers, options->backend, &model));
    model.cluster = options->cluster;
    points = calloc(dataset->count, model.embedding * sizeof *points);
    error = points ? NULL : error_memory("embeddings");
    if (!error)
        error = embed_dataset(&model, experts_point(experts, 0, experts->epochs), dataset, points);
    start.points = points;
    start.dimension = model.embedding;
    if (!error)
        error = start_series(dataset, &start, x, repeated);
    free(points);
    model_free(&model);
    return error;
}
