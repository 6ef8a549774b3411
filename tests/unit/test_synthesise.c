/* Synthesis: the objective and the optimisation against PyTorch (tests/golden/synthesis.py), the
 * slope against differences, starts against what is promised of them. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "condense/synthesise.h"
#include "nn/backend.h"
#include "formats/npy-c/npy-c.h"
#include "formats/slp.h"
#include "support/golden.h"

enum { CLASSES = 3, ROUNDS = 3, SERIES = ROUNDS * CLASSES, CHANNELS = 2, LENGTH = 20, STEPS = 12 };
enum { FLOATS = CHANNELS * LENGTH };

/* ---- Counting allocations (not under a sanitizer, which has its own malloc) ---- */

static size_t allocations;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
#else
#define COUNTS_ALLOCATIONS 0
#endif

/* ---- The golden teacher, pool and series ---- */

struct fixture {
    struct teacher teacher;
    struct shapelet_pool pool;
    struct transform transform;
    struct guide guide;
    npy_reader *golden;
    struct npy_array start; /* (SERIES, C, L), rounds of one series for each class */
    struct dataset dataset; /* the same series */
    int32_t labels[SERIES];
};

static struct npy_array next_array(struct fixture *f)
{
    struct npy_error error;
    struct npy_array array;

    assert_int_equal(npy_next(f->golden, &array, &error), 1);
    return array;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct npy_error error;

    *state = f;
    assert_ok(teacher_read(golden_path("synthesis.tch"), backend_cpu(), &f->teacher));
    assert_ok(slp_read(golden_path("synthesis.slp"), &f->pool));
    assert_ok(transform_make(&f->pool, CHANNELS, LENGTH, TRANSFORM_AS_FOUND, &f->transform));
    assert_ok(guide_from_teacher(&f->teacher, &f->guide));
    f->golden = npy_open(golden_path("synthesis.npy"), &error);
    assert_non_null(f->golden);
    f->start = next_array(f);
    assert_int_equal(f->start.count, SERIES * FLOATS);
    assert_ok(dataset_new(SERIES, CHANNELS, LENGTH, CLASSES, false, &f->dataset));
    memcpy(f->dataset.x, f->start.data, SERIES * FLOATS * sizeof *f->dataset.x);
    for (int i = 0; i < SERIES; i++)
        f->labels[i] = f->dataset.y[i] = i % CLASSES;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    guide_close(&f->guide);
    transform_free(&f->transform);
    slp_free(&f->pool);
    teacher_free(&f->teacher);
    npy_array_free(&f->start);
    npy_close(f->golden);
    dataset_free(&f->dataset);
    free(f);
    parallel_set_threads(0);
    return 0;
}

/* The largest difference beside the largest value. */
static void compare(struct fixture *f, const float *values, size_t count, double tolerance)
{
    struct npy_array array = next_array(f);
    const float *expected = array.data;
    double largest = 1e-3, distance = 0;

    assert_int_equal(array.count, count);
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)expected[i]));
        distance = fmax(distance, fabs((double)expected[i] - (double)values[i]));
        assert_false(isnan(values[i]));
    }
    npy_array_free(&array);
    assert_true(distance <= tolerance * largest);
}

/* A seed that draws the golden series in their own order. */
static uint64_t seed_of_golden_order(const struct fixture *f)
{
    float x[SERIES * FLOATS];
    size_t repeated;

    for (uint64_t seed = 0; seed < 20000; seed++) {
        assert_ok(start_series(
            &f->dataset,
            &(struct start_options){.kind = START_REAL, .per_class = ROUNDS, .seed = seed}, x,
            &repeated));
        assert_int_equal(repeated, 0);
        if (memcmp(x, f->start.data, sizeof x) == 0)
            return seed;
    }
    fail_msg("no seed draws the series in their order");
    return 0;
}

static struct synthesis_options golden_options(bool squared, bool by_round, uint64_t seed)
{
    struct synthesis_options options = synthesis_defaults();

    options.per_class = ROUNDS;
    options.steps = STEPS;
    options.rate = 0.05;
    options.by_round = by_round;
    options.objective.matching.squared = squared;
    options.seed = seed;
    return options;
}

static void check_objective(struct fixture *f, const struct synthesis_options *options)
{
    size_t batches = options->by_round ? ROUNDS : 1, batch = SERIES / batches;
    float logits[SERIES * CLASSES], dx[SERIES * FLOATS], values[ROUNDS * 3];
    struct objective objective;

    assert_ok(objective_make(&options->objective, &f->guide, &f->transform, 1, batch, &objective));
    for (size_t b = 0; b < batches; b++) {
        struct objective_value value;

        assert_ok(objective_evaluate(&objective, 0, batch, f->dataset.x + b * batch * FLOATS,
                                     f->labels, logits + b * batch * CLASSES,
                                     dx + b * batch * FLOATS, &value));
        values[3 * b] = (float)value.loss;
        values[3 * b + 1] = (float)value.cross_entropy;
        values[3 * b + 2] = (float)value.distance;
    }
    compare(f, values, batches * 3, 5e-6);
    compare(f, logits, SERIES * CLASSES, 5e-6);
    compare(f, dx, batches * batch * FLOATS, 2e-5);
    objective_free(&objective);
}

/* Condensed series come class by class, golden ones round by round. */
static void by_rounds(const struct dataset *condensed, float *x, float *logits)
{
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t label = 0; label < CLASSES; label++) {
            size_t to = round * CLASSES + label, from = label * ROUNDS + round;

            assert_int_equal(condensed->y[from], label);
            memcpy(x + to * FLOATS, condensed->x + from * FLOATS, FLOATS * sizeof *x);
            memcpy(logits + to * CLASSES, condensed->soft + from * CLASSES,
                   CLASSES * sizeof *logits);
        }
}

static void check_optimisation(struct fixture *f, const struct synthesis_options *options)
{
    size_t batches = options->by_round ? ROUNDS : 1;
    float x[SERIES * FLOATS], logits[SERIES * CLASSES];
    struct npy_array best = next_array(f);
    double mean = 0;
    struct dataset condensed;
    struct synthesis_result result;

    assert_ok(synthesise(options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
    assert_int_equal(best.count, batches);
    for (size_t b = 0; b < batches; b++)
        mean += (double)((float *)best.data)[b] / (double)batches;
    assert_near(result.best.loss, mean, 2e-5);
    by_rounds(&condensed, x, logits);
    compare(f, x, SERIES * FLOATS, 2e-4);
    compare(f, logits, SERIES * CLASSES, 2e-4);
    npy_array_free(&best);
    dataset_free(&condensed);
}

static void objective_gradient_and_optimised_series_are_pytorchs(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = seed_of_golden_order(f);

    for (int squared = 0; squared < 2; squared++)
        for (int by_round = 0; by_round < 2; by_round++) {
            struct synthesis_options options = golden_options(squared, by_round, seed);

            check_objective(f, &options);
            check_optimisation(f, &options);
        }
}

/* ---- Differences ---- */

static double loss_at(const struct objective *objective, const float *x)
{
    float logits[4 * CLASSES], dx[4 * FLOATS];
    const int32_t labels[4] = {0, 1, 2, 1};
    struct objective_value value;

    assert_ok(objective_evaluate(objective, 0, 4, x, labels, logits, dx, &value));
    return value.loss;
}

static void check_slope(struct fixture *f, bool squared)
{
    struct objective_options options = objective_defaults();
    struct random_stream stream = random_stream(2, RANDOM_TEST, squared);
    float x[4 * FLOATS], moved[4 * FLOATS], dx[4 * FLOATS], logits[4 * CLASSES];
    const int32_t labels[4] = {0, 1, 2, 1};
    struct objective objective;
    struct objective_value value;
    struct architecture smooth;
    struct teacher teacher;
    struct guide guide;
    const double step = 4e-3;

    /* No kinks, so that differences mean something. */
    assert_ok(architecture_parse("cnn depth=2 width=4 act=sigmoid pool=mean channels=2 length=20 "
                                 "classes=3 features=4",
                                 &smooth));
    assert_ok(teacher_new(&smooth, backend_cpu(), &teacher));
    network_initialise(teacher.network, 1, 0, teacher.parameters, teacher.buffers);
    assert_ok(guide_from_teacher(&teacher, &guide));
    options.matching.squared = squared;
    options.matching.weight = 0.3;
    assert_ok(objective_make(&options, &guide, &f->transform, 1, 4, &objective));
    for (size_t i = 0; i < 4 * FLOATS; i++)
        x[i] = (float)random_normal(&stream);
    assert_ok(objective_evaluate(&objective, 0, 4, x, labels, logits, dx, &value));
    for (size_t i = 0; i < 4 * FLOATS; i += 7) {
        double higher, lower;

        memcpy(moved, x, sizeof x);
        moved[i] = x[i] + (float)step;
        higher = loss_at(&objective, moved);
        moved[i] = x[i] - (float)step;
        lower = loss_at(&objective, moved);
        assert_near((higher - lower) / (2 * step), dx[i], 4e-4);
    }
    objective_free(&objective);
    guide_close(&guide);
    teacher_free(&teacher);
}

static void the_gradient_is_the_slope_of_the_loss(void **state)
{
    check_slope(*state, false);
    check_slope(*state, true);
}

/* ---- The optimisation ---- */

static void a_longer_run_ends_lower_and_keeps_the_teachers_logits(void **state)
{
    struct fixture *f = *state;
    struct synthesis_options options = golden_options(false, false, 1);
    struct synthesis_result result, start;
    struct dataset condensed, kept;

    options.steps = 300;
    assert_ok(synthesise(&options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
    assert_true(result.best.loss < 0.5 * result.first.loss);
    /* No steps at all: what was condensed comes back with its logits. */
    options.steps = 0;
    assert_ok(synthesise(&options, &condensed, &f->guide, &f->transform, &kept, &start));
    assert_near(start.first.loss, result.best.loss, 1e-6);
    for (size_t i = 0; i < SERIES; i++) {
        bool found = false;

        for (size_t j = 0; j < SERIES; j++)
            found |= memcmp(kept.x + i * FLOATS, condensed.x + j * FLOATS,
                            FLOATS * sizeof *kept.x) == 0 &&
                     memcmp(kept.soft + i * CLASSES, condensed.soft + j * CLASSES,
                            CLASSES * sizeof *kept.soft) == 0;
        assert_true(found);
    }
    dataset_free(&kept);
    dataset_free(&condensed);
}

static void results_do_not_depend_on_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    struct fixture *f = *state;

    for (int by_round = 0; by_round < 2; by_round++) {
        struct synthesis_options options = golden_options(false, by_round, 3);
        struct dataset first, other;
        struct synthesis_result result;

        options.per_class = 11;
        for (size_t i = 0; i < 3; i++) {
            struct transform transform;

            parallel_set_threads(threads[i]);
            assert_ok(transform_make(&f->pool, CHANNELS, LENGTH, TRANSFORM_AS_FOUND, &transform));
            assert_ok(synthesise(&options, &f->dataset, &f->guide, &transform, i ? &other : &first,
                                 &result));
            transform_free(&transform);
            if (i == 0)
                continue;
            assert_memory_equal(first.x, other.x, 11 * CLASSES * FLOATS * sizeof *first.x);
            assert_memory_equal(first.soft, other.soft,
                                11 * CLASSES * CLASSES * sizeof *first.soft);
            dataset_free(&other);
        }
        dataset_free(&first);
    }
}

struct watch {
    size_t calls, last_done, first_allocations, last_allocations;
};

static void watch_step(void *context, size_t done, size_t total, double loss)
{
    struct watch *watch = context;

    if (watch->calls++ == 2)
        watch->first_allocations = allocations;
    watch->last_allocations = allocations;
    assert_true(done == watch->last_done + 1 && done <= total && isfinite(loss));
    watch->last_done = done;
}

static void a_step_allocates_nothing_and_every_step_is_reported(void **state)
{
    struct fixture *f = *state;
    struct watch watch = {0};
    struct synthesis_options options = golden_options(false, true, 3);
    struct synthesis_result result;
    struct dataset condensed;

    parallel_set_threads(1);
    options.progress = watch_step;
    options.context = &watch;
    assert_ok(synthesise(&options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
    assert_int_equal(watch.calls, ROUNDS * (STEPS + 1));
    if (COUNTS_ALLOCATIONS) {
        assert_true(watch.first_allocations > 0);
        assert_int_equal(watch.first_allocations, watch.last_allocations);
    }
    dataset_free(&condensed);
}

static void a_run_that_diverges_says_so(void **state)
{
    struct fixture *f = *state;
    struct synthesis_options options = golden_options(true, true, 3);
    struct synthesis_result result;
    struct dataset condensed;

    options.rate = 1e30;
    options.steps = 50;
    assert_fails("a smaller learning rate than 1e+30 may help",
                 synthesise(&options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
    f->dataset.x[0] = 3e38f;
    assert_fails("the loss of the first series is not a number",
                 synthesise(&options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
}

static void what_does_not_fit_together_is_refused(void **state)
{
    struct fixture *f = *state;
    struct synthesis_options options = golden_options(false, false, 1);
    struct synthesis_result result;
    struct dataset condensed, other;

    assert_fails("trained with 4 shapelets: give the same pool",
                 synthesise(&options, &f->dataset, &f->guide, NULL, &condensed, &result));
    f->transform.count = 3;
    assert_fails("trained with 4 shapelets, the pool has 3",
                 synthesise(&options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
    f->transform.count = 4;
    assert_ok(dataset_new(3, CHANNELS, LENGTH + 1, CLASSES, false, &other));
    assert_fails("for series of 2 channels and 20 steps, these have 2 and 21",
                 synthesise(&options, &other, &f->guide, &f->transform, &condensed, &result));
    dataset_free(&other);
    assert_ok(dataset_new(3, CHANNELS, LENGTH, 2, false, &other));
    assert_fails("knows 3 classes, the dataset has 2",
                 synthesise(&options, &other, &f->guide, &f->transform, &condensed, &result));
    dataset_free(&other);
    for (size_t i = 0; i < SERIES; i++)
        f->dataset.y[i] %= 2;
    assert_fails("class 2 has no series",
                 synthesise(&options, &f->dataset, &f->guide, &f->transform, &condensed, &result));
}

/* ---- Starts ---- */

static bool is_of_class(const struct dataset *dataset, const float *x, int32_t label)
{
    for (size_t i = 0; i < dataset->count; i++)
        if (dataset->y[i] == label && memcmp(dataset->x + i * FLOATS, x, FLOATS * sizeof *x) == 0)
            return true;
    return false;
}

static bool all_distinct(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (memcmp(x + i * FLOATS, x + j * FLOATS, FLOATS * sizeof *x) == 0)
                return false;
    return true;
}

static void real_starts_are_distinct_series_of_the_class(void **state)
{
    struct fixture *f = *state;
    float x[5 * CLASSES * FLOATS];
    size_t repeated;

    /* Two of class 0 are the same: only two distinct ones are left. */
    memcpy(f->dataset.x + 3 * FLOATS, f->dataset.x, FLOATS * sizeof *x);
    assert_ok(start_series(&f->dataset,
                           &(struct start_options){.kind = START_REAL, .per_class = 5, .seed = 7},
                           x, &repeated));
    assert_int_equal(repeated, 3 + 2 + 2);
    assert_true(all_distinct(x, 5 * CLASSES));
    for (size_t i = 0; i < 5 * CLASSES; i++) {
        size_t distinct = i % CLASSES == 0 ? 2 : 3;

        assert_true(is_of_class(&f->dataset, x + i * FLOATS, (int32_t)(i % CLASSES)) ==
                    (i / CLASSES < distinct));
    }
    /* Repeats are near what they repeat, wherever that is. */
    for (size_t t = 0; t < FLOATS; t++)
        assert_true(fabsf(x[2 * CLASSES * FLOATS + t] - x[t]) < 0.6f);
    for (size_t i = 0; i < SERIES * FLOATS; i++)
        f->dataset.x[i] += 100;
    assert_ok(start_series(&f->dataset,
                           &(struct start_options){.kind = START_REAL, .per_class = 5, .seed = 7},
                           x, &repeated));
    for (size_t t = 0; t < FLOATS; t++)
        assert_true(fabsf(x[2 * CLASSES * FLOATS + t] - x[t]) < 0.6f);
}

/* A teacher that must not be asked about one series twice. */
static struct error *answer_distinct(void *context, size_t count, const float *x, float *features,
                                     float *logits)
{
    size_t *asked = context;

    *asked = count;
    assert_true(all_distinct(x, count));
    for (size_t i = 0; i < 2 * count; i++)
        features[i] = sinf((float)(7 * i + 1));
    for (size_t i = 0; i < CLASSES * count; i++)
        logits[i] = cosf((float)(5 * i + 2));
    return NULL;
}

static void copies_are_no_candidates_of_ridge_starts(void **state)
{
    struct fixture *f = *state;
    float x[2 * CLASSES * FLOATS];
    size_t repeated, asked = 0;
    struct start_teacher teacher = {2, answer_distinct, &asked};

    memcpy(f->dataset.x + 3 * FLOATS, f->dataset.x, FLOATS * sizeof *x);
    assert_ok(start_ridge(&f->dataset, &teacher,
                          &(struct start_options){.kind = START_RIDGE, .per_class = 2, .seed = 7},
                          x, &repeated));
    assert_int_equal(asked, SERIES - 1);
    assert_int_equal(repeated, 0);
    assert_true(all_distinct(x, 2 * CLASSES));
}

static void ridge_starts_do_not_depend_on_the_size_of_a_batch(void **state)
{
    enum { CANDIDATES = 60 };
    struct fixture *f = *state;
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    struct synthesis_options options = golden_options(false, false, 1);
    struct dataset dataset, condensed[2];
    struct synthesis_result result;

    assert_ok(dataset_new(CANDIDATES, CHANNELS, LENGTH, CLASSES, false, &dataset));
    for (size_t i = 0; i < CANDIDATES; i++) {
        dataset.y[i] = (int32_t)(i % CLASSES);
        for (size_t j = 0; j < FLOATS; j++)
            dataset.x[i * FLOATS + j] = (float)random_normal(&stream);
    }
    options.start = START_RIDGE;
    options.steps = 0;
    for (int by_round = 0; by_round < 2; by_round++) {
        options.by_round = by_round;
        assert_ok(synthesise(&options, &dataset, &f->guide, &f->transform, &condensed[by_round],
                             &result));
    }
    assert_memory_equal(condensed[0].x, condensed[1].x, SERIES * FLOATS * sizeof(float));
    dataset_free(&condensed[0]);
    dataset_free(&condensed[1]);
    dataset_free(&dataset);
}

static void fewer_rounds_start_from_the_first_of_more(void **state)
{
    struct fixture *f = *state;
    float few[2 * CLASSES * FLOATS], many[5 * CLASSES * FLOATS];
    size_t repeated;

    assert_ok(start_series(&f->dataset,
                           &(struct start_options){.kind = START_REAL, .per_class = 2, .seed = 7},
                           few, &repeated));
    assert_ok(start_series(&f->dataset,
                           &(struct start_options){.kind = START_REAL, .per_class = 5, .seed = 7},
                           many, &repeated));
    assert_memory_equal(few, many, sizeof few);
}

static void one_centre_is_the_mean_of_the_class(void **state)
{
    struct fixture *f = *state;
    float x[4 * CLASSES * FLOATS];
    size_t repeated;

    assert_ok(start_series(&f->dataset,
                           &(struct start_options){.kind = START_KMEANS, .per_class = 1, .seed = 7},
                           x, &repeated));
    for (size_t label = 0; label < CLASSES; label++)
        for (size_t t = 0; t < FLOATS; t++) {
            double mean = 0;

            for (size_t round = 0; round < ROUNDS; round++)
                mean += (double)f->dataset.x[(round * CLASSES + label) * FLOATS + t] / ROUNDS;
            assert_near(x[label * FLOATS + t], mean, 1e-6);
        }
    /* As many clusters as series: each is its own centre, and the fourth is a repeat. */
    assert_ok(start_series(&f->dataset,
                           &(struct start_options){.kind = START_KMEANS, .per_class = 4, .seed = 7},
                           x, &repeated));
    assert_int_equal(repeated, CLASSES);
    assert_true(all_distinct(x, 4 * CLASSES));
    for (size_t i = 0; i < SERIES; i++)
        assert_true(is_of_class(&f->dataset, x + i * FLOATS, (int32_t)(i % CLASSES)));
}

static void noise_has_the_mean_and_deviation_of_each_channel(void **state)
{
    enum { MANY = 200 };
    struct fixture *f = *state;
    float *x = calloc(MANY * CLASSES * FLOATS, sizeof *x);
    size_t repeated;

    for (size_t i = 0; i < SERIES; i++) /* channel 1 is 10 + 3 noise */
        for (size_t t = 0; t < LENGTH; t++)
            f->dataset.x[(i * CHANNELS + 1) * LENGTH + t] =
                10 + 3 * f->dataset.x[(i * CHANNELS + 1) * LENGTH + t];
    for (size_t i = 0; i < SERIES; i++) /* and class 2 is not needed */
        f->dataset.y[i] %= 2;
    assert_ok(start_series(
        &f->dataset, &(struct start_options){.kind = START_NOISE, .per_class = MANY, .seed = 7}, x,
        &repeated));
    for (size_t c = 0; c < CHANNELS; c++) {
        double sum[2] = {0}, squares[2] = {0}, n[2] = {MANY * CLASSES * LENGTH, SERIES * LENGTH};

        for (int s = 0; s < 2; s++) {
            const float *series = s ? f->dataset.x : x;
            size_t count = s ? SERIES : MANY * CLASSES;

            for (size_t i = 0; i < count; i++)
                for (size_t t = 0; t < LENGTH; t++) {
                    double value = (double)series[(i * CHANNELS + c) * LENGTH + t];

                    sum[s] += value / n[s];
                    squares[s] += value * value / n[s];
                }
        }
        assert_near(sum[0], sum[1], 0.03);
        assert_near(sqrt(squares[0] - sum[0] * sum[0]), sqrt(squares[1] - sum[1] * sum[1]), 0.05);
    }
    free(x);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(objective_gradient_and_optimised_series_are_pytorchs),
        TEST(the_gradient_is_the_slope_of_the_loss),
        TEST(a_longer_run_ends_lower_and_keeps_the_teachers_logits),
        TEST(results_do_not_depend_on_threads),
        TEST(a_step_allocates_nothing_and_every_step_is_reported),
        TEST(a_run_that_diverges_says_so),
        TEST(what_does_not_fit_together_is_refused),
        TEST(real_starts_are_distinct_series_of_the_class),
        TEST(fewer_rounds_start_from_the_first_of_more),
        TEST(copies_are_no_candidates_of_ridge_starts),
        TEST(ridge_starts_do_not_depend_on_the_size_of_a_batch),
        TEST(one_centre_is_the_mean_of_the_class),
        TEST(noise_has_the_mean_and_deviation_of_each_channel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
