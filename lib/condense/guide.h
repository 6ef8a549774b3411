/* The teacher as synthesis sees it: something that gives logits for a batch of series and the
 * gradient of a loss on them.  A network of the engine (guide_network.c) or any program that speaks
 * the protocol of sc-teacher-command(7) (guide_command.c).
 *
 * A guide has slots, each of which holds one batch at a time, so that batches can go through it
 * side by side.  For one slot the calls alternate: forward, then backward for the same batch. */
#ifndef SC_CONDENSE_GUIDE_H
#define SC_CONDENSE_GUIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "nn/pass.h"
#include "nn/teacher.h"

struct guide {
    size_t channels, length, classes; /* C, L, V of its series */
    size_t features;                  /* K shapelet distances that it expects; 0: none */
    bool statistics;                  /* it has statistics to match */
    bool side_by_side;                /* different slots may be used at the same time */
    const struct backend *backend;    /* whose memory the arrays below are in */
    void *state;

    /* Allocates the slots, each for up to most_samples series; once, before anything else. */
    struct error *(*prepare)(void *state, size_t slots, size_t most_samples);

    /* Logits (N, V) of series x (N, C, L) with features (N, K); matched tells whether the
     * statistics will be matched. */
    struct error *(*forward)(void *state, size_t slot, size_t count, const float *x,
                             const float *features, bool matched, float *logits);

    /* Writes the gradients of sum(dlogits * logits) + R with respect to x and the features, and R
     * to *distance: how far the statistics of the batch are from those of the training set (see
     * pass_match), 0 for matching NULL.  x and the features must still be what forward got. */
    struct error *(*backward)(void *state, size_t slot, const struct matching *matching,
                              const float *dlogits, float *dx, float *dfeatures, double *distance);

    void (*close)(void *state);
};

/* A teacher of the engine, which must stay. */
struct error *guide_from_teacher(const struct teacher *teacher, struct guide *guide) MUST_CHECK;

/* A program that /bin/sh starts, for series of the shape that is filled in: channels, length,
 * classes, features.  It may take `patience` seconds for each answer. */
struct error *guide_from_command(const char *command, double patience,
                                 struct guide *guide) MUST_CHECK;

/* Also safe on one that is all zeros. */
void guide_close(struct guide *guide);

#endif
