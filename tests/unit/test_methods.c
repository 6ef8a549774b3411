/* Each method of sc-match(1) once more as one straight loop over the parts that test_match.c and
 * the golden files of PyTorch vouch for: who is drawn, in which order things happen, and how what
 * is learned moves.  Optimisers are written out here. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/classwise.h"
#include "match/experts.h"
#include "match/match.h"
#include "choose/draw.h"
#include "match/trajectory.h"
#include "match/unroll.h"
#include "match/spectral_views.h"
#include "shapelets/transform.h"

enum { SERIES = 33, CHANNELS = 2, LENGTH = 16, CLASSES = 3, FLOATS = CHANNELS * LENGTH };

static void make_set(struct dataset *dataset)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);

    assert_ok(dataset_new(SERIES, CHANNELS, LENGTH, CLASSES, false, dataset));
    for (size_t i = 0; i < SERIES; i++) {
        dataset->y[i] = (int32_t)(i * 7 % CLASSES);
        for (size_t t = 0; t < FLOATS; t++) /* the second channel is three times as large */
            dataset->x[i * FLOATS + t] =
                (float)((random_normal(&stream) + dataset->y[i]) * (t < LENGTH ? 1 : 3));
    }
}

static struct architecture network(const char *text)
{
    struct architecture architecture;

    assert_ok(architecture_parse(text, &architecture));
    return architecture;
}

static double cosine(double rate, size_t step, size_t steps)
{
    return rate * (1 + cos(3.14159265358979323846 * (double)step / (double)steps)) / 2;
}

/* ---- Optimisers ---- */

struct moved {
    size_t count, steps;
    float *values;
    double first[512], second[512], square;
};

static void move_scaled(struct moved *moved, double rate, const float *gradient)
{
    double mean = 0, weight = moved->steps < 50 ? 1 / (double)(moved->steps + 1) : 1.0 / 50;

    for (size_t i = 0; i < moved->count; i++)
        mean += (double)gradient[i] * gradient[i] / (double)moved->count;
    moved->square += weight * (mean - moved->square);
    moved->steps++;
    for (size_t i = 0; i < moved->count; i++) {
        moved->first[i] = 0.5 * moved->first[i] + gradient[i];
        moved->values[i] -= (float)(rate / sqrt(moved->square) * moved->first[i]);
    }
}

static void move_adam(struct moved *moved, double rate, const float *gradient)
{
    double steps = (double)++moved->steps;

    for (size_t i = 0; i < moved->count; i++) {
        double g = gradient[i];

        moved->first[i] = 0.9 * moved->first[i] + 0.1 * g;
        moved->second[i] = 0.999 * moved->second[i] + 0.001 * g * g;
        moved->values[i] -= (float)(rate * moved->first[i] / (1 - pow(0.9, steps)) /
                                    (sqrt(moved->second[i] / (1 - pow(0.999, steps))) + 1e-8));
    }
}

static void assert_close(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_near(a[i], b[i], 2e-5);
}

struct watched {
    size_t count;
    double losses[32];
};

static void watch(void *context, size_t done, size_t total, double loss)
{
    struct watched *watched = context;

    (void)total;
    watched->losses[watched->count++] = loss;
    assert_int_equal(done, watched->count);
}

/* Runs the method, and with no step to see where it starts. */
static void run(struct match_options *options, const struct dataset *dataset, struct dataset *start,
                struct dataset *condensed, struct watched *watched, struct match_result *result)
{
    size_t steps = (size_t)match_value(options, "steps"), tenth = steps / 10 + 1;
    double first = 0, last = 0;

    match_set(options, "steps", 0);
    assert_ok(match_condense(options, dataset, start, result));
    match_set(options, "steps", (double)steps);
    *watched = (struct watched){0};
    options->progress = watch;
    options->context = watched;
    assert_ok(match_condense(options, dataset, condensed, result));
    assert_int_equal(watched->count, steps);
    for (size_t i = 0; i < tenth; i++) {
        first += watched->losses[i] / (double)tenth;
        last += watched->losses[steps - 1 - i] / (double)tenth;
    }
    assert_near(result->first, first, 1e-12);
    assert_near(result->last, last, 1e-12);
}

/* ---- dc, dsa, dm ---- */

/* The mean over channels of what values deviate from their mean. */
static double unit_of(const struct dataset *dataset)
{
    double unit = 0;

    for (size_t c = 0; c < CHANNELS; c++) {
        double mean = 0, square = 0, n = SERIES * LENGTH;

        for (size_t i = 0; i < SERIES; i++)
            for (size_t t = 0; t < LENGTH; t++)
                mean += dataset_series(dataset, i, c)[t] / n;
        for (size_t i = 0; i < SERIES; i++)
            for (size_t t = 0; t < LENGTH; t++)
                square += pow(dataset_series(dataset, i, c)[t] - mean, 2) / n;
        unit += sqrt(square) / CHANNELS;
    }
    return unit;
}

struct classwise_test {
    const struct match_options *options;
    const struct dataset *dataset;
    struct model model;
    struct class_lists lists;
    struct class_match match;
    struct model_run *run;
    float *parameters, *buffers;
    int32_t labels[16];
    size_t scratch[SERIES];
    float real[SERIES * FLOATS];
};

static void train_on_condensed(struct classwise_test *test, const float *x, size_t count)
{
    static const struct loss cross_entropy = {LOSS_LABELS, 1, 1};
    size_t parameters = test->model.parameter_count;
    float *gradient = calloc(parameters, sizeof *gradient);
    double *velocity = calloc(parameters, sizeof *velocity);
    struct model_batch batch = {.count = count,
                                .x = x,
                                .parameters = test->parameters,
                                .buffers = test->buffers,
                                .training = true};

    for (size_t i = 0; (double)i < match_value(test->options, "training-steps"); i++) {
        model_loss(test->run, &batch, &cross_entropy, &(struct targets){.labels = test->labels},
                   gradient, NULL);
        for (size_t p = 0; p < parameters; p++) {
            velocity[p] = 0.5 * velocity[p] + gradient[p];
            test->parameters[p] -=
                (float)(match_value(test->options, "training-rate") * velocity[p]);
        }
    }
    free(gradient);
    free(velocity);
}

/* Running statistics from 16 real series of each class. */
static void take_statistics(struct classwise_test *test, size_t step)
{
    struct random_stream stream =
        random_stream(test->options->seed, RANDOM_MATCH, step * (CLASSES + 1) + CLASSES);
    size_t count = 0;

    for (size_t v = 0; v < CLASSES; v++)
        count += draw_class(test->dataset, &test->lists, v, 16, &stream, test->scratch,
                            test->real + count * FLOATS);
    model_forward(test->run, &(struct model_batch){.count = count,
                                                   .x = test->real,
                                                   .parameters = test->parameters,
                                                   .buffers = test->buffers,
                                                   .training = true,
                                                   .momentum = 1});
}

static double match_class(struct classwise_test *test, size_t step, size_t v, const float *x,
                          float *dx)
{
    const struct match_options *o = test->options;
    struct random_stream stream = random_stream(o->seed, RANDOM_MATCH, step * (CLASSES + 1) + v);
    struct class_batch batch = {.label = (int32_t)v,
                                .real_x = test->real,
                                .synthetic_count = o->per_class,
                                .synthetic_x = x,
                                .parameters = test->parameters,
                                .buffers = test->buffers};

    batch.real_count = draw_class(test->dataset, &test->lists, v, (size_t)match_value(o, "batch"),
                                  &stream, test->scratch, test->real);
    if (o->method != &method_dc) {
        enum augmentation_kind kind = (enum augmentation_kind)random_below(&stream, AUGMENT_KINDS);

        augmentation_draw(&test->match.augmentation, kind, unit_of(test->dataset), &stream);
    }
    return o->method == &method_dm ? class_match_means(&test->match, &batch, dx)
                                   : class_match_gradients(&test->match, &batch, dx);
}

static void check_classwise(const struct match_method *method)
{
    struct classwise_test test = {NULL};
    struct match_options options = match_unset();
    struct dataset dataset, start, condensed;
    struct match_result result;
    struct watched watched;
    struct moved moved = {0};
    float dx[16 * FLOATS];

    make_set(&dataset);
    options.method = method;
    options.architecture = network("cnn depth=1 width=4 norm=batch channels=2 length=16 classes=3");
    options.per_class = 2;
    match_set(&options, "steps", 7);
    match_set(&options, "network-steps", 3);
    match_set(&options, "training-steps", 2);
    match_set(&options, "training-rate", 0.1);
    match_set(&options, "rate", 0.05);
    match_set(&options, "batch", 5);
    options.seed = 11;
    match_fill_in(&options, CLASSES);
    run(&options, &dataset, &start, &condensed, &watched, &result);

    test.options = &options;
    test.dataset = &dataset;
    assert_ok(model_new(&options.architecture, false, &test.model));
    assert_ok(class_lists_make(dataset.y, dataset.count, dataset.classes, &test.lists));
    assert_ok(class_match_new(&test.model, 5, 2, method == &method_dm, &test.match));
    assert_ok(model_run_new(&test.model, 3 * 16, PASS_BACKWARD, &test.run));
    test.parameters = calloc(test.model.parameter_count, sizeof(float));
    test.buffers = calloc(test.model.buffer_count, sizeof(float));
    for (size_t i = 0; i < 6; i++)
        test.labels[i] = (int32_t)(i / 2);
    moved.count = 6 * FLOATS;
    moved.values = start.x;
    for (size_t step = 0; (double)step < match_value(&options, "steps"); step++) {
        double loss = 0;

        if (step % 3 == 0)
            model_initialise(&test.model, 11, step / 3, test.parameters, test.buffers);
        else
            train_on_condensed(&test, start.x, 6);
        take_statistics(&test, step);
        for (size_t v = 0; v < CLASSES; v++)
            loss += match_class(&test, step, v, start.x + v * 2 * FLOATS, dx + v * 2 * FLOATS);
        assert_near(watched.losses[step], loss, 1e-4);
        move_scaled(&moved, cosine(0.05, step, 7), dx);
    }
    assert_close(condensed.x, start.x, 6 * FLOATS);
    assert_null(condensed.soft);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(condensed.y[i], i / 2);
    model_run_free(test.run);
    class_match_free(&test.match);
    class_lists_free(&test.lists);
    model_free(&test.model);
    free(test.parameters);
    free(test.buffers);
    dataset_free(&start);
    dataset_free(&condensed);
    dataset_free(&dataset);
}

static void gradients_and_means_are_matched_as_the_manual_says(void **state)
{
    (void)state;
    check_classwise(&method_dc);
    check_classwise(&method_dsa);
    check_classwise(&method_dm);
}

/* ---- mtt, condtsc ---- */

static void make_experts(bool two_towers, struct experts *experts, float **points)
{
    struct random_stream stream = random_stream(6, RANDOM_TEST, 0);
    struct model model;

    *experts = (struct experts){
        .architecture = network("cnn depth=1 width=4 norm=instance channels=2 length=16 classes=3"),
        .two_towers = two_towers,
        .count = 3,
        .epochs = 6};
    assert_ok(model_new(&experts->architecture, two_towers, &model));
    experts->parameters = model.parameter_count;
    *points = calloc(3 * 7 * model.parameter_count, sizeof **points);
    for (size_t i = 0; i < 3 * 7 * model.parameter_count; i++)
        (*points)[i] = (float)(0.3 * random_normal(&stream));
    experts->points = *points;
    model_free(&model);
}

/* The series of each step of a student: all in a random order, again and again. */
static void draw_picks(struct random_stream *stream, size_t count, size_t picks, size_t *out)
{
    size_t order[16];

    for (size_t i = 0; i < picks; i++) {
        if (i % count == 0) {
            for (size_t n = 0; n < count; n++)
                order[n] = n;
            random_shuffle(stream, order, count);
        }
        out[i] = order[i % count];
    }
}

static void check_trajectory(bool dual, bool soft, size_t latest_start)
{
    enum { COUNT = 6, STUDENT = 4 };
    struct match_options options = match_unset();
    struct dataset dataset, start, condensed;
    struct match_result result;
    struct watched watched;
    struct experts experts;
    struct trajectory *trajectory;
    struct spectral_views views = {0};
    struct model model;
    struct moved series = {COUNT * FLOATS, 0, NULL, {0}, {0}, 0};
    struct moved labels = {COUNT * CLASSES, 0, NULL, {0}, {0}, 0}, rate = {1, 0, NULL, {0}, {0}, 0};
    float dx[COUNT * FLOATS], targets[COUNT * CLASSES] = {0}, dtargets[COUNT * CLASSES], *points;
    float log_rate = logf(0.03F);
    int32_t classes[COUNT] = {0, 0, 1, 1, 2, 2};

    make_set(&dataset);
    make_experts(dual, &experts, &points);
    options.method = dual ? &method_condtsc : &method_mtt;
    options.experts = &experts;
    options.per_class = 2;
    match_set(&options, "steps", 6);
    match_set(&options, "rate", 0.05);
    match_set(&options, "batch", dual ? 4 : 100);
    match_set(&options, "student-steps", STUDENT);
    match_set(&options, "student-rate", 0.03);
    match_set(&options, "rate-rate", 0.02);
    match_set(&options, "label-rate", soft ? 0.1 : 0);
    match_set(&options, "expert-epochs", 3);
    match_set(&options, "latest-start", (double)latest_start);
    if (dual)
        match_set(&options, "weight-embedding", 0.5);
    options.seed = 12;
    match_fill_in(&options, CLASSES);
    run(&options, &dataset, &start, &condensed, &watched, &result);

    assert_ok(model_new(&experts.architecture, dual, &model));
    assert_ok(trajectory_new(
        &model,
        &(struct trajectory_options){.steps = STUDENT,
                                     .series = COUNT,
                                     .batch = dual ? 4 : COUNT,
                                     .views = dual,
                                     .embedding_weight = dual ? 0.5 : 0,
                                     .loss = soft ? (struct loss){LOSS_KL, 4, 16}
                                                  : (struct loss){LOSS_LABELS, 1, 1}},
        &trajectory));
    if (dual)
        assert_ok(spectral_views_new(COUNT * CHANNELS, LENGTH, &views));
    for (size_t i = 0; i < COUNT; i++)
        targets[i * CLASSES + (size_t)classes[i]] = 16;
    series.values = start.x;
    labels.values = targets;
    rate.values = &log_rate;
    for (size_t step = 0; (double)step < match_value(&options, "steps"); step++) {
        struct random_stream stream = random_stream(12, RANDOM_MATCH, step);
        size_t expert = random_below(&stream, 3);
        size_t epoch = random_below(&stream, (latest_start < 3 ? latest_start : 3) + 1);
        size_t picks[STUDENT * 4];
        struct trajectory_task task = {.start = points + (expert * 7 + epoch) * experts.parameters,
                                       .end =
                                           points + (expert * 7 + epoch + 3) * experts.parameters,
                                       .labels = classes};
        struct condensed now = {start.x, targets, exp(log_rate)}, gradient = {dx, dtargets, 0};
        double loss;
        float drate;

        if (dual) {
            spectral_views_draw(&views, &stream);
            draw_picks(&stream, COUNT, STUDENT * 4, picks);
            task.views = &views;
            task.picks = picks;
        }
        loss = trajectory_loss(trajectory, &task, &now, &gradient);
        assert_near(watched.losses[step], loss, 1e-4);
        drate = (float)(gradient.rate * now.rate); /* of the logarithm */
        move_scaled(&series, cosine(0.05, step, 6), dx);
        if (soft)
            move_adam(&labels, cosine(0.1, step, 6), dtargets);
        move_adam(&rate, cosine(0.02, step, 6), &drate);
    }
    assert_close(condensed.x, start.x, COUNT * FLOATS);
    assert_near(result.student_rate, exp(log_rate), 1e-5);
    if (soft)
        assert_close(condensed.soft, targets, COUNT * CLASSES);
    else
        assert_null(condensed.soft);
    spectral_views_free(&views);
    trajectory_free(trajectory);
    model_free(&model);
    free(points);
    dataset_free(&start);
    dataset_free(&condensed);
    dataset_free(&dataset);
}

static void trajectories_are_matched_as_the_manual_says(void **state)
{
    (void)state;
    check_trajectory(false, false, 1);
    check_trajectory(false, true, 100);
    check_trajectory(true, false, 2);
}

static void experts_as_long_as_the_way_that_is_matched_will_do(void **state)
{
    struct match_options options = match_unset();
    struct dataset dataset, condensed;
    struct match_result result;
    struct experts experts;
    float *points;

    (void)state;
    make_set(&dataset);
    make_experts(false, &experts, &points);
    options.method = &method_mtt;
    options.experts = &experts;
    options.per_class = 1;
    match_set(&options, "steps", 1);
    match_set(&options, "expert-epochs", 6);
    match_fill_in(&options, CLASSES);
    assert_ok(match_condense(&options, &dataset, &condensed, &result));
    dataset_free(&condensed);
    match_set(&options, "expert-epochs", 7);
    assert_fails("experts of 6 epochs are too short to look 7 epochs ahead",
                 match_condense(&options, &dataset, &condensed, &result));
    match_set(&options, "expert-epochs", 2);
    options.method = &method_condtsc;
    assert_fails("needs experts of two towers",
                 match_condense(&options, &dataset, &condensed, &result));
    free(points);
    dataset_free(&dataset);
}

/* Where there are experts, series are told apart by the embedding in the first one at its end. */
static void clusters_are_of_what_an_expert_makes_of_the_series(void **state)
{
    struct match_options options = match_unset();
    struct dataset dataset, by_first, by_end;
    struct match_result result;
    struct experts experts;
    float *points;

    (void)state;
    make_set(&dataset);
    make_experts(false, &experts, &points);
    options.method = &method_mtt;
    options.experts = &experts;
    options.per_class = 3;
    match_set(&options, "steps", 0);
    match_fill_in(&options, CLASSES);
    assert_ok(match_condense(&options, &dataset, &by_end, &result));
    /* Other points but for the end of the first expert change nothing. */
    for (size_t i = 0; i < 3 * 7 * experts.parameters; i++)
        if (i / experts.parameters != 6)
            points[i] = -points[i] + 0.1F;
    assert_ok(match_condense(&options, &dataset, &by_first, &result));
    assert_memory_equal(by_first.x, by_end.x, 9 * FLOATS * sizeof(float));
    dataset_free(&by_first);
    for (size_t i = 6 * experts.parameters; i < 7 * experts.parameters; i++)
        points[i] = -points[i] + 0.1F;
    assert_ok(match_condense(&options, &dataset, &by_first, &result));
    assert_memory_not_equal(by_first.x, by_end.x, 9 * FLOATS * sizeof(float));
    dataset_free(&by_first);
    dataset_free(&by_end);
    free(points);
    dataset_free(&dataset);
}

/* ---- unroll ---- */

enum { STUDENTS = 4, WINDOWS = 2, TRAINING = 12, WINDOW = 3, REAL = 7 };

/* Gradients of windows count for their direction. */
static void add_direction(const float *from, size_t count, float *to)
{
    double square = 0;

    for (size_t i = 0; i < count; i++)
        square += (double)from[i] * from[i];
    for (size_t i = 0; i < count; i++)
        to[i] += (float)(from[i] / sqrt(square));
}

static void check_unroll(bool features)
{
    enum { COUNT = 6, SHAPELETS = 2 };
    struct match_options options = match_unset();
    struct dataset dataset, start, condensed;
    struct match_result result;
    struct watched watched;
    struct unroll *unroll;
    struct network *net;
    struct shapelet_pool pool;
    struct transform transform = {0};
    struct unroll_student students[STUDENTS] = {{NULL}};
    struct moved series = {COUNT * FLOATS, 0, NULL, {0}, {0}, 0};
    struct moved labels = {COUNT * CLASSES, 0, NULL, {0}, {0}, 0};
    float of_set[SERIES * SHAPELETS], of_condensed[COUNT * SHAPELETS], dfeatures[COUNT * SHAPELETS];
    float targets[COUNT * CLASSES] = {0};
    uint32_t places[COUNT * SHAPELETS];

    make_set(&dataset);
    assert_ok(slp_new(SHAPELETS, 10, &pool));
    pool.channels = CHANNELS;
    pool.steps = LENGTH;
    for (size_t k = 0; k < SHAPELETS; k++) {
        pool.shapelets[k] = (struct shapelet){.values = pool.values + 5 * k,
                                              .channel = (uint32_t)k,
                                              .start = 4,
                                              .length = 5,
                                              .window = 2};
        memcpy(pool.values + 5 * k, dataset_series(&dataset, k, k) + 4, 5 * sizeof(float));
    }
    if (features) {
        assert_ok(transform_make(&pool, CHANNELS, LENGTH, TRANSFORM_AS_FOUND, &transform));
        transform_forward(&transform, dataset.x, SERIES, of_set, NULL);
        options.transform = &transform;
        options.features = of_set;
    }
    options.method = &method_unroll;
    options.architecture = network("cnn depth=1 width=4 norm=batch channels=2 length=16 classes=3");
    options.architecture.features = features ? SHAPELETS : 0;
    options.per_class = 2;
    match_set(&options, "steps", 9);
    match_set(&options, "rate", 0.03);
    match_set(&options, "label-rate", 0.1);
    match_set(&options, "batch", REAL);
    match_set(&options, "student-steps", TRAINING);
    match_set(&options, "student-rate", 0.05);
    match_set(&options, "unroll-steps", WINDOW);
    options.seed = 13;
    match_fill_in(&options, CLASSES);
    run(&options, &dataset, &start, &condensed, &watched, &result);

    assert_ok(network_new(&options.architecture, backend_cpu(), &net));
    assert_ok(unroll_new(net,
                         &(struct unroll_options){.series = COUNT,
                                                  .batch = REAL,
                                                  .window = WINDOW,
                                                  .training = TRAINING,
                                                  .rate = 0.05,
                                                  .momentum = 0.9,
                                                  .loss = {LOSS_KL, 4, 16}},
                         &unroll));
    series.values = start.x;
    labels.values = targets;
    for (size_t i = 0; i < COUNT; i++)
        targets[i * CLASSES + i / 2] = 16;
    for (size_t step = 0; (double)step < match_value(&options, "steps"); step++) {
        struct unroll_condensed now = {start.x, features ? of_condensed : NULL, targets};
        float dx[COUNT * FLOATS] = {0}, dtargets[COUNT * CLASSES] = {0};
        double loss = 0;

        if (features)
            transform_forward(&transform, start.x, COUNT, of_condensed, places);
        /* Students of ages that are spread over the training. */
        for (size_t i = 0; step == 0 && i < STUDENTS; i++) {
            students[i].parameters = calloc(net->parameter_count, sizeof(float));
            students[i].velocity = calloc(net->parameter_count, sizeof(float));
            unroll_begin(unroll, 13, i, &students[i]);
            while (students[i].age < i * TRAINING / STUDENTS)
                unroll_train(unroll, &now, &students[i]);
        }
        for (size_t w = 0; w < WINDOWS; w++) {
            uint64_t number = step * WINDOWS + w;
            struct random_stream stream = random_stream(13, RANDOM_MATCH, number);
            struct unroll_student *student = &students[number % STUDENTS];
            float x[REAL * FLOATS], real_features[REAL * SHAPELETS];
            float window_dx[COUNT * FLOATS], window_dtargets[COUNT * CLASSES];
            int32_t y[REAL];
            struct unroll_batch real = {REAL, x, features ? real_features : NULL, y};
            struct unroll_condensed gradient = {window_dx, features ? dfeatures : NULL,
                                                window_dtargets};

            for (size_t i = 0; i < REAL; i++) {
                size_t from = random_below(&stream, SERIES);

                memcpy(x + i * FLOATS, dataset.x + from * FLOATS, FLOATS * sizeof(float));
                y[i] = dataset.y[from];
                if (features)
                    memcpy(real_features + i * SHAPELETS, of_set + from * SHAPELETS,
                           SHAPELETS * sizeof(float));
            }
            if (student->age + WINDOW > TRAINING)
                unroll_begin(unroll, 13, STUDENTS + number, student);
            loss += unroll_window(unroll, &now, &real, student, &gradient) / WINDOWS;
            if (features)
                transform_backward(&transform, start.x, COUNT, of_condensed, places, dfeatures,
                                   window_dx);
            add_direction(window_dx, COUNT * FLOATS, dx);
            add_direction(window_dtargets, COUNT * CLASSES, dtargets);
        }
        assert_near(watched.losses[step], loss, 1e-4);
        move_adam(&series, cosine(0.03, step, 9), dx);
        move_adam(&labels, cosine(0.1, step, 9), dtargets);
    }
    assert_close(condensed.x, start.x, COUNT * FLOATS);
    assert_close(condensed.soft, targets, COUNT * CLASSES);
    for (size_t i = 0; i < STUDENTS; i++) {
        free(students[i].parameters);
        free(students[i].velocity);
    }
    unroll_free(unroll);
    network_free(net);
    transform_free(&transform);
    slp_free(&pool);
    dataset_free(&start);
    dataset_free(&condensed);
    dataset_free(&dataset);
}

static void training_is_unrolled_as_the_manual_says(void **state)
{
    (void)state;
    check_unroll(false);
    check_unroll(true);
}

/* ---- What is recommended ---- */

static void what_is_not_given_is_what_the_manual_says(void **state)
{
    static const struct {
        const struct match_method *method;
        size_t per_class;
        enum match_optimiser optimiser;
        struct {
            const char *name;
            double value;
        } values[10];
    } cases[] = {
        {&method_dc,
         5,
         MATCH_SCALED,
         {{"steps", 100},
          {"rate", 0.01},
          {"batch", 64},
          {"network-steps", 5},
          {"training-steps", 10},
          {"training-rate", 0.01}}},
        {&method_dsa,
         50,
         MATCH_SCALED,
         {{"steps", 100},
          {"rate", 0.01},
          {"batch", 64},
          {"network-steps", 10},
          {"training-steps", 10}}},
        {&method_dm,
         10,
         MATCH_SCALED,
         {{"steps", 100},
          {"rate", 0.01},
          {"batch", 64},
          {"network-steps", 1},
          {"training-steps", 10}}},
        {&method_mtt,
         1,
         MATCH_SCALED,
         {{"steps", 200},
          {"rate", 0.01},
          {"batch", 100},
          {"student-steps", 10},
          {"student-rate", 0.02},
          {"rate-rate", 0.05},
          {"expert-epochs", 2},
          {"latest-start", 4},
          {"label-rate", 0}}},
        {&method_mtt, 2, MATCH_SCALED, {{"rate", 0.02}}},
        {&method_condtsc,
         10,
         MATCH_SCALED,
         {{"steps", 200},
          {"rate", 0.02},
          {"batch", 25},
          {"student-steps", 10},
          {"student-rate", 0.02},
          {"rate-rate", 0.05},
          {"expert-epochs", 2},
          {"latest-start", 4},
          {"label-rate", 0},
          {"weight-embedding", 1}}},
        {&method_unroll,
         10,
         MATCH_ADAM,
         {{"steps", 600},
          {"rate", 0.02},
          {"batch", 256},
          {"student-steps", 400},
          {"student-rate", 0.01},
          {"unroll-steps", 20},
          {"label-rate", 0.05}}},
        {&method_unroll, 1, MATCH_ADAM, {{"rate", 0.02}, {"student-rate", 0.003}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct match_options options = match_unset();

        options.method = cases[i].method;
        options.per_class = cases[i].per_class;
        match_fill_in(&options, 4);
        assert_int_equal(options.optimiser, cases[i].optimiser);
        for (size_t v = 0; v < 10 && cases[i].values[v].name; v++)
            assert_near(match_value(&options, cases[i].values[v].name), cases[i].values[v].value,
                        1e-12);
    }
}

/* One option of sc-match can serve all methods that have it, and the loop finds what it needs. */
static void methods_agree_on_the_parameters_that_they_share(void **state)
{
    (void)state;
    for (size_t i = 0; match_methods[i]; i++) {
        const struct match_parameter *row = match_methods[i]->parameters;
        size_t count = 0;

        assert_true(match_parameter(match_methods[i], "steps") != SIZE_MAX);
        assert_true(match_parameter(match_methods[i], "rate") != SIZE_MAX);
        for (; row[count].name; count++)
            for (size_t j = 0; match_methods[j]; j++) {
                size_t other = match_parameter(match_methods[j], row[count].name);
                const struct match_parameter *same = &match_methods[j]->parameters[other];

                assert_true(row[count].help && row[count].argument && row[count].high > 0);
                assert_true(!row[count].recommend == !row[count].recommended);
                if (other == SIZE_MAX)
                    continue;
                if (i == j)
                    assert_int_equal(other, count);
                assert_int_equal(row[count].letter, same->letter);
                assert_string_equal(row[count].argument, same->argument);
                assert_int_equal(row[count].whole, same->whole);
                assert_true(row[count].low == same->low && row[count].high == same->high);
            }
        assert_true(count <= MATCH_PARAMETERS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_and_means_are_matched_as_the_manual_says),
        cmocka_unit_test(trajectories_are_matched_as_the_manual_says),
        cmocka_unit_test(experts_as_long_as_the_way_that_is_matched_will_do),
        cmocka_unit_test(clusters_are_of_what_an_expert_makes_of_the_series),
        cmocka_unit_test(training_is_unrolled_as_the_manual_says),
        cmocka_unit_test(what_is_not_given_is_what_the_manual_says),
        cmocka_unit_test(methods_agree_on_the_parameters_that_they_share),
    };

    return cmocka_run_group_tests_name("methods", tests, NULL, NULL);
}
