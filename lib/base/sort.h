/* Sorting numbers. */
#ifndef SC_SORT_H
#define SC_SORT_H

#include <stddef.h>

/* In ascending order.  None may be NaN. */
void sort_floats(float *values, size_t count);

#endif
