/* Distances are summed up here again, in double precision and plain order: those of the transform
 * depend on the machine in their last bits, and a pool must not. */
#include "shapelets/standardise.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "shapelets/transform_internal.h"

static const double weight = 512;

struct measure {
    const struct transform *transform; /* where each shapelet is tried */
    const struct dataset *dataset;
    size_t first;      /* series that is the first task */
    double *distances; /* (N, K) */
};

static void measure_series(void *context, size_t task, unsigned worker)
{
    const struct measure *measure = context;
    const struct transform *transform = measure->transform;
    const struct dataset *dataset = measure->dataset;
    size_t i = measure->first + task;

    (void)worker;
    for (size_t k = 0; k < transform->count; k++) {
        const struct transform_shapelet *shapelet = &transform->shapelets[k];
        size_t place;
        double square =
            transform_least_square(shapelet, dataset_series(dataset, i, shapelet->channel), &place);

        if (transform->length_normalised)
            square /= (double)shapelet->length;
        measure->distances[i * transform->count + k] = sqrt(square);
    }
}

/* Offset and scale of shapelet k, from a column of the distances.  They are floats, and so are the
 * features. */
static struct error *set_scaling(const double *distances, size_t count, size_t shapelets, size_t k,
                                 struct shapelet *shapelet)
{
    double mean = 0, variance = 0, most = 0, deviation;

    for (size_t i = 0; i < count; i++) {
        mean += distances[i * shapelets + k];
        most = fmax(most, distances[i * shapelets + k]);
    }
    mean /= (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = distances[i * shapelets + k] - mean;

        variance += off * off;
    }
    deviation = sqrt(variance / (double)count);
    shapelet->offset = (float)mean;
    shapelet->scale = 1;
    if (deviation > 1e-6 * mean)
        shapelet->scale = (float)(sqrt(weight / (double)shapelets) / deviation);
    if (!(most < FLT_MAX) || !isnormal(shapelet->scale))
        return error_make("shapelet %zu, channel %zu: distances of up to %.3g, which vary by %.3g, "
                          "are too %s for 32-bit floats: scale the series first (sc-scale)",
                          k, (size_t)shapelet->channel, most, deviation,
                          most < 1 ? "small" : "large");
    return NULL;
}

struct error *pool_standardise(struct shapelet_pool *pool, const struct dataset *dataset,
                               struct cluster *cluster)
{
    struct transform transform;
    struct measure measure = {.transform = &transform, .dataset = dataset};
    struct error *error;
    size_t end;

    pool->standardised = false;
    if (dataset->count == 0)
        return error_make("no series to standardise distances by");
    TRY(transform_make(pool, dataset->channels, dataset->length, TRANSFORM_AS_FOUND, &transform));
    measure.distances = calloc(dataset->count, (pool->count + 1) * sizeof *measure.distances);
    if (!measure.distances) {
        transform_free(&transform);
        return error_memory("shapelet features");
    }
    cluster_part(cluster, dataset->count, 1, &measure.first, &end);
    parallel_for(end - measure.first, measure_series, &measure);
    error = cluster_share(cluster, measure.distances, dataset->count,
                          pool->count * sizeof *measure.distances, 1);
    for (size_t k = 0; !error && k < pool->count; k++)
        error = set_scaling(measure.distances, dataset->count, pool->count, k, &pool->shapelets[k]);
    pool->standardised = !error;
    free(measure.distances);
    transform_free(&transform);
    return error;
}
