/* Whole networks through the CUDA plug-in, run on the processor by tests/fake_cuda, against the CPU
 * backend: every phase of a pass, training, synthesis, and what happens when something fails. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "condense/synthesise.h"
#include "learn/student.h"
#include "match/model.h"
#include "nn/memory.h"
#include "nn/train.h"
#include "support/fake_device.h"

enum { MOST = 9 };

/* What a pass gave. */
struct results {
    float *logits, *embedding, *dparameters, *dx, *dfeatures, *buffers;
    float *rlogits, *rparameters, *rx, *rfeatures;
    double match;
};

struct problem {
    struct architecture architecture;
    size_t samples, series, features, classes, embedding, parameters, buffers;
    bool training, statistics, moves_x;
    bool flat; /* series that do not change from step to step: all maxima are ties */
};

static void free_results(struct results *r)
{
    free(r->logits);
    free(r->embedding);
    free(r->dparameters);
    free(r->dx);
    free(r->dfeatures);
    free(r->buffers);
    free(r->rlogits);
    free(r->rparameters);
    free(r->rx);
    free(r->rfeatures);
}

/* What was counted so far; nothing on a real GPU. */
static struct fake_cuda_counts counts(void)
{
    return fake_knobs() ? fake_knobs()->counts() : (struct fake_cuda_counts){0};
}

static float *fetch(const struct backend *backend, const float *memory, size_t count)
{
    float *host = calloc(count + 1, sizeof *host);

    from_backend(backend, host, memory, count * sizeof *host);
    return host;
}

/* Memory of the backend with normal values of stream `index`. */
static float *some(const struct backend *backend, size_t count, uint64_t index)
{
    float *host = normal_values(count, index);
    float *memory = to_backend(backend, host, count * sizeof *host);

    free(host);
    return memory;
}

/* All four phases of one batch. */
static struct results run_pass(const struct backend *backend, const struct problem *p)
{
    size_t x = p->samples * p->series, features = p->samples * p->features;
    size_t logits = p->samples * p->classes, embedding = p->samples * p->embedding;
    struct results r = {0};
    struct network *network;
    struct pass *pass;
    double *match = backend->allocate(sizeof *match);
    float *parameters = backend->allocate(p->parameters * sizeof *parameters);
    float *buffers = backend->allocate((p->buffers + 1) * sizeof *buffers);
    float *moved = some(backend, p->buffers, 7), *dparameters = some(backend, p->parameters, 8);
    float *dx = some(backend, x, 9), *dfeatures = some(backend, features, 10);
    float *in = some(backend, x, 1), *shapelets = some(backend, features, 2);
    float *dlogits = some(backend, logits, 3), *dembedding = some(backend, embedding, 4);
    float *v = some(backend, p->parameters, 5), *vx = some(backend, x, 6);
    float *vf = some(backend, features, 11), *rdlogits = some(backend, logits, 12);
    const float *out;

    for (size_t i = 0; p->flat && i + 1 < x; i++)
        if ((i + 1) % p->architecture.length)
            backend->copy_rows(1, 1, in + i, 0, in + i + 1, 0);
    assert_ok(network_new(&p->architecture, backend, &network));
    assert_ok(pass_new(network, MOST, PASS_BACKWARD | PASS_TANGENT, &pass));
    network_initialise(network, 3, 0, parameters, buffers);
    /* Running statistics that are not those of a fresh network. */
    for (size_t i = 0; i < network->buffer_views; i++)
        if (strstr(network->buffers[i].name, "mean"))
            backend->copy_rows(1, network->buffers[i].count, moved + network->buffers[i].offset, 0,
                               buffers + network->buffers[i].offset, 0);
    out = pass_forward(pass, &(struct forward){.count = p->samples,
                                               .x = in,
                                               .features = shapelets,
                                               .parameters = parameters,
                                               .buffers = buffers,
                                               .training = p->training,
                                               .momentum = 0.1f,
                                               .statistics = p->statistics});
    r.logits = fetch(backend, out, logits);
    r.embedding = fetch(backend, pass_embedding(pass), embedding);
    if (p->statistics && p->architecture.norm == NORM_BATCH) {
        pass_match(pass, &(struct matching){0.5, 10, false}, match);
        from_backend(backend, &r.match, match, sizeof r.match);
    }
    pass_backward(pass, &(struct backward){.logits = dlogits,
                                           .embedding = dembedding,
                                           .parameters = dparameters,
                                           .x = dx,
                                           .features = dfeatures});
    r.dparameters = fetch(backend, dparameters, p->parameters);
    r.dx = fetch(backend, dx, x);
    r.dfeatures = fetch(backend, dfeatures, features);
    r.buffers = fetch(backend, buffers, p->buffers);
    out = pass_tangent_forward(
        pass, &(struct tangent){p->moves_x ? NULL : v, p->moves_x ? vx : NULL, vf});
    r.rlogits = fetch(backend, out, logits);
    pass_tangent_backward(
        pass, &(struct backward){
                  .logits = rdlogits, .parameters = dparameters, .x = dx, .features = dfeatures});
    r.rparameters = fetch(backend, dparameters, p->parameters);
    r.rx = fetch(backend, dx, x);
    r.rfeatures = fetch(backend, dfeatures, features);
    pass_free(pass);
    network_free(network);
    backend->release(match);
    float *const all[] = {parameters, buffers, moved,      dparameters, dx, dfeatures, in,
                          shapelets,  dlogits, dembedding, v,           vx, vf,        rdlogits};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        backend->release(all[i]);
    return r;
}

static struct problem problem_of(const char *text, size_t samples)
{
    struct problem p = {.samples = samples, .training = true};
    struct network *network;

    assert_ok(architecture_parse(text, &p.architecture));
    assert_ok(network_new(&p.architecture, backend_cpu(), &network));
    p.series = p.architecture.channels * p.architecture.length;
    p.features = p.architecture.features;
    p.classes = p.architecture.classes;
    p.embedding = network->embedding;
    p.parameters = network->parameter_count;
    p.buffers = network->buffer_count;
    network_free(network);
    return p;
}

static void compare_passes(const struct problem *p, double tolerance)
{
    struct results a = run_pass(fake_device()->backend, p), b = run_pass(backend_cpu(), p);
    size_t n = p->samples;

    assert_arrays_near(a.logits, b.logits, n * p->classes, tolerance);
    assert_arrays_near(a.embedding, b.embedding, n * p->embedding, tolerance);
    assert_arrays_near(a.dparameters, b.dparameters, p->parameters, tolerance);
    assert_arrays_near(a.dx, b.dx, n * p->series, tolerance);
    assert_arrays_near(a.dfeatures, b.dfeatures, n * p->features, tolerance);
    assert_arrays_near(a.buffers, b.buffers, p->buffers, tolerance);
    assert_arrays_near(a.rlogits, b.rlogits, n * p->classes, tolerance);
    assert_arrays_near(a.rparameters, b.rparameters, p->parameters, tolerance);
    assert_arrays_near(a.rx, b.rx, n * p->series, tolerance);
    assert_arrays_near(a.rfeatures, b.rfeatures, n * p->features, tolerance);
    assert_near(a.match, b.match, tolerance);
    free_results(&a);
    free_results(&b);
}

/* Every kind of normalisation, activation and pooling, odd sizes, one channel, wide rows. */
static const char *const networks[] = {
    "cnn depth=2 width=5 norm=batch act=relu pool=max channels=2 length=13 classes=3 features=2",
    "cnn depth=2 width=33 norm=batch act=sigmoid pool=mean channels=1 length=11 classes=2",
    "cnn depth=1 width=17 norm=batch act=leaky pool=none channels=3 length=70 classes=4",
    "cnn depth=2 width=5 norm=instance act=relu pool=mean channels=2 length=13 classes=3",
    "cnn depth=1 width=40 norm=instance act=sigmoid pool=max channels=1 length=8 classes=5",
    "cnn depth=2 width=6 norm=layer act=sigmoid pool=mean channels=2 length=9 classes=3 features=1",
    "cnn depth=1 width=35 norm=layer act=leaky pool=none channels=1 length=33 classes=2",
    "cnn depth=2 width=6 norm=layer act=relu pool=max channels=2 length=10 classes=3",
    "cnn depth=2 width=6 kernel=5 norm=none act=sigmoid pool=max channels=2 length=9 classes=2",
    "cnn depth=2 width=4 kernel=1 norm=batch act=relu pool=mean channels=3 length=6 classes=2",
};

static void all_phases_are_those_of_the_processor(void **state)
{
    static const size_t samples[] = {5, 1, MOST};

    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        for (size_t k = 0; k < 6; k++) {
            struct problem p = problem_of(networks[i], samples[k / 2]);

            p.training = k % 2 == 0;
            p.statistics = !p.training;
            p.moves_x = k % 4 == 1;
            /* One value for each channel has variance 0: what is left is rounding. */
            compare_passes(&p, p.samples == 1 ? 2e-3 : 3e-5);
        }
}

/* Longer than one block of rows, so that sums have several parts. */
static void many_steps_and_blocks_are_summed_up_in_full(void **state)
{
    struct problem p = problem_of(
        "cnn depth=1 width=3 norm=batch act=sigmoid pool=mean channels=1 length=1501 classes=2", 3);

    (void)state;
    compare_passes(&p, 3e-5);
    p = problem_of("cnn depth=1 width=3 norm=instance act=sigmoid pool=mean channels=1 length=701 "
                   "classes=2",
                   2);
    compare_passes(&p, 3e-5);
}

static void of_steps_that_tie_the_first_is_the_largest(void **state)
{
    struct problem p = problem_of(
        "cnn depth=2 width=5 norm=none act=leaky pool=max channels=2 length=20 classes=3", 4);

    (void)state;
    p.flat = true;
    p.moves_x = true;
    compare_passes(&p, 3e-5);
}

static void the_order_of_blocks_and_threads_changes_no_bit(void **state)
{
    (void)state;
    if (!fake_knobs())
        skip();
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct problem p = problem_of(networks[i], 5);
        struct results a, b;

        a = run_pass(fake_device()->backend, &p);
        fake_knobs()->run_backwards(true);
        b = run_pass(fake_device()->backend, &p);
        fake_knobs()->run_backwards(false);
        assert_memory_equal(a.rparameters, b.rparameters, p.parameters * sizeof(float));
        assert_memory_equal(a.rx, b.rx, p.samples * p.series * sizeof(float));
        assert_memory_equal(a.dparameters, b.dparameters, p.parameters * sizeof(float));
        assert_memory_equal(a.buffers, b.buffers, p.buffers * sizeof(float));
        free_results(&a);
        free_results(&b);
    }
}

static void grids_too_small_for_the_work_go_round(void **state)
{
    (void)state;
    if (!fake_knobs())
        skip();
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct problem p = problem_of(networks[i], 5);

        p.statistics = true;
        p.training = i % 2 == 0;
        fake_knobs()->limit_grids(1 + i % 2);
        compare_passes(&p, 3e-5);
        fake_knobs()->limit_grids(0);
    }
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
    struct train_set train, validation;
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
    s->train = (struct train_set){SERIES, s->x, s->features, s->labels, s->targets};
    s->validation = (struct train_set){HELD_OUT, s->x + SERIES * STEPS,
                                       s->features + SERIES * FEATURES, s->labels + SERIES, NULL};
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

/* Trains and gives the parameters, the result and the logits of the held-out series. */
static float *train_on(const struct backend *backend, const struct sets *s,
                       const struct train_options *options, struct train_result *result,
                       float *logits)
{
    struct architecture architecture;
    struct network *network;
    struct pass *pass;
    float *parameters, *buffers, *host;

    assert_ok(architecture_parse(small, &architecture));
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

static void training_goes_the_way_of_the_processor(void **state)
{
    struct problem p = problem_of(small, 5);
    struct sets s;

    (void)state;
    make_sets(&s);
    for (int kind = 0; kind < 4; kind++) {
        struct train_options options = train_defaults();
        struct train_result a, b;
        struct fake_cuda_counts before;
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
        /* Full batches: 4 of each epoch, of which the first of all is not captured. */
        assert_true(!fake_knobs() ||
                    counts().graph_launches - before.graph_launches == (kind == 3 ? 0 : 5 * 4 - 1));
        y = train_on(backend_cpu(), &s, &options, &b, logits_b);
        /* Before a normalisation the bias has no slope: Adam follows what rounding left of it. */
        memcpy(x + BIAS, y + BIAS, WIDTH * sizeof *x);
        assert_arrays_near(x, y, p.parameters, 2e-4);
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

/* Stops after the second epoch. */
static bool stop_early(void *context, const struct train_epoch *epoch)
{
    (void)context;
    return epoch->epoch < 2;
}

static void an_interrupted_training_goes_on_with_the_same_bytes(void **state)
{
    struct problem p = problem_of(small, 5);
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
    assert_memory_equal(whole, parts, p.parameters * sizeof *whole);
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
    struct dataset set;

    assert_ok(dataset_new(SERIES, 1, STEPS, CLASSES, false, &set));
    memcpy(set.x, s->x, SERIES * STEPS * sizeof *set.x);
    memcpy(set.y, s->labels, SERIES * sizeof *set.y);
    return set;
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
    struct dataset set = make_dataset(s);
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
    assert_ok(synthesise(options, &set, &guide, &transform, condensed, &result));
    guide_close(&guide);
    transform_free(&transform);
    teacher_free(&teacher);
    slp_free(&pool);
    dataset_free(&set);
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
        options.start = by_round ? START_EXPLAIN : START_REAL;
        before = counts();
        a = synthesise_on(fake_device(), &s, &options, &x);
        after = counts();
        b = synthesise_on(&cpu, &s, &options, &y);
        assert_arrays_near(x.x, y.x, x.count * STEPS, 1e-3);
        assert_arrays_near(x.soft, y.soft, x.count * CLASSES, 1e-3);
        assert_near(a.first.loss, b.first.loss, 1e-5);
        assert_near(a.best.loss, b.best.loss, 1e-4);
        assert_near(a.best.apart, b.best.apart, 1e-4);
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
    struct dataset set, condensed;
    struct architecture architecture;
    struct synthesis_result result;
    struct teacher teacher;
    struct guide guide;
    struct sets s;

    (void)state;
    make_sets(&s);
    set = make_dataset(&s);
    assert_ok(architecture_parse("cnn depth=1 width=4 norm=none channels=1 length=12 classes=3",
                                 &architecture));
    assert_ok(teacher_new(&architecture, fake_device()->backend, &teacher));
    network_initialise(teacher.network, 5, 0, teacher.parameters, teacher.buffers);
    assert_ok(guide_from_teacher(&teacher, &guide));
    options.per_class = 1;
    options.steps = 10;
    options.rate = 3e38;
    assert_fails("step 1: the loss is no longer a number",
                 synthesise(&options, &set, &guide, NULL, &condensed, &result));
    guide_close(&guide);
    teacher_free(&teacher);
    dataset_free(&set);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_phases_are_those_of_the_processor),
        cmocka_unit_test(many_steps_and_blocks_are_summed_up_in_full),
        cmocka_unit_test(of_steps_that_tie_the_first_is_the_largest),
        cmocka_unit_test(the_order_of_blocks_and_threads_changes_no_bit),
        cmocka_unit_test(grids_too_small_for_the_work_go_round),
        cmocka_unit_test(training_goes_the_way_of_the_processor),
        cmocka_unit_test(an_interrupted_training_goes_on_with_the_same_bytes),
        cmocka_unit_test(students_score_as_on_the_processor),
        cmocka_unit_test(synthesis_goes_the_way_of_the_processor),
        cmocka_unit_test(models_that_are_matched_run_on_the_device),
        cmocka_unit_test(a_loss_that_is_no_number_is_told_with_its_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
