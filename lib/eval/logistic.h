/* Multinomial logistic regression with a quadratic penalty, fitted to the optimum by L-BFGS.
 *
 * Minimises  1/N sum -log p(y_i | x_i) + penalty/2 |W|^2  over weights W (V, D) and biases b (V,),
 * where p is the softmax of W z + b and z are the features, standardised to mean 0 and deviation 1
 * (a feature that does not vary is left out).  The problem is convex and the start is zero: the
 * result depends on nothing but the data, whatever the number of threads. */
#ifndef SC_EVAL_LOGISTIC_H
#define SC_EVAL_LOGISTIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct logistic_options {
    double penalty;
    size_t most_steps; /* of L-BFGS */
    double tolerance;  /* on the largest component of the gradient */
};

/* penalty 1e-4, 500 steps, tolerance 1e-5 */
struct logistic_options logistic_defaults(void);

struct logistic {
    size_t features; /* D */
    size_t classes;  /* V */
    double *weights; /* (V, D), then V biases: for standardised features */
    double *mean;    /* (D,) */
    double *scale;   /* (D,) one over the deviation, 0 for a feature that does not vary */
    size_t steps;    /* that were taken */
    double loss;     /* that was reached */
};

/* Fits to x (N, D) and labels 0..V-1. */
struct error *logistic_fit(const float *x, const int32_t *labels, size_t count, size_t features,
                           size_t classes, const struct logistic_options *options,
                           struct logistic *model) MUST_CHECK;

/* logits (N, V) of x (N, D). */
struct error *logistic_predict(const struct logistic *model, const float *x, size_t count,
                               float *logits) MUST_CHECK;

void logistic_free(struct logistic *model);

#endif
