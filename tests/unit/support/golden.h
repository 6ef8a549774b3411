/* Files of tests/golden. */
#ifndef SC_TEST_GOLDEN_H
#define SC_TEST_GOLDEN_H

#include <stddef.h>

#include "formats/npy-c/npy-c.h"

/* "tests/golden/NAME", in a buffer that the next call uses again. */
const char *golden_path(const char *name);

/* The whole file, malloc'ed; fails the test if it cannot be read. */
unsigned char *golden_bytes(const char *name, size_t *size);

/* Arrays of floats one after another, as a script wrote them. */
enum { GOLDEN_ARRAYS = 16 };
struct golden {
    npy_reader *reader;
    struct npy_array arrays[GOLDEN_ARRAYS];
    size_t count;
};

void golden_open(const char *name, struct golden *golden);
/* The next array, which has `count` values; it lives until golden_forget. */
float *golden_next(struct golden *golden, size_t count);
/* Frees the arrays so far. */
void golden_forget(struct golden *golden);
/* Frees all of it; every array must have been read. */
void golden_close(struct golden *golden);

/* Asserts that the largest difference is small beside the largest value, and the values are not all
 * nearly 0. */
void golden_same(const float *values, const float *expected, size_t count);

#endif
