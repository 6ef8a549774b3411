/* The sorting is by radix: a distance that is not negative sorts as its bits do. */
#include "shapelets/gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, RADIX_PASSES = 3, FEW = 64 };

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

struct error *gain_problem_make(const size_t *counts, size_t classes, int32_t positive,
                                const double *xlogx, struct gain_problem *problem)
{
    *problem = (struct gain_problem){.positive = positive, .xlogx = xlogx};
    problem->classes = positive < 0 ? classes : 2;
    problem->totals = calloc(problem->classes, sizeof *problem->totals);
    if (!problem->totals)
        return error_memory("class counts");
    for (size_t v = 0; v < classes; v++) {
        problem->totals[gain_class(problem, (int32_t)v)] += counts[v];
        problem->total += counts[v];
    }
    problem->base = xlogx[problem->total];
    for (size_t v = 0; v < problem->classes; v++)
        problem->base -= xlogx[problem->totals[v]];
    return NULL;
}

void gain_problem_free(struct gain_problem *problem)
{
    free(problem->totals);
    problem->totals = NULL;
}

/* f(c_v) + f(n_v - c_v) */
static inline double class_term(const struct gain_problem *problem, size_t v, size_t near)
{
    return problem->xlogx[near] + problem->xlogx[problem->totals[v] - near];
}

/* f(c) + f(n - c) */
static inline double side_term(const struct gain_problem *problem, size_t near)
{
    return problem->xlogx[near] + problem->xlogx[problem->total - near];
}

/* The gain when near[class] series are on the near side. */
static double gain_of_counts(const struct gain_problem *problem, const size_t *near)
{
    double sum = problem->base;
    size_t all = 0;

    for (size_t v = 0; v < problem->classes; v++) {
        sum += class_term(problem, v, near[v]);
        all += near[v];
    }
    sum -= side_term(problem, all);
    return sum > 0 ? sum / (double)problem->total : 0;
}

/* The most that the term of a class can be when its count lies in low..high: the term is convex and
 * symmetric, so that the end counts that is farther from the middle. */
static inline double class_bound(const struct gain_problem *problem, size_t v, size_t low,
                                 size_t high)
{
    return class_term(problem, v, low + high > problem->totals[v] ? high : low);
}

/* The least that f(c) + f(n - c) can be when c lies in low..high. */
static inline double side_bound(const struct gain_problem *problem, size_t low, size_t high)
{
    size_t half = problem->total / 2;

    return side_term(problem, half < low ? low : half > high ? high : half);
}

/* n gain - base, at the most, of a split in bin b. */
static double bound_in(const struct gain_problem *problem, const struct gain_bins *bins,
                       const size_t *unknown, size_t b)
{
    size_t all_low = 0, all_high = 0;
    double sum = 0;

    for (size_t v = 0; v < problem->classes; v++) {
        const uint32_t *histogram = bins->histogram + v * bins->count;
        uint32_t low = 0, high;

        for (size_t i = 0; i < b; i++)
            low += histogram[i];
        high = low + histogram[b] + (uint32_t)(unknown ? unknown[v] : 0);
        sum += class_bound(problem, v, low, high);
        all_low += low;
        all_high += high;
    }
    return sum - side_bound(problem, all_low, all_high);
}

/* The bins that have any series, and how many; the last one if none has.  Between two of them no
 * split is better than in the bins beside it. */
static size_t used_bins(const struct gain_problem *problem, const struct gain_bins *bins,
                        uint32_t *members, uint8_t *used)
{
    size_t count = 0;

    memset(members, 0, bins->count * sizeof *members);
    for (size_t v = 0; v < problem->classes; v++)
        for (size_t b = 0; b < bins->count; b++)
            members[b] += bins->histogram[v * bins->count + b];
    for (size_t b = 0; b < bins->count; b++)
        if (members[b] || (b + 1 == bins->count && count == 0))
            used[count++] = (uint8_t)b;
    return count;
}

/* bound_in of the bins used[0], used[1], ..., which are all that hold series. */
static void set_bounds(const struct gain_problem *problem, const struct gain_bins *bins,
                       const size_t *unknown, const uint32_t *members, const uint8_t *used,
                       size_t count, double *bounds)
{
    size_t all_unknown = 0, below = 0;

    memset(bounds, 0, count * sizeof *bounds);
    for (size_t v = 0; v < problem->classes; v++) {
        const uint32_t *histogram = bins->histogram + v * bins->count;
        size_t more = unknown ? unknown[v] : 0, low = 0;

        all_unknown += more;
        for (size_t i = 0; i < count; i++) {
            size_t behind = low + histogram[used[i]];

            bounds[i] += class_bound(problem, v, low, behind + more);
            low = behind;
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t behind = below + members[used[i]];

        bounds[i] -= side_bound(problem, below, behind + all_unknown);
        below = behind;
    }
}

static double needed_bound(const struct gain_problem *problem, double gain)
{
    return gain * (double)problem->total - problem->base;
}

bool gain_can_reach(const struct gain_problem *problem, const struct gain_bins *bins,
                    const size_t *unknown, double gain, uint8_t *likely)
{
    double bounds[GAIN_MOST_BINS], needed = needed_bound(problem, gain);
    uint32_t members[GAIN_MOST_BINS];
    uint8_t used[GAIN_MOST_BINS];
    size_t count, best = 0;

    if (bound_in(problem, bins, unknown, *likely) >= needed)
        return true;
    count = used_bins(problem, bins, members, used);
    set_bounds(problem, bins, unknown, members, used, count, bounds);
    for (size_t i = 1; i < count; i++)
        if (bounds[i] > bounds[best])
            best = i;
    *likely = used[best];
    return bounds[best] >= needed;
}

bool gain_find_range(const struct gain_problem *problem, const struct gain_bins *bins, double gain,
                     struct gain_range *range)
{
    double bounds[GAIN_MOST_BINS], needed = needed_bound(problem, gain);
    uint32_t members[GAIN_MOST_BINS];
    uint8_t used[GAIN_MOST_BINS];
    size_t count = used_bins(problem, bins, members, used);
    bool any = false;

    set_bounds(problem, bins, NULL, members, used, count, bounds);
    for (size_t i = 0; i < count; i++) {
        if (bounds[i] < needed)
            continue;
        range->first = any ? range->first : used[i];
        range->last = used[i];
        any = true;
    }
    return any;
}

double gain_blind_bound(const struct gain_problem *problem, const size_t *unknown)
{
    size_t low = 0, high = 0;
    double sum = problem->base;

    for (size_t v = 0; v < problem->classes; v++) {
        size_t half = (problem->totals[v] - unknown[v]) / 2;

        sum += class_bound(problem, v, half, half + unknown[v]);
        low += half;
        high += half + unknown[v];
    }
    return (sum - side_bound(problem, low, high)) / (double)problem->total;
}

struct error *gain_scratch_make(size_t count, size_t classes, struct gain_scratch *scratch)
{
    scratch->items = calloc(count, sizeof *scratch->items);
    scratch->swap = calloc(count, sizeof *scratch->swap);
    scratch->near = calloc(classes > 2 ? classes : 2, sizeof *scratch->near);
    if (!scratch->items || !scratch->swap || !scratch->near) {
        gain_scratch_free(scratch);
        return error_memory("sorting distances");
    }
    return NULL;
}

void gain_scratch_free(struct gain_scratch *scratch)
{
    free(scratch->items);
    free(scratch->swap);
    free(scratch->near);
    *scratch = (struct gain_scratch){0};
}

static void insertion_sort(uint64_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        size_t j = i;

        for (; j > 0 && items[j - 1] > item; j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Sorts by the upper 32 bits; returns where the result is: items or swap. */
static uint64_t *sort_items(uint64_t *items, uint64_t *swap, size_t count)
{
    uint32_t places[RADIX_PASSES][RADIX_SIZE] = {0};

    if (count <= FEW) {
        insertion_sort(items, count);
        return items;
    }
    for (size_t i = 0; i < count; i++)
        for (int pass = 0; pass < RADIX_PASSES; pass++)
            places[pass][items[i] >> (32 + pass * RADIX_BITS) & (RADIX_SIZE - 1)]++;
    for (int pass = 0; pass < RADIX_PASSES; pass++) {
        uint32_t place = 0;
        uint64_t *other = items;

        for (int digit = 0; digit < RADIX_SIZE; digit++) {
            uint32_t size = places[pass][digit];

            places[pass][digit] = place;
            place += size;
        }
        for (size_t i = 0; i < count; i++)
            swap[places[pass][items[i] >> (32 + pass * RADIX_BITS) & (RADIX_SIZE - 1)]++] =
                items[i];
        items = swap;
        swap = other;
    }
    return items;
}

static float item_distance(uint64_t item)
{
    uint32_t bits = (uint32_t)(item >> 32);
    float distance;

    memcpy(&distance, &bits, sizeof distance);
    return distance;
}

/* Puts what is to be sorted into items and returns how many; near counts what is below. */
static size_t collect_items(const struct gain_problem *problem, const float *distances,
                            const int32_t *labels, const struct gain_range *range,
                            struct gain_scratch *scratch)
{
    size_t count = 0;

    memset(scratch->near, 0, problem->classes * sizeof *scratch->near);
    for (size_t i = 0; i < problem->total; i++) {
        size_t v = gain_class(problem, labels[i]);
        uint32_t bits;

        if (range && range->bins[i] < range->first)
            scratch->near[v]++;
        if (range && (range->bins[i] < range->first || range->bins[i] > range->last))
            continue;
        memcpy(&bits, &distances[i], sizeof bits);
        scratch->items[count++] = (uint64_t)bits << 32 | v;
    }
    return count;
}

/* The split behind item `best`, given the counts before the first item. */
static struct gain_split split_behind(const struct gain_problem *problem, const uint64_t *items,
                                      size_t best, size_t *near)
{
    float low = item_distance(items[best]), high = item_distance(items[best + 1]);
    struct gain_split split = {.gap = high - low,
                               .threshold = (float)(((double)low + (double)high) / 2)};

    for (size_t i = 0; i <= best; i++)
        near[(uint32_t)items[i]]++;
    split.gain = (float)gain_of_counts(problem, near);
    if (split.threshold >= high)
        split.threshold = low;
    return split;
}

struct gain_split gain_best_split(const struct gain_problem *problem, const float *distances,
                                  const int32_t *labels, const struct gain_range *range,
                                  struct gain_scratch *scratch)
{
    size_t count = collect_items(problem, distances, labels, range, scratch);
    const uint64_t *items = sort_items(scratch->items, scratch->swap, count);
    size_t best = count, below = 0, *near = scratch->near;
    /* Sums of rounded terms: differences this small are none. */
    double slack = 1e-10 * (double)problem->total, best_sum = slack, sum = problem->base;

    for (size_t v = 0; v < problem->classes; v++) {
        below += near[v];
        sum += class_term(problem, v, near[v]);
    }
    for (size_t i = 0; i + 1 < count; i++) {
        size_t v = (uint32_t)items[i];

        sum -= class_term(problem, v, near[v]);
        sum += class_term(problem, v, ++near[v]);
        if (items[i] >> 32 != items[i + 1] >> 32 &&
            sum - side_term(problem, below + i + 1) > best_sum + slack) {
            best_sum = sum - side_term(problem, below + i + 1);
            best = i;
        }
    }
    if (best == count)
        return (struct gain_split){.threshold = count ? item_distance(items[count - 1]) : 0};
    /* Back to the counts before the first item. */
    for (size_t i = 0; i + 1 < count; i++)
        near[(uint32_t)items[i]]--;
    return split_behind(problem, items, best, near);
}
