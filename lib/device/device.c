#include "device/device.h"

#include <dlfcn.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "nn/backend_memory.h"

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

static struct error *open_gpu(struct device *device)
{
    char message[512] = "";
    plugin_open *open_plugin;
    struct error *error;
    void *plugin, *entry;

    TRY(load(&plugin));
    entry = dlsym(plugin, PLUGIN_ENTRY);
    memcpy(&open_plugin, &entry, sizeof open_plugin);
    if (!entry) {
        error = error_make("not a shapecond plug-in: %s", dlerror());
    } else {
        *device = (struct device){0};
        if (open_plugin(SHAPECOND_INTERFACE, sizeof(struct backend), device, message,
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
        error = open_gpu(device);
    if (!error)
        return NULL;
    *device = device_cpu();
    if (kind == DEVICE_CUDA)
        return error;
    error_free(error);
    return NULL;
}

/* ---- The transform of the host's series ---- */

enum { PART_FLOATS = 1 << 20 }; /* of series that go to the device at a time */

static void swap(void **a, void **b)
{
    void *kept = *a;

    *a = *b;
    *b = kept;
}

/* Series of the next part are copied while the device is busy with this one: two places, in turn.
 */
static struct error *transform_parts(const struct backend *backend,
                                     const struct transform *transform, const float *x,
                                     size_t count, size_t most, float *features)
{
    size_t series = transform->channels * transform->steps, columns = transform->count;
    void *places[2] = {NULL, NULL}, *device_features = NULL;
    struct error *error;

    error = backend_room(backend, most * series * sizeof *x, "series", &places[0]);
    if (!error && count > most)
        error = backend_room(backend, most * series * sizeof *x, "series", &places[1]);
    if (!error)
        error = backend_room(backend, (most * columns + 1) * sizeof *features, "features",
                             &device_features);
    if (!error)
        backend->upload_beside(places[0], x, size_min(most, count) * series * sizeof *x);
    for (size_t first = 0; !error && first < count; first += most) {
        size_t some = size_min(most, count - first), next = first + some;

        transform_forward(transform, places[0], some, device_features, NULL);
        if (next < count)
            backend->upload_beside(places[1], x + next * series,
                                   size_min(most, count - next) * series * sizeof *x);
        error = backend_fetch(backend, features + first * columns, device_features,
                              some * columns * sizeof *features);
        swap(&places[0], &places[1]);
    }
    backend->release(places[0]);
    backend->release(places[1]);
    backend->release(device_features);
    return error;
}

/* Distances too large for a float become the largest float, and the scale of a shapelet may make
 * them overflow again. */
static struct error *check_features(const struct transform *transform, size_t first, size_t count,
                                    const float *features)
{
    for (size_t i = first; i < first + count; i++)
        for (size_t k = 0; k < transform->count; k++) {
            const struct transform_shapelet *shapelet = &transform->shapelets[k];
            float limit = (FLT_MAX - shapelet->offset) * shapelet->scale;
            float feature = features[i * transform->count + k];

            if (!(feature < limit) || !isfinite(feature))
                return error_make("series %zu: the distance to shapelet %zu, in channel %zu, is "
                                  "too large for a 32-bit float: scale the series as those that "
                                  "the shapelets were found in (sc-scale)",
                                  i, k, shapelet->channel);
        }
    return NULL;
}

struct error *device_transform(const struct device *device, const struct transform *transform,
                               const float *x, size_t first, size_t count, float *features)
{
    size_t series = transform->channels * transform->steps, most = PART_FLOATS / series + 1;
    const float *from = x + first * series;
    float *to = features + first * transform->count;

    if (!transform->on_device)
        transform_forward(transform, from, count, to, NULL);
    else
        TRY(transform_parts(device->backend, transform, from, count, size_min(count, most), to));
    return check_features(transform, first, count, features);
}
