#include "learn/kmeans.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

/* Points of one task: the cut depends on the problem alone. */
enum { BLOCK = 256 };

double squared_distance(const float *a, const float *b, size_t dimension)
{
    double sum = 0;

    for (size_t i = 0; i < dimension; i++) {
        double difference = (double)a[i] - (double)b[i];

        sum += difference * difference;
    }
    return sum;
}

struct work {
    const float *points;
    struct kmeans *kmeans;
    double *nearest; /* (count,) squared distance to the own centre */
    size_t centre;   /* the one just added (start) */
};

/* ---- The start ---- */

static void lower_distances(void *context, size_t task, unsigned worker)
{
    struct work *work = context;
    const size_t dimension = work->kmeans->dimension, count = work->kmeans->count;
    const float *centre = work->kmeans->centres + work->centre * dimension;
    size_t end = (task + 1) * BLOCK < count ? (task + 1) * BLOCK : count;

    (void)worker;
    for (size_t i = task * BLOCK; i < end; i++) {
        double distance = squared_distance(work->points + i * dimension, centre, dimension);

        if (distance < work->nearest[i])
            work->nearest[i] = distance;
    }
}

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
    const size_t count = kmeans->count, row = kmeans->dimension * sizeof *kmeans->centres;
    size_t tasks = (count + BLOCK - 1) / BLOCK;

    for (size_t i = 0; i < count; i++)
        work->nearest[i] = INFINITY;
    for (size_t c = 0; c < kmeans->clusters; c++) {
        size_t chosen = c == 0 ? (size_t)random_below(stream, count)
                               : draw_far_point(work->nearest, count, stream);

        memcpy(kmeans->centres + c * kmeans->dimension, work->points + chosen * kmeans->dimension,
               row);
        work->centre = c;
        parallel_for(tasks, lower_distances, work);
    }
}

/* ---- Iterations ---- */

static void assign_block(void *context, size_t task, unsigned worker)
{
    struct work *work = context;
    struct kmeans *kmeans = work->kmeans;
    const size_t dimension = kmeans->dimension;
    size_t end = (task + 1) * BLOCK < kmeans->count ? (task + 1) * BLOCK : kmeans->count;

    (void)worker;
    for (size_t i = task * BLOCK; i < end; i++) {
        work->nearest[i] = INFINITY;
        for (size_t c = 0; c < kmeans->clusters; c++) {
            double distance = squared_distance(work->points + i * dimension,
                                               kmeans->centres + c * dimension, dimension);

            if (distance < work->nearest[i]) {
                work->nearest[i] = distance;
                kmeans->assigned[i] = c;
            }
        }
    }
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

/* Means of the points of each cluster. */
static void move_centres(struct work *work, double *sums, size_t *sizes)
{
    struct kmeans *kmeans = work->kmeans;
    const size_t dimension = kmeans->dimension;

    memset(sums, 0, kmeans->clusters * dimension * sizeof *sums);
    memset(sizes, 0, kmeans->clusters * sizeof *sizes);
    for (size_t i = 0; i < kmeans->count; i++) {
        double *sum = sums + kmeans->assigned[i] * dimension;

        sizes[kmeans->assigned[i]]++;
        for (size_t d = 0; d < dimension; d++)
            sum[d] += (double)work->points[i * dimension + d];
    }
    for (size_t c = 0; c < kmeans->clusters; c++) {
        float *centre = kmeans->centres + c * dimension;

        if (sizes[c] == 0) {
            size_t taken = farthest_point(work->nearest, kmeans->count);

            memcpy(centre, work->points + taken * dimension, dimension * sizeof *centre);
            work->nearest[taken] = 0;
            continue;
        }
        for (size_t d = 0; d < dimension; d++)
            centre[d] = (float)(sums[c * dimension + d] / (double)sizes[c]);
    }
}

static void iterate(struct work *work, size_t most, size_t *before, double *sums, size_t *sizes)
{
    struct kmeans *kmeans = work->kmeans;
    const size_t bytes = kmeans->count * sizeof *kmeans->assigned;
    size_t tasks = (kmeans->count + BLOCK - 1) / BLOCK;
    bool changed = true;

    parallel_for(tasks, assign_block, work);
    for (kmeans->iterations = 0; changed && kmeans->iterations < most; kmeans->iterations++) {
        memcpy(before, kmeans->assigned, bytes);
        move_centres(work, sums, sizes);
        parallel_for(tasks, assign_block, work);
        changed = memcmp(before, kmeans->assigned, bytes) != 0;
    }
    kmeans->inertia = 0;
    for (size_t i = 0; i < kmeans->count; i++)
        kmeans->inertia += work->nearest[i];
}

struct error *kmeans_fit(const float *points, size_t count, size_t dimension, size_t clusters,
                         size_t most_iterations, struct random_stream *stream,
                         struct kmeans *kmeans)
{
    struct work work = {points, kmeans, calloc(count, sizeof(double)), 0};
    size_t *before = calloc(count, sizeof *before), *sizes = calloc(clusters, sizeof *sizes);
    double *sums = calloc(clusters * dimension, sizeof *sums);
    struct error *error = NULL;

    *kmeans = (struct kmeans){.clusters = clusters, .dimension = dimension, .count = count};
    kmeans->centres = calloc(clusters * dimension, sizeof *kmeans->centres);
    kmeans->assigned = calloc(count, sizeof *kmeans->assigned);
    if (!work.nearest || !before || !sizes || !sums || !kmeans->centres || !kmeans->assigned) {
        error = error_memory("k-means");
        kmeans_free(kmeans);
    } else {
        start_centres(&work, stream);
        iterate(&work, most_iterations, before, sums, sizes);
    }
    free(work.nearest);
    free(before);
    free(sizes);
    free(sums);
    return error;
}

void kmeans_free(struct kmeans *kmeans)
{
    free(kmeans->centres);
    free(kmeans->assigned);
    *kmeans = (struct kmeans){0};
}
