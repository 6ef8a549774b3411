/* F statistic of a one-way analysis of variance of the distances: with n_v distances of class v, of
 * mean m_v, n and m in all, and C classes that have series,
 *
 *     F = (sum n_v (m_v - m)^2 / (C - 1)) / (sum (d_i - m_class(i))^2 / (n - C))
 *
 * 0 where all distances are equal or every class has one series; the largest float where the
 * classes differ and have no spread. */
#include <float.h>
#include <string.h>

#include "shapelets/gain.h"

static float f_statistic(const struct labelling *labelling, const struct quality_sorted *sorted,
                         double *means)
{
    double n = (double)sorted->count, mean = 0, between = 0, within = 0, f;
    size_t present = 0;

    memset(means, 0, labelling->classes * sizeof *means);
    for (size_t i = 0; i < sorted->count; i++) {
        mean += (double)sorted_distance(sorted->items[i]) / n;
        means[sorted_class(sorted->items[i])] += (double)sorted_distance(sorted->items[i]);
    }
    for (size_t v = 0; v < labelling->classes; v++) {
        double count = (double)labelling->totals[v];

        if (labelling->totals[v] == 0)
            continue;
        present++;
        means[v] /= count;
        between += count * (means[v] - mean) * (means[v] - mean);
    }
    for (size_t i = 0; i < sorted->count; i++) {
        double rest =
            (double)sorted_distance(sorted->items[i]) - means[sorted_class(sorted->items[i])];

        within += rest * rest;
    }
    if (present < 2 || sorted->count <= present ||
        sorted->items[0] >> 32 == sorted->items[sorted->count - 1] >> 32)
        return 0;
    f = between / (double)(present - 1) / (within / (double)(sorted->count - present));
    return f < FLT_MAX ? (float)f : FLT_MAX;
}

static struct quality_split score(const struct labelling *labelling, const float *distances,
                                  const int32_t *labels, const struct quality_range *range,
                                  struct quality_scratch *scratch)
{
    struct quality_sorted sorted = quality_sort(labelling, distances, labels, range, scratch);
    struct quality_split split = gain_best_split(labelling, &sorted, scratch);

    split.quality = f_statistic(labelling, &sorted, scratch->sums);
    return split;
}

const struct quality quality_f = {NULL, score};
