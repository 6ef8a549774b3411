#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "base/random.h"
#include "data/scale.h"

/* More series than one block of work; channel 0 far from 0, channel 1 constant. */
static void make_set(struct dataset *dataset)
{
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);

    assert_ok(dataset_new(700, 3, 20, 2, false, dataset));
    for (size_t i = 0; i < 700; i++) {
        for (size_t t = 0; t < 20; t++) {
            dataset_series(dataset, i, 0)[t] = (float)(1e5 + random_normal(&stream));
            dataset_series(dataset, i, 1)[t] = 0.1f;
            dataset_series(dataset, i, 2)[t] = (float)(random_normal(&stream) * 1e-3 - 2);
        }
    }
}

/* Straight from the definition, in long double. */
static void statistics_of(const struct dataset *dataset, size_t c, double *mean, double *deviation)
{
    const long double count = (long double)(dataset->count * dataset->length);
    long double sum = 0, squares = 0;

    for (size_t i = 0; i < dataset->count; i++) {
        for (size_t t = 0; t < dataset->length; t++)
            sum += (long double)dataset_series(dataset, i, c)[t];
    }
    for (size_t i = 0; i < dataset->count; i++) {
        for (size_t t = 0; t < dataset->length; t++) {
            long double d = (long double)dataset_series(dataset, i, c)[t] - sum / count;

            squares += d * d;
        }
    }
    *mean = (double)(sum / count);
    *deviation = (double)sqrtl(squares / count);
}

static void statistics_are_those_of_the_definition(void **state)
{
    struct dataset dataset;
    struct scale scale, other;

    (void)state;
    make_set(&dataset);
    parallel_set_threads(1);
    assert_ok(scale_fit(&dataset, &scale));
    parallel_set_threads(3);
    assert_ok(scale_fit(&dataset, &other));
    assert_memory_equal(scale.mean, other.mean, 3 * sizeof(double));
    assert_memory_equal(scale.deviation, other.deviation, 3 * sizeof(double));
    assert_int_equal(scale.constant, 1);
    for (size_t c = 0; c < 3; c += 2) {
        double mean, deviation;

        statistics_of(&dataset, c, &mean, &deviation);
        assert_true(fabs(scale.mean[c] / mean - 1) < 1e-14);
        assert_true(fabs(scale.deviation[c] / deviation - 1) < 1e-12);
    }
    assert_true(scale.mean[1] == (double)0.1f);
    assert_true(scale.deviation[1] == 1);
    scale_free(&scale);
    scale_free(&other);
    dataset_free(&dataset);
}

static void scaling_standardises_and_undo_brings_back(void **state)
{
    struct dataset dataset, scaled;
    struct scale scale, again;
    double mean, deviation;

    (void)state;
    make_set(&dataset);
    make_set(&scaled);
    assert_ok(scale_fit(&dataset, &scale));
    assert_ok(scale_apply(&scale, &scaled));
    assert_ok(scale_fit(&scaled, &again));
    for (size_t c = 0; c < 3; c++) {
        statistics_of(&scaled, c, &mean, &deviation);
        assert_near(mean, 0, 1e-6);
        assert_near(deviation, c == 1 ? 0 : 1, 1e-6);
    }
    for (size_t i = 0; i < 100; i++)
        assert_true(scaled.x[i] == (float)(((double)dataset.x[i] - scale.mean[i % 60 / 20]) /
                                           scale.deviation[i % 60 / 20]));
    assert_ok(scale_undo(&scale, &scaled));
    for (size_t i = 0; i < 700 * 60; i++)
        assert_true(fabsf(scaled.x[i] - dataset.x[i]) <= 1e-6f * fabsf(dataset.x[i]));
    scale_free(&scale);
    scale_free(&again);
    dataset_free(&scaled);
    dataset_free(&dataset);
}

static void a_series_by_itself_has_mean_0_and_deviation_1(void **state)
{
    struct dataset dataset;

    (void)state;
    make_set(&dataset);
    assert_int_equal(scale_each_series(&dataset), 700);
    for (size_t row = 0; row < 700 * 3; row++) {
        struct dataset one = {.count = 1, .channels = 1, .length = 20, .x = dataset.x + row * 20};
        double mean, deviation;

        statistics_of(&one, 0, &mean, &deviation);
        assert_near(mean, 0, 1e-6);
        assert_near(deviation, row % 3 == 1 ? 0 : 1, 1e-6);
    }
    dataset_free(&dataset);
}

/* Writes bytes to a temporary file and reads them as statistics. */
static struct error *read_back(const char *bytes, size_t size, struct scale *scale)
{
    char path[] = "/tmp/sc-test-XXXXXX";
    int descriptor = mkstemp(path);
    struct error *error;

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    close(descriptor);
    error = scale_read(path, scale);
    unlink(path);
    return error;
}

static struct error *read_array(size_t rows, size_t columns, const double *values, bool twice,
                                struct scale *scale)
{
    const size_t shape[] = {rows, columns};
    struct error *error;
    char *bytes;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    for (int i = 0; i <= twice; i++)
        assert_int_equal(npy_write_data(stream, NPY_FLOAT, 8, 2, shape, values, NULL), 0);
    fclose(stream);
    error = read_back(bytes, size, scale);
    free(bytes);
    return error;
}

static void a_statistics_file_keeps_every_bit(void **state)
{
    struct scale scale, back;
    struct dataset dataset;
    char *bytes;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    (void)state;
    make_set(&dataset);
    assert_ok(scale_fit(&dataset, &scale));
    assert_ok(scale_write(stream, &scale, "sc-test 1.0"));
    fclose(stream);
    assert_ok(read_back(bytes, size, &back));
    assert_int_equal(back.channels, 3);
    assert_memory_equal(scale.mean, back.mean, 3 * sizeof(double));
    assert_memory_equal(scale.deviation, back.deviation, 3 * sizeof(double));
    assert_int_equal(strlen(back.digest), DIGEST_TEXT - 1);
    scale_free(&back);
    for (size_t cut = 0; cut < size; cut++) {
        if (cut == 128 + 48) /* the end of the first array, which is enough */
            continue;
        assert_fails("", read_back(bytes, cut, &back));
    }
    free(bytes);
    scale_free(&scale);
    dataset_free(&dataset);
}

static void bad_statistics_are_refused(void **state)
{
    const double good[] = {1, 2, 3, 4}, zero[] = {1, 2, 3, 0}, negative[] = {1, 2, -3, 4};
    const double nan_mean[] = {1, NAN, 3, 4}, infinite[] = {1, 2, INFINITY, 4};
    const double tiny[] = {0, 0, 0, 1e-300, 1e-300, 1e-300};
    struct dataset dataset;
    struct scale scale;

    (void)state;
    make_set(&dataset);
    assert_ok(read_array(2, 2, good, false, &scale));
    assert_fails("statistics of 2 channels, but the dataset has 3", scale_apply(&scale, &dataset));
    assert_fails("statistics of 2 channels, but the dataset has 3", scale_undo(&scale, &dataset));
    scale_free(&scale);
    assert_fails("shape (2, channels)", read_array(4, 1, good, false, &scale));
    assert_fails("more than one array", read_array(2, 2, good, true, &scale));
    assert_fails("channel 1: the standard deviation", read_array(2, 2, zero, false, &scale));
    assert_fails("channel 0: the standard deviation", read_array(2, 2, negative, false, &scale));
    assert_fails("channel 0: the standard deviation", read_array(2, 2, infinite, false, &scale));
    assert_fails("channel 1: the mean", read_array(2, 2, nan_mean, false, &scale));
    assert_ok(read_array(2, 3, tiny, false, &scale));
    assert_fails("too large", scale_apply(&scale, &dataset));
    scale_free(&scale);
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_those_of_the_definition),
        cmocka_unit_test(scaling_standardises_and_undo_brings_back),
        cmocka_unit_test(a_series_by_itself_has_mean_0_and_deviation_1),
        cmocka_unit_test(a_statistics_file_keeps_every_bit),
        cmocka_unit_test(bad_statistics_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
