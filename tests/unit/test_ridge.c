#include "support/check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "choose/ridge.h"

enum { COUNT = 16, COLUMNS = 3, CLASSES = 2 };

struct problem {
    float features[COUNT * COLUMNS], logits[COUNT * CLASSES];
    int32_t labels[COUNT];
    struct ridge_candidates candidates;
};

/* Logits that are nearly linear in the features; classes in turn. */
static void make(struct problem *p, uint64_t seed)
{
    struct random_stream stream = random_stream(seed, RANDOM_TEST, 0);

    for (size_t i = 0; i < COUNT; i++) {
        float *f = p->features + i * COLUMNS;

        for (size_t k = 0; k < COLUMNS; k++)
            f[k] = (float)random_normal(&stream);
        p->labels[i] = (int32_t)(i % CLASSES);
        p->logits[i * 2] = f[0] - 2 * f[1] + 0.3F * (float)random_normal(&stream);
        p->logits[i * 2 + 1] = f[2] + 1;
    }
    p->candidates = (struct ridge_candidates){.count = COUNT,
                                              .columns = COLUMNS,
                                              .classes = CLASSES,
                                              .features = p->features,
                                              .logits = p->logits,
                                              .labels = p->labels};
}

/* Inner product of two candidates, with the constant. */
static double product(const struct problem *p, size_t a, size_t b, double mean)
{
    double sum = 0.01 * mean;

    for (size_t k = 0; k < COLUMNS; k++)
        sum += (double)p->features[a * COLUMNS + k] * p->features[b * COLUMNS + k];
    return sum;
}

/* The share of the variance that the regression on series a and b leaves, by Cramer's rule. */
static double left_by(const struct problem *p, size_t a, size_t b)
{
    double mean = 0, error = 0, variance = 0, m[3], determinant;

    for (size_t i = 0; i < COUNT; i++)
        mean += product(p, i, i, 0) / COUNT;
    m[0] = product(p, a, a, mean) + 0.07 * mean;
    m[1] = product(p, a, b, mean);
    m[2] = product(p, b, b, mean) + 0.07 * mean;
    determinant = m[0] * m[2] - m[1] * m[1];
    for (size_t i = 0; i < COUNT; i++) {
        /* Two classes: centred logits are plus and minus half of their difference. */
        double za = ((double)p->logits[a * 2] - p->logits[a * 2 + 1]) / 2.0;
        double zb = ((double)p->logits[b * 2] - p->logits[b * 2 + 1]) / 2.0;
        double z = ((double)p->logits[i * 2] - p->logits[i * 2 + 1]) / 2.0;
        double wa = (za * m[2] - zb * m[1]) / determinant;
        double wb = (zb * m[0] - za * m[1]) / determinant;
        double off = wa * product(p, a, i, mean) + wb * product(p, b, i, mean) - z;

        error += off * off;
        variance += z * z;
    }
    return error / variance;
}

static void of_all_pairs_the_one_that_explains_most_is_chosen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        struct problem p;
        size_t chosen[CLASSES];
        double least = INFINITY, distance;

        make(&p, seed);
        for (size_t a = 0; a < COUNT; a += 2)
            for (size_t b = 1; b < COUNT; b += 2)
                least = fmin(least, left_by(&p, a, b));
        assert_ok(ridge_choose(&p.candidates, 1, seed, chosen, &distance));
        assert_near(distance, least, 1e-9);
        assert_near(left_by(&p, chosen[0], chosen[1]), least, 1e-9);
        assert_int_equal(p.labels[chosen[0]], 0);
        assert_int_equal(p.labels[chosen[1]], 1);
    }
}

/* Solves the n equations in m (n, n + 1) by elimination; the solution is the last column. */
static void eliminate(size_t n, double m[])
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            double factor = m[i * (n + 1) + j] / m[j * (n + 1) + j];

            for (size_t k = j; i != j && k <= n; k++)
                m[i * (n + 1) + k] -= factor * m[j * (n + 1) + k];
        }
    }
    for (size_t j = 0; j < n; j++)
        m[j * (n + 1) + n] /= m[j * (n + 1) + j];
}

/* As left_by, for any number of series, by the products of all pairs. */
static double left_by_many(const struct problem *p, const size_t *chosen, size_t n)
{
    double mean = 0, error = 0, variance = 0, m[COUNT * (COUNT + 1)];
    double z[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        mean += product(p, i, i, 0) / COUNT;
        z[i] = ((double)p->logits[i * 2] - p->logits[i * 2 + 1]) / 2.0;
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++)
            m[a * (n + 1) + b] = product(p, chosen[a], chosen[b], mean) + (a == b) * 0.07 * mean;
        m[a * (n + 1) + n] = z[chosen[a]];
    }
    eliminate(n, m);
    for (size_t i = 0; i < COUNT; i++) {
        double off = -z[i];

        for (size_t a = 0; a < n; a++)
            off += m[a * (n + 1) + n] * product(p, chosen[a], i, mean);
        error += off * off;
        variance += z[i] * z[i];
    }
    return error / variance;
}

/* Few series have weights; of many more than there are features, the features have them. */
static void what_is_left_is_the_same_whatever_has_the_weights(void **state)
{
    (void)state;
    for (size_t per_class = 1; per_class <= 7; per_class++) {
        struct problem p;
        size_t chosen[CLASSES * 7];
        double distance;

        make(&p, per_class);
        assert_ok(ridge_choose(&p.candidates, per_class, 1, chosen, &distance));
        assert_near(distance, left_by_many(&p, chosen, CLASSES * per_class), 1e-9);
    }
}

/* The products of all pairs would take gigabytes and many minutes here. */
static void thousands_of_series_are_chosen_in_seconds(void **state)
{
    enum { MANY = 24000, HALF = MANY / CLASSES / 2 };
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);
    float *features = test_calloc(MANY, COLUMNS * sizeof *features);
    float *logits = test_calloc(MANY, CLASSES * sizeof *logits);
    int32_t *labels = test_calloc(MANY, sizeof *labels);
    size_t *chosen = test_calloc(MANY, sizeof *chosen);
    struct ridge_candidates many = {.count = MANY,
                                    .columns = COLUMNS,
                                    .classes = CLASSES,
                                    .features = features,
                                    .logits = logits,
                                    .labels = labels};
    double distance;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        for (size_t k = 0; k < COLUMNS; k++)
            features[i * COLUMNS + k] = (float)random_normal(&stream);
        logits[i * CLASSES] = features[i * COLUMNS];
        labels[i] = (int32_t)(i % CLASSES);
    }
    alarm(60); /* kills the test */
    assert_ok(ridge_choose(&many, HALF, 1, chosen, &distance));
    alarm(0);
    assert_true(distance < 1e-6);
    assert_true(chosen[CLASSES * HALF - 1] < MANY);
    test_free(features);
    test_free(logits);
    test_free(labels);
    test_free(chosen);
}

static void no_series_is_chosen_twice_and_what_is_missing_is_said(void **state)
{
    struct problem p;
    size_t chosen[CLASSES * 10], seen[COUNT] = {0}, missing = 0;

    (void)state;
    make(&p, 1);
    assert_ok(ridge_choose(&p.candidates, 10, 1, chosen, NULL));
    for (size_t i = 0; i < CLASSES * 10; i++) {
        if (chosen[i] == SIZE_MAX) {
            missing++;
            continue;
        }
        assert_true(chosen[i] < COUNT);
        assert_int_equal(p.labels[chosen[i]], i / 10);
        assert_int_equal(seen[chosen[i]]++, 0);
    }
    assert_int_equal(missing, 4); /* eight of each class are there */
}

static void more_series_explain_more(void **state)
{
    struct problem p;
    size_t chosen[CLASSES * 4];
    double one, four;

    (void)state;
    make(&p, 2);
    assert_ok(ridge_choose(&p.candidates, 1, 1, chosen, &one));
    assert_ok(ridge_choose(&p.candidates, 4, 1, chosen, &four));
    assert_true(four < 0.5 * one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_all_pairs_the_one_that_explains_most_is_chosen),
        cmocka_unit_test(what_is_left_is_the_same_whatever_has_the_weights),
        cmocka_unit_test(thousands_of_series_are_chosen_in_seconds),
        cmocka_unit_test(no_series_is_chosen_twice_and_what_is_missing_is_said),
        cmocka_unit_test(more_series_explain_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
