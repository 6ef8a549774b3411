#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "shapelets/distance.h"
#include "shapelets/distance_internal.h"
#include "support/brute.h"

enum { COUNT = 11, STRIDE = 24 };

static void make_series(size_t steps, uint64_t seed, struct dataset *dataset)
{
    struct random_stream stream = random_stream(seed, RANDOM_TEST, 0);

    assert_ok(dataset_new(COUNT, 1, steps, 2, false, dataset));
    for (size_t i = 0; i < COUNT * steps; i++)
        dataset->x[i] = (float)random_normal(&stream);
    /* A constant series, and a copy. */
    for (size_t t = 0; t < steps; t++) {
        dataset->x[3 * steps + t] = 0.7F;
        dataset->x[9 * steps + t] = dataset->x[2 * steps + t];
    }
}

/* Distances of every candidate of series `source` to all, with the given kernels. */
static void measure(const struct distance_kernels *kernels, const struct dataset *dataset,
                    size_t source, const struct candidates *candidates, size_t window, float *table)
{
    size_t order[COUNT];
    struct series_blocks blocks;
    struct distance_scratch scratch;

    for (size_t i = 0; i < COUNT; i++)
        order[i] = i;
    assert_ok(series_blocks_make(dataset, 0, order, &blocks));
    assert_ok(distance_scratch_make(candidates, &scratch));
    assert_ok(distance_doubt(&blocks, &scratch.doubt));
    for (size_t b = 0; b < blocks.blocks; b++)
        distance_to_block_with(kernels, dataset_series(dataset, source, 0),
                               blocks.values + b * dataset->length * DISTANCE_LANES, candidates,
                               window, &scratch, table + b * DISTANCE_LANES, STRIDE);
    distance_scratch_free(&scratch);
    series_blocks_free(&blocks);
}

static void compare_with_brute_force(const struct dataset *dataset, size_t source,
                                     const struct candidates *candidates, size_t window,
                                     const float *table)
{
    for (size_t c = 0; c < candidates->count; c++)
        for (size_t i = 0; i < COUNT; i++) {
            size_t start = candidates->start[c];
            double expected =
                brute_distance(dataset_series(dataset, source, 0) + start, candidates->length[c],
                               start, dataset_series(dataset, i, 0), dataset->length, window);

            double got = table[candidates->row[c] * STRIDE + i];

            if (!(fabs(got - expected) <= 2e-7 * expected))
                fail_msg("length %u at %u, window %zu, series %zu: %.9g instead of %.9g",
                         candidates->length[c], candidates->start[c], window, i, got, expected);
        }
}

static void check_setting(size_t steps, const size_t *lengths, size_t length_count, size_t step,
                          size_t window)
{
    struct dataset dataset;
    struct candidates candidates;
    float *table, *other;

    make_series(steps, steps, &dataset);
    assert_ok(candidates_make(steps, lengths, length_count, step, 0, steps, &candidates));
    table = calloc(candidates.count, STRIDE * sizeof *table);
    other = calloc(candidates.count, STRIDE * sizeof *other);
    measure(&distance_kernels_generic, &dataset, 2, &candidates, window, table);
    compare_with_brute_force(&dataset, 2, &candidates, window, table);
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2) {
        measure(&distance_kernels_avx2, &dataset, 2, &candidates, window, other);
        assert_memory_equal(table, other, candidates.count * STRIDE * sizeof *table);
    }
#endif
    free(table);
    free(other);
    candidates_free(&candidates);
    dataset_free(&dataset);
}

static void test_distances_equal_brute_force(void **state)
{
    static const size_t steps[] = {2, 3, 9, 23, 40};
    static const size_t windows[] = {0, 1, 2, 3, 7, 20, 1000, SIZE_MAX};
    static const size_t start_steps[] = {1, 3};

    (void)state;
    for (size_t s = 0; s < 5; s++)
        for (size_t w = 0; w < 8; w++)
            for (size_t k = 0; k < 2; k++) {
                size_t shortest[] = {2}, whole[] = {steps[s]}, some[] = {2, 3, 5, 9};

                check_setting(steps[s], shortest, 1, start_steps[k], windows[w]);
                check_setting(steps[s], whole, 1, start_steps[k], windows[w]);
                if (steps[s] >= 9)
                    check_setting(steps[s], some, 4, start_steps[k], windows[w]);
            }
}

/* Starts and lengths with a common divisor, for which running sums are coarser. */
static void test_grains_equal_brute_force(void **state)
{
    static const size_t windows[] = {0, 1, 3, 7, 1000};
    static const size_t grains[] = {2, 3, 4, 5, 6, 20};

    (void)state;
    for (size_t steps = 20; steps < 47; steps += 13)
        for (size_t g = 0; g < 6; g++)
            for (size_t w = 0; w < 5; w++) {
                size_t one[] = {grains[g]}, some[] = {grains[g], 2 * grains[g], 4 * grains[g]};
                struct candidates candidates;

                check_setting(steps, one, 1, grains[g], windows[w]);
                check_setting(steps, one, 1, 3 * grains[g], windows[w]);
                if (4 * grains[g] <= steps)
                    check_setting(steps, some, 3, grains[g], windows[w]);
                assert_ok(candidates_make(steps, one, 1, grains[g], 0, steps, &candidates));
                assert_int_equal(candidates.grain, grains[g] == 3    ? 1
                                                   : grains[g] == 6  ? 2
                                                   : grains[g] == 20 ? 5
                                                                     : grains[g]);
                candidates_free(&candidates);
            }
}

/* Starts cut into stretches give the same candidates and nearly the same bits. */
static void test_chunks_of_starts_cover_all_candidates(void **state)
{
    size_t lengths[] = {3, 8}, total = 0;
    struct dataset dataset;

    (void)state;
    make_series(40, 5, &dataset);
    for (size_t from = 0; from < 40; from += 7) {
        struct candidates chunk;
        float *table;

        assert_ok(candidates_make(40, lengths, 2, 1, from, from + 7, &chunk));
        table = calloc(chunk.count + 1, STRIDE * sizeof *table);
        measure(&distance_kernels_generic, &dataset, 1, &chunk, 6, table);
        compare_with_brute_force(&dataset, 1, &chunk, 6, table);
        total += chunk.count;
        free(table);
        candidates_free(&chunk);
    }
    assert_int_equal(total, 38 + 33);
    dataset_free(&dataset);
}

/* A close match beside a spike: sums in float would lose it beside the first, in double beside the
 * others. */
static void test_a_spike_does_not_spoil_a_close_match(void **state)
{
    static const float spikes[] = {100, 1e6F, 1e9F, 1e18F, 1e38F};
    size_t lengths[] = {8};

    (void)state;
    for (size_t k = 0; k < 2 * sizeof spikes / sizeof *spikes; k++) {
        size_t s = k / 2, step = k % 2 ? 4 : 1;
        struct dataset dataset;
        struct candidates candidates;
        float *table;

        make_series(40, 6, &dataset);
        for (size_t i = 0; i < COUNT; i++) {
            dataset_series(&dataset, i, 0)[0] = i % 2 ? spikes[s] : -spikes[s];
            for (size_t t = 1; t < 40; t++)
                dataset_series(&dataset, i, 0)[t] =
                    dataset_series(&dataset, 0, 0)[t] + 1e-2F * (float)i;
        }
        assert_ok(candidates_make(40, lengths, 1, step, 0, 40, &candidates));
        table = calloc(candidates.count, STRIDE * sizeof *table);
        measure(&distance_kernels_generic, &dataset, 0, &candidates, 3, table);
        compare_with_brute_force(&dataset, 0, &candidates, 3, table);
        free(table);
        candidates_free(&candidates);
        dataset_free(&dataset);
    }
}

/* Squares of such values do not fit into a float; of the second, those of small differences. */
static void test_very_large_and_small_values_have_distances(void **state)
{
    static const float scales[] = {1e-22F, 4e-16F, 1e30F};
    size_t lengths[] = {5};

    (void)state;
    for (size_t k = 0; k < 6; k++) {
        size_t s = k / 2, step = k % 2 ? 5 : 1;
        struct dataset dataset;
        struct candidates candidates;
        float *table, *other;

        make_series(20, 8, &dataset);
        for (size_t i = 0; i < COUNT * 20; i++)
            dataset.x[i] *= scales[s];
        for (size_t t = 0; t < 20; t++) /* a close match */
            dataset.x[4 * 20 + t] = dataset.x[t] * (1 + 1e-6F);
        assert_ok(candidates_make(20, lengths, 1, step, 0, 20, &candidates));
        table = calloc(candidates.count, STRIDE * sizeof *table);
        other = calloc(candidates.count, STRIDE * sizeof *other);
        measure(&distance_kernels_generic, &dataset, 0, &candidates, 3, table);
        compare_with_brute_force(&dataset, 0, &candidates, 3, table);
#if defined(__x86_64__)
        if (cpu_level() >= CPU_AVX2) {
            measure(&distance_kernels_avx2, &dataset, 0, &candidates, 3, other);
            assert_memory_equal(table, other, candidates.count * STRIDE * sizeof *table);
        }
#endif
        free(table);
        free(other);
        candidates_free(&candidates);
        dataset_free(&dataset);
    }
}

static void check_removal(const size_t *lengths, size_t step)
{
    struct dataset dataset;
    struct candidates all, some;
    uint8_t keep[100];
    float full[100 * STRIDE] = {0}, part[100 * STRIDE] = {0};

    make_series(45, 7, &dataset);
    assert_ok(candidates_make(45, lengths, 2, step, 0, 45, &all));
    assert_ok(candidates_clone(&all, &some));
    measure(&distance_kernels_generic, &dataset, 4, &all, 4, full);
    for (size_t c = 0; c < all.count; c++)
        keep[c] = c % 3 == 1;
    candidates_keep(&all, keep, &some);
    assert_int_equal(some.count, (all.count + 1) / 3);
    measure(&distance_kernels_generic, &dataset, 4, &some, 4, part);
    for (size_t c = 0; c < all.count; c++)
        if (keep[c])
            assert_memory_equal(full + c * STRIDE, part + c * STRIDE, COUNT * sizeof *full);
    memset(keep, 0, sizeof keep);
    keep[4] = 1;
    candidates_keep(&some, keep, &some);
    assert_int_equal(some.count, 1);
    assert_int_equal(some.row[0], 4);
    candidates_free(&all);
    candidates_free(&some);
    dataset_free(&dataset);
}

static void test_removed_candidates_leave_the_others_alone(void **state)
{
    (void)state;
    check_removal((size_t[]){2, 5}, 1);
    check_removal((size_t[]){10, 15}, 5);
}

static void check_cells(const struct distance_kernels *kernels)
{
    struct random_stream stream = random_stream(8, RANDOM_TEST, 0);
    float distances[100], low, high;
    uint16_t cells[100];

    for (size_t count = 1; count < 100; count++) {
        float least = INFINITY, most = 0;

        for (size_t i = 0; i < count; i++) {
            distances[i] = random_uniform_float(&stream);
            least = fminf(least, distances[i]);
            most = fmaxf(most, distances[i]);
        }
        kernels->range(distances, count, &low, &high);
        assert_true(low == least && high == most);
        kernels->cells(distances, count, 0.25F, 20, 9, cells);
        for (size_t i = 0; i < count; i++) {
            float exact = (distances[i] - 0.25F) * 20;

            assert_int_equal(cells[i], exact < 0 ? 0 : exact >= 10 ? 9 : (int)exact);
        }
    }
}

static void test_cells_never_decrease_with_the_distance(void **state)
{
    (void)state;
    check_cells(&distance_kernels_generic);
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        check_cells(&distance_kernels_avx2);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_equal_brute_force),
        cmocka_unit_test(test_grains_equal_brute_force),
        cmocka_unit_test(test_chunks_of_starts_cover_all_candidates),
        cmocka_unit_test(test_a_spike_does_not_spoil_a_close_match),
        cmocka_unit_test(test_very_large_and_small_values_have_distances),
        cmocka_unit_test(test_removed_candidates_leave_the_others_alone),
        cmocka_unit_test(test_cells_never_decrease_with_the_distance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
