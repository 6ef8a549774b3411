/* Whole networks through the CUDA plug-in, run on the processor by tests/fake_cuda, against the CPU
 * backend: every phase of a pass. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/backend_memory.h"
#include "nn/pass.h"
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
    struct network_statistics normalised;
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
    out = pass_forward(
        pass, &(struct forward){.count = p->samples,
                                .x = in,
                                .features = shapelets,
                                .parameters = parameters,
                                .buffers = buffers,
                                .training = p->training,
                                .momentum = 0.1f,
                                .dropout = p->training ? dropout_of(5, 2) : (struct dropout){0},
                                .statistics = p->statistics});
    r.logits = fetch(backend, out, logits);
    r.embedding = fetch(backend, pass_embedding(pass), embedding);
    if (p->statistics && network_statistics(network, 0, &normalised)) {
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

/* Every kind of normalisation, activation and pooling, odd sizes, one channel, wide rows, rows that
 * nothing is filled up in. */
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
    "cnn depth=2 width=16 norm=batch act=sigmoid pool=mean channels=1 length=9 classes=2",
    "cnn depth=1 width=32 norm=instance act=leaky pool=max channels=2 length=7 classes=2",
    "cnn depth=1 width=16 norm=layer act=sigmoid pool=none channels=1 length=6 classes=3",
    "cnn depth=1 width=5 kernel=5 pool=none end=max act=sigmoid channels=2 length=9 classes=3",
    "cnn depth=2 width=33 norm=instance end=mean channels=1 length=14 classes=2 features=2",
    "cnn depth=1 width=16 act=sigmoid pool=none end=max channels=2 length=9 classes=3",
    "cnn depth=2 width=5 norm=batch act=gelu pool=mean channels=2 length=11 classes=3",
    "cnn depth=1 width=4 norm=layer act=gelu pool=max channels=1 length=8 classes=2",
    "cnn depth=1 width=16 act=sigmoid pool=none end=mean channels=2 length=9 classes=3",
    "fcn width=5 channels=2 length=9 classes=3 features=1",
    "resnet blocks=2 width=4 act=sigmoid channels=2 length=11 classes=3",
    ("resnet blocks=3 width=3 kernel1=7 kernel2=4 act=sigmoid channels=1 length=10 classes=2 "
     "features=2"),
    "resnet blocks=2 width=3 norm=layer act=sigmoid end=max channels=2 length=8 classes=2",
    "resnet blocks=3 width=3 norm=none act=sigmoid end=flatten channels=2 length=8 classes=2",
    "inception depth=3 width=3 kernel1=6 kernel2=3 kernel3=2 bottleneck=2 act=sigmoid channels=2 "
    "length=11 classes=3 features=1",
    "inception depth=2 width=4 kernel1=8 kernel2=5 kernel3=2 norm=layer act=sigmoid end=flatten "
    "channels=1 length=7 classes=2",
    "inception depth=1 width=16 bottleneck=0 kernel1=3 kernel2=2 kernel3=1 norm=none act=sigmoid "
    "end=max channels=3 length=40 classes=2",
    "tcn depth=4 width=5 kernel=3 norm=instance act=sigmoid end=mean channels=2 length=11 "
    "classes=3 features=2",
    "tcn depth=3 width=16 kernel=4 norm=none act=sigmoid channels=1 length=37 classes=2",
    "mlp depth=2 width=33 act=sigmoid channels=2 length=9 classes=3 features=2",
    "mlp depth=1 width=5 norm=batch act=sigmoid channels=1 length=7 classes=2",
    "transformer width=6 ff=5 dropout=0.3 act=gelu channels=2 length=11 classes=3 features=2",
    "transformer width=12 heads=3 ff=17 layers=2 patch=2 norm=layer act=gelu dropout=0.2 "
    "positions=learned end=mean channels=2 length=10 classes=3",
    "transformer width=16 heads=2 ff=16 norm=layer act=gelu dropout=0 channels=1 length=70 "
    "classes=2 end=mean",
    "gru hidden=5 channels=2 length=9 classes=3 features=1",
    "gru hidden=16 layers=2 channels=1 length=13 classes=2",
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
            if (p.samples == 1 && strncmp(networks[i], "mlp", 3) == 0)
                continue; /* of one value batch normalisation leaves nothing at all */
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
    /* Squares of two series are more than attention computes together. */
    p = problem_of("transformer width=2 ff=2 dropout=0.3 channels=1 length=730 classes=2", 2);
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
    p = problem_of("cnn depth=1 width=5 norm=none act=leaky pool=none end=max channels=2 length=20 "
                   "classes=3",
                   4);
    p.flat = true;
    p.moves_x = true;
    compare_passes(&p, 3e-5);
    p = problem_of("inception depth=2 width=5 norm=none act=leaky channels=2 length=20 classes=3",
                   4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_phases_are_those_of_the_processor),
        cmocka_unit_test(many_steps_and_blocks_are_summed_up_in_full),
        cmocka_unit_test(of_steps_that_tie_the_first_is_the_largest),
        cmocka_unit_test(the_order_of_blocks_and_threads_changes_no_bit),
        cmocka_unit_test(grids_too_small_for_the_work_go_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
