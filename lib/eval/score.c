#include "eval/score.h"

#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "eval/logistic.h"
#include "eval/metrics.h"

struct error *score_make(const float *logits, const int32_t *labels, size_t count, size_t classes,
                         struct score *score)
{
    *score = (struct score){.classes = classes,
                            .confusion = calloc(classes * classes, sizeof *score->confusion)};
    if (!score->confusion)
        return error_memory("a confusion matrix");
    metrics_confusion(logits, labels, count, classes, score->confusion);
    score->accuracy = metrics_accuracy(score->confusion, classes);
    score->macro_f1 = metrics_macro_f1(score->confusion, classes);
    return NULL;
}

struct error *score_teacher(const struct teacher *teacher, const struct examples *test,
                            struct score *score)
{
    size_t count = test->dataset.count, classes = teacher->network->architecture.classes;
    float *logits = scratch_new(count, classes * sizeof *logits);
    struct error *error;

    if (!logits)
        return error_memory("predictions");
    error = examples_predict(test, teacher, logits, NULL);
    if (!error)
        error = score_make(logits, test->dataset.y, count, classes, score);
    scratch_free(logits);
    return error;
}

struct error *score_shapelets(const struct examples *train, const struct examples *test,
                              struct score *score)
{
    struct logistic_options options = logistic_defaults();
    size_t count = test->dataset.count, classes = train->dataset.classes;
    float *logits = scratch_new(count, classes * sizeof *logits);
    struct logistic model;
    struct error *error;

    if (!logits)
        return error_memory("predictions");
    error = logistic_fit(train->features, train->dataset.y, train->dataset.count,
                         train->feature_count, classes, &options, &model);
    if (!error) {
        error = logistic_predict(&model, test->features, count, logits);
        logistic_free(&model);
    }
    if (!error)
        error = score_make(logits, test->dataset.y, count, classes, score);
    scratch_free(logits);
    return error;
}

void score_free(struct score *score)
{
    free(score->confusion);
    memset(score, 0, sizeof *score);
}
