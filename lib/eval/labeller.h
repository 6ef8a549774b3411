/* Teachers that label series together: the mean of their logits.  Each is a network of the engine
 * or a program that speaks the protocol of sc-teacher-command(7). */
#ifndef SC_EVAL_LABELLER_H
#define SC_EVAL_LABELLER_H

#include <stddef.h>

#include "base/error.h"
#include "condense/guide.h"
#include "eval/examples.h"
#include "formats/dataset.h"

struct labeller {
    size_t count;
    const char *const *names; /* of the files, for messages; must stay */
    struct teacher *teachers;
    struct guide *program;        /* one more teacher, or NULL */
    struct feature_source source; /* of the features that the teachers need */
    struct cluster *cluster;      /* ranks that share views */
};

/* Reads the teachers, which must know as many classes as the dataset has.  The cluster of the
 * source shares the views; each rank labels the series itself. */
struct error *labeller_read(const char *const *names, size_t count,
                            const struct feature_source *source, const struct dataset *dataset,
                            struct labeller *labeller) MUST_CHECK;

/* Starts a program as one more teacher; it may take `patience` seconds for each answer.  It is
 * ended by labeller_free and by the first call that fails. */
struct error *labeller_start_program(struct labeller *labeller, const char *command,
                                     double patience, const struct dataset *dataset) MUST_CHECK;

/* Safe on a labeller that is all zeros. */
void labeller_free(struct labeller *labeller);

/* Logits (N, V) of series whose features are those of the labeller's source. */
struct error *labeller_ask(const struct labeller *labeller, const struct examples *examples,
                           float *logits) MUST_CHECK;

/* Gives the series of a dataset soft labels.  With a margin above 0 the logit of the class of each
 * series is raised until it is that much above all others: a teacher may misclassify series
 * that it was trained on. */
struct error *labeller_label(const struct labeller *labeller, const char *name, double margin,
                             struct dataset *dataset) MUST_CHECK;

/* Logits (views, V) of the first views of a dataset.  They are made and labelled some at a time, so
 * that memory does not grow with their number; progress, if not NULL, is called after each part.
 * All ranks get all logits. */
struct error *labeller_views(const struct labeller *labeller, const char *name,
                             const struct dataset *dataset, const struct view_recipe *recipe,
                             size_t views, void (*progress)(size_t done), float *logits) MUST_CHECK;

#endif
