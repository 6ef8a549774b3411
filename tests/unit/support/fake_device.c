#include "support/fake_device.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "support/check.h"

static bool is_real(void)
{
    return getenv("SC_TEST_GPU") != NULL;
}

/* Where the plug-in is: beside the test that runs, or beside the programs. */
static const char *plugin_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'),
           is_real() ? "/../lib/libshapecond-cuda.so" : "/libshapecond-cuda-fake.so");
    return path;
}

const struct device *fake_device(void)
{
    static struct device device;

    if (!device.backend) {
        setenv("SHAPECOND_CUDA_PLUGIN", plugin_path(), 1);
        assert_ok(device_open(DEVICE_CUDA, &device));
    }
    return &device;
}

const struct fake_knobs *fake_knobs(void)
{
    static struct fake_knobs knobs;
    void *plugin, *found;

    if (is_real())
        return NULL;
    plugin = dlopen(plugin_path(), RTLD_NOW);
    if (!plugin)
        fail_msg("%s", dlerror());
#define FIND(member, name)                                                                         \
    found = dlsym(plugin, name);                                                                   \
    assert_non_null(found);                                                                        \
    memcpy(&knobs.member, &found, sizeof found)
    FIND(set_memory, "fake_cuda_set_memory");
    FIND(break_call, "fake_cuda_fail");
    FIND(run_backwards, "fake_cuda_run_backwards");
    FIND(run_late, "fake_cuda_run_late");
    FIND(limit_grids, "fake_cuda_limit_grids");
    FIND(counts, "fake_cuda_counts");
#undef FIND
    return &knobs;
}

void *to_backend(const struct backend *backend, const void *host, size_t bytes)
{
    void *memory = backend->allocate(bytes ? bytes : 1);

    assert_non_null(memory);
    if (bytes)
        backend->upload(memory, host, bytes);
    return memory;
}

void from_backend(const struct backend *backend, void *host, const void *memory, size_t bytes)
{
    backend->download(host, memory, bytes);
    if (backend->fault())
        fail_msg("%s", backend->fault());
}

float *fetch(const struct backend *backend, const float *memory, size_t count)
{
    float *host = calloc(count + 1, sizeof *host);

    from_backend(backend, host, memory, count * sizeof *host);
    return host;
}

float *normal_values(size_t count, uint64_t index)
{
    struct random_stream stream = random_stream(9, RANDOM_TEST, index);
    float *values = calloc(count + 1, sizeof *values);

    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)random_normal(&stream);
    return values;
}

void check_arrays(const float *a, const float *b, size_t count, double tolerance, const char *what,
                  const char *file, int line)
{
    double largest = 0, distance = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        double difference = fabs((double)a[i] - b[i]);

        if (isnan(a[i]) != isnan(b[i]))
            difference = INFINITY;
        else if (isnan(a[i]))
            continue;
        largest = fmax(largest, fabs((double)b[i]));
        if (difference > distance) {
            distance = difference;
            at = i;
        }
    }
    if (distance <= tolerance * fmax(largest, 1e-3))
        return;
    print_error("%s[%zu] of %zu: %.9g, expected %.9g, largest %.9g, off by %.3g of it\n", what, at,
                count, (double)a[at], (double)b[at], largest, distance / largest);
    _fail(file, line);
}
