/* What a method of matching is to the loop that runs it (match.h).  A new method is one more row in
 * the table of match.c. */
#ifndef SC_MATCH_METHOD_H
#define SC_MATCH_METHOD_H

#include "match/match.h"
#include "choose/classes.h"
#include "match/trajectory.h"

/* Soft labels are logits, learned at the temperature that sc-eval uses them at.  At first that of
 * the label is MATCH_LABEL_LOGIT, and the others are 0. */
enum { MATCH_TEMPERATURE = 4, MATCH_LABEL_LOGIT = 16 };

/* What all methods work on. */
struct match_problem {
    const struct match_options *options;
    const struct dataset *set;
    struct class_lists lists;
    size_t count;    /* condensed series */
    size_t series;   /* floats of one */
    int32_t *labels; /* (count,) */
    double unit;     /* what values of the set deviate from their mean */
};

struct method {
    struct error *(*make)(const struct match_problem *problem, void **state);
    void (*free)(void *state);

    /* The loss of a step; its gradient is written (condensed: trajectory.h).  What it does may
     * depend on the step's number and on `kept`, and on nothing else that happened before. */
    double (*step)(void *state, size_t step, const struct condensed *condensed,
                   struct condensed *gradient);

    /* Floats that live on from step to step, for checkpoints; NULL: none. */
    float *(*kept)(void *state, size_t *count);
};

extern const struct method method_classwise;  /* dc, dsa, dm */
extern const struct method method_trajectory; /* mtt, condtsc */
extern const struct method method_unroll;

#endif
