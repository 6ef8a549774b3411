/* Interleaving, candidate lists, and the choice of kernel and of the shifts of each pass. */
#include "shapelets/distance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/sort.h"
#include "shapelets/distance_internal.h"

enum { ALIGNMENT = 64, SAMPLE = 4096 };

/* Aligned for whole vectors.  NULL if there is no memory, or the size overflows. */
static void *allocate(size_t count, size_t item)
{
    size_t bytes;

    if (__builtin_mul_overflow(count ? count : 1, item, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, size_round_up(bytes, ALIGNMENT));
}

struct error *series_blocks_make(const struct dataset *dataset, size_t channel, const size_t *order,
                                 struct series_blocks *blocks)
{
    size_t count = dataset->count, length = dataset->length;

    *blocks = (struct series_blocks){.count = count, .length = length};
    blocks->blocks = (count + DISTANCE_LANES - 1) / DISTANCE_LANES;
    blocks->values = allocate(blocks->blocks * DISTANCE_LANES, length * sizeof(float));
    if (!blocks->values)
        return error_memory("the series of a channel");
    for (size_t i = 0; i < blocks->blocks * DISTANCE_LANES; i++) {
        const float *from = dataset_series(dataset, order[i < count ? i : count - 1], channel);
        float *to = blocks->values + i / DISTANCE_LANES * length * DISTANCE_LANES;

        for (size_t t = 0; t < length; t++)
            to[t * DISTANCE_LANES + i % DISTANCE_LANES] = from[t];
    }
    return NULL;
}

void series_blocks_free(struct series_blocks *blocks)
{
    free(blocks->values);
    blocks->values = NULL;
}

struct error *distance_doubt(const struct series_blocks *blocks, double *doubt)
{
    size_t count = blocks->blocks * blocks->length * DISTANCE_LANES;
    size_t size = count < SAMPLE ? count : SAMPLE;
    double range, steps = (double)blocks->length;
    float *sample = malloc(size * sizeof *sample), low, high;

    if (!sample)
        return error_memory("a sample of values");
    for (size_t i = 0; i < size; i++)
        sample[i] = blocks->values[count / size * i];
    sort_floats(sample, size);
    distance_range(blocks->values, count, &low, &high);
    range = (double)high - low;
    *doubt = 0;
    /* As many sums as steps, each rounded to within 2^-53 of at most steps * range^2; 2e-7 is what
     * may be lost. */
    if (range > 1000 * ((double)sample[size - 1 - size / 4] - sample[size / 4]))
        *doubt = steps * steps * range * range * 0x1p-53 / 2e-7;
    /* Squares that do not fit into a float, or those of small differences do not. */
    if (range > 1e6 || range < 1e-6)
        *doubt = fmax(*doubt, DBL_MIN);
    free(sample);
    return NULL;
}

static struct error *candidates_allocate(size_t count, size_t steps, struct candidates *candidates)
{
    candidates->start = allocate(count, sizeof *candidates->start);
    candidates->length = allocate(count, sizeof *candidates->length);
    candidates->row = allocate(count, sizeof *candidates->row);
    candidates->first = allocate(steps + 2, sizeof *candidates->first);
    if (!candidates->start || !candidates->length || !candidates->row || !candidates->first) {
        candidates_free(candidates);
        return error_memory("the candidates of a series");
    }
    return NULL;
}

static bool is_start(size_t start, size_t start_step, size_t from, size_t to)
{
    return start >= from && start < to && start % start_step == 0;
}

static size_t common_divisor(size_t a, size_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* One that there is a kernel for. */
static size_t find_grain(const size_t *lengths, size_t length_count, size_t start_step)
{
    size_t all = start_step;

    for (size_t k = 0; k < length_count; k++)
        all = common_divisor(all, lengths[k]);
    return all % 5 == 0 ? 5 : all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

struct error *candidates_make(size_t steps, const size_t *lengths, size_t length_count,
                              size_t start_step, size_t from, size_t to,
                              struct candidates *candidates)
{
    size_t count = 0;

    for (size_t k = 0; k < length_count; k++)
        for (size_t start = 0; start + lengths[k] <= steps; start += start_step)
            count += is_start(start, start_step, from, to);
    *candidates = (struct candidates){
        .steps = steps, .longest = lengths[length_count - 1], .shortest = lengths[0], .from = from};
    candidates->grain = find_grain(lengths, length_count, start_step);
    candidates->to = to - 1 < steps - candidates->longest ? to - 1 + candidates->longest : steps;
    TRY(candidates_allocate(count, steps, candidates));
    for (size_t end = 0; end <= steps; end++) {
        candidates->first[end] = (uint32_t)candidates->count;
        for (size_t k = 0; k < length_count && lengths[k] <= end; k++) {
            if (!is_start(end - lengths[k], start_step, from, to))
                continue;
            candidates->start[candidates->count] = (uint32_t)(end - lengths[k]);
            candidates->length[candidates->count] = (uint32_t)lengths[k];
            candidates->row[candidates->count] = (uint32_t)candidates->count;
            candidates->count++;
        }
    }
    candidates->first[steps + 1] = (uint32_t)candidates->count;
    return NULL;
}

struct error *candidates_clone(const struct candidates *from, struct candidates *to)
{
    *to = *from;
    to->count = 0;
    return candidates_allocate(from->count, from->steps, to);
}

void candidates_keep(const struct candidates *from, const uint8_t *keep, struct candidates *kept)
{
    kept->count = 0;
    kept->steps = from->steps;
    kept->longest = from->longest;
    kept->shortest = from->shortest;
    kept->from = from->from;
    kept->to = from->to;
    kept->grain = from->grain;
    for (size_t end = 0; end <= from->steps; end++) {
        size_t begin = from->first[end], next = from->first[end + 1];

        /* Written only now: from and kept may be the same list. */
        kept->first[end] = (uint32_t)kept->count;
        for (size_t c = begin; c < next; c++) {
            if (!keep[from->row[c]])
                continue;
            kept->start[kept->count] = from->start[c];
            kept->length[kept->count] = from->length[c];
            kept->row[kept->count] = from->row[c];
            kept->count++;
        }
    }
    kept->first[from->steps + 1] = (uint32_t)kept->count;
}

void candidates_free(struct candidates *candidates)
{
    free(candidates->start);
    free(candidates->length);
    free(candidates->row);
    free(candidates->first);
    *candidates = (struct candidates){0};
}

struct error *distance_scratch_make(const struct candidates *most, struct distance_scratch *scratch)
{
    size_t steps = 1;

    while (steps < most->longest + 1)
        steps *= 2;
    scratch->sum_mask = steps - 1;
    scratch->doubt = 0;
    scratch->sums =
        allocate(steps * DISTANCE_MOST_SHIFTS + most->count, DISTANCE_LANES * sizeof(double));
    if (!scratch->sums)
        return error_memory("running sums");
    scratch->least = scratch->sums + steps * DISTANCE_MOST_SHIFTS * DISTANCE_LANES;
    return NULL;
}

void distance_scratch_free(struct distance_scratch *scratch)
{
    free(scratch->sums);
    *scratch = (struct distance_scratch){0};
}

static const struct distance_kernels *kernels(void)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        return &distance_kernels_avx2;
#endif
    return &distance_kernels_generic;
}

/* Least square of candidate c to one series of the block, each place on its own. */
static double direct_least(const float *source, const float *block,
                           const struct candidates *candidates, size_t c, size_t half, size_t lane)
{
    size_t start = candidates->start[c], length = candidates->length[c];
    size_t from = start > half ? start - half : 0, last = candidates->steps - length;
    double best = INFINITY;

    for (size_t j = from; j <= last && j <= start + half; j++) {
        double sum = 0;

        for (size_t t = 0; t < length; t++) {
            double difference = source[start + t] - block[(j + t) * DISTANCE_LANES + lane];

            sum += difference * difference;
        }
        best = fmin(best, sum);
    }
    return best;
}

void distance_to_block_with(const struct distance_kernels *kernel, const float *source,
                            const float *block, const struct candidates *candidates, size_t window,
                            struct distance_scratch *scratch, float *table, size_t stride)
{
    /* No candidate fits beyond this shift. */
    size_t farthest = candidates->steps - candidates->shortest;
    size_t half = window < farthest ? window : farthest;
    size_t shifts = 2 * half + 1;
    size_t passes = (shifts + DISTANCE_MOST_SHIFTS - 1) / DISTANCE_MOST_SHIFTS;

    for (size_t i = 0; i < candidates->count * DISTANCE_LANES; i++)
        scratch->least[i] = INFINITY;
    for (size_t i = 0; i < passes; i++) {
        size_t from = shifts * i / passes, to = shifts * (i + 1) / passes;
        struct distance_pass pass = {.source = source,
                                     .block = block,
                                     .candidates = candidates,
                                     .scratch = scratch,
                                     .shift = (ptrdiff_t)from - (ptrdiff_t)half,
                                     .shifts = to - from,
                                     .grain = distance_grain(candidates, scratch->doubt)};

        kernel->pass(&pass);
    }
    for (size_t i = 0; scratch->doubt > 0 && i < candidates->count * DISTANCE_LANES; i++)
        if (scratch->least[i] < scratch->doubt)
            scratch->least[i] = direct_least(source, block, candidates, i / DISTANCE_LANES, half,
                                             i % DISTANCE_LANES);
    kernel->finish(candidates, scratch->least, table, stride);
}

void distance_to_block(const float *source, const float *block, const struct candidates *candidates,
                       size_t window, struct distance_scratch *scratch, float *table, size_t stride)
{
    distance_to_block_with(kernels(), source, block, candidates, window, scratch, table, stride);
}

void distance_range(const float *distances, size_t count, float *low, float *high)
{
    kernels()->range(distances, count, low, high);
}

void distance_cells(const float *distances, size_t count, float low, float scale, unsigned last,
                    uint16_t *cells)
{
    kernels()->cells(distances, count, low, scale, last, cells);
}
