#include "shapelets/gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct error *gain_xlogx(size_t total, double **xlogx)
{
    double *table = calloc(total + 1, sizeof *table);

    if (!table)
        return error_memory("a table of logarithms");
    for (size_t i = 2; i <= total; i++)
        table[i] = (double)i * log2((double)i);
    *xlogx = table;
    return NULL;
}

/* f(c_v) + f(n_v - c_v) */
static inline double class_term(const struct labelling *labelling, size_t v, size_t near)
{
    return labelling->xlogx[near] + labelling->xlogx[labelling->totals[v] - near];
}

/* f(c) + f(n - c) */
static inline double side_term(const struct labelling *labelling, size_t near)
{
    return labelling->xlogx[near] + labelling->xlogx[labelling->total - near];
}

/* The gain when near[class] series are on the near side. */
static double gain_of_counts(const struct labelling *labelling, const size_t *near)
{
    double sum = labelling->base;
    size_t all = 0;

    for (size_t v = 0; v < labelling->classes; v++) {
        sum += class_term(labelling, v, near[v]);
        all += near[v];
    }
    sum -= side_term(labelling, all);
    return sum > 0 ? sum / (double)labelling->total : 0;
}

/* The most that the term of a class can be when its count lies in low..high: the term is convex and
 * symmetric, so that its maximum is at the end farther from the middle. */
static inline double class_bound(const struct labelling *labelling, size_t v, size_t low,
                                 size_t high)
{
    return class_term(labelling, v, low + high > labelling->totals[v] ? high : low);
}

/* The least that f(c) + f(n - c) can be when c lies in low..high. */
static inline double side_bound(const struct labelling *labelling, size_t low, size_t high)
{
    size_t half = labelling->total / 2;

    return side_term(labelling, half < low ? low : half > high ? high : half);
}

/* n gain - base, at the most, of a split in bin b. */
static double bound_in(const struct labelling *labelling, const struct quality_bins *bins,
                       const size_t *unknown, size_t b)
{
    size_t all_low = 0, all_high = 0;
    double sum = 0;

    for (size_t v = 0; v < labelling->classes; v++) {
        const uint32_t *histogram = bins->histogram + v * bins->count;
        uint32_t low = 0, high;

        for (size_t i = 0; i < b; i++)
            low += histogram[i];
        high = low + histogram[b] + (uint32_t)(unknown ? unknown[v] : 0);
        sum += class_bound(labelling, v, low, high);
        all_low += low;
        all_high += high;
    }
    return sum - side_bound(labelling, all_low, all_high);
}

/* The bins that have any series, and how many; the last one if none has.  Between two of them no
 * split is better than in the neighbouring bins. */
static size_t used_bins(const struct labelling *labelling, const struct quality_bins *bins,
                        uint32_t *members, uint8_t *used)
{
    size_t count = 0;

    memset(members, 0, bins->count * sizeof *members);
    for (size_t v = 0; v < labelling->classes; v++)
        for (size_t b = 0; b < bins->count; b++)
            members[b] += bins->histogram[v * bins->count + b];
    for (size_t b = 0; b < bins->count; b++)
        if (members[b] || (b + 1 == bins->count && count == 0))
            used[count++] = (uint8_t)b;
    return count;
}

/* bound_in of the bins used[0], used[1], ..., which are all that hold series. */
static void set_bounds(const struct labelling *labelling, const struct quality_bins *bins,
                       const size_t *unknown, const uint32_t *members, const uint8_t *used,
                       size_t count, double *bounds)
{
    size_t all_unknown = 0, below = 0;

    memset(bounds, 0, count * sizeof *bounds);
    for (size_t v = 0; v < labelling->classes; v++) {
        const uint32_t *histogram = bins->histogram + v * bins->count;
        size_t more = unknown ? unknown[v] : 0, low = 0;

        all_unknown += more;
        for (size_t i = 0; i < count; i++) {
            size_t after = low + histogram[used[i]];

            bounds[i] += class_bound(labelling, v, low, after + more);
            low = after;
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t after = below + members[used[i]];

        bounds[i] -= side_bound(labelling, below, after + all_unknown);
        below = after;
    }
}

static double needed_bound(const struct labelling *labelling, double gain)
{
    return gain * (double)labelling->total - labelling->base;
}

static bool can_reach(const struct labelling *labelling, const struct quality_bins *bins,
                      const size_t *unknown, double gain, uint8_t *likely)
{
    double bounds[QUALITY_MOST_BINS], needed = needed_bound(labelling, gain);
    uint32_t members[QUALITY_MOST_BINS];
    uint8_t used[QUALITY_MOST_BINS];
    size_t count, best = 0;

    if (bound_in(labelling, bins, unknown, *likely) >= needed)
        return true;
    count = used_bins(labelling, bins, members, used);
    set_bounds(labelling, bins, unknown, members, used, count, bounds);
    for (size_t i = 1; i < count; i++)
        if (bounds[i] > bounds[best])
            best = i;
    *likely = used[best];
    return bounds[best] >= needed;
}

static bool find_range(const struct labelling *labelling, const struct quality_bins *bins,
                       double gain, struct quality_range *range)
{
    double bounds[QUALITY_MOST_BINS], needed = needed_bound(labelling, gain);
    uint32_t members[QUALITY_MOST_BINS];
    uint8_t used[QUALITY_MOST_BINS];
    size_t count = used_bins(labelling, bins, members, used);
    bool any = false;

    set_bounds(labelling, bins, NULL, members, used, count, bounds);
    for (size_t i = 0; i < count; i++) {
        if (bounds[i] < needed)
            continue;
        range->first = any ? range->first : used[i];
        range->last = used[i];
        any = true;
    }
    return any;
}

static double blind_bound(const struct labelling *labelling, const size_t *unknown)
{
    size_t low = 0, high = 0;
    double sum = labelling->base;

    for (size_t v = 0; v < labelling->classes; v++) {
        size_t half = (labelling->totals[v] - unknown[v]) / 2;

        sum += class_bound(labelling, v, half, half + unknown[v]);
        low += half;
        high += half + unknown[v];
    }
    return (sum - side_bound(labelling, low, high)) / (double)labelling->total;
}

/* The split after item `best`, given the counts before the first item. */
static struct quality_split split_after(const struct labelling *labelling, const uint64_t *items,
                                        size_t best, size_t *near)
{
    float low = sorted_distance(items[best]), high = sorted_distance(items[best + 1]);
    struct quality_split split = {.gap = high - low,
                                  .threshold = (float)(((double)low + (double)high) / 2)};

    for (size_t i = 0; i <= best; i++)
        near[sorted_class(items[i])]++;
    split.quality = (float)gain_of_counts(labelling, near);
    if (split.threshold >= high)
        split.threshold = low;
    return split;
}

struct quality_split gain_best_split(const struct labelling *labelling,
                                     const struct quality_sorted *sorted,
                                     struct quality_scratch *scratch)
{
    const uint64_t *items = sorted->items;
    size_t count = sorted->count, best = count, below = 0, *near = scratch->near;
    /* Sums of rounded terms: differences this small count as 0. */
    double slack = 1e-10 * (double)labelling->total, best_sum = slack, sum = labelling->base;

    for (size_t v = 0; v < labelling->classes; v++) {
        below += near[v];
        sum += class_term(labelling, v, near[v]);
    }
    for (size_t i = 0; i + 1 < count; i++) {
        size_t v = sorted_class(items[i]);

        sum -= class_term(labelling, v, near[v]);
        sum += class_term(labelling, v, ++near[v]);
        if (items[i] >> 32 != items[i + 1] >> 32 &&
            sum - side_term(labelling, below + i + 1) > best_sum + slack) {
            best_sum = sum - side_term(labelling, below + i + 1);
            best = i;
        }
    }
    if (best == count)
        return (struct quality_split){.threshold = count ? sorted_distance(items[count - 1]) : 0};
    /* Back to the counts before the first item. */
    for (size_t i = 0; i + 1 < count; i++)
        near[sorted_class(items[i])]--;
    return split_after(labelling, items, best, near);
}

static struct quality_split score(const struct labelling *labelling, const float *distances,
                                  const int32_t *labels, const struct quality_range *range,
                                  struct quality_scratch *scratch)
{
    struct quality_sorted sorted = quality_sort(labelling, distances, labels, range, scratch);

    return gain_best_split(labelling, &sorted, scratch);
}

static const struct quality_bounds bounds = {can_reach, find_range, blind_bound};
const struct quality quality_gain = {&bounds, score};
