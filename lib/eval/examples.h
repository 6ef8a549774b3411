/* Datasets made ready for networks: read, checked against each other, with the shapelet features
 * that go in front of the last layer.  Real series do not change, so their features are computed
 * once. */
#ifndef SC_EVAL_EXAMPLES_H
#define SC_EVAL_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/dataset.h"
#include "device/device.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "nn/architecture.h"
#include "nn/teacher.h"
#include "nn/train.h"
#include "formats/slp.h"

/* Where features come from. */
struct feature_source {
    const struct shapelet_pool *pool; /* NULL: no features */
    size_t window;                    /* as of transform_make */
    const struct device *device;      /* what computes them; NULL: the processor */
    struct cluster *cluster;          /* ranks that share the series; each gets all features */
};

struct examples {
    const char *name; /* of the file, for messages; must stay */
    struct dataset dataset;
    size_t views;         /* of its series, the last are views of the others */
    float *features;      /* (N, K), of scratch.h, or NULL */
    size_t feature_count; /* K */
};

/* Reads a labelled dataset and computes its features.  Errors name the file. */
struct error *examples_read(const char *path, const char *labels,
                            const struct feature_source *source,
                            struct examples *examples) MUST_CHECK;

/* The same, with the labelled views of a condensed dataset appended to its series. */
struct error *examples_read_expanded(const char *path, const char *labels,
                                     const struct feature_source *source,
                                     struct examples *examples) MUST_CHECK;

/* Takes over a dataset and computes its features; frees it on error. */
struct error *examples_make(const char *name, struct dataset *dataset,
                            const struct feature_source *source,
                            struct examples *examples) MUST_CHECK;

/* Safe on examples that are all zeros, and more than once. */
void examples_free(struct examples *examples);

/* What the training functions take.  Points into the examples. */
struct tensor_dataset examples_tensors(const struct examples *examples);

/* Whether a network for `examples` can be run on `other`: the same channels and steps, no class
 * that `examples` does not have, and no class by another name. */
struct error *examples_match(const struct examples *examples,
                             const struct examples *other) MUST_CHECK;

/* The first class that has no series, or -1. */
int32_t examples_missing_class(const struct examples *examples);

/* The network of a text (NULL: the default one), with the numbers of the data filled in.  Numbers
 * that the text gives must be those of the data. */
struct error *examples_architecture(const struct examples *examples, const char *text,
                                    struct architecture *architecture) MUST_CHECK;

/* Whether a teacher can be run on the examples: shape, classes and features. */
struct error *examples_match_teacher(const struct examples *examples, const char *teacher_name,
                                     const struct teacher *teacher) MUST_CHECK;

/* False if the notes of a teacher say what it was made from and the pool is not among it: as many
 * shapelets, but others, make nonsense of it.  True without a pool or notes. */
bool teacher_knows_pool(const struct teacher *teacher, const struct shapelet_pool *pool);

/* Runs a teacher over the examples: logits (N, V), embeddings (N, network->embedding) if not NULL.
 */
struct error *examples_predict(const struct examples *examples, const struct teacher *teacher,
                               float *logits, float *embeddings) MUST_CHECK;
/* The same, with the series shared by the ranks of a cluster; rank 0 gets all. */
struct error *examples_predict_over(struct cluster *cluster, const struct examples *examples,
                                    const struct teacher *teacher, float *logits,
                                    float *embeddings) MUST_CHECK;

#endif
