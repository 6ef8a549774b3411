/* Distances on a device that is not the processor: what distance.h does, for many series at a time
 * and with the same bits. */
#ifndef SC_SHAPELETS_DISTANCE_DEVICE_H
#define SC_SHAPELETS_DISTANCE_DEVICE_H

#include <stddef.h>

#include "shapelets/distance.h"

struct distance_device {
    /* The series of a channel on the device; NULL when it has no memory left. */
    void *(*series_open)(const struct series_blocks *blocks);
    void (*series_close)(void *series);

    /* What one thread needs to measure up to most_candidates candidates against up to most_blocks
     * blocks of such series at a time; NULL when there is no memory left. */
    void *(*worker_open)(const struct candidates *most, size_t most_blocks);
    void (*worker_close)(void *worker);

    /* Distances of the candidates of `source` (host) to the series of blocks first..end-1:
     * table[row * stride + 8 * (block - first) + lane] (host), as distance_to_block does for each
     * with that doubt (distance_doubt). */
    void (*measure)(void *worker, const void *series, const float *source,
                    const struct candidates *candidates, size_t window, double doubt, size_t first,
                    size_t end, float *table, size_t stride);

    /* As that of the backend: what went wrong since the start, or NULL. */
    const char *(*fault)(void);
};

#endif
