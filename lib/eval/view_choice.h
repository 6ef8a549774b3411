/* Which recipe of views to take: that from which students learn most, by their accuracy on held-out
 * series.  How much a series may be changed before a teacher's answer means nothing differs from
 * dataset to dataset: outlines of bones bear far less than recordings of movement.
 *
 * It also differs from network to network.  A network that pools over time (FCN, ResNet, Inception)
 * answers the same for a shifted series; the logits of a teacher that does not are contradictions
 * to it, and strong views, from which a CNN with a flattened end learns everything, can teach it
 * nothing (FacesUCR: 98 % and 11 %).  So each recipe is tried with one student of either kind. */
#ifndef SC_EVAL_VIEW_CHOICE_H
#define SC_EVAL_VIEW_CHOICE_H

#include <stddef.h>

#include "eval/labeller.h"
#include "views/view.h"

/* A CNN with a flattened end, and the same with the mean over time. */
enum { VIEW_STUDENTS = 2 };

struct view_trial {
    const char *name; /* of the recipe */
    struct view_recipe recipe;
    double accuracy[VIEW_STUDENTS]; /* of the students, on the held-out series */
};

/* What trials are compared by: the mean accuracy. */
double view_trial_score(const struct view_trial *trial);

struct view_choice_options {
    size_t views;
    size_t steps;  /* of a student's training, but no more than 100 epochs */
    uint64_t seed; /* of views and students */
};

/* Tries every recipe of view_presets with a student of each kind.  `dataset` must have soft labels.
 * trials[VIEW_PRESETS] in that order; *best is the index of the first of the best.
 * progress, if not NULL, is called after each trial. */
struct error *view_choose(const struct labeller *labeller, const char *name,
                          const struct dataset *dataset, const struct examples *validation,
                          const struct view_choice_options *options, void (*progress)(size_t done),
                          struct view_trial *trials, size_t *best) MUST_CHECK;

#endif
