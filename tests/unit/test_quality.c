/* The measures of shapelet quality against SciPy and brute force. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "shapelets/gain.h"
#include "support/brute.h"
#include "support/golden.h"

enum { MOST = 260, CLASSES = 5 };

/* The score of distances with labels in 0..classes-1, some of which may have no series. */
static struct quality_split score(const struct quality *quality, const float *distances,
                                  const int32_t *labels, size_t count, size_t classes,
                                  int32_t positive)
{
    size_t counts[CLASSES] = {0};
    struct quality_scratch scratch;
    struct quality_split split;
    struct labelling labelling;
    double *xlogx;

    for (size_t i = 0; i < count; i++)
        counts[labels[i]]++;
    assert_ok(gain_xlogx(count, &xlogx));
    assert_ok(labelling_make(counts, classes, positive, xlogx, &labelling));
    assert_ok(quality_scratch_make(count, classes, &scratch));
    split = quality->score(&labelling, distances, labels, NULL, &scratch);
    quality_scratch_free(&scratch);
    labelling_free(&labelling);
    free(xlogx);
    return split;
}

static void statistics_are_those_of_scipy(void **state)
{
    static const struct {
        size_t count, classes;
    } cases[] = {{12, 2}, {12, 2}, {30, 3}, {31, 3}, {101, 5}, {200, 4}, {250, 4}};
    struct golden golden;

    (void)state;
    golden_open("qualities.npy", &golden);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float *distances = golden_next(&golden, cases[i].count);
        const float *classes = golden_next(&golden, cases[i].count);
        const float *expected = golden_next(&golden, 3);
        const struct quality *measures[] = {&quality_f, &quality_kruskal_wallis, &quality_mood};
        int32_t labels[MOST];

        for (size_t n = 0; n < cases[i].count; n++)
            labels[n] = (int32_t)classes[n];
        for (size_t m = 0; m < 3; m++) {
            struct quality_split split =
                score(measures[m], distances, labels, cases[i].count, cases[i].classes, -1);

            assert_true(m == 2 || expected[m] > 0);
            assert_near(split.quality, expected[m], 1e-6 * (1 + expected[m]));
        }
        golden_forget(&golden);
    }
    golden_close(&golden);
}

/* All against all and one against the rest, with ties, and classes that have no series; the split
 * is that of the largest information gain whatever the measure. */
static void scores_equal_brute_force(void **state)
{
    struct random_stream stream = random_stream(9, RANDOM_TEST, 0);

    (void)state;
    for (size_t run = 0; run < 200; run++) {
        size_t classes = 2 + run % 4, count = 8 + (run * 7) % (MOST - 8), gap = run % 5;
        int32_t positive = run % 3 ? -1 : (int32_t)(run % classes), labels[MOST];
        double levels = run % 2 ? 6 : 1e5, exact[MOST];
        struct brute_split expected;
        float distances[MOST];

        for (size_t i = 0; i < count; i++) {
            labels[i] = (int32_t)random_below(&stream, classes);
            if (classes > 2 && (size_t)labels[i] == gap && positive < 0)
                labels[i] = (int32_t)((gap + 1) % classes);
            distances[i] =
                (float)(floor(levels * (random_uniform(&stream) + 0.2 * labels[i])) / levels * 3.1);
            exact[i] = distances[i];
        }
        expected = brute_best_split(exact, labels, count, classes, positive);
        for (size_t q = 0; slp_quality_names[q]; q++) {
            double value = brute_quality(q, exact, labels, count, classes, positive);
            struct quality_split split =
                score(qualities[q], distances, labels, count, classes, positive);

            assert_near(split.quality, value, 1e-6 * (1 + value));
            if (expected.gain > 0) {
                assert_near(split.threshold, (expected.low + expected.high) / 2, 1e-6);
                assert_near(split.gap, expected.high - expected.low, 1e-6);
            }
        }
    }
}

static void extremes_are_finite(void **state)
{
    static const int32_t labels[] = {0, 0, 0, 1, 1, 1};
    static const float equal[] = {2, 2, 2, 2, 2, 2}, apart[] = {1, 1, 1, 2, 2, 2};
    static const float two[] = {1, 2};

    (void)state;
    for (size_t q = 0; slp_quality_names[q]; q++) {
        assert_true(score(qualities[q], equal, labels, 6, 2, -1).quality == 0);
        assert_true(score(qualities[q], apart, labels, 6, 2, -1).quality > 0);
        assert_true(isfinite(score(qualities[q], apart, labels, 6, 2, -1).quality));
        assert_true(isfinite(score(qualities[q], two, (int32_t[]){0, 1}, 2, 2, -1).quality));
    }
    assert_true(score(&quality_f, apart, labels, 6, 2, -1).quality == FLT_MAX);
    assert_true(score(&quality_f, two, (int32_t[]){0, 1}, 2, 2, -1).quality == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_those_of_scipy),
        cmocka_unit_test(scores_equal_brute_force),
        cmocka_unit_test(extremes_are_finite),
    };

    return cmocka_run_group_tests_name("quality", tests, NULL, NULL);
}
