/* Files of tests/golden. */
#ifndef SC_TEST_GOLDEN_H
#define SC_TEST_GOLDEN_H

#include <stddef.h>

/* "tests/golden/NAME", in a buffer that the next call uses again. */
const char *golden_path(const char *name);

/* The whole file, malloc'ed; fails the test if it cannot be read. */
unsigned char *golden_bytes(const char *name, size_t *size);

#endif
