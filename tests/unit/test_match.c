/* The parts of sc-match against brute force and finite differences. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match/augment.h"
#include "match/criteria.h"
#include "match/experts.h"
#include "match/match.h"
#include "choose/draw.h"
#include "match/spectrum.h"
#include "match/trajectory.h"
#include "match/spectral_views.h"

static const double pi = 3.14159265358979323846;

static void fill_normal(struct random_stream *stream, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)random_normal(stream);
}

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

static struct architecture small_network(const char *text)
{
    struct architecture architecture;

    assert_ok(architecture_parse(text, &architecture));
    return architecture;
}

/* ---- Spectra ---- */

/* Even and odd lengths of the factors 2, 3 and 5, primes, and products with larger primes: each is
 * transformed in another way. */
static const size_t spectrum_lengths[] = {1,  2,  3,  4,  5,  6,   7,   8,
                                          15, 16, 26, 77, 96, 131, 225, 300};
enum {
    SPECTRUM_LENGTHS = sizeof spectrum_lengths / sizeof *spectrum_lengths,
    LONGEST_SPECTRUM = 300
};

/* Bin k of a series, by the definition. */
static void brute_bin(const float *x, size_t length, size_t k, double *re, double *im)
{
    *re = *im = 0;
    for (size_t t = 0; t < length; t++) {
        double angle = 2 * pi * (double)(k * t % length) / (double)length;

        *re += x[t] * cos(angle) / sqrt((double)length);
        *im -= x[t] * sin(angle) / sqrt((double)length);
    }
}

static void a_spectrum_is_the_fourier_transform(void **state)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    (void)state;
    for (size_t i = 0; i < SPECTRUM_LENGTHS; i++) {
        size_t length = spectrum_lengths[i];
        struct spectrum *spectrum;
        float x[2 * LONGEST_SPECTRUM], out[2 * LONGEST_SPECTRUM];

        assert_ok(spectrum_new(length, &spectrum));
        fill_normal(&stream, x, 2 * length);
        spectrum_forward(spectrum, 2, x, out);
        for (size_t row = 0; row < 2; row++)
            for (size_t k = 0; k <= length / 2; k++) {
                double re, im;

                brute_bin(x + row * length, length, k, &re, &im);
                assert_near(out[row * length + k], re, 3e-6);
                if (k > 0 && 2 * k < length)
                    assert_near(out[row * length + length - k], im, 3e-6);
            }
        spectrum_free(spectrum);
    }
    assert_fails("no spectrum", spectrum_new(0, &(struct spectrum *){NULL}));
}

static void gradients_go_back_through_spectra(void **state)
{
    struct random_stream stream = random_stream(2, RANDOM_TEST, 0);

    (void)state;
    for (size_t i = 0; i < SPECTRUM_LENGTHS; i++) {
        enum { MOST = 3 * LONGEST_SPECTRUM };
        size_t length = spectrum_lengths[i];
        struct spectrum *spectrum;
        float x[MOST], y[MOST], fx[MOST], back[MOST] = {0};

        assert_ok(spectrum_new(length, &spectrum));
        fill_normal(&stream, x, 3 * length);
        fill_normal(&stream, y, 3 * length);
        spectrum_forward(spectrum, 3, x, fx);
        spectrum_adjoint(spectrum, 3, y, back);
        assert_near(dot(fx, y, 3 * length), dot(x, back, 3 * length), 1e-4);
        spectrum_free(spectrum);
    }
}

static void a_filter_multiplies_each_frequency(void **state)
{
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);

    (void)state;
    for (size_t i = 0; i < SPECTRUM_LENGTHS; i++) {
        size_t length = spectrum_lengths[i], bins = spectrum_bins(length);
        struct spectrum *spectrum;
        float x[LONGEST_SPECTRUM], out[LONGEST_SPECTRUM], real[LONGEST_SPECTRUM],
            imaginary[LONGEST_SPECTRUM];

        assert_ok(spectrum_new(length, &spectrum));
        fill_normal(&stream, x, length);
        fill_normal(&stream, real, bins);
        fill_normal(&stream, imaginary, bins);
        for (int conjugate = 0; conjugate < 2; conjugate++) {
            spectrum_filter(spectrum, real, imaginary, conjugate, x, out);
            for (size_t k = 0; k < bins; k++) {
                bool turned = k > 0 && 2 * k < length;
                double b = turned ? (conjugate ? -imaginary[k] : imaginary[k]) : 0;
                double re, im, re_out, im_out;

                brute_bin(x, length, k, &re, &im);
                brute_bin(out, length, k, &re_out, &im_out);
                assert_near(re_out, real[k] * re - b * im, 1e-5);
                assert_near(im_out, real[k] * im + b * re, 1e-5);
            }
        }
        spectrum_free(spectrum);
    }
}

/* ---- Views ---- */

static void views_are_what_they_are_called(void **state)
{
    enum { ROWS = 2, STEPS = 16, ALL = ROWS * STEPS };
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    float x[ALL], out[SPECTRAL_VIEWS * ALL], y[SPECTRAL_VIEWS * ALL], back[ALL];
    struct spectrum *spectrum;
    struct spectral_views views;

    (void)state;
    assert_ok(spectral_views_new(ROWS, STEPS, &views));
    assert_ok(spectrum_new(STEPS, &spectrum));
    spectral_views_draw(&views, &stream);
    fill_normal(&stream, x, ALL);
    fill_normal(&stream, y, SPECTRAL_VIEWS * ALL);
    spectral_views_apply(&views, x, out);
    spectral_views_adjoint(&views, y, back);
    assert_near(dot(out, y, SPECTRAL_VIEWS * ALL), dot(x, back, ALL), 1e-4);
    assert_memory_equal(out, x, sizeof x);
    for (size_t row = 0; row < ROWS; row++) {
        double least = 0, most = 0;
        float h[SPECTRAL_VIEWS][STEPS];

        for (size_t view = 0; view < SPECTRAL_VIEWS; view++)
            spectrum_forward(spectrum, 1, out + view * ALL + row * STEPS, h[view]);
        for (size_t k = 1; k < STEPS / 2; k++) {
            double size = hypot(h[0][k], h[0][STEPS - k]), turned;

            assert_near(hypot(h[1][k], h[1][STEPS - k]), k <= STEPS / 4 ? size : 0, 1e-5);
            assert_near(hypot(h[2][k], h[2][STEPS - k]), size, 1e-5);
            assert_true(fabs(h[2][k] - h[0][k]) > 1e-6);
            turned = remainder(atan2(h[2][STEPS - k], h[2][k]) - atan2(h[0][STEPS - k], h[0][k]),
                               2 * pi);
            assert_true(fabs(turned) < pi / 4 + 1e-4);
            least = fmin(least, turned);
            most = fmax(most, turned);
            assert_near(hypot(h[3][k], h[3][STEPS - k]), size, 0.05);
            assert_true(fabs(h[3][k] - h[0][k]) > 1e-7);
        }
        assert_true(least < -0.2 && most > 0.2);
    }
    spectrum_free(spectrum);
    spectral_views_free(&views);
}

static void the_low_pass_keeps_the_lower_half_of_an_even_number_of_frequencies(void **state)
{
    enum { STEPS = 14, BINS = 8 };
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    float x[STEPS], out[SPECTRAL_VIEWS * STEPS];
    struct spectral_views views;

    (void)state;
    assert_int_equal(spectrum_bins(STEPS), BINS);
    assert_ok(spectral_views_new(1, STEPS, &views));
    spectral_views_draw(&views, &stream);
    for (size_t k = 0; k < BINS; k++) {
        for (size_t t = 0; t < STEPS; t++)
            x[t] = (float)cos(2 * pi * (double)(k * t) / STEPS);
        spectral_views_apply(&views, x, out);
        for (size_t t = 0; t < STEPS; t++)
            assert_near(out[STEPS + t], k < BINS / 2 ? x[t] : 0, 1e-5);
    }
    spectral_views_free(&views);
}

/* ---- Augmentations ---- */

static void augmentations_are_affine_and_gradients_go_back(void **state)
{
    enum { SERIES = 3, CHANNELS = 2, STEPS = 20, ALL = SERIES * CHANNELS * STEPS };
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);
    float zero[ALL] = {0}, x[ALL], y[ALL], ax[ALL], a0[ALL], back[ALL];
    struct augmentation augmentation;

    (void)state;
    assert_ok(augmentation_new(CHANNELS, STEPS, &augmentation));
    for (size_t draw = 0; draw < 50; draw++)
        for (int kind = 0; kind <= AUGMENT_KINDS; kind++) {
            bool jitters = kind == AUGMENT_JITTER;

            fill_normal(&stream, x, ALL);
            fill_normal(&stream, y, ALL);
            augmentation_draw(&augmentation, (enum augmentation_kind)kind, 1, &stream);
            augmentation_apply(&augmentation, SERIES, x, ax);
            augmentation_apply(&augmentation, SERIES, zero, a0);
            augmentation_adjoint(&augmentation, SERIES, y, back);
            for (size_t i = 0; i < ALL; i++)
                ax[i] -= a0[i];
            assert_near(dot(ax, y, ALL), dot(x, back, ALL), 1e-5);
            assert_int_equal(memcmp(a0, zero, sizeof zero) != 0, jitters);
        }
    augmentation_free(&augmentation);
}

static void augmentations_do_what_they_are_called(void **state)
{
    enum { STEPS = 40 };
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);
    float ramp[STEPS], out[STEPS];
    struct augmentation a;

    (void)state;
    for (size_t t = 0; t < STEPS; t++)
        ramp[t] = (float)(t + 1);
    assert_ok(augmentation_new(1, STEPS, &a));
    augmentation_draw(&a, AUGMENT_FLIP, 1, &stream);
    augmentation_apply(&a, 1, ramp, out);
    for (size_t t = 0; t < STEPS; t++)
        assert_true(out[t] == ramp[STEPS - 1 - t]);
    for (size_t draw = 0; draw < 100; draw++) {
        size_t zeros = 0;

        augmentation_draw(&a, AUGMENT_CUTOUT, 1, &stream);
        augmentation_apply(&a, 1, ramp, out);
        for (size_t t = 0; t < STEPS; t++) {
            zeros += out[t] == 0;
            assert_true(out[t] == 0 || out[t] == ramp[t]);
        }
        assert_in_range(zeros, 1, STEPS / 4 + 1);
        augmentation_draw(&a, AUGMENT_CROP, 1, &stream);
        augmentation_apply(&a, 1, ramp, out);
        for (size_t t = 1; t < STEPS; t++)
            assert_near(out[t] - out[t - 1], out[1] - out[0], 1e-3);
        assert_true(out[0] >= 1 && out[STEPS - 1] <= STEPS + 1e-4 && out[1] - out[0] >= 0.79);
        augmentation_draw(&a, AUGMENT_SHIFT, 1, &stream);
        augmentation_apply(&a, 1, ramp, out);
        for (size_t t = 1; t < STEPS; t++)
            assert_true(out[t] == 0 || out[t - 1] == 0 || out[t] - out[t - 1] == 1);
        assert_true(fabs(out[STEPS / 2] - ramp[STEPS / 2]) <= STEPS / 8.0);
    }
    augmentation_free(&a);
}

static void jitter_and_scaling_have_the_size_they_say(void **state)
{
    enum { CHANNELS = 2, STEPS = 20, ALL = CHANNELS * STEPS, DRAWS = 200 };
    struct random_stream stream = random_stream(5, RANDOM_TEST, 1);
    float ones[ALL], out[ALL];
    double jitter = 0, scaling = 0;
    struct augmentation a;

    (void)state;
    for (size_t i = 0; i < ALL; i++)
        ones[i] = 1;
    assert_ok(augmentation_new(CHANNELS, STEPS, &a));
    for (size_t draw = 0; draw < DRAWS; draw++) {
        augmentation_draw(&a, AUGMENT_JITTER, 3, &stream);
        augmentation_apply(&a, 1, ones, out);
        for (size_t i = 0; i < ALL; i++)
            jitter += pow(out[i] - 1, 2) / (DRAWS * ALL);
        augmentation_draw(&a, AUGMENT_SCALE, 3, &stream);
        augmentation_apply(&a, 1, ones, out);
        for (size_t i = 0; i < ALL; i++) {
            assert_true(out[i] > 0 && out[i] == out[i / STEPS * STEPS]);
            scaling += pow(log(out[i]), 2) / (DRAWS * ALL);
        }
        assert_true(out[0] != out[STEPS]);
    }
    assert_true(fabs(sqrt(jitter) - 0.3) < 0.02);
    assert_true(fabs(sqrt(scaling) - 0.2) < 0.04);
    augmentation_free(&a);
}

/* ---- Distances ---- */

static void the_gradients_of_distances_are_their_slopes(void **state)
{
    struct random_stream stream = random_stream(6, RANDOM_TEST, 0);
    struct architecture architecture =
        small_network("cnn depth=1 width=3 channels=2 length=6 classes=2");
    float *real, *synthetic, *gradient, *unused;
    struct model model;

    (void)state;
    assert_ok(model_new(&architecture, true, &model));
    real = calloc(model.parameter_count, sizeof *real);
    synthetic = calloc(model.parameter_count, sizeof *real);
    gradient = calloc(model.parameter_count, sizeof *real);
    unused = calloc(model.parameter_count, sizeof *real);
    fill_normal(&stream, real, model.parameter_count);
    fill_normal(&stream, synthetic, model.parameter_count);
    gradient_distance(&model, real, synthetic, gradient);
    for (size_t i = 0; i < model.parameter_count; i++) {
        float here = synthetic[i];
        double up, down;

        synthetic[i] = here + 0.01f;
        up = gradient_distance(&model, real, synthetic, unused);
        synthetic[i] = here - 0.01f;
        down = gradient_distance(&model, real, synthetic, unused);
        synthetic[i] = here;
        assert_near((up - down) / 0.02, gradient[i], 1e-3);
    }
    /* Nothing to match where a gradient is zero, and nothing undefined. */
    memset(synthetic, 0, model.parameter_count * sizeof *synthetic);
    assert_true(isfinite(gradient_distance(&model, real, synthetic, gradient)));
    for (size_t i = 0; i < model.parameter_count; i++)
        assert_true(isfinite(gradient[i]));
    free(real);
    free(synthetic);
    free(gradient);
    free(unused);
    model_free(&model);
}

static void equal_gradients_and_means_are_no_distance_apart(void **state)
{
    struct architecture architecture =
        small_network("cnn depth=1 width=3 channels=2 length=6 classes=2");
    float points[] = {1, 2, 3, 4}, centre[] = {2, 3}, gradient[2], *same, *slope;
    struct model model;

    (void)state;
    assert_ok(model_new(&architecture, false, &model));
    same = calloc(model.parameter_count, sizeof *same);
    slope = calloc(model.parameter_count, sizeof *slope);
    for (size_t i = 0; i < model.parameter_count; i++)
        same[i] = (float)(i + 1);
    assert_near(gradient_distance(&model, same, same, slope), 0, 1e-5);
    assert_near(mean_distance(2, 2, points, 1, centre, gradient), 0, 1e-12);
    assert_near(gradient[0], 0, 1e-12);
    free(same);
    free(slope);
    model_free(&model);
}

/* ---- Trajectories: finite differences through everything, views and towers included ---- */

struct slope_test {
    struct model model;
    struct trajectory *trajectory;
    struct spectral_views views;
    bool picks; /* steps on three series of the four */
    float *start, *end;
    float x[4 * 2 * 8], dx[4 * 2 * 8];
    float targets[4 * 2], dtargets[4 * 2];
    double rate;
};

static double loss_of(struct slope_test *test, struct condensed *gradient)
{
    static const int32_t labels[] = {0, 0, 1, 1};
    static const size_t picks[] = {3, 0, 2, 1, 0, 2, 1, 3, 0, 3, 1, 2};
    struct condensed condensed = {test->x, test->targets, test->rate};
    struct trajectory_task task = {.start = test->start,
                                   .end = test->end,
                                   .labels = labels,
                                   .views = test->views.rows ? &test->views : NULL,
                                   .picks = test->picks ? picks : NULL};

    return trajectory_loss(test->trajectory, &task, &condensed, gradient);
}

/* The slope along a direction is what the gradient says. */
static void assert_slope(struct slope_test *test, float *values, const float *gradient,
                         size_t count, struct random_stream *stream)
{
    float unused_x[4 * 2 * 8], unused_targets[4 * 2], direction[4 * 2 * 8];
    struct condensed unused = {unused_x, unused_targets, 0};
    double up, down, step = 1e-3;

    fill_normal(stream, direction, count);
    for (size_t i = 0; i < count; i++)
        values[i] += (float)step * direction[i];
    up = loss_of(test, &unused);
    for (size_t i = 0; i < count; i++)
        values[i] -= 2 * (float)step * direction[i];
    down = loss_of(test, &unused);
    for (size_t i = 0; i < count; i++)
        values[i] += (float)step * direction[i];
    assert_near((up - down) / (2 * step), dot(gradient, direction, count), 2e-2);
}

static void check_slopes(bool two_towers, bool views, double weight, bool soft, bool picks,
                         const char *network)
{
    struct architecture architecture = small_network(network);
    struct trajectory_options options = {.steps = 4,
                                         .series = 4,
                                         .batch = picks ? 3 : 4,
                                         .views = views,
                                         .embedding_weight = weight,
                                         .loss = {soft ? LOSS_KL : LOSS_LABELS, 1, 1}};
    struct random_stream stream = random_stream(7, RANDOM_TEST, 0);
    struct slope_test test = {.rate = 0.1, .picks = picks};
    struct condensed gradient = {test.dx, test.dtargets, 0};
    float unused_x[4 * 2 * 8], unused_targets[4 * 2];
    struct condensed unused = {unused_x, unused_targets, 0};
    double up, down;

    assert_ok(model_new(&architecture, two_towers, &test.model));
    assert_ok(trajectory_new(&test.model, &options, &test.trajectory));
    test.start = calloc(test.model.parameter_count, sizeof *test.start);
    test.end = calloc(test.model.parameter_count, sizeof *test.end);
    model_initialise(&test.model, 1, 0, test.start, (float[64]){0});
    model_initialise(&test.model, 1, 1, test.end, (float[64]){0});
    fill_normal(&stream, test.x, 4 * 2 * 8);
    fill_normal(&stream, test.targets, 4 * 2);
    if (views) {
        assert_ok(spectral_views_new(4 * 2, 8, &test.views));
        spectral_views_draw(&test.views, &stream);
    }
    loss_of(&test, &gradient);
    for (size_t i = 0; i < 3; i++) {
        assert_slope(&test, test.x, test.dx, 4 * 2 * 8, &stream);
        if (soft)
            assert_slope(&test, test.targets, test.dtargets, 4 * 2, &stream);
    }
    test.rate = 0.101;
    up = loss_of(&test, &unused);
    test.rate = 0.099;
    down = loss_of(&test, &unused);
    assert_near((up - down) / 0.002, gradient.rate, 1e-2);
    spectral_views_free(&test.views);
    trajectory_free(test.trajectory);
    model_free(&test.model);
    free(test.start);
    free(test.end);
}

static void the_gradients_of_trajectories_are_their_slopes(void **state)
{
    static const char smooth[] =
        "cnn depth=2 width=4 norm=%s act=sigmoid pool=mean channels=2 length=8 classes=2";
    static const char *const norms[] = {"batch", "instance", "layer", "none"};

    (void)state;
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        char network[128];

        snprintf(network, sizeof network, smooth, norms[i]);
        check_slopes(false, false, 0, false, false, network);
        check_slopes(false, false, 0, true, false, network);
        check_slopes(true, true, 0.5, true, false, network);
        check_slopes(true, true, 0.5, true, true, network);
    }
}

/* ---- Batches ---- */

static struct dataset small_set(size_t count, size_t classes)
{
    struct random_stream stream = random_stream(8, RANDOM_TEST, 0);
    struct dataset dataset;

    assert_ok(dataset_new(count, 2, 8, classes, false, &dataset));
    fill_normal(&stream, dataset.x, count * 2 * 8);
    for (size_t i = 0; i < count; i++) {
        dataset.y[i] = (int32_t)(i % classes);
        dataset.x[i * 16] = (float)i; /* tells which one it is */
    }
    return dataset;
}

static void batches_hold_different_series_of_their_class(void **state)
{
    struct random_stream stream = random_stream(9, RANDOM_TEST, 0);
    struct dataset dataset = small_set(20, 3);
    struct class_lists lists;
    size_t scratch[7], drawn[20] = {0};
    float x[10 * 16];

    (void)state;
    assert_ok(class_lists_make(dataset.y, dataset.count, dataset.classes, &lists));
    assert_int_equal(lists.largest, 7);
    for (size_t draw = 0; draw < 300; draw++) {
        bool seen[20] = {false};

        assert_int_equal(draw_class(&dataset, &lists, 1, 4, &stream, scratch, x), 4);
        for (size_t i = 0; i < 4; i++) {
            size_t which = (size_t)x[i * 16];

            assert_int_equal(which % 3, 1);
            assert_false(seen[which]);
            assert_memory_equal(x + i * 16, dataset.x + which * 16, 16 * sizeof *x);
            seen[which] = true;
            drawn[which]++;
        }
    }
    for (size_t i = 1; i < 20; i += 3) /* 300 * 4 / 7 = 171 expected, deviation 9 */
        assert_in_range(drawn[i], 125, 220);
    assert_int_equal(draw_class(&dataset, &lists, 2, 10, &stream, scratch, x), 6);
    class_lists_free(&lists);
    dataset.y[0] = dataset.y[3] = 1;
    dataset.classes = 4;
    assert_ok(class_lists_make(dataset.y, dataset.count, dataset.classes, &lists));
    assert_int_equal(class_size(&lists, 1), 9);
    assert_int_equal(class_members(&lists, 1)[0], 0);
    assert_int_equal(class_lists_empty(&lists), 3);
    class_lists_free(&lists);
    dataset_free(&dataset);
}

/* ---- Experts ---- */

static void experts_come_back_from_their_file(void **state)
{
    struct dataset dataset = small_set(24, 2);
    struct expert_options options = expert_defaults();
    char path[] = "/tmp/test_match.XXXXXX";
    int descriptor = mkstemp(path);
    FILE *stream = fdopen(descriptor, "w");
    struct experts experts;
    struct model model;
    float *start;

    (void)state;
    assert_non_null(stream);
    options.architecture = small_network("cnn depth=1 width=3 channels=2 length=8 classes=2");
    options.two_towers = true;
    options.count = 3;
    options.epochs = 4;
    options.seed = 5;
    assert_ok(experts_train(&options, &dataset, "a note", stream));
    fclose(stream);
    assert_ok(experts_read(path, &experts));
    assert_int_equal(experts.count, 3);
    assert_int_equal(experts.epochs, 4);
    assert_true(experts.two_towers);
    assert_non_null(strstr(experts.text, "a note"));
    assert_ok(model_new(&options.architecture, true, &model));
    start = calloc(model.parameter_count, sizeof *start);
    model_initialise(&model, 5, 2, start, (float[64]){0});
    assert_int_equal(experts.parameters, model.parameter_count);
    assert_memory_equal(experts_point(&experts, 2, 0), start,
                        model.parameter_count * sizeof *start);
    assert_memory_not_equal(experts_point(&experts, 2, 4), start,
                            model.parameter_count * sizeof *start);
    free(start);
    model_free(&model);
    experts_free(&experts);
    unlink(path);
    dataset_free(&dataset);
}

/* Reads a file of that text and of `shape` floats that are 0 but for one. */
static struct error *read_made(const char *text, const size_t shape[3], float odd)
{
    char path[] = "/tmp/test_match.XXXXXX";
    FILE *stream = fdopen(mkstemp(path), "w");
    float *points = calloc(shape[0] * shape[1] * shape[2] + 1, sizeof *points);
    struct experts experts;
    struct error *error;

    assert_true(stream && points);
    points[shape[2] + 1] = odd;
    assert_int_equal(npy_write_strings(stream, &text, 0, 1, NULL), 0);
    assert_int_equal(npy_write_data(stream, NPY_FLOAT, 4, 3, shape, points, NULL), 0);
    fclose(stream);
    error = experts_read(path, &experts);
    experts_free(&experts);
    unlink(path);
    free(points);
    return error;
}

static void files_that_are_no_experts_are_refused_with_the_reason(void **state)
{
    /* 2 * 3 * 3 + 3 for the convolution, 6 for the norm, 3 * 4 * 2 + 2 for the last layer */
    static const char good[] = "cnn depth=1 width=3 channels=2 length=8 classes=2\ntowers=1\n";
    static const char seeing[] =
        "cnn depth=1 width=3 channels=2 length=8 classes=2 features=5\ntowers=1\n";
    enum { PARAMETERS = 21 + 6 + 26 };

    (void)state;
    assert_ok(read_made(good, (size_t[]){2, 3, PARAMETERS}, 1));
    assert_fails("expert 1, epoch 1: a parameter is not a number, or infinite",
                 read_made(good, (size_t[]){2, 3, PARAMETERS}, NAN));
    assert_fails("54 parameters, but the network has 53",
                 read_made(good, (size_t[]){2, 3, PARAMETERS + 1}, 1));
    assert_fails("experts have no shapelet features, these have 5",
                 read_made(seeing, (size_t[]){2, 3, PARAMETERS + 10}, 1));
    assert_fails("no expert that was trained", read_made(good, (size_t[]){2, 1, PARAMETERS}, 1));
    assert_fails("not a file of experts",
                 read_made("something else", (size_t[]){2, 3, PARAMETERS}, 1));
}

static void two_towers_share_the_bound_of_their_last_layer(void **state)
{
    struct architecture architecture =
        small_network("cnn depth=1 width=8 channels=1 length=64 classes=10");
    const struct network_view *weight, *bias;
    struct model model;
    bool in_buffers;
    float *parameters, *next, *towers[4], largest = 0, bound;

    (void)state;
    assert_ok(model_new(&architecture, true, &model));
    parameters = calloc(model.parameter_count, sizeof *parameters);
    model_initialise(&model, 1, 0, parameters, (float[64]){0});
    weight = network_find(model.network, "classifier.weight", &in_buffers);
    bias = network_find(model.network, "classifier.bias", &in_buffers);
    for (size_t i = 0; i < weight->count; i++)
        largest = fmaxf(largest, fabsf(parameters[weight->offset + i]));
    bound = 1 / sqrtf((float)model.embedding);
    assert_true(largest <= bound && largest > 0.98f * bound);
    for (size_t i = 0; i < bias->count; i++)
        assert_true(parameters[model.network->parameter_count + bias->offset + i] == 0);
    /* No two towers begin alike, of this model or of the next. */
    next = calloc(model.parameter_count, sizeof *next);
    model_initialise(&model, 1, 1, next, (float[64]){0});
    towers[0] = parameters, towers[1] = parameters + model.network->parameter_count;
    towers[2] = next, towers[3] = next + model.network->parameter_count;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(towers[i][weight->offset] != towers[j][weight->offset]);
    }
    free(next);
    free(parameters);
    model_free(&model);
}

/* ---- The loop ---- */

static struct error *condense(const struct dataset *dataset, struct match_options *options)
{
    struct match_result result;
    struct dataset condensed;
    struct error *error;

    options->architecture =
        small_network("cnn depth=1 width=3 norm=none channels=2 length=8 classes=2");
    options->per_class = 1;
    match_fill_in(options, dataset->classes);
    error = match_condense(options, dataset, &condensed, &result);
    dataset_free(&condensed);
    return error;
}

static void series_that_the_last_step_makes_infinite_are_an_error(void **state)
{
    struct dataset dataset = small_set(20, 2);
    struct match_options options = match_unset();

    (void)state;
    for (size_t i = 0; i < 20 * 2 * 8; i++)
        dataset.x[i] *= 1e12f;
    options.method = &method_dm;
    options.optimiser = MATCH_SGD;
    match_set(&options, "steps", 1);
    match_set(&options, "rate", 1e30);
    assert_fails("step 1: what is learned is no longer a number; a smaller --rate than 1e+30",
                 condense(&dataset, &options));
    match_set(&options, "rate", 1e-30);
    assert_ok(condense(&dataset, &options));
    dataset_free(&dataset);
}

static void copies_are_no_places_to_start_from(void **state)
{
    enum { SERIES = 2 * 8, EACH = 4 };
    struct dataset dataset = small_set(40, 2), condensed;
    struct match_options options = match_unset();
    struct match_result result;

    (void)state;
    for (size_t i = 7; i < 40; i += 2) /* class 1 has three series, and copies of the last */
        memcpy(dataset.x + i * SERIES, dataset.x + 5 * SERIES, SERIES * sizeof *dataset.x);
    options.architecture =
        small_network("cnn depth=1 width=3 norm=none channels=2 length=8 classes=2");
    options.per_class = EACH;
    match_set(&options, "steps", 0);
    match_fill_in(&options, dataset.classes);
    assert_ok(match_condense(&options, &dataset, &condensed, &result));
    assert_int_equal(result.repeated, 1);
    for (size_t i = 0; i < EACH; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(condensed.x + (EACH + i) * SERIES,
                                    condensed.x + (EACH + j) * SERIES, SERIES * sizeof *dataset.x);
    dataset_free(&condensed);
    dataset_free(&dataset);
}

static void many_series_are_refined_with_smaller_steps(void **state)
{
    static const struct {
        size_t per_class, from;
        double rate, label_rate;
    } cases[] = {{25, 0, 0.02, 0.05}, {50, 0, 0.01, 0.025}, {25, 400, 0.005, 0.0125}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct dataset from = {.count = cases[i].from};
        struct match_options options = match_unset(), other = options;

        options.method = &method_unroll;
        other.method = &method_mtt;
        options.per_class = other.per_class = cases[i].per_class;
        options.from = from.count ? &from : NULL;
        match_fill_in(&options, 4);
        match_fill_in(&other, 4);
        assert_near(match_value(&options, "rate"), cases[i].rate, 1e-12);
        assert_near(match_value(&options, "label-rate"), cases[i].label_rate, 1e-12);
        assert_near(match_value(&other, "rate"), 0.02, 1e-12);
    }
}

static void a_batch_takes_no_more_memory_than_the_series_there_are(void **state)
{
    struct dataset dataset = small_set(20, 2);
    struct match_options options = match_unset();

    (void)state;
    options.method = &method_dc;
    match_set(&options, "steps", 1);
    match_set(&options, "batch", 1e12);
    assert_ok(condense(&dataset, &options));
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spectrum_is_the_fourier_transform),
        cmocka_unit_test(gradients_go_back_through_spectra),
        cmocka_unit_test(a_filter_multiplies_each_frequency),
        cmocka_unit_test(views_are_what_they_are_called),
        cmocka_unit_test(the_low_pass_keeps_the_lower_half_of_an_even_number_of_frequencies),
        cmocka_unit_test(augmentations_are_affine_and_gradients_go_back),
        cmocka_unit_test(augmentations_do_what_they_are_called),
        cmocka_unit_test(jitter_and_scaling_have_the_size_they_say),
        cmocka_unit_test(the_gradients_of_distances_are_their_slopes),
        cmocka_unit_test(equal_gradients_and_means_are_no_distance_apart),
        cmocka_unit_test(the_gradients_of_trajectories_are_their_slopes),
        cmocka_unit_test(batches_hold_different_series_of_their_class),
        cmocka_unit_test(experts_come_back_from_their_file),
        cmocka_unit_test(files_that_are_no_experts_are_refused_with_the_reason),
        cmocka_unit_test(two_towers_share_the_bound_of_their_last_layer),
        cmocka_unit_test(series_that_the_last_step_makes_infinite_are_an_error),
        cmocka_unit_test(copies_are_no_places_to_start_from),
        cmocka_unit_test(many_series_are_refined_with_smaller_steps),
        cmocka_unit_test(a_batch_takes_no_more_memory_than_the_series_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
