#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "choose/coreset.h"
#include "choose/kmeans.h"

enum { COUNT = 90, DIMENSION = 7, CLASSES = 3, PER_CLASS = 6 };

/* Three classes of 30 points, interleaved, each of three blobs far apart. */
struct points {
    float x[COUNT * DIMENSION];
    int32_t labels[COUNT];
    size_t blob[COUNT];
};

static void make_points(struct points *points)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    for (size_t i = 0; i < COUNT; i++) {
        points->labels[i] = (int32_t)(i % CLASSES);
        points->blob[i] = i / CLASSES % 3;
        for (size_t d = 0; d < DIMENSION; d++)
            points->x[i * DIMENSION + d] =
                (float)(random_normal(&stream) + 40 * (double)(points->blob[i] == d));
    }
}

static void choose(const struct points *points, enum coreset_method method, uint64_t seed,
                   size_t per_class, size_t *chosen)
{
    const struct coreset_options options = {method, per_class, seed};

    assert_ok(
        coreset_select(points->x, COUNT, DIMENSION, points->labels, CLASSES, &options, chosen));
    for (size_t k = 0; k < CLASSES * per_class; k++) {
        assert_int_equal(points->labels[chosen[k]], k / per_class);
        for (size_t j = 0; j < k; j++)
            assert_true(chosen[j] != chosen[k]);
    }
}

static bool is_among(size_t index, const size_t *chosen, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (chosen[k] == index)
            return true;
    }
    return false;
}

/* How far the mean of `chosen` and one more is from the mean of the class, from scratch. */
static double mean_error(const struct points *points, int32_t label, const size_t *chosen,
                         size_t count)
{
    double total = 0;

    for (size_t d = 0; d < DIMENSION; d++) {
        double mean = 0, members = 0, part = 0;

        for (size_t i = 0; i < COUNT; i++) {
            if (points->labels[i] == label) {
                mean += (double)points->x[i * DIMENSION + d];
                members++;
            }
        }
        for (size_t k = 0; k < count; k++)
            part += (double)points->x[chosen[k] * DIMENSION + d];
        total += pow(part / (double)count - mean / members, 2);
    }
    return total;
}

static void herding_keeps_the_mean_as_close_as_it_can(void **state)
{
    static struct points points;
    size_t chosen[CLASSES * PER_CLASS];

    (void)state;
    make_points(&points);
    choose(&points, CORESET_HERDING, 0, PER_CLASS, chosen);
    for (size_t label = 0; label < CLASSES; label++) {
        size_t *mine = chosen + label * PER_CLASS;

        for (size_t k = 0; k < PER_CLASS; k++) {
            double got = mean_error(&points, (int32_t)label, mine, k + 1);
            size_t kept = mine[k];

            for (size_t i = 0; i < COUNT; i++) {
                if ((size_t)points.labels[i] != label || is_among(i, mine, k))
                    continue;
                mine[k] = i;
                assert_true(got <= mean_error(&points, (int32_t)label, mine, k + 1) + 1e-9);
            }
            mine[k] = kept;
        }
    }
}

static double square_between(const float *a, const float *b)
{
    double sum = 0;

    for (size_t d = 0; d < DIMENSION; d++)
        sum += pow((double)a[d] - (double)b[d], 2);
    return sum;
}

static double distance_to_chosen(const struct points *points, size_t i, const size_t *chosen,
                                 size_t count)
{
    double least = INFINITY;

    for (size_t k = 0; k < count; k++)
        least = fmin(least,
                     square_between(points->x + i * DIMENSION, points->x + chosen[k] * DIMENSION));
    return least;
}

static void kcenter_takes_the_farthest_each_time(void **state)
{
    static struct points points;
    size_t chosen[CLASSES * PER_CLASS];

    (void)state;
    make_points(&points);
    choose(&points, CORESET_KCENTER, 0, PER_CLASS, chosen);
    for (size_t label = 0; label < CLASSES; label++) {
        const size_t *mine = chosen + label * PER_CLASS;

        for (size_t i = 0; i < COUNT; i++) {
            if ((size_t)points.labels[i] != label)
                continue;
            assert_true(mean_error(&points, (int32_t)label, mine, 1) <=
                        mean_error(&points, (int32_t)label, &i, 1));
            for (size_t k = 1; k < PER_CLASS; k++)
                assert_true(distance_to_chosen(&points, i, mine, k) <=
                            distance_to_chosen(&points, mine[k], mine, k));
        }
    }
}

/* The one of a blob of a class that is nearest to the mean of them. */
static size_t middle_of_blob(const struct points *points, size_t label, size_t blob)
{
    float mean[DIMENSION] = {0};
    size_t best = COUNT;
    double least = INFINITY;

    for (size_t i = 0; i < COUNT; i++)
        for (size_t d = 0;
             (size_t)points->labels[i] == label && points->blob[i] == blob && d < DIMENSION; d++)
            mean[d] += points->x[i * DIMENSION + d] / (COUNT / CLASSES / 3);
    for (size_t i = 0; i < COUNT; i++) {
        double square = square_between(points->x + i * DIMENSION, mean);

        if ((size_t)points->labels[i] == label && points->blob[i] == blob && square < least) {
            least = square;
            best = i;
        }
    }
    return best;
}

static void clusters_give_the_middle_of_each_blob(void **state)
{
    static struct points points;
    size_t chosen[CLASSES * 3];

    (void)state;
    make_points(&points);
    for (uint64_t seed = 0; seed < 5; seed++) {
        choose(&points, CORESET_KMEANS, seed, 3, chosen);
        for (size_t label = 0; label < CLASSES; label++)
            for (size_t blob = 0; blob < 3; blob++)
                assert_true(is_among(middle_of_blob(&points, label, blob), chosen + 3 * label, 3));
    }
}

static void random_choices_follow_the_seed(void **state)
{
    static struct points points;
    size_t first[CLASSES * PER_CLASS], again[CLASSES * PER_CLASS], other[CLASSES * PER_CLASS];

    (void)state;
    make_points(&points);
    choose(&points, CORESET_RANDOM, 1, PER_CLASS, first);
    choose(&points, CORESET_RANDOM, 1, PER_CLASS, again);
    choose(&points, CORESET_RANDOM, 2, PER_CLASS, other);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
}

static void a_class_that_is_too_small_is_named(void **state)
{
    const struct coreset_options options = {CORESET_HERDING, 31, 0};
    static struct points points;
    size_t chosen[CLASSES * 31];

    (void)state;
    make_points(&points);
    assert_fails(
        "class 0 has 30 series, 31 are wanted",
        coreset_select(points.x, COUNT, DIMENSION, points.labels, CLASSES, &options, chosen));
}

/* ---- k-means itself ---- */

static void kmeans_ends_where_centres_are_means_of_their_nearest(void **state)
{
    static struct points points;
    struct random_stream stream = random_stream(3, RANDOM_TEST, 1);
    struct kmeans kmeans;
    double inertia = 0;

    (void)state;
    make_points(&points);
    assert_ok(kmeans_fit(points.x, COUNT, DIMENSION, 8, 300, &stream, &kmeans));
    assert_true(kmeans.iterations < 300);
    for (size_t i = 0; i < COUNT; i++) {
        const float *point = points.x + i * DIMENSION;
        double own = square_between(point, kmeans.centres + kmeans.assigned[i] * DIMENSION);

        for (size_t c = 0; c < 8; c++)
            assert_true(own <= square_between(point, kmeans.centres + c * DIMENSION));
        inertia += own;
    }
    assert_near(kmeans.inertia, inertia, 1e-12);
    for (size_t c = 0; c < 8; c++) {
        for (size_t d = 0; d < DIMENSION; d++) {
            double sum = 0, members = 0;

            for (size_t i = 0; i < COUNT; i++) {
                if (kmeans.assigned[i] == c) {
                    sum += (double)points.x[i * DIMENSION + d];
                    members++;
                }
            }
            assert_true(members > 0);
            assert_near((double)kmeans.centres[c * DIMENSION + d], sum / members, 1e-5);
        }
    }
    kmeans_free(&kmeans);
}

static void kmeans_survives_fewer_points_than_it_seems(void **state)
{
    struct random_stream stream = random_stream(4, RANDOM_TEST, 2);
    const float points[] = {1, 1, 1, 1, 5};
    struct kmeans kmeans;

    (void)state;
    assert_ok(kmeans_fit(points, 5, 1, 4, 300, &stream, &kmeans));
    assert_near(kmeans.inertia, 0, 0);
    kmeans_free(&kmeans);
    assert_ok(kmeans_fit(points, 5, 1, 5, 300, &stream, &kmeans));
    assert_near(kmeans.inertia, 0, 0);
    kmeans_free(&kmeans);
}

static void kmeans_is_the_same_for_any_number_of_threads(void **state)
{
    enum { MANY = 3000 };
    static float points[MANY * 4];
    struct random_stream stream = random_stream(5, RANDOM_TEST, 3);
    struct kmeans first, other;

    (void)state;
    for (size_t i = 0; i < MANY * 4; i++)
        points[i] = (float)random_normal(&stream);
    parallel_set_threads(1);
    stream = random_stream(6, RANDOM_TEST, 0);
    assert_ok(kmeans_fit(points, MANY, 4, 20, 50, &stream, &first));
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        parallel_set_threads(threads);
        stream = random_stream(6, RANDOM_TEST, 0);
        assert_ok(kmeans_fit(points, MANY, 4, 20, 50, &stream, &other));
        assert_memory_equal(first.centres, other.centres, 80 * sizeof(float));
        kmeans_free(&other);
    }
    kmeans_free(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(herding_keeps_the_mean_as_close_as_it_can),
        cmocka_unit_test(kcenter_takes_the_farthest_each_time),
        cmocka_unit_test(clusters_give_the_middle_of_each_blob),
        cmocka_unit_test(random_choices_follow_the_seed),
        cmocka_unit_test(a_class_that_is_too_small_is_named),
        cmocka_unit_test(kmeans_ends_where_centres_are_means_of_their_nearest),
        cmocka_unit_test(kmeans_survives_fewer_points_than_it_seems),
        cmocka_unit_test(kmeans_is_the_same_for_any_number_of_threads),
    };

    return cmocka_run_group_tests_name("coreset", tests, NULL, NULL);
}
