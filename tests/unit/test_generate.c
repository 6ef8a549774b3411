#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "data/generate.h"

static void make(struct generate_options options, struct dataset *dataset,
                 struct planted_list *truth)
{
    assert_ok(generate(&options, dataset, truth));
}

static struct generate_options options_of(enum generate_kind kind)
{
    struct generate_options options = generate_defaults();

    options.kind = kind;
    options.count = 60;
    options.channels = 3;
    options.classes = 4;
    options.shapelets = 2;
    options.seed = 5;
    return options;
}

static void assert_series_equal(const struct dataset *a, size_t i, const struct dataset *b,
                                size_t j)
{
    const size_t size = a->channels * a->length * sizeof *a->x;

    assert_int_equal(a->y[i], b->y[j]);
    assert_memory_equal(dataset_series(a, i, 0), dataset_series(b, j, 0), size);
}

static void a_series_depends_on_its_number_and_the_seed_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind <= GENERATE_PLANTED; kind++) {
        struct generate_options options = options_of((enum generate_kind)kind), other;
        struct dataset all, tail, reseeded;

        options.imbalance = kind == GENERATE_CBF ? 0.3 : 1;
        parallel_set_threads(1);
        make(options, &all, NULL);
        parallel_set_threads(3);
        other = options;
        other.first = 25;
        other.count = 10;
        make(other, &tail, NULL);
        for (size_t i = 0; i < 10; i++)
            assert_series_equal(&all, i + 25, &tail, i);
        other = options;
        other.seed++;
        make(other, &reseeded, NULL);
        assert_memory_not_equal(all.x, reseeded.x, all.length * sizeof *all.x);
        dataset_free(&all);
        dataset_free(&tail);
        dataset_free(&reseeded);
    }
}

/* The definition, step by step: outside of the truth normal noise, within it the two halves. */
static void two_patterns_have_geurts_steps_and_noise(void **state)
{
    struct generate_options options = options_of(GENERATE_TWO_PATTERNS);
    size_t lengths[33] = {0}, noise_count = 0, last_end = 0, touching = 0;
    double sum = 0, squares = 0, starts = 0;
    struct planted_list truth;
    struct dataset dataset;

    (void)state;
    options.count = 4000;
    make(options, &dataset, &truth);
    assert_int_equal(dataset.classes, 4);
    assert_int_equal(dataset.channels, 1);
    assert_int_equal(truth.count, 8000);
    for (size_t i = 0; i < dataset.count; i++) {
        const struct planted *steps = &truth.items[2 * i];
        const float *x = dataset_series(&dataset, i, 0);
        const char *name = dataset.names[dataset.y[i]];

        assert_true(steps[0].start + steps[0].length <= steps[1].start);
        assert_true(steps[1].start + steps[1].length <= 127);
        touching += steps[0].start + steps[0].length == steps[1].start;
        last_end += steps[1].start + steps[1].length == 127;
        starts += (double)steps[0].start;
        for (size_t k = 0; k < 2; k++) {
            size_t half = steps[k].length - steps[k].length / 2;
            float first = name[k] == 'u' ? -5.0f : 5.0f;

            assert_int_equal(steps[k].series, i);
            assert_in_range(steps[k].length, 16, 32);
            lengths[steps[k].length]++;
            for (size_t t = 0; t < steps[k].length; t++)
                assert_true(x[steps[k].start + t] == (t < half ? first : -first));
        }
        for (size_t t = 0; t < 128; t++) {
            if (t - steps[0].start < steps[0].length || t - steps[1].start < steps[1].length)
                continue;
            noise_count++;
            sum += (double)x[t];
            squares += (double)x[t] * (double)x[t];
        }
    }
    /* 320000 values: five standard errors. */
    assert_near(sum / (double)noise_count, 0, 0.009);
    assert_near(squares / (double)noise_count, 1, 0.0125);
    for (size_t length = 16; length <= 32; length++)
        assert_in_range(lengths[length], 360, 580); /* 8000/17 = 471, five standard deviations */
    /* Uniform in 0..127-l1-l2, whose mean is (127 - 48)/2. */
    assert_near(starts / 4000 / 39.5, 1, 0.05);
    assert_true(touching > 0 && last_end > 0);
    planted_free(&truth);
    dataset_free(&dataset);
}

static void cylinder_bell_and_funnel_have_saitos_shapes(void **state)
{
    struct generate_options options = options_of(GENERATE_CBF);
    double heights[3] = {0}, squares = 0;
    struct planted_list truth;
    struct dataset dataset;

    (void)state;
    options.count = 30000;
    options.noise = 0;
    make(options, &dataset, &truth);
    for (size_t i = 0; i < dataset.count; i++) {
        const struct planted *place = &truth.items[i];
        const float *x = dataset_series(&dataset, i, 0);
        /* In Saito's notation steps count from 1; b may lie after the last step by one. */
        double a = (double)place->start + 1, height = 0, width;
        char kind = dataset.names[dataset.y[i]][0];

        assert_in_range(place->start + 1, 16, 32);
        assert_in_range(place->length, 33, 97);
        width = (double)place->length - 1;
        height =
            kind == 'b' ? (double)x[place->start + place->length - 1] : (double)x[place->start];
        for (size_t t = 1; t <= 128; t++) {
            double share = kind == 'c'   ? 1
                           : kind == 'b' ? ((double)t - a) / width
                                         : (a + width - (double)t) / width;
            bool inside = (double)t >= a && (double)t <= a + width;

            assert_near((double)x[t - 1], inside ? height * share : 0, 1e-5);
        }
        heights[dataset.y[i]] += height;
        squares += (height - 6) * (height - 6);
    }
    /* Five standard errors. */
    for (size_t v = 0; v < 3; v++)
        assert_near(heights[v] / 10000 - 6, 0, 0.05);
    assert_near(squares / 30000, 1, 0.04);
    planted_free(&truth);
    dataset_free(&dataset);
}

/* Without noise a series is its shapelets at the places that the truth tells, and nothing else. */
static void planted_shapelets_are_where_the_truth_says(void **state)
{
    struct generate_options options = options_of(GENERATE_PLANTED);
    const size_t patterns = options.shapelets, steps = options.pattern;
    float shapes[4][2][16];
    size_t least[4][2], most[4][2], channel[4][2];
    struct planted_list truth;
    struct dataset dataset;

    (void)state;
    options.count = 400;
    options.noise = 0;
    make(options, &dataset, &truth);
    assert_int_equal(truth.count, options.count * patterns);
    for (size_t i = 0; i < dataset.count; i++) {
        const struct planted *places = &truth.items[i * patterns];
        const size_t v = (size_t)dataset.y[i];
        float expected[3][128] = {{0}};

        assert_true(places[0].start + places[0].length <= places[1].start);
        for (size_t k = 0; k < patterns; k++) {
            float *x = dataset_series(&dataset, i, places[k].channel) + places[k].start;

            assert_int_equal(places[k].length, steps);
            if (i < 4) { /* the first of its class shows the shape */
                memcpy(shapes[v][k], x, sizeof shapes[v][k]);
                least[v][k] = most[v][k] = places[k].start;
                channel[v][k] = places[k].channel;
            }
            assert_int_equal(places[k].channel, channel[v][k]);
            memcpy(expected[places[k].channel] + places[k].start, shapes[v][k],
                   sizeof shapes[v][k]);
            least[v][k] = places[k].start < least[v][k] ? places[k].start : least[v][k];
            most[v][k] = places[k].start > most[v][k] ? places[k].start : most[v][k];
        }
        for (size_t c = 0; c < 3; c++) {
            for (size_t t = 0; t < 128; t++)
                assert_true(dataset_series(&dataset, i, c)[t] == expected[c][t]);
        }
    }
    for (size_t v = 0; v < 4; v++) {
        for (size_t k = 0; k < patterns; k++) {
            double sum = 0, squares = 0;

            assert_int_equal(most[v][k] - least[v][k], 2 * options.jitter);
            for (size_t t = 0; t < steps; t++) {
                sum += (double)shapes[v][k][t];
                squares += (double)(shapes[v][k][t] * shapes[v][k][t]);
            }
            assert_near(sum / (double)steps, 0, 1e-6);
            assert_near(sqrt(squares / (double)steps), options.amplitude, 1e-6);
            for (size_t other = 0; other < v; other++)
                assert_memory_not_equal(shapes[v][k], shapes[other][k], sizeof shapes[v][k]);
        }
    }
    planted_free(&truth);
    dataset_free(&dataset);
}

static void noise_has_the_deviation_and_correlation_asked_for(void **state)
{
    struct generate_options options = options_of(GENERATE_PLANTED);
    double squares = 0, products = 0, first = 0;
    struct dataset dataset;
    size_t rows;

    (void)state;
    options.count = 1000;
    options.amplitude = 0;
    options.noise = 3;
    options.correlation = 0.8;
    make(options, &dataset, NULL);
    rows = dataset.count * dataset.channels;
    for (size_t i = 0; i < rows; i++) {
        const float *x = dataset.x + i * dataset.length;

        first += (double)(x[0] * x[0]);
        for (size_t t = 1; t < dataset.length; t++) {
            squares += (double)(x[t] * x[t]);
            products += (double)(x[t] * x[t - 1]);
        }
    }
    assert_near(sqrt(squares / (double)(rows * 127)), 3, 0.01);
    assert_near(products / squares, 0.8, 0.005);
    assert_near(sqrt(first / (double)rows), 3, 0.05);
    dataset_free(&dataset);
}

static void the_rarest_class_has_the_share_asked_for(void **state)
{
    struct generate_options options = options_of(GENERATE_PLANTED);
    struct dataset dataset;
    size_t counts[4];

    (void)state;
    options.count = 20000;
    options.length = 40;
    options.jitter = 1;
    options.imbalance = 0.25; /* shares 1, 3/4, 1/2, 1/4 of 2.5 */
    make(options, &dataset, NULL);
    dataset_class_counts(&dataset, counts);
    for (size_t v = 0; v < 4; v++)
        assert_near((double)counts[v] / 20000, (double)(4 - v) / 10, 0.02);
    dataset_free(&dataset);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct generate_options options = options_of(GENERATE_PLANTED);
    struct dataset dataset;

    (void)state;
    options.jitter = 25; /* two parts of 64 steps: 16 + 2 x 24 fit */
    assert_fails("do not fit", generate(&options, &dataset, NULL));
    options.jitter = 24;
    make(options, &dataset, NULL);
    dataset_free(&dataset);
    options.pattern = 65;
    assert_fails("do not fit", generate(&options, &dataset, NULL));
    options = options_of(GENERATE_CBF);
    options.length = 15;
    assert_fails("too short", generate(&options, &dataset, NULL));
    options = options_of(GENERATE_CBF);
    options.count = SIZE_MAX / 2;
    assert_fails("", generate(&options, &dataset, NULL));
    options.first = SIZE_MAX - 5;
    assert_fails("too many", generate(&options, &dataset, NULL));
}

/* The shortest series of each kind stay within their bounds (the sanitizers watch). */
static void short_series_work(void **state)
{
    (void)state;
    for (size_t length = 16; length < 40; length++) {
        for (int kind = 0; kind <= GENERATE_CBF; kind++) {
            struct generate_options options = options_of((enum generate_kind)kind);
            struct planted_list truth;
            struct dataset dataset;

            options.length = length;
            make(options, &dataset, &truth);
            for (size_t i = 0; i < truth.count; i++)
                assert_true(truth.items[i].start + truth.items[i].length <= length);
            planted_free(&truth);
            dataset_free(&dataset);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_depends_on_its_number_and_the_seed_alone),
        cmocka_unit_test(two_patterns_have_geurts_steps_and_noise),
        cmocka_unit_test(cylinder_bell_and_funnel_have_saitos_shapes),
        cmocka_unit_test(planted_shapelets_are_where_the_truth_says),
        cmocka_unit_test(noise_has_the_deviation_and_correlation_asked_for),
        cmocka_unit_test(the_rarest_class_has_the_share_asked_for),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(short_series_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
