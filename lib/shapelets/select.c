/* Which lists a search must keep for each way to choose, and the choice from them.
 *
 * top: one list of k.  class: a list for each class, of its share of the pool; where some class may
 * have too few candidates for that, of k, so that others can take its place.  diverse: a reserve
 * for each class and each stretch of the series, so that the choice is not among near-copies of one
 * good place. */
#include "shapelets/select.h"

#include <stdlib.h>
#include <string.h>

enum { ZONES = 8, RESERVE = 8 };

int scored_compare(const void *a, const void *b)
{
    const struct scored_candidate *x = a, *y = b;

    if (x->quality != y->quality)
        return x->quality > y->quality ? -1 : 1;
    if (x->margin != y->margin)
        return x->margin > y->margin ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

bool scored_overlap(const struct scored_candidate *a, const struct scored_candidate *b)
{
    return a->source == b->source && a->channel == b->channel && a->start < b->start + b->length &&
           b->start < a->start + a->length;
}

static bool overlaps_any(const struct scored_candidate *candidate,
                         const struct scored_candidate *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (scored_overlap(candidate, &others[i]))
            return true;
    return false;
}

size_t scored_keep_separate(struct scored_candidate *candidates, size_t count)
{
    size_t kept = 0;

    qsort(candidates, count, sizeof *candidates, scored_compare);
    for (size_t i = 0; i < count; i++)
        if (!overlaps_any(&candidates[i], candidates, kept))
            candidates[kept++] = candidates[i];
    return kept;
}

struct error *shortlist_make(size_t capacity, struct shortlist *list)
{
    *list = (struct shortlist){.capacity = capacity};
    list->items = calloc(capacity, sizeof *list->items);
    return list->items || !capacity ? NULL : error_memory("the best candidates");
}

void shortlist_free(struct shortlist *list)
{
    free(list->items);
    *list = (struct shortlist){0};
}

void shortlist_add(struct shortlist *list, const struct scored_candidate *candidate)
{
    size_t at = list->count;

    while (at > 0 && scored_compare(candidate, &list->items[at - 1]) < 0)
        at--;
    if (at == list->capacity)
        return;
    if (list->count < list->capacity)
        list->count++;
    memmove(&list->items[at + 1], &list->items[at], (list->count - 1 - at) * sizeof *list->items);
    list->items[at] = *candidate;
}

void shortlist_add_missing(struct shortlist *list, const struct scored_candidate *candidates,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!bsearch(&candidates[i], list->items, list->count, sizeof *candidates, scored_compare))
            shortlist_add(list, &candidates[i]);
}

float shortlist_entry(const struct shortlist *list)
{
    return list->count < list->capacity ? -1 : list->items[list->count - 1].quality;
}

struct select_plan select_plan(enum selection selection, size_t k, const size_t *class_counts,
                               size_t classes, size_t steps)
{
    struct select_plan plan = {
        .selection = selection, .k = k, .classes = classes, .steps = steps, .zones = 1};
    size_t present = 0, fewest = SIZE_MAX, share;

    for (size_t v = 0; v < classes; v++) {
        if (class_counts[v] == 0)
            continue;
        present++;
        fewest = class_counts[v] < fewest ? class_counts[v] : fewest;
    }
    share = present ? (k + present - 1) / present : k;
    switch (selection) {
    case SELECT_TOP:
        plan.lists = 1;
        plan.capacity = k;
        break;
    case SELECT_CLASS:
        /* Every series has a candidate for its class's list. */
        plan.lists = classes;
        plan.capacity = fewest >= share ? share : k;
        break;
    case SELECT_DIVERSE:
        plan.zones = steps < ZONES ? steps : ZONES;
        plan.lists = classes * plan.zones;
        plan.capacity = 2 + RESERVE * share / plan.zones;
        break;
    }
    return plan;
}

size_t select_list(const struct select_plan *plan, const struct scored_candidate *candidate)
{
    size_t middle = candidate->start + candidate->length / 2;

    if (plan->selection == SELECT_TOP)
        return 0;
    return (size_t)candidate->label * plan->zones + middle * plan->zones / plan->steps;
}

void select_lists(const struct select_plan *plan, int32_t label, size_t *first, size_t *end)
{
    *first = plan->selection == SELECT_TOP ? 0 : (size_t)label * plan->zones;
    *end = *first + plan->zones;
}

/* Round after round, each class's best that is left, the best of them first. */
static size_t deal(const struct shortlist *lists, size_t classes, size_t k,
                   struct scored_candidate *chosen)
{
    size_t count = 0;

    for (size_t round = 0, dealt = 1; dealt && count < k; round++) {
        size_t first = count;

        dealt = 0;
        for (size_t v = 0; v < classes; v++) {
            if (round >= lists[v].count)
                continue;
            dealt++;
            /* Insert in order among this round's, which may push the last one out of the pool. */
            size_t at = count;

            while (at > first && scored_compare(&lists[v].items[round], &chosen[at - 1]) < 0)
                at--;
            if (at == k)
                continue;
            if (count < k)
                count++;
            memmove(&chosen[at + 1], &chosen[at], (count - 1 - at) * sizeof *chosen);
            chosen[at] = lists[v].items[round];
        }
    }
    return count;
}

/* All lists in one, sorted. */
static struct scored_candidate *gather(const struct select_plan *plan,
                                       const struct shortlist *lists, size_t *total)
{
    size_t filled = 0;
    struct scored_candidate *all;

    *total = 0;
    for (size_t i = 0; i < plan->lists; i++)
        *total += lists[i].count;
    all = calloc(*total ? *total : 1, sizeof *all);
    if (!all)
        return NULL;
    for (size_t i = 0; i < plan->lists; i++)
        for (size_t j = 0; j < lists[i].count; j++)
            all[filled++] = lists[i].items[j];
    qsort(all, *total, sizeof *all, scored_compare);
    return all;
}

struct error *select_final(const struct select_plan *plan, const struct shortlist *lists,
                           const struct select_measure *measure, struct scored_candidate *chosen,
                           size_t *count)
{
    struct error *error;
    struct scored_candidate *all;
    size_t total;

    switch (plan->selection) {
    case SELECT_TOP:
        *count = lists[0].count;
        memcpy(chosen, lists[0].items, *count * sizeof *chosen);
        return NULL;
    case SELECT_CLASS:
        *count = deal(lists, plan->classes, plan->k, chosen);
        qsort(chosen, *count, sizeof *chosen, scored_compare);
        return NULL;
    case SELECT_DIVERSE:
        break;
    }
    all = gather(plan, lists, &total);
    if (!all)
        return error_memory("the candidates to choose from");
    error = select_diverse(all, total, plan->k, measure, chosen, count);
    free(all);
    return error;
}
