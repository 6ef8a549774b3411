/* What training asks of the system: nothing inside a step or an epoch, neither memory nor threads.
 * The functions that would ask are replaced by ones that count (not under a sanitizer, which has
 * its own). */
#include "support/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "base/random.h"
#include "nn/train.h"

static atomic_size_t allocations, threads;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

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

void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __libc_memalign(alignment, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    threads++;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, argument);
}
#else
#define COUNTS 0
#endif

enum { SERIES = 40, CHANNELS = 2, LENGTH = 13, CLASSES = 3, FEATURES = 2, THREADS = 3 };

struct fixture {
    struct network *network;
    float *x, *features, *parameters, *buffers;
    int32_t labels[SERIES];
    struct tensor_dataset data;
};

static float *make_normal(size_t count, uint64_t index)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, index);
    float *memory = calloc(count + 1, sizeof *memory);

    for (size_t i = 0; i < count; i++)
        memory[i] = (float)random_normal(&stream);
    return memory;
}

static void set_up(struct fixture *f, const char *text)
{
    struct architecture architecture;

    parallel_set_threads(THREADS);
    assert_ok(architecture_parse(text, &architecture));
    architecture.channels = CHANNELS;
    architecture.length = LENGTH;
    architecture.classes = CLASSES;
    architecture.features = FEATURES;
    assert_ok(network_new(&architecture, backend_cpu(), &f->network));
    f->x = make_normal(SERIES * CHANNELS * LENGTH, 1);
    f->features = make_normal(SERIES * FEATURES, 2);
    f->parameters = calloc(f->network->parameter_count, sizeof *f->parameters);
    f->buffers = calloc(f->network->buffer_count + 1, sizeof *f->buffers);
    network_initialise(f->network, 1, 0, f->parameters, f->buffers);
    for (size_t i = 0; i < SERIES; i++)
        f->labels[i] = (int32_t)(i % CLASSES);
    f->data = (struct tensor_dataset){
        .count = SERIES, .x = f->x, .features = f->features, .labels = f->labels};
}

static void tear_down(struct fixture *f)
{
    network_free(f->network);
    free(f->x);
    free(f->features);
    free(f->parameters);
    free(f->buffers);
    parallel_set_threads(0);
}

static const char *const networks[] = {
    "cnn depth=2 width=5",
    "cnn depth=2 width=40 norm=instance act=leaky pool=mean",
    "cnn depth=2 width=5 norm=layer act=sigmoid",
    "cnn depth=1 width=5 norm=none pool=none kernel=5",
    "fcn width=5",
    "resnet blocks=2 width=5 end=max",
    "inception depth=3 width=5 kernel1=8 kernel2=5 kernel3=2 bottleneck=3",
    "tcn depth=3 width=5 kernel=3",
    "mlp depth=2 width=20 norm=batch",
};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

/* What had been asked for after the first epoch. */
struct seen {
    size_t allocations, threads;
};

static bool look(void *context, const struct train_epoch *epoch)
{
    struct seen *seen = context;

    if (epoch->epoch == 1)
        *seen = (struct seen){allocations, threads};
    assert_int_equal(allocations, seen->allocations);
    assert_int_equal(threads, seen->threads);
    return true;
}

static void epochs_allocate_nothing_and_start_no_thread(void **state)
{
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        struct train_options options = train_defaults();
        struct train_result result;
        struct seen seen = {0};
        struct fixture f;

        set_up(&f, networks[i]);
        options.epochs = 6;
        options.batch = 16;
        options.progress = look;
        options.context = &seen;
        assert_ok(
            train_network(f.network, &options, &f.data, &f.data, f.parameters, f.buffers, &result));
        assert_true(!COUNTS || seen.allocations > 0);
        assert_true(!COUNTS || seen.threads >= THREADS - 1);
        tear_down(&f);
    }
}

/* A gradient and everything that a second-order product takes. */
static void run_tangents(struct fixture *f, struct pass *pass, float *dlogits, float *gradient,
                         float *dx)
{
    struct loss loss = {LOSS_LABELS, 1.0f, 1.0f};
    struct targets targets = {.labels = f->labels};
    struct forward forward = {.count = SERIES,
                              .x = f->x,
                              .features = f->features,
                              .parameters = f->parameters,
                              .buffers = f->buffers,
                              .training = true};
    struct backward backward = {.logits = dlogits, .parameters = gradient, .x = dx};
    const float *logits = pass_forward(pass, &forward), *rlogits;

    loss_value(&loss, SERIES, CLASSES, logits, &targets, dlogits, NULL);
    pass_backward(pass, &backward);
    rlogits = pass_tangent_forward(
        pass, &(struct tangent){.parameters = f->parameters, .x = f->x, .features = f->features});
    loss_tangent(&loss, SERIES, CLASSES, logits, &targets, rlogits, NULL, dlogits, NULL);
    pass_tangent_backward(pass, &backward);
}

static void products_allocate_nothing_and_start_no_thread(void **state)
{
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        struct fixture f;
        struct pass *pass;
        float *dlogits, *gradient, *dx;
        struct seen seen;

        set_up(&f, networks[i]);
        dlogits = make_normal(SERIES * CLASSES, 3);
        gradient = make_normal(f.network->parameter_count, 4);
        dx = make_normal(SERIES * CHANNELS * LENGTH, 5);
        assert_ok(pass_new(f.network, SERIES, PASS_BACKWARD | PASS_TANGENT, &pass));
        run_tangents(&f, pass, dlogits, gradient, dx);
        seen = (struct seen){allocations, threads};
        for (int step = 0; step < 5; step++)
            run_tangents(&f, pass, dlogits, gradient, dx);
        assert_int_equal(allocations, seen.allocations);
        assert_int_equal(threads, seen.threads);
        pass_free(pass);
        free(dlogits);
        free(gradient);
        free(dx);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_allocate_nothing_and_start_no_thread),
        cmocka_unit_test(products_allocate_nothing_and_start_no_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
