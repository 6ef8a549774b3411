/* Seconds of typical work on the processor and on the CUDA device, for tests/cuda/bench.sh:
 *     cuda --probe      says whether there is a GPU; exits with 1 and the reason if not
 *     cuda              prints a table: work, seconds of each, how many times faster
 * SC_BENCH_SHARE=N does an N-th of the steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "condense/synthesise.h"
#include "device/device.h"
#include "nn/train.h"
#include "shapelets/discover.h"

static void check(struct error *error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", error_message(error));
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sums of waves and noise, of 6 classes. */
static struct dataset make_dataset(size_t count, size_t channels, size_t length)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);
    struct dataset dataset;

    check(dataset_new(count, channels, length, 6, false, &dataset));
    for (size_t i = 0; i < count; i++) {
        dataset.y[i] = (int32_t)(i % 6);
        for (size_t k = 0; k < channels * length; k++)
            dataset.x[i * channels * length + k] =
                (float)(sin((double)(k % length) * (double)(1 + i % 6) / 9) +
                        random_normal(&stream));
    }
    return dataset;
}

/* ---- The work ---- */

static void train(const struct device *device, const struct dataset *dataset, size_t batch,
                  size_t epochs)
{
    const struct backend *backend = device->backend;
    struct tensor_dataset series = {dataset->count, dataset->x, NULL, dataset->y, NULL};
    struct train_options options = train_defaults();
    struct architecture architecture = architecture_default();
    struct train_result result;
    struct network *network;
    float *parameters, *buffers;

    architecture.channels = dataset->channels;
    architecture.length = dataset->length;
    architecture.classes = dataset->classes;
    check(network_new(&architecture, backend, &network));
    parameters = backend->allocate(network->parameter_count * sizeof *parameters);
    buffers = backend->allocate(network->buffer_count * sizeof *buffers);
    network_initialise(network, 1, 0, parameters, buffers);
    options.epochs = epochs;
    options.batch = batch;
    check(train_network(network, &options, &series, NULL, parameters, buffers, &result));
    backend->release(parameters);
    backend->release(buffers);
    network_free(network);
}

static size_t share_of(size_t steps)
{
    const char *text = getenv("SC_BENCH_SHARE");
    size_t share = text ? strtoul(text, NULL, 10) : 1;

    return steps / (share ? share : 1) + 1;
}

static void train_teacher(const struct device *device)
{
    struct dataset dataset = make_dataset(2048, 9, 128);

    train(device, &dataset, 256, share_of(20));
    dataset_free(&dataset);
}

static void train_student(const struct device *device)
{
    struct dataset dataset = make_dataset(60, 9, 128);

    train(device, &dataset, 20, share_of(400));
    dataset_free(&dataset);
}

static void invert_teacher(const struct device *device)
{
    struct dataset dataset = make_dataset(600, 9, 128), condensed;
    struct synthesis_options options = synthesis_defaults();
    struct architecture architecture = architecture_default();
    struct synthesis_result result;
    struct teacher teacher;
    struct guide guide;

    architecture.channels = dataset.channels;
    architecture.length = dataset.length;
    architecture.classes = dataset.classes;
    check(teacher_new(&architecture, device->backend, &teacher));
    network_initialise(teacher.network, 1, 0, teacher.parameters, teacher.buffers);
    check(guide_from_teacher(&teacher, &guide));
    options.steps = share_of(2000);
    options.rate = 0.01;
    check(synthesise(&options, &dataset, &guide, NULL, &condensed, &result));
    guide_close(&guide);
    teacher_free(&teacher);
    dataset_free(&condensed);
    dataset_free(&dataset);
}

static void discover_and_transform(const struct device *device)
{
    struct dataset dataset = make_dataset(share_of(600) + 12, 1, 512);
    size_t lengths[5];
    struct discover_options options = {
        .lengths = lengths, .start_step = 1, .window = 50, .k = 20, .device = device->distance};
    struct shapelet_pool pool;
    struct transform transform;
    float *features;

    options.length_count = discover_default_lengths(dataset.length, lengths);
    check(discover_shapelets(&dataset, &options, &pool, NULL));
    check(transform_make(&pool, dataset.channels, dataset.length, TRANSFORM_FULL, &transform));
    check(transform_to_device(&transform, device->transform));
    features = calloc(dataset.count * pool.count, sizeof *features);
    check(device_transform(device, &transform, dataset.x, 0, dataset.count, features));
    free(features);
    transform_free(&transform);
    slp_free(&pool);
    dataset_free(&dataset);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what;
        void (*run)(const struct device *device);
    } work[] = {{"teacher, 9 x 128, batch 256", train_teacher},
                {"student, 9 x 128, batch 20", train_student},
                {"synthesis, 60 x 9 x 128", invert_teacher},
                {"discovery and transform, 512 steps", discover_and_transform}};
    struct device cpu = device_cpu(), gpu;

    check(device_open(DEVICE_CUDA, &gpu));
    if (argc > 1 && strcmp(argv[1], "--probe") == 0) {
        printf("%s\n", gpu.backend->name);
        return 0;
    }
    printf("%-36s %9s %9s %7s\n", "work", "cpu s", "cuda s", "faster");
    for (size_t i = 0; i < sizeof work / sizeof work[0]; i++) {
        double start = now(), middle, end;

        work[i].run(&cpu);
        middle = now();
        work[i].run(&gpu);
        end = now();
        printf("%-36s %9.3f %9.3f %6.1fx\n", work[i].what, middle - start, end - middle,
               (middle - start) / (end - middle));
        fflush(stdout);
    }
    return 0;
}
