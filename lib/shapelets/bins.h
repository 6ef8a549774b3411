/* Bins for the distances of a candidate: fine where many distances are, so that a bin never holds
 * many, and fine where there are few, which often are the best matches.
 *
 * Cells of equal width between the extremes of a first part of the distances are shared out to the
 * bins, half by how many of that part they hold and half by their width; what lies outside goes to
 * the ends. */
#ifndef SC_SHAPELETS_BINS_H
#define SC_SHAPELETS_BINS_H

#include <stddef.h>
#include <stdint.h>

enum { BINS = 64, BINS_CELLS = 512 };

struct bins {
    float low, scale; /* of the cells */
    uint8_t of_cell[BINS_CELLS];
};

/* Bins for distances of which these are a part, count > 0.  cells: room for as many. */
void bins_make(const float *distances, size_t count, uint16_t *cells, struct bins *bins);

/* The cells of some distances; bins->of_cell[cell] is the bin. */
void bins_cells(const struct bins *bins, const float *distances, size_t count, uint16_t *cells);

#endif
