/* Batches of real series, drawn at random from a class. */
#ifndef SC_CHOOSE_DRAW_H
#define SC_CHOOSE_DRAW_H

#include <stddef.h>

#include "base/random.h"
#include "data/classes.h"
#include "formats/dataset.h"

/* Copies `most` different series of a class, or all if it has no more, in random order, to x
 * (most, C, L); returns how many.  scratch: lists->largest numbers. */
size_t draw_class(const struct dataset *dataset, const struct class_lists *lists, size_t label,
                  size_t most, struct random_stream *stream, size_t *scratch, float *x);

#endif
