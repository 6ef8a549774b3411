/* Students: they learn, alike for any number of threads, and say what is wrong. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "eval/student.h"
#include "nn/backend.h"

enum { SERIES = 90, STEPS = 16, CLASSES = 3, FEATURES = 2, SEEDS = 3 };

struct fixture {
    float x[SERIES * STEPS], features[SERIES * FEATURES], soft[SERIES * CLASSES];
    int32_t labels[SERIES];
    struct tensor_dataset few, many; /* 30 to learn from, 60 to be tested on */
    struct student_options options;
    struct score scores[SEEDS];
};

static struct tensor_dataset part(struct fixture *f, size_t first, size_t count)
{
    return (struct tensor_dataset){.count = count,
                                   .x = f->x + first * STEPS,
                                   .features = f->features + first * FEATURES,
                                   .labels = f->labels + first,
                                   .targets = f->soft + first * CLASSES};
}

/* Classes that lie on either side of planes: the level of the first half, and of the second. */
static void set_up(struct fixture *f, const char *text)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, 1);

    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < SERIES; i++) {
        f->labels[i] = (int32_t)(i % CLASSES);
        for (size_t t = 0; t < STEPS; t++)
            f->x[i * STEPS + t] = (float)(0.3 * random_normal(&stream) +
                                          ((t < STEPS / 2) == (i % CLASSES == 0) ? 1.5 : -1.5) *
                                              (i % CLASSES == 2 ? 0 : 1));
        for (size_t k = 0; k < FEATURES; k++)
            f->features[i * FEATURES + k] = (float)random_normal(&stream);
    }
    assert_ok(architecture_parse(text, &f->options.architecture));
    f->options.architecture.channels = 1;
    f->options.architecture.length = STEPS;
    f->options.architecture.classes = CLASSES;
    f->options.train = train_defaults();
    f->options.train.epochs = 60;
    f->options.train.batch = 15;
    f->options.train.optimiser.rate = 1e-2;
    f->options.seeds = SEEDS;
    f->few = part(f, 0, 30);
    f->many = part(f, 30, 60);
}

static void tear_down(struct fixture *f)
{
    for (size_t i = 0; i < SEEDS; i++)
        score_free(&f->scores[i]);
}

static void classes_that_are_easy_to_tell_apart_are_learned(void **state)
{
    static const char *const texts[] = {"cnn depth=2 width=8", "cnn depth=1 width=8 norm=instance",
                                        "cnn depth=2 width=8 norm=none act=leaky pool=mean"};
    struct fixture f;

    (void)state;
    for (size_t n = 0; n < 3; n++) {
        set_up(&f, texts[n]);
        assert_ok(students_train(&f.options, &f.few, NULL, &f.many, f.scores));
        for (size_t i = 0; i < SEEDS; i++) {
            assert_true(f.scores[i].accuracy > 0.95);
            assert_int_equal(f.scores[i].training.best_epoch, 60);
        }
        tear_down(&f);
    }
}

/* Labels by a network that was never trained: nothing but its logits says what it does. */
static void ask_stranger(struct fixture *f)
{
    struct network *network;
    struct pass *pass;
    float *parameters, *buffers;
    struct tensor_dataset all = part(f, 0, SERIES);

    assert_ok(network_new(&f->options.architecture, backend_cpu(), &network));
    parameters = calloc(network->parameter_count, sizeof *parameters);
    buffers = calloc(network->buffer_count + 1, sizeof *buffers);
    network_initialise(network, 77, 0, parameters, buffers);
    assert_ok(pass_new(network, SERIES, 0, &pass));
    assert_ok(network_predict(pass, parameters, buffers, &all, f->soft, NULL));
    for (size_t i = 0; i < SERIES; i++) {
        f->labels[i] = 0;
        for (int32_t c = 1; c < CLASSES; c++)
            if (f->soft[i * CLASSES + (size_t)c] > f->soft[i * CLASSES + (size_t)f->labels[i]])
                f->labels[i] = c;
    }
    pass_free(pass);
    network_free(network);
    free(parameters);
    free(buffers);
}

static void a_student_of_soft_labels_comes_to_agree_with_its_teacher(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, "cnn depth=1 width=8");
    ask_stranger(&f);
    f.few = part(&f, 0, 60);
    f.many = part(&f, 60, 30);
    memset(f.labels, 0, 60 * sizeof *f.labels); /* what it must not learn from */
    f.options.train.epochs = 150;
    f.options.train.loss = student_loss(true, 4);
    assert_ok(students_train(&f.options, &f.few, NULL, &f.many, f.scores));
    for (size_t i = 0; i < SEEDS; i++) {
        assert_true(f.scores[i].accuracy >= 0.9);
        assert_true(f.scores[i].training.loss < 1e-2);
    }
    tear_down(&f);
}

static void many_classes_with_views_are_learned_at_a_temperature_of_1(void **state)
{
    (void)state;
    assert_true(student_temperature(true, 20) == 4);
    assert_true(student_temperature(true, 21) == 1);
    assert_true(student_temperature(false, 21) == 4);
}

/* For a high temperature the divergence times T^2 tends to |t - l|^2 / 2V, both centred. */
static void the_soft_loss_keeps_its_size_when_the_temperature_rises(void **state)
{
    static const float logits[] = {1, -2, 0.5f, 0, 3, 1}, targets[] = {0, 1, 2, -1, 0, 4};
    struct targets t = {NULL, targets};
    struct loss loss = student_loss(true, 300);
    double expected = 0;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double mean = 0, squares = 0;

        for (size_t c = 0; c < 3; c++)
            mean += (double)(targets[i * 3 + c] - logits[i * 3 + c]) / 3;
        for (size_t c = 0; c < 3; c++)
            squares += pow((double)(targets[i * 3 + c] - logits[i * 3 + c]) - mean, 2);
        expected += squares / 6 / 2;
    }
    assert_near(loss_value(&loss, 2, 3, logits, &t, NULL, NULL), expected, 0.02);
    assert_int_equal(student_loss(false, 4).kind, LOSS_LABELS);
}

static void results_do_not_depend_on_threads_or_on_the_other_students(void **state)
{
    struct fixture f;
    struct score one[SEEDS], alone;

    (void)state;
    set_up(&f, "cnn depth=2 width=8");
    f.options.architecture.features = FEATURES;
    f.options.train.epochs = 5;
    f.options.train.seed = 11;
    parallel_set_threads(1);
    assert_ok(students_train(&f.options, &f.few, &f.many, &f.many, one));
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        parallel_set_threads(threads);
        assert_ok(students_train(&f.options, &f.few, &f.many, &f.many, f.scores));
        for (size_t i = 0; i < SEEDS; i++) {
            assert_memory_equal(f.scores[i].confusion, one[i].confusion,
                                CLASSES * CLASSES * sizeof *one[i].confusion);
            assert_true(f.scores[i].training.loss == one[i].training.loss);
            assert_true(f.scores[i].training.validation_loss == one[i].training.validation_loss);
        }
        tear_down(&f);
    }
    f.options.train.seed = 12;
    f.options.seeds = 1;
    assert_ok(students_train(&f.options, &f.few, &f.many, &f.many, &alone));
    assert_true(alone.training.loss == one[1].training.loss);
    assert_true(alone.training.loss != one[0].training.loss);
    parallel_set_threads(0);
    score_free(&alone);
    for (size_t i = 0; i < SEEDS; i++)
        score_free(&one[i]);
}

static void a_diverging_student_is_an_error_and_leaves_no_scores(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, "cnn depth=2 width=8 norm=none");
    f.options.train.optimiser = optimiser_defaults(OPTIMISER_SGD);
    f.options.train.optimiser.rate = 1e6;
    assert_fails("the loss is not a number",
                 students_train(&f.options, &f.few, NULL, &f.many, f.scores));
    for (size_t i = 0; i < SEEDS; i++)
        assert_null(f.scores[i].confusion);
    f.options.architecture.length = 1;
    assert_fails("", students_train(&f.options, &f.few, NULL, &f.many, f.scores));
}

struct seen {
    size_t calls, total;
};

static void count_calls(void *context, size_t done, size_t total)
{
    struct seen *seen = context;

    (void)done;
    seen->calls++;
    seen->total = total;
}

static void progress_counts_the_epochs_of_all_students(void **state)
{
    struct fixture f;
    struct seen seen = {0};

    (void)state;
    set_up(&f, "cnn depth=1 width=8");
    f.options.train.epochs = 4;
    f.options.progress = count_calls;
    f.options.context = &seen;
    parallel_set_threads(1);
    assert_ok(students_train(&f.options, &f.few, NULL, &f.many, f.scores));
    parallel_set_threads(0);
    assert_int_equal(seen.calls, 4 * SEEDS);
    assert_int_equal(seen.total, 4 * SEEDS);
    tear_down(&f);
}

static void batches_are_of_nearly_the_same_size(void **state)
{
    (void)state;
    for (size_t count = 1; count < 200; count++)
        for (size_t batch = 1; batch < 50; batch++) {
            size_t even = train_even_batch(count, batch);
            size_t batches = (count + even - 1) / even;

            assert_true(even >= 1 && even <= batch);
            assert_int_equal(batches, (count + batch - 1) / batch); /* no more steps than before */
        }
    assert_int_equal(train_even_batch(21, 20), 11);
    assert_int_equal(train_epochs_for_steps(1000, 21, 11), 500);
    assert_int_equal(train_epochs_for_steps(10, 100000, 256), 1);
    assert_int_equal(train_epochs_for_steps(1000, 6, 20), 1000);
    assert_int_equal(train_epochs_for_steps(1001, 300, 100), 334); /* the nearest number */
    assert_int_equal(train_epochs_for_steps(1000, 300, 100), 333);
}

static void a_score_counts_what_was_taken_for_what(void **state)
{
    static const float logits[] = {1, 0, 0, /**/ 0, 2, 1, /**/ 0, 1, 5, /**/ 3, 2, 1};
    static const int32_t labels[] = {0, 1, 1, 2};
    static const size_t expected[] = {1, 0, 0, 0, 1, 1, 1, 0, 0};
    struct score score;

    (void)state;
    assert_ok(score_make(logits, labels, 4, 3, &score));
    assert_memory_equal(score.confusion, expected, sizeof expected);
    assert_near(score.accuracy, 0.5, 1e-12);
    /* 2/3, 2/3 and 0 */
    assert_near(score.macro_f1, 4.0 / 9, 1e-12);
    score_free(&score);
    score_free(&score);
}

/* AdamW has a tenth of the rate of SGD; only soft labels ask for another. */
static void rates_follow_optimiser_labels_and_sizes(void **state)
{
    (void)state;
    assert_float_equal((float)student_rate(true, true, false, 6, 60), 0.01f, 1e-9f);
    assert_float_equal((float)student_rate(true, true, false, 6, 20), 0.01f, 1e-9f);
    assert_float_equal((float)student_rate(true, true, false, 6, 19), 0.003f, 1e-9f);
    assert_float_equal((float)student_rate(true, true, false, 16, 160), 0.01f, 1e-9f);
    assert_float_equal((float)student_rate(true, true, false, 17, 170), 0.03f, 1e-9f);
    assert_float_equal((float)student_rate(true, false, false, 81, 6), 0.01f, 1e-9f);
    assert_float_equal((float)student_rate(false, true, false, 6, 6), 0.001f, 1e-9f);
    assert_float_equal((float)student_rate(false, true, false, 81, 810), 0.003f, 1e-9f);
    assert_float_equal((float)student_rate(false, false, false, 81, 810), 0.001f, 1e-9f);
    assert_float_equal((float)student_rate(false, true, true, 6, 60), 0.005f, 1e-9f);
    assert_float_equal((float)student_rate(false, true, true, 81, 810), 0.005f, 1e-9f);
    assert_float_equal((float)student_rate(false, false, true, 6, 60), 0.001f, 1e-9f);
    assert_float_equal((float)student_rate(true, true, true, 6, 60), 0.01f, 1e-9f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_that_are_easy_to_tell_apart_are_learned),
        cmocka_unit_test(a_student_of_soft_labels_comes_to_agree_with_its_teacher),
        cmocka_unit_test(many_classes_with_views_are_learned_at_a_temperature_of_1),
        cmocka_unit_test(the_soft_loss_keeps_its_size_when_the_temperature_rises),
        cmocka_unit_test(results_do_not_depend_on_threads_or_on_the_other_students),
        cmocka_unit_test(a_diverging_student_is_an_error_and_leaves_no_scores),
        cmocka_unit_test(progress_counts_the_epochs_of_all_students),
        cmocka_unit_test(batches_are_of_nearly_the_same_size),
        cmocka_unit_test(a_score_counts_what_was_taken_for_what),
        cmocka_unit_test(rates_follow_optimiser_labels_and_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
