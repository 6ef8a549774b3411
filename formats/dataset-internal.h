/* What the files dataset*.c share: where arrays live, and the arrays that hold views and levels
 * (sc-dataset(5)). */
#ifndef SC_DATASET_INTERNAL_H
#define SC_DATASET_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"

/* Places in dataset->storage. */
enum { STORE_X, STORE_Y, STORE_SOFT, STORE_GROUPS };

/* ---- dataset-levels.c: series that are stored in few bits ---- */

/* Whether an array can be `packing`: two float64 numbers. */
bool levels_is_packing(const struct npy_array *array);

/* Moves `levels` into the dataset. */
struct error *levels_take(struct npy_array *array, struct dataset *dataset) MUST_CHECK;

/* Reads the bits of a code and L; levels.bits is 0 before and 4 or 8 after. */
struct error *levels_take_packing(const struct npy_array *array,
                                  struct dataset *dataset) MUST_CHECK;

/* When all arrays are read: turns the codes in x, which lives in *series, into values. */
struct error *levels_decode(struct dataset *dataset, struct npy_array *series) MUST_CHECK;

/* The series are stored as float32 from now on. */
void levels_drop(struct dataset *dataset);

/* Writes codes, levels and packing in place of the series. */
struct error *levels_write(FILE *stream, const struct dataset *dataset) MUST_CHECK;

void levels_move(struct dataset *dataset, size_t channel, double factor, double offset);

/* ---- dataset-packed.c: series that are compressed ---- */

/* Whether the first array can be compressed series: a one-dimensional array of bytes. */
bool packed_is_series(const struct npy_array *array);
void packed_take_series(struct npy_array *array, struct dataset *dataset);

/* Whether an array can be `packing` of compressed series: five float64 numbers. */
bool packed_is_packing(const struct npy_array *array);

/* Reads the shape and decompresses the codes. */
struct error *packed_take_packing(const struct npy_array *array,
                                  struct dataset *dataset) MUST_CHECK;

/* Moves `levels` into the dataset and computes the values. */
struct error *packed_take_levels(struct npy_array *array, struct dataset *dataset) MUST_CHECK;

/* When all arrays are read: an error if packing or levels are missing. */
struct error *packed_check(const struct dataset *dataset) MUST_CHECK;

struct error *packed_move(struct dataset *dataset, size_t channel, double factor,
                          double offset) MUST_CHECK;
void packed_drop(struct dataset *dataset);
struct error *packed_write(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* ---- dataset-views.c: labelled views ---- */

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
