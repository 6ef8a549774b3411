/* Which series belong to each class: the one index of labels that everything uses. */
#ifndef SC_DATA_CLASSES_H
#define SC_DATA_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct class_lists {
    size_t classes;
    size_t largest;  /* series of the largest class */
    size_t *first;   /* (V + 1): where the series of each class begin in members */
    size_t *members; /* (N,): by class, and in the order of the dataset within each */
};

/* labels (count,), all in 0..classes-1. */
struct error *class_lists_make(const int32_t *labels, size_t count, size_t classes,
                               struct class_lists *lists) MUST_CHECK;
/* Safe on lists that are all zeros. */
void class_lists_free(struct class_lists *lists);

/* The series of a class, which the caller may reorder, and how many. */
static inline size_t *class_members(const struct class_lists *lists, size_t label)
{
    return lists->members + lists->first[label];
}
static inline size_t class_size(const struct class_lists *lists, size_t label)
{
    return lists->first[label + 1] - lists->first[label];
}

/* The first class without series, or `classes`. */
size_t class_lists_empty(const struct class_lists *lists);

#endif
