#include "support/brute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double brute_distance(const float *s, size_t length, size_t start, const float *x, size_t steps,
                      size_t window)
{
    double least = INFINITY;

    for (size_t j = 0; j + length <= steps; j++) {
        double sum = 0;

        if ((j > start ? j - start : start - j) > window)
            continue;
        for (size_t t = 0; t < length; t++)
            sum += ((double)s[t] - x[j + t]) * ((double)s[t] - x[j + t]);
        least = fmin(least, sqrt(sum));
    }
    return least;
}

/* H(Y) of the series for which side[i] == which (or all, for which -1). */
static double entropy(const int32_t *labels, const int *side, int which, size_t count,
                      size_t classes, int32_t positive, size_t *members)
{
    double h = 0;

    *members = 0;
    for (size_t i = 0; i < count; i++)
        *members += which < 0 || side[i] == which;
    for (size_t v = 0; v < classes; v++) {
        size_t n = 0;

        for (size_t i = 0; i < count; i++) {
            size_t label = positive < 0 ? (size_t)labels[i] : labels[i] != positive;

            n += label == v && (which < 0 || side[i] == which);
        }
        if (n)
            h -= (double)n / (double)*members * log2((double)n / (double)*members);
    }
    return h;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct brute_split brute_best_split(const double *distances, const int32_t *labels, size_t count,
                                    size_t classes, int32_t positive)
{
    struct brute_split best = {0};
    double *sorted = malloc(count * sizeof *sorted);
    int *side = malloc(count * sizeof *side);

    classes = positive < 0 ? classes : 2;
    memcpy(sorted, distances, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    for (size_t k = 0; k + 1 < count; k++) {
        size_t near, far, all;
        double gain;

        if (sorted[k + 1] - sorted[k] <= 1e-6 * sorted[k + 1])
            continue;
        for (size_t i = 0; i < count; i++)
            side[i] = distances[i] <= (sorted[k] + sorted[k + 1]) / 2;
        gain = entropy(labels, side, -1, count, classes, positive, &all);
        gain -= entropy(labels, side, 1, count, classes, positive, &near) * (double)near /
                (double)count;
        gain -=
            entropy(labels, side, 0, count, classes, positive, &far) * (double)far / (double)count;
        if (gain > best.gain + 1e-9)
            best = (struct brute_split){.gain = gain, .low = sorted[k], .high = sorted[k + 1]};
    }
    free(sorted);
    free(side);
    return best;
}
