#include "shapelets/bins.h"

#include <math.h>

#include "shapelets/distance.h"

void bins_cells(const struct bins *bins, const float *distances, size_t count, uint16_t *cells)
{
    distance_cells(distances, count, bins->low, bins->scale, BINS_CELLS - 1, cells);
}

void bins_make(const float *distances, size_t count, uint16_t *cells, struct bins *bins)
{
    uint32_t held[BINS_CELLS] = {0};
    uint64_t before = 0, share;
    float high;

    distance_range(distances, count, &bins->low, &high);
    bins->scale = high > bins->low ? BINS_CELLS / (high - bins->low) : 0;
    if (!isfinite(bins->scale))
        bins->scale = 0;
    bins_cells(bins, distances, count, cells);
    for (size_t i = 0; i < count; i++)
        held[cells[i]]++;
    share = ((uint64_t)BINS_CELLS << 32) / (2 * count);
    for (size_t cell = 0; cell < BINS_CELLS; cell++) {
        uint64_t mass = (2 * before + held[cell]) * share >> 32;

        bins->of_cell[cell] = (uint8_t)((mass + cell) * BINS / (2 * BINS_CELLS));
        before += held[cell];
    }
}
