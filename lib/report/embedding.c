/* With X the centred series as rows, the first axis is the eigenvector of X'X with the largest
 * eigenvalue: v <- X'(X v) / |X'(X v)|, over and over.  The second is found the same way, kept
 * orthogonal to the first. */
#include "report/embedding.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 60 };

static double product(const double *a, const double *b, size_t size)
{
    double sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes v orthogonal to the axes before it, and of length 1. */
static void straighten(const double *axes, size_t before, size_t size, double *v)
{
    double length;

    for (size_t k = 0; k < before; k++) {
        double along = product(axes + k * size, v, size);

        for (size_t i = 0; i < size; i++)
            v[i] -= along * axes[k * size + i];
    }
    length = sqrt(product(v, v, size));
    for (size_t i = 0; i < size; i++)
        v[i] = length > 0 ? v[i] / length : 0;
}

static double along(const float *series, const double *centre, const double *axis, size_t size)
{
    double sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += ((double)series[i] - centre[i]) * axis[i];
    return sum;
}

/* next = X'(X v); returns v'X'X v. */
static double step(const struct dataset *real, const size_t *indices, size_t count,
                   const double *centre, const double *v, size_t size, double *next)
{
    double sum = 0;

    for (size_t i = 0; i < size; i++)
        next[i] = 0;
    for (size_t k = 0; k < count; k++) {
        const float *series = dataset_series(real, indices[k], 0);
        double weight = along(series, centre, v, size);

        sum += weight * weight;
        for (size_t i = 0; i < size; i++)
            next[i] += weight * ((double)series[i] - centre[i]);
    }
    return sum;
}

static double centre_series(const struct dataset *real, const size_t *indices, size_t count,
                            size_t size, double *centre)
{
    double variance = 0;

    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < size; i++)
            centre[i] += (double)dataset_series(real, indices[k], 0)[i] / (double)count;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < size; i++) {
            double difference = (double)dataset_series(real, indices[k], 0)[i] - centre[i];

            variance += difference * difference;
        }
    }
    return variance;
}

struct error *embedding_fit(const struct dataset *real, const size_t *indices, size_t count,
                            double **centre, double **axes, double explained[2])
{
    const size_t size = dataset_series_size(real);
    double *next = malloc(size * sizeof *next), variance;

    *centre = calloc(size, sizeof **centre);
    *axes = calloc(size, 2 * sizeof **axes);
    if (!next || !*centre || !*axes) {
        free(next);
        free(*centre);
        free(*axes);
        *centre = *axes = NULL;
        return error_memory("the embedding");
    }
    variance = centre_series(real, indices, count, size, *centre);
    for (size_t k = 0; k < 2; k++) {
        double *v = *axes + k * size, found = 0;

        /* No direction of a series is orthogonal to this by more than chance. */
        for (size_t i = 0; i < size; i++)
            v[i] = 1 + sin((double)(i + 1) * (double)(k + 1));
        straighten(*axes, k, size, v);
        for (size_t iteration = 0; iteration < ITERATIONS; iteration++) {
            found = step(real, indices, count, *centre, v, size, next);
            for (size_t i = 0; i < size; i++)
                v[i] = next[i];
            straighten(*axes, k, size, v);
        }
        explained[k] = variance > 0 ? found / variance : 0;
    }
    free(next);
    return NULL;
}

void embedding_place(const float *series, size_t size, const double *centre, const double *axes,
                     double point[2])
{
    for (size_t k = 0; k < 2; k++)
        point[k] = along(series, centre, axes + k * size, size);
}
