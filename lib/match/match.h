/* Condensing by matching the response of networks to the condensed series with that to the real
 * ones: the loop that all methods share.  A method (method.h) gives a loss and its gradient with
 * respect to the condensed series; the loop initialises and updates the series and writes
 * checkpoints. */
#ifndef SC_MATCH_MATCH_H
#define SC_MATCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "match/experts.h"
#include "match/method.h"
#include "nn/architecture.h"
#include "nn/optimiser.h"
#include "shapelets/transform.h"

enum match_start {
    MATCH_START_DEFAULT,
    MATCH_START_REAL,   /* real series of the class, drawn at random */
    MATCH_START_KMEANS, /* those nearest to the centres of clusters of the class: in an expert's
                           embedding where there are experts, else of the series themselves; drawn
                           at random where a class has fewer different ones than are wanted */
    MATCH_START_NOISE,
};

/* Parameters of a method at most. */
enum { MATCH_PARAMETERS = 16 };

/* Numbers that are MATCH_UNSET or NaN, and kinds that are the default, have no value yet. */
#define MATCH_UNSET SIZE_MAX
struct match_options {
    const struct match_method *method;
    double values[MATCH_PARAMETERS]; /* of the method's parameters, in the order of its table */
    size_t per_class;
    enum match_start start;
    const struct dataset *from;     /* a condensed dataset with soft labels to start from instead;
                                       its series may be in any order; NULL: none */
    enum match_optimiser optimiser; /* of the series, whose rate falls to 0 by a cosine */
    uint64_t seed;
    const struct backend *backend; /* where the networks run; NULL: the processor */
    struct cluster *cluster;       /* ranks that share each step; rank 0 has the checkpoint */

    /* For methods that need them (enum match_needs). */
    struct architecture architecture; /* of the networks; all numbers known */
    const struct experts *experts;
    const struct transform *transform; /* for students with shapelet features, or NULL */
    const float *features;             /* (N, K) of the dataset, then */

    const char *checkpoint;  /* file, or NULL */
    size_t checkpoint_every; /* steps */

    /* Called after every step with its loss. */
    void (*progress)(void *context, size_t done, size_t total, double loss);
    void *context;
};

/* The first method; nothing else has a value but the interval of the checkpoints. */
struct match_options match_unset(void);

/* Sets the parameter, which the method must have. */
void match_set(struct match_options *options, const char *name, double value);
/* Its value; NaN if the method has no such parameter. */
double match_value(const struct match_options *options, const char *name);

/* Gives what has no value yet the default of the method for this number of classes. */
void match_fill_in(struct match_options *options, size_t classes);

/* The value of a whole number, by its place in the method's table. */
static inline size_t match_whole(const struct match_options *options, size_t parameter)
{
    return (size_t)options->values[parameter];
}

struct match_result {
    double first, last;  /* mean loss of the first and of the last tenth of the steps */
    double student_rate; /* the learned step size of the students; NaN: none was learned */
    size_t repeated;     /* series that start from another one (choose/start.h) */
};

/* Condenses the dataset, which has labels.  condensed: class by class, per_class series each, or in
 * the order of options->from, with the names of the dataset; soft labels where they are learned. */
struct error *match_condense(const struct match_options *options, const struct dataset *dataset,
                             struct dataset *condensed, struct match_result *result) MUST_CHECK;

#endif
