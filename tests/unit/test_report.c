/* Reports of scores, and examples made ready for networks. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval/examples.h"
#include "eval/report.h"
#include "nn/backend.h"
#include "shapelets/transform.h"

/* Two students and two classes, the second of which one never recognises. */
static size_t first_confusion[] = {8, 2, 5, 5}, second_confusion[] = {10, 0, 10, 0};
static const struct score scores[] = {
    {.classes = 2,
     .confusion = first_confusion,
     .accuracy = 0.65,
     .macro_f1 = 0.6,
     .training = {.best_epoch = 7, .validation_accuracy = 0.7}},
    {.classes = 2,
     .confusion = second_confusion,
     .accuracy = 0.5,
     .macro_f1 = 1.0 / 3,
     .training = {.best_epoch = 9, .validation_accuracy = NAN}},
};

static char *written(void (*write)(FILE *stream, const struct report *report),
                     const struct report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    write(stream, report);
    fclose(stream);
    return text;
}

static void write_table(FILE *stream, const struct report *report)
{
    report_write_table(stream, report, true);
}

static void a_table_has_a_row_for_each_score_then_mean_and_deviation(void **state)
{
    char one[] = "one", two[] = "t\two";
    char *names[] = {one, two};
    struct report report = {.count = 2,
                            .scores = scores,
                            .students = true,
                            .first_seed = 41,
                            .full = 0.8,
                            .names = names};
    char *text = written(write_table, &report);

    (void)state;
    assert_string_equal(
        text, "seed\taccuracy\tratio\tmacro_f1\tvalidation\tepoch\trecall:one\trecall:t?wo\n"
              "41\t65.00\t81.25\t60.00\t70.00\t7\t80.00\t50.00\n"
              "42\t50.00\t62.50\t33.33\t-\t9\t100.00\t0.00\n"
              "mean\t57.50\t71.88\t46.67\t-\t8\t90.00\t25.00\n"
              "deviation\t10.61\t13.26\t18.86\t-\t1\t14.14\t35.36\n"
              "\n"
              "true\tas:one\tas:t?wo\n"
              "one\t18\t2\n"
              "t?wo\t15\t5\n");
    free(text);
    report = (struct report){.count = 1, .scores = scores, .full = NAN};
    text = written(write_table, &report);
    assert_non_null(strstr(text, "\n-\t65.00\t-\t60.00\t-\t-\t80.00\t50.00\n"));
    assert_non_null(strstr(text, "\ndeviation\t0.00\t-\t0.00\t-\t-\t0.00\t0.00\n"));
    free(text);
}

static void json_has_the_same_numbers(void **state)
{
    struct report report = {
        .count = 2, .scores = scores, .students = true, .first_seed = 41, .full = NAN};
    char *text = written(report_write_json, &report);

    (void)state;
    /* Of a sample (n - 1): of 65 and 50, 15 / sqrt(2). */
    assert_non_null(strstr(text, "\"accuracy\": 10.6066017"));
    assert_non_null(strstr(text, "\"full\": null"));
    assert_non_null(strstr(text, "\"classes\": [0, 1]"));
    assert_non_null(strstr(text, "\"seed\": 42"));
    assert_non_null(strstr(text, "[18, 2]"));
    assert_non_null(strstr(text, "\"recall\": [100, 0]"));
    free(text);
}

static void full_accuracy_is_a_number_or_the_mean_of_a_table(void **state)
{
    char path[] = "/tmp/shapecond-report-XXXXXX";
    int file = mkstemp(path);
    FILE *stream = fdopen(file, "w");
    struct report report = {.count = 2, .scores = scores, .full = NAN};
    double full;

    (void)state;
    report_write_table(stream, &report, true);
    fclose(stream);
    assert_ok(report_read_full(path, &full));
    assert_near(full, 0.575, 1e-12);
    assert_ok(report_read_full("96.5", &full));
    assert_near(full, 0.965, 1e-12);
    assert_fails("not between 0 and 100", report_read_full("-3", &full));
    assert_fails("not between 0 and 100", report_read_full("nan", &full));
    assert_fails("No such file", report_read_full("/nowhere/at.all", &full));
    stream = fopen(path, "w");
    fclose(stream);
    assert_fails("not a table of sc-eval", report_read_full(path, &full));
    stream = fopen(path, "w");
    fputs("seed\taccuracy\tratio\n1\t2\t3\n", stream);
    fclose(stream);
    assert_fails("not a table of sc-eval", report_read_full(path, &full));
    unlink(path);
}

static struct examples make(const char *name, size_t count, size_t channels, size_t length,
                            size_t classes, const struct feature_source *source)
{
    struct dataset dataset;
    struct examples examples;

    assert_ok(dataset_new(count, channels, length, classes, false, &dataset));
    for (size_t i = 0; i < count; i++)
        dataset.y[i] = (int32_t)(i % classes);
    for (size_t i = 0; i < count * channels * length; i++)
        dataset.x[i] = (float)(i % 7);
    assert_ok(examples_make(name, &dataset, source, &examples));
    return examples;
}

static void sets_of_other_shapes_or_classes_do_not_match(void **state)
{
    struct examples train = make("train", 6, 2, 16, 3, NULL);
    struct examples longer = make("longer", 6, 2, 17, 3, NULL);
    struct examples fewer = make("fewer", 6, 2, 16, 2, NULL);
    struct examples more = make("more", 8, 2, 16, 4, NULL);

    (void)state;
    assert_ok(examples_match(&train, &fewer));
    assert_fails("longer: series of 2 channels and 17 steps, but train is for 2 and 16",
                 examples_match(&train, &longer));
    assert_fails("more: series 3 is of class 3, but train knows only classes 0 to 2",
                 examples_match(&train, &more));
    assert_int_equal(examples_missing_class(&train), -1);
    train.dataset.y[1] = train.dataset.y[4] = 0;
    assert_int_equal(examples_missing_class(&train), 1);
    examples_free(&train);
    examples_free(&longer);
    examples_free(&fewer);
    examples_free(&more);
    examples_free(&more);
}

/* One shapelet: the first three steps of the first series' second channel. */
static void make_pool(const struct examples *examples, struct shapelet_pool *pool)
{
    assert_ok(slp_new(1, 3, pool));
    pool->channels = examples->dataset.channels;
    pool->steps = examples->dataset.length;
    pool->classes = examples->dataset.classes;
    memcpy(pool->values, dataset_series(&examples->dataset, 0, 1), 3 * sizeof *pool->values);
    pool->shapelets[0] = (struct shapelet){
        .values = pool->values, .channel = 1, .length = 3, .window = SLP_WINDOW_FULL};
}

static void features_are_distances_and_networks_are_filled_in(void **state)
{
    struct examples plain = make("plain", 6, 2, 16, 3, NULL), with;
    struct shapelet_pool pool;
    struct feature_source source = {&pool, TRANSFORM_AS_FOUND};
    struct architecture architecture;
    struct examples refused;
    struct dataset odd;

    (void)state;
    make_pool(&plain, &pool);
    with = make("with", 6, 2, 16, 3, &source);
    assert_int_equal(with.feature_count, 1);
    assert_near(with.features[0], 0, 1e-6);
    assert_ok(examples_architecture(&with, "cnn depth=1 width=4", &architecture));
    assert_int_equal(architecture.features, 1);
    assert_int_equal(architecture_value(&architecture, "width"), 4);
    assert_ok(examples_architecture(&plain, NULL, &architecture));
    assert_int_equal(architecture.features, 0);
    assert_int_equal(architecture_value(&architecture, "width"), 32);
    assert_fails("the network says length=12, but for plain it is 16",
                 examples_architecture(&plain, "cnn length=12", &architecture));
    assert_ok(dataset_new(2, 1, 16, 2, false, &odd));
    assert_fails("odd: ", examples_make("odd", &odd, &source, &refused));
    examples_free(&plain);
    examples_free(&with);
    slp_free(&pool);
}

static void a_teacher_runs_only_on_what_it_was_made_for(void **state)
{
    struct examples plain = make("plain", 6, 2, 16, 3, NULL), with, other;
    struct shapelet_pool pool;
    struct feature_source source = {&pool, TRANSFORM_AS_FOUND};
    struct architecture architecture;
    struct teacher teacher;

    (void)state;
    make_pool(&plain, &pool);
    with = make("with", 6, 2, 16, 3, &source);
    other = make("other", 6, 1, 16, 3, NULL);
    assert_ok(examples_architecture(&with, NULL, &architecture));
    assert_ok(teacher_new(&architecture, backend_cpu(), &teacher));
    assert_ok(examples_match_teacher(&with, "t", &teacher));
    assert_fails("t: needs the 1 shapelets", examples_match_teacher(&plain, "t", &teacher));
    assert_fails("other: series of 1 channels", examples_match_teacher(&other, "t", &teacher));
    teacher_free(&teacher);
    examples_free(&plain);
    examples_free(&with);
    examples_free(&other);
    slp_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_a_row_for_each_score_then_mean_and_deviation),
        cmocka_unit_test(json_has_the_same_numbers),
        cmocka_unit_test(full_accuracy_is_a_number_or_the_mean_of_a_table),
        cmocka_unit_test(sets_of_other_shapes_or_classes_do_not_match),
        cmocka_unit_test(features_are_distances_and_networks_are_filled_in),
        cmocka_unit_test(a_teacher_runs_only_on_what_it_was_made_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
