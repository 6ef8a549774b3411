/* Lists of candidate lengths as text: "14,18,22,26", "10-30:5" (from 10 to 30 in steps of 5), or a
 * mixture of both. */
#ifndef SC_SHAPELETS_LENGTHS_H
#define SC_SHAPELETS_LENGTHS_H

#include <stddef.h>

#include "base/error.h"

/* The lengths in ascending order, each once; the caller frees them. */
struct error *lengths_parse(const char *text, size_t **lengths, size_t *count) MUST_CHECK;

#endif
