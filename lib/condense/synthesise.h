/* Condensing by inverting a teacher (paper, section 3.3): the loss of a few series for each
 * class (objective.h) is minimised by Adam with a cosine schedule; the series with the lowest loss
 * are kept, with the teacher's logits as soft labels.
 *
 * A batch is what the statistics are taken over: one round (one series of each class, `per_class`
 * rounds independent of each other, as in the published code) or all condensed series at once (as
 * in the paper).  Rounds run side by side; a single batch is split up inside the engine.  The
 * result is the same for any number of threads, and with a network of the engine nothing is
 * allocated within a step. */
#ifndef SC_CONDENSE_SYNTHESISE_H
#define SC_CONDENSE_SYNTHESISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "condense/guide.h"
#include "condense/objective.h"
#include "choose/start.h"
#include "formats/dataset.h"
#include "base/error.h"
#include "shapelets/transform.h"

struct synthesis_options {
    size_t per_class; /* 10 */
    enum start_kind start;
    size_t steps; /* 2000; 0 keeps the start and only adds the teacher's logits */
    double rate;  /* 0.05; the published one is 0.2 */
    struct objective_options objective;
    bool by_round; /* statistics over one series of each class, not over all */
    uint64_t seed;

    /* Called after every step of every batch, from any thread, with the steps of all batches that
     * are done, of how many, and the loss of this one. */
    void (*progress)(void *context, size_t done, size_t total, double loss);
    void *context;
};

struct synthesis_options synthesis_defaults(void);

/* The total that progress will be told of. */
size_t synthesis_steps(const struct synthesis_options *options);

struct synthesis_result {
    /* Means over the batches: at the start, and at the lowest loss. */
    struct objective_value first, best;
    double best_step; /* mean over the batches */
    size_t repeated;  /* series that start from another one, see start.h */
};

/* Condenses a labelled dataset.  transform is NULL for a teacher without shapelets.  condensed:
 * class by class, per_class series each, with soft labels and the dataset's class names. */
struct error *synthesise(const struct synthesis_options *options, const struct dataset *dataset,
                         const struct guide *guide, const struct transform *transform,
                         struct dataset *condensed, struct synthesis_result *result) MUST_CHECK;

#endif
