/* The losses of sc-match and their gradients against PyTorch's double backward: the arrays of
 * tests/golden/matching.npy in the order in which matching.py wrote them. */
#include "support/check.h"

#include <string.h>

#include "match/classwise.h"
#include "match/trajectory.h"
#include "support/golden.h"

enum { CHANNELS = 2, LENGTH = 14, SERIES = 6 };

static const char description[] =
    "cnn depth=2 width=4 norm=batch act=relu pool=max channels=2 length=14 classes=3";

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
    batch.parameters = golden_next(golden, model.parameter_count);
    batch.buffers = golden_next(golden, model.buffer_count);
    batch.real_x = golden_next(golden, 6 * CHANNELS * LENGTH);
    batch.synthetic_x = golden_next(golden, 2 * CHANNELS * LENGTH);
    augmentation_draw(&match.augmentation, AUGMENT_FLIP, 1, NULL);
    memcpy(match.augmentation.gain, golden_next(golden, CHANNELS), CHANNELS * sizeof(float));
    memcpy(match.augmentation.noise, golden_next(golden, CHANNELS * LENGTH),
           CHANNELS * LENGTH * sizeof(float));

    loss = class_match_gradients(&match, &batch, dx);
    assert_near(loss, *golden_next(golden, 1), 1e-5);
    golden_same(dx, golden_next(golden, sizeof dx / sizeof *dx), sizeof dx / sizeof *dx);
    loss = class_match_means(&match, &batch, dx);
    assert_near(loss, *golden_next(golden, 1), 1e-5);
    golden_same(dx, golden_next(golden, sizeof dx / sizeof *dx), sizeof dx / sizeof *dx);
    class_match_free(&match);
    model_free(&model);
    golden_forget(golden);
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
    size_t factors = (SPECTRAL_VIEWS - 1) * SERIES * CHANNELS * spectrum_bins(LENGTH);
    float dx[SERIES * CHANNELS * LENGTH], dtargets[SERIES * 3];
    struct condensed condensed, gradient = {.x = dx, .targets = dtargets};
    struct trajectory *trajectory;
    struct spectral_views views;
    struct trajectory_task task = {.labels = labels, .views = seen_four_ways ? &views : NULL};
    double loss;

    assert_ok(trajectory_new(&model, &options, &trajectory));
    assert_ok(spectral_views_new(SERIES * CHANNELS, LENGTH, &views));
    task.start = golden_next(golden, model.parameter_count);
    task.end = golden_next(golden, model.parameter_count);
    condensed.x = golden_next(golden, SERIES * CHANNELS * LENGTH);
    condensed.targets = golden_next(golden, SERIES * 3);
    condensed.rate = *golden_next(golden, 1);
    memcpy(views.real, golden_next(golden, factors), factors * sizeof(float));
    memcpy(views.imaginary, golden_next(golden, factors), factors * sizeof(float));

    loss = trajectory_loss(trajectory, &task, &condensed, &gradient);
    assert_near(loss, *golden_next(golden, 1), 1e-5);
    golden_same(dx, golden_next(golden, sizeof dx / sizeof *dx), sizeof dx / sizeof *dx);
    assert_near(gradient.rate, *golden_next(golden, 1), 2e-5);
    if (soft)
        golden_same(dtargets, golden_next(golden, SERIES * 3), SERIES * 3);
    spectral_views_free(&views);
    trajectory_free(trajectory);
    model_free(&model);
    golden_forget(golden);
}

static void losses_and_gradients_are_those_of_pytorch(void **state)
{
    struct golden golden;

    (void)state;
    golden_open("matching.npy", &golden);
    check_classwise(&golden);
    check_trajectory(&golden, false, false, false, 0);
    check_trajectory(&golden, false, true, false, 0);
    check_trajectory(&golden, true, false, true, 0.7);
    golden_close(&golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_gradients_are_those_of_pytorch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
