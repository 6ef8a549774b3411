/* Times the network engine: training steps, synthesis steps and second-order products of the
 * paper's 3x32 network on the shapes of its seven datasets, training steps and products of the
 * other families of networks on one of them, and the matrix product of OpenBLAS beside them.
 *
 *     engine THREADS [JOB [FAMILY]]
 *
 * Prints lines "job dataset threads value unit"; value is the best of several runs. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/parallel.h"
#include "base/random.h"
#include "nn/loss.h"
#include "nn/pass.h"
#include "nn/optimiser.h"

static const struct {
    const char *name;
    size_t channels, length, classes;
} shapes[] = {{"FacesUCR", 1, 131, 14}, {"TwoPatterns", 1, 128, 4}, {"HAR", 9, 128, 6},
              {"Electric", 1, 96, 7},   {"Sleep", 1, 3000, 5},      {"Tiselac", 10, 23, 9},
              {"Pedestrian", 1, 24, 82}};

enum { SHAPES = sizeof shapes / sizeof shapes[0], BATCH = 256, RUNS = 40, FEWEST_RUNS = 4 };
enum { SMALL_SHAPE = 2, FAMILY_SHAPE = 2, FAMILY_BATCH = 64 };

/* One network of each family, as tch(5) describes them, and the usual transformer.  Without
 * dropout, which is random numbers more than network. */
static const struct {
    const char *name, *text;
} families[] = {
    {"cnn", "cnn"},
    {"fcn", "fcn"},
    {"resnet", "resnet"},
    {"inception", "inception"},
    {"tcn", "tcn"},
    {"mlp", "mlp"},
    {"transformer", "transformer dropout=0"},
    {"pre-norm", "transformer heads=4 layers=2 patch=8 norm=layer act=gelu dropout=0 "
                 "positions=learned end=mean"},
    {"gru", "gru"},
};

static void check(struct error *error)
{
    if (error) {
        fprintf(stderr, "engine: %s\n", error_message(error));
        exit(1);
    }
}

static float *make(size_t count)
{
    float *memory = backend_cpu()->allocate(count * sizeof *memory);

    if (!memory)
        abort();
    return memory;
}

static float *make_normal(size_t count, uint64_t index)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, index);
    float *memory = make(count);

    for (size_t i = 0; i < count; i++)
        memory[i] = (float)random_normal(&stream);
    return memory;
}

/* With one thread, processor time, so that other programs on the machine do not count; with more,
 * the clock on the wall. */
static clockid_t clock_used = CLOCK_PROCESS_CPUTIME_ID;

static double now(void)
{
    struct timespec time;

    clock_gettime(clock_used, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Everything that a job needs. */
struct job {
    struct network *network;
    struct pass *pass;
    size_t batch, classes, values; /* values: floats of the series */
    float *parameters, *buffers, *x, *dlogits, *gradient, *dx, *direction, *product;
    int32_t *labels;
    struct optimiser optimiser;
    bool same; /* parameters did not change since the last step */
};

static void set_up(struct job *job, const char *text, size_t shape, size_t batch, unsigned flags,
                   const struct optimiser_options *options, bool on_series)
{
    struct architecture architecture;

    memset(job, 0, sizeof *job);
    check(architecture_parse(text, &architecture));
    architecture.channels = shapes[shape].channels;
    architecture.length = shapes[shape].length;
    architecture.classes = shapes[shape].classes;
    check(network_new(&architecture, backend_cpu(), &job->network));
    check(pass_new(job->network, batch, flags, &job->pass));
    job->batch = batch;
    job->classes = architecture.classes;
    job->values = batch * architecture.channels * architecture.length;
    job->parameters = make(job->network->parameter_count);
    job->buffers = make(job->network->buffer_count);
    network_initialise(job->network, 1, 0, job->parameters, job->buffers);
    job->x = make_normal(job->values, 1);
    job->dx = make(job->values);
    job->dlogits = make(batch * job->classes);
    job->gradient = make(job->network->parameter_count);
    job->direction = make_normal(job->network->parameter_count, 2);
    job->product = make(job->network->parameter_count);
    job->labels = calloc(batch, sizeof *job->labels);
    for (size_t i = 0; i < batch; i++)
        job->labels[i] = (int32_t)(i % job->classes);
    check(optimiser_new(options, backend_cpu(),
                        on_series ? job->values : job->network->parameter_count, &job->optimiser));
}

static void tear_down(struct job *job)
{
    const struct backend *backend = backend_cpu();

    pass_free(job->pass);
    network_free(job->network);
    backend->release(job->parameters);
    backend->release(job->buffers);
    backend->release(job->x);
    backend->release(job->dx);
    backend->release(job->dlogits);
    backend->release(job->gradient);
    backend->release(job->direction);
    backend->release(job->product);
    free(job->labels);
    optimiser_free(&job->optimiser);
}

static struct forward forward_of(const struct job *job)
{
    return (struct forward){.count = job->batch,
                            .x = job->x,
                            .parameters = job->parameters,
                            .buffers = job->buffers,
                            .same_parameters = job->same};
}

/* Forward, loss, gradients of the parameters. */
static const float *gradient(struct job *job)
{
    struct loss loss = {LOSS_LABELS, 1.0f, 1.0f};
    struct targets targets = {.labels = job->labels};
    struct forward forward = forward_of(job);
    const float *logits;

    forward.training = true;
    forward.momentum = 0.1f;
    logits = pass_forward(job->pass, &forward);
    loss_value(&loss, job->batch, job->classes, logits, &targets, job->dlogits, NULL);
    pass_backward(job->pass,
                  &(struct backward){.logits = job->dlogits, .parameters = job->gradient});
    return logits;
}

static void train_step(struct job *job)
{
    gradient(job);
    optimiser_step(&job->optimiser, 1e-3, job->gradient, job->parameters);
}

/* 0.99 cross-entropy + 0.01 distance of the batch statistics; Adam on the series. */
static void synthesis_step(struct job *job)
{
    struct loss loss = {LOSS_LABELS, 1.0f, 0.99f};
    struct targets targets = {.labels = job->labels};
    struct matching matching = {0.01, 10.0, false};
    struct forward forward = forward_of(job);
    const float *logits;
    double distance;

    forward.statistics = true;
    logits = pass_forward(job->pass, &forward);
    loss_value(&loss, job->batch, job->classes, logits, &targets, job->dlogits, NULL);
    pass_match(job->pass, &matching, &distance);
    pass_backward(job->pass, &(struct backward){.logits = job->dlogits, .x = job->dx});
    optimiser_step(&job->optimiser, 1e-3, job->dx, job->x);
    job->same = true;
}

/* A gradient, and the product of the Hessian with a direction. */
static void product_step(struct job *job)
{
    struct loss loss = {LOSS_LABELS, 1.0f, 1.0f};
    struct targets targets = {.labels = job->labels};
    const float *logits = gradient(job), *rlogits;

    rlogits = pass_tangent_forward(job->pass, &(struct tangent){.parameters = job->direction});
    loss_tangent(&loss, job->batch, job->classes, logits, &targets, rlogits, NULL, job->dlogits,
                 NULL);
    pass_tangent_backward(job->pass,
                          &(struct backward){.logits = job->dlogits, .parameters = job->product});
}

static void gradient_step(struct job *job)
{
    gradient(job);
}

/* Seconds of one step: the best of some runs of at least 5 ms each, of 1 s in all. */
static double time_of(struct job *job, void (*step)(struct job *job))
{
    double best = 1e9, begin;
    size_t steps = 1;

    step(job);
    begin = now();
    for (int run = 0; run < FEWEST_RUNS || (run < RUNS && now() - begin < 1.0);) {
        double start = now(), took;

        for (size_t i = 0; i < steps; i++)
            step(job);
        took = now() - start;
        if (took < 0.005) {
            steps *= 2;
            continue;
        }
        best = took / (double)steps < best ? took / (double)steps : best;
        run++;
    }
    return best;
}

static void report(const char *job, const char *shape, const char *threads, double value)
{
    printf("%s %s %s %.6g\n", job, shape, threads, value);
    fflush(stdout);
}

/* Multiply-adds of a training step, twice: products for outputs, weights and all inputs but the
 * series.  What reads the series has twice the work when they have twice the channels. */
static double flops(const struct network *network)
{
    struct architecture wider = network->architecture;
    struct network *other;
    double first;

    wider.channels *= 2;
    check(network_new(&wider, backend_cpu(), &other));
    first = (double)other->work - (double)network->work;
    network_free(other);
    return 2.0 * (3.0 * (double)network->work - first);
}

static void run_training(size_t shape, const char *threads)
{
    struct optimiser_options options = optimiser_defaults(OPTIMISER_ADAMW);
    struct job job;
    double seconds;

    set_up(&job, "cnn", shape, BATCH, PASS_BACKWARD, &options, false);
    seconds = time_of(&job, train_step);
    report("train", shapes[shape].name, threads, BATCH / seconds);
    report("gflops", shapes[shape].name, threads, BATCH * flops(job.network) / seconds * 1e-9);
    report("bytes", shapes[shape].name, threads, (double)pass_bytes(job.pass));
    tear_down(&job);
}

static void run_family(const char *family, const char *text, const char *threads)
{
    static const size_t few[] = {6, 30};
    struct optimiser_options options = optimiser_defaults(OPTIMISER_ADAMW);
    struct job job;
    double seconds;

    set_up(&job, text, FAMILY_SHAPE, FAMILY_BATCH, PASS_BACKWARD | PASS_TANGENT, &options, false);
    report("family-work", family, threads, (double)job.network->work);
    seconds = time_of(&job, train_step);
    report("family", family, threads, FAMILY_BATCH / seconds);
    report("family-gflops", family, threads, FAMILY_BATCH * flops(job.network) / seconds * 1e-9);
    report("family-product", family, threads, FAMILY_BATCH / time_of(&job, product_step));
    tear_down(&job);
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
        char name[32];

        snprintf(name, sizeof name, "family-%zu", few[i]);
        set_up(&job, text, FAMILY_SHAPE, few[i], PASS_BACKWARD, &options, false);
        report(name, family, threads, (double)few[i] / time_of(&job, train_step));
        tear_down(&job);
    }
}

static void run_synthesis(size_t shape, const char *threads)
{
    struct optimiser_options options = optimiser_defaults(OPTIMISER_ADAM);
    struct job job;

    set_up(&job, "cnn", shape, shapes[shape].classes, PASS_BACKWARD, &options, true);
    report("synthesis", shapes[shape].name, threads, 1.0 / time_of(&job, synthesis_step));
    tear_down(&job);
}

static void run_products(size_t shape, const char *threads)
{
    struct optimiser_options options = optimiser_defaults(OPTIMISER_SGD);
    struct job job;
    double plain, product;

    set_up(&job, "cnn", shape, BATCH, PASS_BACKWARD | PASS_TANGENT, &options, false);
    plain = time_of(&job, gradient_step);
    product = time_of(&job, product_step);
    report("product", shapes[shape].name, threads, BATCH / product);
    report("product-cost", shapes[shape].name, threads, (product - plain) / plain);
    tear_down(&job);
}

/* What condensation does over and over: the few series of a condensed dataset as one batch.
 * Microseconds of a gradient, and of one with a product with the Hessian. */
static void run_small(const char *threads)
{
    static const size_t batches[] = {6, 30, 60};
    struct optimiser_options options = optimiser_defaults(OPTIMISER_SGD);

    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        struct job job;
        char name[32];

        snprintf(name, sizeof name, "%s/%zu", shapes[SMALL_SHAPE].name, batches[i]);
        set_up(&job, "cnn", SMALL_SHAPE, batches[i], PASS_BACKWARD | PASS_TANGENT, &options, false);
        report("small", name, threads, 1e6 * time_of(&job, gradient_step));
        report("small-product", name, threads, 1e6 * time_of(&job, product_step));
        tear_down(&job);
    }
}

static void run_sgemm(const char *threads)
{
    enum { SIZE = 768 };
    float *a = make_normal(SIZE * SIZE, 3), *b = make_normal(SIZE * SIZE, 4),
          *c = make(SIZE * SIZE);
    double best = 1e9;

    openblas_set_num_threads(atoi(threads));
    for (int run = 0; run < 20; run++) {
        double start = now(), took;

        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1.0f, a, SIZE, b,
                    SIZE, 0.0f, c, SIZE);
        took = now() - start;
        best = took < best ? took : best;
    }
    report("sgemm", "-", threads, 2.0 * SIZE * SIZE * SIZE / best * 1e-9);
    backend_cpu()->release(a);
    backend_cpu()->release(b);
    backend_cpu()->release(c);
}

int main(int argc, char **argv)
{
    const char *threads = argc > 1 ? argv[1] : "1", *job = argc > 2 ? argv[2] : "";
    const char *family = argc > 3 ? argv[3] : "";
    struct rusage usage;

    parallel_set_threads((unsigned)atoi(threads));
    if (atoi(threads) > 1)
        clock_used = CLOCK_MONOTONIC;
    if (!*job || strcmp(job, "sgemm") == 0 || strcmp(job, "family") == 0)
        run_sgemm(threads);
    if (!*job || strcmp(job, "small") == 0)
        run_small(threads);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if ((!*job || strcmp(job, "family") == 0) &&
            (!*family || strcmp(family, families[i].name) == 0))
            run_family(families[i].name, families[i].text, threads);
    for (size_t shape = 0; shape < SHAPES; shape++) {
        if (!*job || strcmp(job, "train") == 0)
            run_training(shape, threads);
        if (!*job || strcmp(job, "synthesis") == 0)
            run_synthesis(shape, threads);
        if (!*job || strcmp(job, "product") == 0)
            run_products(shape, threads);
    }
    getrusage(RUSAGE_SELF, &usage);
    report("peak-memory", "-", threads, (double)usage.ru_maxrss * 1024);
    return 0;
}
