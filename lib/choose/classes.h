/* Batches of real series for matching, drawn class by class. */
#ifndef SC_CHOOSE_CLASSES_H
#define SC_CHOOSE_CLASSES_H

#include <stddef.h>

#include "base/random.h"
#include "formats/dataset.h"
#include "base/error.h"

/* Which series belong to each class. */
struct class_lists {
    const struct dataset *set;
    size_t classes;
    size_t largest;  /* series of the largest class */
    size_t *first;   /* (V + 1): where the series of each class begin in members */
    size_t *members; /* (N,) */
};

/* A class without series is an error. */
struct error *class_lists_make(const struct dataset *set, struct class_lists *lists) MUST_CHECK;
/* Safe on lists that are all zeros. */
void class_lists_free(struct class_lists *lists);

/* Copies `most` different series of a class, or all if it has no more, in random order, to x
 * (most, C, L); returns how many.  scratch: lists->largest numbers. */
size_t draw_class(const struct class_lists *lists, size_t label, size_t most,
                  struct random_stream *stream, size_t *scratch, float *x);

#endif
