#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "shapelets/standardise.h"
#include "shapelets/transform.h"

enum { SERIES = 40, STEPS = 12, SHAPELETS = 3, LENGTH = 4 };

/* Normal series; the last shapelet lies in each of them. */
static void make(struct dataset *set, struct shapelet_pool *pool)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    assert_ok(dataset_new(SERIES, 1, STEPS, 2, false, set));
    assert_ok(slp_new(SHAPELETS, SHAPELETS * LENGTH, pool));
    pool->channels = 1;
    pool->steps = STEPS;
    pool->classes = 2;
    for (size_t i = 0; i < SHAPELETS * LENGTH; i++)
        pool->values[i] = (float)random_normal(&stream);
    for (size_t i = 0; i < SERIES * STEPS; i++)
        set->x[i] = (float)random_normal(&stream);
    for (size_t k = 0; k < SHAPELETS; k++)
        pool->shapelets[k] = (struct shapelet){.values = pool->values + k * LENGTH,
                                               .start = 2,
                                               .length = LENGTH,
                                               .window = k ? 3 : SLP_WINDOW_FULL};
    for (size_t i = 0; i < SERIES; i++)
        memcpy(set->x + i * STEPS + 2, pool->shapelets[2].values, LENGTH * sizeof(float));
}

static void features_have_mean_0_and_one_deviation(void **state)
{
    static float features[SERIES * SHAPELETS];
    struct shapelet_pool pool;
    struct transform transform;
    struct dataset set;

    (void)state;
    make(&set, &pool);
    assert_ok(pool_standardise(&pool, &set));
    assert_true(pool.standardised);
    assert_ok(transform_make(&pool, 1, STEPS, TRANSFORM_AS_FOUND, &transform));
    transform_forward(&transform, set.x, SERIES, features, NULL);
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
    dataset_free(&set);
}

static void a_distance_that_never_changes_is_left_alone(void **state)
{
    struct shapelet_pool pool;
    struct dataset set;

    (void)state;
    make(&set, &pool);
    assert_ok(pool_standardise(&pool, &set));
    assert_true(pool.shapelets[2].offset == 0 && pool.shapelets[2].scale == 1);
    slp_free(&pool);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_mean_0_and_one_deviation),
        cmocka_unit_test(a_distance_that_never_changes_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
