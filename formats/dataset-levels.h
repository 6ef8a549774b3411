/* The two arrays of a dataset file whose series are stored in few bits (sc-dataset(5)); only for
 * dataset.c. */
#ifndef SC_DATASET_LEVELS_H
#define SC_DATASET_LEVELS_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/dataset.h"
#include "base/error.h"

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

#endif
