#include "device/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nn/memory.h"

static const char library[] = "libshapecond-cuda.so";

struct device device_cpu(void)
{
    return (struct device){.backend = backend_cpu()};
}

/* ---- Finding the plug-in ---- */

/* ../lib beside the folder of the program. */
static void path_beside(char path[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    path[0] = '\0';
    for (int level = 0; level < 2 && length > 0; level++)
        do
            length--;
        while (length > 0 && self[length] != '/');
    if (length > 0 &&
        snprintf(path, PATH_MAX, "%.*s/lib/%s", (int)length, self, library) >= PATH_MAX)
        path[0] = '\0';
}

static struct error *load(void **plugin)
{
    const char *named = getenv("SHAPECOND_CUDA_PLUGIN");
    char beside[PATH_MAX];

    path_beside(beside);
    if (named && *named)
        *plugin = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    else if (*beside && access(beside, F_OK) == 0)
        *plugin = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
    else
        *plugin = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (*plugin)
        return NULL;
    return error_make("no CUDA plug-in: %s (shapecond-cuda(7) says how to build it)", dlerror());
}

static struct error *open_cuda(struct device *device)
{
    char message[512] = "";
    plugin_open *open_plugin;
    struct error *error;
    void *plugin, *entry;

    TRY(load(&plugin));
    entry = dlsym(plugin, PLUGIN_ENTRY);
    memcpy(&open_plugin, &entry, sizeof open_plugin);
    if (!entry) {
        error = error_make("the CUDA plug-in is none of shapecond: %s", dlerror());
    } else {
        *device = (struct device){0};
        if (open_plugin(SHAPECOND_VERSION, sizeof(struct backend), device, message,
                        sizeof message) == 0)
            return NULL; /* it stays: the device's functions are in it */
        error = error_make("%s", message);
    }
    dlclose(plugin);
    return error;
}

struct error *device_open(enum device_kind kind, struct device *device)
{
    struct error *error = NULL;

    *device = device_cpu();
    if (kind != DEVICE_CPU)
        error = open_cuda(device);
    if (!error)
        return NULL;
    *device = device_cpu();
    if (kind == DEVICE_CUDA)
        return error;
    error_free(error);
    return NULL;
}

/* ---- The transform of the host's series ---- */

enum { PART_FLOATS = 16 << 20 }; /* of series on the device at a time */

static struct error *transform_parts(const struct backend *backend,
                                     const struct transform *transform, const float *x,
                                     size_t count, size_t most, float *features)
{
    size_t series = transform->channels * transform->steps, columns = transform->count;
    void *device_x, *device_features;
    struct error *error;

    TRY(backend_room(backend, most * series * sizeof *x, "series", &device_x));
    error = backend_room(backend, (most * columns + 1) * sizeof *features, "features",
                         &device_features);
    for (size_t first = 0; !error && first < count; first += most) {
        size_t some = count - first < most ? count - first : most;

        backend->upload(device_x, x + first * series, some * series * sizeof *x);
        transform_forward(transform, device_x, some, device_features, NULL);
        error = backend_fetch(backend, features + first * columns, device_features,
                              some * columns * sizeof *features);
    }
    backend->release(device_x);
    backend->release(device_features);
    return error;
}

struct error *device_transform(const struct device *device, const struct transform *transform,
                               const float *x, size_t count, float *features)
{
    size_t most = PART_FLOATS / (transform->channels * transform->steps) + 1;

    if (!transform->on_device) {
        transform_forward(transform, x, count, features, NULL);
        return NULL;
    }
    return transform_parts(device->backend, transform, x, count, count < most ? count : most,
                           features);
}
