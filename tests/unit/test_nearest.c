#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parallel.h"
#include "base/random.h"

/* More than one block of points, and dimensions that leave a rest. */
enum { COUNT = 333, DIMENSION = 37, CENTRES = 19 };

/* Points that floats tell apart easily, hardly and not at all. */
enum kind {
    NORMAL,
    FAR_AWAY, /* distances are lost in the rounding of the products */
    HUGE_ONES,
    TINY,
    GRID, /* many equal distances, many equal points */
    KINDS
};

static float coordinate(enum kind kind, struct random_stream *stream)
{
    double normal = random_normal(stream);

    switch (kind) {
    case FAR_AWAY:
        return (float)(30000 + 0.01 * normal);
    case HUGE_ONES:
        return (float)(1e37 * normal);
    case TINY:
        return (float)(1e-38 * normal);
    case GRID:
        return (float)random_below(stream, 2);
    default:
        return (float)normal;
    }
}

/* Straight from the definition, in another order than the library's. */
static double brute_distance(const float *a, const double *b)
{
    double sum = 0;

    for (size_t d = 0; d < DIMENSION; d++)
        sum += ((double)a[d] - b[d]) * ((double)a[d] - b[d]);
    return sum;
}

struct problem {
    float x[COUNT * DIMENSION], centres[CENTRES * DIMENSION];
    struct points points, centre_points;
};

static void make(enum kind kind, struct problem *p)
{
    struct random_stream stream = random_stream((uint64_t)kind, RANDOM_TEST, 0);

    for (size_t i = 0; i < COUNT * DIMENSION; i++)
        p->x[i] = coordinate(kind, &stream);
    /* In a grid of few dimensions points meet. */
    for (size_t i = 0; kind == GRID && i < COUNT * DIMENSION; i++)
        p->x[i] = i % DIMENSION < 5 ? p->x[i] : 0;
    for (size_t i = 0; i < CENTRES; i++)
        memcpy(p->centres + i * DIMENSION, p->x + 7 * i * DIMENSION, DIMENSION * sizeof *p->x);
    for (size_t i = 0; kind != GRID && i < CENTRES * DIMENSION; i++)
        p->centres[i] += coordinate(kind, &stream) / 8;
    assert_ok(points_make(p->x, COUNT, DIMENSION, &p->points));
    assert_ok(points_make(p->centres, CENTRES, DIMENSION, &p->centre_points));
}

static void forget(struct problem *p)
{
    points_free(&p->points);
    points_free(&p->centre_points);
}

/* Equal but for the order of the sums. */
static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-13 * fmax(fabs(a), fabs(b));
}

static void widen(const float *from, double to[DIMENSION])
{
    for (size_t d = 0; d < DIMENSION; d++)
        to[d] = from[d];
}

static void the_nearest_centre_is_found_and_the_first_of_equals(void **state)
{
    static struct problem p;

    (void)state;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        size_t assigned[COUNT];
        float *scratch;

        make(kind, &p);
        scratch = test_malloc(nearest_scratch(CENTRES));
        nearest_assign(&p.points, &p.centre_points, scratch, assigned);
        for (size_t i = 0; i < COUNT; i++) {
            double distances[CENTRES], least = INFINITY;

            for (size_t c = 0; c < CENTRES; c++) {
                double centre[DIMENSION];

                widen(p.centres + c * DIMENSION, centre);
                distances[c] = brute_distance(p.x + i * DIMENSION, centre);
                least = fmin(least, distances[c]);
            }
            assert_true(same(distances[assigned[i]], least));
            for (size_t c = 0; c < assigned[i]; c++)
                assert_false(distances[c] == least && kind == GRID);
        }
        test_free(scratch);
        forget(&p);
    }
}

static void distances_fall_to_that_of_a_nearer_centre(void **state)
{
    static struct problem p;

    (void)state;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        double nearest[COUNT], expected[COUNT];

        make(kind, &p);
        for (size_t i = 0; i < COUNT; i++)
            nearest[i] = expected[i] = INFINITY;
        for (size_t c = 0; c < CENTRES; c++) {
            double centre[DIMENSION];

            widen(p.centres + c * DIMENSION, centre);
            nearest_lower(&p.points, p.centres + c * DIMENSION, nearest);
            for (size_t i = 0; i < COUNT; i++) {
                expected[i] = fmin(expected[i], brute_distance(p.x + i * DIMENSION, centre));
                assert_true(same(nearest[i], expected[i]));
            }
        }
        forget(&p);
    }
}

static void the_point_nearest_to_a_target_is_found(void **state)
{
    static struct problem p;

    (void)state;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        double target[DIMENSION];
        float scratch[COUNT + DIMENSION];
        bool excluded[COUNT] = {false};

        make(kind, &p);
        widen(p.centres, target);
        /* Every point is the nearest of those that are left once. */
        for (size_t round = 0; round < COUNT; round++) {
            size_t found = nearest_to(&p.points, target, excluded, scratch);
            double least = INFINITY;

            assert_true(found < COUNT && !excluded[found]);
            for (size_t i = 0; i < COUNT; i++)
                if (!excluded[i])
                    least = fmin(least, brute_distance(p.x + i * DIMENSION, target));
            assert_true(same(brute_distance(p.x + found * DIMENSION, target), least));
            for (size_t i = 0; kind == GRID && i < found; i++)
                assert_true(excluded[i] || brute_distance(p.x + i * DIMENSION, target) > least);
            excluded[found] = true;
        }
        forget(&p);
    }
}

static void neighbours_come_in_order(void **state)
{
    enum { ROWS = 70, WANTED = 5 };
    static struct problem p;

    (void)state;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        size_t of[ROWS], neighbours[ROWS * WANTED];

        make(kind, &p);
        for (size_t r = 0; r < ROWS; r++)
            of[r] = (r * 4 + 1) % COUNT;
        assert_ok(nearest_neighbours(&p.points, of, ROWS, WANTED, neighbours));
        for (size_t r = 0; r < ROWS; r++) {
            const size_t *own = neighbours + r * WANTED;
            double self[DIMENSION], last = -1;
            size_t nearer = 0, listed = 0;

            widen(p.x + of[r] * DIMENSION, self);
            for (size_t n = 0; n < WANTED; n++) {
                double distance = brute_distance(p.x + own[n] * DIMENSION, self);

                assert_true(own[n] != of[r]);
                assert_true(distance > last || same(distance, last));
                for (size_t other = 0; other < n; other++)
                    assert_true(own[other] != own[n]);
                if (n > 0 && kind == GRID && distance == last)
                    assert_true(own[n] > own[n - 1]);
                last = distance;
            }
            for (size_t i = 0; i < COUNT; i++) {
                double distance = brute_distance(p.x + i * DIMENSION, self);

                nearer += i != of[r] && distance < last && !same(distance, last);
                listed += i != of[r] && distance == last && i <= own[WANTED - 1];
            }
            assert_true(nearer < WANTED);
            if (kind == GRID)
                assert_int_equal(nearer + listed, WANTED);
        }
        forget(&p);
    }
}

static void the_number_of_threads_changes_nothing(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    static struct problem p;
    double nearest[3][COUNT];
    size_t assigned[3][COUNT], found[3], neighbours[3][COUNT * 3], of[COUNT];
    float scratch[COUNT + DIMENSION];
    double target[DIMENSION] = {0};
    bool excluded[COUNT] = {false};

    (void)state;
    make(NORMAL, &p);
    for (size_t t = 0; t < 3; t++) {
        float *room;

        parallel_set_threads(threads[t]);
        room = test_malloc(nearest_scratch(CENTRES));
        for (size_t i = 0; i < COUNT; i++) {
            nearest[t][i] = INFINITY;
            of[i] = i;
        }
        points_update(&p.points);
        nearest_assign(&p.points, &p.centre_points, room, assigned[t]);
        nearest_lower(&p.points, p.centres, nearest[t]);
        found[t] = nearest_to(&p.points, target, excluded, scratch);
        assert_ok(nearest_neighbours(&p.points, of, COUNT, 3, neighbours[t]));
        assert_memory_equal(assigned[t], assigned[0], sizeof assigned[0]);
        assert_memory_equal(nearest[t], nearest[0], sizeof nearest[0]);
        assert_memory_equal(neighbours[t], neighbours[0], sizeof neighbours[0]);
        assert_int_equal(found[t], found[0]);
        test_free(room);
    }
    parallel_set_threads(0);
    forget(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_centre_is_found_and_the_first_of_equals),
        cmocka_unit_test(distances_fall_to_that_of_a_nearer_centre),
        cmocka_unit_test(the_point_nearest_to_a_target_is_found),
        cmocka_unit_test(neighbours_come_in_order),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
