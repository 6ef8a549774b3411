#include "base/sort.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const float left = *(const float *)a, right = *(const float *)b;

    return (left > right) - (left < right);
}

void sort_floats(float *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}
