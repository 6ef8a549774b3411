#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "data/balance.h"

enum { CHANNELS = 2, LENGTH = 9, SIZE = CHANNELS * LENGTH, CLASSES = 5 };

/* Random series; classes of 30, 12, 1, 0 and 4, mixed; soft labels. */
static void make_set(struct dataset *dataset)
{
    static const size_t counts[CLASSES] = {30, 12, 1, 0, 4};
    struct random_stream stream = random_stream(2, RANDOM_TEST, 0);
    size_t order[47], filled = 0;

    assert_ok(dataset_new(47, CHANNELS, LENGTH, CLASSES, true, dataset));
    for (size_t v = 0; v < CLASSES; v++) {
        for (size_t k = 0; k < counts[v]; k++)
            order[filled++] = v;
    }
    random_shuffle(&stream, order, 47);
    for (size_t i = 0; i < 47; i++) {
        dataset->y[i] = (int32_t)order[i];
        for (size_t j = 0; j < SIZE; j++)
            dataset->x[i * SIZE + j] = (float)random_normal(&stream);
        for (size_t v = 0; v < CLASSES; v++)
            dataset->soft[i * CLASSES + v] = (float)random_normal(&stream);
    }
    for (size_t i = 0; i < 47; i++)
        dataset->x[i * SIZE] = -0.0f; /* must survive to the bit */
    dataset->notes = strdup("earlier");
}

static void assert_originals_first(const struct dataset *dataset, const struct dataset *balanced)
{
    assert_memory_equal(dataset->x, balanced->x, 47 * SIZE * sizeof(float));
    assert_memory_equal(dataset->y, balanced->y, 47 * sizeof *dataset->y);
    assert_memory_equal(dataset->soft, balanced->soft, 47 * CLASSES * sizeof(float));
    assert_string_equal(balanced->notes, "earlier");
}

static void assert_counts(const struct dataset *balanced, size_t a, size_t b, size_t c, size_t e)
{
    size_t counts[CLASSES];

    dataset_class_counts(balanced, counts);
    assert_int_equal(counts[0], a);
    assert_int_equal(counts[1], b);
    assert_int_equal(counts[2], c);
    assert_int_equal(counts[3], 0);
    assert_int_equal(counts[4], e);
}

static bool is_copy(const struct dataset *dataset, const struct dataset *balanced, size_t i)
{
    for (size_t j = 0; j < dataset->count; j++) {
        if (dataset->y[j] == balanced->y[i] &&
            memcmp(dataset->x + j * SIZE, balanced->x + i * SIZE, SIZE * sizeof(float)) == 0 &&
            memcmp(dataset->soft + j * CLASSES, balanced->soft + i * CLASSES,
                   CLASSES * sizeof(float)) == 0)
            return true;
    }
    return false;
}

static void copies_bring_all_classes_to_the_largest(void **state)
{
    struct balance_options options = balance_defaults();
    struct dataset dataset, balanced;

    (void)state;
    make_set(&dataset);
    assert_ok(balance(&dataset, &options, &balanced));
    assert_originals_first(&dataset, &balanced);
    assert_counts(&balanced, 30, 30, 30, 30);
    for (size_t i = 47; i < balanced.count; i++) {
        assert_true(is_copy(&dataset, &balanced, i));
        assert_true(i == 47 || balanced.y[i] >= balanced.y[i - 1]);
    }
    dataset_free(&balanced);
    dataset_free(&dataset);
}

static void a_target_leaves_larger_classes_alone(void **state)
{
    struct balance_options options = balance_defaults();
    struct dataset dataset, balanced;

    (void)state;
    make_set(&dataset);
    options.target = 10;
    assert_ok(balance(&dataset, &options, &balanced));
    assert_counts(&balanced, 30, 12, 10, 10);
    dataset_free(&balanced);
    options.target = 100;
    assert_ok(balance(&dataset, &options, &balanced));
    assert_originals_first(&dataset, &balanced);
    assert_counts(&balanced, 100, 100, 100, 100);
    dataset_free(&balanced);
    dataset_free(&dataset);
}

/* Random copies favour no series of the class. */
static void copies_are_drawn_fairly(void **state)
{
    struct balance_options options = balance_defaults();
    struct dataset dataset, balanced;
    size_t drawn[12] = {0};

    (void)state;
    make_set(&dataset);
    options.target = 12012;
    assert_ok(balance(&dataset, &options, &balanced));
    for (size_t i = 47; i < balanced.count; i++) {
        size_t member = 0;

        if (balanced.y[i] != 1)
            continue;
        for (size_t j = 0; j < 47; j++) {
            if (dataset.y[j] == 1 &&
                memcmp(dataset.x + j * SIZE, balanced.x + i * SIZE, SIZE * 4) == 0)
                drawn[member]++;
            member += dataset.y[j] == 1;
        }
    }
    for (size_t k = 0; k < 12; k++)
        assert_in_range(drawn[k], 850, 1150); /* 1000, five standard deviations */
    dataset_free(&balanced);
    dataset_free(&dataset);
}

static double distance(const float *a, const float *b)
{
    double sum = 0;

    for (size_t j = 0; j < SIZE; j++)
        sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sum;
}

/* Brute force: b is among the k nearest of a in its class. */
static bool is_neighbour(const struct dataset *dataset, size_t a, size_t b, size_t k)
{
    double limit = distance(dataset->x + a * SIZE, dataset->x + b * SIZE);
    size_t nearer = 0;

    for (size_t i = 0; i < dataset->count; i++)
        nearer += i != a && i != b && dataset->y[i] == dataset->y[a] &&
                  distance(dataset->x + a * SIZE, dataset->x + i * SIZE) < limit;
    return nearer < k;
}

/* Where x lies on the line from a to b, if it does; else -1. */
static double share_on_line(const float *a, const float *b, const float *x, size_t size)
{
    double numerator = 0, denominator = 0, share;

    for (size_t j = 0; j < size; j++) {
        numerator += ((double)x[j] - (double)a[j]) * ((double)b[j] - (double)a[j]);
        denominator += ((double)b[j] - (double)a[j]) * ((double)b[j] - (double)a[j]);
    }
    share = numerator / denominator;
    for (size_t j = 0; j < size; j++) {
        if (fabs((double)a[j] + share * ((double)b[j] - (double)a[j]) - (double)x[j]) > 1e-5)
            return -1;
    }
    return share;
}

static bool is_between_neighbours(const struct dataset *dataset, const struct dataset *balanced,
                                  size_t i, size_t k)
{
    for (size_t a = 0; a < dataset->count; a++) {
        for (size_t b = 0; b < dataset->count; b++) {
            double share, soft;

            if (a == b || dataset->y[a] != balanced->y[i] || dataset->y[b] != balanced->y[i])
                continue;
            share = share_on_line(dataset->x + a * SIZE, dataset->x + b * SIZE,
                                  balanced->x + i * SIZE, SIZE);
            soft = share_on_line(dataset->soft + a * CLASSES, dataset->soft + b * CLASSES,
                                 balanced->soft + i * CLASSES, CLASSES);
            if (share >= 0 && share < 1 && fabs(share - soft) < 1e-4 &&
                is_neighbour(dataset, a, b, k))
                return true;
        }
    }
    return false;
}

static void smote_interpolates_between_nearest_neighbours(void **state)
{
    struct balance_options options = balance_defaults();
    struct dataset dataset, balanced;

    (void)state;
    make_set(&dataset);
    options.method = BALANCE_SMOTE;
    options.neighbours = 3;
    options.target = 40;
    assert_ok(balance(&dataset, &options, &balanced));
    assert_originals_first(&dataset, &balanced);
    assert_counts(&balanced, 40, 40, 40, 40);
    for (size_t i = 47; i < balanced.count; i++) {
        /* The class of a single series is copied. */
        assert_int_equal(is_copy(&dataset, &balanced, i), balanced.y[i] == 2);
        if (balanced.y[i] != 2)
            assert_true(is_between_neighbours(&dataset, &balanced, i, 3));
    }
    dataset_free(&balanced);
    dataset_free(&dataset);
}

static void smote_stays_finite_between_the_largest_numbers(void **state)
{
    struct balance_options options = balance_defaults();
    struct dataset dataset, balanced;

    (void)state;
    assert_ok(dataset_new(6, 1, 2, 2, false, &dataset));
    for (size_t i = 0; i < 6; i++) {
        dataset.y[i] = i >= 2;
        for (size_t step = 0; step < 2; step++)
            dataset_series(&dataset, i, 0)[step] = i == 0 ? -FLT_MAX : FLT_MAX;
    }
    options.method = BALANCE_SMOTE;
    assert_ok(balance(&dataset, &options, &balanced));
    assert_int_equal(balanced.count, 8);
    for (size_t i = 0; i < 8 * 2; i++)
        assert_true(isfinite(balanced.x[i]));
    dataset_free(&balanced);
    dataset_free(&dataset);
}

static void the_result_depends_on_the_seed_not_on_the_threads(void **state)
{
    struct balance_options options = balance_defaults();
    struct dataset dataset, one, other;
    size_t size;

    (void)state;
    make_set(&dataset);
    options.method = BALANCE_SMOTE;
    parallel_set_threads(1);
    assert_ok(balance(&dataset, &options, &one));
    parallel_set_threads(3);
    assert_ok(balance(&dataset, &options, &other));
    size = one.count * SIZE * sizeof(float);
    assert_memory_equal(one.x, other.x, size);
    dataset_free(&other);
    options.seed = 1;
    assert_ok(balance(&dataset, &options, &other));
    assert_memory_not_equal(one.x, other.x, size);
    dataset_free(&other);
    dataset_free(&one);
    options.neighbours = BALANCE_MOST_NEIGHBOURS + 1;
    assert_fails("neighbours", balance(&dataset, &options, &other));
    options.neighbours = BALANCE_MOST_NEIGHBOURS;
    assert_ok(balance(&dataset, &options, &other));
    dataset_free(&other);
    dataset_free(&dataset);
}

static void classes_of_the_same_series_get_new_ones_of_their_own(void **state)
{
    const struct balance_options options = {.method = BALANCE_SMOTE, .neighbours = 3};
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);
    struct dataset dataset, balanced;

    /* 20 of class 0, then the same five in classes 1 and 2. */
    (void)state;
    assert_ok(dataset_new(30, 1, LENGTH, 3, false, &dataset));
    for (size_t i = 0; i < 25 * LENGTH; i++)
        dataset.x[i] = (float)random_normal(&stream);
    memcpy(dataset.x + 25 * LENGTH, dataset.x + 20 * LENGTH, 5 * LENGTH * sizeof *dataset.x);
    for (size_t i = 20; i < 30; i++)
        dataset.y[i] = i < 25 ? 1 : 2;
    assert_ok(balance(&dataset, &options, &balanced));
    assert_int_equal(balanced.count, 60);
    assert_true(balanced.y[30] == 1 && balanced.y[45] == 2);
    assert_memory_not_equal(balanced.x + 30 * LENGTH, balanced.x + 45 * LENGTH,
                            LENGTH * sizeof *balanced.x);
    dataset_free(&balanced);
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_of_the_same_series_get_new_ones_of_their_own),
        cmocka_unit_test(copies_bring_all_classes_to_the_largest),
        cmocka_unit_test(a_target_leaves_larger_classes_alone),
        cmocka_unit_test(copies_are_drawn_fairly),
        cmocka_unit_test(smote_interpolates_between_nearest_neighbours),
        cmocka_unit_test(smote_stays_finite_between_the_largest_numbers),
        cmocka_unit_test(the_result_depends_on_the_seed_not_on_the_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
