/* Matching class by class: dc, dsa and dm.
 *
 * A network that was never trained, or only on the condensed series so far, sees a batch of real
 * series of one class and the condensed series of that class; the condensed ones are moved so that
 * it responds to both in the same way: the same gradient of its parameters (dc, dsa) or the same
 * mean embedding (dm).  Batch normalisation works with fixed statistics, those of real series of
 * all classes, because the statistics of a single class differ. dsa and dm augment both batches in
 * the same way. */
#ifndef SC_MATCH_CLASSWISE_H
#define SC_MATCH_CLASSWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match/augment.h"
#include "match/model.h"

/* Memory to match one class at a time with. */
struct class_match {
    const struct model *model;
    struct model_run *real, *synthetic;
    struct augmentation augmentation;
    float *real_x, *synthetic_x, *dx; /* augmented series; the gradient of the condensed ones */
    float *real_gradient, *synthetic_gradient, *direction; /* of the parameters */
    float *real_embedding, *synthetic_embedding, *dembedding;
    float *no_logits;
    int32_t *labels;
};

/* For batches of up to most_real and most_synthetic series; embeddings: for class_match_means. */
struct error *class_match_new(const struct model *model, size_t most_real, size_t most_synthetic,
                              bool embeddings, struct class_match *match) MUST_CHECK;
/* Safe on one that is all zeros. */
void class_match_free(struct class_match *match);

/* The two batches, the network, and its running statistics, which stay. */
struct class_batch {
    int32_t label;
    size_t real_count, synthetic_count;
    const float *real_x, *synthetic_x; /* (count, C, L) */
    const float *parameters;
    float *buffers;
};

/* The distance between the gradients of the cross-entropy (criteria.h), after match->augmentation,
 * and its gradient with respect to the condensed series, written to dx. */
double class_match_gradients(struct class_match *match, const struct class_batch *batch, float *dx);

/* The same for the means of the embeddings. */
double class_match_means(struct class_match *match, const struct class_batch *batch, float *dx);

#endif
