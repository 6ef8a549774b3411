/* Which recipe of views to take: that from which a student learns most, by its accuracy on held-out
 * series.  How much a series may be changed before a teacher's answer means nothing differs from
 * dataset to dataset: outlines of bones bear far less than recordings of movement. */
#ifndef SC_EVAL_VIEW_CHOICE_H
#define SC_EVAL_VIEW_CHOICE_H

#include <stddef.h>

#include "eval/labeller.h"
#include "views/view.h"

struct view_trial {
    const char *name; /* of the recipe */
    struct view_recipe recipe;
    double accuracy; /* of the student, on the held-out series */
};

struct view_choice_options {
    size_t views;
    size_t steps;  /* of a student's training, but no more than 100 epochs */
    uint64_t seed; /* of views and students */
};

/* Tries every recipe of view_presets with one student: a small CNN.  `dataset` must have soft
 * labels.  trials[VIEW_PRESETS] in that order; *best is the index of the first of the best.
 * progress, if not NULL, is called after each trial. */
struct error *view_choose(const struct labeller *labeller, const char *name,
                          const struct dataset *dataset, const struct examples *validation,
                          const struct view_choice_options *options, void (*progress)(size_t done),
                          struct view_trial *trials, size_t *best) MUST_CHECK;

#endif
