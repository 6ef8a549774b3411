/* Condensing by matching what networks make of the condensed series with what they make of the
 * real ones: the loop that all methods share.  Methods (method.h) give a loss and its gradient with
 * respect to the condensed series; the loop starts them, moves them, and keeps checkpoints. */
#ifndef SC_MATCH_MATCH_H
#define SC_MATCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"
#include "match/experts.h"
#include "nn/architecture.h"
#include "nn/optimiser.h"
#include "shapelets/transform.h"

enum match_method {
    MATCH_DC,
    MATCH_DSA,
    MATCH_DM,
    MATCH_MTT,
    MATCH_CONDTSC,
    MATCH_UNROLL,
    MATCH_METHODS
};

/* "dc", "dsa", ...; ends with NULL. */
extern const char *const match_method_names[];

enum match_start {
    MATCH_START_DEFAULT,
    MATCH_START_REAL,   /* real series of the class, drawn at random */
    MATCH_START_KMEANS, /* those nearest to the centres of clusters of the class: in an expert's
                           embedding where there are experts, else of the series themselves; drawn
                           at random where a class has fewer different ones than are wanted */
    MATCH_START_NOISE,
};

enum match_optimiser {
    MATCH_OPTIMISER_DEFAULT,
    MATCH_SGD,    /* momentum 0.5, as published */
    MATCH_SCALED, /* the same on gradients over their root mean square of late, so that the rate is
                     what a value moves in a step, whatever the loss; unlike with Adam, values that
                     matter little stay where they are */
    MATCH_ADAM,
};

/* Numbers that are MATCH_UNSET or NaN, and kinds that are the default, have no value yet. */
#define MATCH_UNSET SIZE_MAX
struct match_options {
    enum match_method method;
    size_t per_class;
    enum match_start start;
    const struct dataset *from;     /* a condensed set with soft labels to start from instead, whose
                                       series need not be class by class; NULL: none */
    size_t steps;                   /* 0 keeps the start */
    enum match_optimiser optimiser; /* of the series */
    double rate;                    /* of the series; falls to 0 by a cosine */
    uint64_t seed;
    const struct backend *backend; /* where the networks run; NULL: the processor */

    size_t batch; /* dc, dsa, dm: real series of a class in a step; mtt, condtsc: condensed series
                     in a step of a student; unroll: real series in a step */

    /* dc, dsa, dm, unroll */
    struct architecture architecture; /* of the networks; all numbers known */

    /* dc, dsa, dm */
    size_t network_steps;  /* steps with one network before the next */
    size_t training_steps; /* of the network on the condensed set in between */
    double training_rate;

    /* mtt, condtsc, unroll */
    size_t student_steps; /* on the condensed set; unroll: of a whole training */
    double student_rate;  /* at first */
    double label_rate; /* learning rate of soft labels; 0: they stay, or are hard but for unroll */

    /* mtt, condtsc */
    const struct experts *experts;
    size_t expert_epochs;     /* that these should make up for */
    size_t latest_start;      /* last epoch of an expert that a student starts from */
    double student_rate_rate; /* learning rate of its logarithm; 0: it stays */
    double embedding_weight;  /* condtsc */

    /* unroll */
    size_t unroll_steps;               /* of a window */
    const struct transform *transform; /* for students with shapelet features, or NULL */
    const float *features;             /* (N, K) of the set, then */

    const char *checkpoint;  /* file, or NULL */
    size_t checkpoint_every; /* steps */

    /* Called after every step with its loss. */
    void (*progress)(void *context, size_t done, size_t total, double loss);
    void *context;
};

/* Nothing has a value but the interval of the checkpoints. */
struct match_options match_unset(void);

/* Gives what has no value yet the one that is recommended for the method and so many classes. */
void match_fill_in(struct match_options *options, size_t classes);

/* Whether a method follows experts. */
bool match_needs_experts(enum match_method method);

struct match_result {
    double first, last;  /* mean loss of the first and of the last tenth of the steps */
    double student_rate; /* mtt, condtsc: the one that was learned */
    size_t repeated;     /* series that start from another one (choose/start.h) */
};

/* Condenses the set, which has labels.  condensed: class by class, per_class series each, or in
 * the order of options->from, and the names of the set; soft labels where they are learned. */
struct error *match_condense(const struct match_options *options, const struct dataset *set,
                             struct dataset *condensed, struct match_result *result) MUST_CHECK;

#endif
