/* Windows of a student's training and their gradients against PyTorch's double backward
 * (tests/golden/unroll.npy, in the order in which unroll.py wrote it). */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "match/unroll.h"
#include "nn/backend.h"
#include "support/golden.h"

enum { SERIES = 6, REAL = 9, CHANNELS = 2, LENGTH = 14, CLASSES = 3, FEATURES = 5, AGE = 4 };
enum { X = SERIES * CHANNELS * LENGTH };

static const struct unroll_options options = {.series = SERIES,
                                              .batch = REAL,
                                              .window = 3,
                                              .training = 10,
                                              .rate = 0.05,
                                              .momentum = 0.9,
                                              .loss = {LOSS_KL, 4, 16}};

static struct network *make_network(const char *norm, size_t features)
{
    char text[160];
    struct architecture architecture;
    struct network *network;

    snprintf(text, sizeof text,
             "cnn depth=2 width=4 norm=%s act=relu pool=max channels=2 length=14 classes=3 "
             "features=%zu",
             norm, features);
    assert_ok(architecture_parse(text, &architecture));
    assert_ok(network_new(&architecture, backend_cpu(), &network));
    return network;
}

static void gradients_through_training_are_those_of_pytorch(void **state)
{
    static const int32_t labels[REAL] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    struct network *network = make_network("batch", FEATURES);
    size_t parameters = network->parameter_count;
    float dx[X], dfeatures[SERIES * FEATURES], dtargets[SERIES * CLASSES];
    struct unroll_condensed condensed, gradient = {dx, dfeatures, dtargets};
    struct unroll_student student = {.age = AGE};
    struct unroll_batch real = {.count = REAL, .labels = labels};
    struct golden golden;
    struct unroll *unroll;

    (void)state;
    golden_open("unroll.npy", &golden);
    student.parameters = golden_next(&golden, parameters);
    student.velocity = golden_next(&golden, parameters);
    condensed.x = golden_next(&golden, X);
    condensed.features = golden_next(&golden, SERIES * FEATURES);
    condensed.targets = golden_next(&golden, SERIES * CLASSES);
    real.x = golden_next(&golden, REAL * CHANNELS * LENGTH);
    real.features = golden_next(&golden, REAL * FEATURES);

    assert_ok(unroll_new(network, &options, &unroll));
    assert_near(unroll_window(unroll, &condensed, &real, &student, &gradient),
                *golden_next(&golden, 1), 1e-5);
    golden_same(student.parameters, golden_next(&golden, parameters), parameters);
    assert_int_equal(student.age, AGE + options.window);
    golden_same(dx, golden_next(&golden, X), X);
    golden_same(dfeatures, golden_next(&golden, SERIES * FEATURES), SERIES * FEATURES);
    golden_same(dtargets, golden_next(&golden, SERIES * CLASSES), SERIES * CLASSES);
    unroll_free(unroll);
    golden_close(&golden);
    network_free(network);
}

/* The loss of a window that begins at the start of a student's life. */
static double loss_of(struct unroll *unroll, struct unroll_condensed *condensed,
                      const struct unroll_batch *real, struct unroll_student *student,
                      struct unroll_condensed *gradient)
{
    unroll_begin(unroll, 3, 7, student);
    return unroll_window(unroll, condensed, real, student, gradient);
}

/* Other normalisations have no statistics to go through. */
static void gradients_are_the_slope_without_batch_normalisation(void **state)
{
    static const int32_t labels[REAL] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);
    struct network *network = make_network("instance", 0);
    float x[X], real_x[REAL * CHANNELS * LENGTH], targets[SERIES * CLASSES], direction[X];
    float dx[X], dtargets[SERIES * CLASSES], moved[X], unused_x[X], unused[SERIES * CLASSES];
    struct unroll_condensed condensed = {x, NULL, targets}, gradient = {dx, NULL, dtargets};
    struct unroll_condensed there = {moved, NULL, targets}, ignored = {unused_x, NULL, unused};
    struct unroll_batch real = {REAL, real_x, NULL, labels};
    struct unroll_student student;
    struct unroll *unroll;
    double slope = 0, up, down, h = 1e-2;

    (void)state;
    for (size_t i = 0; i < X; i++) {
        x[i] = (float)random_normal(&stream);
        direction[i] = (float)random_normal(&stream) / 16;
    }
    for (size_t i = 0; i < REAL * CHANNELS * LENGTH; i++)
        real_x[i] = (float)random_normal(&stream);
    for (size_t i = 0; i < SERIES * CLASSES; i++)
        targets[i] = (float)(3 * random_normal(&stream));
    student.parameters = calloc(2 * network->parameter_count, sizeof(float));
    student.velocity = student.parameters + network->parameter_count;
    assert_ok(unroll_new(network, &options, &unroll));
    loss_of(unroll, &condensed, &real, &student, &gradient);
    for (size_t i = 0; i < X; i++)
        slope += (double)direction[i] * dx[i];
    for (size_t i = 0; i < X; i++)
        moved[i] = x[i] + (float)h * direction[i];
    up = loss_of(unroll, &there, &real, &student, &ignored);
    for (size_t i = 0; i < X; i++)
        moved[i] = x[i] - (float)h * direction[i];
    down = loss_of(unroll, &there, &real, &student, &ignored);
    assert_true(fabs(slope) > 1e-4);
    assert_near((up - down) / (2 * h), slope, 0.02 * fabs(slope));
    unroll_free(unroll);
    free(student.parameters);
    network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_through_training_are_those_of_pytorch),
        cmocka_unit_test(gradients_are_the_slope_without_batch_normalisation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
