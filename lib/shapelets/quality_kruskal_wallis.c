/* The H statistic of Kruskal and Wallis: how far the mean ranks of the classes are from each other.
 * With R_v the sum of the ranks of class v, where equal distances share their mean rank, and t the
 * sizes of the groups of equal distances,
 *
 *     H = (12 / (n (n + 1)) sum R_v^2 / n_v - 3 (n + 1)) / (1 - sum (t^3 - t) / (n^3 - n))
 *
 * 0 where all distances are equal. */
#include <string.h>

#include "shapelets/gain.h"

static float h_statistic(const struct labelling *labelling, const struct quality_sorted *sorted,
                         double *ranks)
{
    double n = (double)sorted->count, ties = 0, sum = 0, h;

    memset(ranks, 0, labelling->classes * sizeof *ranks);
    for (size_t first = 0, end; first < sorted->count; first = end) {
        double size, rank;

        for (end = first + 1;
             end < sorted->count && sorted->items[end] >> 32 == sorted->items[first] >> 32; end++)
            ;
        size = (double)(end - first);
        rank = (double)first + (size + 1) / 2;
        ties += size * size * size - size;
        for (size_t i = first; i < end; i++)
            ranks[sorted_class(sorted->items[i])] += rank;
    }
    for (size_t v = 0; v < labelling->classes; v++)
        if (labelling->totals[v])
            sum += ranks[v] * ranks[v] / (double)labelling->totals[v];
    if (ties >= n * n * n - n)
        return 0;
    h = (12 / (n * (n + 1)) * sum - 3 * (n + 1)) / (1 - ties / (n * n * n - n));
    return h > 0 ? (float)h : 0;
}

static struct quality_split score(const struct labelling *labelling, const float *distances,
                                  const int32_t *labels, const struct quality_range *range,
                                  struct quality_scratch *scratch)
{
    struct quality_sorted sorted = quality_sort(labelling, distances, labels, range, scratch);
    struct quality_split split = gain_best_split(labelling, &sorted, scratch);

    split.quality = h_statistic(labelling, &sorted, scratch->sums);
    return split;
}

const struct quality quality_kruskal_wallis = {NULL, score};
