/* The kernels that distance.c calls, one table for each instruction set. */
#ifndef SC_SHAPELETS_DISTANCE_INTERNAL_H
#define SC_SHAPELETS_DISTANCE_INTERNAL_H

#include "shapelets/distance.h"

enum { DISTANCE_MOST_SHIFTS = 5 }; /* shifts of one pass: their sums stay in registers */

struct distance_pass {
    const float *source;
    const float *block;
    const struct candidates *candidates;
    struct distance_scratch *scratch;
    ptrdiff_t shift; /* the first */
    size_t shifts;   /* how many, up to DISTANCE_MOST_SHIFTS */
    size_t grain;    /* steps between two running sums */
};

struct distance_kernels {
    /* Lowers least[] to the least squares over the shifts of the pass. */
    void (*pass)(const struct distance_pass *pass);
    /* Roots of least[] into the table. */
    void (*finish)(const struct candidates *candidates, const double *least, float *table,
                   size_t stride);
    void (*range)(const float *distances, size_t count, float *low, float *high);
    void (*cells)(const float *distances, size_t count, float low, float scale, unsigned last,
                  uint16_t *cells);
};

/* distance_to_block with a choice of kernels, for tests. */
void distance_to_block_with(const struct distance_kernels *kernels, const float *source,
                            const float *block, const struct candidates *candidates, size_t window,
                            struct distance_scratch *scratch, float *table, size_t stride);

extern const struct distance_kernels distance_kernels_generic;
extern const struct distance_kernels distance_kernels_avx2;

#endif
