#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/parallel.h"
#include "base/random.h"
#include "shapelets/transform.h"
#include "shapelets/transform_internal.h"
#include "support/brute.h"

enum { COUNT = 6, CHANNELS = 3, STEPS = 90, SHAPELETS = 9 };

static void make_pool(struct random_stream *stream, struct shapelet_pool *pool)
{
    static const uint32_t lengths[SHAPELETS] = {1, 2, 7, 30, 70, STEPS, 9, 12, 33};
    size_t used = 0, values = 0;

    for (size_t k = 0; k < SHAPELETS; k++)
        values += lengths[k];
    assert_ok(slp_new(SHAPELETS, values, pool));
    pool->channels = CHANNELS;
    pool->steps = STEPS;
    for (size_t k = 0; k < SHAPELETS; k++) {
        pool->shapelets[k] =
            (struct shapelet){.values = pool->values + used,
                              .channel = (uint32_t)(k % CHANNELS),
                              .start = (uint32_t)random_below(stream, STEPS - lengths[k] + 1),
                              .length = lengths[k],
                              .window = k % 2 ? SLP_WINDOW_FULL : (uint32_t)(k * 3)};
        for (size_t t = 0; t < lengths[k]; t++)
            pool->values[used++] = (float)random_normal(stream);
    }
}

static void make_series(struct random_stream *stream, float *x)
{
    for (size_t i = 0; i < COUNT * CHANNELS * STEPS; i++)
        x[i] = (float)random_normal(stream);
}

static size_t window_of(const struct shapelet *shapelet, size_t window)
{
    if (window != TRANSFORM_AS_FOUND)
        return window;
    return shapelet->window == SLP_WINDOW_FULL ? SIZE_MAX : shapelet->window;
}

static void scale_values(float *values, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++)
        values[i] *= scale;
}

/* Also of values so large or small that their squares do not fit into a float. */
static void test_features_equal_brute_force(void **state)
{
    static const float scales[] = {1, 1e28F, 1e-28F, 1e-21F}; /* one after the other */
    static const size_t windows[] = {0, 1, 5, 20, 1000, TRANSFORM_FULL, TRANSFORM_AS_FOUND};
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);
    static float x[COUNT * CHANNELS * STEPS], features[COUNT * SHAPELETS];
    struct shapelet_pool pool;
    struct transform transform;

    (void)state;
    make_pool(&stream, &pool);
    make_series(&stream, x);
    for (size_t run = 0; run < 56; run++) {
        size_t window = windows[run / 2 % 7];

        if (run % 14 == 0) {
            scale_values(x, COUNT * CHANNELS * STEPS, scales[run / 14]);
            for (size_t k = 0; k < SHAPELETS; k++)
                scale_values(pool.values + (pool.shapelets[k].values - pool.values),
                             pool.shapelets[k].length, scales[run / 14]);
        }
        pool.length_normalised = run % 2;
        assert_ok(transform_make(&pool, CHANNELS, STEPS, window, &transform));
        transform_forward(&transform, x, COUNT, features, NULL);
        for (size_t i = 0; i < COUNT; i++)
            for (size_t k = 0; k < SHAPELETS; k++) {
                const struct shapelet *s = &pool.shapelets[k];
                double expected = brute_distance(s->values, s->length, s->start,
                                                 x + (i * CHANNELS + s->channel) * STEPS, STEPS,
                                                 window_of(s, window));

                if (pool.length_normalised)
                    expected /= sqrt((double)s->length);
                assert_near(features[i * SHAPELETS + k] / expected, 1, 2e-6);
            }
        transform_free(&transform);
    }
    slp_free(&pool);
}

/* An offset and a scale that differ from shapelet to shapelet. */
static void standardise(struct shapelet_pool *pool)
{
    pool->standardised = true;
    for (size_t k = 0; k < SHAPELETS; k++) {
        pool->shapelets[k].offset = 0.5F * (float)k;
        pool->shapelets[k].scale = 0.5F + 0.25F * (float)k;
    }
}

static void test_features_of_a_standardised_pool_are_shifted_and_scaled(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);
    static float x[COUNT * CHANNELS * STEPS], raw[COUNT * SHAPELETS], features[COUNT * SHAPELETS];
    struct shapelet_pool pool;
    struct transform transform;

    (void)state;
    make_pool(&stream, &pool);
    make_series(&stream, x);
    for (int run = 0; run < 2; run++) {
        assert_ok(transform_make(&pool, CHANNELS, STEPS, 5, &transform));
        transform_forward(&transform, x, COUNT, run ? features : raw, NULL);
        transform_free(&transform);
        standardise(&pool);
    }
    for (size_t i = 0; i < COUNT * SHAPELETS; i++) {
        const struct shapelet *s = &pool.shapelets[i % SHAPELETS];

        assert_near(features[i], ((double)raw[i] - s->offset) * s->scale, 1e-5);
    }
    slp_free(&pool);
}

static double objective(const struct transform *transform, const float *x, const float *upstream)
{
    static float features[COUNT * SHAPELETS];
    double sum = 0;

    transform_forward(transform, x, COUNT, features, NULL);
    for (size_t i = 0; i < COUNT * SHAPELETS; i++)
        sum += (double)features[i] * upstream[i];
    return sum;
}

static void test_gradient_equals_finite_differences(void **state)
{
    struct random_stream stream = random_stream(2, RANDOM_TEST, 0);
    static float x[COUNT * CHANNELS * STEPS], dx[COUNT * CHANNELS * STEPS];
    static float features[COUNT * SHAPELETS], upstream[COUNT * SHAPELETS];
    static uint32_t places[COUNT * SHAPELETS];
    struct shapelet_pool pool;
    struct transform transform;

    (void)state;
    make_pool(&stream, &pool);
    make_series(&stream, x);
    /* Not for the shortest two, whose distances are so small that the root bends within a step. */
    for (size_t i = 0; i < COUNT * SHAPELETS; i++)
        upstream[i] = i % SHAPELETS < 2 ? 0 : (float)random_normal(&stream);
    for (int run = 0; run < 6; run++) {
        pool.length_normalised = run % 2;
        if (run == 4)
            standardise(&pool);
        assert_ok(transform_make(&pool, CHANNELS, STEPS, run < 2 ? TRANSFORM_FULL : 4, &transform));
        transform_forward(&transform, x, COUNT, features, places);
        for (size_t i = 0; i < COUNT * CHANNELS * STEPS; i++)
            dx[i] = 1; /* gradients are added */
        transform_backward(&transform, x, COUNT, features, places, upstream, dx);
        for (size_t i = 0; i < COUNT * CHANNELS * STEPS; i += 7) {
            float before = x[i], step = 4e-3F;
            double up, down;

            x[i] = before + step;
            up = objective(&transform, x, upstream);
            x[i] = before - step;
            down = objective(&transform, x, upstream);
            x[i] = before;
            assert_near((up - down) / (2 * (double)step), dx[i] - 1.0, 3e-3);
        }
        transform_free(&transform);
    }
    slp_free(&pool);
}

static void test_gradient_at_distance_zero_is_zero(void **state)
{
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    static float x[COUNT * CHANNELS * STEPS], dx[COUNT * CHANNELS * STEPS];
    static float features[COUNT * SHAPELETS], upstream[COUNT * SHAPELETS];
    static uint32_t places[COUNT * SHAPELETS];
    struct shapelet_pool pool;
    struct transform transform;

    (void)state;
    make_pool(&stream, &pool);
    make_series(&stream, x);
    memset(dx, 0, sizeof dx);
    /* Shapelet 4 lies in the first series as it is. */
    memcpy(x + pool.shapelets[4].channel * STEPS + 5, pool.shapelets[4].values,
           pool.shapelets[4].length * sizeof *x);
    assert_ok(transform_make(&pool, CHANNELS, STEPS, TRANSFORM_FULL, &transform));
    transform_forward(&transform, x, COUNT, features, places);
    assert_true(features[4] == 0);
    assert_int_equal(places[4], 5);
    upstream[4] = 1;
    transform_backward(&transform, x, COUNT, features, places, upstream, dx);
    for (size_t i = 0; i < COUNT * CHANNELS * STEPS; i++)
        assert_true(dx[i] == 0);
    transform_free(&transform);
    slp_free(&pool);
}

static void test_threads_do_not_change_the_bits(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);
    static float x[COUNT * CHANNELS * STEPS], dx[3][COUNT * CHANNELS * STEPS];
    static float features[3][COUNT * SHAPELETS];
    static uint32_t places[COUNT * SHAPELETS];
    struct shapelet_pool pool;

    (void)state;
    make_pool(&stream, &pool);
    make_series(&stream, x);
    for (size_t run = 0; run < 3; run++) {
        struct transform transform;

        parallel_set_threads(threads[run]);
        assert_ok(transform_make(&pool, CHANNELS, STEPS, TRANSFORM_AS_FOUND, &transform));
        transform_forward(&transform, x, COUNT, features[run], places);
        transform_backward(&transform, x, COUNT, features[run], places, features[run], dx[run]);
        assert_memory_equal(features[0], features[run], sizeof features[0]);
        assert_memory_equal(dx[0], dx[run], sizeof dx[0]);
        transform_free(&transform);
    }
    parallel_set_threads(0);
    slp_free(&pool);
}

static void check_kernel(transform_squares *squares)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);
    static float x[400], s[200], got[400 + TRANSFORM_PADDING];

    for (size_t i = 0; i < 400; i++)
        x[i] = (float)random_normal(&stream);
    for (size_t t = 0; t < 200; t++)
        s[t] = (float)random_normal(&stream);
    for (size_t length = 1; length < 200; length += 11)
        for (size_t places = 1; places < 120; places += 3) {
            squares(x, s, length, places, got);
            for (size_t j = 0; j < places; j++) {
                double sum = 0;

                for (size_t t = 0; t < length; t++)
                    sum += ((double)x[j + t] - s[t]) * ((double)x[j + t] - s[t]);
                assert_near(got[j] / sum, 1, 4e-6);
            }
        }
}

static void test_kernels_equal_brute_force(void **state)
{
    (void)state;
    check_kernel(transform_squares_generic);
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        check_kernel(transform_squares_avx2);
#endif
}

static void test_shapelets_without_a_place_are_refused(void **state)
{
    struct random_stream stream = random_stream(6, RANDOM_TEST, 0);
    struct shapelet_pool pool;
    struct transform transform;

    (void)state;
    make_pool(&stream, &pool);
    assert_fails("does not fit into series of 89",
                 transform_make(&pool, CHANNELS, STEPS - 1, TRANSFORM_FULL, &transform));
    pool.count = 3;
    pool.shapelets[2].start = 80;
    assert_ok(transform_make(&pool, CHANNELS, 20, TRANSFORM_FULL, &transform));
    transform_free(&transform);
    assert_fails("a full scan would", transform_make(&pool, CHANNELS, 20, 3, &transform));
    assert_fails("the pool is for series of 3 channels, not 2",
                 transform_make(&pool, 2, STEPS, TRANSFORM_FULL, &transform));
    slp_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_equal_brute_force),
        cmocka_unit_test(test_features_of_a_standardised_pool_are_shifted_and_scaled),
        cmocka_unit_test(test_gradient_equals_finite_differences),
        cmocka_unit_test(test_gradient_at_distance_zero_is_zero),
        cmocka_unit_test(test_threads_do_not_change_the_bits),
        cmocka_unit_test(test_kernels_equal_brute_force),
        cmocka_unit_test(test_shapelets_without_a_place_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
