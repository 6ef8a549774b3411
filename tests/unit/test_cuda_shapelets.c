/* Transform and discovery through the CUDA plug-in, run on the processor by tests/fake_cuda,
 * against those of the processor. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "shapelets/discover.h"
#include "support/both.h"

enum { CHANNELS = 2, LENGTH = 300, SHAPELETS = 5, SERIES = 4 };

static void make_pool(struct shapelet_pool *pool)
{
    static const struct {
        unsigned channel, start, length, window;
    } shapes[SHAPELETS] = {
        {0, 0, 1, 3}, {1, 20, 130, 9}, {0, 299, 1, 0}, {1, 5, 64, 290}, {0, 10, 65, 5}};
    float *values = normal_values(300, 40);
    size_t used = 0;

    assert_ok(slp_new(SHAPELETS, 300, pool));
    pool->channels = CHANNELS;
    pool->steps = LENGTH;
    pool->classes = 2;
    memcpy(pool->values, values, 300 * sizeof *values);
    for (size_t i = 0; i < SHAPELETS; i++) {
        pool->shapelets[i] = (struct shapelet){.values = pool->values + used,
                                               .channel = shapes[i].channel,
                                               .start = shapes[i].start,
                                               .length = shapes[i].length,
                                               .window = shapes[i].window,
                                               .offset = 1.5f,
                                               .scale = 0.5f + 0.25f * (float)i};
        used += shapes[i].length;
    }
    free(values);
}

static void the_transform_and_its_gradient_are_those_of_the_processor(void **state)
{
    struct shapelet_pool pool;

    (void)state;
    make_pool(&pool);
    for (int k = 0; k < 6; k++) {
        struct transform on_cpu, on_gpu;
        float *series = normal_values(SERIES * CHANNELS * LENGTH, 1);
        struct both x, features = both_normal(SERIES * SHAPELETS, 2);
        struct both upstream = both_normal(SERIES * SHAPELETS, 3);
        struct both places = both_normal(SERIES * SHAPELETS, 4);
        struct both dx = both_normal(SERIES * CHANNELS * LENGTH, 5);
        size_t window = k % 2 ? TRANSFORM_FULL : TRANSFORM_AS_FOUND;

        pool.length_normalised = k / 2 == 1;
        pool.standardised = k >= 4;
        /* A distance of 0, where the root has no slope, and two places that are equal. */
        memcpy(series + LENGTH, pool.shapelets[1].values, 130 * sizeof *series);
        memcpy(series + LENGTH + 20, pool.shapelets[1].values, 130 * sizeof *series);
        series[0] = series[1] = series[2] = 0.25f;
        x = both_of(series, SERIES * CHANNELS * LENGTH * sizeof *series);
        assert_ok(transform_make(&pool, CHANNELS, LENGTH, window, &on_cpu));
        assert_ok(transform_make(&pool, CHANNELS, LENGTH, window, &on_gpu));
        assert_ok(transform_to_device(&on_gpu, fake_device()->transform));
        transform_forward(&on_cpu, x.on_cpu, SERIES, features.on_cpu, places.on_cpu);
        transform_forward(&on_gpu, x.on_gpu, SERIES, features.on_gpu, places.on_gpu);
        assert_close(&features, 2e-6);
        assert_same(&places);
        transform_backward(&on_cpu, x.on_cpu, SERIES, features.on_cpu, places.on_cpu,
                           upstream.on_cpu, dx.on_cpu);
        transform_backward(&on_gpu, x.on_gpu, SERIES, features.on_gpu, places.on_gpu,
                           upstream.on_gpu, dx.on_gpu);
        assert_close(&dx, 5e-6);
        /* The same for series of the host, without places. */
        assert_ok(device_transform(fake_device(), &on_gpu, series, 0, SERIES, features.seen));
        assert_arrays_near((float *)features.seen, (float *)features.on_cpu, SERIES * SHAPELETS,
                           2e-6);
        transform_free(&on_cpu);
        transform_free(&on_gpu);
        free(series);
        struct both *const freed[] = {&x, &features, &upstream, &places, &dx};
        for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
            free_both(freed[i]);
    }
    slp_free(&pool);
}

/* More than go to the device at a time. */
static void large_datasets_are_transformed_part_by_part(void **state)
{
    enum { COUNT = 700, STEPS = 4000 };
    float *series = normal_values((size_t)COUNT * STEPS, 6), expected[COUNT], seen[COUNT];
    struct transform on_cpu, on_gpu;
    struct shapelet_pool pool;

    (void)state;
    assert_ok(slp_new(1, 7, &pool));
    pool.channels = 1;
    pool.steps = STEPS;
    pool.classes = 2;
    memcpy(pool.values, series, 7 * sizeof *series);
    pool.shapelets[0] =
        (struct shapelet){.values = pool.values, .start = 3990, .length = 7, .window = 3};
    assert_ok(transform_make(&pool, 1, STEPS, TRANSFORM_AS_FOUND, &on_cpu));
    assert_ok(transform_make(&pool, 1, STEPS, TRANSFORM_AS_FOUND, &on_gpu));
    assert_ok(transform_to_device(&on_gpu, fake_device()->transform));
    transform_forward(&on_cpu, series, COUNT, expected, NULL);
    for (int late = FAKE_NONE_LATE; late <= FAKE_OTHERS_LATE; late++) {
        memset(seen, 0, sizeof seen);
        if (fake_knobs())
            fake_knobs()->run_late((enum fake_late)late);
        assert_ok(device_transform(fake_device(), &on_gpu, series, 0, COUNT, seen));
        if (fake_knobs())
            fake_knobs()->run_late(FAKE_NONE_LATE);
        assert_arrays_near(seen, expected, COUNT, 2e-6);
    }
    transform_free(&on_cpu);
    transform_free(&on_gpu);
    slp_free(&pool);
    free(series);
}

/* Whose squares are too large or too small for a float, and zeros of both signs. */
static void series_of_any_scale_are_transformed(void **state)
{
    static const float scales[] = {1e25f, 1e-25f, 3e38f, 0};
    struct shapelet_pool pool;

    (void)state;
    make_pool(&pool);
    for (size_t k = 0; k < 2 * sizeof scales / sizeof scales[0]; k++) {
        struct transform on_cpu, on_gpu;
        float *series = normal_values(SERIES * CHANNELS * LENGTH, 1);
        struct both x, features = both_normal(SERIES * SHAPELETS, 2);
        struct both places = both_normal(SERIES * SHAPELETS, 4);

        for (size_t i = 0; i < SERIES * CHANNELS * LENGTH; i++)
            series[i] = fmaxf(fminf(series[i], 1), -1) * scales[k / 2];
        for (size_t i = 0; i < 300; i++)
            pool.values[i] = fmaxf(fminf(pool.values[i], 1), -1) * (scales[k / 2] > 1 ? 1 : 0);
        pool.length_normalised = k % 2;
        for (size_t i = 0; i < SHAPELETS; i++) {
            pool.shapelets[i].offset = 0;
            pool.shapelets[i].scale = scales[k / 2] > 1 ? 1 : 1e20f;
        }
        pool.standardised = true;
        x = both_of(series, SERIES * CHANNELS * LENGTH * sizeof *series);
        assert_ok(transform_make(&pool, CHANNELS, LENGTH, TRANSFORM_FULL, &on_cpu));
        assert_ok(transform_make(&pool, CHANNELS, LENGTH, TRANSFORM_FULL, &on_gpu));
        assert_ok(transform_to_device(&on_gpu, fake_device()->transform));
        transform_forward(&on_cpu, x.on_cpu, SERIES, features.on_cpu, places.on_cpu);
        transform_forward(&on_gpu, x.on_gpu, SERIES, features.on_gpu, places.on_gpu);
        fetch_both(&features);
        for (size_t i = 0; i < SERIES * SHAPELETS; i++) {
            double seen = ((float *)features.seen)[i], expected = ((float *)features.on_cpu)[i];

            assert_true(isfinite(seen) && fabs(seen - expected) <= 2e-6 * fabs(expected));
        }
        assert_same(&places);
        transform_free(&on_cpu);
        transform_free(&on_gpu);
        free(series);
        free_both(&x);
        free_both(&features);
        free_both(&places);
    }
    slp_free(&pool);
}

static struct dataset make_set(size_t count, size_t steps)
{
    struct dataset dataset;
    float *values = normal_values(count * 2 * steps, 50);

    assert_ok(dataset_new(count, 2, steps, 3, false, &dataset));
    memcpy(dataset.x, values, count * 2 * steps * sizeof *values);
    for (size_t i = 0; i < count; i++)
        dataset.y[i] = (int32_t)(i % 3);
    free(values);
    return dataset;
}

/* Candidates of three lengths (those with that factor), every start_step, between two steps of
 * series 0. */
struct measuring {
    size_t start_step, from, to, window, factor;
};

/* Distances to channel 1 of all series, from both devices, have the same bits. */
static void compare_distances(const struct dataset *dataset, const struct measuring *how)
{
    size_t lengths[] = {1 * how->factor, 6 * how->factor, 17 * how->factor};
    const struct distance_device *device = fake_device()->distance;
    const float *source = dataset_series(dataset, 0, 1);
    size_t *order = calloc(dataset->count, sizeof *order), stride;
    struct series_blocks blocks;
    struct candidates all;
    struct distance_scratch scratch;
    float *a, *b;
    void *series, *worker;

    for (size_t i = 0; i < dataset->count; i++)
        order[i] = dataset->count - 1 - i;
    assert_ok(series_blocks_make(dataset, 1, order, &blocks));
    assert_ok(
        candidates_make(dataset->length, lengths, 3, how->start_step, how->from, how->to, &all));
    assert_ok(distance_scratch_make(&all, &scratch));
    assert_ok(distance_doubt(&blocks, &scratch.doubt));
    stride = (blocks.blocks + 1) * DISTANCE_LANES;
    a = calloc(all.count * stride, sizeof *a);
    b = calloc(all.count * stride, sizeof *b);
    assert_non_null(series = device->series_open(&blocks));
    assert_non_null(worker = device->worker_open(&all, blocks.blocks));
    /* The blocks in two goes. */
    device->measure(worker, series, source, &all, how->window, scratch.doubt, 0, 2, a, stride);
    device->measure(worker, series, source, &all, how->window, scratch.doubt, 2, blocks.blocks,
                    a + 2 * DISTANCE_LANES, stride);
    assert_null(device->fault());
    for (size_t block = 0; block < blocks.blocks; block++)
        distance_to_block(source, blocks.values + block * dataset->length * DISTANCE_LANES, &all,
                          how->window, &scratch, b + block * DISTANCE_LANES, stride);
    assert_memory_equal(a, b, all.count * stride * sizeof *a);
    device->worker_close(worker);
    device->series_close(series);
    distance_scratch_free(&scratch);
    candidates_free(&all);
    series_blocks_free(&blocks);
    free(order);
    free(a);
    free(b);
}

static void distances_have_the_bits_of_the_processor(void **state)
{
    static const size_t windows[] = {0, 3, 1000};
    enum { COUNT = 37, STEPS = 41 };

    (void)state;
    for (size_t k = 0; k < 18; k++) {
        struct dataset dataset = make_set(COUNT, STEPS);
        struct measuring how = {2, k % 2 ? 5 : 0, k % 2 ? 20 : STEPS, windows[k / 2 % 3], 1};

        for (size_t i = 0; i < COUNT * 2; i++)
            for (size_t t = k < 6 ? 0 : 8; t < 14; t++)
                if (k < 6) /* squares that are too small for a float, in the last lane of a block */
                    dataset.x[i * STEPS + t] *= i / 2 == 0 || i / 2 % 8 == 5 ? 1e-25f : 1;
                else if (k < 12) /* spikes that running sums lose the rest beside */
                    dataset.x[i * STEPS + t] *= i % 11 == t ? 1e7f : 1;
                else /* squares that are too large */
                    dataset.x[i * STEPS + t] *= 1e25f;
        compare_distances(&dataset, &how);
        dataset_free(&dataset);
    }
}

/* Starts and lengths that are multiples of 2, 4, 5 and 3 steps, in series that are not. */
static void grains_have_the_bits_of_the_processor(void **state)
{
    static const size_t factors[] = {2, 4, 5, 3}, windows[] = {0, 3, 7, 1000};
    enum { COUNT = 37, STEPS = 107 };
    struct dataset dataset = make_set(COUNT, STEPS);

    (void)state;
    for (size_t f = 0; f < 4; f++)
        for (size_t w = 0; w < 4; w++)
            for (size_t part = 0; part < 2; part++) {
                size_t factor = factors[f];
                struct measuring how = {factor, part ? 2 * factor : 0,
                                        part ? 3 * factor + 1 : STEPS, windows[w], factor};

                compare_distances(&dataset, &how);
            }
    dataset_free(&dataset);
}

static void many_shifts_of_many_series_are_measured_in_several_goes(void **state)
{
    enum { COUNT = 1100, STEPS = 800 };
    struct dataset dataset = make_set(COUNT, STEPS);
    struct measuring how = {90, 0, STEPS, 12, 1};

    (void)state;
    compare_distances(&dataset, &how);
    dataset_free(&dataset);
}

static void discovery_finds_the_same_pool(void **state)
{
    static const size_t lengths[] = {4, 9};
    struct dataset dataset = make_set(70, 30);
    struct discover_options options = {
        .lengths = lengths, .length_count = 2, .start_step = 1, .window = 4, .k = 3};
    struct shapelet_pool a, b;

    (void)state;
    parallel_set_threads(3);
    assert_ok(discover_shapelets(&dataset, &options, &b, NULL));
    options.device = fake_device()->distance;
    assert_ok(discover_shapelets(&dataset, &options, &a, NULL));
    parallel_set_threads(0);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_int_equal(a.shapelets[i].source, b.shapelets[i].source);
        assert_int_equal(a.shapelets[i].start, b.shapelets[i].start);
        assert_memory_equal(&a.shapelets[i].quality, &b.shapelets[i].quality, sizeof(float));
        assert_memory_equal(&a.shapelets[i].threshold, &b.shapelets[i].threshold, sizeof(float));
    }
    slp_free(&a);
    slp_free(&b);
    dataset_free(&dataset);
}

static void grids_too_small_for_the_work_go_round(void **state)
{
    (void)state;
    if (!fake_knobs())
        skip();
    for (size_t most = 1; most < 4; most += 2) {
        fake_knobs()->limit_grids(most);
        the_transform_and_its_gradient_are_those_of_the_processor(NULL);
        distances_have_the_bits_of_the_processor(NULL);
        fake_knobs()->limit_grids(0);
    }
}

static void discovery_waits_for_what_it_copies(void **state)
{
    (void)state;
    if (!fake_knobs())
        skip();
    for (int late = FAKE_ALL_LATE; late <= FAKE_OTHERS_LATE; late++) {
        fake_knobs()->run_late((enum fake_late)late);
        the_transform_and_its_gradient_are_those_of_the_processor(NULL);
        distances_have_the_bits_of_the_processor(NULL);
        discovery_finds_the_same_pool(NULL);
        fake_knobs()->run_late(FAKE_NONE_LATE);
    }
}

static void nothing_is_left_behind(void **state)
{
    struct fake_cuda_counts before;

    (void)state;
    if (!fake_knobs())
        skip();
    before = fake_knobs()->counts();
    the_transform_and_its_gradient_are_those_of_the_processor(NULL);
    distances_have_the_bits_of_the_processor(NULL);
    assert_int_equal(fake_knobs()->counts().allocated, before.allocated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_transform_and_its_gradient_are_those_of_the_processor),
        cmocka_unit_test(large_datasets_are_transformed_part_by_part),
        cmocka_unit_test(series_of_any_scale_are_transformed),
        cmocka_unit_test(distances_have_the_bits_of_the_processor),
        cmocka_unit_test(grains_have_the_bits_of_the_processor),
        cmocka_unit_test(many_shifts_of_many_series_are_measured_in_several_goes),
        cmocka_unit_test(discovery_finds_the_same_pool),
        cmocka_unit_test(grids_too_small_for_the_work_go_round),
        cmocka_unit_test(discovery_waits_for_what_it_copies),
        cmocka_unit_test(nothing_is_left_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
