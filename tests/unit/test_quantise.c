/* Series that are stored in few bits. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/scale.h"
#include "formats/dataset-internal.h"
#include "formats/dataset.h"

enum { COUNT = 3, CHANNELS = 2, LENGTH = 7 };

/* Values of very different sizes; one channel is constant. */
static void make_dataset(struct dataset *dataset)
{
    assert_ok(dataset_new(COUNT, CHANNELS, LENGTH, 3, false, dataset));
    for (size_t i = 0; i < COUNT * CHANNELS * LENGTH; i++) {
        size_t row = i / LENGTH;

        dataset->x[i] = row == 3 ? 5 : powf(10, (float)row - 2) * sinf((float)(i * i)) - 1;
    }
    for (size_t i = 0; i < COUNT; i++)
        dataset->y[i] = (int32_t)i;
}

static void values_are_within_half_a_step_of_their_channel(void **state)
{
    static const unsigned bits[] = {8, 4};

    (void)state;
    for (size_t b = 0; b < 2; b++) {
        struct dataset exact, rounded;

        make_dataset(&exact);
        make_dataset(&rounded);
        assert_ok(dataset_quantise(&rounded, bits[b]));
        for (size_t row = 0; row < COUNT * CHANNELS; row++) {
            const float *x = exact.x + row * LENGTH;
            float low = x[0], high = x[0];
            double step;

            for (size_t t = 0; t < LENGTH; t++) {
                low = fminf(low, x[t]);
                high = fmaxf(high, x[t]);
            }
            step = ((double)high - (double)low) / (bits[b] == 8 ? 255 : 15);
            for (size_t t = 0; t < LENGTH; t++)
                assert_true(fabs((double)rounded.x[row * LENGTH + t] - (double)x[t]) <=
                            step * 0.5001 + 1e-6 * fabs((double)high));
        }
        assert_true(rounded.x[3 * LENGTH] == 5);
        dataset_free(&exact);
        dataset_free(&rounded);
    }
}

static void files_hold_the_same_values_and_are_written_alike_again(void **state)
{
    static const unsigned bits[] = {8, 4};

    (void)state;
    for (size_t b = 0; b < 2; b++) {
        struct dataset dataset, back;
        size_t size, again_size;
        char *bytes, *again;

        make_dataset(&dataset);
        assert_ok(dataset_quantise(&dataset, bits[b]));
        bytes = dataset_bytes(&dataset, &size);
        assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &back));
        assert_int_equal(back.length, LENGTH);
        assert_int_equal(back.levels.bits, bits[b]);
        assert_memory_equal(back.x, dataset.x, COUNT * CHANNELS * LENGTH * sizeof *back.x);
        again = dataset_bytes(&back, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(bytes, again, size);
        dataset_free(&back);
        /* Who does not ask for few bits gets the values, and writes floats. */
        assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED, &back));
        assert_int_equal(back.levels.bits, 0);
        assert_memory_equal(back.x, dataset.x, COUNT * CHANNELS * LENGTH * sizeof *back.x);
        dataset_free(&back);
        dataset_free(&dataset);
        free(bytes);
        free(again);
    }
}

/* Also where the range of a channel is more than a float holds. */
static void files_of_the_largest_values_are_read_again(void **state)
{
    static const unsigned bits[] = {8, 4};
    static const float low[] = {1, -1e38f, -FLT_MAX, -3e38f};

    (void)state;
    for (size_t b = 0; b < 2; b++) {
        struct dataset dataset, again;
        size_t size;
        char *bytes;

        make_dataset(&dataset);
        for (size_t row = 0; row < 4; row++) {
            dataset.x[row * LENGTH] = low[row];
            dataset.x[row * LENGTH + 1] = FLT_MAX;
        }
        assert_ok(dataset_quantise(&dataset, bits[b]));
        bytes = dataset_bytes(&dataset, &size);
        assert_ok(dataset_read_memory(bytes, size, 0, &again));
        assert_memory_equal(again.x, dataset.x, COUNT * CHANNELS * LENGTH * sizeof *again.x);
        assert_true(again.x[2 * LENGTH] == -FLT_MAX && again.x[2 * LENGTH + 1] > 3.4e38f);
        dataset_free(&dataset);
        dataset_free(&again);
        free(bytes);
    }
}

static void scaling_moves_the_levels_and_keeps_the_codes(void **state)
{
    double mean[] = {3, -20}, deviation[] = {0.25, 40};
    struct scale scale = {.channels = CHANNELS, .mean = mean, .deviation = deviation};
    struct dataset dataset, scaled;
    size_t size, scaled_size;
    char *bytes, *moved;

    (void)state;
    make_dataset(&dataset);
    make_dataset(&scaled);
    assert_ok(dataset_quantise(&dataset, 4));
    assert_ok(dataset_quantise(&scaled, 4));
    assert_ok(scale_apply(&scale, &scaled));
    for (size_t i = 0; i < COUNT * CHANNELS * LENGTH; i++) {
        size_t c = i / LENGTH % CHANNELS;
        double expected = ((double)dataset.x[i] - mean[c]) / deviation[c];

        assert_true(fabs((double)scaled.x[i] - expected) <= 1e-6 * (1 + fabs(expected)));
    }
    bytes = dataset_bytes(&dataset, &size);
    moved = dataset_bytes(&scaled, &scaled_size);
    assert_memory_equal(bytes, moved, 128 + COUNT * CHANNELS * 4); /* header and codes */
    assert_int_not_equal(memcmp(bytes, moved, size), 0);
    assert_ok(scale_undo(&scale, &scaled));
    for (size_t i = 0; i < COUNT * CHANNELS * LENGTH; i++)
        assert_true(fabsf(scaled.x[i] - dataset.x[i]) <= 1e-5f * (1 + fabsf(dataset.x[i])));
    /* Too large for a float. */
    deviation[0] = 1e-44;
    assert_fails("too large", scale_apply(&scale, &scaled));
    dataset_free(&dataset);
    dataset_free(&scaled);
    free(bytes);
    free(moved);
}

/* Reads the dataset with one number of levels or packing replaced. */
static struct error *with_number(const char *bytes, size_t size, size_t at, const void *number,
                                 size_t number_size)
{
    char *copy = malloc(size);
    struct dataset dataset;
    struct error *error;

    memcpy(copy, bytes, size);
    memcpy(copy + at, number, number_size);
    error = dataset_read_memory(copy, size, DATASET_VIEWS, &dataset);
    if (!error)
        dataset_free(&dataset);
    free(copy);
    return error;
}

static void damage_is_refused(void **state)
{
    /* Codes of 4 bits: header, 3 x 2 x 4 bytes; levels: header, 12 floats; packing: header, 2. */
    const size_t levels = 128 + 24 + 128, packing = levels + 48 + 128;
    const float negative = -1, infinite = INFINITY;
    const double bits = 5, length = 9, half = 7.5, nothing = NAN;
    struct dataset dataset;
    size_t size;
    char *bytes;

    (void)state;
    make_dataset(&dataset);
    assert_ok(dataset_quantise(&dataset, 4));
    bytes = dataset_bytes(&dataset, &size);
    assert_fails("damaged levels: series 0, channel 1",
                 with_number(bytes, size, levels + 4 * 7, &negative, 4));
    assert_fails("damaged levels: series 2, channel 1",
                 with_number(bytes, size, levels + 4 * 5, &infinite, 4));
    assert_fails("4 or 8 bits, not 5", with_number(bytes, size, packing, &bits, 8));
    assert_fails("9 steps of 4 bits do not take 4 bytes",
                 with_number(bytes, size, packing + 8, &length, 8));
    assert_fails("damaged packing", with_number(bytes, size, packing + 8, &nothing, 8));
    assert_fails("damaged packing", with_number(bytes, size, packing + 8, &half, 8));
    /* Levels without packing: the file ends between them. */
    {
        struct dataset part;

        assert_fails("both levels and packing",
                     dataset_read_memory(bytes, levels + 48, DATASET_VIEWS, &part));
    }
    free(bytes);
    dataset_free(&dataset);
}

static void codes_without_levels_are_refused(void **state)
{
    struct dataset dataset = {.levels.bits = 8};
    struct npy_array series = {0};

    (void)state;
    assert_fails("need both levels and packing", levels_decode(&dataset, &series));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_without_levels_are_refused),
        cmocka_unit_test(values_are_within_half_a_step_of_their_channel),
        cmocka_unit_test(files_hold_the_same_values_and_are_written_alike_again),
        cmocka_unit_test(files_of_the_largest_values_are_read_again),
        cmocka_unit_test(scaling_moves_the_levels_and_keeps_the_codes),
        cmocka_unit_test(damage_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
