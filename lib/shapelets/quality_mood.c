/* Mood's median test: Pearson's chi-squared of the table of classes against the sides of the median
 * of all distances.  With a of n distances above the median and a_v of the n_v of class v,
 *
 *     chi^2 = sum (a_v - n_v a / n)^2 / (n_v a / n) + the same for those up to the median
 *
 * 0 where no distance is above the median. */
#include <string.h>

#include "shapelets/gain.h"

static double median(const struct quality_sorted *sorted)
{
    const uint64_t *middle = sorted->items + sorted->count / 2;

    return sorted->count % 2 ? (double)sorted_distance(*middle)
                             : ((double)sorted_distance(middle[-1]) + sorted_distance(*middle)) / 2;
}

static float chi_squared(const struct labelling *labelling, const struct quality_sorted *sorted,
                         double *above)
{
    double n = (double)sorted->count, all = 0, sum = 0, limit = median(sorted);

    memset(above, 0, labelling->classes * sizeof *above);
    for (size_t i = 0; i < sorted->count; i++)
        if ((double)sorted_distance(sorted->items[i]) > limit) {
            above[sorted_class(sorted->items[i])]++;
            all++;
        }
    if (all == 0)
        return 0;
    for (size_t v = 0; v < labelling->classes; v++) {
        double count = (double)labelling->totals[v], expected = count * all / n;
        double square = (above[v] - expected) * (above[v] - expected);

        if (labelling->totals[v])
            sum += square / expected + square / (count - expected);
    }
    return (float)sum;
}

static struct quality_split score(const struct labelling *labelling, const float *distances,
                                  const int32_t *labels, const struct quality_range *range,
                                  struct quality_scratch *scratch)
{
    struct quality_sorted sorted = quality_sort(labelling, distances, labels, range, scratch);
    struct quality_split split = gain_best_split(labelling, &sorted, scratch);

    split.quality = chi_squared(labelling, &sorted, scratch->sums);
    return split;
}

const struct quality quality_mood = {NULL, score};
