/* How well a classifier does on a test set. */
#ifndef SC_EVAL_SCORE_H
#define SC_EVAL_SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "eval/examples.h"
#include "nn/teacher.h"
#include "nn/train.h"

struct score {
    size_t classes;
    size_t *confusion; /* (V, V) counts: true class, predicted class */
    double accuracy;   /* share of the series */
    double macro_f1;
    struct train_result training; /* of a student; else zeros */
};

/* Scores predictions (count, classes). */
struct error *score_make(const float *logits, const int32_t *labels, size_t count, size_t classes,
                         struct score *score) MUST_CHECK;

/* A network that is already trained. */
struct error *score_teacher(const struct teacher *teacher, const struct examples *test,
                            struct score *score) MUST_CHECK;

/* Logistic regression on the shapelet features alone (paper, the table that validates condensed
 * series by shapelets), fitted to one dataset and scored on another. Both must have features. */
struct error *score_shapelets(const struct examples *train, const struct examples *test,
                              struct score *score) MUST_CHECK;

/* Safe on one that is all zeros, and more than once. */
void score_free(struct score *score);

#endif
