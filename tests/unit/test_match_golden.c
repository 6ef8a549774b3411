/* The losses of sc-match and their gradients against PyTorch's double backward: the arrays of
 * tests/golden/matching.npy in the order in which matching.py wrote them. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/classwise.h"
#include "match/trajectory.h"
#include "npy-c/npy-c.h"
#include "support/golden.h"

enum { CHANNELS = 2, LENGTH = 14, SERIES = 6, MOST = 16 };

static const char description[] =
    "cnn depth=2 width=4 norm=batch act=relu pool=max channels=2 length=14 classes=3";

struct golden {
    npy_reader *reader;
    struct npy_array arrays[MOST]; /* of this test */
    size_t count;
};

static float *next(struct golden *golden, size_t expected)
{
    struct npy_array *array = &golden->arrays[golden->count++];
    struct npy_error error;

    assert_true(golden->count <= MOST);
    assert_int_equal(npy_next(golden->reader, array, &error), 1);
    if (expected)
        assert_int_equal(array->count, expected);
    return array->data;
}

static void free_arrays(struct golden *golden)
{
    for (size_t i = 0; i < golden->count; i++)
        npy_array_free(&golden->arrays[i]);
    golden->count = 0;
}

/* The largest difference beside the largest value. */
static void assert_same(const float *values, const float *expected, size_t count)
{
    double largest = 0, apart = 0;

    for (size_t i = 0; i < count; i++) {
        assert_false(isnan(values[i]));
        largest = fmax(largest, fabs((double)expected[i]));
        apart = fmax(apart, fabs((double)values[i] - (double)expected[i]));
    }
    assert_true(largest > 1e-4);
    if (apart > 2e-5 * largest)
        fail_msg("off by %g of %g", apart, largest);
}

static struct model make_model(bool two_towers)
{
    struct architecture architecture;
    struct model model;

    assert_ok(architecture_parse(description, &architecture));
    assert_ok(model_new(&architecture, two_towers, &model));
    return model;
}

/* Gradient matching and distribution matching of one class, through an augmentation. */
static void check_classwise(struct golden *golden)
{
    struct model model = make_model(false);
    struct class_match match;
    struct class_batch batch = {.label = 1, .real_count = 6, .synthetic_count = 2};
    float dx[2 * CHANNELS * LENGTH];
    double loss;

    assert_ok(class_match_new(&model, 6, 2, true, &match));
    batch.parameters = next(golden, model.parameter_count);
    batch.buffers = next(golden, model.buffer_count);
    batch.real_x = next(golden, 6 * CHANNELS * LENGTH);
    batch.synthetic_x = next(golden, 2 * CHANNELS * LENGTH);
    augmentation_draw(&match.augmentation, AUGMENT_FLIP, 1, NULL);
    memcpy(match.augmentation.gain, next(golden, CHANNELS), CHANNELS * sizeof(float));
    memcpy(match.augmentation.noise, next(golden, CHANNELS * LENGTH),
           CHANNELS * LENGTH * sizeof(float));

    loss = class_match_gradients(&match, &batch, dx);
    assert_near(loss, *next(golden, 1), 1e-5);
    assert_same(dx, next(golden, sizeof dx / sizeof *dx), sizeof dx / sizeof *dx);
    loss = class_match_means(&match, &batch, dx);
    assert_near(loss, *next(golden, 1), 1e-5);
    assert_same(dx, next(golden, sizeof dx / sizeof *dx), sizeof dx / sizeof *dx);
    class_match_free(&match);
    model_free(&model);
    free_arrays(golden);
}

static void check_trajectory(struct golden *golden, bool two_towers, bool soft, bool seen_four_ways,
                             double weight)
{
    static const int32_t labels[SERIES] = {0, 0, 1, 1, 2, 2};
    struct model model = make_model(two_towers);
    struct trajectory_options options = {.steps = 3,
                                         .series = SERIES,
                                         .batch = SERIES,
                                         .views = seen_four_ways,
                                         .embedding_weight = weight,
                                         .loss = {soft ? LOSS_KL : LOSS_LABELS, 1, 1}};
    size_t factors = (VIEWS - 1) * SERIES * CHANNELS * spectrum_bins(LENGTH);
    float dx[SERIES * CHANNELS * LENGTH], dtargets[SERIES * 3];
    struct condensed condensed, gradient = {.x = dx, .targets = dtargets};
    struct trajectory *trajectory;
    struct views views;
    struct trajectory_task task = {.labels = labels, .views = seen_four_ways ? &views : NULL};
    double loss;

    assert_ok(trajectory_new(&model, &options, &trajectory));
    assert_ok(views_new(SERIES * CHANNELS, LENGTH, &views));
    task.start = next(golden, model.parameter_count);
    task.end = next(golden, model.parameter_count);
    condensed.x = next(golden, SERIES * CHANNELS * LENGTH);
    condensed.targets = next(golden, SERIES * 3);
    condensed.rate = *next(golden, 1);
    memcpy(views.real, next(golden, factors), factors * sizeof(float));
    memcpy(views.imaginary, next(golden, factors), factors * sizeof(float));

    loss = trajectory_loss(trajectory, &task, &condensed, &gradient);
    assert_near(loss, *next(golden, 1), 1e-5);
    assert_same(dx, next(golden, sizeof dx / sizeof *dx), sizeof dx / sizeof *dx);
    assert_near(gradient.rate, *next(golden, 1), 2e-5);
    if (soft)
        assert_same(dtargets, next(golden, SERIES * 3), SERIES * 3);
    views_free(&views);
    trajectory_free(trajectory);
    model_free(&model);
    free_arrays(golden);
}

static void losses_and_gradients_are_those_of_pytorch(void **state)
{
    struct golden golden = {0};
    struct npy_error error;
    struct npy_array more;

    (void)state;
    golden.reader = npy_open(golden_path("matching.npy"), &error);
    assert_non_null(golden.reader);
    check_classwise(&golden);
    check_trajectory(&golden, false, false, false, 0);
    check_trajectory(&golden, false, true, false, 0);
    check_trajectory(&golden, true, false, true, 0.7);
    assert_int_equal(npy_next(golden.reader, &more, &error), 0);
    npy_close(golden.reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_gradients_are_those_of_pytorch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
