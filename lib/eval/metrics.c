#include "eval/metrics.h"

#include <math.h>
#include <string.h>

void metrics_confusion(const float *scores, const int32_t *labels, size_t count, size_t classes,
                       size_t *confusion)
{
    memset(confusion, 0, classes * classes * sizeof *confusion);
    for (size_t i = 0; i < count; i++) {
        const float *row = scores + i * classes;
        size_t best = 0;

        for (size_t c = 1; c < classes; c++) {
            if (row[c] > row[best])
                best = c;
        }
        confusion[(size_t)labels[i] * classes + best]++;
    }
}

/* Series of a true class and series predicted as it. */
static void totals(const size_t *confusion, size_t classes, size_t label, size_t *occur,
                   size_t *predicted)
{
    *occur = *predicted = 0;
    for (size_t other = 0; other < classes; other++) {
        *occur += confusion[label * classes + other];
        *predicted += confusion[other * classes + label];
    }
}

double metrics_accuracy(const size_t *confusion, size_t classes)
{
    size_t right = 0, all = 0;

    for (size_t label = 0; label < classes; label++) {
        size_t occur, predicted;

        totals(confusion, classes, label, &occur, &predicted);
        right += confusion[label * classes + label];
        all += occur;
    }
    return (double)right / (double)all;
}

double metrics_recall(const size_t *confusion, size_t classes, size_t label)
{
    size_t occur, predicted;

    totals(confusion, classes, label, &occur, &predicted);
    return occur ? (double)confusion[label * classes + label] / (double)occur : NAN;
}

double metrics_macro_f1(const size_t *confusion, size_t classes)
{
    double sum = 0, counted = 0;

    for (size_t label = 0; label < classes; label++) {
        size_t occur, predicted;

        totals(confusion, classes, label, &occur, &predicted);
        if (occur + predicted == 0)
            continue;
        sum += 2 * (double)confusion[label * classes + label] / (double)(occur + predicted);
        counted++;
    }
    return counted > 0 ? sum / counted : NAN;
}
