/* The kernels of distance.c for vectors of WIDTH doubles, written with the compiler's vector types.
 * The including file defines WIDTH, KERNELS (the name of the table), the types vector (of doubles)
 * and narrow (of as many floats, may alias), vector_min, subtract and widen for them, and
 * eight_roots (of doubles, rounded to float first; false if that cannot be), eight_min and
 * eight_max (x = min(x, y), of floats), the type octet (of eight floats, may alias), half_of (WIDTH
 * floats of an octet) and rounded (a product that must not be fused with the addition after it).
 *
 * A pass handles a few neighbouring shifts at once.  It walks over the steps t of the source with
 * the running sums of all its shifts in registers, stores them in a ring that remembers as many
 * steps as the longest candidate has, and settles the candidates that end at t: old sums are loaded
 * once, subtracted and the least kept.  At the edges, where some of the shifts are outside of the
 * other series, old sums of -OUTSIDE and, past the end, new ones of +OUTSIDE make every such
 * difference huge.
 *
 * With a grain of more than one step all of this happens once per grain; a grain that is only
 * partly inside does not count. */
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

/* The squares of a grain of steps, added up one after the other. */
INLINE void add_grain(const float *source, const float *values, int grain, octet *sum)
{
    for (int i = 0; i < grain; i++) {
        octet difference = source[i] - *(const octet *)(values + i * DISTANCE_LANES);

        *sum += rounded(difference * difference);
    }
}

/* The same for a grain of steps. */
INLINE void walk_grain(const struct distance_pass *pass, size_t t, int grain, int shifts, int edge,
                       vector *ring, vector sums[][VECTORS])
{
    ptrdiff_t steps = (ptrdiff_t)pass->candidates->steps, first = (ptrdiff_t)t + pass->shift;
    const float *values = pass->block + first * DISTANCE_LANES;

    for (int k = 0; k < shifts; k++) {
        ptrdiff_t place = first + k;
        octet squares = {0};

        for (int v = 0; v < VECTORS; v++)
            ring[k * VECTORS + v] =
                edge && (place < 0 || place >= steps) ? broadcast(-OUTSIDE) : sums[k][v];
        if (!edge || (place >= 0 && place + grain <= steps))
            add_grain(pass->source + t, values + k * DISTANCE_LANES, grain, &squares);
        for (int v = 0; v < VECTORS; v++)
            sums[k][v] +=
                edge && place + grain > steps ? broadcast(OUTSIDE) : widen(half_of(squares, v));
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
                       int grain, int shifts, int edge, vector sums[][VECTORS])
{
    vector *ring = (vector *)pass->scratch->sums;
    size_t mask = pass->scratch->sum_mask;

    for (size_t t = from; t < to; t += (size_t)grain) {
        vector *here = ring + (t & mask) * (size_t)shifts * VECTORS;

        if (grain == 1)
            walk(pass, t, shifts, edge, here, sums);
        else
            walk_grain(pass, t, grain, shifts, edge, here, sums);
        settle(pass, begin, t + (size_t)grain, shifts, ring, sums);
    }
}

static inline ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

/* Multiples of the grain, towards 0 and away from it; steps are not negative. */
static inline ptrdiff_t grain_before(ptrdiff_t step, ptrdiff_t grain)
{
    return step - step % grain;
}

static inline ptrdiff_t grain_behind(ptrdiff_t step, ptrdiff_t grain)
{
    return grain_before(step + grain - 1, grain);
}

INLINE void pass_of(const struct distance_pass *pass, int grain, int shifts)
{
    const struct candidates *candidates = pass->candidates;
    ptrdiff_t steps = (ptrdiff_t)candidates->steps;
    ptrdiff_t first = pass->shift, last = pass->shift + shifts - 1;
    /* Steps for which any shift is inside, and for which all are. */
    ptrdiff_t begin = larger((ptrdiff_t)candidates->from, -last);
    ptrdiff_t end = -larger(-(ptrdiff_t)candidates->to, first - steps);
    ptrdiff_t inner = larger(begin, -first), outer = -larger(-end, last - steps);
    vector sums[DISTANCE_MOST_SHIFTS][VECTORS];

    if (begin >= end)
        return;
    for (int k = 0; k < shifts; k++)
        for (int v = 0; v < VECTORS; v++)
            sums[k][v] = (vector){0};
    /* In whole grains. */
    begin = grain_before(begin, grain);
    end = grain_before(end, grain);
    inner = grain_behind(inner, grain);
    outer = outer > 0 ? grain_before(outer, grain) : 0;
    if (inner >= outer)
        inner = outer = end;
    walk_range(pass, (size_t)begin, (size_t)begin, (size_t)inner, grain, shifts, 1, sums);
    walk_range(pass, (size_t)begin, (size_t)inner, (size_t)outer, grain, shifts, 0, sums);
    walk_range(pass, (size_t)begin, (size_t)outer, (size_t)end, grain, shifts, 1, sums);
}

INLINE void pass_in_grains(const struct distance_pass *pass, int grain)
{
    switch (pass->shifts) {
    case 1:
        pass_of(pass, grain, 1);
        break;
    case 2:
        pass_of(pass, grain, 2);
        break;
    case 3:
        pass_of(pass, grain, 3);
        break;
    case 4:
        pass_of(pass, grain, 4);
        break;
    default:
        pass_of(pass, grain, 5);
    }
}

/* Grains as find_grain in distance.c has them. */
static void kernel_pass(const struct distance_pass *pass)
{
    switch (pass->grain) {
    case 5:
        pass_in_grains(pass, 5);
        break;
    case 4:
        pass_in_grains(pass, 4);
        break;
    case 2:
        pass_in_grains(pass, 2);
        break;
    default:
        pass_in_grains(pass, 1);
    }
}

static void kernel_finish(const struct candidates *candidates, const double *least, float *table,
                          size_t stride)
{
    for (size_t c = 0; c < candidates->count; c++) {
        const double *squares = least + c * DISTANCE_LANES;
        float *roots = table + candidates->row[c] * stride;

        /* Squares of very large or small values do not fit into a float, but roots do. */
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
