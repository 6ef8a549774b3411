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

/* Bytes of the codes, and of the low and step of each channel of a series. */
size_t levels_size(const struct dataset *dataset);

/* Writes codes, levels and packing in place of the series. */
struct error *levels_write(FILE *stream, const struct dataset *dataset) MUST_CHECK;

void levels_move(struct dataset *dataset, size_t channel, double factor, double offset);

/* ---- dataset-packed.c: series that are compressed ---- */

enum {
    PACKED_MOST_LEVELS = 5,   /* of the transform */
    PACKED_MOST_CODE = 32767, /* largest absolute value of a code */
};

/* Whether the first array can be compressed series: a one-dimensional array of bytes. */
bool packed_is_series(const struct npy_array *array);
void packed_take_series(struct npy_array *array, struct dataset *dataset);

/* Whether an array can be `packing` of compressed series: five or six float64 numbers. */
bool packed_is_packing(const struct npy_array *array);

/* Reads the shape. */
struct error *packed_take_packing(const struct npy_array *array,
                                  struct dataset *dataset) MUST_CHECK;

/* Moves `levels` into the dataset. */
struct error *packed_take_levels(struct npy_array *array, struct dataset *dataset) MUST_CHECK;

/* When all arrays are read: reads the codes and computes the values. */
struct error *packed_decode(struct dataset *dataset) MUST_CHECK;

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

/* ---- dataset-codes.c: how the codes of both are coded ---- */

/* The codes of dataset->packed as bytes, which the caller frees; and back, where codes has room.
 * classes: they were written where the classes of the series were known. */
struct error *codes_write_series(const struct dataset *dataset, uint8_t **bytes,
                                 size_t *size) MUST_CHECK;
struct error *codes_read_series(struct dataset *dataset, bool classes, const uint8_t *bytes,
                                size_t size) MUST_CHECK;

/* Rows of codes of soft labels. */
struct label_codes {
    uint8_t *rows; /* (count, views_row(classes, bits)); zeros before they are read */
    size_t count;
    size_t series; /* the first of them belong to series, whose classes are known */
    size_t classes;
    unsigned bits;
    const int32_t *y; /* these classes */
};

struct error *codes_write_labels(const struct label_codes *codes, uint8_t **bytes,
                                 size_t *size) MUST_CHECK;
struct error *codes_read_labels(const struct label_codes *codes, const uint8_t *bytes,
                                size_t size) MUST_CHECK;

#endif
