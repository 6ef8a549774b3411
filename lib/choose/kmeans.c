/* Distances are matrix products (base/nearest.h).  Those from the own centres are needed in full
 * only for the start, where a cluster has lost its points, and at the end. */
#include "choose/kmeans.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parallel.h"

/* Points of one task: the cut depends on the problem alone. */
enum { BLOCK = 256 };

struct work {
    struct points points, centres;
    struct kmeans *kmeans;
    double *nearest; /* (count,) squared distance to the own centre */
    float *scratch;  /* of nearest_assign */
    size_t *before;  /* (count,) assigned before */
    double *sums;    /* (clusters, dimension) */
    size_t *sizes;   /* (clusters,) */
};

/* ---- The start ---- */

/* A point with probability proportional to its distance from the nearest centre so far. */
static size_t draw_far_point(const double *nearest, size_t count, struct random_stream *stream)
{
    double total = 0, target;

    for (size_t i = 0; i < count; i++)
        total += nearest[i];
    if (!(total > 0)) /* all points are centres already */
        return (size_t)random_below(stream, count);
    target = random_uniform(stream) * total;
    for (size_t i = 0; i < count; i++) {
        target -= nearest[i];
        if (target < 0)
            return i;
    }
    return count - 1;
}

static void start_centres(struct work *work, struct random_stream *stream)
{
    struct kmeans *kmeans = work->kmeans;
    const size_t count = kmeans->count, dimension = kmeans->dimension;

    for (size_t i = 0; i < count; i++)
        work->nearest[i] = INFINITY;
    for (size_t c = 0; c < kmeans->clusters; c++) {
        size_t chosen = c == 0 ? (size_t)random_below(stream, count)
                               : draw_far_point(work->nearest, count, stream);
        float *centre = kmeans->centres + c * dimension;

        memcpy(centre, work->points.values + chosen * dimension, dimension * sizeof *centre);
        nearest_lower(&work->points, centre, work->nearest);
    }
}

/* ---- Iterations ---- */

static void assign(struct work *work)
{
    points_update(&work->centres);
    nearest_assign(&work->points, &work->centres, work->scratch, work->kmeans->assigned);
}

static void measure_block(void *context, size_t task, unsigned worker)
{
    struct work *work = context;
    const struct kmeans *kmeans = work->kmeans;
    const size_t dimension = kmeans->dimension;
    size_t end = (task + 1) * BLOCK < kmeans->count ? (task + 1) * BLOCK : kmeans->count;

    (void)worker;
    for (size_t i = task * BLOCK; i < end; i++)
        work->nearest[i] =
            squared_distance(work->points.values + i * dimension,
                             kmeans->centres + kmeans->assigned[i] * dimension, dimension);
}

/* Distances from the own centres. */
static void measure(struct work *work)
{
    parallel_for((work->kmeans->count + BLOCK - 1) / BLOCK, measure_block, work);
}

static size_t farthest_point(const double *nearest, size_t count)
{
    size_t farthest = 0;

    for (size_t i = 1; i < count; i++) {
        if (nearest[i] > nearest[farthest])
            farthest = i;
    }
    return farthest;
}

/* Sums and numbers of the points of each cluster; whether one has none. */
static bool add_up(struct work *work)
{
    struct kmeans *kmeans = work->kmeans;
    const size_t dimension = kmeans->dimension;
    bool empty = false;

    memset(work->sums, 0, kmeans->clusters * dimension * sizeof *work->sums);
    memset(work->sizes, 0, kmeans->clusters * sizeof *work->sizes);
    for (size_t i = 0; i < kmeans->count; i++) {
        double *sum = work->sums + kmeans->assigned[i] * dimension;

        work->sizes[kmeans->assigned[i]]++;
        for (size_t d = 0; d < dimension; d++)
            sum[d] += (double)work->points.values[i * dimension + d];
    }
    for (size_t c = 0; c < kmeans->clusters; c++)
        empty = empty || work->sizes[c] == 0;
    return empty;
}

/* To the means of the points of each cluster. */
static void move_centres(struct work *work)
{
    struct kmeans *kmeans = work->kmeans;
    const size_t dimension = kmeans->dimension;

    if (add_up(work))
        measure(work);
    for (size_t c = 0; c < kmeans->clusters; c++) {
        float *centre = kmeans->centres + c * dimension;

        if (work->sizes[c] == 0) {
            size_t taken = farthest_point(work->nearest, kmeans->count);

            memcpy(centre, work->points.values + taken * dimension, dimension * sizeof *centre);
            work->nearest[taken] = 0;
            continue;
        }
        for (size_t d = 0; d < dimension; d++)
            centre[d] = (float)(work->sums[c * dimension + d] / (double)work->sizes[c]);
    }
}

static void iterate(struct work *work, size_t most)
{
    struct kmeans *kmeans = work->kmeans;
    const size_t bytes = kmeans->count * sizeof *kmeans->assigned;
    bool changed = true;

    assign(work);
    for (kmeans->iterations = 0; changed && kmeans->iterations < most; kmeans->iterations++) {
        memcpy(work->before, kmeans->assigned, bytes);
        move_centres(work);
        assign(work);
        changed = memcmp(work->before, kmeans->assigned, bytes) != 0;
    }
    measure(work);
    kmeans->inertia = 0;
    for (size_t i = 0; i < kmeans->count; i++)
        kmeans->inertia += work->nearest[i];
}

static struct error *make_work(const float *points, struct kmeans *kmeans, struct work *work)
{
    size_t count = kmeans->count, dimension = kmeans->dimension, clusters = kmeans->clusters;

    kmeans->centres = calloc(clusters * dimension, sizeof *kmeans->centres);
    kmeans->assigned = calloc(count, sizeof *kmeans->assigned);
    *work = (struct work){.kmeans = kmeans};
    work->nearest = calloc(count, sizeof *work->nearest);
    work->scratch = malloc(nearest_scratch(clusters));
    work->before = calloc(count, sizeof *work->before);
    work->sums = calloc(clusters * dimension, sizeof *work->sums);
    work->sizes = calloc(clusters, sizeof *work->sizes);
    if (!kmeans->centres || !kmeans->assigned || !work->nearest || !work->scratch ||
        !work->before || !work->sums || !work->sizes)
        return error_memory("k-means");
    TRY(points_make(points, count, dimension, &work->points));
    return points_make(kmeans->centres, clusters, dimension, &work->centres);
}

static void free_work(struct work *work)
{
    points_free(&work->points);
    points_free(&work->centres);
    free(work->nearest);
    free(work->scratch);
    free(work->before);
    free(work->sums);
    free(work->sizes);
}

struct error *kmeans_fit(const float *points, size_t count, size_t dimension, size_t clusters,
                         size_t most_iterations, struct random_stream *stream,
                         struct kmeans *kmeans)
{
    struct work work;
    struct error *error;

    *kmeans = (struct kmeans){.clusters = clusters, .dimension = dimension, .count = count};
    error = make_work(points, kmeans, &work);
    if (error) {
        kmeans_free(kmeans);
    } else {
        start_centres(&work, stream);
        iterate(&work, most_iterations);
    }
    free_work(&work);
    return error;
}

void kmeans_free(struct kmeans *kmeans)
{
    free(kmeans->centres);
    free(kmeans->assigned);
    *kmeans = (struct kmeans){0};
}
