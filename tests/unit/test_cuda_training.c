/* Training, synthesis and matching through the CUDA plug-in, run on the processor by
 * tests/fake_cuda, against the CPU backend, and what happens when something fails. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "condense/synthesise.h"
#include "eval/student.h"
#include "match/model.h"
#include "nn/train.h"
#include "support/fake_device.h"

/* What was counted so far; nothing on a real GPU. */
static struct fake_cuda_counts counts(void)
{
    return fake_knobs() ? fake_knobs()->counts() : (struct fake_cuda_counts){0};
}

/* ---- Training ---- */

enum {
    SERIES = 23,
    HELD_OUT = 7,
    STEPS = 12,
    CLASSES = 3,
    FEATURES = 2,
    WIDTH = 6,
    BIAS = 3 * WIDTH
};

struct sets {
    float *x, *features, *targets;
    int32_t labels[SERIES + HELD_OUT];
    struct tensor_dataset train, validation;
};

static void make_sets(struct sets *s)
{
    s->x = normal_values((SERIES + HELD_OUT) * STEPS, 20);
    s->features = normal_values((SERIES + HELD_OUT) * FEATURES, 21);
    s->targets = normal_values((SERIES + HELD_OUT) * CLASSES, 22);
    for (size_t i = 0; i < SERIES + HELD_OUT; i++) {
        s->labels[i] = (int32_t)(i % CLASSES);
        s->x[i * STEPS + i % CLASSES] += 2;
    }
    s->train = (struct tensor_dataset){SERIES, s->x, s->features, s->labels, s->targets};
    s->validation = (struct tensor_dataset){
        HELD_OUT, s->x + SERIES * STEPS, s->features + SERIES * FEATURES, s->labels + SERIES, NULL};
}

static void free_sets(struct sets *s)
{
    free(s->x);
    free(s->features);
    free(s->targets);
}

static const char small[] =
    "cnn depth=1 width=6 norm=batch channels=1 length=12 classes=3 features=2 act=sigmoid "
    "pool=mean";

static size_t small_parameters(void)
{
    struct architecture architecture;
    struct network *network;
    size_t count;

    assert_ok(architecture_parse(small, &architecture));
    assert_ok(network_new(&architecture, backend_cpu(), &network));
    count = network->parameter_count;
    network_free(network);
    return count;
}

/* Trains and gives the parameters, the result and the logits of the held-out series. */
static float *train_network_on(const char *text, const struct backend *backend,
                               const struct sets *s, const struct train_options *options,
                               struct train_result *result, float *logits)
{
    struct architecture architecture;
    struct network *network;
    struct pass *pass;
    float *parameters, *buffers, *host;

    assert_ok(architecture_parse(text, &architecture));
    assert_ok(network_new(&architecture, backend, &network));
    parameters = backend->allocate(network->parameter_count * sizeof *parameters);
    buffers = backend->allocate(network->buffer_count * sizeof *buffers);
    network_initialise(network, 1, 0, parameters, buffers);
    assert_ok(
        train_network(network, options, &s->train, &s->validation, parameters, buffers, result));
    host = fetch(backend, parameters, network->parameter_count);
    assert_ok(pass_new(network, 3, 0, &pass));
    assert_ok(network_predict(pass, parameters, buffers, &s->validation, logits, NULL));
    pass_free(pass);
    backend->release(parameters);
    backend->release(buffers);
    network_free(network);
    return host;
}

static float *train_on(const struct backend *backend, const struct sets *s,
                       const struct train_options *options, struct train_result *result,
                       float *logits)
{
    return train_network_on(small, backend, s, options, result, logits);
}

static void training_goes_the_way_of_the_processor(void **state)
{
    size_t parameters = small_parameters();
    struct sets s;

    (void)state;
    make_sets(&s);
    for (int kind = 0; kind < 4; kind++) {
        struct train_options options = train_defaults();
        struct train_result a, b;
        struct fake_cuda_counts before, after;
        float logits_a[HELD_OUT * CLASSES], logits_b[HELD_OUT * CLASSES], *x, *y;

        options.epochs = 5;
        options.batch = 5; /* and a last one of 3 */
        if (kind == 1)
            options.optimiser = optimiser_defaults(OPTIMISER_SGD), options.optimiser.momentum = 0.9;
        if (kind == 2)
            options.loss = (struct loss){LOSS_KL, 4.0f, 16.0f};
        if (kind == 3)
            options.loss = (struct loss){LOSS_SOFT, 2.0f, 1.0f}, options.batch = 100;
        options.choose = kind == 1 ? TRAIN_CHOOSE_LAST : TRAIN_CHOOSE_LOSS;
        before = counts();
        x = train_on(fake_device()->backend, &s, &options, &a, logits_a);
        after = counts();
        /* Full batches: 4 of each epoch, of which the first of all is not captured. */
        assert_true(!fake_knobs() ||
                    after.graph_launches - before.graph_launches == (kind == 3 ? 0 : 5 * 4 - 1));
        /* The host waits for the losses of each epoch and its validation, and for the results. */
        assert_true(after.syncs - before.syncs <= 5 * 2 + 6);
        y = train_on(backend_cpu(), &s, &options, &b, logits_b);
        /* Before a normalisation the bias has no slope: Adam follows what rounding left of it. */
        memcpy(x + BIAS, y + BIAS, WIDTH * sizeof *x);
        assert_arrays_near(x, y, parameters, 2e-4);
        assert_arrays_near(logits_a, logits_b, HELD_OUT * CLASSES, 5e-4);
        assert_int_equal(a.best_epoch, b.best_epoch);
        assert_near(a.loss, b.loss, 1e-4);
        assert_near(a.validation_loss, b.validation_loss, 1e-4);
        assert_near(a.validation_accuracy, b.validation_accuracy, 1e-9);
        free(x);
        free(y);
    }
    free_sets(&s);
}

/* Masks of dropout count the steps of a captured batch; gates go from step to step. */
static void transformers_and_recurrent_networks_train_as_on_the_processor(void **state)
{
    static const char *const texts[] = {
        "transformer width=6 heads=2 ff=5 norm=layer dropout=0.3 end=mean act=gelu channels=1 "
        "length=12 classes=3 features=2",
        "gru hidden=5 channels=1 length=12 classes=3 features=2",
    };
    struct sets s;

    (void)state;
    make_sets(&s);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct train_options options = train_defaults();
        float logits_a[HELD_OUT * CLASSES], logits_b[HELD_OUT * CLASSES];
        struct train_result a, b;

        options.epochs = 5;
        options.batch = 5;
        options.choose = TRAIN_CHOOSE_LAST;
        free(train_network_on(texts[i], fake_device()->backend, &s, &options, &a, logits_a));
        free(train_network_on(texts[i], backend_cpu(), &s, &options, &b, logits_b));
        assert_arrays_near(logits_a, logits_b, HELD_OUT * CLASSES, 5e-4);
        assert_near(a.loss, b.loss, 1e-4);
    }
    free_sets(&s);
}

/* Stops after the second epoch. */
static bool stop_early(void *context, const struct train_epoch *epoch)
{
    (void)context;
    return epoch->epoch < 2;
}

static void an_interrupted_training_goes_on_with_the_same_bytes(void **state)
{
    size_t parameters = small_parameters();
    char path[] = "/tmp/cuda-checkpoint-XXXXXX";
    float logits[2][HELD_OUT * CLASSES], *whole, *parts;
    struct train_options options = train_defaults();
    struct train_result result;
    struct sets s;

    (void)state;
    make_sets(&s);
    close(mkstemp(path));
    unlink(path);
    options.epochs = 4;
    options.batch = 5;
    whole = train_on(fake_device()->backend, &s, &options, &result, logits[0]);
    options.checkpoint = path;
    options.progress = stop_early;
    free(train_on(fake_device()->backend, &s, &options, &result, logits[1]));
    options.progress = NULL;
    parts = train_on(fake_device()->backend, &s, &options, &result, logits[1]);
    assert_memory_equal(whole, parts, parameters * sizeof *whole);
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    unlink(path);
    free(whole);
    free(parts);
    free_sets(&s);
}

static void students_score_as_on_the_processor(void **state)
{
    struct student_options options = {.seeds = 2, .train = train_defaults()};
    struct score a[2], b[2];
    struct sets s;

    (void)state;
    make_sets(&s);
    assert_ok(architecture_parse(small, &options.architecture));
    options.train.epochs = 4;
    options.train.batch = 6;
    options.backend = fake_device()->backend;
    assert_ok(students_train(&options, &s.train, NULL, &s.validation, a));
    options.backend = NULL;
    assert_ok(students_train(&options, &s.train, NULL, &s.validation, b));
    for (size_t i = 0; i < 2; i++) {
        assert_near(a[i].accuracy, b[i].accuracy, 1e-9);
        assert_near(a[i].training.loss, b[i].training.loss, 1e-4);
        score_free(&a[i]);
        score_free(&b[i]);
    }
    free_sets(&s);
}

/* ---- Synthesis ---- */

static struct dataset make_dataset(struct sets *s)
{
    struct dataset dataset;

    assert_ok(dataset_new(SERIES, 1, STEPS, CLASSES, false, &dataset));
    memcpy(dataset.x, s->x, SERIES * STEPS * sizeof *dataset.x);
    memcpy(dataset.y, s->labels, SERIES * sizeof *dataset.y);
    return dataset;
}

static void make_pool(struct sets *s, struct shapelet_pool *pool)
{
    assert_ok(slp_new(FEATURES, 9, pool));
    pool->channels = 1;
    pool->steps = STEPS;
    pool->classes = CLASSES;
    memcpy(pool->values, s->x, 9 * sizeof *pool->values);
    pool->shapelets[0] =
        (struct shapelet){.values = pool->values, .start = 2, .length = 5, .window = 3};
    pool->shapelets[1] =
        (struct shapelet){.values = pool->values + 5, .start = 6, .length = 4, .window = 2};
}

static struct synthesis_result synthesise_on(const struct device *device, struct sets *s,
                                             struct synthesis_options *options,
                                             struct dataset *condensed)
{
    struct dataset dataset = make_dataset(s);
    struct architecture architecture;
    struct shapelet_pool pool;
    struct transform transform;
    struct teacher teacher;
    struct guide guide;
    struct synthesis_result result;

    make_pool(s, &pool);
    assert_ok(architecture_parse(small, &architecture));
    assert_ok(teacher_new(&architecture, device->backend, &teacher));
    network_initialise(teacher.network, 5, 0, teacher.parameters, teacher.buffers);
    assert_ok(transform_make(&pool, 1, STEPS, TRANSFORM_AS_FOUND, &transform));
    assert_ok(transform_to_device(&transform, device->transform));
    assert_ok(guide_from_teacher(&teacher, &guide));
    assert_ok(synthesise(options, &dataset, &guide, &transform, condensed, &result));
    guide_close(&guide);
    transform_free(&transform);
    teacher_free(&teacher);
    slp_free(&pool);
    dataset_free(&dataset);
    return result;
}

static void synthesis_goes_the_way_of_the_processor(void **state)
{
    struct device cpu = device_cpu();
    struct sets s;

    (void)state;
    make_sets(&s);
    for (int by_round = 0; by_round < 2; by_round++) {
        struct synthesis_options options = synthesis_defaults();
        struct synthesis_result a, b;
        struct dataset x, y;
        struct fake_cuda_counts before, after;

        options.per_class = 2;
        options.steps = 70; /* more than are queued at once */
        options.rate = 0.05;
        options.by_round = by_round;
        options.start = by_round ? START_RIDGE : START_REAL;
        before = counts();
        a = synthesise_on(fake_device(), &s, &options, &x);
        after = counts();
        b = synthesise_on(&cpu, &s, &options, &y);
        assert_arrays_near(x.x, y.x, x.count * STEPS, 1e-3);
        assert_arrays_near(x.soft, y.soft, x.count * CLASSES, 1e-3);
        assert_near(a.first.loss, b.first.loss, 1e-5);
        assert_near(a.best.loss, b.best.loss, 1e-4);
        assert_near(a.best.distance, b.best.distance, 1e-4);
        assert_true(a.best.loss < a.first.loss);
        /* All steps but the first of each batch are one graph, and hardly ever does anyone wait. */
        assert_true(!fake_knobs() ||
                    after.graph_launches - before.graph_launches == 69u * (1 + (unsigned)by_round));
        assert_true(by_round || after.syncs - before.syncs <= 8);
        dataset_free(&x);
        dataset_free(&y);
    }
    free_sets(&s);
}

static void a_loss_that_is_no_number_is_told_with_its_step(void **state)
{
    struct synthesis_options options = synthesis_defaults();
    struct dataset dataset, condensed;
    struct architecture architecture;
    struct synthesis_result result;
    struct teacher teacher;
    struct guide guide;
    struct sets s;

    (void)state;
    make_sets(&s);
    dataset = make_dataset(&s);
    assert_ok(architecture_parse("cnn depth=1 width=4 norm=none channels=1 length=12 classes=3",
                                 &architecture));
    assert_ok(teacher_new(&architecture, fake_device()->backend, &teacher));
    network_initialise(teacher.network, 5, 0, teacher.parameters, teacher.buffers);
    assert_ok(guide_from_teacher(&teacher, &guide));
    options.per_class = 1;
    options.steps = 10;
    options.rate = 3e38;
    assert_fails("step 1: the loss is no longer a number",
                 synthesise(&options, &dataset, &guide, NULL, &condensed, &result));
    guide_close(&guide);
    teacher_free(&teacher);
    dataset_free(&dataset);
    free_sets(&s);
}

/* ---- Matching ---- */

/* Loss, its gradients and second-order products of a model, on the host. */
static void run_model(const struct backend *backend, const struct sets *s, bool two_towers,
                      bool training, float *out, double *loss, size_t *floats)
{
    static const struct loss kl = {LOSS_KL, 2, 1};
    struct targets targets = {.values = s->targets};
    struct architecture architecture;
    struct model model;
    struct model_run *run;
    float *parameters, *buffers, *v, *embedding;
    size_t p, x = 5 * STEPS;

    assert_ok(architecture_parse("cnn depth=1 width=6 norm=batch channels=1 length=12 classes=3 "
                                 "act=sigmoid pool=mean",
                                 &architecture));
    assert_ok(model_new_on(&architecture, two_towers, backend, &model));
    assert_ok(model_run_new(&model, 6, PASS_BACKWARD | PASS_TANGENT, &run));
    p = model.parameter_count;
    parameters = calloc(p, sizeof *parameters);
    buffers = calloc(model.buffer_count, sizeof *buffers);
    v = normal_values(p, 60);
    embedding = normal_values(5 * model.embedding, 61);
    model_initialise(&model, 4, 0, parameters, buffers);
    *loss = model_loss(run,
                       &(struct model_batch){.count = 5,
                                             .x = s->x,
                                             .parameters = parameters,
                                             .buffers = buffers,
                                             .training = training,
                                             .momentum = 0.1f},
                       &kl, &targets, out, out + p);
    model_second(run, &kl, &targets, v, out + p + x, out + 2 * p + x, NULL);
    model_backward(run, s->targets, embedding, out + 2 * (p + x), out + 3 * p + 2 * x);
    model_embedding(run, embedding);
    memcpy(out + 3 * (p + x), embedding, 5 * model.embedding * sizeof *out);
    memcpy(out + 3 * (p + x) + 5 * model.embedding, buffers, model.buffer_count * sizeof *out);
    *floats = 3 * (p + x) + 5 * model.embedding + model.buffer_count;
    model_run_free(run);
    model_free(&model);
    free(parameters);
    free(buffers);
    free(v);
    free(embedding);
}

static void models_that_are_matched_run_on_the_device(void **state)
{
    struct sets s;

    (void)state;
    make_sets(&s);
    for (int k = 0; k < 4; k++) {
        static float a[1 << 13], b[1 << 13];
        double loss_a, loss_b;
        size_t floats;

        run_model(fake_device()->backend, &s, k % 2, k / 2, a, &loss_a, &floats);
        run_model(NULL, &s, k % 2, k / 2, b, &loss_b, &floats);
        assert_true(floats <= sizeof a / sizeof *a);
        assert_arrays_near(a, b, floats, 3e-5);
        assert_near(loss_a, loss_b, 1e-5);
    }
    free_sets(&s);
}

/* ---- Order ---- */

/* Work that is done as late as CUDA may, and copies before the work or after it, as they may. */
static void work_and_copies_in_any_order_give_the_same_bytes(void **state)
{
    static float matched[2][1 << 13];
    struct train_options training = train_defaults();
    struct synthesis_options synthesis = synthesis_defaults();
    float logits[2][HELD_OUT * CLASSES], *parameters[2] = {NULL, NULL};
    struct dataset condensed[2];
    struct train_result result;
    struct sets s;
    size_t floats;
    double loss;

    (void)state;
    if (!fake_knobs())
        skip();
    make_sets(&s);
    training.epochs = 3;
    training.batch = 5;
    synthesis.per_class = 2;
    synthesis.steps = 70;
    synthesis.by_round = true;
    for (int late = FAKE_NONE_LATE; late <= FAKE_OTHERS_LATE; late++) {
        int k = late > 0;

        fake_knobs()->run_late((enum fake_late)late);
        parameters[k] = train_on(fake_device()->backend, &s, &training, &result, logits[k]);
        synthesise_on(fake_device(), &s, &synthesis, &condensed[k]);
        run_model(fake_device()->backend, &s, true, true, matched[k], &loss, &floats);
        fake_knobs()->run_late(FAKE_NONE_LATE);
        if (!k)
            continue;
        assert_memory_equal(parameters[0], parameters[1], small_parameters() * sizeof(float));
        assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
        assert_memory_equal(condensed[0].x, condensed[1].x,
                            condensed[0].count * STEPS * sizeof(float));
        assert_memory_equal(matched[0], matched[1], floats * sizeof(float));
        free(parameters[1]);
        dataset_free(&condensed[1]);
    }
    free(parameters[0]);
    dataset_free(&condensed[0]);
    free_sets(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_goes_the_way_of_the_processor),
        cmocka_unit_test(transformers_and_recurrent_networks_train_as_on_the_processor),
        cmocka_unit_test(an_interrupted_training_goes_on_with_the_same_bytes),
        cmocka_unit_test(students_score_as_on_the_processor),
        cmocka_unit_test(synthesis_goes_the_way_of_the_processor),
        cmocka_unit_test(models_that_are_matched_run_on_the_device),
        cmocka_unit_test(work_and_copies_in_any_order_give_the_same_bytes),
        cmocka_unit_test(a_loss_that_is_no_number_is_told_with_its_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
