/* Distances of all candidates of one series to eight other series at a time.
 *
 * A candidate is (start, length) in its source series a.  Its squared distance to a series b at
 * shift d is the sum of (a[t] - b[t+d])^2 over its steps, hence the difference of one running sum
 * over t at two places: for a pair and a shift, one pass gives every candidate at one subtraction
 * each, whatever its length.  The distance is the root of the least sum over the shifts
 * d = -W..W (or all) for which the candidate stays inside b (paper, 3.1: position-constrained).
 *
 * Eight series fill the lanes of the vectors (series_blocks), so that nothing is wasted for any W,
 * length or start.
 *
 * Accuracy: the difference a - b is rounded to float, its square is exact in double, and the sums
 * are kept in double: a squared distance is off by about 1e-7 of itself and 1e-16 of the whole sum,
 * so that the cancellation that float sums would suffer stays out of sight.  Where a few values are
 * larger than all others by orders of magnitude, even that is too much (distance_doubt): squares
 * that may suffer are summed again, each on its own.  As the squares are exact, every instruction
 * set gives the same bits, with or without fused multiply-add.
 *
 * Where all starts and lengths are multiples of some steps, running sums are needed only there: the
 * squares of a few steps (a grain) are added up as floats, all eight series at once, before they go
 * into the doubles.  Nothing cancels in such a sum, so it costs another 3e-7 of the square at most.
 * Only where nothing is in doubt. */
#ifndef SC_SHAPELETS_DISTANCE_H
#define SC_SHAPELETS_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "formats/dataset.h"
#include "base/error.h"

enum { DISTANCE_LANES = 8 };

/* One channel of a dataset, eight series interleaved: value t of series 8 b + lane is at values[(b
 * * length + t) * 8 + lane].  Lanes after the last series repeat it. */
struct series_blocks {
    size_t count;  /* series */
    size_t length; /* steps */
    size_t blocks;
    float *values;
};

/* Series order[0], order[1], ... of a channel. */
struct error *series_blocks_make(const struct dataset *dataset, size_t channel, const size_t *order,
                                 struct series_blocks *blocks) MUST_CHECK;
void series_blocks_free(struct series_blocks *blocks);

/* Below which a square that comes from running sums over these series may be off by more than the
 * rounding to float: 0 if their values are within a thousand times of the distance between their
 * quartiles, and neither large nor small beyond a million times. */
struct error *distance_doubt(const struct series_blocks *blocks, double *doubt) MUST_CHECK;

/* Candidates of a series, ordered by where they end. */
struct candidates {
    size_t count;
    size_t steps;     /* of the series */
    size_t longest;   /* length of the longest candidate, which may have been removed since */
    size_t shortest;  /* and of the shortest */
    size_t from, to;  /* steps between which all of them lie */
    size_t grain;     /* steps that divide all starts and lengths: 1, 2, 4 or 5 */
    uint32_t *start;  /* (count,) */
    uint32_t *length; /* (count,) */
    uint32_t *row;    /* (count,) where the distances of a candidate go: row of the table */
    uint32_t *first;  /* (steps + 2,): those that end before step e are first[e]..first[e+1]-1 */
};

/* All candidates with one of the lengths (ascending, between 1 and steps) whose start is a multiple
 * of start_step and lies in from..to-1.  Rows are numbered as the candidates. */
struct error *candidates_make(size_t steps, const size_t *lengths, size_t length_count,
                              size_t start_step, size_t from, size_t to,
                              struct candidates *candidates) MUST_CHECK;
/* Makes a candidate list of the same size, to be filled by candidates_keep. */
struct error *candidates_clone(const struct candidates *from, struct candidates *to) MUST_CHECK;
/* Those of `from` for whose row keep[row] is not 0, with their rows; kept may be the same list, or
 * any that has room. */
void candidates_keep(const struct candidates *from, const uint8_t *keep, struct candidates *kept);
void candidates_free(struct candidates *candidates);

/* Scratch memory of one thread. */
struct distance_scratch {
    double *sums; /* running sums of the last `longest` steps, for a group of shifts */
    size_t sum_mask;
    double *least; /* (candidates, 8) least squares so far */
    double doubt;  /* least squares below this are summed up directly; 0 at first */
};

struct error *distance_scratch_make(const struct candidates *most,
                                    struct distance_scratch *scratch) MUST_CHECK;
void distance_scratch_free(struct distance_scratch *scratch);

/* Steps between two running sums for those candidates. */
static inline size_t distance_grain(const struct candidates *candidates, double doubt)
{
    return doubt > 0 ? 1 : candidates->grain;
}

/* Distances of the candidates of `source` to the eight series of `block`: table[row * stride +
 * lane].  window is W; anything from the number of steps on means all shifts. */
void distance_to_block(const float *source, const float *block, const struct candidates *candidates,
                       size_t window, struct distance_scratch *scratch, float *table,
                       size_t stride);

/* Smallest and largest of count distances, count > 0. */
void distance_range(const float *distances, size_t count, float *low, float *high);

/* cells[i] = min(max((distances[i] - low) * scale, 0), last): which never decreases when the
 * distance grows. */
void distance_cells(const float *distances, size_t count, float low, float scale, unsigned last,
                    uint16_t *cells);

#endif
