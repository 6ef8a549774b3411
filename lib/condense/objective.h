/* The loss of a batch of condensed series (paper, section 3.3) and its gradient:
 *
 *     loss = cross_entropy * CE(teacher(x), labels) + R(x)
 *
 * CE is the mean over the batch, the teacher is frozen and in inference mode, and R is the distance
 * of the batch statistics of its normalisations from the running ones, weights included (see
 * pass_match).  A teacher with shapelet features gets the distances of x to the pool, and the
 * gradient includes the part through them. */
#ifndef SC_CONDENSE_OBJECTIVE_H
#define SC_CONDENSE_OBJECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "condense/guide.h"
#include "base/error.h"
#include "nn/pass.h"
#include "shapelets/transform.h"

struct objective_options {
    double cross_entropy; /* 0.99 */
    struct matching matching;
};

/* The published weights: 0.99, and 0.01 with the first layer 10 times that, plain norms. */
struct objective_options objective_defaults(void);

struct objective {
    struct objective_options options;
    const struct guide *guide;
    const struct transform *transform; /* NULL without shapelets */
    size_t most_samples;
    /* For each slot of the guide, memory of its backend: */
    float *dlogits;             /* (most, V) */
    float *features, *upstream; /* (most, K) */
    uint32_t *places;           /* (most, K) */
    double *values;             /* (2) */
};

/* Prepares the guide and the memory for batches of up to most_samples in each of the slots.  The
 * guide and the transform must stay, fit each other and the series, and be on the same device. */
struct error *objective_make(const struct objective_options *options, const struct guide *guide,
                             const struct transform *transform, size_t slots, size_t most_samples,
                             struct objective *objective) MUST_CHECK;
void objective_free(struct objective *objective);

struct objective_value {
    double loss;          /* the sum of */
    double cross_entropy; /* with its weight, and */
    double distance;      /* R */
};

/* Of series x (N, C, L): the value, the teacher's logits (N, V) and dloss/dx (N, C, L).  Arrays are
 * memory of the guide's backend. */
struct error *objective_evaluate(const struct objective *objective, size_t slot, size_t count,
                                 const float *x, const int32_t *labels, float *logits, float *dx,
                                 struct objective_value *value) MUST_CHECK;

/* The same, but the value stays on the device, as cross-entropy and R: the host does not wait for
 * it. */
struct error *objective_queue(const struct objective *objective, size_t slot, size_t count,
                              const float *x, const int32_t *labels, float *logits, float *dx,
                              double value[2]) MUST_CHECK;

/* What two such numbers mean. */
struct objective_value objective_value(const double value[2]);

#endif
