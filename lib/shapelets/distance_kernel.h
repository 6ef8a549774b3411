/* The kernels of distance.c for vectors of WIDTH doubles, written with the compiler's vector types.
 * The including file defines WIDTH, KERNELS (the name of the table), the types vector (of doubles)
 * and narrow (of as many floats, may alias), vector_min, subtract and widen for them, and
 * eight_roots (of doubles, rounded to float first; false if that cannot be), eight_min and
 * eight_max (x = min(x, y), of floats).
 *
 * A pass handles a few neighbouring shifts at once.  It walks over the steps t of the source with
 * the running sums of all its shifts in registers, stores them in a ring that remembers as many
 * steps as the longest candidate has, and settles the candidates that end at t: old sums are loaded
 * once, subtracted and the least kept.  At the edges, where some of the shifts are outside of the
 * other series, old sums of -OUTSIDE and, behind the end, new ones of +OUTSIDE make every such
 * difference huge. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "shapelets/distance_internal.h"

#define VECTORS (DISTANCE_LANES / WIDTH)
#define OUTSIDE 1e300
#define INLINE  static inline __attribute__((always_inline))

INLINE vector broadcast(double value)
{
    return value - (vector){0};
}

/* Adds (source[t] - block[t + shift])^2 to the sums of one shift. */
INLINE void add_squares(float source, const float *values, vector sums[VECTORS])
{
    for (int v = 0; v < VECTORS; v++) {
        vector wide = widen(source - *(const narrow *)(values + v * WIDTH));

        sums[v] += wide * wide;
    }
}

/* One step of the source: remember the sums before it, add its squares. */
INLINE void walk(const struct distance_pass *pass, size_t t, int shifts, int edge, vector *ring,
                 vector sums[][VECTORS])
{
    size_t steps = pass->candidates->steps;
    const float *values = pass->block + ((ptrdiff_t)t + pass->shift) * DISTANCE_LANES;
    float source = pass->source[t];

    for (int k = 0; k < shifts; k++) {
        ptrdiff_t place = (ptrdiff_t)t + pass->shift + k;

        for (int v = 0; v < VECTORS; v++)
            ring[k * VECTORS + v] =
                edge && (place < 0 || place >= (ptrdiff_t)steps) ? broadcast(-OUTSIDE) : sums[k][v];
        if (!edge || (place >= 0 && place < (ptrdiff_t)steps))
            add_squares(source, values + k * DISTANCE_LANES, sums[k]);
        else if (place >= 0)
            for (int v = 0; v < VECTORS; v++)
                sums[k][v] = broadcast(OUTSIDE);
    }
}

/* The candidates that end before step `end` and do not start before `begin`. */
INLINE void settle(const struct distance_pass *pass, size_t begin, size_t end, int shifts,
                   const vector *ring, vector sums[][VECTORS])
{
    const struct candidates *candidates = pass->candidates;
    size_t mask = pass->scratch->sum_mask;
    vector *least = (vector *)pass->scratch->least;
    size_t from = candidates->first[end], to = candidates->first[end + 1];

    for (size_t c = from; c < to; c++) {
        size_t start = candidates->start[c];
        const vector *old = ring + (start & mask) * (size_t)shifts * VECTORS;

        vector best[VECTORS];

        if (start < begin)
            continue;
        for (int v = 0; v < VECTORS; v++)
            best[v] = least[c * VECTORS + v];
        /* Neighbours in memory one after the other: loads that are a cache line apart would compete
         * for the same bank. */
        for (int k = 0; k < shifts; k++)
            for (int v = 0; v < VECTORS; v++)
                best[v] = vector_min(subtract(sums[k][v], old[k * VECTORS + v]), best[v]);
        for (int v = 0; v < VECTORS; v++)
            least[c * VECTORS + v] = best[v];
    }
}

INLINE void walk_range(const struct distance_pass *pass, size_t begin, size_t from, size_t to,
                       int shifts, int edge, vector sums[][VECTORS])
{
    vector *ring = (vector *)pass->scratch->sums;
    size_t mask = pass->scratch->sum_mask;

    for (size_t t = from; t < to; t++) {
        walk(pass, t, shifts, edge, ring + (t & mask) * (size_t)shifts * VECTORS, sums);
        settle(pass, begin, t + 1, shifts, ring, sums);
    }
}

static inline ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

INLINE void pass_of(const struct distance_pass *pass, int shifts)
{
    const struct candidates *candidates = pass->candidates;
    ptrdiff_t steps = (ptrdiff_t)candidates->steps;
    ptrdiff_t first = pass->shift, last = pass->shift + shifts - 1;
    /* Steps for which any shift is inside, and for which all are. */
    ptrdiff_t begin = larger((ptrdiff_t)candidates->from, -last);
    ptrdiff_t end = -larger(-(ptrdiff_t)candidates->to, first - steps);
    ptrdiff_t inner = larger(begin, -first), outer = -larger(-end, last - steps);
    vector sums[DISTANCE_MOST_SHIFTS][VECTORS] = {0};

    if (begin >= end)
        return;
    if (inner >= outer)
        inner = outer = end;
    walk_range(pass, (size_t)begin, (size_t)begin, (size_t)inner, shifts, 1, sums);
    walk_range(pass, (size_t)begin, (size_t)inner, (size_t)outer, shifts, 0, sums);
    walk_range(pass, (size_t)begin, (size_t)outer, (size_t)end, shifts, 1, sums);
}

static void kernel_pass(const struct distance_pass *pass)
{
    switch (pass->shifts) {
    case 1:
        pass_of(pass, 1);
        break;
    case 2:
        pass_of(pass, 2);
        break;
    case 3:
        pass_of(pass, 3);
        break;
    case 4:
        pass_of(pass, 4);
        break;
    default:
        pass_of(pass, 5);
    }
}

static void kernel_finish(const struct candidates *candidates, const double *least, float *table,
                          size_t stride)
{
    for (size_t c = 0; c < candidates->count; c++) {
        const double *squares = least + c * DISTANCE_LANES;
        float *roots = table + candidates->row[c] * stride;

        /* Squares of very large or small values have no place in a float, but roots do. */
        if (!eight_roots(squares, roots))
            for (int lane = 0; lane < DISTANCE_LANES; lane++)
                roots[lane] = (float)fmin(sqrt(squares[lane]), FLT_MAX);
    }
}

static void kernel_range(const float *distances, size_t count, float *low, float *high)
{
    float lows[8], highs[8];
    size_t i = 0;

    for (int lane = 0; lane < 8; lane++)
        lows[lane] = highs[lane] = distances[0];
    for (; i + 8 <= count; i += 8) {
        eight_min(lows, distances + i);
        eight_max(highs, distances + i);
    }
    for (; i < count; i++) {
        lows[0] = fminf(lows[0], distances[i]);
        highs[0] = fmaxf(highs[0], distances[i]);
    }
    *low = lows[0];
    *high = highs[0];
    for (int lane = 1; lane < 8; lane++) {
        *low = fminf(*low, lows[lane]);
        *high = fmaxf(*high, highs[lane]);
    }
}

static void kernel_cells(const float *distances, size_t count, float low, float scale,
                         unsigned last, uint16_t *cells)
{
    for (size_t i = 0; i < count; i++) {
        float place = (distances[i] - low) * scale;

        /* Within the range of integers before it becomes one. */
        place = place > 0 ? place : 0;
        cells[i] = (uint16_t)(place < (float)last ? (int)place : (int)last);
    }
}

const struct distance_kernels KERNELS = {kernel_pass, kernel_finish, kernel_range, kernel_cells};
