/* Series that are rounded to whole steps and compressed. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/pack.h"
#include "data/scale.h"
#include "formats/dataset.h"

enum { COUNT = 12, CHANNELS = 2 };

/* Smooth series with a little noise; the second channel is much larger. */
static void make_dataset(size_t length, struct dataset *dataset)
{
    assert_ok(dataset_new(COUNT, CHANNELS, length, 3, false, dataset));
    for (size_t i = 0; i < COUNT; i++) {
        struct random_stream stream = random_stream(7, RANDOM_TEST, i);
        double rate = 0.05 + 0.1 * random_uniform(&stream);

        dataset->y[i] = (int32_t)(i % 3);
        for (size_t c = 0; c < CHANNELS; c++)
            for (size_t t = 0; t < length; t++)
                dataset_series(dataset, i, c)[t] =
                    (float)((c ? 100 : 1) *
                            (sin(rate * (double)t) + 0.05 * random_normal(&stream)));
    }
}

static double deviation(const struct dataset *dataset, size_t channel)
{
    double sum = 0, squares = 0, count = (double)(dataset->count * dataset->length);

    for (size_t i = 0; i < dataset->count; i++)
        for (size_t t = 0; t < dataset->length; t++) {
            double x = (double)dataset_series(dataset, i, channel)[t];

            sum += x;
            squares += x * x;
        }
    return sqrt(squares / count - sum / count * (sum / count));
}

/* Rounding the values themselves is off by half a step; the wavelet is nearly orthogonal, so that
 * the mean square is about that of the rounded coefficients. */
static void errors_are_those_of_the_step(void **state)
{
    static const size_t lengths[] = {1, 2, 7, 8, 9, 31, 64, 131};

    (void)state;
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
        for (size_t transform = 0; transform < 2; transform++) {
            struct dataset exact, packed;
            double squares = 0, told;

            make_dataset(lengths[n], &exact);
            make_dataset(lengths[n], &packed);
            assert_ok(dataset_pack(&packed, 0.1, transform, &told));
            for (size_t i = 0; i < COUNT * CHANNELS * lengths[n]; i++) {
                double step = 0.1 * deviation(&exact, i / lengths[n] % CHANNELS);
                double off = ((double)packed.x[i] - (double)exact.x[i]) / step;

                assert_true(fabs(off) <= (transform ? 4 : 0.501));
                squares += off * off;
            }
            squares /= (double)(COUNT * CHANNELS * lengths[n]);
            assert_true(squares <= 1.4 / 12 || lengths[n] == 1);
            assert_true(fabs(squares - told) <= 1e-3);
            dataset_free(&exact);
            dataset_free(&packed);
        }
}

static void files_hold_the_same_values_and_can_be_written_again(void **state)
{
    (void)state;
    for (size_t transform = 0; transform < 2; transform++)
        for (size_t fine = 0; fine < 2; fine++) {
            struct dataset packed, read;
            size_t size, again;
            char *bytes, *second;

            make_dataset(100, &packed);
            assert_ok(dataset_pack(&packed, fine ? 0.001 : 0.5, transform, NULL));
            bytes = dataset_bytes(&packed, &size);
            assert_true(size < 4 * COUNT * CHANNELS * 100);
            assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &read));
            assert_int_equal(read.count, COUNT);
            assert_memory_equal(read.x, packed.x, sizeof(float) * COUNT * CHANNELS * 100);
            assert_memory_equal(read.y, packed.y, sizeof(int32_t) * COUNT);
            second = dataset_bytes(&read, &again);
            assert_int_equal(again, size);
            assert_memory_equal(second, bytes, size);
            dataset_free(&read);

            /* Who does not ask for rounded series gets floats. */
            assert_ok(dataset_read_memory(bytes, size, 0, &read));
            assert_false(dataset_is_rounded(&read));
            assert_memory_equal(read.x, packed.x, sizeof(float) * COUNT * CHANNELS * 100);
            dataset_free(&read);
            dataset_free(&packed);
            free(bytes);
            free(second);
        }
}

static void scaling_moves_levels_and_keeps_codes(void **state)
{
    double means[] = {3, -5}, deviations[] = {2, 0.25};
    struct scale scale = {.channels = CHANNELS, .mean = means, .deviation = deviations};
    struct dataset packed, scaled;

    (void)state;
    make_dataset(50, &packed);
    make_dataset(50, &scaled);
    assert_ok(dataset_pack(&packed, 0.25, true, NULL));
    assert_ok(dataset_pack(&scaled, 0.25, true, NULL));
    assert_ok(scale_undo(&scale, &scaled));
    assert_memory_equal(packed.packed.codes, scaled.packed.codes,
                        COUNT * CHANNELS * 50 * sizeof *packed.packed.codes);
    for (size_t i = 0; i < COUNT * CHANNELS * 50; i++) {
        size_t c = i / 50 % CHANNELS;
        double expected = (double)packed.x[i] * deviations[c] + means[c];

        assert_true(fabs((double)scaled.x[i] - expected) <= 1e-5 * (1 + fabs(expected)));
    }
    dataset_free(&packed);
    dataset_free(&scaled);
}

/* Every byte of the file in turn is another one: an error, or a dataset, but no crash; the
 * compressed bytes have a checksum. */
static void damage_is_noticed(void **state)
{
    struct dataset packed, read;
    size_t size, refused = 0;
    char *bytes;

    (void)state;
    make_dataset(20, &packed);
    assert_ok(dataset_pack(&packed, 0.25, true, NULL));
    bytes = dataset_bytes(&packed, &size);
    for (size_t i = 0; i < size; i++) {
        struct error *error;

        bytes[i] = (char)(bytes[i] ^ 0x55);
        error = dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &read);
        refused += error != NULL;
        if (!error)
            dataset_free(&read);
        error_free(error);
        bytes[i] = (char)(bytes[i] ^ 0x55);
    }
    assert_true(refused > size / 2);
    for (size_t cut = 1; cut < size; cut += 7) {
        struct error *error = dataset_read_memory(bytes, cut, DATASET_LABELLED, &read);

        assert_non_null(error);
        error_free(error);
    }
    dataset_free(&packed);
    free(bytes);
}

/* Arrays of series in few bits after compressed ones would be decoded twice. */
static void few_bits_do_not_follow(void **state)
{
    const size_t levels[] = {2, COUNT, CHANNELS, 1}, numbers = 2;
    const float steps[2 * COUNT * CHANNELS] = {0};
    const double packing[] = {4, 40};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct dataset packed, read;
        struct npy_error error;
        char *bytes;
        size_t size;
        FILE *stream = open_memstream(&bytes, &size);

        make_dataset(20, &packed);
        assert_ok(dataset_pack(&packed, 0.25, true, NULL));
        assert_ok(dataset_write(stream, &packed));
        if (i == 0)
            assert_int_equal(npy_write_data(stream, NPY_FLOAT, 4, 4, levels, steps, &error), 0);
        assert_int_equal(npy_write_data(stream, NPY_FLOAT, 8, 1, &numbers, packing, &error), 0);
        fclose(stream);
        assert_fails(i == 0 ? "is not one of" : "views",
                     dataset_read_memory(bytes, size, DATASET_VIEWS, &read));
        dataset_free(&packed);
        free(bytes);
    }
}

static void steps_that_are_too_small_are_refused(void **state)
{
    static const double steps[] = {1e-5, 1e-60};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct dataset dataset;

        make_dataset(20, &dataset);
        assert_fails("too small", dataset_pack(&dataset, steps[i], true, NULL));
        dataset_free(&dataset);
    }
}

/* Series that come again and again take hardly any bytes. */
static void equal_series_are_kept_as_far_as_they_fit(void **state)
{
    struct pack_options options = {.step = 0.25, .bytes = 700};
    struct dataset all, packed;

    (void)state;
    assert_ok(dataset_new(600, 1, 100, 2, false, &all));
    for (size_t i = 0; i < 600; i++) {
        struct random_stream stream = random_stream(1, RANDOM_TEST, i % 4);

        all.y[i] = (int32_t)(i % 2);
        for (size_t t = 0; t < 100; t++)
            dataset_series(&all, i, 0)[t] = (float)random_normal(&stream);
    }
    assert_ok(pack_make(&all, &options, &packed));
    assert_true(packed.count >= 2);
    dataset_free(&packed);
    dataset_free(&all);
}

static void as_many_series_are_kept_as_fit(void **state)
{
    struct pack_options options = {.step = 0.1, .seed = 3};
    struct dataset all, packed, fewer;
    size_t size, counts[3];

    (void)state;
    make_dataset(200, &all);
    assert_ok(pack_make(&all, &options, &packed));
    assert_int_equal(packed.count, COUNT);
    assert_true(packed.packed.levels > 0); /* smooth */
    assert_ok(dataset_packed_size(&packed, &size));
    options.bytes = 0.6 * (double)size;
    assert_ok(pack_make(&all, &options, &fewer));
    assert_true(fewer.count == 6 || fewer.count == 9);
    dataset_class_counts(&fewer, counts);
    assert_true(counts[0] == counts[1] && counts[1] == counts[2]);
    assert_ok(dataset_packed_size(&fewer, &size));
    assert_true((double)size <= options.bytes);
    dataset_free(&packed);
    dataset_free(&fewer);

    options.bytes = 100;
    assert_fails("takes more than 100 bytes", pack_make(&all, &options, &fewer));

    /* Few values that come again and again are best stored as they are. */
    for (size_t i = 0; i < all.count * CHANNELS * 200; i++)
        all.x[i] = (i * 7919 >> 5) % 13 == 0;
    options.bytes = 0;
    assert_ok(pack_make(&all, &options, &packed));
    assert_int_equal(packed.packed.levels, 0);
    dataset_free(&packed);
    dataset_free(&all);
}

static void constant_channels_stay(void **state)
{
    struct dataset dataset;

    (void)state;
    make_dataset(30, &dataset);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t t = 0; t < 30; t++)
            dataset_series(&dataset, i, 0)[t] = 4.5f;
    assert_ok(dataset_pack(&dataset, 0.1, true, NULL));
    for (size_t i = 0; i < COUNT; i++)
        for (size_t t = 0; t < 30; t++)
            assert_true(dataset_series(&dataset, i, 0)[t] == 4.5f);
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_step),
        cmocka_unit_test(files_hold_the_same_values_and_can_be_written_again),
        cmocka_unit_test(scaling_moves_levels_and_keeps_codes),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(as_many_series_are_kept_as_fit),
        cmocka_unit_test(constant_channels_stay),
        cmocka_unit_test(few_bits_do_not_follow),
        cmocka_unit_test(steps_that_are_too_small_are_refused),
        cmocka_unit_test(equal_series_are_kept_as_far_as_they_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
