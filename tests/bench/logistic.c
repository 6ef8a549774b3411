/* logistic TRAIN TEST: fits logistic regression to a dataset of features and prints its accuracy on
 * another, in percent. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/dataset.h"
#include "eval/logistic.h"
#include "eval/metrics.h"

static void check(struct error *error)
{
    if (!error)
        return;
    fprintf(stderr, "logistic: %s\n", error_message(error));
    exit(1);
}

int main(int argc, char **argv)
{
    struct logistic_options options = logistic_defaults();
    struct dataset train, test;
    struct logistic model;
    size_t *confusion;
    float *logits;

    if (argc != 3) {
        fputs("usage: logistic TRAIN TEST\n", stderr);
        return 2;
    }
    check(dataset_read(argv[1], NULL, DATASET_LABELLED, &train));
    check(dataset_read(argv[2], NULL, DATASET_LABELLED, &test));
    if (train.length != test.length || train.classes != test.classes)
        check(error_make("the datasets do not match"));
    check(
        logistic_fit(train.x, train.y, train.count, train.length, train.classes, &options, &model));
    logits = calloc(test.count * test.classes, sizeof *logits);
    confusion = calloc(test.classes * test.classes, sizeof *confusion);
    if (!logits || !confusion)
        check(error_memory("predictions"));
    check(logistic_predict(&model, test.x, test.count, logits));
    metrics_confusion(logits, test.y, test.count, test.classes, confusion);
    printf("%.2f\n", 100 * metrics_accuracy(confusion, test.classes));
    logistic_free(&model);
    dataset_free(&train);
    dataset_free(&test);
    free(logits);
    free(confusion);
    return 0;
}
