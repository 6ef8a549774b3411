/* Arithmetic of sizes that several files need. */
#ifndef SC_SIZE_H
#define SC_SIZE_H

#include <stddef.h>

static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* value / divisor, rounded up. */
static inline size_t size_ceiling(size_t value, size_t divisor)
{
    return (value + divisor - 1) / divisor;
}

/* The smallest multiple of `multiple` that is not below the value. */
static inline size_t size_round_up(size_t value, size_t multiple)
{
    return size_ceiling(value, multiple) * multiple;
}

#endif
