#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "shapelets/bins.h"
#include "shapelets/distance.h"
#include "shapelets/gain.h"
#include "support/brute.h"

enum { MOST = 150, COUNT_BINS = 16 };

struct sample {
    size_t count, classes;
    float distances[MOST];
    double exact[MOST];
    int32_t labels[MOST];
    size_t counts[5];
    double *xlogx;
    struct labelling labelling;
    struct quality_scratch scratch;
};

/* Random distances with many ties when levels is small. */
static void make_sample(struct random_stream *stream, size_t count, size_t classes, unsigned levels,
                        int32_t positive, struct sample *sample)
{
    memset(sample, 0, sizeof *sample);
    sample->count = count;
    sample->classes = classes;
    for (size_t i = 0; i < count; i++) {
        double lift = 0;

        sample->labels[i] = (int32_t)random_below(stream, classes);
        lift = 0.2 * sample->labels[i];
        sample->distances[i] =
            (float)(floor(levels * (random_uniform(stream) + lift)) / levels * 3.1);
        sample->exact[i] = sample->distances[i];
        sample->counts[sample->labels[i]]++;
    }
    assert_ok(gain_xlogx(count, &sample->xlogx));
    assert_ok(labelling_make(sample->counts, classes, positive, sample->xlogx, &sample->labelling));
    assert_ok(quality_scratch_make(count, classes, &sample->scratch));
}

static void free_sample(struct sample *sample)
{
    free(sample->xlogx);
    labelling_free(&sample->labelling);
    quality_scratch_free(&sample->scratch);
}

static void test_best_split_equals_brute_force(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    (void)state;
    for (size_t run = 0; run < 300; run++) {
        size_t classes = 2 + run % 4, count = 2 + (run * 7) % (MOST - 1);
        int32_t positive = run % 3 ? -1 : (int32_t)(run % classes);
        unsigned levels = run % 2 ? 5 : 1000000;
        struct sample sample;
        struct quality_split split;
        struct brute_split expected;

        make_sample(&stream, count, classes, levels, positive, &sample);
        split = quality_gain.score(&sample.labelling, sample.distances, sample.labels, NULL,
                                   &sample.scratch);
        expected = brute_best_split(sample.exact, sample.labels, count, classes, positive);
        assert_near(split.quality, expected.gain, 1e-7);
        if (expected.gain > 0) {
            assert_near(split.threshold, (expected.low + expected.high) / 2, 1e-6);
            assert_near(split.gap, expected.high - expected.low, 1e-6);
        }
        free_sample(&sample);
    }
}

static void test_equal_distances_have_no_split(void **state)
{
    struct random_stream stream = random_stream(2, RANDOM_TEST, 0);
    struct sample sample;
    struct quality_split split;

    (void)state;
    make_sample(&stream, 100, 3, 10, -1, &sample);
    for (size_t i = 0; i < 100; i++)
        sample.distances[i] = 2.5F;
    split = quality_gain.score(&sample.labelling, sample.distances, sample.labels, NULL,
                               &sample.scratch);
    assert_true(split.quality == 0 && split.threshold == 2.5F && split.gap == 0);
    free_sample(&sample);
}

/* Between neighbouring floats there is no room for a middle: the split must still hold. */
static void test_threshold_divides_neighbouring_floats(void **state)
{
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    struct sample sample;
    struct quality_split split;

    (void)state;
    make_sample(&stream, 20, 2, 10, -1, &sample);
    for (size_t i = 0; i < 20; i++)
        sample.distances[i] = sample.labels[i] ? nextafterf(1, 2) : 1;
    split = quality_gain.score(&sample.labelling, sample.distances, sample.labels, NULL,
                               &sample.scratch);
    assert_true(split.threshold >= 1 && split.threshold < nextafterf(1, 2));
    free_sample(&sample);
}

static void fill_histogram(const struct sample *sample, size_t known, uint8_t *bins,
                           uint32_t *histogram)
{
    uint16_t cells[MOST];

    distance_cells(sample->distances, sample->count, 0, COUNT_BINS / 4.0F, COUNT_BINS - 1, cells);
    memset(histogram, 0, COUNT_BINS * 5 * sizeof *histogram);
    for (size_t i = 0; i < sample->count; i++)
        bins[i] = (uint8_t)cells[i];
    for (size_t i = 0; i < known; i++)
        histogram[labelling_class(&sample->labelling, sample->labels[i]) * COUNT_BINS + bins[i]]++;
}

/* Whatever the unknown distances turn out to be, a gain that is reached was held possible. */
static void test_no_reachable_gain_is_given_up(void **state)
{
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);
    size_t given_up = 0;

    (void)state;
    for (size_t run = 0; run < 400; run++) {
        size_t classes = 2 + run % 4, count = 30 + run % (MOST - 30), known = count * (run % 5) / 4;
        int32_t positive = run % 3 ? -1 : (int32_t)(run % classes);
        size_t unknown[5];
        uint32_t histogram[COUNT_BINS * 5];
        uint8_t bins[MOST];
        struct quality_bins counted = {.count = COUNT_BINS, .histogram = histogram};
        uint8_t likely = (uint8_t)(run % COUNT_BINS);
        struct sample sample;
        double gain;

        make_sample(&stream, count, classes, run % 2 ? 7 : 1000000, positive, &sample);
        gain = quality_gain
                   .score(&sample.labelling, sample.distances, sample.labels, NULL, &sample.scratch)
                   .quality;
        fill_histogram(&sample, known, bins, histogram);
        memcpy(unknown, sample.labelling.totals, sample.labelling.classes * sizeof *unknown);
        for (size_t i = 0; i < known; i++)
            unknown[labelling_class(&sample.labelling, sample.labels[i])]--;
        assert_true(quality_gain.bounds->can_reach(&sample.labelling, &counted, unknown,
                                                   gain * (1 - 1e-6) - 1e-9, &likely));
        given_up += !quality_gain.bounds->can_reach(&sample.labelling, &counted, unknown,
                                                    gain + 0.3, &likely);
        assert_in_range(likely, 0, COUNT_BINS - 1);
        free_sample(&sample);
    }
    /* The bound is of use, too. */
    assert_true(given_up > 20);
}

/* Two classes in two bins, all known: the best bound is the gain itself, wherever it is looked for
 * first. */
static void test_a_bound_that_is_exact_is_held_possible(void **state)
{
    const size_t counts[] = {10, 10}, unknown[] = {0, 0};
    uint32_t histogram[COUNT_BINS * 2] = {0};
    struct quality_bins counted = {.count = COUNT_BINS, .histogram = histogram};
    struct labelling labelling;
    double *xlogx, gain;

    (void)state;
    assert_ok(gain_xlogx(20, &xlogx));
    assert_ok(labelling_make(counts, 2, -1, xlogx, &labelling));
    gain = fabs(labelling.base) / 20; /* the whole entropy */
    histogram[3] = 10;
    histogram[COUNT_BINS + 7] = 10;
    for (uint8_t first = 0; first < COUNT_BINS; first++) {
        uint8_t likely = first;

        assert_true(quality_gain.bounds->can_reach(&labelling, &counted, unknown, gain * (1 - 1e-9),
                                                   &likely));
        assert_false(quality_gain.bounds->can_reach(&labelling, &counted, unknown,
                                                    gain * (1 + 1e-9), &likely));
    }
    labelling_free(&labelling);
    free(xlogx);
}

static void test_sorting_a_range_finds_the_same_split(void **state)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);
    size_t narrowed = 0;

    (void)state;
    for (size_t run = 0; run < 400; run++) {
        size_t classes = 2 + run % 4, count = 30 + run % (MOST - 30);
        int32_t positive = run % 3 ? -1 : (int32_t)(run % classes);
        uint32_t histogram[COUNT_BINS * 5];
        uint8_t bins[MOST];
        struct quality_bins counted = {.count = COUNT_BINS, .histogram = histogram};
        struct quality_range range = {.bins = bins};
        struct quality_split whole, part;
        struct sample sample;

        make_sample(&stream, count, classes, run % 2 ? 7 : 1000000, positive, &sample);
        whole = quality_gain.score(&sample.labelling, sample.distances, sample.labels, NULL,
                                   &sample.scratch);
        fill_histogram(&sample, count, bins, histogram);
        assert_true(quality_gain.bounds->find_range(&sample.labelling, &counted,
                                                    whole.quality * (1 - 1e-6) - 1e-9, &range));
        part = quality_gain.score(&sample.labelling, sample.distances, sample.labels, &range,
                                  &sample.scratch);
        assert_memory_equal(&whole, &part, sizeof whole);
        assert_false(quality_gain.bounds->find_range(&sample.labelling, &counted, 1.01, &range));
        narrowed += range.last - range.first < COUNT_BINS / 2;
        free_sample(&sample);
    }
    assert_true(narrowed > 10);
}

/* Many small and a few large distances: equal widths would put too many into one bin. */
static void test_bins_follow_the_distances(void **state)
{
    enum { SERIES = 4000 };

    struct random_stream stream = random_stream(6, RANDOM_TEST, 0);
    static float distances[SERIES];
    static uint16_t cells[SERIES];
    size_t held[BINS] = {0};
    struct bins bins;

    (void)state;
    for (size_t i = 0; i < SERIES; i++)
        distances[i] = (float)exp(0.8 * random_normal(&stream));
    bins_make(distances, SERIES / 10, cells, &bins);
    for (size_t cell = 1; cell < BINS_CELLS; cell++)
        assert_true(bins.of_cell[cell] >= bins.of_cell[cell - 1]);
    assert_in_range(bins.of_cell[BINS_CELLS - 1], 0, BINS - 1);
    bins_cells(&bins, distances, SERIES, cells);
    for (size_t i = 0; i < SERIES; i++)
        held[bins.of_cell[cells[i]]]++;
    for (size_t b = 0; b < BINS; b++)
        assert_in_range(held[b], 0, SERIES / 16);
    for (size_t i = 0; i < SERIES; i++)
        distances[i] = 7;
    bins_make(distances, SERIES, cells, &bins);
    bins_cells(&bins, distances, SERIES, cells);
    for (size_t i = 0; i < SERIES; i++)
        assert_int_equal(cells[i], cells[0]);
    /* So near to each other that no float says how many cells fit between them. */
    for (size_t i = 0; i < SERIES; i++)
        distances[i] = i % 2 ? 1e-45f : 0;
    bins_make(distances, SERIES, cells, &bins);
    assert_true(isfinite(bins.scale));
    for (size_t i = 0; i < SERIES; i++)
        assert_int_equal(cells[i], cells[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_split_equals_brute_force),
        cmocka_unit_test(test_equal_distances_have_no_split),
        cmocka_unit_test(test_threshold_divides_neighbouring_floats),
        cmocka_unit_test(test_no_reachable_gain_is_given_up),
        cmocka_unit_test(test_a_bound_that_is_exact_is_held_possible),
        cmocka_unit_test(test_sorting_a_range_finds_the_same_split),
        cmocka_unit_test(test_bins_follow_the_distances),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
