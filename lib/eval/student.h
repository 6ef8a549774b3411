/* How well networks learn from a dataset: fresh ones are trained on it, one for each seed, and
 * scored on other series.  Students of different seeds run at the same time, each on one thread;
 * the result does not depend on how many there are. */
#ifndef SC_EVAL_STUDENT_H
#define SC_EVAL_STUDENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cluster/cluster.h"
#include "eval/score.h"
#include "nn/architecture.h"
#include "nn/train.h"

struct student_options {
    struct architecture architecture; /* with all its numbers */
    /* seed is that of the first student, the others count on; progress and context are not used. */
    struct train_options train;
    size_t seeds;                  /* how many students */
    const struct backend *backend; /* where they run; NULL: the processor */
    struct cluster *cluster;       /* ranks that share the students; each gets all scores */
    /* Called after each epoch of any student of this rank, from any thread, with the number of
     * epochs finished by all students and the largest possible number. */
    void (*progress)(void *context, size_t done, size_t total);
    void *context;
};

/* Loss for a student: cross-entropy with the labels, or the KL divergence from the soft labels at a
 * temperature, times its square, so that the step size does not depend on it. */
struct loss student_loss(bool soft, double temperature);

/* The temperature at which students learn soft labels: 4, but of a dataset with views of more than
 * 20 classes 1, since at 4 the probabilities of so many hardly differ (pipelines/DECISIONS.md). */
double student_temperature(bool views, size_t classes);

/* The learning rate for a student of `count` series, by AdamW or SGD with momentum, that was best
 * on validation data (pipelines/DECISIONS.md).  Soft labels of many classes hardly differ from one
 * another and take larger steps; a few series take smaller ones, because the statistics of a small
 * batch vary.  Thousands of views are not overfitted, and larger steps learn more from them in the
 * same time. */
double student_rate(bool sgd, bool soft, bool views, size_t classes, size_t count);

/* The network of a student for series of `length` steps: the default one where it fits, with fewer
 * blocks for series that are too short for three poolings. */
const char *student_network(size_t length);

/* Trains and scores; scores[options->seeds] are to be freed by the caller.  validation may be NULL:
 * then the last epoch counts.  On error no score is left. */
struct error *students_train(const struct student_options *options,
                             const struct tensor_dataset *training,
                             const struct tensor_dataset *validation,
                             const struct tensor_dataset *test, struct score *scores) MUST_CHECK;

#endif
