/* Measures of how well the distances to a candidate separate the classes.
 *
 * A new measure is one file, quality_X.c, that defines quality_X, and its row in SLP_QUALITIES
 * (formats/slp.h), which gives it a name and a number in files. */
#ifndef SC_SHAPELETS_QUALITY_H
#define SC_SHAPELETS_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "formats/slp.h"

/* The classes to separate.  Class v of the series is class v of the labelling or, for one class
 * against the rest, 0 if it is that class and 1 if not. */
struct labelling {
    size_t classes;
    size_t total;
    size_t *totals;      /* (classes,) */
    int32_t positive;    /* the one class, -1 for all against all */
    const double *xlogx; /* f(x) = x log2 x of 0..total (gain.h), shared */
    double base;         /* f(total) - sum f(totals) */
};

/* counts[v]: series of class v; positive: the class to tell from the rest, or -1; xlogx:
 * gain_xlogx. */
struct error *labelling_make(const size_t *counts, size_t classes, int32_t positive,
                             const double *xlogx, struct labelling *labelling) MUST_CHECK;
void labelling_free(struct labelling *labelling);

static inline size_t labelling_class(const struct labelling *labelling, int32_t label)
{
    return labelling->positive < 0 ? (size_t)label : label != labelling->positive;
}

enum { QUALITY_MOST_BINS = 64 };

/* Distances in bins, the lower distances in lower bins. */
struct quality_bins {
    size_t count;              /* up to QUALITY_MOST_BINS */
    const uint32_t *histogram; /* (classes, count) */
};

/* Distances among which the best split lies: those in bins first..last.  Series of lower bins are
 * on the near side of it, series of higher bins are not. */
struct quality_range {
    const uint8_t *bins; /* of each series */
    unsigned first, last;
};

struct quality_split {
    float quality;   /* finite, not negative; 0 if all distances are equal */
    float threshold; /* series up to this distance are on the near side: halfway between two */
    float gap;       /* between those two distances */
};

/* Scratch memory for scores, made for a number of series and classes. */
struct quality_scratch {
    uint64_t *items, *swap;
    size_t *near;
    double *sums; /* (classes,) */
};

struct error *quality_scratch_make(size_t count, size_t classes,
                                   struct quality_scratch *scratch) MUST_CHECK;
void quality_scratch_free(struct quality_scratch *scratch);

/* Upper bounds from the distances that are known so far, with which a search drops candidates
 * before they are measured to the end. */
struct quality_bounds {
    /* Whether some split could reach the quality (true if that is not certain) when the distances
     * of unknown[class] series are not in the histogram, which may be anywhere; unknown may be
     * NULL: none.  *likely is a bin to look at first and becomes the most promising one. */
    bool (*can_reach)(const struct labelling *labelling, const struct quality_bins *bins,
                      const size_t *unknown, double quality, uint8_t *likely);
    /* The same when all distances are known; if so, sets range->first and last so that every split
     * that reaches the quality lies there. */
    bool (*find_range)(const struct labelling *labelling, const struct quality_bins *bins,
                       double quality, struct quality_range *range);
    /* The upper bound for a candidate whose known distances tell nothing (half of each class on
     * either side): for a needed quality up to this, can_reach is always true: skip the call. */
    double (*blind)(const struct labelling *labelling, const size_t *unknown);
};

struct quality {
    const struct quality_bounds *bounds; /* NULL: no candidate is dropped */

    /* The quality of series with these distances (not negative) and labels, with the split of the
     * largest information gain; range: as find_range gave it, or NULL. */
    struct quality_split (*score)(const struct labelling *labelling, const float *distances,
                                  const int32_t *labels, const struct quality_range *range,
                                  struct quality_scratch *scratch);
};

#define QUALITY_DECLARE(word, text) extern const struct quality quality_##word;
SLP_QUALITIES(QUALITY_DECLARE)
#undef QUALITY_DECLARE

/* All of them, by their numbers in files. */
extern const struct quality *const qualities[];

/* ---- For measures ---- */

/* Distances in ascending order, with their classes. */
struct quality_sorted {
    const uint64_t *items; /* bits of the distance, then 32 bits of the class */
    size_t count;
};

/* Sorts the distances of the range, or all; scratch->near counts the series below it by class. */
struct quality_sorted quality_sort(const struct labelling *labelling, const float *distances,
                                   const int32_t *labels, const struct quality_range *range,
                                   struct quality_scratch *scratch);
static inline float sorted_distance(uint64_t item)
{
    uint32_t bits = (uint32_t)(item >> 32);
    float distance;

    memcpy(&distance, &bits, sizeof distance);
    return distance;
}
static inline size_t sorted_class(uint64_t item)
{
    return (uint32_t)item;
}

#endif
