#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "shapelets/standardise.h"
#include "shapelets/transform.h"

enum { SERIES = 40, STEPS = 12, SHAPELETS = 3, LENGTH = 4 };

/* Normal series; the last shapelet lies in each of them. */
static void make(struct dataset *dataset, struct shapelet_pool *pool)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    assert_ok(dataset_new(SERIES, 1, STEPS, 2, false, dataset));
    assert_ok(slp_new(SHAPELETS, SHAPELETS * LENGTH, pool));
    pool->channels = 1;
    pool->steps = STEPS;
    pool->classes = 2;
    for (size_t i = 0; i < SHAPELETS * LENGTH; i++)
        pool->values[i] = (float)random_normal(&stream);
    for (size_t i = 0; i < SERIES * STEPS; i++)
        dataset->x[i] = (float)random_normal(&stream);
    for (size_t k = 0; k < SHAPELETS; k++)
        pool->shapelets[k] = (struct shapelet){.values = pool->values + k * LENGTH,
                                               .start = 2,
                                               .length = LENGTH,
                                               .window = k ? 3 : SLP_WINDOW_FULL};
    for (size_t i = 0; i < SERIES; i++)
        memcpy(dataset->x + i * STEPS + 2, pool->shapelets[2].values, LENGTH * sizeof(float));
}

static void features_have_mean_0_and_one_deviation(void **state)
{
    static float features[SERIES * SHAPELETS];
    struct shapelet_pool pool;
    struct transform transform;
    struct dataset dataset;

    (void)state;
    make(&dataset, &pool);
    assert_ok(pool_standardise(&pool, &dataset, NULL));
    assert_true(pool.standardised);
    assert_ok(transform_make(&pool, 1, STEPS, TRANSFORM_AS_FOUND, &transform));
    transform_forward(&transform, dataset.x, SERIES, features, NULL);
    for (size_t k = 0; k < 2; k++) {
        double sum = 0, squares = 0;

        for (size_t i = 0; i < SERIES; i++) {
            sum += features[i * SHAPELETS + k];
            squares += pow(features[i * SHAPELETS + k], 2);
        }
        assert_near(sum / SERIES, 0, 1e-4);
        assert_near(squares / SERIES, 512.0 / SHAPELETS, 1e-2);
    }
    transform_free(&transform);
    slp_free(&pool);
    dataset_free(&dataset);
}

static void a_distance_that_never_changes_is_left_alone(void **state)
{
    struct shapelet_pool pool;
    struct dataset dataset;

    (void)state;
    make(&dataset, &pool);
    assert_ok(pool_standardise(&pool, &dataset, NULL));
    assert_true(pool.shapelets[2].offset == 0 && pool.shapelets[2].scale == 1);
    slp_free(&pool);
    dataset_free(&dataset);
}

/* Series of one value each, from half of `high` to `high`, and shapelets of zeros or of `shapelet`:
 * distances of twice the difference. */
static struct error *standardise_values(float high, float shapelet)
{
    struct shapelet_pool pool;
    struct dataset dataset;
    struct error *error;

    make(&dataset, &pool);
    for (size_t i = 0; i < SERIES * STEPS; i++)
        dataset.x[i] = high * (0.5F + 0.5F * (float)(i / STEPS) / (SERIES - 1));
    for (size_t i = 0; i < SHAPELETS * LENGTH; i++)
        pool.values[i] = i < LENGTH ? 0 : shapelet;
    error = pool_standardise(&pool, &dataset, NULL);
    assert_true(pool.standardised == !error);
    for (size_t k = 0; !error && k < SHAPELETS; k++) {
        assert_true(isfinite(pool.shapelets[k].offset));
        assert_true(isnormal(pool.shapelets[k].scale) && pool.shapelets[k].scale > 0);
    }
    slp_free(&pool);
    dataset_free(&dataset);
    return error;
}

static void distances_without_a_place_in_floats_are_refused(void **state)
{
    (void)state;
    assert_ok(standardise_values(1e30F, 1e30F));
    assert_ok(standardise_values(1.6e38F, 0));
    /* The mean has a place, the largest distance has none. */
    assert_fails("shapelet 0, channel 0: distances of up to 4e+38, which vary by 5.92e+37, are too "
                 "large for 32-bit floats: scale the series first (sc-scale)",
                 standardise_values(2e38F, 0));
    assert_fails("shapelet 1, channel 0: distances of up to 8e+38",
                 standardise_values(1e38F, -3e38F));
    assert_ok(standardise_values(1e-30F, 0));
    assert_ok(standardise_values(1e-36F, 0));
    assert_fails("shapelet 0, channel 0: distances of up to 2e-38, which vary by 2.96e-39, are too "
                 "small for 32-bit floats: scale the series first (sc-scale)",
                 standardise_values(1e-38F, 0));
    assert_fails("too small", standardise_values(1e-42F, 0));
    assert_ok(standardise_values(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_mean_0_and_one_deviation),
        cmocka_unit_test(distances_without_a_place_in_floats_are_refused),
        cmocka_unit_test(a_distance_that_never_changes_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
