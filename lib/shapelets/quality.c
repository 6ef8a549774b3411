/* The sorting is by radix: a distance that is not negative sorts as its bits do. */
#include "shapelets/quality.h"

#include <stdlib.h>
#include <string.h>

#define POINTER(word, text) &quality_##word,
const struct quality *const qualities[] = {SLP_QUALITIES(POINTER)};

enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, RADIX_PASSES = 3, FEW = 64 };

struct error *labelling_make(const size_t *counts, size_t classes, int32_t positive,
                             const double *xlogx, struct labelling *labelling)
{
    *labelling = (struct labelling){.positive = positive, .xlogx = xlogx};
    labelling->classes = positive < 0 ? classes : 2;
    labelling->totals = calloc(labelling->classes, sizeof *labelling->totals);
    if (!labelling->totals)
        return error_memory("class counts");
    for (size_t v = 0; v < classes; v++) {
        labelling->totals[labelling_class(labelling, (int32_t)v)] += counts[v];
        labelling->total += counts[v];
    }
    labelling->base = xlogx[labelling->total];
    for (size_t v = 0; v < labelling->classes; v++)
        labelling->base -= xlogx[labelling->totals[v]];
    return NULL;
}

void labelling_free(struct labelling *labelling)
{
    free(labelling->totals);
    labelling->totals = NULL;
}

struct error *quality_scratch_make(size_t count, size_t classes, struct quality_scratch *scratch)
{
    scratch->items = calloc(count, sizeof *scratch->items);
    scratch->swap = calloc(count, sizeof *scratch->swap);
    scratch->near = calloc(classes > 2 ? classes : 2, sizeof *scratch->near);
    scratch->sums = calloc(classes > 2 ? classes : 2, sizeof *scratch->sums);
    if (!scratch->items || !scratch->swap || !scratch->near || !scratch->sums) {
        quality_scratch_free(scratch);
        return error_memory("sorting distances");
    }
    return NULL;
}

void quality_scratch_free(struct quality_scratch *scratch)
{
    free(scratch->items);
    free(scratch->swap);
    free(scratch->near);
    free(scratch->sums);
    *scratch = (struct quality_scratch){0};
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

struct quality_sorted quality_sort(const struct labelling *labelling, const float *distances,
                                   const int32_t *labels, const struct quality_range *range,
                                   struct quality_scratch *scratch)
{
    size_t count = 0;

    memset(scratch->near, 0, labelling->classes * sizeof *scratch->near);
    for (size_t i = 0; i < labelling->total; i++) {
        size_t v = labelling_class(labelling, labels[i]);
        uint32_t bits;

        if (range && range->bins[i] < range->first)
            scratch->near[v]++;
        if (range && (range->bins[i] < range->first || range->bins[i] > range->last))
            continue;
        memcpy(&bits, &distances[i], sizeof bits);
        scratch->items[count++] = (uint64_t)bits << 32 | v;
    }
    return (struct quality_sorted){sort_items(scratch->items, scratch->swap, count), count};
}
