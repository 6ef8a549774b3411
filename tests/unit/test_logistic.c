#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "eval/logistic.h"

enum { COUNT = 1100, FEATURES = 6, CLASSES = 3, SIZE = CLASSES * (FEATURES + 1) };

static float x[COUNT * FEATURES];
static int32_t labels[COUNT];

/* Overlapping classes; the last feature never varies. */
static void make_data(void)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    for (size_t i = 0; i < COUNT; i++) {
        labels[i] = (int32_t)(i % CLASSES);
        for (size_t d = 0; d < FEATURES; d++)
            x[i * FEATURES + d] =
                d + 1 == FEATURES ? 7
                                  : (float)((double)(d + 1) * (random_normal(&stream) +
                                                               (double)((size_t)labels[i] == d)) +
                                            100.0 * (double)d);
    }
}

/* The loss, straight from its definition. */
static double loss_of(const struct logistic *model, const double *weights, double penalty)
{
    double loss = 0;

    for (size_t i = 0; i < COUNT; i++) {
        double sum = 0, own = 0;

        for (size_t v = 0; v < CLASSES; v++) {
            double logit = weights[CLASSES * FEATURES + v];

            for (size_t d = 0; d < FEATURES; d++)
                logit += weights[v * FEATURES + d] * (x[i * FEATURES + d] - model->mean[d]) *
                         model->scale[d];
            sum += exp(logit);
            own = labels[i] == (int32_t)v ? logit : own;
        }
        loss += (log(sum) - own) / COUNT;
    }
    for (size_t p = 0; p < CLASSES * FEATURES; p++)
        loss += penalty / 2 * weights[p] * weights[p];
    return loss;
}

static void test_the_optimum_is_found(void **state)
{
    static const double penalties[] = {1e-4, 1e-1};

    (void)state;
    make_data();
    for (size_t run = 0; run < 2; run++) {
        struct logistic_options options = logistic_defaults();
        struct logistic model;
        double weights[SIZE];

        options.penalty = penalties[run];
        options.tolerance = 1e-7;
        assert_ok(logistic_fit(x, labels, COUNT, FEATURES, CLASSES, &options, &model));
        memcpy(weights, model.weights, sizeof weights);
        assert_near(loss_of(&model, weights, options.penalty), model.loss, 1e-6);
        /* The problem is convex: where the slope is zero, there is the optimum. */
        for (size_t p = 0; p < SIZE; p++) {
            double up, down;

            weights[p] += 1e-4;
            up = loss_of(&model, weights, options.penalty);
            weights[p] -= 2e-4;
            down = loss_of(&model, weights, options.penalty);
            weights[p] += 1e-4;
            assert_near((up - down) / 2e-4, 0, 1e-6);
        }
        logistic_free(&model);
    }
}

static void test_a_constant_feature_is_left_out(void **state)
{
    struct logistic_options options = logistic_defaults();
    struct logistic model;

    (void)state;
    make_data();
    assert_ok(logistic_fit(x, labels, COUNT, FEATURES, CLASSES, &options, &model));
    assert_true(model.scale[FEATURES - 1] == 0);
    for (size_t v = 0; v < CLASSES; v++)
        assert_true(model.weights[v * FEATURES + FEATURES - 1] == 0);
    logistic_free(&model);
}

static void test_predictions_are_better_than_chance_and_the_same_for_any_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    static float logits[3][COUNT * CLASSES];
    struct logistic_options options = logistic_defaults();

    (void)state;
    make_data();
    for (size_t run = 0; run < 3; run++) {
        struct logistic model;
        size_t right = 0;

        parallel_set_threads(threads[run]);
        assert_ok(logistic_fit(x, labels, COUNT, FEATURES, CLASSES, &options, &model));
        assert_ok(logistic_predict(&model, x, COUNT, logits[run]));
        assert_memory_equal(logits[0], logits[run], sizeof logits[0]);
        for (size_t i = 0; i < COUNT; i++) {
            const float *own = &logits[run][i * CLASSES];

            right +=
                own[labels[i]] >= own[0] && own[labels[i]] >= own[1] && own[labels[i]] >= own[2];
        }
        /* Three classes one deviation from a common centre: Bayes' rule gets about 58 %. */
        assert_in_range(right, COUNT * 53 / 100, COUNT * 65 / 100);
        logistic_free(&model);
    }
    parallel_set_threads(0);
}

static void test_nothing_to_learn_is_refused(void **state)
{
    struct logistic_options options = logistic_defaults();
    struct logistic model;

    (void)state;
    assert_fails("at least two classes",
                 logistic_fit(x, labels, COUNT, FEATURES, 1, &options, &model));
    assert_fails("needs series", logistic_fit(x, labels, 0, FEATURES, 2, &options, &model));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_optimum_is_found),
        cmocka_unit_test(test_a_constant_feature_is_left_out),
        cmocka_unit_test(test_predictions_are_better_than_chance_and_the_same_for_any_threads),
        cmocka_unit_test(test_nothing_to_learn_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
