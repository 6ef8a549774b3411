/* Choosing among candidates: a total order, short lists of the best, and the three ways to make a
 * pool of them. */
#ifndef SC_SHAPELETS_SELECT_H
#define SC_SHAPELETS_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

/* A scored candidate. */
struct scored_candidate {
    float quality;
    float margin; /* the gap at the split, divided by the root of the length */
    float threshold;
    uint32_t channel, start, length;
    int32_t label;
    uint64_t source;
};

/* The order: larger quality, then larger margin, then smaller source, start, length.  No two
 * candidates of a channel are equal, so that whatever is sorted by it is determined.  Qualities are
 * compared as they are stored, in float: smaller differences are rounding.  Negative if a comes
 * first. */
int scored_compare(const void *a, const void *b);

bool scored_overlap(const struct scored_candidate *a, const struct scored_candidate *b);

/* Sorts the candidates of one series and removes those that overlap a better one.  Returns how many
 * are left. */
size_t scored_keep_separate(struct scored_candidate *candidates, size_t count);

/* The best candidates, at most `capacity`, sorted. */
struct shortlist {
    size_t capacity, count;
    struct scored_candidate *items;
};

struct error *shortlist_make(size_t capacity, struct shortlist *list) MUST_CHECK;
void shortlist_free(struct shortlist *list);
void shortlist_add(struct shortlist *list, const struct scored_candidate *candidate);
/* Adds those that are not in the list yet. */
void shortlist_add_missing(struct shortlist *list, const struct scored_candidate *candidates,
                           size_t count);
/* The least quality that a candidate needs to get in: -1 while there is room. */
float shortlist_entry(const struct shortlist *list);

enum selection {
    SELECT_TOP,   /* the best k */
    SELECT_CLASS, /* dealt out to the classes in turn, each giving its best that is left */
    SELECT_DIVERSE /* one after another, each for the classes that the earlier ones do not separate */
};

/* Which candidates the search has to keep so that the choice can be made afterwards: lists, and how
 * many candidates each. */
struct select_plan {
    enum selection selection;
    size_t k;
    size_t classes, steps;
    size_t zones; /* lists for each class: stretches of the series */
    size_t lists;
    size_t capacity;
};

struct select_plan select_plan(enum selection selection, size_t k, const size_t *class_counts,
                               size_t classes, size_t steps);
/* The list that a candidate goes to. */
size_t select_list(const struct select_plan *plan, const struct scored_candidate *candidate);

/* The lists first..end-1 that candidates of a class can go to. */
void select_lists(const struct select_plan *plan, int32_t label, size_t *first, size_t *end);

/* How the candidates were measured, for choices that measure them again. */
struct select_measure {
    const struct dataset *dataset;
    size_t window; /* SIZE_MAX: full scan */
    bool length_normalised;
};

/* Up to k of the candidates in the lists into chosen[k], and how many; sorted, but in the order of
 * choice for SELECT_DIVERSE. */
struct error *select_final(const struct select_plan *plan, const struct shortlist *lists,
                           const struct select_measure *measure, struct scored_candidate *chosen,
                           size_t *count) MUST_CHECK;

/* The part of select_final for SELECT_DIVERSE, in diverse.c: candidates are sorted. */
struct error *select_diverse(const struct scored_candidate *candidates, size_t candidate_count,
                             size_t k, const struct select_measure *measure,
                             struct scored_candidate *chosen, size_t *count) MUST_CHECK;

#endif
