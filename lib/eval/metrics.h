/* How good predictions are. */
#ifndef SC_METRICS_H
#define SC_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* confusion[true * classes + predicted] counts.  The class predicted for a series is the one with
 * the largest score, the first of them on a tie; scores (count, classes). */
void metrics_confusion(const float *scores, const int32_t *labels, size_t count, size_t classes,
                       size_t *confusion);

/* Share of the series on the diagonal. */
double metrics_accuracy(const size_t *confusion, size_t classes);

/* Share of the series of a class that were recognised; NaN if there is none. */
double metrics_recall(const size_t *confusion, size_t classes, size_t label);

/* Mean of the F1 scores of the classes that occur or were predicted; a class never hit counts 0. */
double metrics_macro_f1(const size_t *confusion, size_t classes);

#endif
