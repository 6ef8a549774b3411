/* The two arrays of a dataset file that hold labelled views (sc-dataset(5)); only for dataset.c. */
#ifndef SC_DATASET_VIEWS_H
#define SC_DATASET_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"

/* Whether an array can be a recipe: a row of float64 numbers. */
bool views_is_recipe(const struct npy_array *array);

/* Reads the recipe; views.bits is 0 before and 4 or 8 after. */
struct error *views_take_recipe(const struct npy_array *array, struct dataset *dataset) MUST_CHECK;

/* Moves the codes into the dataset. */
struct error *views_take_codes(struct npy_array *array, struct dataset *dataset) MUST_CHECK;

/* When all arrays are read: recipe, codes, series and classes must fit each other.  Codes of the
 * series become soft labels. */
struct error *views_check(struct dataset *dataset) MUST_CHECK;

/* Frees the views, and remembers how many there were. */
void views_drop(struct dataset *dataset);

/* Whether the soft labels of the series are stored as codes, too: where there are views, and where
 * names or labels tell the number of classes, which the columns of soft labels would. */
bool views_hold_soft(const struct dataset *dataset);

struct error *views_write(FILE *stream, const struct dataset *dataset) MUST_CHECK;

#endif
